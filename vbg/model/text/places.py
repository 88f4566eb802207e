"""Where in a file each key and each value of a document stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Places:
    """Key path -> (line, column), both from 1, of the key and of its value;
    elements of a list have their index in the path."""

    keys: Mapping[Path, Place] = field(default_factory=dict)
    values: Mapping[Path, Place] = field(default_factory=dict)

    def of_key(self, path: Path) -> Place:
        """Place of the key at `path`, or of the nearest thing that contains it."""
        return self._nearest(self.keys, path)

    def of_value(self, path: Path) -> Place:
        """Place of the value at `path`, or of the nearest thing that contains it."""
        return self._nearest(self.values, path)

    def _nearest(self, first: Mapping[Path, Place], path: Path) -> Place:
        for length in range(len(path), 0, -1):
            place = first.get(path[:length]) or self.keys.get(path[:length])
            if place is None:
                place = self.values.get(path[:length])
            if place is not None:
                return place
        return (1, 1) if self.keys else (0, 0)


def spelled(path: Path) -> str:
    """The path in the user's words: ``joints.hinge.axis[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "model"
