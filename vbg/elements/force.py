"""Force on a point of a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare


@dataclass(frozen=True, slots=True)
class Force:
    """`force`, three components or three signals, in world axes or in the body's."""

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "force"

    on: Attachment = declare("end", "the body and point it acts on")
    force: tuple[float | str, ...] = declare("signals", "components", unit="N", size=3)
    axes: str = declare(
        "choice", "axes of the components", choices=("world", "body"), default="world"
    )
