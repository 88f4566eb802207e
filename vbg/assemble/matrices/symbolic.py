"""The sympy reader of block expressions: the same equations as the compiled ones, in symbols.

Every leaf is a column of real symbols named after the engineer's parts.  Orientations
get symbols of their own (R_crank[0,1], ...), defined once by their quaternion, and
the solution of the constraint system stays a symbol: otherwise every expression
would contain all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.matrices.products import product
from vbg.blocks import Block
from vbg.errors import VbgError
from vbg.plumbing.components import component_names, vector_of

NEGLIGIBLE = 1e-14  # a constant this small beside those of its row and column is rounding


def symbols_of(block: Block, name: str | None = None) -> Any:
    """The column of symbols of a leaf: NAME, or NAME.x, NAME.y, ..."""
    import sympy

    label = block.data if name is None else name
    names = component_names(label, block.rows)
    return sympy.Matrix([sympy.Symbol(name, real=True) for name in names])


class SymbolicReader:
    """Reads blocks into sympy matrices; remembers what it read.

    `known` gives the values of some blocks (leaves, rotations, the constraint
    efforts), `factors` the coefficients of some sums, where they are symbols.
    `definitions` collects the orientation symbols that were introduced.
    """

    def __init__(
        self,
        known: Mapping[Block, Any] | None = None,
        factors: Mapping[Block, Sequence[Any]] | None = None,
    ):
        self._done: dict[Block, Any] = dict(known or {})
        self._factors = dict(factors or {})
        self.definitions: dict[Any, Any] = {}

    def __call__(self, block: Block) -> Any:
        """The sympy Matrix of `block`.

        Raises VbgError for what has no closed form (a solved loop).
        """
        done = self._done
        pending = [block]
        while pending:
            node = pending[-1]
            if node in done:
                pending.pop()
                continue
            missing = [arg for arg in node.args if arg not in done]
            if missing:
                pending.extend(missing)
                continue
            done[node] = self._read(node, [done[arg] for arg in node.args])
            pending.pop()
        return done[block]

    def _read(self, node: Block, args: list[Any]) -> Any:
        import sympy

        match node.op:
            case "const":
                return _constant(node)
            case "leaf":
                return symbols_of(node)
            case "sum":
                factors = self._factors.get(node) or map(_number, node.data)
                terms = [f * a for f, a in zip(factors, args, strict=True)]
                return sum(terms[1:], terms[0])
            case "mul" | "product":
                result = args[-1]
                for factor in reversed(args[:-1]):
                    result = product(factor, result)
                return result
            case "times":
                return args[0][0, 0] * args[1]
            case "transpose":
                return args[0].T
            case "stack":
                return sympy.Matrix.vstack(*args)
            case "rows":
                return args[0][node.data[0] : node.data[1], :]
            case "rotation":
                return self._rotation(node, args[0])
            case "skew":
                return _skew(args[0])
            case "quaternion_rate":
                return _quaternion_rate(*args)
            case "call":
                return sympy.Matrix([_call(node.data, [a[0, 0] for a in args])])
            case "lookup":
                return _lookup(args[0][0, 0], node.args[1].data[:, 0], args[2])
            case "linear_solve":
                return args[0].LUsolve(args[1])
            case _:
                raise VbgError(
                    "these equations have no closed form: they contain an algebraic loop or a "
                    "constraint system that is solved by iteration."
                )

    def _rotation(self, node: Block, q: Any) -> Any:
        import sympy

        if not all(entry.is_Symbol for entry in q):
            return rotation_of(q)
        body = vector_of(str(q[0])).rpartition(".")[0]
        named = sympy.Matrix(3, 3, lambda i, j: sympy.Symbol(f"R_{body}[{i},{j}]", real=True))
        for symbol, value in zip(named, rotation_of(q), strict=True):
            self.definitions[symbol] = value
        return named


def _number(value: float) -> Any:
    import sympy

    return sympy.Integer(int(value)) if float(value).is_integer() else sympy.Float(repr(value), 17)


def _constant(block: Block) -> Any:
    """A constant matrix; entries that are only rounding are zero, whole numbers are exact."""
    import sympy

    data = without_rounding(block)
    data = np.where(np.abs(data) <= NEGLIGIBLE * beside(np.abs(data)), 0.0, data)
    return sympy.Matrix(*data.shape, [_number(float(v)) for v in data.ravel()])


def without_rounding(block: Block) -> NDArray[np.float64]:
    """The numbers of a constant without those that are rounding of what cancelled in them."""
    return np.where(np.abs(block.data) <= NEGLIGIBLE * block.terms, 0.0, block.data)


def beside(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """What an entry is small beside: sqrt(r c) of the largest r of its row and c of its column,
    which have units of their own (one that stands alone in both is itself all there is); of a
    single column or row the largest one."""
    if 1 in sizes.shape:
        return np.full(sizes.shape, sizes.max(initial=0.0))
    by_row, by_column = (sizes.max(axis=k, initial=0.0, keepdims=True) for k in (1, 0))
    return np.asarray(np.sqrt(by_row * by_column))


def _skew(a: Any) -> Any:
    import sympy

    x, y, z = a
    return sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation_of(q: Any) -> Any:
    """R_WB of the quaternion q, scalar first."""
    import sympy

    w, x, y, z = q
    return sympy.Matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion_rate(q: Any, w_B: Any) -> Any:
    import sympy

    scalar, vector = q[0], sympy.Matrix(q[1:])
    turned = scalar * w_B + vector.cross(w_B)
    return sympy.Matrix([-product(vector.T, w_B)[0, 0], *turned]) / 2


def _lookup(x: Any, starts: Any, table: Any) -> Any:
    """The row that x is in, as a column."""
    import sympy

    begun = [x >= _number(float(start)) for start in starts[1:]]
    return sympy.Matrix(
        [
            sympy.Piecewise(*zip(reversed(column[1:]), reversed(begun)), (column[0], True))
            for column in (list(table[:, j]) for j in range(table.cols))
        ]
    )


def _call(name: str, args: list[Any]) -> Any:
    """Scalar functions of `vbg.blocks.functions` by name."""
    import sympy

    a = args[0]
    b = args[1] if len(args) > 1 else None
    match name:
        case "abs":
            return sympy.Abs(a)
        case "power":
            return a**b
        case "reciprocal":
            return 1 / a
        case "positive":
            # a step then reads h [t >= start], not h - h [t < start]
            ends = any(str(x) == "t" and a.diff(x).is_negative for x in a.free_symbols)
            if ends:
                return 1 - sympy.Piecewise((1, a <= 0), (0, True))
            return sympy.Piecewise((1, a > 0), (0, True))
        case "select":
            return sympy.Piecewise((b, a > 0), (args[2], True))
        case "min":
            return sympy.Min(a, b)
        case "max":
            return sympy.Max(a, b)
        case _:
            return getattr(sympy, name)(*args)
