"""The ways in which each story is told: sizes, colours, characters.

Each is run at 80x24; VBG_STORIES names other ways, or is "all".  A wait that fails prints the
screen.
"""

from __future__ import annotations

import os

import pytest

from tests.tui.terminal import HAVE_TMUX, Terminal

SMALL = (80, 24)
WAYS = {
    "80x24": (SMALL, {}),
    "120x40": ((120, 40), {}),
    "160x48": ((160, 48), {}),
    "200x60": ((200, 60), {}),
    "plain": (SMALL, {"NO_COLOR": "1", "TERM": "screen"}),
    "16": (SMALL, {"TERM": "xterm-16color", "COLORTERM": ""}),
    "ascii": (SMALL, {"LC_ALL": "C", "LANG": "C"}),
}
CHOSEN = os.environ.get("VBG_STORIES", "80x24").replace("all", ",".join(WAYS)).split(",")


@pytest.fixture(params=CHOSEN)
def terminal(request, tmp_path):
    if not HAVE_TMUX:
        pytest.skip("tmux is not installed")
    size, extra = WAYS[request.param]
    session = Terminal(tmp_path, size, dict(extra))
    yield session
    session.close()
