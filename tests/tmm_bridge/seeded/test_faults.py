# ruff: noqa: E501 -- a fault is one line of the table
"""The verdict can fail: faults in the source of the transfer-matrix solver, one line at a time.

Every changed line must end as FAIL, with the channel that it spoils first among
those that are named; the unchanged copy must pass.  What a fault leaves
unbalanced may also stop the faulty solver early: that is no excuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest

import vbg.tmm_bridge as bridge
from tests.tail import tail
from tests.tmm_bridge.faults import SETTINGS, Bench, assert_found, copied
from tests.tmm_bridge.machines import arm, loop
from vbg.solution import Status
from vbg.validate.compare import compare

# module, what stands there, what the fault makes of it, a channel that must be named
TREE_FAULTS = [
    # gyroscopic term
    ("kernels.motion.kinematics", "t[0] + gyro[0], t[1] + gyro[1], t[2] + gyro[2]", "t[0], t[1], t[2]", "J3.force"),
    # gravity: one component reversed; centripetal term of the mass centre dropped
    ("kernels.motion.kinematics", "mass * (k[0] - gravity[0])", "mass * (k[0] + gravity[0])", "J1.force"),
    ("kernels.motion.kinematics", "mass * (k[1] - gravity[1])", "-mass * gravity[1]", "J1.force"),
    # transposed rotation of a hinge
    ("kernels.motion.kinematics", "c * x0 + s * y0, c * y0 - s * x0, z0", "c * x0 - s * y0, c * y0 + s * x0, z0", "base.rotation"),
    # Coriolis term of a sliding hinge halved, velocity product of a turning one dropped
    ("kernels.motion.kinematics", "k = 2.0 * slip", "k = slip", "J2.force"),
    ("kernels.motion.kinematics", "cb[0] * speed, cb[1] * speed, cb[2] * speed", "0.0, 0.0, 0.0", "J4.torque"),
    # moments of inertia: Steiner's term, swapped products, first moments
    ("kernels.motion.kinematics", "jxy - mx * cy", "jxy + mx * cy", "J1.torque"),
    ("kernels.motion.kinematics", "link[i, LINK_J + 3], link[i, LINK_J + 4]", "link[i, LINK_J + 4], link[i, LINK_J + 3]", "J1.torque"),
    ("kernels.motion.kinematics", "put(work, i, W_B, 0.0, mz, -my)", "put(work, i, W_B, 0.0, -mz, my)", "J1.force"),
    # Riccati transform: lever arm's sign, a ball's B^T, what a hinge does not pass on
    ("kernels.riccati", "w[W_EM] += em[0] + t[0]", "w[W_EM] += em[0] - t[0]", "J1.torque"),
    ("kernels.riccati", "(f[0] - t[0], f[1] - t[1], f[2] - t[2])", "(f[0], f[1], f[2])", "hand.angular_velocity"),
    ("kernels.riccati", "s[W_A] - k0 * a0,", "s[W_A],", "J1.force"),
    ("kernels.riccati", "w[W_C + 3] += C[3] + ry * n21", "w[W_C + 3] += C[3] - ry * n21", "J1.torque"),
    ("kernels.riccati", "d = (x[0] - alpha_p[0], x[1] - alpha_p[1], x[2] - alpha_p[2])", "d = x", "hand.angular_velocity"),
    # frames: lever arm's sign, inertia turned the wrong way
    ("mechanism.layout", "R_NB, -R_NB @ p_out", "R_NB, R_NB @ p_out", "J1.force"),
    ("mechanism.layout", "R_NB @ symmetric_matrix(body.inertia) @ R_NB.T", "R_NB.T @ symmetric_matrix(body.inertia) @ R_NB", "J1.torque"),
    ("mechanism.draft", "np.array(model.gravity, dtype=float)", "0.999 * np.array(model.gravity, dtype=float)", "J1.force"),
    ("mechanism.layout", "joint.ratio, starts[1]", "1.0 / joint.ratio, starts[1]", "gear.effort"),
    ("kernels.motion.rotation", "[zx, yz, zz]])", "[xy, yz, zz]])", "J1.torque"),
    # damping 1 % off, forgotten rest length, wrong axes of a load, a force law's signs
    ("mechanism.loading", "0.0, 0.0, friction.viscous, 0.0", "0.0, 0.0, 1.01 * friction.viscous, 0.0", "J1.friction"),
    ("mechanism.loading", "np.concatenate([pa, pb, [k, rest, c]])", "np.concatenate([pa, pb, [k, rest, 1.01 * c]])", "dash.force"),
    ("mechanism.loading", "np.concatenate([pa, pb, [k, rest, c]])", "np.concatenate([pa, pb, [k, 0.0, c]])", "line.force"),
    ("mechanism.loading", '0.0 if part.axes == "world" else 1.0', "0.0", "push.force"),
    ("kernels.laws.efforts", "return -k * (x - rest) - c * rate,", "return -k * x - c * rate,", "coil.torque"),
    ("kernels.laws.efforts", "return -k * (x - rest) - c * rate,", "return -k * (x - rest) + c * rate,", "J1.friction"),
    ("kernels.laws.efforts", "apply(s.work, a, effort, pa, along, zero)", "apply(s.work, a, -effort, pa, along, zero)", "J1.torque"),
    ("kernels.laws.six", "m = conjugate_torque_of(at(x, 3), at(room, 3), 0.5)", "m = conjugate_torque_of(at(x, 3), at(room, 3), -0.5)", "mount.torque"),
    ("kernels.laws.efforts", "m = plus(torque, 1.0, vector_cross(arm, force))", "m = torque", "J1.torque"),
    # quaternion rate, start speeds, a force read off with the wrong sign
    ("kernels.evaluate", "0.5 * (a * x + c * u - d * z)", "0.5 * (a * x - c * u + d * z)", "hand.rotation"),
    ("mechanism.start", "y[n_q + held[-1]] = value", "y[n_q + held[-1]] = 0.99 * value", "J1.speed"),
    ("mechanism.speeds", "        w = work[W_W : W_W + 3]\n", "        w = 0.5 * work[W_W : W_W + 3]\n", "hand.angular_velocity"),
    ("formulas.written", "lambda tape, t, order: recorded_tree(trees", "lambda tape, t, order: -recorded_tree(trees", "push.force"),
    ("motion.signals.channels", "torque = torque - effort[:, None] * axis", "torque = torque + effort[:, None] * axis", "J1.torque"),
]  # fmt: skip
LOOP_FAULTS = [
    # velocity products of hinges and of cut joints, drive acceleration
    ("kernels.motion.kinematics", "cb[0] * turn, cb[1] * turn, cb[2] * turn", "0.0, 0.0, 0.0", "strut.force"),
    ("kernels.evaluate", "s.prescribed[v] = drive[d, 2]", "s.prescribed[v] = 0.0", "J1.drive"),
    ("kernels.closing.constraints", "- 2.0 * dot(axis, vector_cross(wa, u))", "", "eye.force"),
    ("kernels.closing.constraints", "return dot(x, z), speed, products", "return dot(x, z), speed, 0.0", "J7.torque"),
    ("kernels.closing.constraints", "+ (dot(rate, rate) - along * along) / size", "", "strut.force"),
    # a cut joint's row: its load 0.1 % off, its lever arm, its sign
    ("kernels.closing.loops", "e[node, j] -= gain * s.row_wrench[r, place, j]", "e[node, j] -= 1.001 * gain * s.row_wrench[r, place, j]", "eye.force"),
    ("kernels.closing.loops", "e[p, 4] += em[1] + r[2] * eq[0] - r[0] * eq[2]", "e[p, 4] += em[1]", "J1.torque"),
    ("kernels.evaluate", "rhs[r] = -row_acceleration(s, r)", "rhs[r] = row_acceleration(s, r)", "eye.force"),
    ("kernels.riccati", "acc = plus(acc, on_a * x, n)", "acc = plus(acc, 0.0, n)", "thread.force"),
    # the cross of a universal joint, the lead's sign, forces read off with wrong sign or arm
    ("kernels.motion.rotation", "[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]", "[[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]", "J2.torque"),
    ("mechanism.layout", 'constants[LINK_LEAD] = getattr(joint, "lead", 0.0)', 'constants[LINK_LEAD] = -getattr(joint, "lead", 0.0)', "thread.force"),
    ("motion.signals.channels", "force += effort * d / np.linalg.norm(d, axis=1, keepdims=True)", "force -= effort * d / np.linalg.norm(d, axis=1, keepdims=True)", "strut.force"),
    ("motion.signals.channels", "return -force, -(moment + np.cross(arm, force))", "return -force, -moment", "thread.torque"),
]  # fmt: skip


@pytest.fixture(scope="module")
def benches() -> Mapping[str, Bench]:
    """Both machines, what the sound bond-graph solver says of them kept."""
    return {"arm": Bench(arm()), "loop": Bench(loop())}


@pytest.mark.parametrize("machine", ["arm", "loop"])
def test_sound_copy_passes(benches, machine):
    verdict = benches[machine].judge("mstmm", copied)
    assert verdict.result == "PASS", verdict.sentence


@pytest.mark.parametrize(("module", "old", "new", "channel"), tail(TREE_FAULTS, 4))
def test_fault_in_a_tree_is_found(benches, module, old, new, channel):
    assert_found(benches["arm"].judge("mstmm", partial(copied, module, old, new)), channel)


@pytest.mark.parametrize(("module", "old", "new", "channel"), tail(LOOP_FAULTS, 3))
def test_fault_in_a_loop_is_found(benches, module, old, new, channel):
    assert_found(benches["loop"].judge("mstmm", partial(copied, module, old, new)), channel)


def test_a_sound_run_that_stops_early_is_no_fail():
    """What both have is equal: nothing contradicts, nothing is proved."""
    reference = bridge.simulate(arm(), **SETTINGS)
    n = len(reference.time) // 2
    stopped = replace(
        reference,
        time=reference.time[:n],
        signals={name: values[:n] for name, values in reference.signals.items()},
        status=Status("failed", "Stopped early."),
    )
    verdict = compare(reference, stopped)
    assert verdict.result == "INCONCLUSIVE"
    assert "Stopped early" in verdict.sentence
