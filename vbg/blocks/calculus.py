"""Derivatives of block expressions: tangent, substitution, linear coefficients."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vbg.blocks.calls import call, quaternion_rate
from vbg.blocks.composed import cross
from vbg.blocks.functions import rate
from vbg.blocks.node import (
    Block,
    const,
    identity,
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
from vbg.blocks.systems import linear_solve, solve
from vbg.blocks.tables import lookup


def dependencies(roots: Iterable[Block], known: Container[bytes] = ()) -> list[Block]:
    """All nodes that the roots depend on, arguments before their users; those whose keys are
    `known` are left out, with what only they depend on."""
    order: list[Block] = []
    seen: set[bytes] = set()  # keys here and below: sets of nodes would call their __hash__
    for root in roots:
        if root.key in seen or root.key in known:
            continue
        seen.add(root.key)
        node, args = root, iter(root.args)
        above: list[tuple[Block, Iterator[Block]]] = []  # with the arguments yet to be looked at
        while True:
            for arg in args:
                key = arg.key
                if key not in seen:
                    seen.add(key)
                    if key in known:
                        continue
                    if arg.args:
                        above.append((node, args))
                        node, args = arg, iter(arg.args)
                        break
                    order.append(arg)
            else:
                order.append(node)
                if not above:
                    break
                node, args = above.pop()
    return order


def rebuild(block: Block, args: tuple[Block, ...]) -> Block:
    """`block` with other arguments, simplified anew."""
    match block.op:
        case "const" | "leaf":
            return block
        case "sum":
            return linear(*zip(block.data, args, strict=True))
        case "mul":
            return mul(*args)
        case "product":
            result = args[0]
            for factor in args[1:]:
                result = mul(result, factor)
            return result
        case "times":
            return times(*args)
        case "transpose":
            return transpose(args[0])
        case "stack":
            return stack(*args)
        case "rows":
            return rows(args[0], *block.data)
        case "rotation":
            return rotation(args[0])
        case "skew":
            return skew(args[0])
        case "quaternion_rate":
            return quaternion_rate(*args)
        case "call":
            return call(block.data, *args)
        case "linear_solve":
            return linear_solve(*args)
        case "lookup":
            return lookup(*args)
        case _:
            return Block(block.op, args, block.data, *block.shape)


class Substitution:
    """Replaces blocks (mostly leaves) by others; remembers what it did."""

    def __init__(self, replacements: Mapping[Block, Block]):
        self._done = {node.key: value for node, value in replacements.items()}

    @property
    def met(self) -> Container[bytes]:
        """Keys of the nodes whose replacement is known."""
        return self._done

    def define(self, node: Block, replacement: Block) -> None:
        """One replacement more, of a leaf that has not been met so far."""
        self._done[node.key] = replacement

    def __call__(self, block: Block) -> Block:
        found = self._done.get(block.key)
        return self.each([block])[0] if found is None else found

    def each(self, blocks: Sequence[Block]) -> Sequence[Block]:
        """The same for many blocks in one pass."""
        return self.along(dependencies(blocks, self._done), blocks) if self._done else blocks

    def along(self, order: Iterable[Block], blocks: Sequence[Block]) -> Sequence[Block]:
        """The same where `order` has all nodes that are not met, arguments before their
        users."""
        done = self._done
        for node in order:
            key = node.key
            if key in done:
                continue
            args = [done[arg.key] for arg in node.args]
            for new, old in zip(args, node.args, strict=True):
                # an equal node may be another object: rebuilt, the users of it would differ
                if new is not old and new.key != old.key:
                    done[key] = rebuild(node, tuple(args))
                    break
            else:
                done[key] = node
        return [done[block.key] for block in blocks]


@dataclass(slots=True)
class Tangent:
    """Directional derivative of expressions, forward mode.

    `rates` gives the derivative of leaves (zero if absent).  `spins` gives
    w_WB_B for rotations R_WB: d R_WB = R_WB skew(w_WB_B), which is exact and
    cheaper than going through the quaternion.
    """

    rates: Mapping[Block, Block]
    spins: Mapping[Block, Block] = field(default_factory=dict)
    _done: dict[bytes, Block] = field(default_factory=dict)  # by the key of a node

    def __call__(self, block: Block) -> Block:
        done = self._done
        pending = [block]
        while pending:
            node = pending[-1]
            if node.key in done:
                pending.pop()
                continue
            missing = [arg for arg in node.args if arg.key not in done]
            if missing and node not in self.spins:
                pending.extend(missing)
                continue
            done[node.key] = self._rate(node)
            pending.pop()
        return done[block.key]

    def _rate(self, node: Block) -> Block:
        given = self.rates.get(node)
        if given is not None:
            return given
        if node in self.spins:
            return mul(node, skew(self.spins[node]))
        args = node.args
        dots = tuple([self._done[arg.key] for arg in args])
        if all(dot.is_zero for dot in dots):
            return zeros(*node.shape)
        match node.op:
            case "mul":
                return self._column_rate(args, dots)
            case "product":
                return self._product_rate(args, dots)
            case "call":
                return rate(node.data, args, dots)
            case "times":
                return times(dots[0], args[1]) + times(args[0], dots[1])
            case "lookup":  # constant but for its jumps, as `positive`
                return zeros(*node.shape)
            case "quaternion_rate":
                return quaternion_rate(dots[0], args[1]) + quaternion_rate(args[0], dots[1])
            case "linear_solve":  # (A^-1 B)' = A^-1 (B' - A' A^-1 B)
                return linear_solve(args[0], dots[1] - mul(dots[0], node))
            case "implicit":
                return _implicit_rate(node, args, dots)
            case "rotation":
                raise ValueError("a rotation's rate is given by its spin, not by its quaternion")
            case "factor":
                return node  # not zero: its solutions have rates
            case "solve":  # (H^-1 b)' = H^-1 (b' - H' H^-1 b)
                return solve(args[0], dots[1] - self._matrix_rate(args[0], node))
            case _:
                return rebuild(node, dots)  # linear operations

    def _column_rate(self, args: tuple[Block, ...], dots: tuple[Block, ...]) -> Block:
        a, b = args
        a_dot, b_dot = dots
        if a in self.spins:  # (R b)' = R (w x b + b')
            return mul(a, cross(self.spins[a], b) + b_dot)
        if a.op == "transpose" and a.args[0] in self.spins:  # (R^T b)' = R^T b' - w x R^T b
            return mul(a, b_dot) - cross(self.spins[a.args[0]], mul(a, b))
        return mul(a_dot, b) + mul(a, b_dot)

    def _matrix_rate(self, factor: Block, x: Block) -> Block:
        """H' x of the symmetric block matrix H that `factor` is of."""
        sizes, places, _ = factor.data
        first = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
        terms: list[tuple[float, Block]] = [(1.0, zeros(first[-1], 1))]

        def add(piece: Block, to: int, of: int) -> None:
            product = mul(piece, rows(x, of, of + piece.cols))
            behind = first[-1] - to - piece.rows
            parts = (zeros(to, 1), product, zeros(behind, 1))
            terms.append((1.0, stack(*(part for part in parts if part.rows))))

        for (i, j, row, col), piece in zip(places, factor.args, strict=True):
            dot = self._done[piece.key]
            if not is_zero(dot):
                add(dot, first[i] + row, first[j] + col)
                if i != j:  # the other half
                    add(transpose(dot), first[j] + col, first[i] + row)
        return linear(*terms)

    def _product_rate(self, args: tuple[Block, ...], dots: tuple[Block, ...]) -> Block:
        terms = []
        for i, dot in enumerate(dots):
            if is_zero(dot):
                continue
            term = dot
            for factor in reversed(args[:i]):
                term = mul(factor, term)
            for factor in args[i + 1 :]:
                term = mul(term, factor)
            terms.append((1.0, term))
        return linear(*terms)


def _implicit_rate(node: Block, args: tuple[Block, ...], dots: tuple[Block, ...]) -> Block:
    """y' = -(dG/dy)^-1 (dG/da a') of the root y of G(y, a) = 0."""
    body = node.data
    directions = [leaf(f"rate {i} of implicit", a.rows, a.cols) for i, a in enumerate(args)]
    along = Tangent(dict(zip(body.inputs, directions, strict=True)))(body.residual)
    inside = dict(zip(body.inputs, args, strict=True)) | {body.unknown: node}
    outside = Substitution(inside | dict(zip(directions, dots, strict=True)))
    return -linear_solve(outside(body.slope), outside(along))


class NotLinear(ValueError):
    """An expression is not linear in the leaves that it is asked for."""


class Coefficients:
    """Coefficient matrices of an expression that is linear in some leaves.

    `coefficients(block)[leaf]` is the matrix C in block = ... + C @ leaf.
    Raises NotLinear where the expression is not linear in the leaves.
    """

    def __init__(self, leaves: Iterable[Block]):
        self._done: dict[bytes, dict[Block, Block]] = {
            leaf.key: {leaf: identity(leaf.rows)} for leaf in leaves
        }

    def __call__(self, block: Block) -> dict[Block, Block]:
        for node in dependencies([block], self._done):
            self._done[node.key] = self._of(node)
        return self._done[block.key]

    def _of(self, node: Block) -> dict[Block, Block]:
        inside = [self._done[arg.key] for arg in node.args]
        if not any(inside):
            return {}
        columns = all(arg.cols == 1 for arg, part in zip(node.args, inside, strict=True) if part)
        match node.op:
            case "mul" if node.args[0].op == "skew" and not inside[1]:
                # skew(a) b = -skew(b) a
                argument = self._done[node.args[0].args[0].key]
                flip = -skew(node.args[1])
                return {leaf: mul(flip, m) for leaf, m in argument.items()}
            case "mul" if node.args[0].op == "transpose" and not inside[1] and node.cols == 1:
                # a^T b = b^T a
                argument = self._done[node.args[0].args[0].key]
                flip = transpose(node.args[1])
                return {leaf: mul(flip, m) for leaf, m in argument.items()}
            case _ if not columns:
                raise NotLinear(f"{node.op} is no column of {list(inside)}")
            case "sum":
                result: dict[Block, Block] = {}
                for factor, part in zip(node.data, inside, strict=True):
                    for leaf, matrix in part.items():
                        scaled = factor * matrix
                        result[leaf] = result[leaf] + scaled if leaf in result else scaled
                return result
            case "mul" | "times" if not inside[0]:
                operator = mul if node.op == "mul" else times
                return {leaf: operator(node.args[0], m) for leaf, m in inside[1].items()}
            case "times" if not inside[1] and node.cols == 1:
                return {leaf: mul(node.args[1], m) for leaf, m in inside[0].items()}
            case "stack":
                # in order of appearance: a set's order would change from run to run
                leaves = dict.fromkeys(leaf for part in inside for leaf in part)
                return {
                    leaf: stack(
                        *(
                            part.get(leaf, zeros(arg.rows, leaf.rows))
                            for part, arg in zip(inside, node.args, strict=True)
                        )
                    )
                    for leaf in leaves
                }
            case "rows":
                return {leaf: rows(m, *node.data) for leaf, m in inside[0].items()}
            case "linear_solve" if not inside[0]:
                return {leaf: linear_solve(node.args[0], m) for leaf, m in inside[1].items()}
            case "call" if node.data == "select" and not inside[0]:
                return self._chosen(node, inside[1], inside[2])
            case "transpose" | "skew":
                return inside[0]  # of the column; what is wider is reached through mul
            case _:
                raise NotLinear(f"{node.op} is not linear in {list(inside)}")

    def _chosen(
        self, node: Block, yes: dict[Block, Block], no: dict[Block, Block]
    ) -> dict[Block, Block]:
        """Those of a scalar select(c, a, b), entry by entry (1 x n)."""
        return {
            leaf: transpose(
                stack(
                    *(
                        call("select", node.args[0], _entry(yes, leaf, k), _entry(no, leaf, k))
                        for k in range(leaf.rows)
                    )
                )
            )
            for leaf in dict.fromkeys([*yes, *no])
        }


def _entry(coefficients: dict[Block, Block], leaf: Block, k: int) -> Block:
    """Entry k of the row on `leaf`, zero where there is none."""
    row = coefficients.get(leaf)
    return const(0.0) if row is None else rows(transpose(row), k, k + 1)


def time_derivative(block: Block, t: Block) -> Block:
    """Derivative of an expression of time alone."""
    return Tangent({t: const(1.0)})(block)
