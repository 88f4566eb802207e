"""Screens as text and as pictures, compared with those on record: what a person would look at.

    VBG_UPDATE_SCREENS=1 python -m pytest tests/tui/views/test_screens.py

writes them anew; look at the difference before committing it.  Pictures hold for
the release of the terminal library that drew them; with another they are skipped.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from vbg.tui.picturing import press, screen_svg, screen_text, settled

RECORD = Path(__file__).with_name("screens")
UPDATE = os.environ.get("VBG_UPDATE_SCREENS") == "1"
LIBRARY = RECORD / "library.txt"

SCENES = {
    "edit": [],
    "graph": ["2", "o"],
    "run": ["3"],
    "plot": ["4", "right"],
    "validate": ["5"],
    "space": ["6", "i"],
    "joint": ["/", "h", "i", "n", "g", "e", "enter", "escape", "tab"],
    "add": ["a", "p"],
    "help": ["?"],
    "plot-split": ["4", "C", "space", "down", "down", "down", "space", "S"],
    "versus": ["4", "C", "X", "down", "down", "space", "right"],
    "small": ["z"],
}
SIZES = {"80x24": (80, 24), "160x48": (160, 48)}
VIEWS = ("edit", "graph", "run", "plot", "validate", "space")
PICTURED = [(scene, size) for scene in VIEWS for size in SIZES]
TAKEN = [*PICTURED, *((scene, "80x24") for scene in SCENES if scene not in VIEWS)]


async def staged(app, pilot, scene: str) -> None:
    """Go to the scene."""
    await settled(app, pilot)
    if scene == "small":
        await pilot.resize_terminal(60, 18)
    await press(app, pilot, SCENES[scene])


def compare(seen: str, name: str, folder: Path) -> None:
    """`seen` must be as on record; if not, it is left in `folder` to be looked at."""
    file = RECORD / name
    if UPDATE:
        RECORD.mkdir(exist_ok=True)
        file.write_text(seen, encoding="utf-8")
    elif seen != file.read_text(encoding="utf-8"):
        (folder / name).write_text(seen, encoding="utf-8")
        pytest.fail(f"{name} is not as on record; what is seen now is in {folder / name}")


@pytest.mark.parametrize(("scene", "size"), TAKEN)
async def test_the_screen_is_as_on_record(app_with_runs, scene, size):
    app = app_with_runs
    async with app.run_test(size=SIZES[size]) as pilot:
        await staged(app, pilot, scene)
        seen = screen_text(app) + "\n"
    assert UPDATE or seen == (RECORD / f"{scene}-{size}.txt").read_text(encoding="utf-8")
    compare(seen, f"{scene}-{size}.txt", RECORD)


@pytest.mark.parametrize(("scene", "size"), PICTURED)
async def test_the_picture_is_as_on_record(app_with_runs, scene, size, tmp_path):
    if UPDATE:
        LIBRARY.write_text(version("textual") + "\n")
    elif version("textual") != LIBRARY.read_text().strip():
        pytest.skip(f"the pictures are of textual {LIBRARY.read_text().strip()}")
    app = app_with_runs
    async with app.run_test(size=SIZES[size]) as pilot:
        await staged(app, pilot, scene)
        seen = screen_svg(app)
    compare(seen, f"{scene}-{size}.svg", tmp_path)


async def test_a_picture_has_the_same_bytes_every_time(app_with_runs):
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await staged(app, pilot, "edit")
        assert screen_svg(app) == screen_svg(app)
        assert "@font-face" not in screen_svg(app), "fonts would be fetched from elsewhere"
