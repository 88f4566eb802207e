"""The shapes of a machine as a STEP assembly, where its bodies stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.platform.files import write_bytes
from vbg.solids.build import placed, solid_of, write_step


def write(model: Model, posture: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """Write the solids of all bodies at `posture`, the signals NAME.position and NAME.rotation;
    the bodies without any, which the file does not hold.

    Raises UsageError where no body has a shape, and without OpenCASCADE.
    """
    solids = []
    for name, body in model.bodies.items():
        position, rotation = (np.ravel(posture[f"{name}.{k}"]) for k in ("position", "rotation"))
        for k, shape in enumerate(body.shape):
            label = name if len(body.shape) == 1 else f"{name}_{k + 1}"
            where = list(map(float, position)), list(map(float, rotation))
            solids.append((label, placed(solid_of(shape), *where)))
    if not solids:
        raise UsageError("no body has a shape; there is nothing to write.")
    write_bytes(path, write_step(solids, model.name))
    return tuple(name for name, body in model.bodies.items() if not body.shape)
