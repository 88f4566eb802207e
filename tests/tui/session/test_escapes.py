"""Esc is a key of its own wherever what is typed is cut, and no answer of a terminal is typed."""

from __future__ import annotations

import random

import pytest
from textual._xterm_parser import XTermParser

from vbg.tui.state.escapes import Escapes

SEQUENCES = {"\x1b[B": "down", "\x1b[1;5F": "ctrl+end", "\x1bOP": "f1", "\x1b[Z": "shift+tab"}
KEYS = {"\x1b": "escape", "\r": "enter", "\t": "tab", "\x13": "ctrl+s", " ": "space"}
KEYS |= {key: key for key in "acdkxG17"} | SEQUENCES
ANSWERS = ("\x1b_Gi=31;OK\x1b\\", "\x1b[4;480;800t", "\x1b[?62;4;22c", "\x1bP0;1|17\x1b\\")


def heard(*pieces: str) -> list[str]:
    """The keys of what was read piece by piece; an empty piece is a rest."""
    parser, escapes, keys = XTermParser(), Escapes(), []
    for piece in (*pieces, ""):
        text = escapes.read(piece) if piece else escapes.rested()
        keys += [event.key for event in parser.feed(text)] if text else []
    return [key.removeprefix("alt+").replace("shift+g", "G").replace("upper_", "") for key in keys]


@pytest.mark.parametrize("seed", range(40))
def test_keys_are_the_same_wherever_they_are_cut(seed):
    """In one piece, and in random ones; answers that are late come between them."""
    generator = random.Random(seed)
    typed = generator.choices(list(KEYS), weights=[8, *[1] * (len(KEYS) - 1)], k=40)
    wanted = [KEYS[key] for key in typed]
    assert heard("".join(typed)) == wanted
    text = "".join(
        key + (generator.choice(ANSWERS) if generator.random() < 0.1 else "") for key in typed
    )
    cuts = sorted(generator.choices(range(len(text) + 1), k=generator.randint(1, 30)))
    ends = zip([0, *cuts], [*cuts, len(text)], strict=True)
    assert heard(*filter(None, (text[a:b] for a, b in ends))) == wanted


@pytest.mark.parametrize("key", ["[", "O", "P", "_", "f", "\x7f"])
def test_what_could_go_on_is_a_key_once_it_rests(key):
    assert heard("\x1b", "", key)[0] == "escape" and len(heard("\x1b", "", key)) == 2
    assert len(heard("\x1b", key, "")) >= 1 and heard("\x1b", key)[0] == "escape"


def test_alt_with_f_b_or_backspace_goes_by_words():
    words = ["ctrl+right", "ctrl+left", "ctrl+w"]
    assert [heard(text)[0] for text in ("\x1bf", "\x1bb", "\x1b\x7f")] == words
