"""What `vbg.simulate` may be given: numbers, texts with units, machines; the rest in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import UsageError

BODY = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
FALLING = vbg.Model(bodies={"a": BODY})


@pytest.mark.parametrize(
    "given",
    [
        {"t_end": 1, "output_step": 3},  # whole numbers, as one writes them
        {"t_end": np.float32(1), "output_step": np.int64(3)},
        {"t_end": "1000 ms", "output_step": "3 s"},
        {"t_end": "1", "output_step": 3.0, "rtol": "1e-8"},
    ],
)
def test_settings_are_numbers_or_texts_with_a_unit(given):
    found = vbg.simulate(FALLING, **given)
    assert found.time.tolist() == [0.0, 1.0]
    assert found["a.position"][-1, 2] == pytest.approx(-9.81 / 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"t_end": "1 kg"}, "t_end.*is a mass, expected a time"),
        ({"t_end": [1]}, "t_end: a number, or a text with a unit"),
        ({"output_step": "often"}, "output_step: a number, or a text with a unit"),
        ({"rtol": 1}, "rtol is a part of what it bounds"),
    ],
)
def test_what_is_no_setting_is_said(given, said):
    with pytest.raises(UsageError, match=said):
        vbg.simulate(FALLING, **given)


@pytest.mark.parametrize("call", [vbg.simulate, vbg.start, vbg.assemble, vbg.validate])
def test_a_path_is_no_machine(call):
    with pytest.raises(UsageError, match=r"a Model.*got str\. vbg\.read"):
        call("crank.toml")


def test_a_verdict_is_asked_for_within_what_a_run_takes():
    with pytest.raises(UsageError, match="t_end must be a positive number"):
        vbg.validate(FALLING, t_end=-1)


def test_entries_are_edited_by_their_path_or_their_name():
    heavy = FALLING.edited("bodies.a.mass", "2 kg")
    assert heavy.bodies["a"].mass == 2.0
    assert heavy.document == FALLING.edited(("bodies", "a", "mass"), "2 kg").document
