"""What a document resolves to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg.display import SI, Display
from vbg.errors import Problem
from vbg.measures import Measure
from vbg.model.resolve.settings import Outputs, Simulate
from vbg.model.text.places import Path, Place, Places
from vbg.model.values.reading import Scope

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, slots=True)
class Home:
    """Where an included part is written: its file, and its path in that file."""

    file: str
    places: Places
    path: Path

    def of_key(self, inside: Path) -> Place:
        """Line and column of an entry of the part."""
        return self.places.of_key((*self.path, *inside))


@dataclass(slots=True)
class Resolved:
    """What a document resolves to, and the problems met; parts that are wrong are left out.

    `scope` holds the names that its values may refer to, `ports` what it offers to files
    that include it, `homes` where its included parts are written.  `complete` is false
    where an included file could not be read and nothing was resolved that may use it.
    `balanced` are start values that the balance of the machine gives, as PART.KEY.
    """

    name: str = ""
    description: str = ""
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    parameters: dict[str, float] = field(default_factory=dict)
    parameter_units: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    bonds: tuple[str, ...] = ()
    simulate: Simulate = field(default_factory=Simulate)
    outputs: Outputs = field(default_factory=Outputs)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    display: Display = SI
    problems: tuple[Problem, ...] = ()
    scope: Scope = field(default_factory=Scope)
    ports: Mapping[str, str] = field(default_factory=dict)
    homes: dict[Path, Home] = field(default_factory=dict)
    complete: bool = True
    balanced: tuple[str, ...] = ()
