"""Contacts that end for an instant only."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import tail
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.lengths import run_lengths
from vbg.model import Model
from vbg.simulate.events.events import Switches
from vbg.simulate.steppers.stepper import FixedStep

G = 9.81  # m/s^2


def dropped(e: float, m: float, rest: float, at: float, size: float) -> Model:
    """A mass m [kg] on the spring of a stop at `at` [m], which its weight presses in by `rest` [m];
    it begins 1 + e times as far below that, and `size` is its radius of gyration [m]."""
    J = m * size**2
    slide = {
        "kind": "prismatic",
        "between": ["ground", "body"],
        "axis": [0, 0, 1],
        "stop": {"lower": at, "upper": at + 1e4 * rest, "k": m * G / rest},
        "initial": {"slide": at - (2.0 + e) * rest},
    }
    body = {"mass": m, "inertia": {"xx": J, "yy": J, "zz": J}}
    return Model.from_document({"bodies": {"body": body}, "joints": {"slide": slide}})


@pytest.mark.parametrize("seed", tail(range(24), 2))
def test_a_mass_that_hardly_leaves_its_stop_goes_on(seed):
    """Dropped on a spring of a stop from so near that it leaves it for an instant: shorter than the
    step, and behind a root that was found on its near side, on its far side or at zero itself.  A
    period is two quarters and more of the oscillation, x = -rest - A cos(w t), A = (1 + e) rest,
    w^2 = g / rest, and a throw of 2 v/g."""
    random = np.random.default_rng(seed)
    e, m = 10.0 ** random.uniform(-8.0, -2.0), 10.0 ** random.uniform(-9.0, 3.0)
    rest = 10.0 ** random.uniform(-8.0, 2.0)
    at = rest * random.choice([0.0, 0.0, 10.0 ** random.uniform(-3.0, 3.0)])
    size = rest * 10.0 ** random.uniform(0.0, 2.0)
    w = np.sqrt(G / rest)
    leaving = np.arccos(-1.0 / (1.0 + e))
    period = 2.0 * (leaving / w + (1.0 + e) * np.sin(leaving) / w)
    start = vbg.start(dropped(e, m, rest, at, size))
    for one in shaken(start, size=1e-13 * min(1.0, rest)):
        solution = vbg.simulate(one, t_end=10 * period, output_step=period)
        assert solution.status.code == "finished", solution.status
        depth = (solution["slide.slide"] - at) / rest
        np.testing.assert_allclose(depth, -(2.0 + e), rtol=1e-5)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("below", [0.0, 1.0])
def test_a_flight_from_zero_itself_that_ends_before_the_first_look_is_seen(seed, below):
    """A step from where the stop is left, at zero or a rounding below, and so long that the flight
    of 2 v/g is over before it is looked into for the first time: a parabola, which one step of
    rk4 and a cubic in it give exactly."""
    random = np.random.default_rng(seed)
    rest, e = 10.0 ** random.uniform(-6.0, 3.0), 10.0 ** random.uniform(-6.0, -2.0)
    m = 10.0 ** random.uniform(-9.0, 3.0)
    start = vbg.start(dropped(e, m, rest, 0.0, rest))
    places = {name: i for i, name in enumerate(start.system.state_names)}
    speed = np.sqrt(2.0 * e * G * rest)
    flight = 2.0 * speed / G
    x = start.state.copy()
    x[places["body.momentum.z"]] = m * speed
    x[[places["body.position.z"], places["slide.slide"]]] = 0.0
    switches = Switches(start, flight, 100.0 * flight)
    switches.begin_run(x)
    x[[places["body.position.z"], places["slide.slide"]]] -= below * np.spacing(rest)
    stepper = FixedStep(start.evaluator("rate"), 0.0, x, 1e3 * flight, 50.0 * flight)
    stepper.step()
    project = Projector(start.system, start.kept, run_lengths(start.system, x)).project
    found = switches.find(stepper, lambda t, x: project(t, x, 1e-14, 1e-14))
    assert found is not None
    # as long as it takes to cross the rounding of a posture
    np.testing.assert_allclose(found[0], flight, rtol=1e-6)
