"""What determines the constraint efforts: the three cases, and rates by the matrices alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.interconnection import Port
from vbg.assemble.matrices.forms import Forms
from vbg.assemble.matrices.numbers import Numbers
from vbg.blocks import Block, Tangent, const
from vbg.errors import UsageError

RANK = 1e-10  # singular values of T_LE below this part of the largest count as zero

Array = NDArray[np.float64]
Matrices = Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class MixedRows:
    """The `case`, "14", "15", "mixed" or "" without constraint sources; columns of Q1 span the
    range of T_LE, those of Q2 what is orthogonal to it.  Numbers or symbols."""

    case: str
    Q1: Any
    Q2: Any

    def require_direct(self, blocks: Mapping[str, Any], name: str) -> None:
        """Raises UsageError where rows to be differentiated pass through a resistor."""
        for c, law in (("L", "R"), ("E", "R_E")):
            given = blocks[f"JC{c}"] @ blocks[law]
            passing = self.Q2.T @ given
            if isinstance(passing, np.ndarray):
                size = np.abs(given).max(initial=0.0)
                zero = bool(np.abs(passing).max(initial=0.0) <= RANK * size)
            else:
                zero = bool(passing.is_zero_matrix)
            if not zero:
                raise UsageError(
                    f"{name}: rows of constraint sources that no resistor determines pass through "
                    "one all the same; the mixed case has no matrices here."
                )


def numeric_rows(T_LE: Array) -> MixedRows:
    """The case by the singular values of T_LE."""
    if not T_LE.size:
        return MixedRows("", T_LE, T_LE)
    left, values, _ = np.linalg.svd(T_LE)
    rank = int(np.count_nonzero(values > RANK * max(values[0], 1e-300)))
    case = "15" if values[0] == 0.0 else "14" if rank == len(values) else "mixed"
    return MixedRows(case, left[:, :rank], left[:, rank:])


def exact_rows(T_LE: Any) -> MixedRows:
    """The same in symbols, for all values of them but single ones."""
    import sympy

    size = T_LE.shape[0]
    if not size:
        return MixedRows("", T_LE, T_LE)
    if T_LE.is_zero_matrix:
        return MixedRows("15", sympy.zeros(size, 0), sympy.eye(size))
    left_over = T_LE.T.nullspace(simplify=True)
    if not left_over:
        return MixedRows("14", sympy.eye(size), sympy.zeros(size, 0))
    Q2 = sympy.Matrix.hstack(*left_over)
    return MixedRows("mixed", sympy.Matrix.hstack(*Q2.T.nullspace(simplify=True)), Q2)


def misfit_of(forms: Forms, numbers: Numbers, blocks: Matrices, rows: MixedRows) -> float:
    """Difference of the stores' rates by these matrices from those of the system, of the
    largest term.  Efforts and rates X_D' are those of the matrices, too."""
    system = forms.system
    along = Tangent(
        {**system.equations.rates, system.equations.time: const(1.0)}, system.equations.spins
    )

    def column(values: Iterable[Block]) -> Array:
        grid = [[value] for value in values]
        return numbers(grid, sum(row[0].rows for row in grid), 1)[:, 0]

    X = {g: column(p.state for p in forms.ports(g) if p.state) for g in ("1", "2")}
    U1 = column(p.law for p in forms.ports("u1"))
    U1_dot = column(along(p.law) for p in forms.ports("u1"))
    known = {"1": X["1"], "2": X["2"], "u1": U1}
    U2, X_D_dot = _determined(blocks, rows, known, U1_dot)
    places = {s.state.leaf: slice(s.first, s.last) for s in system.slices}
    given = {**known, "u2": U2, "D": X_D_dot}

    def rate(port: Port) -> Array:
        state = port.vertex.state
        if state is not None:
            return numbers.rate[places[state]]
        assert port.state is not None  # of a spring, whose displacement the posture has
        return column([along(port.state)])

    worst, largest = 0.0, float(np.finfo(float).tiny)
    for g in ("1", "2"):
        terms = [blocks[f"T{g}{c}"] @ value for c, value in given.items()]
        parts = [rate(p) for p in forms.ports(g)]
        if parts:
            worst = max(worst, float(np.abs(sum(terms) - np.concatenate(parts)).max()))
            largest = max(largest, *(float(np.abs(term).max()) for term in terms if term.size))
    return worst / largest


def _determined(
    blocks: Matrices, rows: MixedRows, known: Matrices, U1_dot: Array
) -> tuple[Array, Array]:
    """U2 and X_D' from the rows of the constraint sources and of the stores in derivative
    causality: A [U2; X_D'] + b = 0, redundant efforts as small as may be."""
    A, b = [], []
    if rows.case in ("14", "mixed"):
        left = rows.Q1.T
        A.append(left @ np.hstack([blocks["T_LE"], blocks["TCD"]]))
        b.append(left @ sum(blocks[f"TC{c}"] @ value for c, value in known.items()))
    if rows.case in ("15", "mixed"):
        left = rows.Q2.T if rows.case == "mixed" else np.eye(len(blocks["T_LE"]))
        A.append(np.hstack([blocks["H4"], blocks["H_D"]]))
        b.append(_sum("H", blocks, known) + left @ blocks["JCu1"] @ U1_dot)
    if "K4" in blocks:
        A.append(np.hstack([blocks["K4"], blocks["K_D"] - blocks["F_D"]]))
        b.append(_sum("K", blocks, known) + blocks["JDu1"] @ U1_dot)
    count = blocks["T_LE"].shape[1]
    if not A:
        return np.zeros(count), np.zeros(blocks["T1D"].shape[1])
    matrix, right = np.vstack(A), np.concatenate(b)
    height = np.abs(matrix).max(axis=1, initial=1e-300)
    y = -np.linalg.lstsq(matrix / height[:, None], right / height, rcond=1e-12)[0]
    return y[:count], y[count:]


def _sum(letter: str, blocks: Matrices, known: Matrices) -> Array:
    first, second, third = (blocks[f"{letter}{k}"] for k in (1, 2, 3))
    return first @ known["1"] + second @ known["2"] + third @ known["u1"]
