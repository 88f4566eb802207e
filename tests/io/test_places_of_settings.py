"""What a run cannot do with a setting or a table of its file is told with place and remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from benchmarks.robustness.mutants import FINE, OTHERS, fault, unclear
from vbg.errors import VbgError
from vbg.io import toml

STEPPED = next(file for file in OTHERS if file.name == "stepped.toml")
CONTROL = next(file for file in OTHERS if file.name == "control.toml")


def replaced(file: Path, old: str, new: str) -> str:
    text = file.read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize("file", OTHERS, ids=lambda file: file.stem)
def test_the_machines_that_are_damaged_run_as_they_are(file):
    assert fault(file.read_text(encoding="utf-8"), str(file), depth="run") == "finished"


@pytest.mark.slow
def test_settings_that_small_steps_cannot_keep_are_told_where_they_stand():
    """At any size: frequencies and steps over many decades end, or are refused with a place."""
    random = np.random.default_rng(5)
    for _ in range(12):
        hertz, step = 10 ** random.uniform(0, 12), 10 ** random.uniform(-60, -4)
        text = replaced(STEPPED, 'bushing_frequency = "2 kHz"', f"bushing_frequency = {hertz!r}")
        text = text.replace('step = "20 us"', f"step = {step!r}")
        assert fault(text, str(STEPPED), depth="run") in FINE, (hertz, step)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('file = "profile.csv"', 'file = "missing.csv"'),
        ('file = "profile.csv"', 'file = "control.toml"'),
        ('columns = ["speed", "torque"]', 'columns = ["speed", "force"]'),
        ('columns = ["speed", "torque"]', 'columns = ["speed", "torque"], units = ["m"]'),
        ('columns = ["time", "level"]', 'columns = ["time", "level"], units = ["kg", "V"]'),
    ],
)
def test_a_table_that_is_no_table_is_told_with_a_remedy(old, new):
    with pytest.raises(VbgError) as error:
        model = toml.parse(replaced(CONTROL, old, new), str(CONTROL))
        vbg.start(vbg.assemble(model))
    assert not unclear(error.value.problems)


def test_a_setting_that_was_asked_for_elsewhere_has_no_place():
    text = replaced(STEPPED, 'bushing_frequency = "2 kHz"\n', "")
    start = vbg.start(vbg.assemble(toml.parse(text, str(STEPPED))))
    with pytest.raises(VbgError, match="smaller bushing_frequency") as error:
        vbg.simulate(start, bushing_frequency=1e9)
    assert not any(problem.line for problem in error.value.problems)


@pytest.mark.parametrize(
    ("old", "new"), [("t_end = 0.02", "t_end = 1e12"), ('"1 ms"', "1e-15"), ('"1 ms"', "1e-13")]
)
def test_more_rows_than_are_kept_are_told_where_they_are_asked_for(old, new):
    model = toml.parse(replaced(STEPPED, old, new), str(STEPPED))
    with pytest.raises(VbgError, match="output rows") as error:
        vbg.simulate(vbg.start(vbg.assemble(model)))
    assert not unclear(error.value.problems)
    (problem,) = error.value.problems
    assert "output_step" in STEPPED.read_text(encoding="utf-8").splitlines()[problem.line - 1]
