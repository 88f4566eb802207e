"""Rotations as the engineer wrote them, read once more: vbg's own reader makes quaternions of them,
and an error of it both of its solvers would share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy.spatial.transform import Rotation

from vbg import expressions
from vbg.engines.pose import Array
from vbg.model import Model
from vbg.model.values.quantities import quantity


def written_rotation(model: Model, body: str) -> Array | None:
    """R_WB of a body of this file; None where it comes out of another one, or without a
    rotation."""
    bodies = model.document.get("bodies")
    part = bodies.get(body) if isinstance(bodies, Mapping) else None
    raw = part.get("rotation") if isinstance(part, Mapping) else None
    if not isinstance(raw, Mapping):
        return None
    if "quaternion" in raw:
        quaternion = [_number(model, entry, "1") for entry in raw["quaternion"]]
        return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()
    if "axis" in raw and not isinstance(raw["axis"], str):
        axis = [_number(model, entry, "1") for entry in raw["axis"]]
        length = sum(x * x for x in axis) ** 0.5
        angle = _number(model, raw["angle"], "rad")
        return Rotation.from_rotvec([angle * x / length for x in axis]).as_matrix()
    if "euler" in raw:
        angles = [_number(model, entry, "rad") for entry in raw["euler"]]
        return Rotation.from_euler(raw.get("sequence", "xyz"), angles).as_matrix()
    return None


def _number(model: Model, raw: Any, unit: str) -> float:
    if not isinstance(raw, str):
        return float(raw)
    return float(expressions.evaluate(quantity(raw, unit)[0], model.parameters))
