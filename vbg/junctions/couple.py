"""A linear relation between two free coordinates: gears, racks, belts."""

from __future__ import annotations

from collections.abc import Iterator

from vbg.blocks import const
from vbg.builder import Builder


def couple(name: str, builder: Builder, between: tuple[str, str], ratio: float) -> None:
    """(coordinate2 - start2) - ratio (coordinate1 - start1) = 0.

    speed2 and ratio * speed1 meet in a 0-junction with a constraint source; its
    effort acts with + on the second coordinate, with -ratio on the first.
    """
    node1, value1 = builder.coordinate(between[0])
    node2, value2 = builder.coordinate(between[1])
    start1, start2 = builder.start_of(value1), builder.start_of(value2)
    node = builder.zero(f"{name}.constrained", 1, "scalar", node2.domain)
    builder.bond(node, node2)
    builder.transformer(
        f"{name}.ratio", node1, node, const(ratio), toward="effort_side", inverse=const(1.0 / ratio)
    )
    effort = builder.constraint(
        name,
        node,
        labels=("coupling",),
        position=(value2 - start2) - ratio * (value1 - start1),
    )
    builder.output(f"{name}.effort", effort, node2.effort_unit)


def ratio_faults(ratio: float) -> Iterator[tuple[str, str, str]]:
    """A ratio of zero: it would hold the second coordinate and leave the first alone."""
    if ratio == 0.0:
        yield (
            "ratio",
            "the ratio must not be zero.",
            "It is speed2 per speed1.",
        )
