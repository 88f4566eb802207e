"""The characters that pictures are made of, in full and in plain ASCII.

Every character is one cell wide in every terminal; no emoji and no variation
selectors (a test measures them).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Dots = Literal["braille", "block", "ascii"]
LEVELS = 12  # of brightness, of a style word "ink1:7"


@dataclass(frozen=True, slots=True)
class Marks:
    """One set of characters."""

    name: str
    dots: Dots
    # frame: horizontal, vertical, corners clockwise from top left
    across: str
    down: str
    corners: tuple[str, str, str, str]
    # axes of plots
    tick_left: str
    tick_right: str
    tick_zero: str
    cross: str
    dashed: str
    dashed_down: str
    # states
    ok: str
    warn: str
    error: str
    note: str
    running: str
    changed: str
    cursor: str
    pointer: str
    opened: str
    closed: str
    on: str
    off: str
    on_x: str
    bar_full: str
    bar_empty: str
    upper_half: str
    knob: str
    # bonds: arrow heads right, left, down, up; stroke across a horizontal and a vertical bond
    harpoons: tuple[str, str, str, str]
    strokes: tuple[str, str]
    line: str
    double: str
    heavy: dict[str, str]
    joints: dict[str, str]


# Which of the four sides (left, right, up, down) a line character joins.
_UNICODE_JOINTS = {
    "lr": "─",
    "ud": "│",
    "rd": "┌",
    "ld": "┐",
    "ru": "└",
    "lu": "┘",
    "lrd": "┬",
    "lru": "┴",
    "rud": "├",
    "lud": "┤",
    "lrud": "┼",
}
_ASCII_JOINTS = {key: {"lr": "-", "ud": "|"}.get(key, "+") for key in _UNICODE_JOINTS}

UNICODE = Marks(
    name="unicode",
    dots="braille",
    across="─",
    down="│",
    corners=("╭", "╮", "╯", "╰"),
    tick_left="┤",
    tick_right="├",
    tick_zero="┼",
    cross="┼",
    dashed="┄",
    dashed_down="┊",
    ok="✓",
    warn="⚠",
    error="✗",
    note="ℹ",
    running="▶",
    changed="●",
    cursor="▌",
    pointer="▸",
    opened="▼",
    closed="▶",
    on="[x]",
    off="[ ]",
    on_x="[→]",
    bar_full="█",
    bar_empty="·",
    upper_half="▀",
    knob="●",
    harpoons=("⇁", "↽", "⇂", "↿"),
    strokes=("|", "—"),
    line="─",
    double="═",
    heavy={"lr": "━", "ud": "┃"},
    joints=_UNICODE_JOINTS,
)

ASCII = Marks(
    name="ascii",
    dots="ascii",
    across="-",
    down="|",
    corners=("+", "+", "+", "+"),
    tick_left="+",
    tick_right="+",
    tick_zero="+",
    cross="+",
    dashed="-",
    dashed_down=":",
    ok="ok",
    warn="!",
    error="x",
    note="i",
    running=">",
    changed="*",
    cursor=">",
    pointer=">",
    opened="-",
    closed="+",
    on="[x]",
    off="[ ]",
    on_x="[>]",
    bar_full="#",
    bar_empty=".",
    upper_half="#",
    knob="o",
    harpoons=(">", "<", "v", "^"),
    strokes=("|", "_"),
    line="-",
    double="=",
    heavy={"lr": "#", "ud": "#"},
    joints=_ASCII_JOINTS,
)


def choose(name: str) -> Marks:
    """The set called `name`: unicode, block (no braille) or ascii."""
    if name == "ascii":
        return ASCII
    return replace(UNICODE, name="block", dots="block") if name == "block" else UNICODE
