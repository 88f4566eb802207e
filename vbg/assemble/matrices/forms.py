"""The matrices of the paper as block expressions, before they become numbers or symbols, and the
names of their rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.assemble.derive.constraints import constraints_of
from vbg.assemble.derive.derivation import Derivation, begin
from vbg.assemble.derive.differential import define_dependent_states
from vbg.assemble.derive.interconnection import Interconnection, Port, interconnection_of
from vbg.assemble.matrices.springs import stiffnesses
from vbg.assemble.system import System
from vbg.blocks import Block, Tangent, const, linear, zeros
from vbg.errors import UsageError
from vbg.plumbing.components import component_names

LAWS = (("F1", "1"), ("F2", "2"), ("F_D", "D"), ("R", "L"), ("R_E", "E"))
RECEIVERS = ("1", "2", "D", "L", "E", "C")
GIVERS = ("1", "2", "D", "L", "E", "u1", "u2")


@dataclass(frozen=True, slots=True)
class NamedMatrix:
    """`values[i, j]` belongs to `rows[i]` and `columns[j]`; numbers or symbols."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Any

    def as_plain(self) -> dict[str, Any]:
        numeric = isinstance(self.values, np.ndarray)
        shown = self.values.tolist() if numeric else [list(map(_told, r)) for r in self.table()]
        return {"rows": self.rows, "columns": self.columns, "values": shown}

    def table(self) -> list[list[Any]]:
        """The values row by row."""
        return [list(self.values[i, :]) for i in range(len(self.rows))]

    @property
    def is_zero(self) -> bool:
        return all(value == 0 for row in self.table() for value in row)


def _told(value: Any) -> str:
    return repr(float(value)) if value.is_Float else str(value)


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
        work = begin(system.causal)
        define_dependent_states(work)
        constraints_of(work)
        return cls(system, work, interconnection_of(work, stiffnesses(system, work)))

    def ports(self, group: str) -> tuple[Port, ...]:
        return self.structure.groups["u2" if group == "C" else group]

    def size(self, group: str) -> int:
        return sum(port.vertex.size for port in self.ports(group))

    @property
    def linear(self) -> bool:
        """Whether every store and resistor has a constant matrix as its law."""
        return all(p.proportional for group in ("1", "2", "D", "L") for p in self.ports(group))

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
            row, column = place_of(name)
            rows, columns = (
                self._labels(group, count)
                for group, count in zip((row, column), value.shape, strict=True)
            )
            if rows and columns:
                result[_SPELLING.get(name, name)] = NamedMatrix(rows, columns, value)
        return result

    def _labels(self, group: str, count: int) -> tuple[str, ...]:
        """Names of the components of a group; of `count` combinations of them numbers."""
        found = tuple(label for port in self.ports(group) for label in labels_of(port))
        if len(found) == count:
            return found
        return tuple(f"combination {i}" for i in range(count))

    def require_without_resistors(self, blocks: Mapping[str, Any]) -> None:
        """Raises UsageError where stores in derivative causality follow others by a resistor."""
        if any(_is_not_zero(blocks[f"JD{c}"]) for c in ("L", "E", "D", "u2")):
            names = ", ".join(port.vertex.name for port in self.ports("D"))
            raise UsageError(
                f"what stands in derivative causality ({names}) follows other stores by a resistor "
                'or a constraint; leave out causality = "derivative" in [simulate].'
            )


def _is_not_zero(matrix: Any) -> bool:
    if isinstance(matrix, np.ndarray):
        return bool(np.abs(matrix).max(initial=0.0) > 0.0)
    return not matrix.is_zero_matrix


_PLACES = {
    "F1": ("1", "1"),
    "F2": ("2", "2"),
    "F_D": ("D", "D"),
    "R": ("L", "L"),
    "R_E": ("E", "E"),
    "P": ("L", "L"),
    "A1": ("E", "E"),
    "T_LE": ("C", "u2"),
    "H1": ("C", "1"),
    "H2": ("C", "2"),
    "H3": ("C", "u1"),
    "H4": ("C", "u2"),
    "H_D": ("C", "D"),
    "Q1": ("C", "C"),
    "Q2": ("C", "C"),
    "K1": ("D", "1"),
    "K2": ("D", "2"),
    "K3": ("D", "u1"),
    "K4": ("D", "u2"),
    "K_D": ("D", "D"),
}


def place_of(name: str) -> tuple[str, str]:
    """The groups that rows and columns of a matrix belong to."""
    return _PLACES.get(name) or (name[1], name[2:].rstrip("'"))


_SPELLING = {"TC1": "T_u1", "TC2": "T_u2", "TCu1": "T_uu"}  # as the paper has them


def effort_axes(system: System) -> dict[str, str]:
    """Joints whose efforts stand in the axes of a body that moves, their first one, where the
    signals JOINT.force and JOINT.torque stand in world axes."""
    frames = system.causal.graph.placed.frames
    names = (c.name for c in system.equations.constraints)
    return {name: frames[name].first for name in names if _turns(frames, name)}


def _turns(frames: Mapping[str, Any], joint: str) -> bool:
    return joint in frames and frames[joint].first != "ground"


def labels_of(port: Port) -> tuple[str, ...]:
    """One name for each component of a port."""
    vertex = port.vertex
    name = vertex.name.removesuffix(".Sc")
    if vertex.kind == "Sc" and not name.endswith(".dependent"):
        return tuple(f"{name}.{label}" for label in vertex.labels)
    if vertex.is_store and vertex.state is not None:
        name = str(vertex.state.data)
    elif port.state is not None:
        name = f"{name.removesuffix('.C')}.displacement"
    return component_names(name, vertex.size)
