# ruff: noqa: E501 -- a fault is one line of the table
"""The verdict can fail: faults in the source of the bond-graph solver, one line at a time.

The lines are those of the laws and junctions from which the graph is built, of
the equations that are derived from it and of the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial

import pytest

from tests.tmm_bridge.faults import Bench, assert_found, exchanged
from tests.tmm_bridge.machines import arm, loop

# module of vbg, what stands there, what the fault makes of it, a channel that must be named
TREE_FAULTS = [
    # bodies: gravity's sign, products of inertia dropped and swapped, gyroscopic term, mass 1 %
    ("elements.body", "weight = self.mass * builder.gravity", "weight = -self.mass * builder.gravity", "J1.force"),
    ("elements.body", "inverse(const(J_B))", "inverse(const(np.diag(np.diag(J_B))))", "J1.torque"),
    ("elements.body", "[[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]", "[[xx, xy, yz], [xy, yy, zx], [yz, zx, zz]]", "J1.torque"),
    ("elements.body", "builder.euler(name, angular, h_B)", "None", "J3.force"),
    ("elements.body", "np.eye(3) / self.mass", "np.eye(3) / (1.01 * self.mass)", "J1.force"),
    # start: angular momentum 0.1 % off
    ("elements.body", "const(J_B @ start.w_WB_B)", "const(1.001 * J_B @ start.w_WB_B)", "hand.angular_velocity"),
    ("elements.body", "v + mul(R_WB, mul(-skew(arm), w))", "v + mul(R_WB, mul(skew(arm), w))", "hand.tip.velocity"),
    # laws of forces
    ("elements.spring", "where.value - const(self.length)", "where.value", "line.force"),
    ("elements.spring", "effort=self.k * stretch", "effort=-self.k * stretch", "line.force"),
    ("elements.damper", "self.c * flow", "1.01 * self.c * flow", "dash.force"),
    ("elements.torsion_spring", "effort=self.k * twist", "effort=0.5 * self.k * twist", "coil.torque"),
    ("elements.force", "mul(axes, components)", "components", "push.force"),
    ("elements.force", "builder, body, self.on.at)", "builder, body, (0.0, 0.0, 0.0))", "push.power"),
    ("elements.bushing", "mul(turn.to_torque, rows(load, 3, 6))", "rows(load, 3, 6)", "mount.torque"),
    ("elements.bushing", "mul(coefficients, flow)", "-1.0 * mul(coefficients, flow)", "mount.torque"),
    # joints: lever arms, friction's sign, what is read off, a gear's ratio
    ("physics.relative", "mul(R, -skew(arm))", "mul(R, skew(arm))", "J1.force"),
    ("physics.relative", "p_AF_A if points_coincide else p_AM_A", "p_AF_A", "J2.force"),
    ("junctions.constrain", "mul(R_WA, rows(wrench, 3, 6))", "rows(wrench, 3, 6)", "J2.torque"),
    ("junctions.constrain", "times(viscous, flow)", "times(-1.0 * viscous, flow)", "J1.friction"),
    ("junctions.cylindrical", "on_axis(pair), axes_parallel(pair)", "on_axis(pair)", "J2.torque"),
    ("junctions.couple", "const(ratio), toward", "const(-ratio), toward", "gear.effort"),
]  # fmt: skip
LOOP_FAULTS = [
    ("junctions.constrain", "builder.time_derivative(target)", "1.001 * builder.time_derivative(target)", "J5.force"),
    ("junctions.constrain", "stack(zeros(3), pair.z_F),", "stack(zeros(3), -pair.z_F),", "J1.torque"),
    ("junctions.helical", "-self.lead * transpose(pair.z_F)", "self.lead * transpose(pair.z_F)", "thread.force"),
    ("junctions.distance", "mul(line.direction, effort)", "-1.0 * mul(line.direction, effort)", "strut.force"),
    ("junctions.distance", "norm(p_WM - p_WF)", "norm(1.001 * (p_WM - p_WF))", "strut.force"),
    ("junctions.constrain", "angle_between(pair.y_F, z_M, pair.z_F)", "angle_between(z_M, pair.y_F, pair.z_F)", "J2.angle"),
]  # fmt: skip


@pytest.fixture(scope="module")
def benches() -> Mapping[str, Bench]:
    """Both machines, what the sound transfer-matrix solver says of them kept."""
    return {"arm": Bench(arm()), "loop": Bench(loop())}


@pytest.mark.parametrize("machine", ["arm", "loop"])
def test_sound_source_passes(benches, machine):
    verdict = benches[machine].judge("vbg", nullcontext)
    assert verdict.result == "PASS", verdict.sentence


@pytest.mark.parametrize(("module", "old", "new", "channel"), TREE_FAULTS)
def test_fault_in_a_tree_is_found(benches, module, old, new, channel):
    assert_found(benches["arm"].judge("vbg", partial(exchanged, module, old, new)), channel)


@pytest.mark.parametrize(("module", "old", "new", "channel"), LOOP_FAULTS)
def test_fault_in_a_loop_is_found(benches, module, old, new, channel):
    assert_found(benches["loop"].judge("vbg", partial(exchanged, module, old, new)), channel)


def test_the_source_is_sound_again_after_a_fault(benches):
    module, old, new, channel = TREE_FAULTS[0]
    assert_found(benches["arm"].judge("vbg", partial(exchanged, module, old, new)), channel)
    assert benches["arm"].judge("vbg", nullcontext).result == "PASS"
