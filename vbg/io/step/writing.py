"""The shapes of a machine as a STEP assembly, where its bodies stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.platform.files import write_bytes
from vbg.solids.made import Solids


def write(model: Model, posture: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """Write the solids of all bodies at `posture`, the signals NAME.position and NAME.rotation;
    the bodies without any, which the file does not hold.

    Raises UsageError where no body has a shape, and without OpenCASCADE; ModelError where it fails.
    """
    solids = []
    with Solids() as room:
        for name, body in model.bodies.items():
            position, rotation = (
                np.ravel(posture[f"{name}.{k}"]).astype(float).tolist()
                for k in ("position", "rotation")
            )
            for k, shape in enumerate(body.shape):
                label = name if len(body.shape) == 1 else f"{name}_{k + 1}"
                solids.append((label, room.put(shape)[0], (position, rotation)))
        if not solids:
            raise UsageError("no body has a shape; there is nothing to write.")
        write_bytes(path, room.step(solids, model.name))
    return tuple(name for name, body in model.bodies.items() if not body.shape)
