"""The overall transfer equation beside the Riccati transform, its fast twin."""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.rows import W_FORCE, W_MOMENT
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.overall.transfer import overall_general


def assert_riccati_agrees(mechanism, y, tolerance):
    """Accelerations, forces, moments and efforts of both at a state, t = 0."""
    plant = Plant(mechanism)
    plant.evaluate(0.0, y)
    whole, scratch = overall_general(mechanism, y, 0.0), plant.scratch
    for found, expected in (
        (whole.acceleration, scratch.acceleration),
        (whole.force, scratch.work[:, W_FORCE : W_FORCE + 3]),
        (whole.moment, scratch.work[:, W_MOMENT : W_MOMENT + 3]),
        (whole.effort, scratch.effort),
    ):
        scale = 1.0 + np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(found, expected, atol=tolerance * scale)
