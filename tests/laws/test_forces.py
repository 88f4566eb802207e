"""Every force of the library, on every joint: Newton and Euler, energy, and the bushing's law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import KINDS, Machine, random_body, random_loop, random_tree, unit
from tests.laws.newton import Loads, assert_balance, values_at
from tests.laws.parts import add_bushing, coupled, loaded, rolling_disc
from vbg.spatial import axis_angle, quaternion_from_matrix, rotation_matrix

SEEDS = st.integers(0, 10_000)
SOME = settings(max_examples=12, deadline=None, derandomize=True)
FEW = settings(max_examples=5, deadline=None, derandomize=True)


@pytest.mark.parametrize("kind", KINDS)
def test_all_loads_on_every_joint_balance_each_body(kind):
    machine = loaded(random_tree(17, kinds=(kind,)), 17)
    system = vbg.assemble(machine.model())
    assert_balance(machine, system, 0.7, vbg.start(system).state)


@SOME
@given(seed=SEEDS)
def test_all_loads_on_mixed_machines_balance_each_body(seed):
    for machine in (loaded(random_tree(seed), seed), loaded(random_loop(seed), seed)):
        system = vbg.assemble(machine.model())
        assert_balance(machine, system, 0.4, vbg.start(system).state)


@pytest.mark.parametrize("kind", ["gear", "belt", "rack_pinion"])
def test_couplings_with_friction_balance_each_body(kind):
    machine = coupled(21, kind)
    machine.joints["first"]["friction"] = {"viscous": 0.37}
    system = vbg.assemble(machine.model())
    x = vbg.start(system).state
    loads = assert_balance(machine, system, 0.0, x)
    ratio = machine.joints["coupling"]["ratio"]
    speeds = [float(np.squeeze(loads.values[f"{name}.speed"])) for name in ("first", "second")]
    assert abs(speeds[0]) > 0.01
    assert speeds[1] == pytest.approx(ratio * speeds[0], rel=1e-12)


def test_a_rolling_disc_balances_and_its_force_does_no_work():
    machine = rolling_disc(22)
    system = vbg.assemble(machine.model())
    loads = assert_balance(machine, system, 0.0, vbg.start(system).state)
    disc, wheel = loads.bodies["disc"], machine.joints["wheel"]
    force, torque = loads.values["wheel.force"], loads.values["wheel.torque"]
    power = force @ disc.velocity_at(disc.point(wheel["between"][1]["at"])) + torque @ disc.w
    assert abs(power) < 1e-12 * np.linalg.norm(force)
    assert np.linalg.norm(force) > 1.0


@FEW
@given(seed=SEEDS)
def test_energy_with_all_conservative_forces_is_kept(seed):
    for machine in (random_tree(seed), random_loop(seed)):
        model = loaded(machine, seed, conservative=True).model()
        solution = vbg.simulate(
            vbg.assemble(model), t_end=0.2, output_step=0.01, rtol=1e-10, atol=1e-12
        )
        assert solution.status.code == "finished", solution.status
        assert solution.audit.energy_residual < 1e-9
        assert abs(solution["energy.supplied"]).max() == 0.0
        assert abs(solution["energy.dissipated"]).max() == 0.0


@FEW
@given(seed=SEEDS)
def test_supplied_less_dissipated_is_stored_and_resistors_only_take(seed):
    model = loaded(random_loop(seed), seed).model()
    solution = vbg.simulate(
        vbg.assemble(model), t_end=0.2, output_step=0.01, rtol=1e-10, atol=1e-12
    )
    assert solution.status.code == "finished", solution.status
    assert solution.audit.energy_residual < 1e-9
    assert np.diff(solution["energy.dissipated"]).min() >= 0.0
    assert solution["energy.dissipated"][-1] > 0.0
    assert abs(solution["energy.supplied"][-1]) > 0.0


# -- bushing -----------------------------------------------------------------------


class Turned:
    """Two free bodies with a bushing, the second turned by the rotation vector `phi_W` and
    shifted against the posture in which it was written."""

    def __init__(self, seed: int, turn: float):
        rng = np.random.default_rng(seed)
        self.machine = Machine(gravity=np.zeros(3))
        for name in ("one", "two"):
            self.machine.bodies[name] = random_body(rng)
        add_bushing(self.machine, rng, "bushing", "one", "two", damped=False)
        self.part = self.machine.forces["bushing"]
        self.K = np.array(self.part["stiffness"])
        self.system = vbg.assemble(self.machine.model())
        self.x = vbg.start(self.system).state
        names = self.system.state_names
        self.position = names.index("two.position.x")
        self.quaternion = names.index("two.quaternion.w")
        self.phi_W = turn * unit(rng)
        self.x[self.position : self.position + 3] += rng.uniform(-0.3, 0.3, size=3)
        self.x = self.moved(np.zeros(3), self.phi_W)

    def moved(self, dp: np.ndarray, dphi: np.ndarray) -> np.ndarray:
        """The state with the second body's point moved by dp and the body turned by dphi."""
        x = self.x.copy()
        R = rotation_matrix(x[self.quaternion : self.quaternion + 4])
        angle = float(np.linalg.norm(dphi))
        Q = rotation_matrix(axis_angle(tuple(dphi / angle), angle)) if angle else np.eye(3)
        x[self.quaternion : self.quaternion + 4] = quaternion_from_matrix(Q @ R)
        arm_W = R @ np.array(self.part["between"][1]["at"])
        x[self.position : self.position + 3] += dp + arm_W - Q @ arm_W
        return x

    def values(self, x: np.ndarray) -> dict[str, np.ndarray]:
        return vbg.start(self.system).outputs(0.0, x)

    def seen_from_first(self) -> tuple[np.ndarray, np.ndarray]:
        """R_WA, and the second point from the first in the first body's axes."""
        values = values_at(self.machine, self.system, 0.0, self.x)
        a, _, p_a, p_b = Loads(self.machine, values, 0.0).pair(self.part)
        return a.R, a.R.T @ (p_b - p_a)


@pytest.mark.parametrize("turn", [0.0, 0.02, 1.3, 2.9])
def test_bushing_force_is_the_gradient_of_its_energy(turn):
    """-dE along a small displacement of the second body = force . dp + torque . dphi, at the
    second's point, for turns up to nearly half a revolution."""
    bushing = Turned(31, turn)
    values = bushing.values(bushing.x)
    expected = np.concatenate([values["bushing.force"], values["bushing.torque"]])

    def energy(step: np.ndarray) -> float:
        values = bushing.values(bushing.moved(step[:3], step[3:]))
        return float(np.squeeze(values["energy.potential"]))

    h = 1e-5
    slope = [(energy(h * e) - energy(-h * e)) / (2 * h) for e in np.eye(6)]
    assert np.linalg.norm(expected) > 0.1
    assert_allclose(-np.array(slope), expected, atol=1e-8 * (1.0 + abs(expected).max()))


def test_bushing_at_a_pure_shift():
    """force = -K d and energy = 1/2 d^T K d, in the first body's axes."""
    bushing = Turned(32, 0.0)
    R_WA, d = bushing.seen_from_first()
    values, K = bushing.values(bushing.x), bushing.K
    assert_allclose(R_WA.T @ values["bushing.force"], -K[:3, :3] @ d, rtol=1e-12)
    assert_allclose(R_WA.T @ values["bushing.torque"], -K[3:, :3] @ d, rtol=1e-12)
    assert_allclose(values["energy.potential"], 0.5 * d @ K[:3, :3] @ d, rtol=1e-12)


def test_bushing_loses_no_digits_at_a_small_turn():
    """torque = -(load + 1/2 phi x load) + O(phi^2), load = K_rt d + K_rr phi, phi = 1e-9 rad."""
    bushing = Turned(33, 1e-9)
    R_WA, d = bushing.seen_from_first()
    phi = R_WA.T @ bushing.phi_W
    load = bushing.K[3:, :3] @ d + bushing.K[3:, 3:] @ phi
    torque = R_WA.T @ bushing.values(bushing.x)["bushing.torque"]
    assert_allclose(torque, -(load + 0.5 * np.cross(phi, load)), rtol=0.0, atol=2e-14)
