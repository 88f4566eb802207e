"""Elastic ends that are turned by half a turn against each other end a run of this solver, too."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from tests.simulate.postures.test_half_turns import laws, twisted
from tests.tail import tail
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.discrete.method import SCHEMES
from vbg.tmm_bridge.discrete.method import simulate as discrete
from vbg.tmm_bridge.kernels.tables import SIX_FIRST
from vbg.tmm_bridge.modes.posture.six import effort
from vbg.tmm_bridge.motion.events.half_turns import is_held, jump
from vbg.validate.poses import StartPose


@pytest.mark.parametrize("kind", ["bushing", "beam_element"])
def test_a_twist_ends_at_half_a_turn(kind):
    """As the first solver's, by the vectors before and behind a step."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        axis = random.normal(size=3)
        J, k = (float(10.0 ** random.uniform(-6, 3)) for _ in range(2))
        for share in (0.95, 1.05, 7.0):
            made = twisted(laws(k)[kind], axis / np.linalg.norm(axis), share, J, k, random.normal())
            run = simulate(made)
            exact = share * np.pi * np.sin(np.sqrt(k / J) * run.time)
            np.testing.assert_allclose(run["hinge.angle"], exact, atol=3e-6 * share)
            if share < 1.0:
                assert run.status.code == "finished"
                continue
            assert run.status.code == "failed", share
            assert "neck are turned by half a turn" in run.status.sentence
            assert np.pi - 0.08 * share < run["hinge.angle"][-1] < np.pi * (1 + 1e-9)


@pytest.mark.parametrize("solve", [vbg.simulate, simulate])
def test_elastic_hinges_count(solve):
    """A body that nothing but an element holds: its twist is a joint coordinate of this solver."""
    for seed in range(3):
        random = np.random.default_rng(seed)
        J, k = (float(10.0 ** random.uniform(-3, 3)) for _ in range(2))
        w = float(np.sqrt(k / J))
        for share in (0.95, 1.3):
            inertia = dict.fromkeys(("xx", "yy", "zz"), J)
            spin = [float(share * np.pi * w), 0.0, 0.0]
            stiff = {"EA": 1e3 * k, "GJ": k, "EI_y": 9.0 * k, "EI_z": 7.0 * k}
            model = vbg.Model(
                name="twisted",
                gravity=[0, 0, 0],
                bodies={"arm": {"mass": J, "inertia": inertia, "angular_velocity": spin}},
                forces={
                    "neck": {
                        "kind": "beam_element",
                        "between": ["ground", "arm"],
                        "length": 1.0,
                        **stiff,
                    }
                },
            )
            run = solve(model, t_end=3.0 / w, output_step=0.02 / w)
            sine = share * np.pi * np.sin(w * run.time)
            np.testing.assert_allclose(run["neck.curvature"][:, 0], sine, atol=1e-5)
            assert run.status.code == ("finished" if share < 1.0 else "failed")
            assert ("neck are turned by half" in run.status.sentence) == (share > 1.0)
            assert share < 1.0 or "spring" in run.status.remedy, run.status.remedy


def afloat(stiffness, axis, halves, seed):
    """A body that nothing but a bushing holds, with the 6x6 `stiffness` in axes of any direction;
    free, it turns about `axis` of them by so many half turns in a second."""
    turn = Rotation.random(rng=seed).as_matrix()
    axes = np.kron(np.eye(2), turn)
    spin = turn @ axis * halves * np.pi
    inertia = dict.fromkeys(("xx", "yy", "zz"), 2.0)
    arm = {"mass": 3.0, "inertia": inertia, "angular_velocity": spin.tolist()}
    hold = {"kind": "bushing", "between": ["ground", "arm"]}
    return vbg.Model(
        name="afloat",
        gravity=[0, 0, 0],
        bodies={"arm": arm},
        forces={"hold": {**hold, "stiffness": (axes @ stiffness @ axes.T).tolist()}},
        simulate={"t_end": 1.0, "output_step": 0.02},
    )


@pytest.mark.parametrize("solve", [vbg.simulate, simulate])
def test_what_only_a_bushing_holds_turns_on_about_its_free_axes(solve):
    """Its twist is a joint coordinate of the second solver, whatever its stiffness."""
    for seed, turning in enumerate(([0, 0, 0], [9, 0, 9], [0, 0, 9], [9, 8, 9])):
        held = np.diag([1e5, 1e5, 1e5, *turning])
        run = solve(afloat(held, np.eye(3)[1], 4.3, seed))
        if turning[1]:
            assert "hold are turned by half a turn" in run.status.sentence
            continue
        assert run.status.code == "finished", run.status
        speed = np.linalg.norm(run["arm.angular_velocity"], axis=1)
        np.testing.assert_allclose(speed, 4.3 * np.pi, rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_steps_of_equal_length_end_there_too(scheme):
    """Elastic hinges of the discrete-time method, and bushings beside a hinge."""
    K = np.diag([1e3, 1e3, 1e3, 9.0, 0.0, 7.0])
    for seed, (turning, halves) in enumerate(((0.0, 1.4), (8.0, 0.6), (8.0, 2.8))):
        K[4, 4] = turning  # a swing of halves/2 half turns, w = 2/s
        run = discrete(afloat(K, np.eye(3)[1], halves, seed), scheme=scheme, step=4e-3)
        ends = turning > 0.0 and halves > 2.0
        assert run.status.code == ("failed" if ends else "finished"), run.status
        assert ("hold are turned by half" in run.status.sentence) == ends
    axis = np.array([0.6, 0.0, 0.8])
    for share in (0.9, 1.2):
        made = twisted(laws(2.0)["bushing"], axis, share, 0.5, 2.0)
        run = discrete(made, scheme=scheme, step=1e-2, t_end=0.9)
        exact = share * np.pi * np.sin(2.0 * run.time)
        np.testing.assert_allclose(run["hinge.angle"], exact, atol=2e-3 * share)
        assert ("neck are turned by half" in run.status.sentence) == (share > 1.0)


@pytest.mark.parametrize("seed", tail(range(3), 1))
def test_a_fast_shaft_is_not_past_a_soft_bushing_within_a_step(seed):
    """A bushing that a spinning shaft hardly feels lets steps be of many turns; the same between
    two shafts, and of a shaft that a torque sets in motion."""
    random = np.random.default_rng(seed)
    for soft in 10.0 ** random.uniform(-14, -4, 4):
        spin, other = (10.0 ** random.uniform(0, 4, 2)).tolist()
        stiffness = [0.0, 0.0, 0.0, *(soft * spin**2 * random.uniform(0.3, 1.0, 3))]
        turning = {"arm": spin, "hub": -other * float(random.integers(2))}
        T = 20.0 * np.pi / spin
        hinge = {"kind": "revolute", "axis": [0, 0, 1]}
        inertia = dict.fromkeys(("xx", "yy", "zz"), 1.0)
        tables = {
            "name": "spinning",
            "gravity": [0, 0, 0],
            "bodies": {n: {"mass": 1.0, "inertia": inertia} for n in turning},
            "joints": {
                f"h{n}": {**hinge, "between": ["ground", n], "initial": {"speed": speed}}
                for n, speed in turning.items()
            },
            "forces": {
                "neck": {"kind": "bushing", "between": ["hub", "arm"], "stiffness": stiffness}
            },
        }
        torque = {"T": {"kind": "torque", "nodes": ["joint:harm"], "torque": spin / T}}
        made = vbg.Model(**tables, rotational=torque)
        for rtol in (1e-2, 1e-4, 1e-6, 1e-9):
            for run in (vbg.simulate, simulate):
                found = run(made, t_end=T, output_step=T / 40, rtol=rtol, atol=rtol)
                assert "neck are turned by half" in found.status.sentence, (run, rtol)
        found = discrete(vbg.Model(**tables), step=T / 3, t_end=T, output_step=T / 3)
        assert "neck are turned by half" in found.status.sentence


def test_what_nothing_holds_turns_on():
    """About an axis without stiffness there is no torque that could turn over."""
    axis = np.array([0.0, 1.0, 0.0])
    law = {"kind": "bushing", "stiffness": [50.0, 50.0, 50.0, *(9.0 * (1.0 - axis))]}
    run = simulate(twisted(law, axis, share := np.sqrt(17.0), 1.0, 1.0))
    assert run.status.code == "finished"
    np.testing.assert_allclose(run["hinge.angle"], share * np.pi * run.time, rtol=1e-7)


def test_a_soft_twist_beside_stiff_directions_is_held():
    """Bending and a row of coupling a billion times as stiff do not hide a torque that turns
    over."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        turn = Rotation.random(rng=random).as_matrix()
        axis, axes = turn[:, 2], np.kron(np.eye(2), turn)
        soft, stiff = float(10.0 ** random.uniform(-3, 3)), 10.0 ** random.uniform(8, 10)
        K = soft * np.diag([9.0 * stiff, stiff, stiff, stiff, 2.0 * stiff, 1.0])
        K[0, 4] = K[4, 0] = soft * stiff
        law = {"kind": "bushing", "stiffness": (axes @ K @ axes.T).tolist()}
        for share in (0.95, 1.3):
            run = simulate(twisted(law, axis, share, 0.2, soft, random.normal()))
            exact = share * np.pi * np.sin(np.sqrt(soft / 0.2) * run.time)
            np.testing.assert_allclose(run["hinge.angle"], exact, atol=1e-5)
            assert run.status.code == ("failed" if share > 1.0 else "finished"), seed
            assert ("neck are turned by half" in run.status.sentence) == (share > 1.0)


def test_jumps_are_those_of_the_law():
    """By the law as the vibration analysis has it, on both sides of half a turn; no axis of full
    stiffness is free, and one that nothing holds is, until a force across it turns over."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        size = np.repeat(10.0 ** random.uniform(-3, 6, 2), 3)
        n = random.normal(size=3)
        n /= np.linalg.norm(n)
        d = random.normal(size=3) * size[3] / size[0]
        root = random.normal(size=(6, 6)) * size
        freed = root.copy()
        freed[:, 3:] -= np.outer(freed[:, 3:] @ n, n)
        for K in (root.T @ root, freed.T @ freed):
            before, behind = (
                effort(SIX_FIRST, K, np.concatenate([d, side * np.pi * n])) for side in (1, -1)
            )
            force, about, across = jump(K, d, n)
            found = -2.0 * np.concatenate([force, about * n + across])
            np.testing.assert_allclose(found / size, (before - behind) / size, atol=1e-9 * size[3])
        length = float(np.linalg.norm(d))
        assert is_held(root.T @ root, 0.0 * d, n, length)
        assert is_held(freed.T @ freed, d, n, length)
        assert not is_held(freed.T @ freed, 0.0 * d, n, length)


@pytest.mark.parametrize("kind", ["bushing", "beam_element"])
def test_what_begins_beside_half_a_turn_is_watched(kind):
    """From other poses than those written: a first step beyond is seen, one back is none; from
    half a turn itself any side is that of the first step."""
    for seed in range(3):
        axis = np.random.default_rng(seed).normal(size=3)
        axis /= np.linalg.norm(axis)
        law = laws(1e-3)[kind]
        for angle, speed in ((3.1, 1.0), (3.1, -1.0), (np.pi, 1.0), (np.pi, -1.0)):
            arm = {"mass": 1.0, "inertia": dict.fromkeys(("xx", "yy", "zz"), 1.0)}
            model = vbg.Model(
                name="begun",
                gravity=[0, 0, 0],
                bodies={"arm": arm},
                forces={"neck": {**law, "between": ["ground", "arm"]}},
                simulate={"t_end": 1.0, "output_step": 0.5},
            )
            turn = Rotation.from_rotvec(angle * axis).as_matrix()
            at = {"p_WB": np.zeros(3), "v_WB": np.zeros(3), "w_WB_B": speed * axis}
            pose = StartPose(**at, R_WB=turn)
            run = simulate(model, poses={"arm": pose})
            ends = angle < np.pi and speed > 0.0
            assert ("neck are turned by half" in run.status.sentence) == ends, run.status


def driven(K, axis, speed):
    """A body that a hinge turns about `axis` at a `speed` [rad/s], on a bushing of the torsional
    stiffness K (3, 3), told eight times in each of four seconds."""
    stiffness = np.block([[5.0 * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), K]])
    hinge = {"kind": "revolute", "between": ["ground", "arm"], "axis": axis.tolist()}
    neck = {"kind": "bushing", "between": ["ground", "arm"], "stiffness": stiffness.tolist()}
    return vbg.Model(
        name="driven",
        gravity=[0, 0, 0],
        bodies={"arm": {"mass": 1.0, "inertia": dict.fromkeys(("xx", "yy", "zz"), 1.0)}},
        joints={"hinge": hinge | {"drive": f"{float(speed)!r}*t"}},
        forces={"neck": neck},
        simulate={"t_end": 4.0, "output_step": 0.125},
    )


@pytest.mark.parametrize("free", [1, 2, 3])
def test_a_row_at_half_a_turn_about_a_free_axis_has_its_values(free):
    """Without torque, there and before and behind it.  About another axis, below half a turn,
    both solvers have the torque K a of a turn by a, m . K m a about m."""
    for seed in range(4):
        rng = np.random.default_rng([free, seed])
        axes = Rotation.random(rng=seed).as_matrix()
        k = 10.0 ** rng.uniform(-2.0, 3.0, 3)
        k[:free] = 0.0
        K = (axes * k) @ axes.T
        K, size = 0.5 * (K + K.T), max(k.max(), 1.0)
        about = axes[:, :free] @ rng.normal(size=free)
        about /= np.linalg.norm(about)
        for solve in (vbg.simulate, simulate):
            run = solve(driven(K, about, np.pi))
            assert run.status.code == "finished" and not run.audit.failures
            assert np.abs(run["neck.torque"]).max() <= 1e-12 * size
        m = rng.normal(size=3)
        m /= np.linalg.norm(m)
        first, second = (solve(driven(K, m, 0.24 * np.pi)) for solve in (vbg.simulate, simulate))
        held = -0.24 * np.pi * first.time * (m @ K @ m)
        np.testing.assert_allclose(first["neck.torque"] @ m, held, atol=1e-10 * size)
        np.testing.assert_allclose(first["neck.torque"], second["neck.torque"], atol=1e-10 * size)
