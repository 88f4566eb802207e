"""A verdict is on equations: where the file's method takes fixed steps, `auto` is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

import vbg
from vbg.io import toml
from vbg.model.samples import machine
from vbg.validate import validate

CRANK = Path(__file__).parents[3] / "examples" / "slider-crank.toml"


def by(method: str, model: vbg.Model) -> vbg.Model:
    return vbg.Model(**{**model.document, "simulate": {"method": method}})


@pytest.mark.parametrize("method", ["discrete-time", "rk4"])
@pytest.mark.parametrize("kind", ["slider-crank", "revolute"])
def test_errors_of_fixed_steps_are_no_fault(method, kind):
    """Bushings in the place of joints, and rows 20 ms apart as steps, change forces by percents."""
    sound = vbg.read(CRANK) if kind != "revolute" else toml.parse(machine("joints", kind), "")
    report = validate(by(method, sound), t_end=0.1, output_step=0.02, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert report.solutions["vbg"].made_by.method == "dop853"
    assert any(f"{method} of the file takes fixed steps" in n for n in report.verdict.notes)


def test_a_method_that_looks_at_its_error_is_judged_itself():
    model = by("radau", toml.parse(machine("joints", "revolute"), ""))
    report = validate(model, t_end=0.05, output_step=0.01, rtol=1e-8, in_children=False)
    assert "radau" in report.solutions["vbg"].made_by.method
    assert not any("fixed steps" in note for note in report.verdict.notes)
