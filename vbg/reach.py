"""Where a one-dimensional part acts: a free coordinate or the line of two points."""

from __future__ import annotations

from dataclasses import dataclass

from vbg.blocks import Block
from vbg.builder import Builder, Node
from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.relative import line_between


@dataclass(frozen=True, slots=True)
class Reach:
    """`node`: 1-junction of the speed; `value`: coordinate or length."""

    node: Node
    value: Block
    turns: bool

    def declare(self, name: str, builder: Builder, effort: Block) -> None:
        """Signals of a part that takes `effort` from the node: what it exerts on the
        second body, and the length or coordinate it sees."""
        exerted = "torque" if self.turns else "force"
        builder.output(f"{name}.{exerted}", -effort, "N*m" if self.turns else "N")
        if not self.turns:
            builder.output(f"{name}.length", self.value, "m")


def reach(
    name: str,
    builder: Builder,
    *,
    on: str | None,
    between: tuple[Attachment, Attachment] | None,
) -> Reach:
    """Exactly one of `on` and `between` is given; UsageError otherwise."""
    if (on is None) == (between is None):
        raise UsageError(f"{name}: give either `on` or `between`, not both and not neither")
    if on is not None:
        node, value = builder.coordinate(on)
        return Reach(node, value, node.domain == "rotation")
    line = line_between(name, builder, between)
    return Reach(line.stretch, line.length, False)
