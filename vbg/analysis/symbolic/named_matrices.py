"""The paper's matrices in symbols, numbers from parameters written by the parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from vbg.analysis.symbolic.entries import simple_fraction
from vbg.analysis.symbolic.named import named, unnamed
from vbg.analysis.symbolic.numbered import Numbered
from vbg.analysis.symbolic.rewriting.sharing import renumbered
from vbg.assemble.matrices.matrices import PaperMatrices, matrix_blocks, symbolic_matrices
from vbg.assemble.matrices.symbolic import SymbolicReader
from vbg.assemble.system import System
from vbg.plumbing.paused_collection import paused_collection

DIGITS = 10  # significant digits of what remains a number and is read by eye


@dataclass(frozen=True, eq=False)
class NamedMatrices:
    """`matrices` in symbols; `parameters`: those that occur in them, with their values in SI;
    `numbered`: those that have no symbol."""

    matrices: PaperMatrices
    parameters: dict[str, float]
    numbered: Numbered


@paused_collection()
def named_matrices(
    system: System, *, names: bool = True, digits: int | None = DIGITS
) -> NamedMatrices:
    """The blocks of `vbg.assemble.matrices.matrices` in symbols.  With `names`, parameters
    of the model file are written by name where its numbers come from them
    (`vbg.analysis.symbolic.named`), others with `digits`, None for all.

    Raises UsageError for large systems.
    """
    matrix_blocks(system)
    numbers = named(system, roots=matrix_blocks) if names else unnamed(system)
    found = symbolic_matrices(numbers.base, SymbolicReader(numbers.constants, numbers.factors))
    blocks = found.blocks
    if digits is not None:
        short = partial(_short, digits=digits)
        blocks = {n: replace(m, values=renumbered(m.values, short)) for n, m in blocks.items()}
    occurring = set().union(*(matrix.values.free_symbols for matrix in blocks.values()))
    parameters = {str(s): v for s, v in numbers.parameters.items() if s in occurring}
    return NamedMatrices(replace(found, blocks=blocks), parameters, numbers.numbered)


def _short(number: Any, digits: int) -> Any:
    """A usual fraction as such, others to `digits` digits."""
    import sympy

    simple = simple_fraction(float(number))
    return sympy.Float(f"{float(number):.{digits}g}", digits) if simple is None else simple
