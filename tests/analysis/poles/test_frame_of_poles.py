"""Poles of a steady motion are those in a frame that goes along: which one is told."""

import re

import numpy as np
import pytest

import vbg
from vbg.analysis.linear.linear import linearise
from vbg.analysis.rest.operating import operating_point


def spinning(moments, axis, speed, place):
    """A free body that spins about one of its principal axes."""
    turned = dict(zip(("xx", "yy", "zz"), map(float, moments)))
    body = {"mass": 2.3, "position": list(map(float, place)), "inertia": turned}
    body["angular_velocity"] = [float(part) for part in speed * np.eye(3)[axis]]
    return vbg.assemble(vbg.Model(gravity=[0, 0, 0], bodies={"top": body}))


@pytest.mark.parametrize("seed", range(6))
def test_the_frame_that_poles_belong_to_is_told(seed):
    """A body of three different moments has a steady spin in the frame of its axes only, where the
    ground's double poles at zero of its place are +- i W; of one of two equal ones about the third
    the axes of its places stand still."""
    random = np.random.default_rng(seed)
    axis, speed = int(random.integers(3)), float(10.0 ** random.uniform(-2, 2))
    small, middle = np.sort(random.uniform(1.0, 1.4, 2))
    moments = np.insert([small, middle], axis, random.uniform(1.5, 2.0))
    place = random.uniform(-1.0, 1.0, 3)
    system = spinning(moments, axis, speed, place)
    point = operating_point(system, "steady")
    told = re.search(r"turns along, at (\S+) rad/s about \[(.*?)\]: across", point.sentence)
    assert point.kind == "steady motion" and told is not None
    assert float(told[1]) == pytest.approx(speed, rel=1e-5)
    assert [float(part) for part in told[2].split(",")] == list(np.eye(3)[axis])
    poles = np.linalg.eigvals(linearise(system, point, inputs=[]).A)
    assert np.sum(np.abs(poles - 1j * speed) < 1e-4 * speed) >= 2
    moments = np.insert([middle, middle], axis, moments[axis])
    point = operating_point(spinning(moments, axis, speed, place), "steady")
    assert point.kind == "steady motion" and "frame" not in point.sentence
