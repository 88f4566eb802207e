"""Screens as text, compared with those on record: what a person would look at.

VBG_UPDATE_SCREENS=1 writes them anew; look at the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vbg.tui.picturing import press, screen_text, settled

RECORD = Path(__file__).with_name("screens")
UPDATE = os.environ.get("VBG_UPDATE_SCREENS") == "1"

SCENES = {
    "edit": [],
    "joint": ["/", "h", "i", "n", "g", "e", "enter", "escape", "tab"],
    "add": ["a", "p"],
    "help": ["?"],
    "run": ["3"],
    "plot": ["4", "right"],
    "plot-split": ["4", "C", "space", "down", "down", "down", "space", "S"],
    "space": ["6", "i"],
    "small": ["z"],
}
SIZES = {"80x24": (80, 24), "160x48": (160, 48)}
TAKEN = [(scene, "80x24") for scene in SCENES] + [
    (scene, "160x48") for scene in ("run", "plot", "space")
]


@pytest.mark.parametrize(("scene", "size"), TAKEN)
async def test_the_screen_is_as_on_record(app_with_runs, scene, size):
    app = app_with_runs
    async with app.run_test(size=SIZES[size]) as pilot:
        await settled(app, pilot)
        if scene == "small":
            await pilot.resize_terminal(60, 18)
        await press(
            app, pilot, [{"/": "slash", "?": "question_mark"}.get(k, k) for k in SCENES[scene]]
        )
        seen = screen_text(app) + "\n"
    file = RECORD / f"{scene}-{size}.txt"
    if UPDATE:
        RECORD.mkdir(exist_ok=True)
        file.write_text(seen, encoding="utf-8")
    assert seen == file.read_text(encoding="utf-8")
