"""Where a body stands on the node of the tree that carries it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array


@dataclass(frozen=True)
class BodyPlace:
    """Body B on its node N: v_N = R_NB v_B, mass centre at p_NB (N's axes)."""

    node: int
    R_NB: Array
    p_NB: Array


GROUND_PLACE = BodyPlace(-1, np.eye(3), np.zeros(3))
