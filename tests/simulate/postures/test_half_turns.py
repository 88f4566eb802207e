"""A rotation vector is unique below half a turn: bushings and elements of beams end a run there."""

import re

import numpy as np
import pytest

import vbg
from tests.laws.flexible.test_beyond_small import machine as strip
from tests.tail import tail
from vbg.simulate.events.half_turns import HalfTurns


def twisted(law, axis, share, J, k, carrier=0.0, **joints):
    """A body on a hinge about `axis` between elastic ends, whose swing without a limit is `share`
    half turns, on a carrier that turns at a speed of its own [1/s of the swing]."""
    w = np.sqrt(k / J)
    frame = {"mass": 1.0, "inertia": dict.fromkeys(("xx", "yy", "zz"), J)}
    return vbg.Model(
        name="twisted",
        gravity=[0, 0, 0],
        bodies={"hub": dict(frame), "arm": dict(frame)},
        joints={
            "base": {
                "kind": "revolute",
                "between": ["ground", "hub"],
                "axis": list(axis),
                "drive": f"{float(carrier * w)!r}*t",
            },
            "hinge": {
                "kind": "revolute",
                "between": ["hub", "arm"],
                "axis": list(axis),
                "initial": {"speed": float(share * np.pi * w)},
            },
            **joints,
        },
        forces={"neck": {"between": ["hub", "arm"], **law}},
        simulate={"t_end": float(7.0 / w), "output_step": float(0.01 / w)},
    )


def free(law, speed):
    """A unit body that turns freely on its elastic end."""
    arm = {"mass": 1.0, "inertia": dict.fromkeys(("xx", "yy", "zz"), 1.0)}
    arm["angular_velocity"] = [float(each) for each in speed]
    neck = {"between": ["ground", "arm"], **law}
    return vbg.Model(name="free", gravity=[0, 0, 0], bodies={"arm": arm}, forces={"neck": neck})


def laws(k):
    bushing = {"kind": "bushing", "stiffness": [0, 0, 0, k, k, k]}
    stiff = {"EA": k, "GJ": k, "EI_y": k, "EI_z": k}
    return {"bushing": bushing, "beam_element": {"kind": "beam_element", "length": 1.0, **stiff}}


@pytest.mark.parametrize("kind", ["bushing", "beam_element"])
@pytest.mark.parametrize("formulation", tail(["constraint", "minimal"], 1))
def test_a_twist_ends_at_half_a_turn(kind, formulation):
    """Below it the swing is that of k; beyond the sign of the torque would turn over, with the same
    energy, and no audit would see it.  The turn of the whole counts not."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        axis = random.normal(size=3)
        J, k = (float(10.0 ** random.uniform(-6, 3)) for _ in range(2))
        for share in (0.95, 1.05, 7.0):
            made = twisted(laws(k)[kind], axis / np.linalg.norm(axis), share, J, k, random.normal())
            run = vbg.simulate(made, formulation=formulation)
            w = np.sqrt(k / J)
            exact = share * np.pi * np.sin(w * run.time)
            np.testing.assert_allclose(run["hinge.angle"], exact, atol=3e-6 * share)
            if share < 1.0:
                assert run.status.code == "finished"
                continue
            assert run.status.code == "failed", share
            assert "neck" in run.status.sentence and "half a turn" in run.status.sentence
            assert np.pi - 0.08 * share < run["hinge.angle"][-1] < np.pi * (1 + 1e-9)


@pytest.mark.parametrize("kind", tail(["bushing", "beam_element"], 1))
@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_what_a_latch_holds_back_goes_on(kind, method):
    """A twist that would pass half a turn, held just before by a joint that closes there: a trial
    step may end beyond, but its part up to the closing is all that is taken of it."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        J, k = (float(10.0 ** random.uniform(-3, 3)) for _ in range(2))
        near = float(np.pi - random.uniform(1e-4, 1e-2))
        ends = [
            {"body": body, "at": [float(np.cos(angle)), float(np.sin(angle)), 0.0]}
            for body, angle in (("hub", near), ("arm", 0.0))
        ]
        catch = {"kind": "spherical", "between": ends, "engage": f"hinge.angle > {near!r}"}
        share = random.uniform(1.05, 2.0)
        made = twisted(laws(k)[kind], [0, 0, 1], share, J, k, random.normal(), catch=catch)
        run = vbg.simulate(made, method=method)
        assert run.status.code == "finished", run.status.sentence
        assert run["hinge.angle"][-1] == pytest.approx(near, abs=1e-6)


def test_what_nothing_holds_turns_on():
    """About an axis without stiffness there is no torque that could turn over."""
    for seed in range(4):
        axis = np.eye(3)[seed % 3]
        law = {"kind": "bushing", "stiffness": [50.0, 50.0, 50.0, *(9.0 * (1.0 - axis))]}
        run = vbg.simulate(twisted(law, axis, share := np.sqrt(17.0), 1.0, 1.0))
        assert run.status.code == "finished"
        np.testing.assert_allclose(run["hinge.angle"], share * np.pi * run.time, rtol=1e-8)


def about(axis, held, others, coupling=0.0):
    """6x6 stiffness: `held` about the axis, `others` across it, and N/rad of a coupling of the
    force across the axis to a turn across it."""
    across = np.cross(axis, np.roll(axis, 1))
    across /= np.linalg.norm(across)
    K = np.zeros((6, 6))
    K[3:, 3:] = others * np.eye(3) + (held - others) * np.outer(axis, axis)
    K[:3, :3] = 4.0 * (coupling**2 / others) * np.eye(3)
    K[:3, 3:] = coupling * np.outer(across, across)
    K[3:, :3] = K[:3, 3:].T
    return (0.5 * (K + K.T)).tolist()


@pytest.mark.slow
def test_soft_torsion_beside_stiff_bendings_counts():
    """Whatever is stiffer, and in whatever axes it is written; what is left by rounding of the axes
    alone is no torsion."""
    for seed in range(8):
        random = np.random.default_rng(seed)
        axis = random.normal(size=3) if seed % 2 else np.eye(3)[seed // 2 % 3]
        axis = axis / np.linalg.norm(axis)
        J, k = (float(10.0 ** random.uniform(-1, 1)) for _ in range(2))
        others = float(10.0 ** random.uniform(9.5, 11.0)) * k
        coupling = others * random.uniform(0.0, 1.0) if seed > 3 else 0.0
        for held in (k, 0.0):
            law = {"kind": "bushing", "stiffness": about(axis, held, others, coupling)}
            run = vbg.simulate(twisted(law, axis, np.sqrt(2.0), J, k), formulation="minimal")
            assert run.status.code == ("failed" if held else "finished"), (seed, held)
            assert ("neck are turned by half" in run.status.sentence) == (held > 0.0)


@pytest.mark.parametrize("kind", ["bushing", "beam_element"])
def test_a_start_at_half_a_turn_is_watched(kind):
    """Of either side of it: the side is that of the first step that is kept."""
    start = vbg.start(free(laws(1.0)[kind], [0.0, 0.0, 0.0]))
    at = next(s for s in start.system.slices if s.state.name == "arm.quaternion")

    def turned(angle, axis):
        x = start.state.copy()
        c = 0.0 if angle == np.pi else np.cos(0.5 * angle)
        x[at.first : at.last] = [c, *(np.sin(0.5 * angle) * axis)]
        return x

    for axis in np.eye(3):
        for side in (0.1, -0.1):
            watch = HalfTurns(start.system, turned(np.pi, axis))
            for angle in (np.pi, np.pi + side, np.pi + 2.0 * side, np.pi):
                assert not watch.passed(turned(angle, axis))
                watch.keep()
            assert watch.passed(turned(np.pi - side, axis))
            assert watch.beyond == "neck"


def test_points_of_flexible_bodies_count():
    """A bushing at a point that bends: the turn is that of the point."""
    joint = {"kind": "revolute", "axis": [1, 0, 0], "initial": {"speed": 500.0}}
    hold = {"kind": "bushing", "between": ["ground", "arm.tip"], "stiffness": [0, 0, 0, 1, 1, 1]}
    run = vbg.simulate(
        strip(1.0, 1e3, 1.2, joint, {"hold": hold}), t_end=0.2, output_step=1e-3, method="radau"
    )
    assert "hold are turned by half a turn" in run.status.sentence
    assert np.pi - 0.5 < run["hinge.angle"][-1] < np.pi + 0.1


def test_small_explicit_steps_end_there_too():
    """By the discrete-time method."""
    for share in (0.9, 1.2):
        model = free(laws(1.0)["bushing"], [0.0, share * np.pi, 0.0])
        run = vbg.simulate(model, t_end=4.0, output_step=0.01, method="discrete-time", step=1e-3)
        assert ("neck are turned by half" in run.status.sentence) == (share > 1.0)


def test_small_explicit_steps_see_two_half_turns_within_a_row():
    """Rows of whole turns: 180 and 540 deg lie between two of them.  A turn takes twice the time in
    which the swing comes to half a turn."""
    for seed in range(3):
        random = np.random.default_rng(seed)
        w, share = random.uniform(50.0, 200.0), random.uniform(5.0, 9.0)
        model = free(laws(float(w**2))["bushing"], [0.0, 0.0, share * np.pi * w])
        rise = float(np.arcsin(1.0 / share) / w)
        run = vbg.simulate(
            model, t_end=12.0 * rise, output_step=4.0 * rise, method="discrete-time", step=rise / 50
        )
        said = re.match(r"At about t = (\S+) s the ends of neck are turned", run.status.sentence)
        assert said and float(said[1]) == pytest.approx(rise, rel=0.05), run.status.sentence
