"""The start of one solver's run as poses that the other can start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.solution import Solution

Array = np.ndarray[Any, Any]
SAME = 1e-7  # relative difference of two starts that counts as none


@dataclass(frozen=True, eq=False)
class StartPose:
    """Mass centre and its velocity (W), R_WB, angular velocity (body axes)."""

    p_WB: Array
    R_WB: Array
    v_WB: Array
    w_WB_B: Array


def first_poses(solution: Solution, bodies: tuple[str, ...]) -> dict[str, StartPose]:
    """Poses at the first output time."""
    return {
        body: StartPose(
            np.array(solution[f"{body}.position"][0]),
            matrix_of(solution[f"{body}.rotation"][0]),
            np.array(solution[f"{body}.velocity"][0]),
            np.array(solution[f"{body}.angular_velocity"][0]),
        )
        for body in bodies
    }


def matrix_of(quaternion: Array) -> Array:
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def starts_differ(
    first: Mapping[str, StartPose], second: Mapping[str, StartPose]
) -> tuple[str, float]:
    """The body whose start differs most between two runs, and by how much, relative to
    the largest of its kind; ("", 0) if none does."""
    worst, by = "", 0.0
    for entry in ("p_WB", "R_WB", "v_WB", "w_WB_B"):
        size = max((float(np.abs(getattr(p, entry)).max()) for p in first.values()), default=0.0)
        for body, pose in first.items():
            gap = np.abs(getattr(pose, entry) - getattr(second[body], entry)).max()
            relative = float(gap) / max(size, 1e-9)
            if relative > max(SAME, by):
                worst, by = body, relative
    return worst, by
