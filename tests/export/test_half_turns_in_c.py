"""Exported programs end where the law of a bushing or of a beam does: at half a turn."""

import re
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken
from tests.export.comparing import compiled
from tests.laws.flexible.test_beyond_small import machine as strip
from tests.simulate.postures.test_half_turns import about, free, laws, twisted
from tests.tail import tail
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.export.fmu import write_fmu
from vbg.export.half_turns import half_turns
from vbg.export.tuning import Wish
from vbg.simulate.events.half_turns import watched

SAID = r"stopped at t = (\S+) s: the ends of .* half a turn .*: (\w+)"


def ended(program, *given):
    """When a program said that it ends and of which part; None where it went through."""
    done = subprocess.run([program, *map(str, given)], capture_output=True, text=True)
    said = re.search(SAID, done.stderr)
    assert done.returncode == (1 if said else 0), done.stderr
    rows = [float(line.partition(",")[0]) for line in done.stdout.splitlines()[1:]]
    return (float(said[1]), said[2], rows[-1]) if said else None


def swing(kind, seed, share):
    """Of any size and axis; the hinge passes half a turn at asin(1/share) of its swing."""
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    J, k = (float(10.0 ** random.uniform(-3, 3)) for _ in range(2))
    model = twisted(laws(k)[kind], axis / np.linalg.norm(axis), share, J, k, random.normal())
    return model, np.sqrt(k / J)


@pytest.mark.parametrize("seed", tail(range(4), 2))
def test_programs_end_at_half_a_turn(seed, tmp_path):
    """By adaptive and by fixed steps: beyond it they would go on with the opposite torque and the
    same energy."""
    kind = ["bushing", "beam_element"][seed % 2]
    model, w = swing(kind, seed, share := 7.0)
    program = compiled(vbg.start(model), tmp_path, "-O0")
    at, step = np.arcsin(1.0 / share) / w, model.simulate.output_step
    for given in ((), (7.0 / w, step, "fixed")):
        time, part, last = ended(program, *given)
        assert part == "neck"
        assert time == pytest.approx(at, abs=1.001 * step)
        assert last <= at


@pytest.mark.parametrize("held", [False, True])
def test_programs_wind_on_where_nothing_holds(held, tmp_path):
    """A soft torsion beside stiff bendings counts, in any axes; one that is rounding does not."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    law = {"kind": "bushing", "stiffness": about(axis, 4.0 * held, 1e10)}
    start = vbg.start(twisted(law, axis, np.sqrt(2.0), 1.0, 4.0))
    found = ended(compiled(start, tmp_path, "-O0"))
    assert (found is not None) == held


def test_a_swing_below_half_a_turn_goes_through(tmp_path):
    model, _ = swing("beam_element", 5, 0.95)
    assert ended(compiled(vbg.start(model), tmp_path, "-O0")) is None


def test_a_stiffness_that_stays_a_parameter_is_followed(tmp_path):
    arm = {"mass": 1.0, "inertia": dict.fromkeys(("xx", "yy", "zz"), 1.0)}
    law = {"kind": "bushing", "stiffness": [0, 0, 0, "k", "k", "k"]}
    model = vbg.Model(
        gravity=[0, 0, 0],
        parameters={"k": 1.0},
        bodies={"arm": {**arm, "angular_velocity": [0, 0, 9.0]}},
        forces={"neck": {"between": ["ground", "arm"], **law}},
    )
    start = vbg.start(model)
    program = compiled(start, tmp_path / "c", "-O0", tunable=[Wish("k", 0.5, 2.0)])
    assert ended(program, 3.0, 0.01)[1] == "neck"


@pytest.mark.parametrize("version", tail([3, 2], 1))
def test_units_end_at_half_a_turn(version, tmp_path):
    """Both ways, at the step that has passed it, with the part's name in the log."""
    import fmpy

    model, w = swing("bushing", 3, share := 7.0)
    at, step = np.arcsin(1.0 / share) / w, model.simulate.output_step
    write_fmu(vbg.start(model), tmp_path / "neck.fmu", version=version)
    for kind in ("CoSimulation", "ModelExchange"):
        said = []
        with pytest.raises(Exception, match="failed with status 3"):
            fmpy.simulate_fmu(
                str(tmp_path / "neck.fmu"),
                fmi_type=kind,
                stop_time=7.0 / w,
                output_interval=step,
                logger=lambda *words, said=said: said.append(words[-1]),
            )
        (told,) = (word for word in map(str, said) if "half a turn" in word)
        assert "neck" in told
        time = float(re.search(r"at t = (\S+) s", told)[1])
        assert time == pytest.approx(at, abs=1.001 * step)


def tapes(system):
    return Evaluator(lower(half_turns(system), system.programs.inputs))


def test_turns_are_those_of_a_run():
    """cos(a/2), the axis and the stiffness, of random states; between bodies, against the ground
    and at points that bend, whose quaternion is one but for its length."""
    joint = {"kind": "revolute", "axis": [1, 0, 0]}
    hold = {"kind": "bushing", "between": ["ground", "arm.tip"], "stiffness": [0, 0, 0, 1, 1, 1]}
    models = [swing(kind, 1, 0.5)[0] for kind in laws(1.0)]
    models += [free(laws(2.0)["bushing"], [1, 0, 0]), strip(1.0, 1e3, 1.2, joint, {"hold": hold})]
    for model in models:
        system = (start := vbg.start(model)).system
        for begun in shaken(start, size=1.0):
            x = begun.state.copy()
            for s in system.slices:
                if s.state.kind == "quaternion":
                    x[s.first : s.last] /= np.linalg.norm(x[s.first : s.last])
            found = tapes(system)(0.0, x)
            for i, part in enumerate(watched(system)):
                own = found[22 * i : 22 * (i + 1)]
                turn = part.turn(x)
                size = np.linalg.norm(own[:4])
                assert size >= 1.0 - 1e-12
                axis = part.R_AF.T @ turn[1:]
                assert_allclose(own[:4] / size, [turn[0], *axis], rtol=0, atol=1e-13)
                assert_allclose(own[4:].reshape(6, 3), part.stiffness, rtol=1e-15)
