"""What style words look like: three themes of our own, and any of Textual's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.color import Color as RichColor
from rich.color import blend_rgb
from rich.segment import Segment, Segments
from rich.style import Style
from textual.color import Color
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip
from textual.theme import Theme

from vbg.draw.text.marks import ASCII, LEVELS, UNICODE, Marks
from vbg.draw.text.rows import Row, cell_width

THEMES = (
    Theme(
        name="vbg-dark",
        primary="#5fafff",
        secondary="#87afaf",
        warning="#e5a50a",
        error="#ff6b6b",
        success="#5fd787",
        accent="#d7afff",
        foreground="#d8dee4",
        background="#14181d",
        surface="#1b2128",
        panel="#232b34",
        dark=True,
    ),
    Theme(
        name="vbg-light",
        primary="#005fa8",
        secondary="#33605f",
        warning="#8a5a00",
        error="#b00020",
        success="#00662b",
        accent="#6a2ca0",
        foreground="#1c2126",
        background="#fbfbf8",
        surface="#f1f1ec",
        panel="#e4e4dd",
        dark=False,
    ),
    Theme(
        name="vbg-contrast",
        primary="#ffff00",
        secondary="#00ffff",
        warning="#ffaf00",
        error="#ff5f5f",
        success="#00ff5f",
        accent="#ff87ff",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1c1c1c",
        dark=True,
    ),
)
DEFAULT_THEME = "vbg-dark"

# Okabe and Ito (2008): told apart by everyone, brighter on dark grounds.
_DARK_INKS = ("#56b4e9", "#e69f00", "#2fbf96", "#e08bb8", "#f0e442", "#ff7f3f")
_LIGHT_INKS = ("#0072b2", "#a05a00", "#00755a", "#a03a72", "#7a6a00", "#c04a00")


def style_words(variables: Mapping[str, str], *, dark: bool) -> dict[str, Style]:
    """The rich style of each style word, from a theme's colours."""

    def colour(name: str, fallback: str) -> Color:
        text = variables.get(name, fallback)
        try:
            return Color.parse(text)
        except ValueError:
            # "auto 87%" and the like: colours that depend on what is below
            return Color.parse(fallback)

    back = colour("background", "#14181d" if dark else "#fbfbf8")
    front = colour("foreground", "#d8dee4" if dark else "#1c2126")
    primary = colour("primary", "#5fafff")
    ground = {"bgcolor": back.rich_color}

    def word(foreground: Color, **attributes: bool) -> Style:
        return Style(color=foreground.rich_color, **ground, **attributes)  # type: ignore[arg-type]

    words = {
        "": word(front),
        "dim": word(front if front.ansi is not None else front.blend(back, 0.42)),
        "bold": word(front, bold=True),
        "title": word(front, bold=True),
        "focus": word(primary, bold=True),
        "ok": word(colour("success", "#5fd787")),
        "warn": word(colour("warning", "#e5a50a")),
        "error": word(colour("error", "#ff6b6b"), bold=True),
        "note": word(colour("accent", "#d7afff")),
        "bar": word(primary),
        "cursor": Style(color=back.rich_color, bgcolor=primary.rich_color, bold=True),
    }
    for number, ink in enumerate(_DARK_INKS if dark else _LIGHT_INKS, 1):
        words[f"ink{number}"] = word(Color.parse(ink))
    return words


# For terminals that show nothing but ASCII: what our own texts use besides.
_ASCII = str.maketrans(
    {"…": "~", "Δ": "d", "·": ".", "→": ">", "←": "<", "↑": "^", "↓": "v", "²": "2", "—": "-"}
)


class PlainScrollBar(ScrollBarRender):
    """Whole cells only, no glyphs for parts of one; the thumb is a sign besides its colour."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8
    THUMB: ClassVar[str] = UNICODE.bar_full

    @classmethod
    def render_bar(cls, *sizes: Any, **looks: Any) -> Segments:
        """The bar as the library has it, its thumb written instead of reversed."""
        bar = super().render_bar(*sizes, **looks)
        bar.segments = [cls._written(segment) for segment in bar.segments]
        return bar

    @classmethod
    def _written(cls, segment: Segment) -> Segment:
        style = segment.style
        if style is None or not style.reverse:
            return segment
        look = Style(color=style.color, meta=style.meta)
        return Segment(cls.THUMB * len(segment.text), look)


class AsciiScrollBar(PlainScrollBar):
    """The same where there is nothing but ASCII."""

    THUMB: ClassVar[str] = ASCII.bar_full


def scroll_bar(marks: Marks) -> type[ScrollBarRender]:
    """How the bars beside long dialogs are drawn with these marks."""
    return AsciiScrollBar if marks.name == "ascii" else PlainScrollBar


def strip(row: Row, words: Mapping[str, Style], *, ascii_only: bool = False) -> Strip:
    """One row as the terminal library wants it."""
    if ascii_only:
        row = tuple((as_ascii(text), style) for text, style in row)
    return Strip([Segment(text, _styled(style, words)) for text, style in row if text])


def _styled(style: str, words: Mapping[str, Style]) -> Style:
    """The look of a style word, or of a pair "UPPER|LOWER" of colours, as a foreground on a
    ground: each a word, "word:level" between the ground of all and the word's, or nothing."""
    if "|" not in style:
        return words.get(style, words[""])
    upper, lower = (_colour(name, words) for name in style.split("|"))
    return Style(color=upper, bgcolor=lower)


def _colour(name: str, words: Mapping[str, Style]) -> RichColor | None:
    word, _, level = name.partition(":")
    look = words.get(word, words[""])
    ground = words[""].bgcolor
    if not name or look.color is None or ground is None:
        return ground
    if not level or look.color.triplet is None or ground.triplet is None:
        return look.color
    return RichColor.from_triplet(
        blend_rgb(ground.triplet, look.color.triplet, int(level) / LEVELS)
    )


def as_ascii(text: str) -> str:
    """`text` with question marks, as many as it has cells, for what is not ASCII."""
    text = text.translate(_ASCII)
    return "".join(c if c.isascii() else "?" * cell_width(c) for c in text)
