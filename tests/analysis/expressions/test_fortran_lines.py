"""Lines of Fortran programs are cut between tokens: what is read is what was written."""

import re

import numpy as np
import pytest

pytest.importorskip("sympy")

from vbg.analysis.symbolic.loops.code.fortran import WIDTH, _wrapped

TOKEN = re.compile(r"\d+\.?\d*(?:d[+-]?\d+)?|\w+|\*\*|[-+*/(),=]")


def tokens_read(pieces):
    """Tokens by Fortran 2008, 3.3.2.4: a token goes on in the next line only between two &."""
    found, open_token = [], ""
    for piece in pieces:
        text = piece.strip()
        within = text.startswith("&")
        assert not open_token or within, "a token that is cut goes on behind &"
        text = open_token + text.removeprefix("&")
        open_token = ""
        if text.endswith("&"):
            text = text[:-1]
            if not text.endswith(" "):
                last = list(TOKEN.finditer(text))[-1]
                text, open_token = text[: last.start()], last.group()
        found += TOKEN.findall(text)
    return found


def expression(rng):
    """A sum of products of powers, functions and numbers, names short and long."""

    def factor():
        name = "".join(rng.choice(list("abz_"), rng.integers(1, 30)))
        power = rng.choice(["", "**2", f"**{rng.integers(2, 40)}", "**(1.0d0/2.0d0)"])
        made = [f"z{rng.integers(300)}{power}", f"a{name}{power}", f"sin(b{name})", "1.5d-05"]
        return str(rng.choice(made))

    terms = ["*".join(factor() for _ in range(rng.integers(1, 6))) for _ in range(20)]
    return (
        "    z7 = "
        + str(rng.choice(terms))
        + "".join(f" {rng.choice(['+', '-'])} {term}" for term in terms)
    )


@pytest.mark.parametrize("seed", range(40))
def test_what_is_cut_reads_as_the_whole(seed):
    line = expression(np.random.default_rng(seed))
    pieces = _wrapped(line, "      ")
    assert len(pieces) > 3 and max(map(len, pieces)) <= WIDTH + 2
    assert tokens_read(pieces) == TOKEN.findall(line)


def test_a_token_longer_than_a_line_goes_on_behind_a_second_mark():
    line = "    z7 = " + "n" * 300
    assert tokens_read(_wrapped(line, "      ")) == TOKEN.findall(line)
