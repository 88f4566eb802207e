"""What a finding says: an exception to the count of mobility, with its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "multiple joint",
    "rolling",
    "redundant spin",
    "subgroup",
    "named linkage",
    "parallel cranks",
    "geometric freedom",
    "tangent freedom",
    "singular posture",
    "contact",
    "not examined",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One exception to the Kutzbach-Gruebler count (section 3.3 of the paper).

    `name` is what an engineer would call it; `bodies` and `pairs` are names.
    `freedoms` is the number of freedoms that the count does not see (negative
    where the count sees some that the machine has not).  `what` says what was
    found with its figures, `action` what the solver does about it.
    """

    kind: Kind
    name: str
    bodies: tuple[str, ...]
    pairs: tuple[str, ...]
    freedoms: int
    what: str
    action: str

    def __str__(self) -> str:
        bodies = ", ".join(self.bodies)
        return f"{self.name} of {bodies}: {self.what} {self.action}"
