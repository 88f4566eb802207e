"""The block algebra: matrix expressions as immutable values.  See `node`."""

from vbg.blocks.calculus import Coefficients, Substitution, Tangent, dependencies
from vbg.blocks.calls import call, quaternion_rate
from vbg.blocks.composed import column, cross, divide, dot, norm
from vbg.blocks.node import (
    Block,
    const,
    identity,
    is_identity,
    is_zero,
    leaf,
    linear,
    mul,
    rotation,
    rows,
    skew,
    stack,
    times,
    transpose,
    zeros,
)
from vbg.blocks.systems import (
    Implicit,
    Piece,
    Span,
    implicit,
    linear_solve,
    solve,
    symmetric_factor,
)
from vbg.blocks.tables import lookup

__all__ = [
    "Block",
    "Coefficients",
    "Implicit",
    "Piece",
    "Span",
    "Substitution",
    "Tangent",
    "call",
    "column",
    "const",
    "cross",
    "dependencies",
    "divide",
    "dot",
    "identity",
    "implicit",
    "is_identity",
    "is_zero",
    "leaf",
    "linear",
    "linear_solve",
    "lookup",
    "mul",
    "norm",
    "quaternion_rate",
    "rotation",
    "rows",
    "skew",
    "solve",
    "stack",
    "symmetric_factor",
    "times",
    "transpose",
    "zeros",
]
