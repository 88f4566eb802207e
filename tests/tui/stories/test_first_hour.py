"""Three machines from an empty model by a new user: the tables of `docs/first-hour.md`."""

from __future__ import annotations

import pytest

from tests.tail import tail
from tests.tui.stories.walking import play, walk

WALKS = ("A pendulum", "A slider-crank with its motor and circuit", "An arm on a cylinder")


@pytest.mark.parametrize("title", tail(WALKS, 1))
def test_a_machine_is_built_run_compared_and_validated(terminal, title):
    terminal.start()
    terminal.wait("New from template")
    play(terminal, title)
    terminal.quit()


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_goes_through_every_step(title):
    """Built, seen as a graph, run, compared, validated."""
    keys = "".join("".join(row.keys) for row in walk(title))
    assert all(step in keys for step in ("al", "aj", "2r", "r4", ">4D5R"))
