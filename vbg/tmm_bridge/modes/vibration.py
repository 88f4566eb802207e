"""Linear vibration by transfer matrices: frequencies, mode shapes, responses.

Chains and trees of springs, discs, masses, bodies, shafts and Euler-Bernoulli
beams.  State vectors at the angular frequency w:

    torsion or stretch   z = [x, N]          displacement, force (angle, torque)
    bending              z = [y, theta, M, Q],  M = EI y'',  Q = EI y'''

with N' = -m w^2 x, Q' = m w^2 y, M' = Q - J w^2 theta along an element.  From
each tip the states that its boundary allows, a basis Z of half the size, are
carried to the root; Z is made orthonormal after each element and the factors
are kept, so that the characteristic function

    f(w) = det(boundary . Z_root) * product of the factors

is smooth in w, equals the determinant of the overall transfer matrix, and does
not lose digits with length.

E. C. Pestel, F. A. Leckie, Matrix Methods in Elastomechanics (1963); H. Holzer,
Die Berechnung der Drehschwingungen (1921); Rui et al., mstmmsim.txt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.rotation import Array

Boundary = Literal["free", "clamped", "pinned", "guided"]


class Element(Protocol):
    """Anything with a transfer matrix from its tip side to its root side."""

    def matrix(self, w: float) -> Array: ...


@dataclass(frozen=True)
class Spring:
    """Between two points of a stretching or twisting chain: x_out = x_in + N / k."""

    k: float

    def matrix(self, w: float) -> Array:
        return np.array([[1.0, 1.0 / self.k], [0.0, 1.0]])


@dataclass(frozen=True)
class Disc:
    """Disc of inertia J (or point mass) of a twisting (stretching) chain."""

    J: float

    def matrix(self, w: float) -> Array:
        return np.array([[1.0, 0.0], [-self.J * w * w, 1.0]])


@dataclass(frozen=True)
class Shaft:
    """Continuous shaft (or bar): stiffness GJ [N m^2], inertia per length, length."""

    stiffness: float
    density: float
    length: float

    def matrix(self, w: float) -> Array:
        b = w * math.sqrt(self.density / self.stiffness)
        if b * self.length < 1e-9:
            return np.array([[1.0, self.length / self.stiffness], [0.0, 1.0]])
        c, s = math.cos(b * self.length), math.sin(b * self.length)
        k = self.stiffness * b
        return np.array([[c, s / k], [-k * s, c]])


@dataclass(frozen=True)
class Beam:
    """Euler-Bernoulli beam: EI [N m^2], mass per length [kg/m], length [m]."""

    EI: float
    density: float
    length: float

    def matrix(self, w: float) -> Array:
        """By Rayleigh's functions S, T, U, V of b l, b^4 = density w^2 / EI."""
        b = math.sqrt(w * math.sqrt(self.density / self.EI))
        x = max(b * self.length, 1e-6)
        b = x / self.length
        ch, sh, c, s = math.cosh(x), math.sinh(x), math.cos(x), math.sin(x)
        S, T, U, V = (ch + c) / 2, (sh + s) / 2, (ch - c) / 2, (sh - s) / 2
        k = self.EI
        return np.array(
            [
                [S, T / b, U / (k * b**2), V / (k * b**3)],
                [b * V, S, T / (k * b), U / (k * b**2)],
                [k * b**2 * U, k * b * V, S, T / b],
                [k * b**3 * T, k * b**2 * U, b * V, S],
            ]
        )


@dataclass(frozen=True)
class Body:
    """Rigid body in bending: mass, inertia about its mass centre, length, and the distance
    of the mass centre from the tip side."""

    mass: float
    J: float = 0.0
    length: float = 0.0
    centre: float = 0.0

    def matrix(self, w: float) -> Array:
        inertia = np.eye(4)
        inertia[3, 0] = self.mass * w * w
        inertia[2, 1] = -self.J * w * w
        return rigid_arm(self.length - self.centre) @ inertia @ rigid_arm(self.centre)


@dataclass(frozen=True)
class ElasticHinge:
    """Transverse spring k and rotary spring k_theta in series in a bending chain;
    y_out = y_in - Q / k, theta_out = theta_in + M / k_theta.  Infinite is rigid."""

    k: float = math.inf
    k_theta: float = math.inf

    def matrix(self, w: float) -> Array:
        U = np.eye(4)
        U[0, 3] = -1.0 / self.k
        U[1, 2] = 1.0 / self.k_theta
        return U


@dataclass(frozen=True)
class Support:
    """Springs to the ground under a bending chain: transverse k, rotary k_theta."""

    k: float = 0.0
    k_theta: float = 0.0

    def matrix(self, w: float) -> Array:
        U = np.eye(4)
        U[3, 0] = -self.k
        U[2, 1] = self.k_theta
        return U


def rigid_arm(length: float) -> Array:
    """Massless rigid bar: y_out = y_in + l theta, M_out = M_in + l Q."""
    U = np.eye(4)
    U[0, 1] = length
    U[2, 3] = length
    return U


@dataclass(frozen=True)
class Branch:
    """Elements from a tip to the root side; `start` is the tip's boundary, or the branches
    that meet at the start of this one."""

    elements: tuple[Element, ...]
    start: Boundary | tuple[Branch, ...] = "free"


@dataclass(frozen=True)
class System:
    """A chain (one branch) or tree, and the boundary at its root."""

    trunk: Branch
    root: Boundary = "clamped"


@dataclass(frozen=True)
class Characteristic:
    """f(w) as sign and logarithm of its size."""

    sign: float
    log: float


# Rows of z that vanish at a boundary, for chains of 2 and of 4 states.
_ZERO: dict[tuple[int, str], tuple[int, ...]] = {
    (2, "free"): (1,),
    (2, "clamped"): (0,),
    (4, "free"): (2, 3),
    (4, "clamped"): (0, 1),
    (4, "pinned"): (0, 2),
    (4, "guided"): (1, 3),
}


def states_of(branch: Branch) -> int:
    """2 for torsion and stretch, 4 for bending.

    Raises UsageError if elements of both kinds are mixed or there is none.
    """
    sizes = {len(element.matrix(1.0)) for element in branch.elements}
    if isinstance(branch.start, tuple):
        sizes |= {states_of(further) for further in branch.start}
    if len(sizes) != 1:
        raise UsageError(
            "A vibrating chain needs elements of one kind, torsion and stretch (Spring, Disc,"
            " Shaft) or bending (Beam, Body, ElasticHinge, Support)."
        )
    return sizes.pop()


def _zero_rows(size: int, boundary: str) -> tuple[int, ...]:
    if (size, boundary) not in _ZERO:
        raise UsageError(f"The boundary {boundary!r} does not exist for a chain of {size} states.")
    return _ZERO[size, boundary]


def _basis(size: int, boundary: str) -> Array:
    """States that a boundary allows, (size, size / 2)."""
    rows = _zero_rows(size, boundary)
    return np.eye(size)[:, [j for j in range(size) if j not in rows]]


def carry(branch: Branch, w: float, size: int) -> tuple[Array, float, float]:
    """Orthonormal basis at the branch's end; sign and logarithm of the factors taken out."""
    if isinstance(branch.start, tuple):
        Z, sign, log = _meeting(branch.start, w, size)
    else:
        Z, sign, log = _basis(size, branch.start), 1.0, 0.0
    for element in branch.elements:
        Z, R = np.linalg.qr(element.matrix(w) @ Z)
        sign_R, log_R = np.linalg.slogdet(R)
        sign, log = sign * float(sign_R), log + float(log_R)
    return Z, sign, log


def _meeting(branches: tuple[Branch, ...], w: float, size: int) -> tuple[Array, float, float]:
    """Branches meet: one displacement, forces add: [1; sum F_k D_k^-1]."""
    half = size // 2
    total, sign, log = np.zeros((half, half)), 1.0, 0.0
    for branch in branches:
        Z, sign_k, log_k = carry(branch, w, size)
        sign_D, log_D = np.linalg.slogdet(Z[:half])
        total = total + Z[half:] @ np.linalg.inv(Z[:half])
        sign, log = sign * sign_k * float(sign_D), log + log_k + float(log_D)
    return np.vstack([np.eye(half), total]), sign, log


def characteristic(system: System, w: float) -> Characteristic:
    """f(w): it vanishes at the natural frequencies and nowhere else."""
    size = states_of(system.trunk)
    Z, sign, log = carry(system.trunk, w, size)
    sign_B, log_B = np.linalg.slogdet(Z[list(_zero_rows(size, system.root))])
    return Characteristic(float(sign_B) * sign, log + float(log_B))


def natural_frequencies(system: System, upper: float, *, samples: int = 2000) -> Array:
    """Angular frequencies [rad/s] in (0, upper], found as sign changes on a grid.

    Double frequencies, and pairs closer than upper / samples, need a finer grid.
    """
    from scipy.optimize import brentq

    grid = np.linspace(0.0, upper, samples + 1)[1:]
    values = [characteristic(system, w) for w in grid]
    found = []
    for a, b, left, right in zip(grid, grid[1:], values, values[1:], strict=False):
        if left.sign * right.sign < 0.0:
            level = max(left.log, right.log)

            def f(w: float, level: float = level) -> float:
                at = characteristic(system, w)
                return at.sign * math.exp(max(at.log - level, -600.0)) if at.sign else 0.0

            found.append(brentq(f, a, b, xtol=1e-14 * b, rtol=1e-15))
    return np.array(found)


def mode_shape(system: System, w: float) -> list[Array]:
    """States (size,) along the trunk of a chain at a natural frequency, tip first: one before
    the first element and one behind each; largest displacement 1.

    Raises UsageError for a tree.
    """
    if isinstance(system.trunk.start, tuple):
        raise UsageError("Mode shapes are given for chains; ask for each branch of a tree alone.")
    size = states_of(system.trunk)
    Z = _basis(size, system.trunk.start)
    bases, factors = [Z], []
    for element in system.trunk.elements:
        Z, R = np.linalg.qr(element.matrix(w) @ Z)
        bases.append(Z)
        factors.append(R)
    rows = list(_zero_rows(size, system.root))
    x = np.linalg.svd(Z[rows])[2][-1]
    states = [bases[-1] @ x]
    for basis, R in zip(reversed(bases[:-1]), reversed(factors), strict=True):
        # z_out = Q x = U Z x', Q R = U Z: x' = R^-1 x
        x = np.linalg.solve(R, x)
        states.append(basis @ x)
    states.reverse()
    half = size // 2
    displacements = np.array([state[: max(half // 2, 1)] for state in states])
    peak = displacements.flat[np.argmax(np.abs(displacements))]
    return [state / peak for state in states]


def frequency_response(
    system: System, frequencies: Sequence[float], load: Sequence[float]
) -> Array:
    """Complex-free displacement (n, size / 2) of the free tip of a chain under a harmonic
    load [N or N*m] there: the state at the tip is [x; -load] in each force.

    Raises UsageError for a tree or a tip that is not free.
    """
    if system.trunk.start != "free":
        raise UsageError("The response is that of the free tip of a chain.")
    size = states_of(system.trunk)
    half = size // 2
    force = np.array(load, dtype=float)
    rows = list(_zero_rows(size, system.root))
    out = []
    for w in frequencies:
        U = np.eye(size)
        for element in system.trunk.elements:
            U = element.matrix(w) @ U
        out.append(np.linalg.solve(U[rows, :half], U[rows, half:] @ force))
    return np.array(out)
