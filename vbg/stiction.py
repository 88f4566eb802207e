"""Dry friction that truly sticks, as bond graph with modes."""

from __future__ import annotations

from functools import partial

from vbg.blocks import Block, call, const, leaf, times
from vbg.builder import Builder, Node

MOVING = 1e-7  # a speed above this [m/s or rad/s] is one, at the start of a run


def _given(value: Block, _state: Block) -> Block:
    """A condition that does not look at the mode's own state."""
    return value


def stick_slip(name: str, builder: Builder, node: Node, *, coulomb: Block, static: Block) -> Block:
    """Dry friction on the speed of the 1-junction `node`.

    Slipping: effort `coulomb` against the motion, an R.  Sticking: a constraint source
    keeps the speed at zero with the effort that this needs; it breaks away where that
    effort would pass `static`.  Two modes, forward and backward; without either it
    sticks.  Returns the effort on the node.
    """
    grip = builder.zero(f"{name}.grip", 1, node.frame, node.domain)
    builder.bond(grip, node)
    names = (f"{name}.forward", f"{name}.backward")
    forward, backward = (leaf(mode, 1) for mode in names)
    sticks = const(1.0) - forward - backward
    held = builder.constraint(
        f"{name}.grip", grip, labels=("friction",), position=None, active=sticks
    )
    speed = builder.flow(node)
    for mode, own, sign in ((names[0], forward, 1.0), (names[1], backward, -1.0)):
        # sticking: the load is what the held effort works against
        breaks = call("max", -sign * held - static, sign * speed - const(MOVING))
        breaks = call("select", sticks, breaks, -static)
        condition = call("select", own, sign * speed, breaks)
        builder.mode(
            mode,
            partial(_given, condition),
            f"{name} sticks or slips",
            initial=max(sign, 0.0),
        )  # slipping, so that assembly keeps the written speed
    direction = forward - backward
    bond = builder.resistor(name, node, effort=lambda _: times(direction, coulomb))
    return held - builder.effort(bond)
