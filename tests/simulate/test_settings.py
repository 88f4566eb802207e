"""What `vbg.simulate` may be given: numbers, texts with units, machines; the rest in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import UsageError
from vbg.tmm_bridge import simulate as second

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
        ({"rtol": 1e-30}, "rtol = 1e-30 asks for more digits than numbers have"),
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


@pytest.mark.parametrize("kind, key", [("pulse", "height"), ("sample_and_hold", "input")])
@pytest.mark.parametrize("run", [vbg.simulate, second])
def test_more_instants_than_a_run_can_stop_at_are_refused(run, kind, key):
    """Both solvers stood still over a period of 1 ns, and said nothing."""
    signal = {"kind": kind, key: 1.0 if key == "height" else "a.position[0]", "period": 1e-9}
    signal |= {"duty": 0.5} if kind == "pulse" else {}
    force = {"kind": "force", "on": "a", "force": ["p", 0, 0]}
    model = vbg.Model(bodies={"a": BODY}, signals={"p": signal}, forces={"f": force})
    with pytest.raises(UsageError, match="Take a longer period, or a shorter run"):
        run(model, t_end=1.0)
    assert run(model, t_end=1e-7, output_step=1e-7).status.code == "finished"
