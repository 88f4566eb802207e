"""From block expressions to a Program."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from operator import attrgetter
from types import MappingProxyType

import numpy as np

from vbg.assemble.program.layout import LEAST_PIVOT, LEAST_PIVOT_COMING, Layout
from vbg.assemble.program.products import is_turned, last_product
from vbg.assemble.program.program import OPERANDS, SEGMENT_FIELDS, Op, Program, Schedule, Slot
from vbg.assemble.program.writing import Group, Groups, Key, TapeWriter
from vbg.blocks import Block, dependencies
from vbg.blocks.functions import FUNCTIONS
from vbg.blocks.rounding import terms_of
from vbg.blocks.systems import KEPT_ALONE
from vbg.plumbing.paused_collection import paused_collection

FUNCTION_CODES = {name: code for code, name in enumerate(FUNCTIONS)}
COMPUTED = frozenset(
    ("sum", "mul", "product", "times", "stack", "quaternion_rate", "call", "solve", "smallest")
)
NEWTON_WORDS = 4  # of a record: iterations, share of the step, polishing steps, begun at 0
NO_STRIDES = (0,) * 6
UNUSED = tuple((0,) * (OPERANDS - used) for used in range(OPERANDS + 1))
AXPY, TIMES, CROSS, GEMM = int(Op.AXPY), int(Op.TIMES), int(Op.CROSS), int(Op.GEMM)
EXPANDS = frozenset(("mul", "product", "times"))  # can be added into a destination directly
SUMS = frozenset(("sum", "stack", "factor"))  # made of terms, each of which is added there


class Lowering:
    """Work space of one lowering: slots and levels of the blocks met so far, by their keys."""

    def __init__(
        self,
        outputs: Mapping[str, Block],
        inputs: Mapping[str, Block],
        smallest: bool,
        coming: bool,
    ):
        self.smallest, self.coming = smallest, coming
        self.least_pivot = LEAST_PIVOT_COMING if coming else LEAST_PIVOT
        self.words = array("d")
        self.groups: Groups = {}
        self.slots: dict[bytes, Slot] = {}
        self.levels: dict[bytes, int] = {}
        self.reserved: dict[bytes, Slot] = {}
        self.factors: dict[bytes, tuple[Block, Block]] = {}  # of products of many
        self.schedules: list[Schedule] = []
        self.schedule_of: dict[Block, int] = {}
        self.bodies: list[tuple[Groups, Groups, Key, Group]] = []
        self.inputs: dict[str, tuple[int, int, int]] = {}
        self.outputs: dict[str, tuple[int, int, int]] = {}
        for name, block in inputs.items():
            slot = self._input(block)
            self.inputs[name] = (slot.offset, block.rows, block.cols)
        self.uses = _uses(outputs.values())
        placed = self._reserve_outputs(outputs)
        for block in outputs.values():
            self._value(block)
        for name, block in outputs.items():
            self._place_output(name, block, placed[name])

    # -- storage ---------------------------------------------------------------

    def _reserve(self, rows: int, cols: int) -> Slot:
        offset = len(self.words)
        self.words.frombytes(bytes(8 * rows * cols))
        return Slot(offset, cols, 1)

    def _input(self, block: Block) -> Slot:
        slot = self._reserve(block.rows, block.cols)
        self.slots[block.key] = slot
        self.levels[block.key] = 0
        return slot

    def _constant(self, block: Block) -> Slot:
        offset = len(self.words)
        self.words.frombytes(block.data.tobytes())
        return Slot(offset, block.cols, 1)

    def _reserve_outputs(self, outputs: Mapping[str, Block]) -> dict[str, Slot]:
        """Slots of the outputs, one behind the other; a block that is computed for one
        output is computed there."""
        placed = {}
        for name, block in outputs.items():
            placed[name] = slot = self._reserve(block.rows, block.cols)
            self.outputs[name] = (slot.offset, block.rows, block.cols)
            if block.op in COMPUTED:
                self.reserved.setdefault(block.key, slot)
        return placed

    def _place_output(self, name: str, block: Block, target: Slot) -> None:
        """A copy of the output where it was not computed in place."""
        if block.is_const:
            self._write_constant(target, block)
            return
        slot = self.slots[block.key]
        if slot.offset != target.offset:
            self._axpy(target, slot, block, 1.0, self.levels[block.key] + 1, accumulate=False)

    # -- operations ---------------------------------------------------------------

    def _emit(
        self,
        op: Op,
        level: int,
        operands: tuple[int, ...],
        *,
        shape: tuple[int, int, int] = (0, 0, 0),
        strides: tuple[int, ...] = (),
        factor: float = 1.0,
        accumulate: bool = False,
    ) -> None:
        key = (int(op), int(accumulate), *shape, *strides, *NO_STRIDES[len(strides) :])
        self._put(level, key, (*operands, *UNUSED[len(operands)]), factor)

    def _put(self, level: int, key: Key, operands: tuple[int, ...], factor: float) -> None:
        group = self.groups.get((level, key))
        if group is None:
            group = self.groups[level, key] = Group()
        group.operands.extend(operands)
        group.factors.append(factor)

    def _axpy(
        self, d: Slot, a: Slot, like: Block, factor: float, level: int, *, accumulate: bool
    ) -> None:
        shape = (like.rows, 0, like.cols)
        key = (AXPY, int(accumulate), *shape, d.row, d.col, a.row, a.col, 0, 0)
        self._put(level, key, (d.offset, a.offset, 0, 0), factor)

    def _value(self, root: Block) -> Slot:
        """The slot of `root`; emits what is needed to fill it."""
        slots = self.slots
        pending = [root]
        ready: set[bytes] = set()  # whose needs stand behind them
        while pending:
            block = pending[-1]
            key = block.key
            if key in slots:
                pending.pop()
                continue
            if key not in ready:
                ready.add(key)
                missing = [arg for arg in self._needs(block) if arg.key not in slots]
                if missing:
                    pending.extend(missing)
                    continue
            self._fill(block)
            pending.pop()
        return slots[root.key]

    def _needs(self, block: Block) -> Iterable[Block]:
        """Blocks whose slots `_fill` reads: arguments, or those of terms that are
        added into the destination directly."""
        if block.op in SUMS:
            needs: list[Block] = []
            for arg in block.args:
                if self._inlined(arg):
                    needs.extend(self._needs(arg))
                elif block.op == "sum" or not arg.is_const:
                    needs.append(arg)
            return needs
        if block.op in EXPANDS:
            return self._factors(block)
        return block.args

    def _inlined(self, block: Block) -> bool:
        """Whether the term is used once and can be added into its user's slot."""
        if block.op not in EXPANDS and block.op not in SUMS:
            return False
        return self.uses.get(block.key, 0) <= 1 and block.key not in self.slots

    def _factors(self, block: Block) -> tuple[Block, ...]:
        """What the last operation of a product reads."""
        if block.op != "product":
            if block.op == "mul" and block.args[0].op == "skew":
                return (block.args[0].args[0], block.args[1])  # a cross product
            return block.args
        factors = self.factors.get(block.key)
        if factors is None:
            factors = self.factors[block.key] = last_product(block)
        return factors

    def _fill(self, block: Block) -> None:
        if block.op == "leaf":
            raise ValueError(f"{block.data} is not an input of the program")
        key = block.key
        if block.op == "const":
            self.slots[key], self.levels[key] = self._constant(block), 0
            return
        if block.op in EXPANDS or block.op in ("sum", "stack"):
            self.slots[key] = slot = self._slot_for(block)
            if block.op == "sum":
                self.levels[key] = self._sum(slot, block, 1.0, 0, accumulate=False)
            elif block.op == "stack":
                self.levels[key] = self._stack(block, slot)
            else:
                self.levels[key] = self._product(slot, block, 1.0, 0, accumulate=False)
            return
        level = max((self.levels[arg.key] for arg in self._needs(block)), default=0)
        match block.op:
            case "transpose":
                self.slots[key] = self.slots[block.args[0].key].transposed
                self.levels[key] = level
                return
            case "rows" | "whole":
                self.slots[key] = self.slots[block.args[0].key].at(block.data[0])
                self.levels[key] = level
                return
            case "factor":
                self._factor(block)
                return
        self.slots[key] = slot = self._slot_for(block)
        match block.op:
            case "solve" | "smallest":
                level = self._solve(block, slot, level)
            case "rotation" | "skew" | "quaternion_rate":
                level += 1
                self._geometry(block, slot, level)
            case "call":
                level += 1
                self._emit(
                    Op.CALL,
                    level,
                    (slot.offset, *(self.slots[arg.key].offset for arg in block.args)),
                    shape=(FUNCTION_CODES[block.data], 0, 0),
                )
            case "lookup":
                level += 1
                self._emit(
                    Op.LOOKUP,
                    level,
                    (slot.offset, *(self.slots[arg.key].offset for arg in block.args)),
                    shape=(block.args[2].rows, 0, block.rows),
                )
            case "linear_solve":
                level = self._linear_solve(block, slot, level)
            case "implicit":
                level += 1
                self._implicit(block, slot, level)
            case _:
                raise ValueError(f"no operation for {block.op}")
        self.levels[key] = level

    def _slot_for(self, block: Block) -> Slot:
        return self.reserved.get(block.key) or self._reserve(block.rows, block.cols)

    def _solve(self, block: Block, slot: Slot, level: int) -> int:
        factor, rhs = block.args
        source = self._contiguous(rhs)
        index = self.schedule_of[factor]
        matrix = 0 if block.data == KEPT_ALONE else self.schedules[index].matrix
        spare = self._reserve(6 * rhs.rows, 1).offset if matrix else 0
        operands = (slot.offset, source.offset, matrix, spare)
        solved = int(block.op == "smallest")
        self._emit(Op.SOLVE, level + 2, operands, shape=(index, solved, 0))
        return level + 2

    def _geometry(self, block: Block, slot: Slot, level: int) -> None:
        sources = [self.slots[arg.key] for arg in block.args]
        strides = tuple(w for s in sources for w in (s.row, 0))
        self._emit(
            Op[block.op.upper()],
            level,
            (slot.offset, *(s.offset for s in sources)),
            strides=(slot.row, slot.col, *strides),
        )

    def _linear_solve(self, block: Block, slot: Slot, level: int) -> int:
        a, b = block.args
        used = self._reserve(2 * a.rows + b.cols, a.cols)  # see `solve_refined`
        self._axpy(used, self.slots[a.key], a, 1.0, level + 1, accumulate=False)
        self._axpy(slot, self.slots[b.key], b, 1.0, level + 1, accumulate=False)
        shape = (b.rows, 0, b.cols)
        self._emit(Op.LINEAR_SOLVE, level + 2, (slot.offset, used.offset), shape=shape)
        return level + 2

    def _implicit(self, block: Block, slot: Slot, level: int) -> None:
        """The iteration of an implicit block: its equations are lowered as a tape of
        their own, which stands between NEWTON and NEWTON_STEP, and before it one that writes
        the terms of the residual into the record, which its rounding is a share of."""
        body, size = block.data, block.rows
        record = self._reserve(NEWTON_WORDS + 5 * size + 2 * size**2, 1)  # see `step_newton`
        index = len(self.bodies)
        self.bodies.append(({}, {}, (), Group()))  # its place: loops within it come behind
        shape = (size, index, 0)
        self._emit(Op.NEWTON, level, (slot.offset, record.offset), shape=shape)
        given = {body.unknown.key: slot} | {
            inner.key: self.slots[arg.key]
            for inner, arg in zip(body.inputs, block.args, strict=True)
        }
        terms = terms_of(body.residual, together=frozenset([body.unknown]))
        measured = record.at(NEWTON_WORDS + 2 * size)
        before = self._inner(given, {terms: measured})
        places = {root: self._reserve(*root.shape) for root in (body.residual, body.slope)}
        step = Group()
        offsets = (places[body.residual].offset, places[body.slope].offset)
        step.operands.extend((slot.offset, *offsets, record.offset))
        step.factors.append(1.0)
        key = (int(Op.NEWTON_STEP), 0, size, 0, 0, *NO_STRIDES)
        self.bodies[index] = before, self._inner(given, places), key, step

    def _inner(self, given: Mapping[bytes, Slot], places: Mapping[Block, Slot]) -> Groups:
        """A tape of its own that computes blocks from what is `given` and writes them to
        their places."""
        outside = (self.slots, self.levels, self.groups, self.uses, self.reserved)
        self.slots, self.levels = dict(given), dict.fromkeys(given, 0)
        self.groups, self.reserved = {}, {}
        self.uses = _uses(places)
        for root, place in places.items():
            self._value(root)
            source = self.slots[root.key]
            self._axpy(place, source, root, 1.0, self.levels[root.key] + 1, accumulate=False)
        inner = self.groups
        self.slots, self.levels, self.groups, self.uses, self.reserved = outside
        return inner

    def _sum(self, d: Slot, block: Block, factor: float, after: int, *, accumulate: bool) -> int:
        """D (+)= factor * sum.  Products come first, which need no zero before; last what has
        rows of zeros, which then are not touched."""
        terms = list(zip(block.data, block.args, strict=True))
        if len(terms) > 1:
            terms.sort(key=lambda term: (term[1].op == "stack", term[1].key in self.slots))
        for share, term in terms:
            after = self._add_term(d, term, factor * share, after, accumulate=accumulate)
            accumulate = True
        return after

    def _stack(self, block: Block, slot: Slot) -> int:
        row, top = 0, 0
        for part in block.args:
            if part.is_const:
                self._write_constant(slot.at(row), part)
            else:
                top = max(top, self._add_term(slot.at(row), part, 1.0, 0, accumulate=False))
            row += part.rows
        return top

    def _parts(self, d: Slot, block: Block, factor: float, after: int, *, accumulate: bool) -> int:
        """D (+)= factor * stack, where other terms are added, too."""
        row, top = 0, after
        for part in block.args:
            if not (accumulate and part.is_zero):
                if part.is_const:
                    self._value(part)
                done = self._add_term(d.at(row), part, factor, after, accumulate=accumulate)
                top = max(top, done)
            row += part.rows
        return top

    def _write_constant(self, slot: Slot, block: Block) -> None:
        """Puts a constant where nothing else is ever written: it stays there."""
        for (i, j), value in np.ndenumerate(block.data):
            self.words[slot.offset + i * slot.row + j * slot.col] = value

    def _add_term(
        self, d: Slot, term: Block, factor: float, after: int, *, accumulate: bool
    ) -> int:
        """D (+)= factor * term; returns the level at which D is complete."""
        slot = self.slots.get(term.key)
        if slot is None:
            how = {"sum": self._sum, "stack": self._parts}.get(term.op, self._product)
            return how(d, term, factor, after, accumulate=accumulate)
        level = 1 + max(after, self.levels[term.key])
        self._axpy(d, slot, term, factor, level, accumulate=accumulate)
        return level

    def _product(self, d: Slot, term: Block, factor: float, after: int, *, accumulate: bool) -> int:
        """The same of a product, which is not computed anywhere else."""
        first, second = self._factors(term)
        level = 1 + max(after, self.levels[first.key], self.levels[second.key])
        a, b = self.slots[first.key], self.slots[second.key]
        rows, cols = term.rows, term.cols
        if term.op == "times":
            what = (TIMES, int(accumulate), rows, 0, cols)
            strides = (d.row, d.col, 0, 0, b.row, b.col)
        elif term.op == "mul" and term.args[0].op == "skew":
            what = (CROSS, int(accumulate), 0, 0, 0)
            strides = (d.row, 0, a.row, 0, b.row, 0)
        else:
            if is_turned(rows, first.cols, cols):
                rows, cols, d, a, b = cols, rows, d.transposed, b.transposed, a.transposed
            what = (GEMM, int(accumulate), rows, first.cols, cols)
            strides = (d.row, d.col, a.row, a.col, b.row, b.col)
        self._put(level, what + strides, (d.offset, a.offset, b.offset, 0), factor)
        return level

    def _contiguous(self, rhs: Block) -> Slot:
        slot = self.slots[rhs.key]
        if slot.row == 1:
            return slot
        copy = self._reserve(rhs.rows, 1)
        self._axpy(copy, slot, rhs, 1.0, self.levels[rhs.key] + 1, accumulate=False)
        return copy

    # -- constraint system -------------------------------------------------------

    def _factor(self, block: Block) -> None:
        sizes, places, vectors = block.data
        plan = Layout(sizes, places)
        storage = self._reserve(plan.words, 1).offset
        template = np.zeros(plan.words)
        variable = []
        for (i, j, row, col), piece in zip(places, block.args, strict=True):
            target = plan.slot(i, j, 0).at(row, col)
            if piece.is_const:
                rows, cols = np.indices(piece.shape)
                at = target.offset + rows * target.row + cols * target.col
                np.add.at(template, at.ravel(), piece.data.ravel())
            else:
                variable.append((i, j, row, col, piece))
        constant = len(self.words)
        self.words.frombytes(template.tobytes())
        self._emit(Op.COPY, 1, (storage, constant), shape=(plan.words, 0, 0))
        done: dict[tuple[int, int], int] = {}
        top = 1
        for i, j, row, col, piece in variable:
            target = plan.slot(i, j, storage).at(row, col)
            place = (min(i, j), max(i, j))
            after = max(1, done.get(place, 1))
            done[place] = self._add_term(target, piece, 1.0, after, accumulate=True)
            top = max(top, done[place])
        matrix = 0
        if self.smallest:
            matrix = self._reserve(plan.words, 1).offset
            top += 1
            self._emit(Op.COPY, top, (matrix, storage), shape=(plan.words, 0, 0))
        scratch = self._reserve(plan.scratch_words, 1).offset
        index = len(self.schedules)
        unknowns = sum(sizes)
        self.schedules.append(Schedule(plan.pivots(storage), unknowns, scratch, matrix, vectors))
        self.schedule_of[block] = index
        what, least = (index, int(self.coming), 0), self.least_pivot
        self._emit(Op.FACTOR, top + 1, (storage, scratch), shape=what, factor=least)
        self.slots[block.key] = Slot(storage, 1, 1)
        self.levels[block.key] = top + 1

    # -- the finished program ------------------------------------------------------

    def program(self) -> Program:
        tape = TapeWriter(self.bodies)
        tape.write(self.groups)
        starts: list[tuple[int, int]] = []
        stream: list[int] = []
        for schedule in self.schedules:
            starts.append((len(stream), schedule.scratch))
            stream.extend(schedule.stream())
        header = [len(starts), *(w for pair in starts for w in pair)]
        shift = len(header)
        header[1::2] = [start + shift for start, _ in starts]
        width = len(SEGMENT_FIELDS)
        return Program(
            workspace=np.array(self.words),
            segments=np.array(tape.segments, dtype=np.int64).reshape(-1, width),
            operands=np.array(tape.operands, dtype=np.int32).reshape(-1, OPERANDS),
            factors=np.array(tape.factors, dtype=float),
            schedules=tuple(self.schedules),
            stream=np.array(header + stream, dtype=np.int64),
            inputs=MappingProxyType(self.inputs),
            outputs=MappingProxyType(self.outputs),
        )


def _uses(roots: Collection[Block]) -> dict[bytes, int]:
    """How often each block is read, roots once more than once."""
    args = chain.from_iterable(map(attrgetter("args"), dependencies(roots)))
    uses = Counter(map(attrgetter("key"), args))
    for root in roots:
        uses[root.key] += 2
    return uses


def lower(
    outputs: Mapping[str, Block],
    inputs: Mapping[str, Block],
    *,
    smallest: bool = False,
    coming: bool = False,
) -> Program:
    """The program that computes `outputs` from `inputs` (leaves by name).

    Inputs stand first in the workspace, one behind the other, outputs behind them in
    the order given.  `smallest`: where rows of a constraint matrix depend on others, its
    solutions are the smallest ones (`machine.elimination.smallest`); else those rows get zero.
    `coming`: rows come and go, and may depend on others.
    """
    with paused_collection():
        return Lowering(outputs, inputs, smallest, coming).program()
