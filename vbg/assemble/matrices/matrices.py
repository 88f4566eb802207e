"""The paper's matrices of an assembled system at a state, as numbers or symbols, with names of
rows and columns (notation of mathematics.md, section 4: `vbg.assemble.matrices.unified`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.assemble.derive.constraints import constraints_of
from vbg.assemble.derive.derivation import Derivation, begin
from vbg.assemble.derive.interconnection import Interconnection, Port, interconnection_of
from vbg.assemble.matrices.symbolic import SymbolicReader
from vbg.assemble.matrices.unified import constraint_matrices, transfer_matrices
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.assemble.start.start import Start, assemble_start
from vbg.assemble.system import System
from vbg.blocks import Block, Tangent, const, linear, zeros
from vbg.errors import UsageError
from vbg.plumbing.components import component_names

RANK = 1e-10  # singular values of T_LE below this part of the largest count as zero
LARGEST_SYMBOLIC = 12  # components of stores up to which matrices are written in symbols

RECEIVERS = ("1", "2", "L", "E", "C")
GIVERS = ("1", "2", "L", "E", "u1", "u2")


@dataclass(frozen=True, slots=True)
class NamedMatrix:
    """`values[i, j]` belongs to `rows[i]` and `columns[j]`; numbers or symbols."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Any

    def as_plain(self) -> dict[str, Any]:
        numeric = isinstance(self.values, np.ndarray)
        shown = self.values.tolist() if numeric else [[str(v) for v in r] for r in self.table()]
        return {"rows": self.rows, "columns": self.columns, "values": shown}

    def table(self) -> list[list[Any]]:
        """The values row by row."""
        return [list(self.values[i, :]) for i in range(len(self.rows))]

    @property
    def is_zero(self) -> bool:
        return all(value == 0 for row in self.table() for value in row)


@dataclass(frozen=True, slots=True)
class PaperMatrices:
    """`blocks` by their names in the paper; `case` is "14", "15", "mixed" or "" without
    constraint sources.  Where all laws are `linear` the blocks give the rates of the stores;
    `misfit` is how far these are from the system's, of the largest term in them."""

    blocks: Mapping[str, NamedMatrix]
    case: str
    linear: bool
    misfit: float | None


def matrices_of(system: System, t: float = 0.0, x: ArrayLike | None = None) -> PaperMatrices:
    """The blocks J, F, R, R_E, then T and, for case (15), H, at (t, x); default: the start.

    Raises UsageError for stores in derivative causality, which the paper's form has not.
    """
    forms = Forms.of(system)
    start = assemble_start(system)
    numbers = Numbers(start, t, start.state if x is None else np.asarray(x, dtype=float))
    blocks = _blocks(forms, numbers, np.eye, np.linalg.inv)
    case = _case(blocks["T_LE"])
    if case == "15":
        blocks |= constraint_matrices(blocks, _rates_of_rows(forms, numbers))
    misfit = _misfit(forms, numbers, blocks, case) if forms.linear else None
    return PaperMatrices(forms.named(blocks), case, forms.linear, misfit)


def matrix_blocks(system: System) -> list[Block]:
    """All blocks that the symbolic matrices of a system are read from, in a fixed order.

    Raises UsageError as `symbolic_matrices` does.
    """
    forms, found = Forms.of(system), _Collected()
    _require_small(forms)
    _laws(forms, found)
    _rates_of_rows(forms, found)
    return found.blocks


class _Collected:
    """The blocks that are asked for, instead of their values."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def __call__(self, grid: Grid, rows: int, columns: int) -> None:
        self.blocks += [block for row in grid for block in row if block.rows and block.cols]


def is_large(system: System) -> bool:
    """Whether there are too many components of stores for single entries in symbols."""
    stores = (v.size for v in system.causal.graph.vertices.values() if v.is_store)
    return sum(stores) > LARGEST_SYMBOLIC


def _require_small(forms: Forms) -> None:
    size = forms.size("1") + forms.size("2")
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

    def inverse(matrix: Any) -> Any:
        return matrix.inv() if matrix.shape[0] else matrix

    symbols = _Symbols(SymbolicReader() if reader is None else reader)
    blocks = _blocks(forms, symbols, sympy.eye, inverse)
    blocks = {name: value.applyfunc(sympy.simplify) for name, value in blocks.items()}
    T_LE = blocks["T_LE"]
    case = "" if not T_LE.shape[0] else "15" if T_LE.is_zero_matrix else "14 or mixed"
    if case == "15":
        blocks |= constraint_matrices(blocks, _rates_of_rows(forms, symbols))
    simple = {name: value.applyfunc(sympy.simplify) for name, value in blocks.items()}
    return PaperMatrices(forms.named(simple), case, forms.linear, None)


Grid = Sequence[Sequence[Block]]
Read = Callable[[Grid, int, int], Any]  # blocks side by side as one matrix of a given shape


@dataclass(frozen=True, slots=True)
class Forms:
    """The matrices as block expressions, before they become numbers or symbols."""

    system: System
    work: Derivation
    structure: Interconnection

    @classmethod
    def of(cls, system: System) -> Forms:
        if system.causal.differential:
            raise UsageError(
                "the matrices are those of integral causality; leave out causality = "
                '"derivative" in [simulate].'
            )
        work = begin(system.causal)
        constraints_of(work)
        return cls(system, work, interconnection_of(work))

    def ports(self, group: str) -> tuple[Port, ...]:
        return self.structure.groups["u2" if group == "C" else group]

    def size(self, group: str) -> int:
        return sum(port.vertex.size for port in self.ports(group))

    @property
    def linear(self) -> bool:
        """Whether every store and resistor has a constant matrix as its law."""
        return all(p.proportional for group in ("1", "2", "L") for p in self.ports(group))

    def junction(self, read: Read, row: str, column: str, of: Callable[[Block], Block]) -> Any:
        """J_12 and so on; the rows of C with the sign of the constraint's flow."""
        sign = -1.0 if row == "C" else 1.0
        grid = [
            [linear((sign, of(self.structure.block(a, b)))) for b in self.ports(column)]
            for a in self.ports(row)
        ]
        return read(grid, self.size(row), self.size(column))

    def law(self, read: Read, group: str) -> Any:
        """F, R or R_E of a group, block diagonal."""
        ports = self.ports(group)
        grid = [
            [a.law if a is b else zeros(a.vertex.size, b.vertex.size) for b in ports] for a in ports
        ]
        return read(grid, self.size(group), self.size(group))

    def along(self, spins: Mapping[Block, Block] | None = None) -> Tangent:
        """Rates of blocks along the motion of the posture; `spins` instead of the system's."""
        e = self.system.equations
        posture = {c.state: e.rates[c.state] for c in self.work.causal.graph.configurations}
        return Tangent({**posture, e.time: const(1.0)}, e.spins if spins is None else spins)

    def named(self, blocks: Mapping[str, Any]) -> dict[str, NamedMatrix]:
        """Every matrix that is not empty with the names of its rows and columns."""
        result = {}
        for name, value in blocks.items():
            row, column = _PLACES.get(name) or (name[1], name[2:])
            rows, columns = (
                tuple(label for port in self.ports(group) for label in labels_of(port))
                for group in (row, column)
            )
            if rows and columns:
                result[_SPELLING.get(name, name)] = NamedMatrix(rows, columns, value)
        return result


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
    for name, group in (("F1", "1"), ("F2", "2"), ("R", "L"), ("R_E", "E")):
        blocks[name] = forms.law(read, group)
    return blocks


def _rates_of_rows(forms: Forms, read: Read) -> dict[str, Any]:
    """Rates of the rows J_C1, J_C2 and J_Cu1 along the motion of the posture."""
    along = forms.along()
    return {f"JC{c}": forms.junction(read, "C", c, along) for c in ("1", "2", "u1")}


class Numbers:
    """Values of blocks at one time and state."""

    def __init__(self, start: Start, t: float, x: NDArray[np.float64]):
        self.t, self.x = t, x
        self.rate = start.rate(t, x)
        self._efforts = start.constraint_efforts(t, x)
        system = start.system
        self._inputs = {
            **system.programs.inputs,
            **{c.name: c.unknown for c in system.equations.constraints},
        }

    def __call__(self, grid: Grid, rows: int, columns: int) -> NDArray[np.float64]:
        outputs = {
            f"{i} {j}": block
            for i, row in enumerate(grid)
            for j, block in enumerate(row)
            if block.rows and block.cols
        }
        if not outputs:
            return np.zeros((rows, columns))
        program = lower(outputs, self._inputs)
        work = program.workspace.copy()
        values = np.concatenate([self.x, [self.t], self._efforts])
        work[: len(values)] = values
        evaluate(program, work)

        def value(name: str) -> NDArray[np.float64]:
            at, height, width = program.outputs[name]
            return work[at : at + height * width].reshape(height, width)

        return np.block(
            [[value(f"{i} {j}") for j in range(len(row))] for i, row in enumerate(grid)]
        )


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


def _case(T_LE: NDArray[np.float64]) -> str:
    """Which case of the paper holds."""
    if not T_LE.size:
        return ""
    values = np.linalg.svd(T_LE, compute_uv=False)
    rank = int(np.count_nonzero(values > RANK * max(values[0], 1e-300)))
    return "15" if values[0] == 0.0 else "14" if rank == len(values) else "mixed"


def _misfit(forms: Forms, numbers: Numbers, blocks: Mapping[str, Any], case: str) -> float:
    """Difference of the stores' rates by these matrices from those of the system, of the
    largest term."""
    system, work = forms.system, forms.work
    along = Tangent(
        {**system.equations.rates, system.equations.time: const(1.0)}, system.equations.spins
    )

    def column(values: Iterable[Block]) -> NDArray[np.float64]:
        grid = [[value] for value in values]
        return numbers(grid, sum(row[0].rows for row in grid), 1)[:, 0]

    X = {g: column(p.vertex.state for p in forms.ports(g) if p.vertex.state) for g in ("1", "2")}
    U1 = column(p.law for p in forms.ports("u1"))
    U2 = column(work.in_states(p.given) for p in forms.ports("u2"))
    if case == "14":
        known = blocks["TC1"] @ X["1"] + blocks["TC2"] @ X["2"] + blocks["TCu1"] @ U1
        U2 = -np.linalg.solve(blocks["T_LE"], known)
    elif case == "15":
        U1_dot = column(along(p.law) for p in forms.ports("u1"))
        known = blocks["H1"] @ X["1"] + blocks["H2"] @ X["2"] + blocks["H3"] @ U1
        U2 = -np.linalg.lstsq(blocks["H4"], known + blocks["JCu1"] @ U1_dot, rcond=1e-12)[0]
    rate = numbers.rate
    places = {s.state.leaf: slice(s.first, s.last) for s in system.slices}
    given = {"1": X["1"], "2": X["2"], "u1": U1, "u2": U2}
    worst, largest = 0.0, float(np.finfo(float).tiny)
    for g in ("1", "2"):
        terms = [blocks[f"T{g}{c}"] @ value for c, value in given.items()]
        parts = [rate[places[p.vertex.state]] for p in forms.ports(g) if p.vertex.state]
        if parts:
            worst = max(worst, float(np.abs(sum(terms) - np.concatenate(parts)).max()))
            largest = max(largest, *(float(np.abs(term).max()) for term in terms))
    return worst / largest


_PLACES = {
    "F1": ("1", "1"),
    "F2": ("2", "2"),
    "R": ("L", "L"),
    "R_E": ("E", "E"),
    "P": ("L", "L"),
    "A1": ("E", "E"),
    "T_LE": ("C", "u2"),
    "H1": ("C", "1"),
    "H2": ("C", "2"),
    "H3": ("C", "u1"),
    "H4": ("C", "u2"),
}
_SPELLING = {"TC1": "T_u1", "TC2": "T_u2", "TCu1": "T_uu"}  # as the paper has them


def labels_of(port: Port) -> tuple[str, ...]:
    """One name for each component of a port."""
    vertex = port.vertex
    name = vertex.name.removesuffix(".Sc")
    if vertex.kind == "Sc" and not name.endswith(".dependent"):
        return tuple(f"{name}.{label}" for label in vertex.labels)
    if vertex.is_store and vertex.state is not None:
        name = str(vertex.state.data)
    return component_names(name, vertex.size)
