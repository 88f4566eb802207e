"""Motions that nothing holds, into laws that jump where they get to: a stop's damper begins with
c v at the touch.  By closed forms, at all sizes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.tmm_bridge import simulate as second


def sizes(seed: int) -> tuple[float, float, float, float]:
    """Mass [kg], way to the place [m], speed [m/s], and what a time of the law is in that of the
    way."""
    rng = np.random.default_rng(seed)
    mass, way, speed = 10.0 ** rng.uniform((-6, -4, -3), (5, 2, 2))
    return mass, way, speed, 10.0 ** rng.uniform(-3, 0)


def slider(seed: int, **joint: object) -> dict[str, object]:
    mass, _, speed, _ = sizes(seed)
    inertia = dict.fromkeys(("xx", "yy", "zz"), mass)
    start = {"slide": 0.0, "speed": speed}
    return {
        "bodies": {"b": {"mass": mass, "inertia": inertia}},
        "joints": {
            "p": {
                "kind": "prismatic",
                "between": ["ground", "b"],
                "axis": [1, 0, 0],
                "initial": start,
                **joint,
            }
        },
    }


@pytest.mark.parametrize("seed", tail(range(20), 4))
def test_a_free_body_meets_a_stop_that_damps(seed):
    """In contact d = v exp(-z w t) sin(w' t) / w', until k d + c d' = 0, as tan(w' t) =
    -2 z w w' / (w^2 - 2 z^2 w^2)."""
    mass, way, speed, brief = sizes(seed)
    z = np.random.default_rng(seed + 1000).uniform(0.05, 0.6)
    w = 1.0 / (brief * way / speed)
    damped = w * np.sqrt(1.0 - z * z)
    stop = {"upper": way, "k": mass * w * w, "c": 2.0 * z * mass * w}
    touch = way / speed
    leave = touch + np.arctan2(2.0 * z * damped, w * (2.0 * z * z - 1.0)) / damped
    end = leave + 0.3 * touch
    settings = {"t_end": end, "output_step": end / 50.0}
    model = vbg.Model(name="stop", gravity=[0, 0, 0], simulate=settings, **slider(seed, stop=stop))
    run = second(model)
    assert run.status.code == "finished"
    assert [event.what for event in run.audit.events] == ["touches", "leaves"]
    assert_allclose([event.time for event in run.audit.events], [touch, leave], rtol=1e-7)
    t = leave - touch
    back = speed * np.exp(-z * w * t) * (np.cos(damped * t) - z * w / damped * np.sin(damped * t))
    assert_allclose(run["p.speed"][-1], back, rtol=1e-6)


@pytest.mark.parametrize("seed", tail(range(20), 4))
def test_a_free_mass_meets_a_force_that_begins_at_a_place(seed):
    """It is thrown back by F: at the place again after 2 m v / F, with the speed turned over.  An
    error of 1e-8 of the place is one of 1e-8 / brief of the speed; steps across the jump err by
    1e-6 at most."""
    mass, way, speed, brief = sizes(seed)
    touch = way / speed
    force = mass * speed / (brief * touch)
    parts = {
        "m": {"kind": "mass", "nodes": ["x"], "m": mass, "speed": speed},
        "f": {
            "kind": "force",
            "nodes": ["x"],
            "force": f"if(translational.x.position > {way}, {-force}, 0)",
        },
    }
    end = touch + 2.0 * brief * touch + 0.3 * touch
    settings = {"t_end": end, "output_step": end / 50.0}
    run = second(vbg.Model(name="thrown", translational=parts, simulate=settings))
    assert run.status.code == "finished"
    assert_allclose(run["translational.x.speed"][-1], -speed, rtol=1e-6 + 1e-8 / brief)
    assert_allclose(run["translational.x.position"][-1], 0.7 * way, rtol=1e-6 + 1e-8 / brief)


def test_the_verdict_of_a_ball_that_falls_on_a_damped_stop():
    stop = {"upper": 0.3, "k": 1e5, "c": 100.0}
    machine = slider(0, stop=stop)
    machine["bodies"]["b"] = {"mass": 0.5, "inertia": dict.fromkeys(("xx", "yy", "zz"), 0.01)}
    settings = {"t_end": 0.5, "output_step": 0.005}
    model = vbg.Model(name="ball", gravity=[9.81, 0, 0], simulate=settings, **machine)
    report = vbg.validate.validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
