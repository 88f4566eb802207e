"""The paper's matrices of machines of any size, written block by block.

In the notation of vector-bond-graph.txt, section III: i1, i2 are independent and dependent
stores, D those in derivative causality, L resistors, E Eulerian junction structures, u1 sources,
u2 (rows also C) constraint sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vbg.analysis.symbolic.formulas import DIGITS, LATEX, PLAIN, Formulas
from vbg.analysis.symbolic.named import named, unnamed
from vbg.analysis.symbolic.nested import named_parts
from vbg.analysis.symbolic.numbered import Numbered
from vbg.analysis.symbolic.size import written_length
from vbg.assemble.matrices.partitioned import Member, partitioned_matrices
from vbg.assemble.system import System
from vbg.blocks import Block
from vbg.plumbing.paused_collection import paused_collection

READABLE = 50_000  # symbols and numbers of all formulas, above which parts of them get names
GROUPS = {
    "1": ("X1", "stores"),
    "2": ("X2", "dependent stores"),
    "D": ("X_D", "stores in derivative causality"),
    "L": ("D", "resistors"),
    "E": ("E", "Eulerian junction structures"),
    "u1": ("U1", "sources"),
    "u2": ("U2", "constraint sources"),
}
_SYMBOLS = {
    "1": "i_1",
    "2": "i_2",
    "D": "D",
    "u1": "u_1",
    "u2": "u_2",
    "L": "L",
    "E": "E",
    "C": "C",
}


@dataclass(frozen=True, slots=True)
class WrittenMatrix:
    """`entries` (row, column, formula) of the blocks that are not zero, members by name."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class WrittenMatrices:
    """`matrices` by name, `zero` the names of those that vanish; `members` of the groups,
    values of the `sources`, `spins` that stand as symbols; `inverses`, P and A1, where their
    blocks are symbols; `parts` of long formulas, each after those that it is written by;
    `parameters` that occur, and `numbered` ones, which have no symbol."""

    case: str
    matrices: Mapping[str, WrittenMatrix]
    zero: tuple[str, ...]
    members: Mapping[str, tuple[Member, ...]]
    sources: Mapping[str, str]
    spins: Mapping[str, str]
    inverses: tuple[str, ...]
    parts: Mapping[str, str]
    parameters: Mapping[str, float]
    numbered: Numbered


@paused_collection()
def written_matrices(
    system: System, *, names: bool = True, latex: bool = False, digits: int | None = DIGITS
) -> WrittenMatrices:
    """All matrices with their blocks as formulas; with `names` numbers that come from parameters
    are written by these, others with `digits`, None for all.

    Raises UsageError where stores in derivative causality follow others by a resistor.
    """

    def roots(one: System) -> list[Block]:
        return list(partitioned_matrices(one).entries())

    numbers = named(system, roots=roots) if names else unnamed(system)
    found = partitioned_matrices(numbers.base)
    entries_of = list(found.entries())
    long = written_length(entries_of) > READABLE
    parts = named_parts(entries_of, set(system.model.parameters)) if long else {}
    words = LATEX if latex else PLAIN
    write = Formulas(numbers.constants, numbers.factors, words, digits, parts)
    matrices, zero = {}, []
    for name, grid in found.matrices.items():
        rows, columns = (
            tuple(member.name for member in found.members[group]) for group in found.places[name]
        )
        if not rows or not columns:
            continue
        texts = ((place, write(grid.blocks[place])) for place in sorted(grid.blocks))
        entries = tuple((rows[i], columns[j], text) for (i, j), text in texts if text != "0")
        if entries:
            matrices[name] = WrittenMatrix(rows, columns, entries)
        else:
            zero.append(name)
    return WrittenMatrices(
        found.case,
        matrices,
        tuple(zero),
        found.members,
        {name: write(block) for name, block in found.sources.items()},
        {str(symbol.data): write(spin) for symbol, spin in found.spins.items()},
        found.inverses,
        {name: write.definition(block) for block, name in parts.items()},
        {str(symbol): value for symbol, value in numbers.parameters.items()},
        numbers.numbered,
    )


def as_text(written: WrittenMatrices) -> str:
    """Vectors, then every matrix with one line for each block that is not zero."""
    blocks = [_vectors(written)]
    for name, matrix in written.matrices.items():
        width = [max(len(entry[k]) for entry in matrix.entries) for k in (0, 1)]
        lines = [
            f"  {row:{width[0]}}  {column:{width[1]}}  {formula}"
            for row, column, formula in matrix.entries
        ]
        blocks.append("\n".join([_spelled(name), *lines]))
    tail = []
    if written.zero:
        tail.append(f"zero: {', '.join(map(_spelled, written.zero))}")
    told = {**written.spins, **written.parts}
    tail += [f"{name} = {formula}" for name, formula in told.items()]
    if written.inverses:
        tail.append(_inverses(written))
    tail.append(", ".join(f"{n} = {v:.7g}" for n, v in written.parameters.items()))
    tail += written.numbered.remarks
    return "\n\n".join([*blocks, "\n".join(line for line in tail if line)])


def _inverses(written: WrittenMatrices) -> str:
    meanings = {
        "P": "P = (I - J_LL R)^-1",
        "A1": "A1 = (I - J_EE R_E - J_EL R P J_LE R_E)^-1",
    }
    return ", ".join(meanings[name] for name in written.inverses) + ": blocks as symbols"


def _vectors(written: WrittenMatrices) -> str:
    lines = []
    for group, (symbol, meaning) in GROUPS.items():
        members = written.members[group]
        if not members:
            continue
        lines.append(f"{symbol}: {meaning}")
        width = max(len(member.name) for member in members)
        for member in members:
            told = written.sources.get(member.name)
            said = f"= {told}" if told is not None else ", ".join(member.labels)
            lines.append(f"  {member.name:{width}}  ({member.size})  {said}".rstrip())
    return "\n".join(lines)


def _spelled(name: str) -> str:
    """J_11, T_C1, H1, F1: as `vbg show matrices --help` has them."""
    if name[0] in "JT" and "_" not in name:
        return f"{name[0]}_{name[1:]}"
    return name


def as_plain(written: WrittenMatrices) -> dict[str, Any]:
    """Everything as plain values for JSON."""
    return {
        "case": written.case,
        "groups": {
            group: [{"name": m.name, "size": m.size, "labels": list(m.labels)} for m in members]
            for group, members in written.members.items()
        },
        "blocks": {
            _spelled(name): {
                "rows": matrix.rows,
                "columns": matrix.columns,
                "entries": [list(entry) for entry in matrix.entries],
            }
            for name, matrix in written.matrices.items()
        },
        "zero": [_spelled(name) for name in written.zero],
        "sources": dict(written.sources),
        "spins": dict(written.spins),
        "parts": dict(written.parts),
        "parameters": dict(written.parameters),
        "numbered": written.numbered.names,
    }


def as_latex(written: WrittenMatrices) -> str:
    """Every matrix as an array with names at its rows and columns; rows and columns that are
    zero are left out."""
    lines = ["% Blocks of the state equations; needs amsmath."]
    values = ", ".join(f"{n} = {v:.7g}" for n, v in written.parameters.items())
    lines += [f"% {one}" for one in (values, *written.numbered.remarks) if one]
    for name, matrix in written.matrices.items():
        rows = [row for row in matrix.rows if any(e[0] == row for e in matrix.entries)]
        columns = [c for c in matrix.columns if any(e[1] == c for e in matrix.entries)]
        formulas = {(row, column): formula for row, column, formula in matrix.entries}
        body = [f"& {' & '.join(map(_text, columns))} \\\\ \\hline"]
        for row in rows:
            cells = (formulas.get((row, column), "0") for column in columns)
            body.append(f"{_text(row)} & {' & '.join(cells)} \\\\")
        lines += ["\\[", f"{_latex_name(name)} ="]
        lines.append(f"\\begin{{array}}{{c|{'c' * len(columns)}}}")
        lines += [f"  {line}" for line in body]
        lines += ["\\end{array}", "\\]"]
    for name, formula in {**written.spins, **written.parts}.items():
        lines.append(f"\\[ {_text(name)} = {formula} \\]")
    for name, formula in written.sources.items():
        lines.append(f"\\[ {_text(name)} = {formula} \\]")
    return "\n".join(lines)


def _text(name: str) -> str:
    return "\\text{" + name.replace("_", "\\_") + "}"


def _latex_name(name: str) -> str:
    """\\boldsymbol{J}_{i_1 u_2} and so on, as the paper has them."""
    dot, bare = name.endswith("'"), name.rstrip("'")
    if bare == "T_LE":
        return "\\boldsymbol{T}_{LE}"
    if "_" in bare:  # R_E, F_D, H_D, K_D
        return f"\\boldsymbol{{{bare[0]}}}_{{{bare[2:]}}}"
    letter, rest = bare[0], bare[1:]
    if letter in "JT":
        row = "u_2" if letter == "T" and rest[0] == "C" else _SYMBOLS[rest[0]]
        subscript = f"{row} {_SYMBOLS[rest[1:]]}"
    elif letter == "F":
        subscript = _SYMBOLS[rest]
    else:
        subscript = rest
    spelled = f"\\dot{{\\boldsymbol{{{letter}}}}}" if dot else f"\\boldsymbol{{{letter}}}"
    return spelled + (f"_{{{subscript}}}" if subscript else "")
