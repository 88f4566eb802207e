"""Dry friction: sticks, slips, Stribeck's curve between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import times
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.reach import one_way, reach
from vbg.physics.stiction import friction_between, friction_faults, friction_law


@dataclass(frozen=True, slots=True)
class Friction:
    """Slipping: effort against the motion = coulomb + (static - coulomb) exp(-|speed| /
    stribeck) + viscous |speed|.  Sticking: exactly no motion until the load passes `static`
    (B. Armstrong-Helouvry et al., Automatica 30, 1994, eq. 5).  Both changes are events.
    `coulomb_back`, `static_back` and `viscous_back`, if written, hold where the speed is negative.
    """

    table: ClassVar[str] = "translational"
    kind: ClassVar[str] = "friction"

    nodes: tuple[str, ...] | None = declare(
        "nodes", "one node (against frame) or two", size=0, default=None
    )
    on: str | None = declare(
        "coordinate", "free coordinate of a joint or a node, instead", default=None
    )
    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points, instead", default=None
    )
    coulomb: float = quantity("N", "dry friction while slipping", above=0.0)
    static: float | None = quantity(
        "N", "largest dry friction while sticking; default: coulomb", above=0.0, default=None
    )
    stribeck: float = quantity("m/s", "speed of the decay from static", above=0.0, default=0.01)
    viscous: float = quantity("N*s/m", "viscous part", minimum=0.0, default=0.0)
    coulomb_back: float | None = quantity(
        "N", "coulomb where the speed is negative; default: coulomb", above=0.0, default=None
    )
    static_back: float | None = quantity(
        "N",
        "static against what would move it back; default: static; without one coulomb_back",
        above=0.0,
        default=None,
    )
    viscous_back: float | None = quantity(
        "N*s/m", "viscous where the speed is negative; default: viscous", minimum=0.0, default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Connections, and a static friction below the other."""
        yield from one_way(self)
        yield from friction_faults(self)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        effort = friction_between(name, builder, where.node, where.given, friction_law(self))
        builder.output(f"{name}.force", effort, "N")
        builder.output(f"{name}.power", times(effort, builder.flow(where.node)), "W")
