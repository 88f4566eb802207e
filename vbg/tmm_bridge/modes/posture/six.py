"""Laws of six dimensions linear about a posture at rest: stiffness and damping of elastic hinges.

The law of `kernels.laws.six` is written once more for complex numbers, so that its slopes come
from steps along the imaginary axis, exact to rounding (J. N. Lyness, C. B. Moler, SIAM J.
Numer. Anal. 4 (1967) 202).  Displacements are those of M seen from F: translation, then turn, in
the axes of F; the rotation vector follows by theta' = Jl^-1 w.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import SIX_MIDDLE

STEP = 1e-30  # along the imaginary axis
SMALL = 0.01  # square of an angle below which series are taken
_JACOBIAN = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160)
_QUARTER = (1 / 4, 1 / 192, 1 / 7680, 17 / 5160960, 31 / 371589120)


def _series(coefficients: tuple[float, ...], square: Array) -> Array:
    return np.asarray(np.polyval(coefficients[::-1], square))


def _jacobian(theta: Array, sign: float) -> Array:
    """1 + sign [theta]/2 + k [theta]^2: Jl^-T for sign 1, Jl^-1 for sign -1."""
    square = theta @ theta
    if abs(square) < SMALL:
        k = _series(_JACOBIAN, square)
    else:
        half = 0.5 * np.sqrt(square)
        k = (1.0 - half / np.tan(half)) / square
    across = cross_matrix(theta)
    return np.asarray(np.eye(3) + 0.5 * sign * across + k * across @ across)


def _half_way(theta: Array) -> Array:
    """Rodrigues' vector of half the rotation."""
    square = theta @ theta
    if abs(square) < SMALL:
        return np.asarray(_series(_QUARTER, square) * theta)
    angle = np.sqrt(square)
    return np.asarray(np.tan(0.25 * angle) / angle * theta)


def cross_matrix(v: Array) -> Array:
    """v^ with v^ u = v x u, for complex numbers too."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _rotation(c: Array) -> Array:
    """Rotation matrix of Rodrigues' vector c."""
    across = cross_matrix(c)
    return np.asarray(np.eye(3) + 2.0 / (1.0 + c @ c) * (across + across @ across))


def effort(law: int, K: Array, x: Array) -> Array:
    """Spring's effort (6,) on the second body at x = (d, theta), F axes, its torque about M."""
    d, theta = x[:3], x[3:]
    if law != SIX_MIDDLE:
        load = K @ x
        return -np.concatenate([load[:3], _jacobian(theta, 1.0) @ load[3:]])
    c = _half_way(theta)
    H = _rotation(c)
    load = K @ np.concatenate([H.T @ d, theta])
    f = H @ load[:3]
    arm = cross_matrix(d) @ f
    torque = _jacobian(theta, 1.0) @ load[3:] - 0.5 * (arm + cross_matrix(c) @ arm)
    return -np.concatenate([f, torque])


def stiffness(law: int, K: Array, x: Array) -> Array:
    """(6, 6): how much less the effort gets per displacement of M seen from F."""
    found = np.zeros((6, 6))
    on_vector = np.real(_jacobian(x[3:], -1.0))
    for j in range(6):
        way = np.zeros(6)
        way[j] = 1.0
        way[3:] = on_vector @ way[3:]
        found[:, j] = -np.imag(effort(law, K, x + 1j * STEP * way)) / STEP
    return found


def damping(law: int, C: Array, x: Array) -> Array:
    """(6, 6): how much less the effort gets per speed of M seen from F, at rest."""
    if law != SIX_MIDDLE:
        return C
    d, theta = x[:3], x[3:]
    c = np.real(_half_way(theta))
    H = _rotation(c)
    rates = np.zeros((6, 6))  # of the strains
    rates[:3, :3] = H.T
    rates[:3, 3:] = 0.5 * H.T @ cross_matrix(d) @ (np.eye(3) - cross_matrix(c))
    rates[3:, 3:] = np.real(_jacobian(theta, -1.0))
    return np.asarray(rates.T @ C @ rates)


def from_behind(slope: Array, x: Array, load: Array) -> Array:
    """The slope for motions of F's own node, its axes, where M's is the parent.

    u = -s - w x d;  on F's node act -f and -m - d x f, which turn with it.
    """
    d, f, m = x[:3], load[:3], load[3:]
    moved = np.zeros((6, 6))  # what M does, seen from F
    moved[:3, :3] = moved[3:, 3:] = -np.eye(3)
    moved[:3, 3:] = cross_matrix(d)
    less = slope @ moved  # of (f, m)
    own = np.zeros((6, 6))
    own[:3] = -less[:3]
    own[3:] = -less[3:] - cross_matrix(d) @ less[:3]
    # d x f has u in d:  -(u x f) = f x u, which the effort gets more
    own[3:] -= cross_matrix(f) @ moved[:3]
    on_node = np.concatenate([-f, -m - np.cross(d, f)])
    own[:3, 3:] += cross_matrix(on_node[:3])
    own[3:, 3:] += cross_matrix(on_node[3:])
    return own


def between_nodes(slope: Array, load: Array, arm_a: Array, arm_b: Array) -> Array:
    """(12, 12): efforts that displacements of both nodes need, world axes, for `slope` and
    `load` on the second body in world axes; arms reach from the nodes' origins to M."""
    one, f, m = np.eye(3), load[:3], load[3:]
    seen = np.zeros((6, 12))  # of M from A
    seen[:3, :3], seen[:3, 3:6] = -one, cross_matrix(arm_a)
    seen[:3, 6:9], seen[:3, 9:] = one, -cross_matrix(arm_b)
    seen[3:, 3:6], seen[3:, 9:] = -one, one
    more = -slope @ seen  # of the load, which turns with A
    more[:3, 3:6] -= cross_matrix(f)
    more[3:, 3:6] -= cross_matrix(m)
    whole = np.zeros((12, 12))
    whole[:3], whole[6:9] = more[:3], -more[:3]
    whole[3:6] = more[3:] + cross_matrix(arm_a) @ more[:3]
    whole[9:] = -more[3:] - cross_matrix(arm_b) @ more[:3]
    # (u + w_a x arm_a) x f on A, the arm on B turns with it
    whole[3:6] -= cross_matrix(f) @ seen[:3]
    whole[3:6, 3:6] += cross_matrix(f) @ cross_matrix(arm_a)
    whole[9:, 9:] -= cross_matrix(f) @ cross_matrix(arm_b)
    return whole
