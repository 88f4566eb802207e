"""An inertia that is rounding beside its neighbour's is refused where the file writes its joint."""

from __future__ import annotations

from pathlib import Path

import pytest

import vbg
from vbg.errors import VbgError
from vbg.io.toml import parse

ROBOT = Path(__file__).parents[2] / "examples" / "two-link-robot.toml"


@pytest.mark.parametrize("mass", [1e20, 1e30, 1e40])
def test_a_mass_that_hides_its_neighbours_is_refused_with_its_place(mass):
    text = ROBOT.read_text(encoding="utf-8")
    model = parse(text.replace("mass = 2.0", f"mass = {mass}"), str(ROBOT))
    with pytest.raises(VbgError, match="lost in the digits of numbers") as caught:
        vbg.start(model)
    (problem,) = caught.value.problems
    table, name = problem.where.split(".")[:2]
    assert table == "joints" and name in model.joints
    assert text.split("\n")[problem.line - 1].startswith(f"[joints.{name}]")
