"""0-junction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.rawlaws import LARGEST


@dataclass(frozen=True, slots=True)
class Zero:
    """One effort, the flows sum to zero."""

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "0"

    size: int = declare(
        "count", "number of components of its bonds", minimum=1, maximum=LARGEST, default=1
    )

    def expand(self, name: str, builder: Builder) -> None:
        builder.vertex(name, "0", self.size)
