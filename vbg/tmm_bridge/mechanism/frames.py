"""Joint frames of the model in the vocabulary of this package."""

from __future__ import annotations

import numpy as np

from vbg.model.placing.placed import Placed
from vbg.tmm_bridge.mechanism.mechanism import JointFrames
from vbg.tmm_bridge.tree.pairs import measured_coordinates


def read_frames(placed: Placed) -> dict[str, JointFrames]:
    """Joint frames of the written posture, in the vocabulary of this package."""
    frames = {}
    for name, f in placed.frames.items():
        keys = [key for key, _ in measured_coordinates(placed.model.joints[name])]
        frames[name] = JointFrames(
            f.first,
            f.second,
            np.array(f.p_AF_A, dtype=float),
            np.array(f.R_AF, dtype=float),
            np.array(f.p_BM_B, dtype=float),
            np.array(f.R_BM, dtype=float),
            dict(zip(keys, f.coordinates, strict=False)),
        )
    return frames
