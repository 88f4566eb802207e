"""Torsion spring with damping on a joint that turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class TorsionSpring:
    """torque on the second body = -k * (angle - rest) - c * speed about the joint's axis."""

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "torsion_spring"

    on: str = declare("coordinate", "the joint it acts on")
    k: float = quantity("N*m/rad", "stiffness", minimum=0.0)
    c: float = quantity("N*m*s/rad", "damping", default=0.0, minimum=0.0)
    rest: float = quantity("rad", "angle without torque", default=0.0)
