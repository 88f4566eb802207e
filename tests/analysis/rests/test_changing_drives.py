"""A rest or a steady motion beside what follows the time: for good, at an instant, or none."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import linearise, operating_point
from vbg.analysis.rest.idle import resting_point, sensible_point
from vbg.errors import VbgError

G = 9.81
SEEDS = range(3)


def hung(m: float, l: float, drive: float | str, **more: dict) -> vbg.Model:
    """A pendulum of length l under a carriage that a drive moves along x, nearly hanging."""
    J = {"xx": 0.1 * m * l**2, "yy": 0.1 * m * l**2, "zz": 0.02 * m * l**2}
    bodies = {
        "carriage": {"mass": m, "inertia": J},
        "load": {"mass": m, "inertia": J, "points": {"A": [0.0, 0.0, l]}},
    }
    rail = {"kind": "prismatic", "between": ["ground", "carriage"], "axis": [1, 0, 0]}
    hinge = {"kind": "revolute", "between": ["carriage", "load.A"], "axis": [0, 1, 0]}
    joints = {
        "rail": {**rail, "drive": drive},
        "hinge": {**hinge, "initial": {"angle": 0.2}},
    }
    return vbg.Model(bodies=bodies, joints=joints, **more)


def turning(J: float, k: float, speed: float | str) -> vbg.Model:
    """A rotor behind a spring whose other end has a given speed."""
    rotational = {
        "m": {"kind": "speed", "speed": speed, "nodes": ["frame", "a"]},
        "s": {"kind": "spring", "k": k, "nodes": ["a", "b"]},
        "J": {"kind": "inertia", "J": J, "nodes": ["b"]},
    }
    return vbg.Model(rotational=rotational)


def drawn(seed: int) -> tuple[float, float, float, float]:
    """A mass, a length, a speed and a time."""
    m, l, v, T = 10.0 ** np.random.default_rng(seed).uniform([-3, -2, -3, -3], [4, 1, 2, 2])
    return float(m), float(l), float(v), float(T)


CHANGING = {
    "sine": "{v}*{T}*sin(t/{T})",
    "cubic": "{v}*t + {v}*t^3/{T}^2",
    "late": "{v}*t + {v}*max(0, t - 7*{T})^3/{T}^2",
    "accelerated": "{v}*t^2/{T}",
    "turning back": "{v}*{T}*cos(t/{T})",
    "braked": "if(t < {T}, {v}*t, {v}*{T})",
    "table": "course",
}
STILL = {
    "cubic": "{v}*t^3/{T}^2",
    "late": "{v}*max(0, t - 7*{T})^2/{T}",
    "later table": "pause",
}
CONSTANT = {"speed": "{v}*t", "two": "{v}*t/3 + {v}*t*2/3"}


def signals(T: float) -> dict[str, dict]:
    """Tables: of one slope that ends, of a start behind a pause."""
    course = {"kind": "table", "rows": [[0, 0], [T, T], [3 * T, 3 * T]]}
    pause = {"kind": "table", "rows": [[0, 0], [T, 0], [3 * T, 3 * T]]}
    return {"course": course, "pause": pause}


def written(course: str, v: float, T: float) -> str:
    return course.format(v=repr(v), T=repr(T))


def table_of(m: float, l: float, course: str, v: float, T: float) -> vbg.Model:
    return hung(m, l, written(course, v, T), signals=signals(T))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("course", CHANGING)
def test_a_drive_whose_speed_changes_leaves_neither_rest_nor_steady_motion(seed, course):
    m, l, v, T = drawn(seed)
    system = vbg.assemble(table_of(m, l, CHANGING[course], v, T))
    told = "rail moves the machine at a speed that changes with time"
    for kind in ("equilibrium", "steady"):
        point = operating_point(system, kind)
        assert point.kind == "instant" and point.sentence.startswith(told)
    assert resting_point(system) is None
    assert sensible_point(system).point.kind == "instant"
    with pytest.raises(VbgError, match=f"no rest is found from the written start. {told}"):
        vbg.start(system, "equilibrium")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("course", STILL)
def test_before_a_drive_sets_out_a_load_hangs_at_rest_at_that_instant(seed, course):
    """w^2 = m g l / (J + m l^2), J = m l^2 / 10, of the load under a carriage that stands."""
    m, l, v, T = drawn(seed)
    system = vbg.assemble(table_of(m, l, STILL[course], v, T))
    point = operating_point(system)
    assert point.kind == "equilibrium"
    assert point.sentence == "The machine rests here as long as rail stays as it is at t = 0 s."
    poles = np.linalg.eigvals(linearise(system, point).A)
    assert_allclose(np.abs(poles), np.sqrt(G / (1.1 * l)), rtol=1e-8)
    notes = " ".join(note.what for note in vbg.start(system, "equilibrium").notes)
    assert "rests as long as rail stays as it is at t = 0 s" in notes


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("course", CONSTANT)
def test_a_drive_of_constant_speed_moves_the_load_steadily(seed, course):
    m, l, v, T = drawn(seed)
    system = vbg.assemble(table_of(m, l, CONSTANT[course], v, T))
    place = sensible_point(system)
    assert place.point.kind == "steady motion" and "as long as" not in place.point.sentence
    poles = np.linalg.eigvals(linearise(place.system, place.point).A)
    assert_allclose(np.abs(poles), np.sqrt(G / (1.1 * l)), rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_reason_is_told_alone_where_drives_are_the_reason(seed):
    m, l, v, _ = drawn(seed)
    with pytest.raises(VbgError) as told:
        vbg.start(vbg.assemble(hung(m, l, f"{v!r}*t")), "equilibrium")
    assert not re.search("imbalance|instant|Nothing holds", str(told.value))
    point = operating_point(vbg.assemble(turning(m * l**2, m, v)))
    assert point.kind == "instant" and point.sentence == "Drives move rotational.a here."


@pytest.mark.parametrize("seed", SEEDS)
def test_a_source_of_a_speed_that_changes_leaves_none(seed):
    m, l, v, T = drawn(seed)
    for speed in (f"{v!r} + {v!r}*sin(t/{T!r})", f"{v!r}*cos(t/{T!r})"):
        system = vbg.assemble(turning(m * l**2, m, speed))
        assert operating_point(system).sentence.startswith("m moves the machine at a speed")
        assert sensible_point(system).point.kind == "instant"
    system = vbg.assemble(turning(m * l**2, m, f"{v!r} + 0*t"))
    assert sensible_point(system).point.kind == "steady motion"


@pytest.mark.parametrize("seed", SEEDS)
def test_beside_a_force_that_changes_a_rest_is_one_at_that_instant(seed):
    """tan(angle) = F / (m g), of a load that is drawn aside."""
    m, l, part, T = drawn(seed)
    F = m * G * part / (1.0 + part)
    push = {"kind": "force", "on": "load", "force": [f"{F!r}*cos(t/{T!r})", 0, 0]}
    system = vbg.assemble(hung(m, l, 0.0, forces={"push": push}))
    point = operating_point(system)
    assert point.kind == "equilibrium" and "as long as push stays" in point.sentence
    angle = dict(zip(system.state_names, point.x, strict=True))["hinge.angle"]
    assert_allclose(np.abs(np.tan(angle)), F / (m * G), rtol=1e-8)
    constant = {**push, "force": [F, 0, 0]}
    point = operating_point(vbg.assemble(hung(m, l, 0.0, forces={"push": constant})))
    assert point.sentence == "The machine rests here."


def test_an_instant_behind_which_a_drive_keeps_its_speed_is_one_of_a_steady_motion():
    """Run up over T, then constant: at 2 T what is behind does not count."""
    m, l, v, T = 2.0, 0.7, 0.3, 0.02
    course = f"if(t < {T}, {v}*t^2/(2*{T}), {v}*(t - {T}/2))"
    system = vbg.assemble(hung(m, l, course))
    rest = operating_point(system, "steady", t=2.0 * T)
    assert operating_point(system, "steady", t=0.5 * T).kind == "instant"
    assert rest.kind == "steady motion"
