"""Joints that open or close at t = 0: what is true there, and what comes true right behind it."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import only
from vbg.io import toml
from vbg.tmm_bridge import simulate as second

BODIES = """
vbg = 1
gravity = [0, 0, -9.81]
[bodies.a]
mass = 2
inertia = {{ xx = 0.01, yy = 0.05, zz = 0.05 }}
points = {{ L = [-0.5, 0, 0] }}
velocity = [0.2, 0.1, -1]
angular_velocity = [1, 2, 3]
[bodies.b]
mass = 1
inertia = {{ xx = 0.02, yy = 0.03, zz = 0.04 }}
points = {{ L = [0.3, 0, 0] }}
position = [{x}, 0, 0]
angular_velocity = [0.5, -2, 0.3]
[bodies.c]
mass = 1
inertia = {{ xx = 1, yy = 1, zz = 1 }}
position = [3, 1, 0]
[joints.fall]
kind = "prismatic"
between = ["ground", "c"]
axis = [0, 0, -1]
initial = {{ slide = 1 }}
[joints.l]
kind = "{kind}"
between = ["b.L", "a.L"]
{more}
{trigger}
[signals.lag]
kind = "transfer_function"
numerator = [1]
denominator = [1, 1]
input = "1"
[simulate]
t_end = 0.01
output_step = 0.002
"""
KINDS = {
    "fixed": "",
    "spherical": "",
    "revolute": "axis = [0, 1, 0]",
    "cylindrical": "axis = [0, 1, 0]",
    "planar": "axis = [0, 1, 0]",
    "point_on_plane": "axis = [0, 1, 0]",
}
HELD = ("t >= 0", "t > -1", "fall.slide > 0.5", "fall.slide >= 1")
GROWS = ("t > 0", "sin(5*t) > 0", "lag > 0", "fall.speed > 0", "fall.slide > 1", "c.position.z < 0")
CASES = [(kind, trigger) for trigger in (*HELD, *GROWS) for kind in KINDS]
FEW = [("spherical", "t > 0"), ("fixed", "t > -1"), ("planar", "fall.slide > 1")]
SOME = list(dict.fromkeys([*FEW, ("planar", "fall.speed > 0"), *CASES[::7]]))


def both(kind: str, trigger: str, x: float = -0.8):
    text = BODIES.format(kind=kind, more=KINDS[kind], trigger=trigger, x=x)
    model = toml.parse(text)
    return vbg.simulate(model), second(model)


@pytest.mark.parametrize(("kind", "trigger"), only(FEW, SOME))
def test_what_closes_at_the_start_strikes_there(kind, trigger):
    """One impact, whether the condition holds at t = 0 or grows from there: momentum and spin
    about the origin are those of the written speeds, the energy that is gone is lost in the
    joint, and the first row is behind it."""
    closed = both(kind, f'engage = "{trigger}"')
    for solution in closed:
        assert solution.status.code == "finished" and not solution.audit.failures
        assert not solution["l.open"].any()
        assert [event.time for event in solution.audit.events] == [0.0]
        momentum = 2.0 * solution["a.velocity"][0] + solution["b.velocity"][0]
        np.testing.assert_allclose(momentum, [0.4, 0.2, -2.0], atol=1e-12)
        pushed = solution["b.velocity"][0] + solution["l.impulse"][0]
        np.testing.assert_allclose(pushed, 0.0, atol=1e-12)
        before = 0.5 * (2.0 * 1.05 + 0.01 + 0.05 * 13.0 + 0.02 * 0.25 + 0.03 * 4.0 + 0.04 * 0.09)
        lost = solution["l.lost"][0]
        assert lost > 0.01 and lost == pytest.approx(before - solution["energy.kinetic"][0])
        np.testing.assert_array_equal(solution["energy.dissipated"], lost)
    for name in ("l.impulse", "l.moment", "l.force", "a.angular_velocity", "b.velocity"):
        largest = np.abs(closed[0][name]).max()
        np.testing.assert_allclose(closed[1][name], closed[0][name], atol=1e-7 * largest + 1e-10)


@pytest.mark.parametrize(("kind", "trigger"), only(FEW[:1], SOME))
def test_what_opens_at_the_start_is_free_there(kind, trigger):
    """The speeds are those of the joint, its force is gone in the first row, and it is told."""
    opened = both(kind, f'release = "{trigger}"')
    for solution in opened:
        assert solution.status.code == "finished" and not solution.audit.failures
        assert solution["l.open"].all() and not solution["l.force"].any()
        assert [event.time for event in solution.audit.events] == [0.0]
        assert not solution["l.lost"].any()
    np.testing.assert_allclose(opened[1]["b.velocity"], opened[0]["b.velocity"], atol=1e-9)


def test_a_joint_whose_frames_are_apart_does_not_close_at_the_start():
    for solution in both("spherical", 'engage = "t > -1"', x=-0.9):
        assert solution.status.code == "failed" and "l" in solution.status.sentence
        assert len(solution.time) == 1 and solution["b.position"][0, 0] == -0.9


@pytest.mark.parametrize("trigger", only(["x.speed > 0"], ["x.speed > 0", "x.slide > 0", "t > 0"]))
def test_a_switch_that_closes_as_the_run_begins_costs_no_step(trigger):
    """An R-L circuit from t = 0 on, i = U t / L + U / R behind a switch of next to no resistance:
    the energy that the source gives is the same in both, far below what one step would err by."""
    text = f"""
vbg = 1
[bodies.a]
mass = 1
inertia = {{ xx = 1, yy = 1, zz = 1 }}
[joints.x]
kind = "prismatic"
between = ["ground", "a"]
axis = [0, 0, -1]
[electric]
v = {{ kind = "voltage_source", nodes = ["p", "gnd"], voltage = 10 }}
s = {{ kind = "switch", nodes = ["p", "q"], closed = "{trigger}" }}
r = {{ kind = "resistor", nodes = ["q", "gnd"], R = 5 }}
l = {{ kind = "inductor", nodes = ["q", "gnd"], L = 1 }}
[simulate]
t_end = 0.1
output_step = 0.01
rtol = 1e-11
atol = 1e-13
"""
    given = [solve(toml.parse(text))["energy.supplied"] for solve in (vbg.simulate, second)]
    np.testing.assert_allclose(given[0][-1], 10.0 * (2.0 * 0.1 + 0.5 * 10.0 * 0.01), rtol=1e-5)
    np.testing.assert_allclose(given[1], given[0], atol=1e-8)
