"""Block expressions: matrices of known shape as values.

Everything that vbg computes is written once in this small algebra: the
moduli of transformers, constitutive laws, junction structure, constraint
rows, outputs.  A `Block` is a node of an expression graph whose value is a
real matrix (vectors are columns, scalars 1 x 1).  Nodes are immutable and
compare by content, so equal sub-expressions are one node wherever they were
built.  The functions here simplify as they build: constants fold, identities
and zeros vanish, a rotation meets its transpose and both disappear.

Readers (the compiled program, numpy, sympy) visit the few operations of
`vbg.blocks.operations`; nothing else exists.
"""

from __future__ import annotations

from array import array
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.blocks.cancelling import remembered
from vbg.blocks.keys import head, identity_bytes

MERGED = ("const", "sum", "stack")  # terms that `linear` takes apart
SHARED = 1 << 14  # constants of a model that are kept as one node each, and what is made of them
NEGATIVE_ZERO = np.float64(-0.0).tobytes()


class Block:
    """One node: `op` of `vbg.blocks.operations`, its arguments, data, and shape; `sizes` of a
    constant that is left of others (`vbg.blocks.cancelling`)."""

    __slots__ = ("args", "cols", "data", "is_identity", "is_zero", "key", "op", "rows", "sizes")

    op: str
    args: tuple[Block, ...]
    data: Any
    rows: int
    cols: int
    key: bytes
    is_zero: bool
    is_identity: bool
    sizes: NDArray[np.float64] | None

    def __init__(
        self,
        op: str,
        args: tuple[Block, ...],
        data: Any,
        rows: int,
        cols: int,
        sizes: NDArray[np.float64] | None = None,
    ):
        self.op = op
        self.args = args
        self.data = data
        self.rows = rows
        self.cols = cols
        self.sizes = sizes
        self.is_zero = False
        self.is_identity = False
        key = head(op, rows, cols)
        if op == "const":
            content = data.tobytes()
            self.is_zero = not any(content)
            self.is_identity = rows == cols and content == identity_bytes(rows)
            key += content if sizes is None else content + sizes.tobytes()
        elif op == "sum":
            key += array("d", data).tobytes()
        elif data is not None:
            key += f"{data}|".encode()
        for arg in args:
            key += arg.key
        self.key = blake2b(key, digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.rows, self.cols)

    @property
    def is_const(self) -> bool:
        return self.op == "const"

    @property
    def terms(self) -> NDArray[np.float64]:
        """Of a constant the sizes of what was added up to each entry."""
        found: NDArray[np.float64] = np.abs(self.data) if self.sizes is None else self.sizes
        return found

    def __repr__(self) -> str:
        if self.op in ("const", "leaf"):
            return f"{self.data}"
        inside = ", ".join(map(repr, self.args))
        return f"{self.op}{'' if self.data is None else f'[{self.data}]'}({inside})"

    def __add__(self, other: Block) -> Block:
        return linear((1.0, self), (1.0, other))

    def __sub__(self, other: Block) -> Block:
        return linear((1.0, self), (-1.0, other))

    def __neg__(self) -> Block:
        return linear((-1.0, self))

    def __rmul__(self, factor: float) -> Block:
        return linear((float(factor), self))

    def __matmul__(self, other: Block) -> Block:
        return mul(self, other)


def const(value: ArrayLike, sizes: NDArray[np.float64] | None = None) -> Block:
    """A constant matrix; a sequence is a column, a number 1 x 1.  `sizes`: those of its terms."""
    if type(value) is float:
        return _constant(array("d", (value + 0.0,)).tobytes(), 1, 1)
    matrix: NDArray[np.float64] = np.asarray(value, dtype=float)
    if matrix.ndim < 2:
        matrix = matrix.reshape(-1, 1)
    content = matrix.tobytes()
    if NEGATIVE_ZERO in content:  # -0.0 and 0.0 are one constant
        content = (matrix + 0.0).tobytes()
    return _constant(content, *matrix.shape, None if sizes is None else sizes.tobytes())


@lru_cache(SHARED)
def _constant(content: bytes, rows: int, cols: int, sizes: bytes | None = None) -> Block:
    """The node of a constant: a machine of 1000 bodies has 120 000 of them, 1000 different."""
    terms = None if sizes is None else np.frombuffer(sizes).reshape(rows, cols)
    return Block("const", (), np.frombuffer(content).reshape(rows, cols), rows, cols, terms)


@lru_cache(SHARED)
def _filled(a: Block, axis: int) -> tuple[int, int]:
    """First and behind the last row (axis 0) or column (1) of a constant that is not zero."""
    found = np.flatnonzero(a.data.any(axis=1 - axis))
    return int(found[0]), int(found[-1]) + 1


@lru_cache(SHARED)
def _scaled_constant(factor: float, a: Block) -> Block:
    return const(factor * a.data, None if a.sizes is None else abs(factor) * a.sizes)


@lru_cache(SHARED)
def _constant_product(a: Block, b: Block) -> Block:
    data = a.data @ b.data
    return const(data, remembered(data, a.terms @ b.terms))


@lru_cache(SHARED)
def _constant_transpose(a: Block) -> Block:
    return const(a.data.T, None if a.sizes is None else a.sizes.T)


@lru_cache(SHARED)
def _constant_part(a: Block, first: int, last: int, axis: int) -> Block:
    """Rows (axis 0) or columns (1) first..last-1."""
    part = slice(first, last) if axis == 0 else (slice(None), slice(first, last))
    if a.sizes is None:
        return const(a.data[part])
    return const(a.data[part], remembered(a.data[part], a.sizes[part]))


@cache
def zeros(rows: int, cols: int = 1) -> Block:
    """A constant zero matrix."""
    return const(np.zeros((rows, cols)))


@cache
def identity(size: int) -> Block:
    """A constant identity matrix."""
    return const(np.eye(size))


@lru_cache(SHARED)
def leaf(name: str, rows: int, cols: int = 1) -> Block:
    """A named unknown, state, input or placeholder."""
    return Block("leaf", (), name, rows, cols)


def is_zero(block: Block) -> bool:
    """Whether `block` is a constant zero."""
    return block.is_zero


def is_identity(block: Block) -> bool:
    """Whether `block` is a constant identity matrix."""
    return block.is_identity


def linear(*terms: tuple[float, Block]) -> Block:
    """Sum of coefficient * block; like terms and constants are merged."""
    first_factor, first = terms[0]
    if len(terms) == 1:
        if first.op == "const":
            return first if first.is_zero else _scaled_constant(first_factor, first)
        if first_factor != 0.0 and first.op not in MERGED:
            if first_factor == 1.0:
                return first
            return Block("sum", (first,), (first_factor,), first.rows, first.cols)
    rows, cols = first.rows, first.cols
    constant: Block | None = None
    met: dict[bytes, Block] = {}
    factors: dict[bytes, float] = {}
    for factor, term in terms:
        if term.rows != rows or term.cols != cols:
            raise ValueError(f"sum of shapes {(rows, cols)} and {term.shape}")
        if term.op == "const":
            if not term.is_zero:
                constant = _plus(constant, _scaled_constant(factor, term))
        elif term.op == "sum":
            for inner_factor, inner in zip(term.data, term.args, strict=True):
                if inner.op == "const":
                    constant = _plus(constant, _scaled_constant(factor * inner_factor, inner))
                else:
                    key = inner.key
                    met.setdefault(key, inner)
                    factors[key] = factors.get(key, 0.0) + factor * inner_factor
        else:
            key = term.key
            met.setdefault(key, term)
            factors[key] = factors.get(key, 0.0) + factor
    kept = [(met[key], factor) for key, factor in factors.items() if factor != 0.0]
    if kept and kept[0][0].op == "stack":
        merged = _merged_stacks(kept, constant)
        if merged is not None:
            return merged
    if constant is not None and not constant.is_zero:
        kept.append((constant, 1.0))
    if not kept:
        return zeros(rows, cols)
    if len(kept) == 1 and kept[0][1] == 1.0:
        return kept[0][0]
    blocks = tuple(term for term, _ in kept)
    return Block("sum", blocks, tuple(factor for _, factor in kept), rows, cols)


def _plus(total: Block | None, value: Block) -> Block:
    if total is None:
        return value
    data = total.data + value.data
    return const(data, remembered(data, total.terms + value.terms))


def _merged_stacks(terms: list[tuple[Block, float]], constant: Block | None) -> Block | None:
    """A sum of stacks with the same cuts as the stack of sums."""
    if any(term.op != "stack" for term, _ in terms):
        return None
    if len(terms) == 1 and terms[0][1] == 1.0 and constant is None:
        return None
    cuts = [part.rows for part in terms[0][0].args]
    if any([part.rows for part in term.args] != cuts for term, _ in terms):
        return None
    parts, start = [], 0
    for i, size in enumerate(cuts):
        here = [(factor, term.args[i]) for term, factor in terms]
        if constant is not None:
            here.append((1.0, _constant_part(constant, start, start + size, 0)))
        parts.append(linear(*here))
        start += size
    return stack(*parts)


def _scaled(block: Block) -> tuple[float, Block]:
    """`block` as (number, block without leading number)."""
    if block.op == "sum" and len(block.args) == 1:
        return block.data[0], block.args[0]
    return 1.0, block


def mul(a: Block, b: Block) -> Block:
    """Matrix product a @ b; products with a column stay nested (cheap)."""
    if a.cols != b.rows:
        if a.shape == (1, 1):
            return times(a, b)
        raise ValueError(f"product of shapes {a.shape} and {b.shape}")
    if a.is_zero or b.is_zero:
        return zeros(a.rows, b.cols)
    if a.is_identity:
        return b
    if b.is_identity:
        return a
    if a.op == "const" and b.op == "const":
        return _constant_product(a, b)
    if b.rows == 1 and b.cols == 1:
        return times(b, a)
    if a.op == "sum" or b.op == "sum":
        factor_a, a = _scaled(a)
        factor_b, b = _scaled(b)
        if factor_a * factor_b != 1.0:
            return linear((factor_a * factor_b, mul(a, b)))
    if a.op == "stack":
        return stack(*[mul(part, b) for part in a.args])
    if a.op == "const":
        if b.op == "stack":
            split = _split_product(a, b)
            if split is not None:
                return split
        if _filled(a, 0) != (0, a.rows):
            return _trimmed_product(a, b)
    return _mul_column(a, b) if b.cols == 1 else _mul_matrices(a, b)


def _split_product(a: Block, b: Block) -> Block | None:
    """Constant times stack as a stack, if each row of `a` touches one part."""
    ends = np.cumsum([part.rows for part in b.args])
    parts: list[Block] = []
    row = 0
    for part, end in zip(b.args, ends, strict=True):
        touched = np.flatnonzero(a.data[:, end - part.rows : end].any(axis=1))
        if touched.size == 0:
            continue
        first, last = int(touched[0]), int(touched[-1]) + 1
        others = a.data[first:last].copy()
        others[:, end - part.rows : end] = 0.0
        if first < row or others.any():
            return None
        own = _constant_part(_constant_part(a, first, last, 0), end - part.rows, end, 1)
        if first > row:
            parts.append(zeros(first - row, b.cols))
        parts.append(mul(own, part))
        row = last
    if row < a.rows:
        parts.append(zeros(a.rows - row, b.cols))
    return stack(*parts)


def _trimmed_product(a: Block, b: Block) -> Block:
    """Constant with rows of zeros above or below, times a block, as a stack."""
    first, last = _filled(a, 0)
    inside = mul(_constant_part(a, first, last, 0), b)
    return stack(zeros(first, b.cols), inside, zeros(a.rows - last, b.cols))


def _cancels(a: Block, b: Block) -> bool:
    """Whether a @ b is the identity because one is a rotation's transpose."""
    return (a.op == "transpose" and a.args[0].op == "rotation" and a.args[0] == b) or (
        b.op == "transpose" and b.args[0].op == "rotation" and b.args[0] == a
    )


def _mul_column(a: Block, b: Block) -> Block:
    if a.is_const and _filled(a, 1) != (0, a.cols):  # columns of zeros: fewer rows of b
        first, last = _filled(a, 1)
        return mul(_constant_part(a, first, last, 1), rows(b, first, last))
    if a.op == "product":
        for factor in reversed(a.args):
            b = mul(factor, b)
        return b
    if b.op == "mul":
        if a.is_const and b.args[0].is_const:
            return mul(_constant_product(a, b.args[0]), b.args[1])
        if _cancels(a, b.args[0]):
            return b.args[1]
    if a.op == "skew" and a.args[0] == b:
        return zeros(3)
    return Block("mul", (a, b), None, a.rows, 1)


def _mul_matrices(a: Block, b: Block) -> Block:
    factors: list[Block] = []
    number = 1.0
    for factor in (a.args if a.op == "product" else (a,)) + (b.args if b.op == "product" else (b,)):
        if factors and factors[-1].is_const and factor.is_const:
            factors[-1] = _constant_product(factors[-1], factor)
        elif factors and _cancels(factors[-1], factor):
            factors.pop()
            continue
        else:
            factors.append(factor)
        if is_identity(factors[-1]):
            factors.pop()
    if not factors:
        return identity(a.rows)
    result = factors[0]
    if len(factors) > 1:
        result = Block("product", tuple(factors), None, a.rows, b.cols)
    return linear((number, result)) if number != 1.0 else result


def times(scalar: Block, block: Block) -> Block:
    """A 1 x 1 block times a matrix."""
    if scalar.op == "const":
        return linear((float(scalar.data[0, 0]), block))
    if block.is_zero:
        return block
    if block.op == "const" and block.rows == block.cols == 1:
        return linear((float(block.data[0, 0]), scalar))
    factor_s, scalar = _scaled(scalar)
    factor_b, block = _scaled(block)
    product = Block("times", (scalar, block), None, block.rows, block.cols)
    factor = factor_s * factor_b
    return product if factor == 1.0 else linear((factor, product))


def transpose(a: Block) -> Block:
    if a.shape == (1, 1):
        return a
    if a.op == "const":
        return _constant_transpose(a)
    if a.op == "transpose":
        return a.args[0]
    if a.op == "sum":
        return linear(*((f, transpose(t)) for f, t in zip(a.data, a.args, strict=True)))
    if a.op == "skew":
        return -a
    if a.op == "product":
        result = transpose(a.args[-1])
        for factor in reversed(a.args[:-1]):
            result = mul(result, transpose(factor))
        return result
    if a.op == "times":
        return times(a.args[0], transpose(a.args[1]))
    return Block("transpose", (a,), None, a.cols, a.rows)


def stack(*parts: Block) -> Block:
    """The parts below one another."""
    flat = [p for part in parts for p in (part.args if part.op == "stack" else (part,))]
    merged: list[Block] = []
    for part in flat:
        if part.rows == 0:
            continue
        if merged and merged[-1].is_const and part.is_const:
            merged[-1] = _below(merged[-1], part)
        else:
            merged.append(part)
    if len(merged) == 1:
        return merged[0]
    rows = sum(part.rows for part in merged)
    return Block("stack", tuple(merged), None, rows, merged[0].cols)


def _below(a: Block, b: Block) -> Block:
    """Two constants below one another."""
    data = np.vstack([a.data, b.data])
    plain = a.sizes is None and b.sizes is None
    return const(data, None if plain else np.vstack([a.terms, b.terms]))


def rows(a: Block, first: int, last: int) -> Block:
    """Rows first..last-1 of `a`."""
    if (first, last) == (0, a.rows):
        return a
    if a.op == "const":
        return _constant_part(a, first, last, 0)
    if a.op == "sum":
        return linear(*((f, rows(t, first, last)) for f, t in zip(a.data, a.args, strict=True)))
    if a.op == "stack":
        start, parts = 0, []
        for part in a.args:
            low, high = max(first - start, 0), min(last - start, part.rows)
            if low < high:
                parts.append(rows(part, low, high))
            start += part.rows
        return stack(*parts)
    if a.op == "mul" and a.args[0].op in ("const", "stack"):
        return mul(rows(a.args[0], first, last), a.args[1])
    if a.op == "times":
        return times(a.args[0], rows(a.args[1], first, last))
    if a.op == "rows":
        return rows(a.args[0], a.data[0] + first, a.data[0] + last)
    return Block("rows", (a,), (first, last), last - first, a.cols)


def rotation(quaternion: Block) -> Block:
    """R_WB (3 x 3) of a unit quaternion quat_WB (4 x 1), scalar first."""
    return Block("rotation", (quaternion,), None, 3, 3)


def skew(a: Block) -> Block:
    """skew(a) @ b == cross(a, b)."""
    if a.is_const:
        return const(_crossing(a.data), None if a.sizes is None else np.abs(_crossing(a.sizes)))
    factor, a = _scaled(a)
    block = Block("skew", (a,), None, 3, 3)
    return block if factor == 1.0 else linear((factor, block))


def _crossing(column: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y, z = column[:, 0]
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
