"""Torque on a body or on the free coordinate of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare


@dataclass(frozen=True, slots=True)
class Torque:
    """On a body: `torque`, three components or signals, in world axes or the body's.
    On a joint: one component, on the second body about or along the joint's axis,
    with its opposite on the first.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "torque"

    on: Attachment | str = declare("end", 'a body, or "joints.NAME"')
    torque: tuple[float | str, ...] = declare(
        "signals", "three components, or one on a joint", unit="N*m"
    )
    axes: str = declare(
        "choice", "axes of the components", choices=("world", "body"), default="world"
    )
