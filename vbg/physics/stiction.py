"""Dry friction that truly sticks, as bond graph with modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import Block, call, const, leaf, times, zeros
from vbg.builder import Builder, Node

ROUNDINGS = 4.0 * np.finfo(float).eps  # of the terms of a sum: a smaller one has no sign
FADED = 36.0  # Stribeck speeds beyond which nothing is left of the fall from static: exp(-36)
UNABLE = 1e-30  # what a friction that can hold nothing stays below zero by [N or N*m]
RESTING = 1e-11  # of the fastest that a friction was: a speed below is none where it ceases to slip

Array = NDArray[np.float64]
Both = tuple[Block, Block]  # of the way forward and of that back


@dataclass(frozen=True, slots=True)
class Way:
    """Friction of one direction of motion.  [N, N, N*s/m] or [N*m, N*m, N*m*s/rad]."""

    coulomb: float
    static: float
    viscous: float

    def slipping(self, speed: Block, stribeck: float) -> Block:
        """Size of the dry part."""
        extra = self.static - self.coulomb
        if extra <= 0.0:
            return const(self.coulomb)
        decay = call("exp", (-1.0 / stribeck) * call("abs", speed))
        return const(self.coulomb) + extra * decay


@dataclass(frozen=True, slots=True)
class DryFriction:
    """coulomb + (static - coulomb) exp(-|speed| / stribeck) + viscous |speed| against the motion
    (B. Armstrong-Helouvry et al., Automatica 30, 1994, eq. 5), of each direction its own; at rest,
    what holds the load, up to the static one of where it would go.  stribeck [m/s or rad/s]."""

    forward: Way
    back: Way
    stribeck: float

    def slipping(self, speed: Block) -> Both:
        """Sizes of the dry part, one and the same block where both ways are."""
        forward, back = self.forward, self.back
        ahead = forward.slipping(speed, self.stribeck)
        if (forward.coulomb, forward.static) == (back.coulomb, back.static):
            return ahead, ahead
        return ahead, back.slipping(speed, self.stribeck)


def friction_law(part: Any) -> DryFriction:
    """Of what a joint, a shaft or a slide has written: a friction at rest holds both ways, whatever
    is written of slipping, unless `static_back` has one of the way back."""
    forward = Way(part.coulomb, part.coulomb if part.static is None else part.static, part.viscous)
    coulomb = part.coulomb if part.coulomb_back is None else part.coulomb_back
    same = coulomb if part.static is None else part.static
    static = same if part.static_back is None else part.static_back
    viscous = part.viscous if part.viscous_back is None else part.viscous_back
    return DryFriction(forward, Way(coulomb, static, viscous), part.stribeck)


def friction_faults(part: Any) -> Iterator[tuple[str, str, str]]:
    """A friction at rest below that of moving, of either direction."""
    law = friction_law(part)
    for way, key in ((law.forward, ""), (law.back, "_back")):
        if way.static >= way.coulomb:
            continue
        held = "static" if getattr(part, f"static{key}") is None else f"static{key}"
        what = f"{held} {way.static:g} is below coulomb{key} {way.coulomb:g}."
        remedy = "Sticking needs at least the friction of slipping"
        if held != f"static{key}":
            remedy += f", the way back, too: write static_back, {way.coulomb:g} or more"
        yield held, what, f"{remedy}."


def dry_friction(name: str, builder: Builder, node: Node, law: DryFriction) -> Block:
    """Friction that sticks on the speed of the 1-junction `node`; returns the effort on it."""
    coulomb = law.slipping(builder.flow(node))
    static = const(law.forward.static), const(law.back.static)
    effort = stick_slip(name, builder, node, coulomb=coulomb, static=static)
    _bends(name, builder, node, law)
    return effort + _viscous(name, builder, node, law)


def friction_between(
    name: str, builder: Builder, node: Node, given: Sequence[Block], law: DryFriction
) -> Block:
    """The same, on a speed that is the sum of those `given` where drives or sources prescribe it.
    Returns the effort on the node."""
    if not given:
        return dry_friction(name, builder, node, law)
    dry = imposed(name, builder, node, given, law.slipping(builder.flow(node)))
    _bends(name, builder, node, law)
    return dry + _viscous(name, builder, node, law)


def _bends(name: str, builder: Builder, node: Node, law: DryFriction) -> None:
    """Ends steps where what slows down begins to feel the static friction: within a few stribeck
    before zero, between two stages of a long step."""
    speed, fades = builder.flow(node), const(FADED * law.stribeck)
    if law.forward.static > law.forward.coulomb:
        builder.event(f"{name}.bend", speed - fades, "")
    if law.back.static > law.back.coulomb:
        builder.event(f"{name}.bend back", speed + fades, "")


def imposed(
    name: str, builder: Builder, node: Node, given: Sequence[Block], coulomb: Both
) -> Block:
    """Friction of the sizes `coulomb`, forward and back, on a speed that is prescribed, the sum of
    those `given`: it cannot stick, for what prescribes the speed holds the load; its effort jumps
    where the speed changes its sign, which is an event, and is none at rest.  The direction is that
    of what is given, not of the bodies' speed, which has rounding; a sum has that of its terms.
    Returns the effort on the node."""
    speed = sum_of(given)
    builder.event(f"{name}.reversal", speed, f"{name} reverses")
    size = coulomb[0] if coulomb[0] is coulomb[1] else call("select", speed, *coulomb)
    moves = call("sign", speed)
    if len(given) > 1:
        rounding = ROUNDINGS * sum_of([call("abs", one) for one in given])
        moves = times(call("sign", call("max", call("abs", speed) - rounding, const(0.0))), moves)
    effort = times(moves, size)
    bond = builder.resistor(name, node, effort=lambda _: effort)
    return -builder.effort(bond)


def _viscous(name: str, builder: Builder, node: Node, law: DryFriction) -> Block:
    forward, back = law.forward.viscous, law.back.viscous
    if forward == back == 0.0:
        return zeros(1)

    def effort(speed: Block) -> Block:
        if forward == back:
            return forward * speed
        return times(call("select", speed, const(forward), const(back)), speed)

    return -builder.effort(builder.resistor(f"{name}.viscous", node, effort=effort))


def most_held(condition: Array) -> Array:
    """What friction can hold that slips the one way, from the other one's condition."""
    return np.maximum(-condition - UNABLE, 0.0)


def _given(value: Block, _state: Block) -> Block:
    """A condition that does not look at the mode's own state."""
    return value


def stick_slip(name: str, builder: Builder, node: Node, *, coulomb: Both, static: Both) -> Block:
    """Dry friction on the speed of the 1-junction `node`; `coulomb` and `static` are those of the
    way forward and of that back [N or N*m].

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
    ways = (names[0], forward, 1.0, static[0]), (names[1], backward, -1.0, static[1])
    for mode, own, sign, most in ways:
        # sticking: the load is what the held effort works against; which speeds are none is
        # a question of the run (vbg.simulate.events.gripping)
        breaks = -sign * held - most
        able = call("max", most, const(0.0)) + const(UNABLE)
        breaks = call("select", sticks, breaks, -able)
        condition = call("select", own, sign * speed, breaks)
        builder.mode(
            mode,
            partial(_given, condition),
            f"{name} sticks or slips",
            initial=max(sign, 0.0),
            rest=RESTING,
        )  # slipping, so that assembly keeps the written speed
    effort = times(forward - backward, coulomb[0])
    if coulomb[0] is not coulomb[1]:
        effort = times(forward, coulomb[0]) - times(backward, coulomb[1])
    bond = builder.resistor(name, node, effort=lambda _: effort)
    return held - builder.effort(bond)


def sum_of(terms: Sequence[Block]) -> Block:
    """At least one."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
