"""Keys as a terminal sends them, much faster than a pilot."""

from __future__ import annotations

import asyncio

from textual import events

from vbg.tui.app import VbgApp

_PRINTED = {"space": " "}


async def tap(app: VbgApp, *names: str) -> None:
    """Press keys by the table's names."""
    for name in names:
        character = name if len(name) == 1 else _PRINTED.get(name)
        app.post_message(events.Key(name, character))
        for _ in range(20):
            await asyncio.sleep(0)
        await asyncio.sleep(0.004)
        while app.asking and app.screen is app.main:
            await asyncio.sleep(0.002)
