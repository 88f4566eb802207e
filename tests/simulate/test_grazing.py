"""Contacts that end for an instant only."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from vbg.model import Model


@pytest.mark.parametrize("seed", range(6))
def test_a_mass_that_hardly_leaves_its_stop_goes_on(seed):
    """Dropped on a spring of a stop from so near that it leaves it for an instant: shorter than the
    step, and ahead of it a root that was found on its near side.  A period is two quarters and more
    of the oscillation, x = -g/k - A cos(w t), A = (1 + e) g/k, and a throw of 2 v/g.  From nearer
    than e = 1e-3 the rounding of some instruction sets still ends it, with a sentence."""
    e = 10.0 ** np.random.default_rng(seed).uniform(-3.0, -2.0)
    k, g = 7700.0, 9.81
    body = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    slide = {
        "kind": "prismatic",
        "between": ["ground", "body"],
        "axis": [0, 0, 1],
        "stop": {"lower": 0.0, "upper": 1.0, "k": k},
        "initial": {"slide": -(2.0 + e) * g / k},
    }
    start = vbg.start(Model.from_document({"bodies": {"body": body}, "joints": {"slide": slide}}))
    w = np.sqrt(k)
    leaving = np.arccos(-1.0 / (1.0 + e))
    period = 2.0 * (leaving / w + (1.0 + e) * np.sin(leaving) / w)
    for one in shaken(start):
        solution = vbg.simulate(one, t_end=20 * period, output_step=period)
        assert solution.time[-1] == pytest.approx(20 * period), solution.status
        np.testing.assert_allclose(solution["slide.slide"], -(2.0 + e) * g / k, rtol=1e-5)
