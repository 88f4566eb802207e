"""A resolved sub-model under a name: its parts, nodes and signals called NAME_..., so that
they can stand beside those of the file that includes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vbg import expressions
from vbg.fields import Attachment, Field, declared
from vbg.model.catalogue import JOINT_NODE, REFERENCE_NODES, TABLES
from vbg.model.resolve.resolved import Resolved
from vbg.model.values.reading import Scope

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Renaming:
    """The names of a sub-model as the including file sees them; `offset` [m] is where its
    world origin stands there, W."""

    prefix: str
    scope: Scope
    offset: Vector

    def part(self, name: str) -> str:
        return f"{self.prefix}_{name}"

    def node(self, table: str, name: str) -> str:
        """A node; the reference of each domain is the same everywhere."""
        if name.startswith(JOINT_NODE):
            return JOINT_NODE + self.part(name.removeprefix(JOINT_NODE))
        return name if name == REFERENCE_NODES[table] else f"{self.prefix}_{name}"

    def reference(self, text: str) -> str:
        """A part, one of its points or outputs, joints.NAME or TABLE.NODE; other names,
        such as t and energy.kinetic, stay."""
        owner, dot, rest = text.partition(".")
        if owner in REFERENCE_NODES and dot:
            node, more, quantity = rest.partition(".")
            return f"{owner}.{self.node(owner, node)}{more}{quantity}"
        if owner == "joints" and dot:
            return f"joints.{self.part(rest)}"
        known = self.scope.objects.get(owner, "")
        return f"{self.part(owner)}{dot}{rest}" if known else text

    def expression(self, text: str, variables: tuple[str, ...]) -> str:
        """A signal's name or an expression, whose own `variables` stay."""
        if text in self.scope.signals:
            return self.part(text)
        node = expressions.parse(text)
        new = {n: self.reference(n) for n in expressions.names(node) if n not in variables}
        return expressions.to_text(expressions.renamed(node, new))

    def end(self, end: Attachment) -> Attachment:
        if end.frame:
            end = replace(end, frame=self.part(end.frame))
        if end.body == "ground":
            return replace(end, at=_sum(end.at, self.offset))
        return replace(end, body=self.part(end.body))

    def value(self, field: Field, table: str, value: Any) -> Any:
        """The value of a field of a part in `table`."""
        if isinstance(value, Attachment):
            return self.end(value)
        if field.form == "group" and value is not None:
            return self.instance(value, table)
        if field.form not in _NAMING:
            return value
        if isinstance(value, Mapping):
            return {name: self.value(field, table, entry) for name, entry in value.items()}
        if isinstance(value, tuple):
            return tuple(self.value(field, table, entry) for entry in value)
        if not isinstance(value, str):
            return value
        if field.form == "nodes":
            return self.node(table, value)
        if field.form in ("coordinate", "coordinates", "end or coordinate"):
            return self.reference(value)
        return self.expression(value, field.variables)

    def instance(self, part: Any, table: str) -> Any:
        """The part, or group of a part, with what its fields name renamed."""
        fields = declared(type(part)).items()
        return replace(part, **{n: self.value(f, table, getattr(part, n)) for n, f in fields})

    def bond(self, bond: str) -> str:
        return " -> ".join(self.reference(end) for end in bond.split(" -> "))


# forms whose values name something; attachments are known by their class
_NAMING = (
    "ends",
    "end or coordinate",
    "coordinate",
    "coordinates",
    "nodes",
    "signal",
    "signals",
    "wires",
    "condition",
    "expression",
    "expressions",
)


def grafted(sub: Resolved, prefix: str, offset: Vector) -> Resolved:
    """`sub` with every name prefixed and its world moved by `offset`."""
    new = Renaming(prefix, sub.scope, offset)
    parts = {
        table: {new.part(n): new.instance(p, table) for n, p in sub.parts.get(table, {}).items()}
        for table in TABLES
    }
    parts["bodies"] = {n: _moved(body, offset) for n, body in parts["bodies"].items()}
    return Resolved(
        parts=parts,
        bonds=tuple(map(new.bond, sub.bonds)),
        scope=_renamed_scope(new),
        ports={port: new.reference(target) for port, target in sub.ports.items()},
        balanced=tuple(map(new.reference, sub.balanced)),
        homes={(table, new.part(str(name))): h for (table, name), h in sub.homes.items()},
    )


def _moved(body: Any, offset: Vector) -> Any:
    """The body elsewhere, unless joints place it."""
    if body.position is None:
        return body
    return replace(body, position=_sum(body.position, offset))


def _sum(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def _renamed_scope(new: Renaming) -> Scope:
    scope = new.scope
    return Scope(
        points={new.part(name): points for name, points in scope.points.items()},
        origins={new.part(name): origin for name, origin in scope.origins.items()},
        joints={new.part(name): joint for name, joint in scope.joints.items()},
        signals=tuple(map(new.part, scope.signals)),
        objects={new.part(name) if table else name: table for name, table in scope.objects.items()},
        nodes=_renamed_nodes(new, scope.nodes),
        terminals=_renamed_nodes(new, scope.terminals),
        beams={
            new.part(name): {node: new.end(end) for node, end in nodes.items()}
            for name, nodes in scope.beams.items()
        },
        frames={
            new.part(name): None if end is None else new.end(end)
            for name, end in scope.frames.items()
        },
    )


def _renamed_nodes(new: Renaming, nodes: Mapping[str, Any]) -> dict[str, Any]:
    return {table: tuple(new.node(table, n) for n in names) for table, names in nodes.items()}
