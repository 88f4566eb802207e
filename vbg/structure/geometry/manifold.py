"""Rank of the constraint Jacobian, and walks on the manifold of assembled postures.

Counting assumes general geometry; the rank at a posture says what holds there,
the rank at postures reached by finite steps what holds in motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.structure.kinematics.equations import Equations, equations_of
from vbg.structure.kinematics.kernels import WEIGHT, bias, ensure_terms, move, system
from vbg.structure.kinematics.program import velocity_basis
from vbg.structure.topology.linkage import Linkage

Array = NDArray[np.float64]

RANK_TOLERANCE = 1e-7  # singular values of scaled rows; geometry in files has eight digits or more
STEP = 0.08  # length of a step, rad or share of the linkage's size


@dataclass(frozen=True, slots=True, eq=False)
class Posture:
    """A linkage's undriven equations at poses p_WB (n, 3), R_WB (n, 3, 3).

    `size` is a length of the linkage [m], by which translations and the rows
    that hold them are scaled; `basis` (B, 6) the velocities of one body.
    """

    linkage: Linkage
    equations: Equations
    rows: NDArray[np.int64]
    p_WB: Array
    R_WB: Array
    near: Array
    size: float
    basis: Array

    @property
    def unknowns(self) -> int:
        """B N_m."""
        return len(self.basis) * (len(self.p_WB) - 1)


def posture_of(linkage: Linkage) -> Posture:
    """The posture in which the linkage is described, its drives left free."""
    ensure_terms()
    equations = equations_of(linkage)
    rows = np.flatnonzero(equations.terms.slot < 0)
    places = [
        linkage.p_WB[pair.ends[0]] + linkage.R_WB[pair.ends[0]] @ frame.p_AF_A
        for pair, frame in zip(linkage.topology.pairs, linkage.frames, strict=True)
    ]
    spread = np.ptp(np.array(places), axis=0) if places else np.zeros(3)
    size = float(np.linalg.norm(spread)) or 1.0
    near = np.zeros(len(equations.terms.codes))
    p, R = linkage.p_WB.copy(), linkage.R_WB.copy()
    return Posture(linkage, equations, rows, p, R, near, size, velocity_basis(linkage))


def jacobian(posture: Posture) -> tuple[Array, Array, Array]:
    """J (m, B N_m) and residual (m,), scaled to be free of units, and the rows' factors."""
    n = len(posture.p_WB)
    J, residual, _ = system(
        posture.equations.terms,
        posture.rows,
        np.arange(1, n),
        posture.p_WB,
        posture.R_WB,
        posture.near,
        np.zeros((len(posture.near), 3, 3)),
        np.zeros(len(posture.equations.slots)),
        np.zeros((n, 6)),
        posture.basis,
        np.full(n, -1, dtype=np.int64),
    )
    J = J * np.tile(_column_scale(posture), n - 1)
    largest = np.abs(J).max(axis=1, initial=0.0)
    scale = np.where(largest > 0.0, 1.0 / np.maximum(largest, 1e-300), 1.0)
    return J * scale[:, None], residual * scale, scale


def _column_scale(posture: Posture) -> Array:
    turning = np.abs(posture.basis[:, :3]).sum(axis=1) > 0.0
    return np.where(turning, 1.0, posture.size)


def null_space(J: Array) -> tuple[Array, Array]:
    """Bases of null(J) (columns) and of the left null space (columns)."""
    if J.shape[0] == 0:
        return np.eye(J.shape[1]), np.zeros((0, 0))
    U, values, Vt = np.linalg.svd(J)
    rank = int((values > RANK_TOLERANCE * max(1.0, values[0])).sum())
    return Vt[rank:].T, U[:, rank:]


def moved(posture: Posture, step: Array) -> Posture:
    """The posture displaced by the scaled velocities `step`, (B N_m,)."""
    n = len(posture.p_WB)
    p, R = posture.p_WB.copy(), posture.R_WB.copy()
    scaled = step * np.tile(_column_scale(posture), n - 1)
    move(np.arange(1, n), scaled, posture.basis, p, R)
    return Posture(
        posture.linkage,
        posture.equations,
        posture.rows,
        p,
        R,
        posture.near,
        posture.size,
        posture.basis,
    )


def projected(posture: Posture, most: int = 60) -> tuple[Posture, float]:
    """The nearest assembled posture by Gauss-Newton steps of least norm, and its residual."""
    worst = np.inf
    for _ in range(most):
        J, residual, _ = jacobian(posture)
        worst = float(np.abs(residual).max(initial=0.0))
        if worst < 1e-13:
            break
        step: Array = np.asarray(np.linalg.lstsq(J, -residual, rcond=1e-10)[0], dtype=np.float64)
        size = float(np.linalg.norm(step))
        posture = moved(posture, step * min(1.0, 0.5 / max(size, 1e-300)))
    return posture, worst


def distance(one: Posture, other: Posture) -> float:
    """How far two postures are apart: rotations and scaled translations, norm."""
    shift = (one.p_WB - other.p_WB) / one.size
    turn = (one.R_WB - other.R_WB) / np.sqrt(2.0)
    return float(np.sqrt((shift**2).sum() + (turn**2).sum()))


def step_along(posture: Posture, direction: Array, length: float = STEP) -> Posture | None:
    """An assembled posture about `length` away along a tangent, None where none is found.

    Where the tangent freedom is infinitesimal only, the projection returns to
    where it began, and the result is None.
    """
    unit = direction / np.linalg.norm(direction)
    found, residual = projected(moved(posture, length * unit))
    if residual > 1e-10 or distance(found, posture) < 0.1 * length:
        return None
    return found


def obstruction(posture: Posture, direction: Array) -> float:
    """The second-order test: largest |lambda . gamma(v)| over self-stresses lambda.

    A tangent motion v goes on to second order if J a + gamma(v) = 0 has a
    solution a, that is if gamma(v) is perpendicular to the left null space.
    `direction` : (B N_m,), scaled, taken of norm 1.
    """
    J, _, scale = jacobian(posture)
    _, left = null_space(J)
    n = len(posture.p_WB)
    unit = direction / np.linalg.norm(direction) * np.tile(_column_scale(posture), n - 1)
    V = np.zeros((n, 6))
    V[1:] = unit.reshape(n - 1, -1) @ posture.basis
    terms = posture.equations.terms
    raw = np.zeros(len(posture.rows))
    for i, e in enumerate(posture.rows):
        for k in range(terms.start[e], terms.start[e + 1]):
            where = (terms.codes, terms.data, k, posture.p_WB, posture.R_WB)
            raw[i] += terms.data[k, WEIGHT] * bias(*where, V)
    return float(np.abs(left.T @ (raw * scale)).max(initial=0.0))
