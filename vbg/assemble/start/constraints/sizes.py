"""How large the bodies of a machine are."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbg.assemble.system import System
from vbg.fields import attachments
from vbg.model.catalogue import TABLES
from vbg.plumbing.once import once


@once
def typical_length(system: System) -> float:
    """The geometric mean of the sizes of bodies [m]: of each from its mass centre to the farthest
    joint or point, at least the radius of gyration; 1 where none has a size."""
    model = system.model
    farthest = {
        name: max([_gyration(part), *(float(np.linalg.norm(at)) for at in part.points.values())])
        for name, part in model.bodies.items()
    }
    for joint in model.joints.values():
        for end in joint.between:
            body = getattr(end, "body", "")
            if body in farthest:
                farthest[body] = max(farthest[body], float(np.linalg.norm(end.at)))
    sizes = [size for size in farthest.values() if size > 0.0]
    return float(np.exp(np.mean(np.log(sizes)))) if sizes else 1.0


@once
def farthest_end(system: System) -> float:
    """The longest arm of a joint or a force [m]: from the mass centre of a body, or the origin of
    the ground, to a point on which it stands; 0 where there is none."""
    parts = (part for table in TABLES for part in getattr(system.model, table).values())
    arms = [np.linalg.norm(end.at) for part in parts for end in attachments(part)]
    return float(max(arms, default=0.0))


def _gyration(part: Any) -> float:
    mass = part.mass or 1.0  # 0 of a point of a flexible body, as its inertia
    return float(np.sqrt(sum(map(abs, part.inertia[:3])) / (2.0 * mass)))
