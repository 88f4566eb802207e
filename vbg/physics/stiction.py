"""Dry friction that truly sticks, as bond graph with modes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from vbg.blocks import Block, call, const, leaf, times, zeros
from vbg.builder import Builder, Node

MOVING = 1e-7  # a speed above this [m/s or rad/s] is one, at the start of a run
RESTING = 1e-11  # a speed below this is none, where something begins or ceases to stick


@dataclass(frozen=True, slots=True)
class DryFriction:
    """coulomb + (static - coulomb) exp(-|speed| / stribeck) + viscous |speed| against the motion
    (B. Armstrong-Helouvry et al., Automatica 30, 1994, eq. 5); at rest, what holds the load, up
    to static.  [N, m/s, N*s/m] or [N*m, rad/s, N*m*s/rad]."""

    coulomb: float
    static: float | None
    stribeck: float
    viscous: float

    @property
    def break_away(self) -> float:
        """static, by default coulomb."""
        return self.coulomb if self.static is None else self.static

    def slipping(self, speed: Block) -> Block:
        """Size of the dry part."""
        extra = self.break_away - self.coulomb
        if extra <= 0.0:
            return const(self.coulomb)
        decay = call("exp", (-1.0 / self.stribeck) * call("abs", speed))
        return const(self.coulomb) + extra * decay


def dry_friction(name: str, builder: Builder, node: Node, law: DryFriction) -> Block:
    """Friction that sticks on the speed of the 1-junction `node`; returns the effort on it."""
    coulomb = law.slipping(builder.flow(node))
    effort = stick_slip(name, builder, node, coulomb=coulomb, static=const(law.break_away))
    return effort + _viscous(name, builder, node, law)


def imposed_friction(name: str, builder: Builder, node: Node, law: DryFriction) -> Block:
    """The same on a speed that drives or sources prescribe.  Returns the effort on the node."""
    dry = imposed(name, builder, node, law.slipping(builder.flow(node)))
    return dry + _viscous(name, builder, node, law)


def imposed(name: str, builder: Builder, node: Node, coulomb: Block) -> Block:
    """Friction of the size `coulomb` on a speed that is prescribed: it cannot stick, for what
    prescribes the speed holds the load; its effort jumps where the speed changes its sign, which
    is an event, and is none at rest (a speed of rounding alone has no direction).  Returns
    the effort on the node."""
    speed = builder.flow(node)
    builder.event(f"{name}.reversal", speed, f"{name} reverses")
    moves = call("sign", call("max", call("abs", speed) - const(RESTING), const(0.0)))
    effort = times(times(moves, call("sign", speed)), coulomb)
    bond = builder.resistor(name, node, effort=lambda _: effort)
    return -builder.effort(bond)


def _viscous(name: str, builder: Builder, node: Node, law: DryFriction) -> Block:
    if law.viscous == 0.0:
        return zeros(1)
    bond = builder.resistor(f"{name}.viscous", node, effort=lambda speed: law.viscous * speed)
    return -builder.effort(bond)


def _given(value: Block, _state: Block) -> Block:
    """A condition that does not look at the mode's own state."""
    return value


def stick_slip(name: str, builder: Builder, node: Node, *, coulomb: Block, static: Block) -> Block:
    """Dry friction on the speed of the 1-junction `node`.

    Slipping: effort `coulomb` against the motion, an R.  Sticking: a constraint source
    keeps the speed at zero with the effort that this needs; it breaks away where that
    effort would pass `static`.  Two modes, forward and backward; without either it
    sticks.  Where several of them stop at once (the hinges of a linkage) all stick first
    and then those break away whose share of the load is too large: which share each has is
    not unique, but that the whole holds is.  Returns the effort on the node.
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
        breaks = call("select", sticks, breaks, -static - const(1.0))
        condition = call("select", own, sign * speed, breaks)
        builder.mode(
            mode,
            partial(_given, condition),
            f"{name} sticks or slips",
            initial=max(sign, 0.0),
            rest=RESTING,
        )  # slipping, so that assembly keeps the written speed
    direction = forward - backward
    bond = builder.resistor(name, node, effort=lambda _: times(direction, coulomb))
    return held - builder.effort(bond)
