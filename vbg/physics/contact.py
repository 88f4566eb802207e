"""Unilateral contact of one coordinate, as bond graph."""

from __future__ import annotations

from vbg.blocks import Block, call, times
from vbg.builder import Builder, Node


def contact(
    name: str, builder: Builder, node: Node, depth: Block, k: float, c: float, *, sign: float
) -> Block:
    """A stop that is touched where `depth` > 0, with depth' = sign * flow of node.

    Effort taken from the node: sign * max(0, k depth + c depth').  The spring part
    is a C with energy k/2 max(0, depth)^2; the damper part an R with effort
    max(c depth', -k depth) while touching, so the sum never pulls and the R never
    gives power.  Returns the effort on the node's second body.
    """
    touching = builder.mode(f"{name}.touching", lambda _: depth, "")
    inside = times(touching, depth)
    spring = builder.potential(
        f"{name}.spring",
        node,
        effort=sign * k * inside,
        energy=0.5 * k * times(inside, inside),
    )
    if c == 0.0:
        return -builder.effort(spring)
    damper = builder.resistor(
        f"{name}.damper",
        node,
        effort=lambda flow: times(touching, sign * call("max", sign * c * flow, -k * inside)),
    )
    return -builder.effort(spring) - builder.effort(damper)
