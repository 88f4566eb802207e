"""The view as a real picture, in terminals that can, until the next key."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.platform.terminals import HAS_CBREAK, cbreak
from vbg.tui.actions import Handler, Refusal
from vbg.tui.session import pixels
from vbg.tui.tasks import painting
from vbg.tui.tasks.preparing import prepare

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

_NONE = "this terminal shows no pictures (kitty's protocol or sixel); E writes a file"


async def _picture(app: Desk) -> None:
    """Draw the view, leave the cells, show it, and come back with the next key."""
    await prepare(app, app.work.view)  # its key may have come before what it shows was read
    with tempfile.TemporaryDirectory() as folder:
        file = await asyncio.to_thread(painting.paint, app.work, Path(folder))
        with app.suspend():
            shown = _show(file)
    app.refresh(repaint=True, layout=True)
    if not shown:
        app.work.say(_NONE, "warn")


def _show(file: Path) -> bool:
    """Whether the terminal could show it."""
    with cbreak() as terminal:
        if terminal is None:
            return False
        screen = pixels.asked(terminal)
        if not screen.protocol:
            return False
        below = f"\x1b[{screen.rows};1Hany key goes back".encode()
        _write(terminal, b"\x1b[2J\x1b[H" + pixels.encoded(file, screen) + below)
        os.read(terminal, 1 << 10)
        gone = b"\x1b_Ga=d\x1b\\" if screen.protocol == "kitty" else b""
        _write(terminal, gone + b"\x1b[2J\x1b[H")
        return True


def _write(terminal: int, text: bytes) -> None:
    while text:
        text = text[os.write(terminal, text) :]


def _no_picture(app: Desk) -> str:
    if not app.work.options.pictures:
        return "pictures are off (--no-pictures)"
    if not HAS_CBREAK:
        return _NONE
    return "" if app.work.view in painting.PAINTED else "Graph, Run, Plot and 3D have a picture"


HANDLERS: dict[str, Handler] = {"picture": _picture}
REFUSALS: dict[str, Refusal] = {"picture": _no_picture}
