"""Joints that open and close at events: latches, release mechanisms, couplings, shear pins.

While open a joint exerts nothing and its bodies go their own ways.  It closes where its frames
meet: what its directions have of relative speed then vanishes at once,

    M (v+ - v-) = G^T L,   G v+ = 0,   lost = (v+ - v-)^T M (v+ - v-) / 2,

L the impulse (perfectly plastic, F. Pfeiffer and C. Glocker, Multibody Dynamics with Unilateral
Contacts, 1996, ch. 8, with a restitution of zero).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from vbg.blocks import Block, call, const, zeros
from vbg.builder import Builder
from vbg.fields import declare

MODE = "open"


def releases() -> Any:
    """The field `release` of a joint."""
    doc = "opens where this comes true: 't > 0.3', 'rail.slide > 2.5 m'; default: never"
    return declare("condition", doc, unit="", default=None)


def engages() -> Any:
    """The field `engage`."""
    doc = "closes where this comes true, its frames having met; default: never again"
    return declare("condition", doc, unit="", default=None)


def starts() -> Any:
    """The field `open`."""
    doc = "whether it begins open; default: with engage and without release"
    return declare("flag", doc, default=None)


def opens(joint: Any) -> bool:
    """Whether the joint is not closed all the time."""
    return any(getattr(joint, key, None) is not None for key in ("release", "engage"))


def begins_open(joint: Any) -> bool:
    """Whether it is open before anything happens."""
    if not opens(joint):
        return False
    return joint.release is None if joint.open is None else bool(joint.open)


def latch_faults(joint: Any) -> Iterator[tuple[str, str, str]]:
    """Rules between these fields and the others of the joint."""
    if joint.open is not None and not opens(joint):
        what = "open says how a joint begins that has release or engage."
        yield "open", what, "Write release, or leave the joint out."
    if joint.open and joint.engage is None:
        yield "open", "this joint begins open and never closes.", "Write engage."
    if not opens(joint):
        return
    if getattr(joint, "drive", None) is not None:
        what = "a driven joint does not open: its drive would go on."
        yield "drive", what, "Drive it by a force or torque, or open another joint."
    friction = getattr(joint, "friction", None)
    if friction is not None and friction.coulomb > 0.0:
        what = "the friction of a joint that opens is viscous."
        yield "friction", what, "Leave coulomb out, or write the friction between other joints."


def holding(name: str, builder: Builder, joint: Any) -> Block | None:
    """1 while the joint is closed, 0 while it is open; None for one that never opens.

    Declares JOINT.open, the impulse and the moment that closing has cost so far, W, about its
    second point, and the energy lost.
    """
    if not opens(joint):
        return None
    release, engage = (
        const(-1.0) if given is None else builder.signal(given)
        for given in (joint.release, joint.engage)
    )
    is_open = builder.mode(
        f"{name}.{MODE}",
        lambda now: call("select", now, -engage, release),
        "",
        initial=float(begins_open(joint)),
    )
    builder.output(f"{name}.{MODE}", is_open, "1")
    for what, size, unit in (("impulse", 3, "N*s"), ("moment", 3, "N*m*s"), ("lost", 1, "J")):
        path = f"{name}.{what}"
        nothing = zeros(size)
        builder.output(path, builder.state(path, _rate(nothing), initial=nothing, unit=unit), unit)
    return const(1.0) - is_open


def _rate(value: Block) -> Callable[[Block], Block]:
    return lambda _: value
