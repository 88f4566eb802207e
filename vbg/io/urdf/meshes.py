"""Meshes of a robot's visuals: where their files are, and how a model file names them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vbg.io.urdf.robot import Solid

UNITS = {1.0: "", 1e-2: "cm", 1e-3: "mm"}
"""The scales of a mesh that are a unit of length."""
Named = Callable[[Solid], dict[str, Any] | None]


def nothing(solid: Solid) -> None:
    """No mesh is looked for."""


def named_from(robot: Path, output: Path) -> Named:
    """How a model file at `output` names the meshes of the URDF file `robot`: STL files below
    its own folder, at the scale of a unit; None for others."""
    home = output.resolve().parent

    def named(solid: Solid) -> dict[str, Any] | None:
        found = _found(solid.file, robot.resolve().parent)
        unit = next((u for s, u in UNITS.items() if abs(solid.scale - s) < 1e-9 * s), None)
        if found is None or found.suffix.lower() != ".stl" or unit is None:
            return None
        if not found.is_relative_to(home):
            return None
        file = os.path.relpath(found, home).replace(os.sep, "/")
        return {"stl": file} | ({"unit": unit} if unit else {})

    return named


def _found(name: str, folder: Path) -> Path | None:
    """The file that `name` means: a path from the robot's folder, or package://NAME/PATH with
    the folder NAME somewhere above."""
    scheme, _, rest = name.rpartition("://")
    candidates = [folder / rest]
    if scheme == "package":
        package, _, inside = rest.partition("/")
        candidates = [
            place / inside
            for above in (folder, *folder.parents)
            for place in (above, above / package)
            if place.name == package
        ]
    return next((path.resolve() for path in candidates if path.is_file()), None)
