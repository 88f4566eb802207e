"""The paper's matrices of an assembled system at a state, as numbers or symbols, with names of
rows and columns (notation of mathematics.md, section 4: `vbg.assemble.matrices.unified`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vbg.assemble.matrices.efforts import MixedRows, exact_rows, misfit_of, numeric_rows
from vbg.assemble.matrices.forms import GIVERS, LAWS, RECEIVERS, Forms, Grid, NamedMatrix, Read
from vbg.assemble.matrices.momenta import momentum_sizes
from vbg.assemble.matrices.numbers import Numbers
from vbg.assemble.matrices.rounding import Sized, SizedNumbers, inverse
from vbg.assemble.matrices.symbolic import SymbolicReader
from vbg.assemble.matrices.unified import (
    constraint_matrices,
    reaction_matrices,
    transfer_matrices,
)
from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System
from vbg.blocks import Block, dependencies
from vbg.errors import UsageError

LARGEST_SYMBOLIC = 12  # components of stores up to which matrices are written in symbols
LARGEST_FORMULAS = 64  # operations in the formulas of J and the laws up to which they multiply out


@dataclass(frozen=True, slots=True)
class PaperMatrices:
    """`blocks` by their names in the paper; `case` is "14", "15", "mixed" or "" without
    constraint sources.  Where all laws are `linear` the blocks give the rates of the stores;
    `misfit` is how far these are from the system's, of the largest term in them."""

    blocks: Mapping[str, NamedMatrix]
    case: str
    linear: bool
    misfit: float | None


def open_rows(found: PaperMatrices) -> tuple[str, ...]:
    """Constraint sources that do not hold at this state (friction that slips, open clutches): their
    rows are zero, so that J is not skew-symmetric there, and so are their efforts."""
    acting, held = set(), set()
    for name, matrix in found.blocks.items():
        if name in ("J1u2", "J2u2", "JDu2", "JLu2", "JEu2"):
            acting |= {c for j, c in enumerate(matrix.columns) if np.any(matrix.values[:, j])}
        elif name.startswith("JC"):
            held |= {row for i, row in enumerate(matrix.rows) if np.any(matrix.values[i])}
    return tuple(sorted(acting - held))


def matrices_of(system: System, t: float = 0.0, x: ArrayLike | None = None) -> PaperMatrices:
    """The blocks J, F, R, R_E, then T and, for case (15), H, at (t, x); default: the start.
    Entries that are rounding beside the terms that were summed into them are zero.

    Raises UsageError where a resistor stands between a store in derivative causality and the
    stores that it follows, or in the rows of the mixed case that are differentiated.
    """
    forms = Forms.of(system)
    start = assemble_start(system)
    numbers = Numbers(start, t, start.state if x is None else np.asarray(x, dtype=float))
    sized = SizedNumbers(numbers, momentum_sizes(system, numbers.x))
    made = _blocks(forms, sized, lambda size: Sized.of(np.eye(size)), inverse)
    rows = numeric_rows(made["T_LE"].kept)
    made |= _differentiated(forms, sized, made, rows)
    blocks = {name: Sized.of(matrix).kept for name, matrix in made.items()}
    misfit = misfit_of(forms, numbers, blocks, rows) if forms.linear else None
    return PaperMatrices(forms.named(blocks), rows.case, forms.linear, misfit)


def _differentiated(
    forms: Forms, read: Read, blocks: Mapping[str, Any], rows: MixedRows
) -> dict[str, Any]:
    """H of the rows that are differentiated, and K of stores in derivative causality."""
    found: dict[str, Any] = {}
    if rows.case in ("15", "mixed"):
        found |= constraint_matrices(blocks, _rates_of_rows(forms, read, "C"))
        if rows.case == "mixed":
            rows.require_direct(_plain(blocks), forms.system.model.name)
            left = rows.Q2.T
            found = {name: left @ H for name, H in found.items()}
            found |= {"Q1": rows.Q1, "Q2": rows.Q2}
    if forms.size("D"):
        forms.require_without_resistors(_plain(blocks))
        found |= reaction_matrices(blocks, _rates_of_rows(forms, read, "D"))
    return found


def _plain(blocks: Mapping[str, Any]) -> dict[str, Any]:
    """Without sizes, where there are any."""
    return {name: m.kept if isinstance(m, Sized) else m for name, m in blocks.items()}


def matrix_blocks(system: System) -> list[Block]:
    """All blocks that the symbolic matrices of a system are read from, in a fixed order.

    Raises UsageError as `symbolic_matrices` does.
    """
    forms, found = Forms.of(system), _Collected()
    _require_small(forms)
    _laws(forms, found)
    for row in ("C", "D"):
        _rates_of_rows(forms, found, row)
    return found.blocks


class _Collected:
    """The blocks that are asked for, instead of their values."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def __call__(self, grid: Grid, rows: int, columns: int) -> None:
        self.blocks += [block for row in grid for block in row if block.rows and block.cols]


def is_large(system: System) -> bool:
    """Whether there are too many components of stores for single entries in symbols, or formulas
    so long that an entry multiplied out has thousands of terms (two bodies on joints, pistons)."""
    if _components(Forms.of(system)) > LARGEST_SYMBOLIC:
        return True
    return len(dependencies(matrix_blocks(system))) > LARGEST_FORMULAS


def _components(forms: Forms) -> int:
    """Of all stores, springs among them."""
    return forms.size("1") + forms.size("2") + forms.size("D")


def _require_small(forms: Forms) -> None:
    size = _components(forms)
    if size > LARGEST_SYMBOLIC:
        raise UsageError(
            f"{forms.system.model.name} has {size} components of stores; matrices are written in "
            f"symbols up to {LARGEST_SYMBOLIC}. Leave out --symbolic for numbers."
        )


def symbolic_matrices(system: System, reader: SymbolicReader | None = None) -> PaperMatrices:
    """The same in symbols, for small systems, as `reader` (which may know names for numbers)
    reads them.  Raises UsageError for larger ones."""
    import sympy

    forms = Forms.of(system)
    _require_small(forms)

    def inverted(matrix: Any) -> Any:
        return matrix.inv() if matrix.shape[0] else matrix

    symbols = _Symbols(SymbolicReader() if reader is None else reader)
    blocks = _blocks(forms, symbols, sympy.eye, inverted)
    blocks = {name: value.applyfunc(sympy.simplify) for name, value in blocks.items()}
    rows = exact_rows(blocks["T_LE"])
    blocks |= _differentiated(forms, symbols, blocks, rows)
    simple = {name: value.applyfunc(sympy.simplify) for name, value in blocks.items()}
    return PaperMatrices(forms.named(simple), rows.case, forms.linear, None)


def _blocks(
    forms: Forms, read: Read, identity: Callable[[int], Any], inverse: Callable[[Any], Any]
) -> dict[str, Any]:
    """J, the laws, P, A1 and T."""
    blocks = _laws(forms, read)
    return blocks | transfer_matrices(blocks, identity, inverse)


def _laws(forms: Forms, read: Read) -> dict[str, Any]:
    """J and the laws."""
    blocks = {
        f"J{row}{column}": forms.junction(read, row, column, lambda block: block)
        for row, column in product(RECEIVERS, GIVERS)
    }
    for name, group in LAWS:
        blocks[name] = forms.law(read, group)
    return blocks


def _rates_of_rows(forms: Forms, read: Read, row: str) -> dict[str, Any]:
    """Rates of the rows J_C1, J_C2 and J_Cu1 (or of D) along the motion of the posture."""
    along = forms.along()
    return {f"J{row}{c}": forms.junction(read, row, c, along) for c in ("1", "2", "u1")}


class _Symbols:
    """Blocks in symbols."""

    def __init__(self, reader: SymbolicReader):
        self._reader = reader

    def __call__(self, grid: Grid, rows: int, columns: int) -> Any:
        import sympy

        if not rows or not columns:
            return sympy.zeros(rows, columns)
        return sympy.Matrix.vstack(
            *(sympy.Matrix.hstack(*(self._reader(block) for block in row)) for row in grid)
        )
