"""Modes (stick or slip, open or closed) are whole numbers whenever anything is evaluated: neither
rounding copies of a state nor differences nor what elimination leaves may move one, since 1e-30
beside 0 is another mode, or a mixture of two."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.analysis.rest.idle import sought_rest
from vbg.assemble.matrices.conserved import find_conserved
from vbg.assemble.matrices.noether import keeping_of
from vbg.assemble.program.evaluator import Evaluator
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.motion.rate import combining, recording
from vbg.tmm_bridge.motion.rate.plant import Plant

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MOVED = 0.1  # further off are halves of two modes, which the frictions at rest are told apart by


def shafts(seed):
    """A brake that sticks now and then, a clutch between two shafts, a stiff spring between two."""
    rng = np.random.default_rng(seed)
    J, dry = 10.0 ** rng.uniform(-2.0, 0.0, 3), rng.uniform(0.3, 2.0, 2)
    parts = {
        name: {"kind": "inertia", "nodes": [name], "J": inertia, "speed": speed}
        for name, inertia, speed in zip("abc", J.tolist(), rng.normal(size=3).tolist(), strict=True)
    }
    parts["brake"] = {"kind": "friction", "nodes": ["a"], "coulomb": float(dry[0])}
    parts["rim"] = {"kind": "friction", "nodes": ["a", "b"], "coulomb": float(dry[1])}
    parts["push"] = {"kind": "torque", "nodes": ["b"], "torque": "3*sin(9*t)"}
    parts["shaft"] = {"kind": "spring", "nodes": ["b", "c"], "k": 3e3}
    parts["oil"] = {"kind": "damper", "nodes": ["b", "c"], "c": 5.0}
    return vbg.Model(rotational=parts, simulate={"t_end": 0.5, "output_step": 0.01})


def example(name, t_end):
    return vbg.read(EXAMPLES / f"{name}.toml").edited(("simulate", "t_end"), t_end)


MACHINES = {
    "shafts 0": lambda: shafts(0),
    "shafts 1": lambda: shafts(1),
    "a motor and its crank": lambda: example("motor-slider-crank", 0.1),
    "a hydraulic arm": lambda: example("hydraulic-arm", 0.2),
    "a load that drops": lambda: example("crane-load-drop", 1.0),
}


class Watch:
    """Values of modes beside whole numbers, met so far."""

    def __init__(self, patch):
        self.moved, self.places, self.size, self.seen = [], np.zeros(0, dtype=int), -1, 0
        call, each, stages = Evaluator.__call__, Evaluator.each, Plant.stages

        def called(evaluate, t, x, *others):
            self.look(np.asarray(x), self.places, self.size)
            return call(evaluate, t, x, *others)

        def asked(evaluate, times, states):
            self.look(states, self.places, self.size)
            return each(evaluate, times, states)

        def staged(plant, t, h, y, K, rules, rows):
            self.look(y, plant.discrete, len(y))
            if h == 1.0:  # differences, and stages of implicit steps, from y
                self.look(y + K[: rows[0]], plant.discrete, len(y))
            return stages(plant, t, h, y, K, rules, rows)

        patch.setattr(Evaluator, "__call__", called)
        patch.setattr(Evaluator, "each", asked)
        patch.setattr(Plant, "stages", staged)

    def look(self, x, places, size):
        if x.shape[-1] == size and len(places):
            self.seen += 1
            modes = np.real(x[..., places])
            off = np.abs(modes - np.rint(modes))
            self.moved += modes[(off > 0.0) & (off < MOVED)].tolist()


@pytest.mark.parametrize("name", tail(MACHINES, 1))
def test_nothing_moves_a_mode(name, monkeypatch):
    model = MACHINES[name]()
    system, watch = vbg.assemble(model), Watch(monkeypatch)
    modes = {mode.name for mode in system.causal.graph.modes}
    places = [range(s.first, s.last) for s in system.slices if s.state.name in modes]
    watch.places, watch.size = np.array([i for one in places for i in one]), system.size
    for method in ("auto", "radau"):
        assert vbg.simulate(system, method=method).status.code == "finished"
    find_conserved(system)
    keeping_of(system)
    with suppress(vbg.UsageError):  # what has no rest has no poles
        assert len(vbg.analysis.linearise(system).modes) > 0
    simulate(model)
    assert watch.seen > 100 and not watch.moved


@pytest.mark.parametrize("name", tail(["rocket-launcher", "excavator-arm", "hydraulic-arm"], 1))
def test_no_direction_of_small_motions_has_a_part_in_a_mode(name, monkeypatch):
    """Rests, their symmetries and linear forms move along these."""
    model = vbg.read(EXAMPLES / f"{name}.toml")
    system, watch = vbg.assemble(model), Watch(monkeypatch)
    watch.places, watch.size = np.flatnonzero(system.discrete), system.size
    with suppress(vbg.UsageError):
        vbg.analysis.linearise(system)
    sought_rest(system)
    assert watch.seen and not watch.moved


def test_what_ties_stores_together_is_probed_in_the_modes_of_the_start(monkeypatch):
    """The second solver finds what combinations of its balance say nothing of unknowns at points
    beside the start; there its frictions stick or slip as at the start, and samplers hold."""
    found, places = [], {}
    slopes, reduced = combining.slopes, recording.reduced

    def noted(tape, told, scales):
        places["modes"] = list(told["modes"])
        return reduced(tape, told, scales)

    def watched(operations, memory, *others):
        found.append(memory[places["modes"]].tolist())
        return slopes(operations, memory, *others)

    monkeypatch.setattr(recording, "reduced", noted)
    monkeypatch.setattr(combining, "slopes", watched)
    model = shafts(2)
    circuit = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "1 + held"},
        "A": {"kind": "capacitor", "nodes": ["a", "b"], "C": 0.2},
        "B": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 0.3},
    }
    held = {"kind": "sample_and_hold", "input": "t", "period": 0.2, "initial": 0.7}
    run = simulate(model.edited(("signals",), {"held": held}).edited(("electric",), circuit))
    assert run.status.code == "finished"
    assert len(found) > 2 and len(found[0]) > 2
    assert all(modes == found[0] for modes in found)
