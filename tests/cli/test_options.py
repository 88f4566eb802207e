"""Hostile values of options and arguments: an answer with its exit code, and nothing lost."""

from __future__ import annotations

import pytest

from benchmarks.robustness.options import EXAMPLES, FATES, leaves, tries
from vbg.cli.main import build_parser, main
from vbg.cli.parser import LISTS, Misused

PENDULUM = str(EXAMPLES / "pendulum.toml")
STRANGE = "\x1b[2J\u202e\udcff"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow) if n else n for n in range(5)]
)
def test_any_value_of_any_option_ends_in_an_answer(seed, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    monkeypatch.setattr("sys.stdin", None)
    broke = [(words, fate) for _, words, fate, _ in tries(range(40), seed) if fate not in FATES]
    assert not broke


@pytest.mark.parametrize(("words", "parser"), list(leaves(build_parser())), ids=str)
def test_a_wrong_word_is_shown_as_what_it_is(words, parser):
    """Whatever the parser itself refuses, of every verb."""
    with pytest.raises(Misused) as misuse:
        parser.error(f"invalid choice: {STRANGE}")
    assert str(misuse.value).isprintable()


def test_a_wrong_word_moves_no_cursor(capsys):
    with pytest.raises(SystemExit) as left:
        main(["structure", "assur", "I-2", "--seed", STRANGE])
    assert left.value.code == 2 and capsys.readouterr().err.replace("\n", "").isprintable()


ENDLESS = (
    "run FILE --t-end 1e300",
    "run FILE --t-end 1e300 --solver mstmm",
    "run FILE --output-step 1e-300 --solver mstmm",
    "show modes FILE --at 1e300",
    "show modes FILE --at 1e12",
    "show matrices FILE --at 1e300",
)


@pytest.mark.parametrize("line", ENDLESS)
def test_a_run_of_more_instants_than_can_be_kept_is_refused(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([PENDULUM if word == "FILE" else word for word in line.split()]) in (1, 2)
    said = capsys.readouterr().err
    assert "Take a larger output_step" in said
    assert "memory" not in said and "process" not in said


@pytest.mark.slow
def test_two_dashes_are_no_value_of_an_option(capsys):
    """Of every verb's options: argparse makes an empty list of them."""
    words = {
        (*verb, name)
        for verb, parser in leaves(build_parser())
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--") and action.nargs != 0
    }
    assert len(words) > 150
    for *verb, name in sorted(words):
        with pytest.raises(SystemExit) as left:
            main([*verb, PENDULUM, f"{name}=--"])
        assert left.value.code == 2 and name in capsys.readouterr().err


def test_words_too_many_say_how_an_option_takes_several(capsys):
    """Every option that takes a list says the comma; others that they are repeated."""
    lists = [
        (parser, name)
        for _, parser in leaves(build_parser())
        for action in parser.actions
        for name in action.option_strings
        if action.type in LISTS
    ]
    assert len(lists) > 12
    assert all(f"{name} A,B" in parser.several([name, "A", "B"]) for parser, name in lists)
    for line, told in (
        ("run FILE --signals a b", "--signals A,B"),
        ("run --signals a b FILE", "--signals A,B"),
        ("run FILE --signals 'a, b'", "with commas, without spaces"),
        ("run FILE --measure a b", "--measure A --measure B"),
        ("run FILE --t-end 1 s", "in quotes where it has spaces"),
    ):
        with pytest.raises(SystemExit) as left:
            main([PENDULUM if word == "FILE" else word for word in line.replace("'", "").split()])
        assert left.value.code == 2 and told in capsys.readouterr().err
