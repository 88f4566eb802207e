"""Mass and inertia of a body for an engine: as written, or from its solids by their second
moments C = integral of (r - c)(r - c)ᵀ dm, from which J = tr(C) 1 - C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.engines.pose import Array, of_quaternion
from vbg.model import Model


def inertia_of(model: Model, name: str) -> tuple[float, Array]:
    """Mass [kg] and inertia about the mass centre, (3, 3), body axes [kg m^2]."""
    body = model.bodies[name]
    written = model.document.get("bodies", {}).get(name, {})
    if any(shape.density for shape in body.shape) and "inertia" not in written:
        return _of_solids(body)
    xx, yy, zz, xy, yz, zx = body.inertia
    return body.mass, np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def _of_solids(body: Any) -> tuple[float, Array]:
    total, second = 0.0, np.zeros((3, 3))
    for shape in body.shape:
        R = of_quaternion(shape.rotation)
        if shape.measured is not None:
            m, c, own = _of_file(shape, R)
            total, second = total + m, second + own + m * np.outer(c, c)
            continue
        volume, height, squares = _measured(shape.kind, shape.sizes)
        m = shape.density * volume
        # shapes of a Model count from the mass centre of the body
        c = np.array(shape.position) + height * R[:, 2]
        total += m
        second += m * (R @ np.diag(squares) @ R.T + np.outer(c, c))
    return total, np.trace(second) * np.eye(3) - second


def _of_file(shape: Any, R: Array) -> tuple[float, Array, Array]:
    """Mass, centre and second moments about it of a part of a STEP file."""
    found = shape.measured
    xx, yy, zz, xy, yz, zx = found.inertia
    J = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    C = shape.density * (0.5 * np.trace(J) * np.eye(3) - J)
    centre = np.array(shape.position) + R @ np.array(found.centre)
    return shape.density * found.volume, centre, R @ C @ R.T


def _measured(kind: str, s: Mapping[str, float]) -> tuple[float, float, tuple[float, ...]]:
    """Volume, height of the mass centre, mean squares of x, y, z about it."""
    match kind:
        case "box":
            return s["x"] * s["y"] * s["z"], 0.0, tuple(s[k] ** 2 / 12 for k in "xyz")
        case "sphere":
            r = s["radius"]
            return 4 / 3 * np.pi * r**3, 0.0, (r**2 / 5,) * 3
        case "cone":
            r, h = s["radius"], s["height"]
            return np.pi * r**2 * h / 3, h / 4, (0.15 * r**2, 0.15 * r**2, 0.0375 * h**2)
    r, inner, l = s["radius"], s.get("inner_radius", 0.0), s["length"]
    across = (r**2 + inner**2) / 4
    return np.pi * (r**2 - inner**2) * l, 0.0, (across, across, l**2 / 12)
