"""Rotors behind gears on joints, as robots have them: inertia that the joint feels, and no more.

The rotor's speed is w / ratio where the joint's is w, so that it asks of the joint ::

    effort = -(J / ratio^2) w',     energy = 1/2 (J / ratio^2) w^2

It turns with the joint alone: of its spin about an axis that moves neither knows the other's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from vbg.model import Model

NODE = "joint:"


@dataclass(frozen=True, slots=True)
class Rotor:
    """A rotor of moment of inertia `J` [kg m^2] that turns `reduction` times as fast as the
    revolute joint `joint`; the names of its parts: it, and its gear where it has one."""

    joint: str
    J: float
    reduction: float
    parts: tuple[str, ...]

    @property
    def felt(self) -> float:
        """Moment of inertia at the joint [kg m^2]."""
        return self.J * self.reduction**2


def rotors_of(model: Model) -> tuple[Rotor, ...]:
    """An inertia on a joint, or with one gear alone on a node whose other end is a joint; none of
    a joint that has anything else on its node."""
    uses = _uses(model)
    found = [(rotor, node) for rotor, node in _rotors(model, uses)]
    taken = Counter(node for _, node in found)
    return tuple(rotor for rotor, node in found if not node or taken[node] == uses[node])


def _rotors(model: Model, uses: Counter[str]) -> Iterator[tuple[Rotor, str]]:
    """And the joint's node that each is on, "" for none."""
    alone: dict[str, tuple[str, float]] = {}
    for name, part in model.rotational.items():
        if part.kind != "inertia":
            continue
        on = f"{NODE}{part.on.split('.')[1]}" if part.on else part.nodes[0]
        if _turns(model, on):
            joint = on.removeprefix(NODE)
            yield Rotor(joint, part.J, 1.0, (name,)), "" if part.on else on
        elif not part.on and uses[on] == 2:
            alone[on] = name, part.J
    for name, part in model.rotational.items():
        if part.kind != "gear":
            continue
        first, second = part.nodes
        for motor, end, reduction in ((first, second, 1 / part.ratio), (second, first, part.ratio)):
            if motor in alone and _turns(model, end):
                rotor, J = alone[motor]
                yield Rotor(end.removeprefix(NODE), J, reduction, (rotor, name)), end


def _turns(model: Model, node: str) -> bool:
    joint = model.joints.get(node.removeprefix(NODE)) if node.startswith(NODE) else None
    return joint is not None and joint.kind == "revolute"


def _uses(model: Model) -> Counter[str]:
    """How many parts are on each node."""
    tables = ("electric", "hydraulic", "rotational", "translational")
    return Counter(
        str(node)
        for table in tables
        for part in getattr(model, table).values()
        for node in getattr(part, "nodes", None) or ()
    )


__all__ = ["Rotor", "rotors_of"]
