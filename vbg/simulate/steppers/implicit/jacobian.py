"""Exact Jacobian of the rate by complex steps through the compiled machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.machine import complex_interpreter
from vbg.assemble.start.start import Start
from vbg.plumbing.paused_collection import paused_collection
from vbg.simulate.steppers.implicit.ending import STEP
from vbg.simulate.steppers.implicit.entries import derivatives
from vbg.simulate.steppers.implicit.sparsity import Pattern, dependencies, pattern

Array = NDArray[np.float64]
SMALL = 60  # states up to which a dense Jacobian costs no more than a sparse one
FULL = 0.1  # part of the entries beyond which a Jacobian is treated as dense


def complex_step_jacobian(start: Start) -> Callable[[float, Array], Array]:
    """d rate / d x as a function of (t, x): (n, n), column i from one evaluation at
    x + 1j * STEP * e_i (W. Squire, G. Trapp, SIAM Rev. 40, 1998), zero without one where no rate
    depends on x_i, or x_i is discrete: elimination would leave a mode 1e-30 beside 0."""
    evaluate, n = start.evaluator("rate", complex_valued=True), start.system.size
    used, discrete = reduce(or_, dependencies(start.rate_program, n), 0), start.system.discrete
    which = np.array([i for i in range(n) if used >> i & 1 and not discrete[i]], dtype=np.int64)
    address = complex_interpreter()

    def jacobian(t: float, x: Array) -> Array:
        columns = np.zeros((n, n))
        derivatives(address, evaluate.reader, float(t), x, which, columns)
        return columns.T

    return jacobian


def sparse_pattern(start: Start) -> Pattern | None:
    """Structure of the Jacobian, without the rows of the energies and the columns of discrete
    states; None where it is small or nearly full.

    Nothing depends on the two energies, and they depend on nearly everything: their rows
    would make the structure of a ladder dense, and no implicit method needs them, since
    the energies follow as soon as the other states have converged.
    """
    system = start.system
    n = system.size
    if n <= SMALL:
        return None
    energies = frozenset(
        i for s in system.slices if s.state.kind == "quadrature" for i in range(s.first, s.last)
    )
    with paused_collection():
        found = pattern(start.rate_program, n, energies, system.discrete)
    return found if len(found.rows) <= FULL * n * n and found.groups < n else None


def sparse_jacobian(start: Start, structure: Pattern) -> Callable[[float, Array], Any]:
    """d rate / d x as a sparse matrix, its columns differentiated group by group: the number
    of evaluations is that of the groups, three for a ladder of any length."""
    from scipy.sparse import csc_matrix

    evaluate = start.evaluator("rate", complex_valued=True)
    n, rows, columns = start.system.size, structure.rows, structure.columns
    steps = [1j * STEP * (structure.group == g) for g in range(structure.groups)]
    order = np.lexsort((rows, columns))
    where = structure.group[columns[order]], rows[order]
    places = rows[order].astype(np.int32)
    begin = np.searchsorted(columns[order], np.arange(n + 1)).astype(np.int32)

    def jacobian(t: float, x: Array) -> Any:
        derivatives = np.empty((len(steps), n))
        for derivative, step in zip(derivatives, steps, strict=True):
            derivative[:] = evaluate(t, x + step)[:n].imag / STEP
        return csc_matrix((derivatives[where], places, begin), shape=(n, n))

    return jacobian


def jacobian_of(start: Start, structure: Pattern | None) -> Callable[[float, Array], Any]:
    """d rate / d x: sparse where there is a `structure`, dense else."""
    return complex_step_jacobian(start) if structure is None else sparse_jacobian(start, structure)


def implicit_jacobian(start: Start) -> Callable[[float, Array], Any]:
    """The Jacobian that an implicit method works with: sparse where that pays."""
    return jacobian_of(start, sparse_pattern(start))
