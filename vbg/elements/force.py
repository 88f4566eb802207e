"""Force on a point of a body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import dot, mul, stack
from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.physics.axes import axes_on, faulty_axes
from vbg.physics.relative import point_of


@dataclass(frozen=True, slots=True)
class Force:
    """`force`, three components or three signals, in world axes, the body's or a frame's."""

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "force"

    on: Attachment = declare("end", "the body and point it acts on")
    force: tuple[float | str, ...] = declare("signals", "components", unit="N", size=3)
    axes: str = declare(
        "choice",
        "axes of the components; of a frame where `on` is one",
        choices=("world", "body", "frame"),
        default="world",
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Axes of a frame where there is none."""
        yield from faulty_axes(self.axes, self.on)

    def expand(self, name: str, builder: Builder) -> None:
        body = builder.body(self.on.body)
        if body.linear is None or body.angular is None:
            return  # a force on the ground moves nothing
        components = stack(*(builder.signal(value, "N") for value in self.force))
        axes = None if self.axes == "world" else axes_on(self.axes, self.on, body)
        force_W = components if axes is None else mul(axes, components)
        point = point_of(name, builder, body, self.on.at)
        builder.effort_source(name, point, force_W, per_unit=axes)
        builder.output(f"{name}.force", force_W, "N")
        builder.output(f"{name}.power", dot(force_W, builder.flow(point)), "W")
