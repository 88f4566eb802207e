"""The rank of a matrix of expressions, and the directions in which it is lost everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.blocks import Block, dependencies

RANK = 1e-10  # singular values below this part of the largest count as zero
SAMPLES = 4

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankBases:
    """Orthonormal columns: U1^T T V1 is regular, U2^T T = 0 and T V2 = 0.  V2 is U2 where they span
    the same directions, as those of a symmetric T."""

    U1: Array
    U2: Array
    V1: Array
    V2: Array


def rank_bases(matrix: Block) -> RankBases | None:
    """The bases of a square matrix that is singular in the same directions whatever its
    leaves are; None where it is regular, or singular at some values only."""
    samples = [s for s in _values(matrix) if np.all(np.isfinite(s))]
    if not samples:
        return None
    U1, U2 = _ranges(np.hstack(samples))
    V1, V2 = _ranges(np.vstack(samples).T)
    if U2.shape[1] == 0 or U2.shape != V2.shape or U1.shape[1] == 0:
        return None
    if np.abs(V2 - U2 @ (U2.T @ V2)).max() < RANK:
        V2 = U2
    ranks = (np.linalg.matrix_rank(U1.T @ sample @ V1, tol=None) for sample in samples)
    return RankBases(U1, U2, V1, V2) if max(ranks) == U1.shape[1] else None


def _ranges(matrix: Array) -> tuple[Array, Array]:
    """Orthonormal bases of the column space and of what is orthogonal to it."""
    U, values, _ = np.linalg.svd(matrix)
    rank = int(np.count_nonzero(values > RANK * max(values[0], np.finfo(float).tiny)))
    return U[:, :rank], U[:, rank:]


def _values(matrix: Block) -> list[Array]:
    """The matrix at random values of its leaves; unit vectors where they are quaternions."""
    if matrix.is_const:
        return [matrix.data]
    leaves = [node for node in dependencies([matrix]) if node.op == "leaf"]
    program = lower({"value": matrix}, {f"input {i}": node for i, node in enumerate(leaves)})
    random = np.random.default_rng(1)
    found = []
    for _ in range(SAMPLES):
        work = program.workspace.copy()
        for i, node in enumerate(leaves):
            at = program.inputs[f"input {i}"][0]
            value = random.uniform(0.2, 1.2, node.rows)
            work[at : at + node.rows] = value / np.linalg.norm(value) if node.rows == 4 else value
        with np.errstate(all="ignore"):
            evaluate(program, work)
        at, rows, columns = program.outputs["value"]
        found.append(work[at : at + rows * columns].reshape(rows, columns).copy())
    return found
