"""Real pictures in terminals that can: asked first, never guessed.

A terminal is asked three things at once: whether it knows kitty's graphics protocol, how large it
is in pixels, and what it is (primary device attributes, which all answer; 4 among them is sixel).
Nothing is shown on one that does not answer in time, or answers no.  The protocols: kitty's
"Terminal graphics protocol"; DEC's sixel graphics of the VT330 and VT340.
"""

from __future__ import annotations

import base64
import io
import os
import re
import select
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Protocol = Literal["kitty", "sixel", ""]
QUESTION = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[14t\x1b[c"
SECONDS = 2.0  # for the answer, which nearly all give; over slow lines it takes a while
COLOURS = 64  # of a sixel picture
_CELL = (8, 16)  # pixels of a cell where the terminal does not say: smaller than most
_PIECE = 4096  # bytes of one command of kitty's protocol
_ATTRIBUTES = re.compile(rb"\x1b\[\?([\d;]*)c")
_SIZE = re.compile(rb"\x1b\[4;(\d+);(\d+)t")


@dataclass(frozen=True, slots=True)
class Screen:
    """What a terminal can show: a protocol, and its size in cells and pixels."""

    protocol: Protocol
    columns: int
    rows: int
    width: int
    height: int


def asked(descriptor: int) -> Screen:
    """Ask the terminal at `descriptor`, whose input comes byte by byte, not line by line."""
    os.write(descriptor, QUESTION)
    heard, end = b"", time.monotonic() + SECONDS
    while not _ATTRIBUTES.search(heard):
        left = end - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            break
        heard += os.read(descriptor, 1 << 12)
    return understood(heard, *os.get_terminal_size(descriptor))


def understood(heard: bytes, columns: int, rows: int) -> Screen:
    """What an answer says; without the device attributes, nothing."""
    attributes, size = _ATTRIBUTES.search(heard), _SIZE.search(heard)
    protocol: Protocol = ""
    if attributes and b"\x1b_Gi=31;OK" in heard:
        protocol = "kitty"
    elif attributes and b"4" in attributes[1].split(b";")[1:]:
        protocol = "sixel"
    width, height = columns * _CELL[0], rows * _CELL[1]
    if size and int(size[1]) and int(size[2]):
        width, height = int(size[2]), int(size[1])
    return Screen(protocol, columns, rows, width, height)


def encoded(picture: Path, screen: Screen) -> bytes:
    """The picture, as large as fits above the last line, in the terminal's protocol."""
    from PIL import Image

    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    room = (screen.width, screen.height * max(screen.rows - 2, 1) // max(screen.rows, 1))
    part = min(room[0] / image.width, room[1] / image.height)
    size = max(int(image.width * part), 1), max(int(image.height * part), 1)
    image = image.resize(size)
    if screen.protocol == "kitty":
        file = io.BytesIO()
        image.save(file, "PNG")
        return kitty(file.getvalue())
    few: Any = image.quantize(COLOURS)
    palette = np.array(few.getpalette(), dtype=int).reshape(-1, 3)
    return sixel(np.asarray(few), palette)


def kitty(png: bytes) -> bytes:
    """The commands that show a PNG at the cursor; no answer is asked for."""
    text = base64.standard_b64encode(png)
    pieces = [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]
    out = []
    for number, piece in enumerate(pieces, 1):
        keys = b"a=T,f=100,q=2," if number == 1 else b""
        out.append(b"\x1b_G%sm=%d;%s\x1b\\" % (keys, number < len(pieces), piece))
    return b"".join(out)


def sixel(pixels: NDArray[Any], palette: NDArray[Any]) -> bytes:
    """The picture whose pixels (h, w) are rows of `palette` (n, 3), 0 to 255."""
    height, width = pixels.shape
    used = np.unique(pixels)
    out = [b'\x1bPq"1;1;%d;%d' % (width, height)]
    out += [b"#%d;2;%d;%d;%d" % (k, *(round(100 * int(c) / 255) for c in palette[k])) for k in used]
    for top in range(0, height, 6):
        band = pixels[top : top + 6]
        weights = 1 << np.arange(len(band))
        lines = [
            b"#%d%s" % (k, b"".join(_runs((weights[:, None] * (band == k)).sum(axis=0))))
            for k in np.unique(band)
        ]
        out.append(b"$".join(lines) + b"-")
    return b"".join([*out, b"\x1b\\"])


def _runs(sixels: NDArray[Any]) -> Iterator[bytes]:
    """Columns of six pixels, equal ones beside each other counted."""
    starts = np.flatnonzero(np.diff(sixels, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(sixels)], strict=True):
        count, mark = int(end - start), bytes([63 + int(sixels[start])])
        yield b"!%d%s" % (count, mark) if count > 3 else mark * count
