"""Elements of vibrating chains: springs, discs, shafts, beams, bodies, with transfer matrices.

State vectors z = [x, N] of torsion and stretch, z = [y, theta, M, Q] of bending; see `vibration`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array

GROWTH = 2.0  # of a wave over one piece, as a logarithm; below pi nothing clamped vibrates within


class Element(Protocol):
    """Anything with a transfer matrix from its tip side to its root side, at angular
    frequencies w of any shape: (..., n, n)."""

    def matrix(self, w: Array | float) -> Array: ...

    def pieces(self, w: float) -> int:
        """In how many equal parts it is passed at w; 0 for what has no length to part."""
        ...

    def parts(self, count: int) -> tuple[Self, ...]:
        """`count` parts of the same length, from the tip side on."""
        ...

    def springs(self) -> Array | None:
        """Stiffness (half,) of a massless spring between two points, infinite where it is
        rigid; None for what is none."""
        ...

    def scale(self, w: Array) -> tuple[Array, Array] | None:
        """Length and force by which its states at w are of the size 1; None if it tells none."""
        ...


class _Lump:
    """What is at one place."""

    def pieces(self, w: float) -> int:
        """See Element."""
        return 0

    def parts(self, count: int) -> tuple[Self, ...]:
        """See Element."""
        return (self,) * count

    def springs(self) -> Array | None:
        """See Element."""
        return None

    def scale(self, w: Array) -> tuple[Array, Array] | None:
        """See Element."""
        return None


def _filled(w: Array | float, size: int, entries: dict[tuple[int, int], Array | float]) -> Array:
    """Unit matrices (..., size, size) with other entries at some places."""
    U = np.zeros((*np.shape(w), size, size))
    U[...] = np.eye(size)
    for (i, j), value in entries.items():
        U[..., i, j] = value
    return U


@dataclass(frozen=True)
class Spring(_Lump):
    """Between two points of a stretching or twisting chain: x_out = x_in + N / k."""

    k: float

    def matrix(self, w: Array | float) -> Array:
        return _filled(w, 2, {(0, 1): 1.0 / self.k})

    def springs(self) -> Array:
        return np.array([self.k])

    def scale(self, w: Array) -> tuple[Array, Array]:
        return np.ones_like(w), np.full_like(w, self.k)


@dataclass(frozen=True)
class Disc(_Lump):
    """Disc of inertia J (or point mass) of a twisting (stretching) chain."""

    J: float

    def matrix(self, w: Array | float) -> Array:
        return _filled(w, 2, {(1, 0): -self.J * np.asarray(w) ** 2})


@dataclass(frozen=True)
class Shaft:
    """Continuous shaft (or bar): stiffness GJ [N m^2], inertia per length, length."""

    stiffness: float
    density: float
    length: float

    def matrix(self, w: Array | float) -> Array:
        b = np.asarray(w) * math.sqrt(self.density / self.stiffness)
        x = b * self.length
        stretched = self.length / self.stiffness * np.sinc(x / np.pi)
        sent = -self.stiffness * b * np.sin(x)
        c = np.cos(x)
        return _filled(w, 2, {(0, 0): c, (0, 1): stretched, (1, 0): sent, (1, 1): c})

    def pieces(self, w: float) -> int:
        """See Element."""
        return math.ceil(w * math.sqrt(self.density / self.stiffness) * self.length / GROWTH) or 1

    def parts(self, count: int) -> tuple[Self, ...]:
        """See Element."""
        return (replace(self, length=self.length / count),) * count

    def springs(self) -> None:
        """See Element."""
        return

    def scale(self, w: Array) -> tuple[Array, Array]:
        """See Element."""
        return np.ones_like(w), w * math.sqrt(self.density * self.stiffness)


@dataclass(frozen=True)
class Beam:
    """Beam in bending: EI [N m^2], mass per length [kg/m], length [m]; shear stiffness GA [N]
    (infinite: rigid) and rotary inertia per length [kg m] make it Timoshenko's, without
    them it is Euler's and Bernoulli's."""

    EI: float
    density: float
    length: float
    GA: float = math.inf
    rotary: float = 0.0

    def matrix(self, w: Array | float) -> Array:
        """exp(A l) of z' = A z, in units of the wave length, by its series over parts of it."""
        w = np.asarray(w, dtype=float)
        parts = max(self.pieces(float(w.max(initial=0.0))), 1)
        along, force = self.scale(np.maximum(w, self._slowest()))
        units = wave_units(4, along, force)
        A = np.zeros((*w.shape, 4, 4))
        A[..., 0, 1], A[..., 0, 3] = 1.0, -1.0 / self.GA
        A[..., 1, 2], A[..., 2, 3] = 1.0 / self.EI, 1.0
        A[..., 2, 1], A[..., 3, 0] = -self.rotary * w**2, self.density * w**2
        step = A * (units[..., :, None] / units[..., None, :]) * (self.length / parts)
        U = _exponential(step)
        U = np.linalg.matrix_power(U, parts)
        return np.asarray(U * (units[..., None, :] / units[..., :, None]))

    def _slowest(self) -> float:
        """Frequency of a wave of a million times the length."""
        return 1e-12 * math.sqrt(self.EI / self.density) / self.length**2

    def pieces(self, w: float) -> int:
        """See Element."""
        bending = math.sqrt(w * math.sqrt(self.density / self.EI))
        shear = w * (math.sqrt(self.density / self.GA) + math.sqrt(self.rotary / self.EI))
        return math.ceil((bending + shear) * self.length / GROWTH) or 1

    def parts(self, count: int) -> tuple[Self, ...]:
        """See Element."""
        return (replace(self, length=self.length / count),) * count

    def springs(self) -> None:
        """See Element."""
        return

    def scale(self, w: Array) -> tuple[Array, Array]:
        """See Element."""
        along = 1.0 / np.sqrt(w * math.sqrt(self.density / self.EI))
        return along, self.EI / along**2


def _exponential(A: Array) -> Array:
    """exp(A) by its series, entries of A not much above 1."""
    term = np.zeros_like(A)
    term[...] = np.eye(A.shape[-1])
    total = term.copy()
    for k in range(1, 34):
        term = term @ A / k
        total += term
    return total


def wave_units(size: int, along: Array, force: Array) -> Array:
    """(..., size): z times these is of the size 1, for a length and a force [m, N]; in torsion
    and stretch the force belongs to a displacement of 1."""
    one = np.ones_like(along)
    if size == 2:
        return np.stack([one, 1.0 / force], axis=-1)
    return np.stack([1.0 / along, one, 1.0 / (force * along), 1.0 / force], axis=-1)


@dataclass(frozen=True)
class Body(_Lump):
    """Rigid body in bending: mass, inertia about its mass centre, length, and the distance
    of the mass centre from the tip side."""

    mass: float
    J: float = 0.0
    length: float = 0.0
    centre: float = 0.0

    def matrix(self, w: Array | float) -> Array:
        square = np.asarray(w) ** 2
        inertia = _filled(w, 4, {(3, 0): self.mass * square, (2, 1): -self.J * square})
        return rigid_arm(self.length - self.centre) @ inertia @ rigid_arm(self.centre)


@dataclass(frozen=True)
class ElasticHinge(_Lump):
    """Transverse spring k and rotary spring k_theta in series in a bending chain;
    y_out = y_in - Q / k, theta_out = theta_in + M / k_theta.  Infinite is rigid."""

    k: float = math.inf
    k_theta: float = math.inf

    def matrix(self, w: Array | float) -> Array:
        return _filled(w, 4, {(0, 3): -1.0 / self.k, (1, 2): 1.0 / self.k_theta})

    def springs(self) -> Array:
        return np.array([self.k, self.k_theta])


@dataclass(frozen=True)
class Support(_Lump):
    """Springs to the ground under a bending chain: transverse k, rotary k_theta."""

    k: float = 0.0
    k_theta: float = 0.0

    def matrix(self, w: Array | float) -> Array:
        return _filled(w, 4, {(3, 0): -self.k, (2, 1): self.k_theta})


def rigid_arm(length: float) -> Array:
    """Massless rigid bar: y_out = y_in + l theta, M_out = M_in + l Q."""
    U = np.eye(4)
    U[0, 1] = length
    U[2, 3] = length
    return U
