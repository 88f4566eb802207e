"""The discrete-time method sees half turns within its compiled steps as single steps do."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import vbg
from tests.simulate.postures.test_half_turns import free, laws, twisted
from tests.tail import tail
from vbg.simulate.discrete import method
from vbg.simulate.events.half_turns import HalfTurns

STEP = 2.0**-10  # s: sums of it have no rounding, in whatever order they are added
ROW = 32  # steps


def both(model, monkeypatch, rows=100):
    """Runs with the steps of whole rows at once, and with single ones; how often compiled steps
    were called in each."""
    asked = {"t_end": rows * ROW * STEP, "output_step": ROW * STEP}
    calls, steps_of, runs = [], method.steps_of, []
    for singly in (False, True):
        with monkeypatch.context() as patch:
            if singly:
                patch.setattr(HalfTurns, "bent", True)
            counted = []
            patch.setattr(method, "steps_of", lambda *a, n=counted: n.append(0) or steps_of(*a))
            runs.append(vbg.simulate(model, **asked, method="discrete-time", step=STEP))
            calls.append(len(counted))
    return *runs, calls


def require_same(compiled, single):
    assert compiled.status.code == single.status.code
    if compiled.status.code == "failed":  # the words of a finished run tell how fast it was
        assert compiled.status == single.status
    assert compiled.made_by.n_steps == single.made_by.n_steps
    assert compiled.time.tobytes() == single.time.tobytes()
    assert [*compiled.signals] == [*single.signals]
    for name in single.signals:
        assert compiled[name].tobytes() == single[name].tobytes(), name


def chain(random):
    """Bodies written at any turn, between ground and ground in a row, by elements of beams and by
    bushings that may hold one axis only; a torque that is written in the time."""
    names, bodies, forces = ["ground", "a", "b", "c", "ground"], {}, {}
    fast = random.choice([0.3, 4.0])
    for name in names[1:4]:
        axis, angle = random.normal(size=3).tolist(), float(random.uniform(0.0, 3.0))
        bodies[name] = {
            "mass": 1.0,
            "inertia": dict.fromkeys(("xx", "yy", "zz"), 1.0),
            "rotation": {"axis": axis, "angle": angle},
            "angular_velocity": (fast * random.normal(size=3)).tolist(),
        }
    for k, between in enumerate(pairwise(names)):
        kind = "beam_element" if random.random() < 0.3 else "bushing"
        law = laws(float(random.uniform(0.2, 9.0)))[kind]
        if kind == "bushing" and random.random() < 0.6:
            law["stiffness"] = [1.0, 1.0, 1.0, *(2.0 * np.eye(3)[random.integers(3)])]
        forces[f"neck{k}"] = {"between": list(between), **law}
    forces["push"] = {"kind": "torque", "on": "b", "torque": ["sin(3*t)", 0.2, "0.3*t"]}
    return vbg.Model(name="chain", gravity=[0, 0, 0], bodies=bodies, forces=forces)


@pytest.mark.parametrize("first", tail(range(0, 40, 8), 1))
def test_runs_of_chains_are_those_of_single_steps(first, monkeypatch):
    """Bit for bit, whether something ends at half a turn, turns on about an axis without stiffness,
    or stays below."""
    ends = Counter()
    for seed in range(first, first + 8):
        compiled, single, _ = both(chain(np.random.default_rng(seed)), monkeypatch, 60)
        require_same(compiled, single)
        ends[compiled.status.code] += 1
    assert min(ends["failed"], ends["finished"]) > 0, ends


@pytest.mark.parametrize("kind", ["bushing", "beam_element"])
def test_a_twist_on_a_hinge_is_that_of_single_steps(kind, monkeypatch):
    for seed in range(2):
        random = np.random.default_rng(seed)
        for share in (0.9, 1.2):
            model = twisted(laws(9.0)[kind], np.eye(3)[seed], share, 1.0, 9.0, random.normal())
            compiled, single, _ = both(model, monkeypatch, 30)
            require_same(compiled, single)
            assert ("neck are turned by half" in compiled.status.sentence) == (share > 1.0)


def test_a_swing_below_half_a_turn_takes_a_call_a_row(monkeypatch):
    """And one more for each time that a part turns on, about an axis without stiffness."""
    swing = free(laws(1.0)["bushing"], [0.0, 2.0, 0.0])
    law = {"kind": "bushing", "stiffness": [1.0, 1.0, 1.0, 1.0, 0.0, 1.0]}
    for model, half_turns in ((swing, 0), (free(law, [0.0, 30.0, 0.0]), 15)):
        compiled, single, (few, many) = both(model, monkeypatch, 50)
        assert compiled.status.code == "finished"
        require_same(compiled, single)
        # runs for how far it may err, with rows of one step in each: those of the first, again
        assert 50 + half_turns <= few <= 2 * (50 + half_turns) + 4 < 0.2 * many


def test_what_rests_beside_half_a_turn_comes_to_its_end():
    """There, within rounding of zero, each step is judged; nothing holds the axis."""
    law = {"kind": "bushing", "stiffness": [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]}
    for side in (1e-14, -1e-14):
        start = vbg.start(free(law, [0.0, 0.0, 0.0]))
        at = next(s for s in start.system.slices if s.state.name == "arm.quaternion")
        start.state[at.first : at.last] = [side, 0.0, 0.0, 1.0]
        stepper = method.DiscreteTime(start, STEP)
        watch = HalfTurns(start.system, stepper.x)
        for step in range(1, 12):
            stepper.advance(11 * STEP, watch.rigid)
            assert not watch.passed(stepper.x)
            watch.keep()
            assert stepper.steps == step
        assert stepper.t == 11 * STEP
