"""A start from a result is held to the result's own sizes: nanovolts as kilovolts, any pace."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.assemble import start_at

SCALES = [1e-9, 1e-3, 1.0, 1e6]


def circuit(volts: float, second: float, *, source: float = 1.0) -> vbg.Model:
    """Two stages of R and C on a source that swings, in volts and seconds of any size."""
    return vbg.Model(
        electric={
            "E": {
                "kind": "voltage_source",
                "nodes": ["a", "gnd"],
                "voltage": source * volts,
            },
            "R1": {"kind": "resistor", "nodes": ["a", "b"], "R": 1000.0},
            "C1": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3 * second},
            "R2": {"kind": "resistor", "nodes": ["b", "c"], "R": 3000.0},
            "C2": {"kind": "capacitor", "nodes": ["c", "gnd"], "C": 2e-4 * second},
        },
        simulate={"t_end": 2.0 * second, "output_step": 0.1 * second, "atol": 1e-11 * volts},
    )


def slider(length: float, second: float, *, shift: float = 0.0) -> vbg.Model:
    J = 0.01 * length**2
    return vbg.Model(
        bodies={"load": {"mass": 2.0, "inertia": {"xx": J, "yy": J, "zz": J}}},
        joints={
            "guide": {
                "kind": "prismatic",
                "between": ["ground", {"body": "load", "at": [shift * length, 0.0, 0.0]}],
                "axis": [1.0, 0.0, 0.0],
                "initial": {"slide": 0.3 * length, "speed": 0.4 * length / second},
            }
        },
        gravity=[0.0, 0.0, 0.0],
        simulate={"t_end": second, "output_step": 0.1 * second},
    )


@pytest.mark.parametrize("second", [1e-6, 1.0, 86400.0])
@pytest.mark.parametrize("volts", SCALES)
def test_a_circuit_of_any_size_goes_on_and_another_one_is_told(volts, second):
    run = vbg.simulate(circuit(volts, second))
    start = vbg.start(circuit(volts, second), run, at=0.7 * second)
    assert [note.severity for note in start.notes] == ["note"]
    shown = start.outputs(0.0, start.state)
    for name in ("C1.voltage", "C2.voltage", "R2.current"):
        peak = np.abs(run[name]).max()
        assert abs(np.ravel(shown[name])[0] - run[name][7]) <= 1e-11 * peak, name
    other = vbg.start(circuit(volts, second, source=1.01), run, at=0.7 * second)
    assert any("do not begin as in the result" in note.what for note in other.notes)


@pytest.mark.parametrize("second", [1e-6, 1.0, 86400.0])
@pytest.mark.parametrize("length", SCALES)
def test_a_machine_of_any_size_goes_on_and_another_one_is_told(length, second):
    run = vbg.simulate(slider(length, second))
    start = vbg.start(slider(length, second), run, at=0.7 * second)
    shown = start.outputs(0.0, start.state)
    for name in ("guide.slide", "guide.speed"):
        assert np.ravel(shown[name])[0] == pytest.approx(run[name][7], rel=1e-12, abs=0.0)
    for shift, told in ((1e-4, 1), (1e-8, 0)):  # position and slide say different things
        other = vbg.start(slider(length, second, shift=shift), run, at=0.7 * second)
        assert sum("moved onto the joints" in note.what for note in other.notes) == told


@pytest.mark.parametrize("seed", range(3))
def test_angles_that_are_rounding_are_no_state_that_was_moved(seed):
    """All joints of a closed parallelogram are at angle 0 as it is written: a rest found there
    holds 1e-17 rad and was "moved by 100 %"."""
    x, z = np.random.default_rng(seed).uniform(0.2, 2.0, 2)
    J = {"xx": 1.0, "yy": 1.0, "zz": 1.0}
    at = {"left": [0, 0, z / 2], "right": [x, 0, z / 2], "top": [x / 2, 0, z]}
    bodies = {name: {"mass": 1.0, "inertia": J, "position": p} for name, p in at.items()}

    def pin(first: str, second: str, where: list[float]) -> dict:
        ends = [
            {"body": b, "at": np.subtract(where, at.get(b, [0, 0, 0])).tolist()}
            for b in (first, second)
        ]
        return {"kind": "revolute", "between": ends, "axis": [0, 1, 0]}

    joints = {
        "A": pin("ground", "left", [0, 0, 0]),
        "B": pin("left", "top", [0, 0, z]),
        "C": pin("top", "right", [x, 0, z]),
        "D": pin("ground", "right", [x, 0, 0]),
    }
    system = vbg.assemble(vbg.Model(bodies=bodies, joints=joints))
    start = vbg.start(system)
    angles = [s.first for s in system.slices if s.state.unit == "rad"]
    for size, told in ((1e-15, 0), (1e-3, 1)):
        state = start.state.copy()
        state[angles] += size * np.random.default_rng(seed).uniform(-1, 1, len(angles))
        moved = start_at(system, state)
        assert sum("moved onto the joints" in note.what for note in moved.notes) == told
