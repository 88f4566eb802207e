"""Pictures of the terminal interface, for documents and reviews: no terminal is needed."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.platform.files import write_text
from vbg.tui.panes.source import Source
from vbg.tui.state.keys import VIEWS

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from vbg.tui.app import VbgApp

_PATIENCE = 150.0  # s; the first use of a solver on a machine compiles it
_HOPS = 20  # of the event loop: more than a message takes from widget to widget
_PRINTED = {"space": " "}
_FONTS = "Fira Code, DejaVu Sans Mono, Menlo, Consolas, monospace"


def take(
    path: str | None, view: str, output: str, *, size: str = "", marks: str = "", theme: str = ""
) -> int:
    """Write a picture of one view to `output`; the exit code."""
    from vbg.tui.opening import make_app

    if view not in VIEWS:
        raise UsageError(f"there is no view {view!r}; there are {', '.join(VIEWS)}.")
    found = re.fullmatch(r"(\d+)x(\d+)", size or "100x30")
    if found is None:
        raise UsageError(f"--size {size}: expected columns and rows, as in 160x48.")
    if Path(output).suffix not in (".svg", ".txt"):
        raise UsageError(f"-o {output}: the name must end in .svg or .txt.")
    app = make_app(path, marks=marks or "unicode", theme=theme)
    asyncio.run(_take(app, view, output, (int(found[1]), int(found[2]))))
    return 0


async def _take(app: VbgApp, view: str, output: str, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        await press(app, pilot, [str(VIEWS.index(view) + 1)])
        if output.endswith(".svg"):
            text = screen_svg(app)
        else:
            text = screen_text(app) + "\n"
        write_text(output, text)
        if app.work.document.journal is not None:
            app.work.document.journal.discard()


async def settled(app: VbgApp, pilot: Pilot) -> None:
    """Wait until no key waits, no dialog opens, nothing is being checked, read, drawn, written or
    run, and what has come of it is painted.

    Nobody waits for the widgets of a dialog that closes: they may never answer.
    """
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        for _ in range(_HOPS):
            await asyncio.sleep(0)
        if not _busy(app):
            await pilot.pause(0)
            # what was to be done after the next painting may begin something
            if await _painted(app) and not _busy(app):
                return
        await asyncio.sleep(0.005)
    raise UsageError(f"the view was not ready after {_PATIENCE:.0f} s.")


def _busy(app: VbgApp) -> bool:
    """Whether something that keys began has not ended."""
    # a worker that asks waits for keys: it is not at work
    working = any(not w.is_finished and w.group != "asking" for w in app.workers)
    waiting = app.asking and app.front is app.main  # an action goes on after a dialog
    opening = app.front is not app.main and not app.listens()
    unheard, work = bool(app.keyboard.typed), app.work
    source = app.main.panes.get("source")
    unwritten = isinstance(source, Source) and source.pending
    return bool(working or waiting or opening or unheard or unwritten or work.checking or app.job)


async def _painted(app: VbgApp) -> bool:
    """Wait for the next painting; not for that of a screen that is left."""
    try:
        await asyncio.wait_for(app.screen.wait_for_refresh(), 1.0)
    except TimeoutError:
        return False
    return True


async def typed(app: VbgApp, *keys: str) -> None:
    """Keys as a terminal sends them, one right after the other; returns once all are heard."""
    from textual.events import Key

    for key in keys:
        app.post_message(Key(key, _PRINTED.get(key, key if len(key) == 1 else None)))
    for _ in range(_HOPS):
        await asyncio.sleep(0)
    end = time.monotonic() + _PATIENCE
    while app.keyboard.typed:
        if time.monotonic() > end:
            raise UsageError(f"{len(app.keyboard.typed)} keys were never heard.")
        await asyncio.sleep(0.002)


async def press(app: VbgApp, pilot: Pilot, keys: Sequence[str]) -> None:
    """Press keys, waiting after each until its effect is there."""
    for key in keys:
        await typed(app, key)
        await settled(app, pilot)


def screen_svg(app: VbgApp) -> str:
    """The screen as a picture: the same bytes for the same screen, and no fonts from elsewhere."""
    text = app.export_screenshot(title="")
    text = re.sub(r"\s*@font-face \{.*?\}", "", text, flags=re.DOTALL)
    text = re.sub(r"terminal-\d+", "vbg", text)
    text = re.sub(r"font-family: [^;]*;", f"font-family: {_FONTS};", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def screen_text(app: VbgApp) -> str:
    """The text of the screen, row by row, from its picture."""
    import html

    rows: dict[float, dict[int, str]] = {}
    pattern = r'<text class="([^"]*)" x="([\d.]+)" y="([\d.]+)"[^>]*?>(.*?)</text>'
    for kind, x, y, text in re.findall(pattern, app.export_screenshot(title="")):
        if kind.endswith("-title"):
            continue
        column = round(float(x) / 12.2)
        rows.setdefault(float(y), {})[column] = html.unescape(text).replace("\xa0", " ")
    lines = []
    for y in sorted(rows):
        line = ""
        for column in sorted(rows[y]):
            line = line.ljust(column) + rows[y][column]
        lines.append(line.rstrip())
    return "\n".join(lines)
