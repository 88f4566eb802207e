"""A program as straight-line C: one assignment for each number, in the names of the states.

The tape is played with expressions in place of numbers.  Constants fold, zeros and copies vanish,
equal expressions are computed once, and what no output needs is left out.  Eliminations and small
linear systems stay calls on the workspace: before one, what it reads is stored there, and what it
leaves is read from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from vbg.assemble.program.lower import FUNCTION_CODES
from vbg.assemble.program.program import Op, Program, Schedule
from vbg.export.tables import number, remark

MOST = 6000  # assignments: longer code is tables
NAMES = {code: name for name, code in FUNCTION_CODES.items()}
CALLS: Mapping[str, str] = {
    "abs": "fabs({0})",
    # what is no number stays none, as in `vbg.blocks.scalars`
    "sign": "({0} > 0.0 ? 1.0 : {0} < 0.0 ? -1.0 : 0.0*{0})",
    "positive": "({0} > 0.0 ? 1.0 : {0} <= 0.0 ? 0.0 : {0})",
    "min": "({0} <= {1} || isnan({0}) ? {0} : {1})",
    "max": "({0} >= {1} || isnan({0}) ? {0} : {1})",
    "power": "pow({0}, {1})",
    "reciprocal": "1.0 / {0}",
    "select": "({0} > 0.0 ? {1} : {0} <= 0.0 ? {2} : {0})",
    "atan2": "atan2({0}, {1})",
}
VARIABLE = re.compile(r"\bv\d+\b")
Term = tuple[float, tuple[str, ...]]  # a number times atoms


def straight(program: Program, name: str, inputs: Sequence[str]) -> str | None:
    """The function `static void NAME(double *w, const double *kept)`; None where the program has
    an algebraic loop that is iterated, or is too long.

    `inputs` are names of the words at the beginning of the workspace.
    """
    ops = {int(op) for op in program.segments[:, 0]}
    if ops & {Op.NEWTON, Op.NEWTON_STEP}:
        return None
    writer = _Writer(program, inputs)
    for segment in program.segments:
        writer.segment(*(int(word) for word in segment))
        if len(writer.lines) > MOST:
            return None
    writer.finish()
    return writer.function(name)


class _Writer:
    """Work space of one program: what stands in each word, and the lines so far."""

    def __init__(self, program: Program, inputs: Sequence[str]):
        self.program = program
        self.word: list[str | float] = [float(v) for v in program.workspace]
        self.at_first = list(self.word)
        self.lines: list[tuple[str, str]] = []  # variable or "", and its expression or a statement
        self.known: dict[str, str] = {}
        self.count = 0
        first = sum(rows * cols for _, rows, cols in program.inputs.values())
        for i in range(first):
            self.word[i] = f"w[{i}]"
        self.names = dict(enumerate(inputs))

    # -- expressions -----------------------------------------------------------------

    def atom(self, expression: str) -> str:
        """A variable that holds the expression."""
        found = self.known.get(expression)
        if found is None:
            found = self.known[expression] = f"v{self.count}"
            self.count += 1
            self.lines.append((found, expression))
        return found

    def sum(self, terms: Iterable[Term]) -> str | float:
        """A sum of products as a number or an atom."""
        total, parts = 0.0, []
        for factor, atoms in terms:
            if factor == 0.0:
                continue
            if not atoms:
                total += factor
                continue
            parts.append((factor, "*".join(atoms)))
        if not parts:
            return total
        if len(parts) == 1 and total == 0.0 and parts[0][0] == 1.0 and "*" not in parts[0][1]:
            return parts[0][1]
        return self.atom(_joined(parts, total))

    def product(self, factor: float, *words: str | float) -> Term:
        atoms = []
        for word in words:
            if isinstance(word, float):
                factor *= word
            else:
                atoms.append(word)
        return factor, tuple(sorted(atoms))

    def term(self, word: str | float) -> Term:
        return self.product(1.0, word)

    # -- operations --------------------------------------------------------------------

    def segment(self, op: int, count: int, first: int, accumulate: int, *rest: int) -> None:
        """Plays one segment."""
        shape, strides = rest[:3], rest[3:]
        for i in range(first, first + count):
            operands = [int(word) for word in self.program.operands[i]]
            factor = float(self.program.factors[i])
            if op in _MATRICES:
                self.matrix(Op(op), operands, factor, shape, strides, bool(accumulate))
            elif op in _GEOMETRY:
                self.put(_GEOMETRY[op](self, operands, strides))
            elif op == Op.CALL:
                self.word[operands[0]] = self.call(shape[0], operands)
            elif op == Op.COPY:
                for j in range(shape[0]):
                    self.word[operands[0] + j] = self.word[operands[1] + j]
            else:
                self.on_workspace(Op(op), operands, factor, shape)

    def put(self, values: Iterable[tuple[int, list[Term]]]) -> None:
        """All sums are of what stood there before."""
        for place, value in [(place, self.sum(terms)) for place, terms in values]:
            self.word[place] = value

    def matrix(
        self,
        op: Op,
        operands: list[int],
        factor: float,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        accumulate: bool,
    ) -> None:
        values = _MATRICES[op](self, operands, factor, shape, strides)
        if accumulate:
            values = [(to, [self.term(self.word[to]), *terms]) for to, terms in values]
        self.put(values)

    def call(self, code: int, operands: list[int]) -> str:
        name = NAMES[code]
        words = [self.word[at] for at in operands[1:]]
        args = [number(a) if isinstance(a, float) else a for a in words]
        return self.atom(CALLS.get(name, f"{name}({{0}})").format(*args))

    def on_workspace(
        self, op: Op, operands: list[int], factor: float, shape: tuple[int, ...]
    ) -> None:
        """A call that works on numbers in memory."""
        if op == Op.FACTOR:
            schedule = self.program.schedules[shape[0]]
            self.store(_blocks(schedule), used_up=True)
            self.say(f"vbg_factor(stream, {shape[0]}, w, kept, {number(factor)}, {shape[1]});")
            self.load(_blocks(schedule))
        elif op == Op.SOLVE:
            schedule = self.program.schedules[shape[0]]
            to, right, matrix, spare = operands
            self.store(range(right, right + schedule.unknowns))
            if matrix:
                shift = matrix - min(_blocks(schedule))
                self.store(at + shift for at in _blocks(schedule))
            columns = len(self.program.workspace)
            given = f"{shape[0]}, w, {to}, {right}, {matrix}, {spare}, {columns}, kept, {shape[1]}"
            self.say(f"vbg_solve(stream, {given});")
            self.load(range(to, to + schedule.unknowns))
        elif op == Op.LOOKUP:
            to, at, starts, table = operands
            m, _, n = shape
            x = self.word[at]
            given = f"{number(x) if isinstance(x, float) else x}, w + {starts}, w + {table}"
            self.say(f"vbg_lookup(w + {to}, {given}, {m}, {n});")
            self.load(range(to, to + n))
        else:
            to, used = operands[:2]
            m, _, n = shape
            self.store(range(to, to + m * n), used_up=True)
            self.store(range(used, used + m * m), used_up=True)
            self.say(f"vbg_solve_refined(w + {used}, w + {to}, {m}, {n});")
            self.load(range(to, to + m * n))

    def say(self, statement: str) -> None:
        self.lines.append(("", statement))

    def store(self, places: Iterable[int], *, used_up: bool = False) -> None:
        """What stands in these words goes to memory, but for constants that are there already
        (where the words are used up they are not, from the second run on)."""
        for at in places:
            value = self.word[at]
            there = isinstance(value, float) and value == self.at_first[at] and not used_up
            if there or value == f"w[{at}]":
                continue
            self.say(f"w[{at}] = {number(value) if isinstance(value, float) else value};")

    def load(self, places: Iterable[int]) -> None:
        """These words are what memory holds from here on."""
        for at in places:
            self.lines.append((f"v{self.count}", f"w[{at}]"))
            self.word[at] = f"v{self.count}"
            self.count += 1

    def finish(self) -> None:
        """The outputs in memory."""
        for at, rows, cols in self.program.outputs.values():
            self.store(range(at, at + rows * cols))

    # -- text ------------------------------------------------------------------------

    def function(self, name: str) -> str:
        """The lines that are needed, inputs by their names."""
        body = "\n".join(
            f"    const double {to} = {text};" if to else f"    {text}"
            for to, text in _needed(self.lines)
        )
        used = {int(i) for i in re.findall(r"\bw\[(\d+)\]", body)}
        heads = {i: f"x{i}" for i in self.names if i in used}
        inside = re.sub(r"\bw\[(\d+)\](?! =)", lambda m: heads.get(int(m[1]), m[0]), body)
        head = "\n".join(
            f"    const double x{i} = w[{i}]; /* {remark(self.names[i])} */" for i in heads
        )
        unused = "".join(f"    (void){a};\n" for a in ("w", "kept") if not _reads(inside, a))
        stream = f"    const int *const stream = {name}_stream;\n" if "stream" in inside else ""
        return (
            f"static void {name}_straight(double *w, const double *kept)\n{{\n"
            f"{unused}{stream}{head}\n{inside}\n}}\n"
        )


def _reads(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _joined(parts: Sequence[tuple[float, str]], total: float) -> str:
    """a*x - b*y + c."""
    text = ""
    for factor, product in parts:
        size = "" if abs(factor) == 1.0 else f"{number(abs(factor))}*"
        sign = "-" if factor < 0.0 else "+"
        text += (
            f" {sign} {size}{product}" if text else f"{'-' if factor < 0.0 else ''}{size}{product}"
        )
    if total != 0.0:
        text += f" {'-' if total < 0.0 else '+'} {number(abs(total))}"
    return text


def _needed(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without the variables that nothing reads."""
    read: set[str] = set()
    kept = []
    for to, text in reversed(lines):
        if to and to not in read:
            continue
        read.update(VARIABLE.findall(text))
        kept.append((to, text))
    return kept[::-1]


def _blocks(schedule: Schedule) -> list[int]:
    """All words of an elimination's matrix."""
    words: list[int] = []
    for p in schedule.pivots:
        words += range(p.block, p.block + p.size * p.size)
        for c in p.couplings:
            words += range(c.block, c.block + c.size * p.size)
    return words


# -- the operations' formulas: places and sums ---------------------------------------------------

Values = list[tuple[int, list[Term]]]


def _gemm(w: _Writer, o: list[int], f: float, shape: Sequence[int], s: Sequence[int]) -> Values:
    m, k, n = shape
    dr, dc, ar, ac, br, bc = s
    return [
        (
            o[0] + r * dr + c * dc,
            [
                w.product(f, w.word[o[1] + r * ar + j * ac], w.word[o[2] + j * br + c * bc])
                for j in range(k)
            ],
        )
        for r in range(m)
        for c in range(n)
    ]


def _axpy(w: _Writer, o: list[int], f: float, shape: Sequence[int], s: Sequence[int]) -> Values:
    m, _, n = shape
    dr, dc, ar, ac, _, _ = s
    return [
        (o[0] + r * dr + c * dc, [w.product(f, w.word[o[1] + r * ar + c * ac])])
        for r in range(m)
        for c in range(n)
    ]


def _times(w: _Writer, o: list[int], f: float, shape: Sequence[int], s: Sequence[int]) -> Values:
    m, _, n = shape
    dr, dc, _, _, br, bc = s
    return [
        (o[0] + r * dr + c * dc, [w.product(f, w.word[o[1]], w.word[o[2] + r * br + c * bc])])
        for r in range(m)
        for c in range(n)
    ]


def _cross(w: _Writer, o: list[int], f: float, shape: Sequence[int], s: Sequence[int]) -> Values:
    dr, _, ar, _, br, _ = s
    a = [w.word[o[1] + i * ar] for i in range(3)]
    b = [w.word[o[2] + i * br] for i in range(3)]
    return [
        (o[0] + i * dr, [w.product(f, a[j], b[k]), w.product(-f, a[k], b[j])])
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]


def _rotation(w: _Writer, o: list[int], s: Sequence[int]) -> Values:
    """R of a quaternion: 2 (v v^T + q0 [v]x) + (1 - 2 v.v) 1, as the tape has it."""
    dr, dc, ar = s[0], s[1], s[2]
    q0, *v = (w.word[o[1] + i * ar] for i in range(4))
    values: Values = []
    for i in range(3):
        for j in range(3):
            if i == j:
                others = [v[k] for k in range(3) if k != i]
                terms = [(1.0, ()), *(w.product(-2.0, a, a) for a in others)]
            else:
                k = 3 - i - j
                sign = 2.0 if (j - i) % 3 == 2 else -2.0
                terms = [w.product(2.0, v[i], v[j]), w.product(sign, q0, v[k])]
            values.append((o[0] + i * dr + j * dc, terms))
    return values


def _skew(w: _Writer, o: list[int], s: Sequence[int]) -> Values:
    dr, dc, ar = s[0], s[1], s[2]
    a = [w.word[o[1] + i * ar] for i in range(3)]
    values: Values = [(o[0] + i * (dr + dc), [(0.0, ())]) for i in range(3)]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        values.append((o[0] + j * dr + i * dc, [w.product(1.0, a[k])]))
        values.append((o[0] + i * dr + j * dc, [w.product(-1.0, a[k])]))
    return values


def _quaternion_rate(w: _Writer, o: list[int], s: Sequence[int]) -> Values:
    """1/2 quat o (0, w_B)."""
    dr, ar, br = s[0], s[2], s[4]
    q0, x, y, z = (w.word[o[1] + i * ar] for i in range(4))
    p, q, r = (w.word[o[2] + i * br] for i in range(3))
    rows = (
        ((-0.5, x, p), (-0.5, y, q), (-0.5, z, r)),
        ((0.5, q0, p), (0.5, y, r), (-0.5, z, q)),
        ((0.5, q0, q), (0.5, z, p), (-0.5, x, r)),
        ((0.5, q0, r), (0.5, x, q), (-0.5, y, p)),
    )
    return [(o[0] + i * dr, [w.product(*term) for term in row]) for i, row in enumerate(rows)]


Formula = Callable[[_Writer, list[int], float, Sequence[int], Sequence[int]], Values]
_MATRICES: Mapping[int, Formula] = {
    Op.GEMM: _gemm,
    Op.AXPY: _axpy,
    Op.TIMES: _times,
    Op.CROSS: _cross,
}
_GEOMETRY: Mapping[int, Callable[[_Writer, list[int], Sequence[int]], Values]] = {
    Op.ROTATION: _rotation,
    Op.SKEW: _skew,
    Op.QUATERNION_RATE: _quaternion_rate,
}
