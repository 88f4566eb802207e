"""Shipped machines in other units of length, mass and time move as they do in their own, in both
solvers at their default tolerances: from nanometres to kilometres, from microseconds to days, from
attograms to gigatons, every signal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.scaled import Scale
from tests.tail import tail
from vbg import tmm_bridge
from vbg.simulate.record.peaks import WHERE

EXAMPLES = Path(__file__).parents[2] / "examples"
SOLVERS = {"vbg": vbg.simulate, "tmm_bridge": tmm_bridge.simulate}
# of the default rtol 1e-8, as far as the motion lets errors grow
ALLOWED = {"vbg": 1e-6, "tmm_bridge": 1e-4}
SCALES = [
    Scale(1e-9, 1.0, 1.0),
    Scale(1e3, 1e6, 1.0),
    Scale(1.0, 1.0, 1e5),
    Scale(1.0, 1.0, 1e-6),
    Scale(1e-9, 1e-24, 1e-6),
    Scale(1e3, 1e9, 1e5),
]
MACHINES = [
    "spatial-four-bar",
    "shaft-arm-slider",
    "slider-crank",
    "bushing-mount",
    "andrews-squeezer",
    "bennett",
    "coupled-pendulums",
    "dc-motor-start",
    "heavy-top",
    "pendulum",
    "pick-and-place",
    "wishbone-corner",
]
ROUNDING = 1e-9  # of the largest of its unit: a signal that is smaller is none
ARM = 0.1  # m: forces make torques along it


def told(solution):
    """All notes but what lies between coarse rows, which may be just enough to be told."""
    return [note for note in solution.notes if note.where != WHERE]


def peaks(solution):
    """The largest amount of every signal, and of every unit what counts as large."""
    own = {name: float(np.abs(solution[name]).max(initial=0.0)) for name in solution.signals}
    large = {}
    for name, peak in own.items():
        unit = solution.units[name]
        large[unit] = max(large.get(unit, 0.0), peak)
    large["N*m"] = max(large.get("N*m", 0.0), ARM * large.get("N", 0.0))
    return own, large


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("machine", tail(MACHINES, 1))
def test_a_machine_moves_alike_in_all_units(machine, solver):
    model = vbg.read(EXAMPLES / f"{machine}.toml")
    duration = model.simulate.t_end

    def run(scale):
        t_end = duration * scale.time
        found = SOLVERS[solver](scale.model(model), t_end=t_end, output_step=t_end / 100)
        assert found.status.code == "finished", (scale, found.status)
        assert not found.audit.failures, (scale, found.audit.failures)
        return found

    first = run(Scale())
    own, large = peaks(first)
    for scale in SCALES:
        found = run(scale)
        assert len(told(found)) == len(told(first))
        for name in first.signals:
            unit = first.units[name]
            if name.startswith(("residual.", "energy.residual")):
                continue
            size = large["J"] if unit == "J" else own[name]
            if size > ROUNDING * large[unit]:
                error = np.abs(found[name] / scale.of(unit) - first[name]).max() / size
                assert error < ALLOWED[solver], (scale, name, error)
