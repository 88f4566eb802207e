"""The paper's matrices as matrices of blocks, for machines of any size.

Nothing is multiplied out: an entry belongs to two vector bonds and is a short product of
orientations, levers and inertias, as the paper prints it (section III, eq. 5-15).  Other than in
`vbg.assemble.matrices.matrices` the constraint source of a joint is shown by its separate
vectors, force and torque.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product

from vbg.assemble.derive.interconnection import Port
from vbg.assemble.matrices.forms import GIVERS, LAWS, RECEIVERS, Forms, labels_of, place_of
from vbg.assemble.matrices.unified import (
    constraint_matrices,
    reaction_matrices,
    transfer_matrices,
)
from vbg.assemble.system import System
from vbg.blocks import (
    Block,
    identity,
    is_identity,
    leaf,
    linear,
    mul,
    rows,
    stack,
    transpose,
    zeros,
)
from vbg.plumbing.components import vector_of

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """A matrix of blocks: `heights` of its rows, `widths` of its columns, and by (row, column)
    the blocks that are not zero."""

    heights: Sizes
    widths: Sizes
    blocks: Mapping[tuple[int, int], Block]

    @property
    def shape(self) -> tuple[Sizes, Sizes]:
        """Its partitions, in the place of numbers of rows and columns."""
        return self.heights, self.widths

    @property
    def is_zero_matrix(self) -> bool:
        """Whether no block is there."""
        return not self.blocks

    def __matmul__(self, other: Grid) -> Grid:
        found: dict[tuple[int, int], Block] = {}
        for (i, k), a in self.blocks.items():
            for (l, j), b in other.blocks.items():
                if k == l:
                    before = [(1.0, found[i, j])] if (i, j) in found else []
                    found[i, j] = linear(*before, (1.0, mul(a, b)))
        return _grid(self.heights, other.widths, found)

    def __add__(self, other: Grid) -> Grid:
        return self._plus(1.0, other)

    def __sub__(self, other: Grid) -> Grid:
        return self._plus(-1.0, other)

    def _plus(self, sign: float, other: Grid) -> Grid:
        found = dict(self.blocks)
        for place, block in other.blocks.items():
            terms = [(sign, block)]
            if place in found:
                terms.insert(0, (1.0, found[place]))
            found[place] = linear(*terms)
        return _grid(self.heights, self.widths, found)


def _grid(heights: Sizes, widths: Sizes, blocks: Mapping[tuple[int, int], Block]) -> Grid:
    return Grid(heights, widths, {place: b for place, b in blocks.items() if not b.is_zero})


@dataclass(frozen=True, slots=True)
class Member:
    """A row or column of blocks: a vector of `size` named `name`; `labels` of its components
    where it is a part of a constraint source."""

    name: str
    size: int
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartitionedMatrices:
    """`matrices` by their names in the paper, the `members` of the groups "1", "2", "D", "L",
    "E", "u1", "u2" that their rows and columns belong to, the values of the `sources` and the
    `case`; `inverses` are P and A1 where they are no identities: their blocks stand as symbols.
    `spins` are the angular velocities that stand as symbols in the rates of the rows."""

    matrices: Mapping[str, Grid]
    places: Mapping[str, tuple[str, str]]
    members: Mapping[str, tuple[Member, ...]]
    sources: Mapping[str, Block]
    inverses: tuple[str, ...]
    case: str
    spins: Mapping[Block, Block]

    def entries(self) -> Iterator[Block]:
        """All blocks, in a fixed order."""
        for grid in self.matrices.values():
            for place in sorted(grid.blocks):
                yield grid.blocks[place]
        yield from self.sources.values()
        yield from self.spins.values()


@dataclass(frozen=True, slots=True)
class _Part:
    """Components first to last - 1 of a port."""

    port: Port
    first: int
    last: int
    member: Member
    law: Block


def partitioned_matrices(system: System) -> PartitionedMatrices:
    """J, F, R, R_E, T, in case (15) and of rows that are like it H, and K of stores in derivative
    causality, as matrices of blocks.

    Raises UsageError where such stores follow others by a resistor.
    """
    forms = Forms.of(system)
    parts = _parts(forms)
    given = {
        f"J{row}{column}": _junction(forms, parts, row, column, lambda block: block)
        for row, column in product(RECEIVERS, GIVERS)
    }
    for name, group in LAWS:
        sizes = _sizes(parts[group])
        laws = {(i, i): part.law for i, part in enumerate(parts[group])}
        given[name] = _grid(sizes, sizes, laws)
    inverses: list[str] = []
    names = iter(("P", "A1"))

    def inverse(matrix: Grid) -> Grid:
        return _inverse(matrix, next(names), inverses)

    found = given | transfer_matrices(given, _identity, inverse)
    vanishing = _vanishing_rows(found)
    case = _case(found["T_LE"], vanishing)
    spins: dict[Block, Block] = {}
    if vanishing:
        along = forms.along(_symbols(system.equations.spins, spins))
        rates = _rates(forms, parts, "C", along, found)
        own = {name: _only(found[name], vanishing) for name in ("JC1", "JC2")}
        rates = {name: _only(rate, vanishing) for name, rate in rates.items()}
        found |= constraint_matrices(found | own, rates)
    if forms.size("D"):
        forms.require_without_resistors(found)
        along = forms.along(_symbols(system.equations.spins, spins))
        found |= reaction_matrices(found, _rates(forms, parts, "D", along, found))
    members = {group: tuple(part.member for part in those) for group, those in parts.items()}
    places = {name: _place(name) for name in found}
    sources = {part.member.name: part.port.law for part in parts["u1"]}
    return PartitionedMatrices(found, places, members, sources, tuple(inverses), case, spins)


def _rates(
    forms: Forms,
    parts: Mapping[str, Sequence[_Part]],
    row: str,
    along: Callable[[Block], Block],
    found: dict[str, Grid],
) -> dict[str, Grid]:
    """Rates of the rows J_C1, J_C2, J_Cu1 (or of D), which are `found`, too, as J_C1'."""
    made = {f"J{row}{c}": _junction(forms, parts, row, c, along) for c in ("1", "2", "u1")}
    found |= {f"{name}'": rate for name, rate in made.items()}
    return made


def _symbols(given: Mapping[Block, Block], spins: dict[Block, Block]) -> dict[Block, Block]:
    """A symbol of its own for every angular velocity, w_BODY; `spins` says what it stands for."""
    found = {}
    for quaternion, spin in given.items():
        symbol = spin
        if not spin.is_const and spin.op != "leaf":
            body = str(next(iter((*quaternion.args, quaternion))).data).rpartition(".")[0]
            symbol = leaf(f"w_{body}", 3)
            spins[symbol] = spin
        found[quaternion] = symbol
    return found


def _place(name: str) -> tuple[str, str]:
    """The groups of rows and columns of a matrix; C is named u2, whose sources they belong to."""
    row, column = place_of(name)
    return ("u2" if row == "C" else row), ("u2" if column == "C" else column)


def _parts(forms: Forms) -> dict[str, list[_Part]]:
    found: dict[str, list[_Part]] = {group: [] for group in GIVERS}
    for group in GIVERS:
        for port in forms.ports(group):
            found[group] += _split(port)
    return found


def _split(port: Port) -> Iterator[_Part]:
    """A port as it is; that of a constraint source by force, torque and what else it has."""
    vertex = port.vertex
    labels = labels_of(port)
    if vertex.kind != "Sc" or not vertex.labels:
        name = vector_of(labels[0]) if vertex.size > 1 else labels[0]
        yield _Part(port, 0, vertex.size, Member(name, vertex.size), port.law)
        return
    joint = vertex.name.removesuffix(".Sc")
    first = 0
    for word, own in groupby(vertex.labels, key=_kind_of_effort):
        those = tuple(own)
        last = first + len(those)
        name = f"{joint}.{word}" if word else joint
        yield _Part(port, first, last, Member(name, len(those), those), port.law)
        first = last


def _kind_of_effort(label: str) -> str:
    """force, torque, drive, ...; of what ties a dependent store nothing."""
    return "" if label.startswith("dependent store") else label.partition(".")[0]


def _sizes(parts: Sequence[_Part]) -> Sizes:
    return tuple(part.member.size for part in parts)


def _junction(
    forms: Forms,
    parts: Mapping[str, Sequence[_Part]],
    row: str,
    column: str,
    of: Callable[[Block], Block],
) -> Grid:
    """J_12 and so on; the rows of C with the sign of the constraint's flow."""
    receivers, givers = parts["u2" if row == "C" else row], parts[column]
    sign = -1.0 if row == "C" else 1.0
    blocks = {}
    for (i, a), (j, b) in product(enumerate(receivers), enumerate(givers)):
        block = forms.structure.block(a.port, b.port)
        if block.rows and block.cols and not block.is_zero:
            cut = _columns(_rows(of(block), a.first, a.last), b.first, b.last)
            blocks[i, j] = linear((sign, cut))
    return _grid(_sizes(receivers), _sizes(givers), blocks)


def _rows(block: Block, first: int, last: int) -> Block:
    """Some rows, cut from the first factor of a product."""
    if (first, last) == (0, block.rows):
        return block
    if block.op in ("product", "mul"):
        head, *tail = block.args
        result = tail[-1]
        for factor in reversed(tail[:-1]):
            result = mul(factor, result)
        return mul(_rows(head, first, last), result)
    if block.op == "sum":
        return linear(*((f, _rows(a, first, last)) for f, a in zip(block.data, block.args)))
    return rows(block, first, last)


def _columns(block: Block, first: int, last: int) -> Block:
    """Some columns, cut from the last factor of a product."""
    if (first, last) == (0, block.cols):
        return block
    if block.op == "sum":
        return linear(*((f, _columns(a, first, last)) for f, a in zip(block.data, block.args)))
    if block.op in ("product", "mul"):
        result = _columns(block.args[-1], first, last)
        for factor in reversed(block.args[:-1]):
            result = mul(factor, result)
        return result
    if block.op == "stack":
        return stack(*(_columns(part, first, last) for part in block.args))
    return transpose(_rows(transpose(block), first, last))


def _identity(sizes: Sizes) -> Grid:
    return Grid(sizes, sizes, {(i, i): identity(size) for i, size in enumerate(sizes)})


def _inverse(matrix: Grid, name: str, inverses: list[str]) -> Grid:
    """Of an identity itself; of others symbols for its blocks."""
    diagonal = all(
        (i == j) and is_identity(block) for (i, j), block in matrix.blocks.items()
    ) and len(matrix.blocks) == len(matrix.heights)
    if diagonal:
        return matrix
    inverses.append(name)
    symbols = {
        (i, j): leaf(f"{name}[{i + 1},{j + 1}]", height, width)
        for (i, height), (j, width) in product(enumerate(matrix.heights), enumerate(matrix.widths))
    }
    return Grid(matrix.heights, matrix.widths, symbols)


def _vanishing_rows(found: Mapping[str, Grid]) -> frozenset[int]:
    """Rows of constraint sources that give no effort, for those of T_LE vanish, and pass through no
    resistor: they are differentiated."""
    through = [found["JCL"] @ found["R"], found["JCE"] @ found["R_E"], found["T_LE"]]
    passing = {i for grid in through for i, _ in grid.blocks}
    return frozenset(range(len(found["T_LE"].heights))) - passing


def _only(grid: Grid, rows: frozenset[int]) -> Grid:
    """The grid with some of its rows, the others zero."""
    kept = {place: block for place, block in grid.blocks.items() if place[0] in rows}
    return Grid(grid.heights, grid.widths, kept)


def _case(T_LE: Grid, vanishing: frozenset[int]) -> str:
    """ "mixed rows" where some block rows vanish, "14 or mixed" where none does."""
    if not T_LE.heights:
        return ""
    if not T_LE.blocks:
        return "15"
    return "mixed rows" if vanishing else "14 or mixed"


def dense(grid: Grid) -> Block:
    """All of it as one block."""
    lines = []
    for i, height in enumerate(grid.heights):
        parts = [
            transpose(grid.blocks.get((i, j), zeros(height, width)))
            for j, width in enumerate(grid.widths)
        ]
        lines.append(transpose(stack(*parts)))
    return stack(*lines)
