"""How large the numbers are from which an expression is computed: what its rounding is a share of.

To first order, what every operation rounds and what its arguments bring add up (running error
analysis, J. Wilkinson). With T the terms and |.| the size (of a column its length):

    T(a + b) = T(a) + T(b)                T(f(a)) = |f'(a)| T(a) + |f(a)|
    T(a b) = T(a) |b| + |a| T(b)          T(a) = |a| of what is given,

so that the value has an error of some eps T: eps 1e7 Pa of a pressure difference of 1e-3 Pa
between two sides of an orifice at 100 bar.
"""

from __future__ import annotations

import numpy as np

from vbg.blocks.calculus import Substitution, dependencies
from vbg.blocks.calls import call
from vbg.blocks.composed import norm
from vbg.blocks.functions import FUNCTIONS, rate
from vbg.blocks.node import Block, const, linear, rows, stack, times, transpose
from vbg.blocks.systems import linear_solve, solve


def terms_of(
    block: Block,
    modes: frozenset[Block] = frozenset(),
    iterated: float = 1.0,
    together: frozenset[Block] = frozenset(),
) -> Block:
    """T of each row of a column, in what the column is written in; `modes` are leaves that are 0
    or 1, of which nothing is rounded; solutions by iteration, and those of constraint systems,
    which are not refined, err by `iterated` times as much as theirs.

    Each entry of a leaf is given by itself, but for leaves `together`: the unknowns of a loop are
    what elimination made of them, where the largest step leaves its last digits in all."""
    reader = _Reader(modes, iterated, together)
    return stack(*(reader.terms(rows(block, i, i + 1)) for i in range(block.rows)))


class _Reader:
    """Reads T of any number of expressions, each of their nodes once."""

    def __init__(self, modes: frozenset[Block], iterated: float, together: frozenset[Block]):
        self._modes, self._iterated, self._together = modes, iterated, together
        self._whole: set[bytes] = set()  # nodes that count modes
        self._done: dict[bytes, Block] = {}
        self._solved: dict[bytes, list[Block]] = {}

    def terms(self, root: Block) -> Block:
        """T of a scalar."""
        for node in dependencies([root]):
            if node.key in self._done:
                continue
            if node in self._modes or _counts(node, self._whole):
                self._whole.add(node.key)
                self._done[node.key] = const(0.0)
            else:
                self._done[node.key] = self._of(node)
        return self._done[root.key]

    def _of(self, node: Block) -> Block:
        """T of a node, a scalar, from those of its arguments."""
        below = [self._done[arg.key] for arg in node.args]
        match node.op:
            case "sum":
                return linear(*((abs(f), T) for f, T in zip(node.data, below, strict=True)))
            case "mul" | "product" | "times":
                sizes = [_size(arg, T) for arg, T in zip(node.args, below, strict=True)]
                return linear(*((1.0, _product(sizes, i, T)) for i, T in enumerate(below)))
            case "call":
                return call("abs", node) + _brought(node, below)
            case "implicit":
                return _size(stack(*self._unknowns(node)), const(0.0)) + _size(node, const(0.0))
            case "factor":
                return const(0.0)  # its solutions have sizes
            case "linear_solve":
                return linear((self._iterated, _size(node, const(0.0))))
            case "solve":
                return linear(*((1.0, T) for T in self._efforts(node, 0, node.rows)))
            case "leaf" | "const" | "lookup":
                return _size(node, const(0.0))
            case "rows" if self._is_given(node.args[0]):  # each entry, in its own unit
                return _size(node, const(0.0))
            case "rows" if node.args[0].op == "solve":
                own = self._efforts(node.args[0], *node.data)
                return linear(*((1.0, T) for T in own)) + _size(node, const(0.0))
            case "rows" if node.args[0].op in ("implicit", "linear_solve"):  # so is each unknown
                own = self._unknowns(node.args[0])[slice(*node.data)]
                return linear(*((1.0, T) for T in own)) + _size(node, const(0.0))
            case _:  # rearranged only
                return linear(*((1.0, T) for T in below))

    def _is_given(self, node: Block) -> bool:
        return node.op in ("lookup", "leaf") and node not in self._together

    def _efforts(self, solution: Block, first: int, last: int) -> list[Block]:
        """T of rows of a constraint system's solution x, |A^-1| (|A| |x| + T(A) |x| + T(b)), with
        the sizes of its blocks for |.|, the efforts of a joint: a heavy body changes nothing of
        what holds a light one but by what couples the two."""
        factor, _ = solution.args
        terms = self._constraints(solution)
        spans = _spans(factor.data[0])
        found = []
        for i in range(first, last):
            unit = np.zeros((factor.rows, 1))
            unit[i] = self._iterated
            column = solve(factor, const(unit))  # of A^-1, which is symmetric: its row, too
            brought = [(norm(rows(column, *span)), T) for span, T in zip(spans, terms, strict=True)]
            found.append(linear(*((1.0, times(size, T)) for size, T in brought)))
        return found

    def _constraints(self, solution: Block) -> list[Block]:
        """Of each block of rows of A x - b its terms."""
        if solution.key not in self._solved:
            factor, b = solution.args
            spans = _spans(factor.data[0])
            sizes = [norm(rows(solution, *span)) for span in spans]
            shares = [[self.terms(rows(b, *span))] for span in spans]
            for piece, (i, j, *_) in zip(factor.args, factor.data[1], strict=True):
                T = self.terms(piece)
                size = linear((1.0, _size(piece, T)), (1.0, T))
                shares[i].append(times(size, sizes[j]))
                if i != j:
                    shares[j].append(times(size, sizes[i]))
            self._solved[solution.key] = [linear(*((1.0, T) for T in one)) for one in shares]
        return self._solved[solution.key]

    def _unknowns(self, loop: Block) -> list[Block]:
        """What rounding of its equations changes of each unknown of a loop: |slope^-1| T of the
        residual at its root (R. Skeel, J. ACM 26, 1979). A diode of a bridge conducts microvolts
        between two nodes at 300 V."""
        if loop.key not in self._solved:
            of = self._of_root if loop.op == "implicit" else self._of_solution
            slope, terms = of(loop)
            self._solved[loop.key] = _brought_back(slope, terms)
        return self._solved[loop.key]

    def _of_root(self, loop: Block) -> tuple[Block, Block]:
        """Slope and terms of an inner residual at its root."""
        body = loop.data
        inside = dict(zip(body.inputs, loop.args, strict=True))
        outside = Substitution(inside | {body.unknown: loop})
        modes = frozenset(inner for inner, arg in inside.items() if arg in self._modes)
        residual = terms_of(body.residual, modes, together=frozenset([body.unknown]))
        terms = linear((self._iterated, residual))
        return outside(body.slope), outside(terms)

    def _of_solution(self, loop: Block) -> tuple[Block, Block]:
        """The same of A x - b, with the terms (|A| + T(A)) |x| + T(b): its solution is refined."""
        A, b = loop.args
        sizes = [call("abs", rows(loop, k, k + 1)) for k in range(loop.rows)]
        terms = []
        for j in range(A.rows):
            row = transpose(rows(A, j, j + 1))
            shares = [self.terms(rows(b, j, j + 1))]
            for k, size in enumerate(sizes):
                entry = rows(row, k, k + 1)
                shares.append(times(call("abs", entry) + self.terms(entry), size))
            terms.append(linear(*((1.0, T) for T in shares)))
        return A, stack(*terms)


def _counts(node: Block, whole: set[bytes]) -> bool:
    """Whether a node counts modes in a size of its own, as c (1 - forward - backward) does."""
    if node.op != "sum":
        return False
    sizes: list[float] = []
    for factor, arg in zip(node.data, node.args, strict=True):
        if arg.is_const:
            sizes.extend(factor * arg.data[arg.data != 0.0])
        elif arg.key in whole:
            sizes.append(factor)
        else:
            return False
    counts = np.array(sizes) / np.abs(sizes).min(initial=np.inf)
    return any(not arg.is_const for arg in node.args) and bool(np.all(counts == np.round(counts)))


def _brought(node: Block, below: list[Block]) -> Block:
    """What the arguments of a function bring: of one that takes a side, those of this side."""
    if node.data in ("select", "min", "max"):
        return rate(node.data, node.args, below)
    partials = FUNCTIONS[node.data].partials(*node.args)
    brought = [times(call("abs", p), T) for p, T in zip(partials, below, strict=True)]
    return linear(*((1.0, T) for T in brought))


def _spans(sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """First and last rows of diagonal blocks of these sizes."""
    ends = np.cumsum(sizes).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _brought_back(slope: Block, terms: Block) -> list[Block]:
    """|slope^-1| T, row by row."""
    inverse = linear_solve(slope, const(np.eye(slope.rows)))
    found = []
    for i in range(slope.rows):
        row = transpose(rows(inverse, i, i + 1))
        shares = [
            times(call("abs", rows(row, j, j + 1)), rows(terms, j, j + 1))
            for j in range(slope.rows)
        ]
        found.append(linear(*((1.0, T) for T in shares)))
    return found


def _size(block: Block, terms: Block) -> Block:
    """Its size, of a matrix a bound by its `terms`."""
    if block.is_const:
        return const(float(np.linalg.norm(block.data)))
    if block.shape == (1, 1):
        return call("abs", block)
    return norm(block) if block.cols == 1 else terms


def _product(sizes: list[Block], place: int, terms: Block) -> Block:
    """`terms` at one place, the sizes of the others."""
    result = terms
    for i, size in enumerate(sizes):
        if i != place:
            result = times(size, result)
    return result
