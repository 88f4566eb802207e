"""Transfer matrices on chains: digits, cost per evaluation, and the paper's Figure 26.

    python benchmarks/speed/tmm_chain.py [--figure cost.svg] [--largest 500]

Digits: chains of n hinges whose accelerations are chosen first; the hinge torques
follow by the recursive Newton-Euler method (an independent code below), and both
solvers must find the accelerations again.  The plain product of transfer matrices
loses digits with n, the Riccati transform does not.

Cost: one evaluation from Python, all joint forces included, against `pin.aba`
(without joint forces) if Pinocchio is installed.

Figure 26 of MSTMMSim: cost over degrees of freedom of the planar n-pendulum, by
MSTMM and by dense Newton-Euler equations with all joint forces as unknowns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.tmm_bridge.kernels.entries import evaluate
from vbg.tmm_bridge.kernels.motion.rotation import symmetric_matrix
from vbg.tmm_bridge.kernels.rows import W_FORCE, W_P, W_R
from vbg.tmm_bridge.kernels.tables import scratch_for
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.overall.transfer import overall_chain

SIZES = (2, 5, 10, 20, 50, 100, 200, 500)
INERTIA = {"xx": 0.01, "yy": 0.09, "zz": 0.085}


def chain(n: int, *, spatial: bool) -> Model:
    """n bars in a row, hinged; spatial hinges are alternately oblique."""
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {}
    for i in range(n):
        bodies[f"b{i}"] = {
            "mass": 1.0,
            "inertia": INERTIA,
            "points": {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]},
        }
        axis = [0.1 * (i % 3), 1.0, 0.3 * (-1) ** i] if spatial else [0, 1, 0]
        joints[f"j{i}"] = {
            "kind": "revolute",
            "between": ["ground" if i == 0 else f"b{i - 1}.B", f"b{i}.A"],
            "axis": axis,
        }
    return Model(name=f"chain {n}", gravity=[0, 0, -9.81], bodies=bodies, joints=joints)


def state(mechanism: Mechanism, seed: int = 1) -> np.ndarray:
    """Small angles and speeds, as a swinging chain has them."""
    n_q, n_v, _ = mechanism.tables.sizes
    rng = np.random.default_rng(seed)
    y = np.zeros(mechanism.size)
    y[:n_q] = rng.uniform(-0.3, 0.3, n_q)
    y[n_q : n_q + n_v] = rng.uniform(-1.0, 1.0, n_v)
    return y


def inverse_dynamics(mechanism: Mechanism, y: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Hinge torques that give qdd: recursive Newton-Euler, root to tip and back."""
    t = mechanism.tables
    s = scratch_for(t)
    evaluate(t, s, y.copy(), np.zeros(0), np.zeros((0, 3)))
    n = len(t.links)
    R = s.work[:, W_R : W_R + 9].reshape(n, 3, 3)
    p = s.work[:, W_P : W_P + 3]
    speeds = y[t.sizes[0] : t.sizes[0] + n]
    w, alpha, a, origin = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    loads = []
    for i in range(n):
        axis, r, c = R[i][:, 2], p[i] - origin, R[i] @ t.link[i, 13:16]
        a = a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        alpha = alpha + axis * qdd[i] + np.cross(w, axis * speeds[i])
        w = w + axis * speeds[i]
        J = R[i] @ symmetric_matrix(t.link[i, 16:22]) @ R[i].T
        a_com = a + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        f = t.link[i, 12] * (a_com - t.gravity)
        loads.append((f, np.cross(c, f) + J @ alpha + np.cross(w, J @ w)))
        origin = p[i]
    torque, q, m = np.zeros(n), np.zeros(3), np.zeros(3)
    for i in range(n - 1, -1, -1):
        q, m = q + loads[i][0], m + loads[i][1]
        torque[i] = m @ R[i][:, 2]
        if i:
            m = m + np.cross(p[i] - p[i - 1], q)
    return torque


def driven_by_torques(model: Model, torque: np.ndarray) -> Model:
    """The chain with a constant torque on every hinge."""
    forces = {
        f"t{i}": {"kind": "torque", "on": f"joints.j{i}", "torque": [float(value)]}
        for i, value in enumerate(torque)
    }
    return model.edited(("forces",), forces)


def digits(found: np.ndarray, true: np.ndarray) -> float:
    """Correct decimal digits of the worst entry, relative to the largest."""
    error = np.abs(found - true).max() / np.abs(true).max()
    return float(min(17.0, -np.log10(max(error, 1e-17)))) if np.isfinite(error) else 0.0


def digits_of(n: int) -> tuple[float, float, float]:
    """Digits of the plain product, of the Riccati transform, and of the torques that the
    accelerations of the latter need (its backward error), for n hinges."""
    model = chain(n, spatial=True)
    mechanism = lay_out(model)
    y = state(mechanism)
    true = np.random.default_rng(2).uniform(-5.0, 5.0, n)
    torque = inverse_dynamics(mechanism, y, true)
    mechanism = lay_out(driven_by_torques(model, torque))
    s = scratch_for(mechanism.tables)
    inputs = np.array([f.value(0.0) for f in mechanism.inputs])
    evaluate(mechanism.tables, s, y.copy(), inputs, np.zeros((0, 3)))
    try:
        with np.errstate(all="ignore"):
            plain = digits(overall_chain(mechanism, y, 0.0).acceleration, true)
    except (UsageError, np.linalg.LinAlgError):
        plain = 0.0
    back = inverse_dynamics(mechanism, y, s.acceleration)
    return max(plain, 0.0), digits(s.acceleration, true), digits(back, torque)


def best_of(work: Callable[[], Any], repeats: int) -> float:
    """Least time of one call [us], of five rounds."""
    rounds = []
    for _ in range(5):
        begun = time.process_time()
        for _ in range(max(repeats // 5, 1)):
            work()
        rounds.append((time.process_time() - begun) / max(repeats // 5, 1))
    return 1e6 * min(rounds)


def cost(n: int, *, spatial: bool) -> float:
    """Time of one evaluation [us]: accelerations and all joint forces."""
    mechanism = lay_out(chain(n, spatial=spatial))
    t, s, y = mechanism.tables, scratch_for(mechanism.tables), state(mechanism)
    nothing, undriven = np.zeros(0), np.zeros((0, 3))
    evaluate(t, s, y, nothing, undriven)
    return best_of(lambda: evaluate(t, s, y, nothing, undriven), 4000 // max(1, n // 20))


def cost_of_pinocchio(n: int) -> float:
    """Time of `pin.aba` for the spatial chain [us]; NaN without Pinocchio."""
    try:
        import pinocchio as pin
    except ImportError:
        return float("nan")
    t = lay_out(chain(n, spatial=True)).tables
    model, joint = pin.Model(), 0
    for i in range(n):
        place = pin.SE3(t.link[i, :9].reshape(3, 3), t.link[i, 9:12])
        joint = model.addJoint(joint, pin.JointModelRZ(), place, f"j{i}")
        inertia = pin.Inertia(t.link[i, 12], t.link[i, 13:16], symmetric_matrix(t.link[i, 16:22]))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    data, zero = model.createData(), np.zeros(n)
    return best_of(lambda: pin.aba(model, data, zero, zero, zero), 4000 // max(1, n // 20))


def dense_newton_euler(n: int, y: np.ndarray) -> np.ndarray:
    """Planar n-pendulum by dense equations: 3n accelerations and 2n hinge forces at once.

    M x'' - G^T lambda = f,  G x'' = -products; bars of length 1, mass 1.
    Returns the angular accelerations and the hinge forces.
    """
    angle, speed = np.cumsum(y[:n]), np.cumsum(y[n : 2 * n])
    e = 0.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    across = np.column_stack([-e[:, 1], e[:, 0]])
    A = np.zeros((5 * n, 5 * n))
    b = np.zeros(5 * n)
    mass = np.tile([1.0, 1.0, INERTIA["yy"]], n)
    A[: 3 * n, : 3 * n] = np.diag(mass)
    b[1 : 3 * n : 3] = -9.81
    for i in range(n):
        row = 3 * n + 2 * i
        # x_i - e_i = x_(i-1) + e_(i-1)
        A[row : row + 2, 3 * i : 3 * i + 2] = np.eye(2)
        A[row : row + 2, 3 * i + 2] = -across[i]
        b[row : row + 2] = -e[i] * speed[i] ** 2
        if i:
            A[row : row + 2, 3 * i - 3 : 3 * i - 1] = -np.eye(2)
            A[row : row + 2, 3 * i - 1] = -across[i - 1]
            b[row : row + 2] -= e[i - 1] * speed[i - 1] ** 2
    A[: 3 * n, 3 * n :] = -A[3 * n :, : 3 * n].T
    x = np.linalg.solve(A, b)
    return np.concatenate([x[2 : 3 * n : 3], x[3 * n :]])


def agreement_of_dense(n: int) -> float:
    """Largest relative difference of hinge forces between the dense equations and MSTMM."""
    mechanism = lay_out(chain(n, spatial=False))
    y = state(mechanism)
    s = scratch_for(mechanism.tables)
    evaluate(mechanism.tables, s, y.copy(), np.zeros(0), np.zeros((0, 3)))
    # The hinge turns about y, from z towards x: the plane's axes are x and z, the angle -q.
    flat = dense_newton_euler(n, -y)
    forces = flat[n:].reshape(n, 2)
    found = s.work[:, [W_FORCE, W_FORCE + 2]]
    return float(np.abs(forces - found).max() / np.abs(found).max())


def draw(path: str, sizes: list[int], fast: list[float], dense: list[float]) -> None:
    """Cost over degrees of freedom, as Figure 26."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    axes.plot(sizes, np.array(dense) / 1e3, "s-", label="Newton-Euler, dense")
    axes.plot(sizes, np.array(fast) / 1e3, "o-", label="MSTMM (Riccati)")
    axes.set_xlabel("degrees of freedom")
    axes.set_ylabel("time of one evaluation [ms]")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--figure", metavar="FILE", help="draw Figure 26 there")
    parser.add_argument("--largest", type=int, default=500, help="longest chain")
    arguments = parser.parse_args()
    sizes = [n for n in SIZES if n <= arguments.largest]
    print("correct digits of the accelerations; the last column is the Riccati solution's")
    print("backward error: the rest of its loss is the conditioning of the chain itself")
    print("     n  product  Riccati  its torques")
    for n in sizes:
        plain, riccati, back = digits_of(n)
        print(f"{n:6d}  {plain:7.1f}  {riccati:7.1f}  {back:11.1f}")
    print("\ntime of one evaluation from Python [us]\n     n   planar  spatial  pin.aba  ratio")
    for n in sizes:
        planar, spatial = cost(n, spatial=False), cost(n, spatial=True)
        pin = cost_of_pinocchio(n)
        print(f"{n:6d}  {planar:7.1f}  {spatial:7.1f}  {pin:7.1f}  {spatial / pin:5.2f}")
    figure_sizes = [n for n in (1, 2, 5, 10, 20, 30, 40, 60, 80, 100) if n <= arguments.largest]
    fast = [cost(n, spatial=False) for n in figure_sizes]
    dense = []
    for n in figure_sizes:
        y = state(lay_out(chain(n, spatial=False)))
        dense.append(best_of(lambda n=n, y=y: dense_newton_euler(n, y), 2000 // n))
    print("\nFigure 26: planar n-pendulum [us]\n     n    MSTMM     dense  difference")
    for n, quick, slow in zip(figure_sizes, fast, dense, strict=True):
        print(f"{n:6d}  {quick:7.1f}  {slow:8.1f}  {agreement_of_dense(n):10.1e}")
    if arguments.figure:
        draw(arguments.figure, figure_sizes, fast, dense)


if __name__ == "__main__":
    main()
