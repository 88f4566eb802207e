"""Reduction of a finite-element model to few modes: R. R. Craig and M. C. C. Bampton, Coupling of
substructures for dynamic analyses, AIAA J. 6 (1968) 1313.

With the interface freedoms b and all others i, the columns of the reduced basis are

    constraint modes      x_b = 1 each,  x_i = -K_ii^-1 K_ib x_b     (statics at interfaces: exact)
    fixed-interface modes x_b = 0,       K_ii x_i = w^2 M_ii x_i     (the lowest ones)

What of their span is M-orthogonal to the six rigid-body modes moves against the mean axes (no
momentum, no angular momentum to first order); its own eigenvectors, with phi^T M phi = 1 and
phi^T K phi = w^2, are the modes of the flexible body.  An interface of several nodes moves as a
rigid spider, in mean of its nodes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError

Array = NDArray[np.float64]
SYMMETRY = 1e-6  # of the largest entry: rounding of what a program printed
RIGID = 1e-6  # |K T| relative to |K| |T|: rounding of what a program printed
ISOTROPY = 1e-6  # how far the masses along x, y, z may differ
LIGHTEST, HEAVIEST = 1e-5, 1e5  # kg/m^3 of the cube around a body: a solar sail, osmium
MASSLESS = 1e-14  # of the longest period squared: a mode shorter than this has no mass


@dataclass(frozen=True, slots=True)
class FiniteElements:
    """M (N, N) and K (N, N), SI, of nodes at X (n, 3) [m]; N = 3 n (displacements of each node) or
    6 n (displacements, then small rotations)."""

    M: Array
    K: Array
    X: Array

    @property
    def per_node(self) -> int:
        """Freedoms of a node."""
        return len(self.M) // max(len(self.X), 1)

    def rigid(self, centre: Array) -> Array:
        """(N, 6) unit displacements along x, y, z and unit turns about them, through `centre`."""
        T = np.zeros((len(self.X), self.per_node, 6))
        T[:, :3, :3] = np.eye(3)
        for j in range(3):
            T[:, :3, 3 + j] = np.cross(np.eye(3)[j], self.X - centre)
        if self.per_node == 6:
            T[:, 3:, 3:] = np.eye(3)
        return T.reshape(-1, 6)


@dataclass(frozen=True, slots=True)
class Modes:
    """A flexible body in the axes of its nodes, from its mass centre.

    mass [kg], inertia (xx, yy, zz, xy, yz, zx) [kg m^2], centre (3,): the mass centre where the
    nodes are written [m]; frequencies (n,) [rad/s]; interfaces: name -> place (3,) [m] and
    (6, n) displacement and small turn per modal coordinate [kg^-1/2, kg^-1/2/m];
    elements: the mesh from the mass centre; shapes (N, n) on it.  Equal by `digest`.
    """

    digest: str
    mass: float = field(compare=False)
    inertia: tuple[float, ...] = field(compare=False)
    centre: Array = field(compare=False)
    frequencies: Array = field(compare=False)
    interfaces: Mapping[str, tuple[Array, Array]] = field(compare=False)
    elements: FiniteElements = field(compare=False)
    shapes: Array = field(compare=False)

    @property
    def count(self) -> int:
        """How many modal coordinates there are."""
        return len(self.frequencies)


def reduce(
    given: FiniteElements,
    interfaces: Mapping[str, Sequence[int]],
    *,
    modes: int | None,
    frequency: float | None,
) -> Modes:
    """The modes of a flexible body with so many fixed-interface modes, or with those up to
    `frequency` [rad/s]; the last few are kept, for a study reads its model again and again.
    Raises ModelError for matrices that are no body's."""
    content = hashlib.sha256()
    for a in (given.M, given.K, given.X):
        content.update(f"{a.shape}".encode() + np.ascontiguousarray(a).tobytes())
    points = tuple((name, tuple(nodes)) for name, nodes in interfaces.items())
    return _reduced(_Question(content.hexdigest(), points, modes, frequency, given))


@dataclass(frozen=True, slots=True)
class _Question:
    """What a reduction is asked for; equal by the digest of its matrices."""

    content: str
    points: tuple[tuple[str, tuple[int, ...]], ...]
    modes: int | None
    frequency: float | None
    given: FiniteElements = field(compare=False)

    @property
    def digest(self) -> str:
        """Of all of it."""
        asked = (self.content, self.points, self.modes, self.frequency)
        return hashlib.sha256(repr(asked).encode()).hexdigest()


@lru_cache(maxsize=8)
def _reduced(asked: _Question) -> Modes:
    """See `reduce`."""
    given, interfaces = asked.given, dict(asked.points)
    _check_matrices(given)
    model = FiniteElements(_symmetric(given.M), _symmetric(given.K), given.X)
    mass, centre = _mass_and_centre(model)
    model = FiniteElements(model.M, model.K, model.X - centre)
    T = model.rigid(np.zeros(3))
    _check_rigid(model, T)
    _check_density(model, mass)
    tie, held, at = _tie(model, interfaces)
    M, K = (tie.T @ A @ tie for A in (model.M, model.K))
    basis = _basis(M, K, held, asked.modes, asked.frequency)
    B = tie @ basis
    coefficients, frequencies = _against_rigid(model, B, T)
    shapes = B @ coefficients
    J = (T.T @ model.M @ T)[3:, 3:]
    moved = basis[:held] @ coefficients
    ends = {name: (at[k], moved[6 * k : 6 * k + 6]) for k, name in enumerate(interfaces)}
    return Modes(
        asked.digest,
        mass,
        (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[1, 2], J[2, 0]),
        centre,
        frequencies,
        MappingProxyType(ends),
        model,
        shapes,
    )


def _symmetric(A: Array) -> Array:
    return 0.5 * (A + A.T)


def _check_matrices(model: FiniteElements) -> None:
    for name, A in (("M", model.M), ("K", model.K)):
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ModelError(
                f"{name} is no square matrix: its shape is {A.shape}, and each freedom of the mesh"
                " needs a row and a column."
            )
    N, n = len(model.M), len(model.X)
    if model.M.shape != model.K.shape:
        raise ModelError(
            f"M is {N} x {N}, but K is {len(model.K)} x {len(model.K)}: they must be of one mesh."
        )
    if n == 0 or N not in (3 * n, 6 * n):
        raise ModelError(
            f"{n} nodes have {3 * n} or {6 * n} freedoms, but M and K have {N}. Order them node by"
            " node: x, y, z (and the rotations about x, y, z) of the first, then of the second."
        )
    for name, A in (("M", model.M), ("K", model.K), ("nodes", model.X)):
        if not np.isfinite(A).all():
            raise ModelError(f"{name} has entries that are no finite numbers; all must be finite.")
    for name, A in (("M", model.M), ("K", model.K)):
        off = float(np.abs(A - A.T).max()) / max(float(np.abs(A).max()), 1e-300)
        if off > SYMMETRY:
            raise ModelError(
                f"{name} is not symmetric: an entry differs from its mirror image by {off:.2g} of"
                " the largest. Write the full matrix, not one triangle of it."
            )


def _mass_and_centre(model: FiniteElements) -> tuple[float, Array]:
    T = model.rigid(np.zeros(3))
    R = T.T @ model.M @ T
    masses = np.diag(R)[:3]
    mass = float(masses.mean())
    if not mass > 0.0 or np.abs(R[:3, :3] - mass * np.eye(3)).max() > ISOTROPY * mass:
        told = ", ".join(f"{m:.6g}" for m in masses)
        raise ModelError(
            f"M weighs {told} kg along x, y, z: a body weighs the same along each. Check the order"
            " of the freedoms (node by node) and that no node is held."
        )
    # M_vw = -m skew(c)
    S = R[:3, 3:]
    c = np.array([S[1, 2] - S[2, 1], S[2, 0] - S[0, 2], S[0, 1] - S[1, 0]]) / (2.0 * mass)
    lifted = model.M + np.diag(np.diag(model.M) * 1e-9 + 1e-12 * float(np.abs(model.M).max()))
    try:
        np.linalg.cholesky(lifted)
    except np.linalg.LinAlgError:
        raise ModelError(
            "M has a negative eigenvalue: some motion would have negative energy. It must be the"
            " mass matrix of the whole mesh."
        ) from None
    return mass, c


def _check_rigid(model: FiniteElements, T: Array) -> None:
    """K must resist no rigid motion: else the body is held somewhere, or units do not match."""
    what = [f"{how} {axis}" for how in ("moving along", "turning about") for axis in "xyz"]
    for j in range(6):
        t = T[:, j]
        resisted = float(np.abs(model.K @ t).max())
        scale = float((np.abs(model.K) @ np.abs(t)).max())
        if resisted > RIGID * scale:
            raise ModelError(
                f"K resists the whole body {what[j]} ({resisted / scale:.2g} of what its entries"
                " amount to): it has no six rigid-body modes. Take the matrices of the body that"
                " is held nowhere, with nodes in their units and order."
            )


def _check_density(model: FiniteElements, mass: float) -> None:
    """Mass over the cube around the mesh tells units apart: millimetres lose nine digits."""
    size = float(np.ptp(model.X, axis=0).max())
    density = mass / max(size, 1e-300) ** 3
    if not LIGHTEST < density < HEAVIEST:
        raise ModelError(
            f"M weighs {mass:.4g} kg and the nodes reach over {size:.4g} m: {density:.3g} kg/m^3 of"
            " the cube around them, which no body has. Are they in kg, m, N? A program that counts"
            " in mm and N has tonnes: M 1000, K 1000, nodes 0.001 (rotations: M and K 0.001)."
        )


def _tie(
    model: FiniteElements, interfaces: Mapping[str, Sequence[int]]
) -> tuple[Array, int, list[Array]]:
    """C (N, 6 m + rest): freedoms of all nodes by those of the interfaces, which move as rigid
    spiders, and of the other nodes; 6 m; places of the interfaces."""
    width, count = model.per_node, len(model.X)
    taken: dict[int, str] = {}
    columns, places = [], []
    for name, nodes in interfaces.items():
        for node in nodes:
            if not 0 <= node < count:
                raise ModelError(
                    f"{name}: there is no node {node}; nodes are 0 to {count - 1}, and it must be"
                    " one of these."
                )
            if node in taken:
                raise ModelError(
                    f"{name}: node {node} belongs to {taken[node]} already; each must be in"
                    " one list, once."
                )
            taken[node] = name
        place = model.X[list(nodes)].mean(axis=0)
        rigid = model.rigid(place).reshape(count, width, 6)
        spread = np.linalg.svd(rigid[list(nodes)].reshape(-1, 6), compute_uv=False)
        if len(nodes) * width < 6 or spread[-1] < 1e-9 * spread[0]:
            raise ModelError(
                f"{name}: its nodes do not tell how it turns; a point of nodes without rotations"
                " needs three of them that are not in line."
            )
        column = np.zeros((count, width, 6))
        column[list(nodes)] = rigid[list(nodes)]
        columns.append(column.reshape(-1, 6))
        places.append(place)
    free = np.array([k for k in range(count) if k not in taken], dtype=int)
    rest = np.zeros((count * width, len(free) * width))
    rows = (free[:, None] * width + np.arange(width)).ravel()
    rest[rows, np.arange(len(rows))] = 1.0
    return np.hstack([*columns, rest]), 6 * len(columns), places


def _basis(M: Array, K: Array, held: int, modes: int | None, frequency: float | None) -> Array:
    """Constraint modes of the first `held` freedoms, then fixed-interface modes."""
    import scipy.linalg

    total = len(M)
    constraint = np.vstack([np.eye(held), np.zeros((total - held, held))])
    if total == held:
        return constraint
    K_ii, M_ii = _symmetric(K[held:, held:]), _symmetric(M[held:, held:])
    try:
        factor = scipy.linalg.cho_factor(K_ii)
        periods, vectors = _longest(M_ii, K_ii, modes, frequency)
    except np.linalg.LinAlgError:
        raise ModelError(
            "K is singular, or negative, with all points held: parts of the mesh hang together with"
            " nothing, or a freedom has no stiffness (the turn about the normal of a shell)."
        ) from None
    constraint[held:] = -scipy.linalg.cho_solve(factor, K[held:, :held])
    there = int(np.count_nonzero(periods > MASSLESS * periods.max(initial=0.0)))
    if modes is not None and modes > there:
        raise ModelError(
            f"the mesh has {there} fixed-interface modes, not {modes}: `modes` must be no more."
        )
    shapes = np.zeros((total, there))
    shapes[held:] = vectors[:, :there] / np.sqrt(periods[:there])
    return np.hstack([constraint, shapes])


def _longest(M: Array, K: Array, modes: int | None, frequency: float | None) -> tuple[Array, Array]:
    """1/w^2 and vectors of so many modes, or of those up to `frequency`, the slowest first."""
    import scipy.linalg

    n = len(M)
    if modes == 0:
        return np.zeros(0), np.zeros((n, 0))
    if modes is not None:
        wanted: dict[str, Any] = {"subset_by_index": [max(n - modes, 0), n - 1]}
    else:
        assert frequency is not None
        wanted = {"subset_by_value": [1.0 / frequency**2, np.inf]}
    periods, vectors = scipy.linalg.eigh(M, K, **wanted)
    return periods[::-1], vectors[:, ::-1]


def _against_rigid(model: FiniteElements, B: Array, T: Array) -> tuple[Array, Array]:
    """Coefficients of the modes on B, and their frequencies."""
    import scipy.linalg

    size = 1.0 / np.sqrt(np.maximum(np.einsum("ij,ij->j", B, model.M @ B), 1e-300))
    B = B * size  # of unit mass each, so that the null space below is well defined
    momenta = T.T @ model.M @ B
    momenta /= np.abs(momenta).max(axis=1)[:, None]
    Z = scipy.linalg.null_space(momenta, rcond=1e-10)
    if Z.shape[1] != B.shape[1] - 6:
        raise ModelError("the points do not span the six rigid-body motions. Name another point.")
    BZ = B @ Z
    M, K = _symmetric(BZ.T @ model.M @ BZ), _symmetric(BZ.T @ model.K @ BZ)
    try:
        periods, y = scipy.linalg.eigh(M, K)
    except np.linalg.LinAlgError:
        raise ModelError(
            "K has more than six rigid-body modes: the mesh falls into parts, or has a mechanism."
        ) from None
    periods, y = periods[::-1], y[:, ::-1]
    if not periods[-1] > MASSLESS * periods[0]:
        raise ModelError(
            "an interface moves without mass behind it: give its nodes their rotary inertia, or"
            " refine the mesh there."
        )
    return size[:, None] * (Z @ y) / np.sqrt(periods), 1.0 / np.sqrt(periods)
