"""Independent coordinates y = K z and speeds u = L s of a machine at a state.

K is an orthonormal basis of what the null space of the constraint Jacobian leaves to z
(neweul-newsim-cad.txt, section 5, eq. 8), by singular value decomposition, displacements
before positions of bodies: with N a basis of {d: J d = 0} and T = Z N (how z moves),

    T_tier = U S V^T,     K = U_r^T  on the coordinates of this tier,

and the motions V of small S go on to the next tier.  A coordinate that no constraint
holds (its row of U U^T is a unit row) is taken as it is: on a tree y are the joint
coordinates themselves.  The same choice among speeds gives L.

Of large machines these are taken without a decomposition where they are as many as the
freedoms (`of_joints`): its cost grows with the third power of the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = NDArray[np.float64]

DEPENDENT = 1e-9  # singular values below this part of the largest: a dependent constraint
SEEN = 1e-3  # a motion that a tier sees with less than this part of its largest is left to the next
ALONE = 1e-9  # 1 - (U U^T)_ii of a coordinate that is free of the others


@dataclass(frozen=True, slots=True)
class Coordinates:
    """`matrix` (f, n): K or L; `motions`: f, the dimension of the null space; `used`: the n
    of the tiers that take part, `natural` (n,): size that each coordinate's motion has where
    nothing constrains it; `alone`: each of y is one of the coordinates, and all of the tiers
    that take part are, so that none can outgrow another; `taken`: these and their weights."""

    matrix: Array | csr_matrix
    motions: int
    used: NDArray[np.bool_]
    natural: Array
    alone: bool = False
    taken: tuple[NDArray[np.intp], Array] | None = None

    def of(self, z: Array) -> Array:
        """y = K z, or u = L s."""
        if self.taken is None:
            return np.asarray(self.matrix @ z)
        places, weights = self.taken
        return weights * z[places]

    @property
    def dense(self) -> Array:
        """`matrix` with its zeros."""
        return self.matrix if isinstance(self.matrix, np.ndarray) else self.matrix.toarray()

    @property
    def count(self) -> int:
        """f, how many y there are."""
        return int(self.matrix.shape[0])

    def growth(self, motion: Array) -> float:
        """Largest motion of the coordinates used, in natural sizes, for a unit of y:
        `motion` (n, f) is dz/dy.  1 where the choice is the best there is."""
        if motion.shape[1] == 0:
            return 1.0
        seen = motion[self.used] / self.natural[self.used, None]
        # of few columns, each as long as the posture: by their products, not by an SVD
        return float(np.sqrt(np.linalg.eigvalsh(seen.T @ seen)[-1]))


def null_space(J: Array, scale: Array, freedoms: int | None) -> Array:
    """N with J N = 0, orthonormal in unknowns divided by `scale`.

    `freedoms`: number of columns where it is known (near a singular posture the smallest
    singular values are taken); else from the rank."""
    scaled = J * scale
    height = np.linalg.norm(scaled, axis=1)
    scaled = scaled[height > 0.0] / height[height > 0.0, None]
    if len(scaled) == 0:
        return np.diag(scale)
    _, values, right = np.linalg.svd(scaled, full_matrices=True)
    rank = int(np.count_nonzero(values > DEPENDENT * values[0]))
    if freedoms is not None:
        rank = J.shape[1] - freedoms
    return np.asarray(scale[:, None] * right[rank:].T)


def choose(J: Array, Z: Array, tiers: NDArray[np.int64], freedoms: int | None) -> Coordinates:
    """Coordinates among those that move by Z d where J d = 0; lower tiers first.

    Unknowns are scaled by their columns in J and Z together (lengths and turns, and momenta
    of bodies of any mass become comparable)."""
    scale = 1.0 / np.linalg.norm(np.vstack([J, Z]), axis=0)
    N = null_space(J, scale, freedoms)
    natural = np.linalg.norm(Z * scale, axis=1)
    natural = np.where(natural > 0.0, natural, 1.0)
    T = Z @ N / natural[:, None]
    count = T.shape[1]
    rest = np.eye(count)  # motions that no tier has seen so far
    parts: list[Array] = []
    used = np.zeros(len(Z), dtype=bool)
    for tier in np.unique(tiers):
        if rest.shape[1] == 0:
            break
        threshold = DEPENDENT if tier == tiers.max() else SEEN
        members = np.flatnonzero(tiers == tier)
        U, values, right = np.linalg.svd(T[members] @ rest)
        seen = int(np.count_nonzero(values > threshold * max(values.max(initial=0.0), 1e-6)))
        if seen == 0:
            continue
        part = np.zeros((seen, len(Z)))
        part[:, members] = _simplest(U[:, :seen])
        used[members] = True
        parts.append(part / natural)
        rest = rest @ right[seen:].T
    matrix = np.vstack(parts) if parts else np.zeros((0, len(Z)))
    return Coordinates(matrix, count, used, natural)


def of_joints(slopes: csr_matrix, rows: int, tiers: NDArray[np.int64]) -> Coordinates | None:
    """The coordinates of the first tiers as they are, where just as many are needed beside the
    `rows` of J in `slopes`, [J; Z]; else None.  They serve if [J; K Z] can be solved."""
    from scipy.sparse import csr_matrix

    needed = slopes.shape[1] - rows
    bounds = [tier for tier in np.unique(tiers) if np.count_nonzero(tiers <= tier) == needed]
    if not bounds:
        return None
    used = tiers <= bounds[0]
    squares = slopes.multiply(slopes)
    lengths = np.asarray(squares.sum(axis=0)).ravel()
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    natural = np.sqrt(np.asarray(squares[rows:] @ scale).ravel())
    natural = np.where(natural > 0.0, natural, 1.0)
    taken = np.flatnonzero(used)
    shape = (needed, len(tiers))
    weights = 1.0 / natural[taken]
    matrix = csr_matrix((weights, (np.arange(needed), taken)), shape=shape)
    return Coordinates(matrix, needed, used, natural, alone=True, taken=(taken, weights))


def _simplest(U: Array) -> Array:
    """Rows that span the columns of U (n, r): unit rows for coordinates that are free of
    the others, an orthonormal basis for the rest."""
    alone = np.flatnonzero(1.0 - np.einsum("ij,ij->i", U, U) < ALONE)
    rows = np.zeros((U.shape[1], len(U)))
    rows[np.arange(len(alone)), alone] = 1.0
    left = U.shape[1] - len(alone)
    if left:
        others = U.copy()
        others[alone] = 0.0
        rows[len(alone) :] = np.linalg.svd(others, full_matrices=False)[0][:, :left].T
    return rows
