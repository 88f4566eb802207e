"""Torque on a body or on the free coordinate of a joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import dot, mul, stack, transpose
from vbg.builder import Builder
from vbg.errors import counted
from vbg.fields import Attachment, declare
from vbg.physics.axes import axes_in_body, faulty_axes


@dataclass(frozen=True, slots=True)
class Torque:
    """On a body: `torque`, three components or signals, in world axes, the body's or a frame's.
    On a joint: one component, on the second body about or along the joint's axis,
    with its opposite on the first.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "torque"

    on: Attachment | str = declare("end or coordinate", 'a body, or "joints.NAME"')
    torque: tuple[float | str, ...] = declare(
        "signals", "three components, or one on a joint", unit="N*m"
    )
    axes: str = declare(
        "choice",
        "axes of the components; of a frame where `on` is one",
        choices=("world", "body", "frame"),
        default="world",
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A wrong number of components, axes of a frame where there is none."""
        yield from faulty_axes(self.axes, self.on)
        needed = 1 if isinstance(self.on, str) else 3
        if len(self.torque) != needed:
            where = "a joint" if needed == 1 else "a body"
            yield (
                "torque",
                f"on {where} needs {counted(needed, 'component')}, found {len(self.torque)}.",
                "",
            )

    def expand(self, name: str, builder: Builder) -> None:
        components = stack(*(builder.signal(value, "N*m") for value in self.torque))
        if isinstance(self.on, str):
            node, _ = builder.coordinate(self.on)
            builder.effort_source(name, node, components)
            builder.output(f"{name}.torque", components, node.effort_unit)
            builder.output(f"{name}.power", dot(components, builder.flow(node)), "W")
            return
        body = builder.body(self.on.body)
        if body.angular is None:
            return  # a torque on the ground moves nothing
        axes = transpose(body.R_WB) if self.axes == "world" else axes_in_body(self.on)
        torque_B = components if self.axes == "body" else mul(axes, components)
        per_unit = None if self.axes == "body" else axes
        builder.effort_source(name, body.angular, torque_B, per_unit=per_unit)
        builder.output(f"{name}.torque", mul(body.R_WB, torque_B), "N*m")
        builder.output(f"{name}.power", dot(torque_B, builder.flow(body.angular)), "W")
