"""Counting natural frequencies of vibrating chains: pivots of the dynamic stiffness.

A branch, held nowhere but at its tip, answers displacements d of its end with forces D d.  It has
as many natural frequencies below w, its end clamped, as there were negative pivots on the way

    P = D + A,   A = U12^-1 U11,

one for each flexible piece U, A its stiffness at the near end with the far end clamped, so short
that none of its own clamped frequencies is below w (W. H. Wittrick, F. W. Williams, Q. J. Mech.
Appl. Math. 24 (1971) 263).  All frequencies w are taken at once, first axis.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array

# forces that work on the displacements, of z = [x, N] and z = [y, theta, M, Q]: N; -Q, M
WORKING = {2: ((1, 1.0),), 4: ((3, -1.0), (2, 1.0))}
HELD = 1e-12  # of the largest displacement at a boundary: smaller ones are none


def forces(z: Array) -> Array:
    """Rows of the forces that work on the displacements, (..., half, m) of (..., n, m)."""
    return np.stack([sign * z[..., row, :] for row, sign in WORKING[z.shape[-2]]], axis=-2)


def near_stiffness(U: Array) -> Array:
    """A (..., half, half) of a flexible piece."""
    n = U.shape[-1]
    flexible = np.stack([s * U[..., : n // 2, row] for row, s in WORKING[n]], axis=-1)
    return _inverse(flexible) @ U[..., : n // 2, : n // 2]


def _inverse(Y: Array) -> Array:
    """Inverses of matrices 1 x 1 or 2 x 2, infinite where there is none."""
    with np.errstate(divide="ignore"):
        if Y.shape[-1] == 1:
            return np.asarray(1.0 / Y)
        a, b, c, d = Y[..., 0, 0], Y[..., 0, 1], Y[..., 1, 0], Y[..., 1, 1]
        adjugate = np.stack([np.stack([d, -b], axis=-1), np.stack([-c, a], axis=-1)], axis=-2)
        return np.asarray(adjugate / (a * d - b * c)[..., None, None])


def end_stiffness(Z: Array) -> Array:
    """D (..., half, half) of the states Z (..., n, half) that a branch allows at its end."""
    D = forces(Z) @ _inverse(Z[..., : Z.shape[-1], :])
    return 0.5 * (D + np.swapaxes(D, -1, -2))


def negative(P: Array) -> Array:
    """Number of negative eigenvalues (...) of symmetric matrices, 0 x 0 to 2 x 2."""
    if P.shape[-1] == 0:
        return np.zeros(P.shape[:-2], dtype=int)
    if P.shape[-1] == 1:
        return (P[..., 0, 0] < 0.0).astype(int)
    determinant = P[..., 0, 0] * P[..., 1, 1] - P[..., 0, 1] * P[..., 1, 0]
    below = P[..., 0, 0] + P[..., 1, 1] < 0.0
    return np.where(determinant < 0.0, 1, np.where(below, 2, 0))


def on_piece(Z: Array, A: Array) -> Array:
    """Negative pivots (nw,) where a continuous piece of near stiffness A follows the states Z."""
    return negative(end_stiffness(Z) + A)


def on_first_piece(Z: Array, A: Array) -> Array:
    """As `on_piece` at a boundary, where some displacements may be held."""
    half, found = Z.shape[-1], np.zeros(len(Z), dtype=int)
    for k, (states, stiffness) in enumerate(zip(Z, A, strict=True)):
        left, sizes, right = np.linalg.svd(states[:half])
        r = int(np.count_nonzero(sizes > HELD * max(float(np.abs(states).max()), 1e-300)))
        B = left[:, :r]
        D = B.T @ forces(states) @ right[:r].T / sizes[:r]
        found[k] = negative(0.5 * (D + D.T) + B.T @ stiffness @ B)
    return found


def on_springs(Z: Array, stiffness: Array, *, boundary: bool) -> Array:
    """Negative pivots where springs `stiffness` (nw, half), infinite where rigid, follow; at
    a `boundary` only displacements that it does not hold."""
    half = Z.shape[-1]
    soft = np.flatnonzero(np.isfinite(stiffness[0]))
    if boundary:
        soft = np.array([row for row in soft if np.any(Z[:, row])], dtype=int)
    if not len(soft):
        return np.zeros(len(Z), dtype=int)
    if boundary:  # the rows that are held have forces of their own
        D = forces(Z)[:, soft] @ np.linalg.pinv(Z[:, :half][:, soft])
    else:
        D = end_stiffness(Z)[:, soft[:, None], soft]
    return negative(
        0.5 * (D + np.swapaxes(D, -1, -2)) + stiffness[:, soft, None] * np.eye(len(soft))
    )


def at_root(Z: Array, open_rows: list[int]) -> Array:
    """Negative pivots of the displacements that the boundary at the root leaves open."""
    if not open_rows:
        return np.zeros(len(Z), dtype=int)
    rows = np.array(open_rows)
    return negative(end_stiffness(Z)[:, rows[:, None], rows])
