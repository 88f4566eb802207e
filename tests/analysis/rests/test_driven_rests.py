"""What drives keep moving does not rest: poles have what turns with it in them, or none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import linearise, operating_point
from vbg.analysis.rest.idle import resting_point, sensible_point
from vbg.errors import VbgError

G = 9.81


def table(W: float, **more: dict) -> dict:
    """A body that a drive turns about the vertical at W [rad/s]."""
    body = {"mass": 1.0, "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.02}}
    turned = {"kind": "revolute", "between": ["ground", "c"], "axis": [0, 0, 1], "drive": f"{W}*t"}
    return {"bodies": {"c": body}, "joints": {"turned": turned}, **more}


def slider(m: float, k: float, free: float, W: float) -> vbg.Model:
    """A mass on a radial slide of the table, on a spring."""
    document = table(W)
    document["bodies"]["p"] = {"mass": m, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    between = {"kind": "prismatic", "between": ["c", "p"], "axis": [1, 0, 0]}
    document["joints"]["radial"] = {**between, "initial": {"slide": free}}
    spring = {"kind": "spring", "on": "joints.radial", "k": k, "length": free}
    return vbg.Model(**document, forces={"s": spring})


def swing(m: float, l: float, J: tuple[float, float, float], W: float, on: str) -> vbg.Model:
    """A pendulum about a horizontal hinge on the table, or beside it on the ground."""
    document = table(W)
    inertia = dict(zip(("xx", "yy", "zz"), J, strict=True))
    document["bodies"]["p"] = {"mass": m, "inertia": inertia, "points": {"A": [0, 0, l]}}
    hinge = {"kind": "revolute", "between": [on, "p.A"], "axis": [0, 1, 0]}
    document["joints"]["hinge"] = {**hinge, "initial": {"angle": 0.3}}
    return vbg.Model(**document)


def drawn(seed: int) -> tuple[np.random.Generator, float]:
    random = np.random.default_rng(seed)
    return random, 10.0 ** random.uniform(-2, 2)


@pytest.mark.parametrize("seed", range(3))
def test_a_slide_on_a_turning_table_stands_where_its_spring_holds_it(seed):
    """m x'' = -k (x - x0) + m W^2 x: it stands at k x0 / (k - m W^2), w^2 = k/m - W^2."""
    random, W = drawn(seed)
    m, free = 10.0 ** random.uniform(-3, 3, 2) * [1.0, 1e-2]
    k = m * W**2 * random.uniform(1.5, 20.0)
    system = vbg.assemble(slider(m, k, free, W))
    assert operating_point(system).kind != "equilibrium"
    assert resting_point(system) is None
    with pytest.raises(VbgError, match="no rest is found"):
        vbg.simulate(system, t_end=1.0, start="equilibrium")
    place = sensible_point(system)
    assert place.point.kind == "steady motion"
    at = dict(zip(system.state_names, place.point.x, strict=True))["radial.slide"]
    assert_allclose(at, k * free / (k - m * W**2), rtol=1e-8)
    poles = np.linalg.eigvals(linearise(place.system, place.point).A)
    assert_allclose(np.abs(poles), np.sqrt(k / m - W**2), rtol=1e-6)
    assert_allclose(poles.real / np.abs(poles), 0.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("faster", [0.5, 3.0])
def test_a_pendulum_on_a_turning_shaft_has_its_centrifugal_term(seed, faster):
    """J_A th'' = (W^2 (J_A' - Jzz) cos th - m g l) sin th, J_A' = Jxx + m l^2."""
    random, _ = drawn(seed)
    m, l = 10.0 ** random.uniform([-3, -2], [3, 1])
    J = m * l**2 * np.array([0.1, 0.1, 0.02])
    swings = J[0] + m * l**2 - J[2]
    W = faster * np.sqrt(m * G * l / swings)
    system = vbg.assemble(swing(m, l, tuple(J), W, "c"))
    assert operating_point(system).kind != "equilibrium"
    place = sensible_point(system)
    assert place.point.kind == "steady motion"
    cosine = np.cos(dict(zip(system.state_names, place.point.x, strict=True))["hinge.angle"])
    slope = (W**2 * swings * (2.0 * cosine**2 - 1.0) - m * G * l * cosine) / (J[1] + m * l**2)
    poles = np.linalg.eigvals(linearise(place.system, place.point).A)
    assert_allclose(poles**2, slope, rtol=1e-6)


def test_what_stands_beside_a_turning_rotor_rests():
    m, l, J = 2.0, 0.5, (0.01, 0.01, 0.002)
    point = operating_point(vbg.assemble(swing(m, l, J, 6.0, "ground")))
    assert point.kind == "equilibrium" and point.growth is None
