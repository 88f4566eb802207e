"""Implicit steps behind a stop that was just left: the Jacobian there may be that of the stop, and
beside it no state may stand still that is far from its equation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.tail import tail
from vbg.tmm_bridge.motion.steps.radau import StiffStepper


class _Left:
    """x'' = -g cos t - w^2 max(0, x - at), and r' = -fast (r - cos 3 t) (1 + r^2 / 2) beside it,
    as a plant."""

    discrete: list[int] = []  # noqa: RUF012  as a plant has it
    typical = np.array([1.0, 60.0, 1e-5])

    def __init__(self, w, g, at, fast):
        self.w, self.g, self.at, self.fast, self.calls = w, g, at, fast, 0

    def rate(self, t, y):
        self.calls += 1
        x, v, r = y
        pushed = -self.g * math.cos(t) - self.w**2 * max(0.0, x - self.at)
        return np.array([v, pushed, -self.fast * (r - math.cos(3.0 * t)) * (1.0 + 0.5 * r**2)])

    def rates(self, t, after, y, moved):
        return np.array([self.rate(t + a, y + z) for a, z in zip(after, moved, strict=True)])

    def noise(self, t, y, f):
        return np.spacing(np.abs(f))


@pytest.mark.parametrize("seed", tail(range(200), 2))
def test_a_stop_that_was_left_slows_nothing(seed):
    """x = at - v t - g (1 - cos t) to what is asked for, with and without a fast decay beside it,
    whose defects hide those of all others."""
    random = np.random.default_rng(seed)
    w, rtol, v = (
        10.0 ** random.uniform(3, 6),
        10.0 ** random.uniform(-12, -7),
        random.uniform(0.1, 2),
    )
    g, at = random.choice([0.0, random.uniform(0, 2)]), random.uniform(0.3, 3)
    for fast in (0.0, 10.0 ** random.uniform(2, 7)):
        plant, absolute = _Left(w, g, at, fast), 1e-3 * rtol * np.array([1.0, v, 1.0])
        first = random.uniform(0.1, 1) / w
        y, marks = np.array([at, -v, 1.0]), np.array([1.0])
        stepper = StiffStepper(plant, 0.0, y, 1.0, rtol, absolute, marks, first)
        while stepper.t < 1.0:
            assert stepper.step() == ""
            t = stepper.t
            exact = np.array([at - v * t - g * (1.0 - math.cos(t)), -v - g * math.sin(t)])
            np.testing.assert_allclose(stepper.y[:2], exact, rtol=0, atol=10.0 * rtol * (v + g))
        assert plant.calls < 5000
