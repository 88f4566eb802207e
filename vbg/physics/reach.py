"""Where a one-dimensional part acts: a free coordinate or the line of two points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vbg.blocks import Block
from vbg.builder import Builder, Domain, Node
from vbg.errors import ModelError, Problem
from vbg.physics.relative import line_between

WAYS = ("nodes", "on", "between")


@dataclass(frozen=True, slots=True)
class Reach:
    """`node`: 1-junction of the speed; `value`: coordinate or length; `given`: the speed where
    drives or sources give it, so that nothing can stick there, as a sum of those."""

    node: Node
    value: Block
    turns: bool
    given: tuple[Block, ...] = ()

    def declare(self, name: str, builder: Builder, effort: Block) -> None:
        """Signals of a part that takes `effort` from the node: what it exerts on the
        second body, and the length or coordinate it sees."""
        exerted = "torque" if self.turns else "force"
        builder.output(f"{name}.{exerted}", -effort, "N*m" if self.turns else "N")
        if not self.turns:
            builder.output(f"{name}.length", self.value, "m")


def reach(name: str, builder: Builder, part: Any, ways: Sequence[str] = WAYS) -> Reach:
    """Where `part` acts, by whichever of `ways` it has given.

    Raises ModelError unless it is exactly one (a check of the file says so earlier, see
    `one_way`).
    """
    given = {way: getattr(part, way) for way in ways if getattr(part, way, None) is not None}
    if len(given) != 1:
        what = f"it acts in {len(given)} ways: give exactly one of {', '.join(ways)}."
        raise ModelError.of([Problem("error", name, what, "Write one, leave out the others.")])
    if "nodes" in given:
        return _between_nodes(name, builder, part.table, part.nodes)
    if "on" in given:
        node, value = builder.coordinate(part.on)
        speed = builder.given_speed(part.on)
        return Reach(node, value, node.domain == "rotation", () if speed is None else (speed,))
    line = line_between(name, builder, part.between)
    return Reach(line.stretch, line.length, False)


def _between_nodes(name: str, builder: Builder, table: str, nodes: tuple[str, ...]) -> Reach:
    """The speed of the last node against the first, or against the frame."""
    turns = table == "rotational"
    ends = [node for node in nodes if builder.terminal(table, node) is not None]
    speeds = [builder.given_speed(f"{table}.{node}") for node in ends]
    known = [speed for speed in speeds if speed is not None]
    given = tuple(known) if len(known) == len(ends) else ()
    if len(ends) == 1:
        node, value = builder.coordinate(f"{table}.{ends[0]}")
        if nodes[-1] == ends[0]:
            return Reach(node, value, turns, given)
        ends = [ends[0]]  # the frame is second: the difference has the other sign
    domain: Domain = "rotation" if turns else "translation"
    junction = builder.zero(f"{name}.difference", 1, "scalar", domain)
    line = builder.one(f"{name}.line", 1, "scalar", domain)
    builder.bond(junction, line)
    first, value1 = builder.coordinate(f"{table}.{ends[0]}")
    builder.bond(junction, first)
    if len(ends) == 1:
        return Reach(line, -value1, turns, tuple(-speed for speed in given))
    second, value2 = builder.coordinate(f"{table}.{ends[1]}")
    builder.bond(second, junction)
    return Reach(line, value2 - value1, turns, (given[1], -given[0]) if given else ())


def one_way(part: Any) -> Iterator[tuple[str, str, str]]:
    """The fault of a part that is not connected in exactly one of its ways."""
    ways = [way for way in WAYS if hasattr(part, way)]
    given = [way for way in ways if getattr(part, way) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        yield "", f"needs exactly one of {', '.join(ways)}; found {found}.", ""
    elif given == ["nodes"] and len(part.nodes) > 2:
        what = f"one or two nodes are needed, found {len(part.nodes)}."
        yield "nodes", what, "Name the two that it stands between, or the one that it holds."
    elif given == ["nodes"] and set(part.nodes) == {"frame"}:
        yield "nodes", "only the frame is named.", "Name a node that can move."
