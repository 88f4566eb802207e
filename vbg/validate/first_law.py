"""Whose law differs first, by the channels that begin to differ together.

An effort that differs makes others differ at the same instant: what gears pass on and speed sources
need follows from the laws of other parts, and so do a source or signal that reads an output.  Named
are the laws that remain when these are left out; if none does, all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from vbg.errors import VbgError
from vbg.expressions import names, parse
from vbg.model import Model
from vbg.validate.comparison.values import Channel

_MOTIONS = ("m", "m/s", "rad", "rad/s")
_TABLES = ("forces", "electric", "hydraulic", "rotational", "translational", "bondgraph")
_EFFECTS = ("friction", "stop")  # of joints
_PASSING = ("gear", "belt", "ball_screw", "speed", "0", "1", "TF", "GY")
SHOWN = 4


def first_law(model: Model, first: Sequence[Channel], *, at_start: bool = True) -> str:
    """Whose law differs where motions still agree; `first` are the channels that begin, in the
    first row or behind rows that agree."""
    laws = dict.fromkeys(law for c in first if (law := _law_of(model, c)))
    moved = [c for c in first if _is_motion(model, c)]
    if moved and not at_start:
        listed = ", ".join(_causes(model, list(laws))[:SHOWN])
        among = f"among those of {listed}" if laws else "that of an inertia, of gravity or a joint"
        return (
            f"Motions differ in the same row, first {moved[0].name}: a law has moved them since the"
            f" row before, {among}. A shorter --output-step tells whose differs first."
        )
    if moved:
        return f"Motions differ from there on, first {moved[0].name}: the start, or a speed given."
    if laws:
        listed = ", ".join(_causes(model, list(laws))[:SHOWN])
        return f"Motions still agree there: the law of {listed} is the first that differs."
    energies = [c.name for c in first if c.name.startswith("energy.")]
    if len(energies) == len(first):
        return f"Motions still agree there: what is counted as {', '.join(energies)} differs."
    return (
        "Motions and the efforts of all parts still agree there: inertia, gravity or the equations"
        " of the joints differ."
    )


def _is_motion(model: Model, channel: Channel) -> bool:
    """Whether a channel is a place, a speed or a state; rotations and raw states have no unit."""
    if channel.unit != "1":
        return channel.unit in _MOTIONS
    name = channel.name.partition("[")[0]
    owner, _, word = name.rpartition(".")
    return word in ("displacement", "momentum") or (
        name not in model.signals and owner not in model.bondgraph
    )


def _law_of(model: Model, channel: Channel) -> str:
    """The part, the effect of a joint or the signal whose law a channel is, empty for none."""
    name = channel.name.partition("[")[0]
    owner, _, word = name.rpartition(".")
    if name in model.signals:
        return f"signals.{name}"
    if owner in model.joints and word in _EFFECTS:
        return f"joints.{owner}.{word}"
    return next((f"{table}.{owner}" for table in _TABLES if owner in getattr(model, table)), "")


def _causes(model: Model, laws: list[str]) -> list[str]:
    """The laws without those that only follow from other ones of them."""
    own = [law for law in laws if getattr(_part(model, law), "kind", "") not in _PASSING]
    read = {law: set(_reads(model, _part(model, law))) for law in own}
    causes = [
        law for law in own if not {_owner(other) for other in own if other != law} & read[law]
    ]
    return causes or own or laws


def _part(model: Model, law: str) -> Any:
    """The part of a law; None for the effect of a joint."""
    table, name = law.split(".")[:2]
    return None if table == "joints" else getattr(model, table)[name]


def _owner(law: str) -> str:
    """What an expression calls the owner of a law."""
    return law.split(".")[1]


def _reads(model: Model, part: Any) -> Iterator[str]:
    """Owners of the outputs that the fields of a part read, through all signals."""
    stack: list[Any] = [part]
    seen: set[str] = set()
    while stack:
        for text in _texts(stack.pop()):
            for name in _mentioned(text) - seen:
                seen.add(name)
                yield name.partition(".")[0]
                if name in model.signals:
                    stack.append(model.signals[name])


def _texts(part: Any) -> Iterator[str]:
    """Texts among the fields of a part."""
    for field in fields(part) if part is not None else ():
        value = getattr(part, field.name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, str):
                yield one


def _mentioned(text: str) -> set[str]:
    """The names in a text that is an expression."""
    try:
        return set(names(parse(text)))
    except VbgError:
        return set()
