"""Rests of the second solver: what is light, soft or slow beside what is heavy, stiff or fast is at
rest where it is alone, by closed forms over twelve decades and more."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.analysis.rests.test_weak_leaks import circuit, vessels
from tests.tail import tail
from vbg.errors import UsageError
from vbg.tmm_bridge.modes.modal import Vibration, vibration
from vbg.tmm_bridge.motion.rate.plant import Plant

G = 9.81


def body(mass: float, **points: list[float]) -> dict[str, object]:
    return {
        "mass": mass,
        "inertia": dict.fromkeys(("xx", "yy", "zz"), 0.1 * mass),
        "points": points,
    }


def coordinate(found: Vibration, joint: str) -> float:
    tables = found.small.mechanism.tables
    places = {name: k for (name, _), k in found.small.mechanism.coordinates.items()}
    return float(found.y[tables.coordinates[places[joint], 3]])


@pytest.mark.parametrize("seed", tail(range(12), 4))
def test_light_and_heavy_bodies_come_to_their_own_rests(seed: int) -> None:
    """A heavy pendulum that hangs already, light ones at an angle, and bodies that sag by m g/k
    on springs."""
    draw = np.random.default_rng(seed)
    bodies = {"heavy": body(10.0 ** draw.uniform(3, 7), p=[0, 0, 1])}
    hinge = {"kind": "revolute", "axis": [0, 1, 0]}
    joints = {"Heavy": {**hinge, "between": ["ground", "heavy.p"]}}
    forces, sags = {}, {}
    for name in "abc":
        bodies[name] = body(10.0 ** draw.uniform(-9, 3), p=[0, 0, draw.uniform(0.5, 2.0)])
        at = {"angle": draw.uniform(-1.0, 1.0)}
        joints[name.upper()] = {**hinge, "between": ["ground", f"{name}.p"], "initial": at}
    for name in "xyz":
        mass, sags[name.upper()] = 10.0 ** draw.uniform((-9, -3), (7, -1))
        bodies[name] = body(mass, p=[1, 0, 0])
        rail = {"kind": "prismatic", "axis": [0, 0, 1], "between": ["ground", f"{name}.p"]}
        joints[name.upper()] = rail
        k = mass * G / sags[name.upper()]
        forces[name + "s"] = {"kind": "spring", "on": f"joints.{name.upper()}", "k": k}
    found = vibration(vbg.Model(gravity=[0, 0, -G], bodies=bodies, joints=joints, forces=forces))
    # to RESTS of its own stiffness m g l, l >= 0.5 m, and of its weight along the model's size
    for name in "ABC":
        assert abs(coordinate(found, name)) < 1e-11
    for name, sag in sags.items():
        assert coordinate(found, name) == pytest.approx(-sag, rel=1e-9)


@pytest.mark.parametrize("seed", tail(range(8), 4))
def test_what_is_stiff_elsewhere_holds_no_light_body_up(seed: int) -> None:
    """Two heavy bodies at rest, with a stiff spring between them: a pendulum beside them hangs."""
    draw = np.random.default_rng(seed)
    M, m, k = (10.0 ** draw.uniform([2, -8, 6], [5, 0, 13])).tolist()
    rail, sag = {"kind": "prismatic", "axis": [0, 0, 1]}, float(draw.uniform(0.01, 0.2))
    bodies = {name: body(M, p=[0, 0, 0]) for name in "ab"} | {"c": body(m, p=[0, 0, 1])}
    joints, forces = {}, {}
    for name, x in (("a", 0.0), ("b", 2.0)):
        between = [{"body": "ground", "at": [x, 0, 0]}, f"{name}.p"]
        joints[name.upper()] = {**rail, "between": between, "initial": {"slide": -sag}}
        forces[name + "s"] = {"kind": "spring", "on": f"joints.{name.upper()}", "k": M * G / sag}
    forces["between"] = {"kind": "spring", "between": ["a.p", "b.p"], "k": k, "length": 2.0}
    hinge = {"kind": "revolute", "axis": [0, 1, 0], "between": ["ground", "c.p"]}
    joints["C"] = {**hinge, "initial": {"angle": float(draw.uniform(-1.0, 1.0))}}
    found = vibration(vbg.Model(gravity=[0, 0, -G], bodies=bodies, joints=joints, forces=forces))
    assert abs(coordinate(found, "C")) < 1e-11


def test_ends_of_a_spring_that_meet_are_told() -> None:
    model = vbg.Model(
        bodies={"a": body(1.0, p=[0, 0, 0])},
        joints={"A": {"kind": "prismatic", "axis": [1, 0, 0], "between": ["ground", "a.p"]}},
        forces={"s": {"kind": "spring", "between": ["ground", "a.p"], "k": 2.0, "length": 0.0}},
    )
    with pytest.raises(UsageError, match="ends of a spring meet"):
        vibration(model)


@pytest.mark.parametrize(
    ("network", "quantity", "unit"), [(circuit, "voltage", 1.0), (vessels, "pressure", 1e5)]
)
def test_the_rest_of_a_network_is_that_of_forty_digits(network, quantity, unit) -> None:
    """Levels of stores whose exchanges lie up to twelve decades apart."""
    rng = np.random.default_rng(17)
    for _ in range(8):
        model, held, sizes = network(rng, int(rng.integers(2, 5)))
        found = vibration(model)
        assert found.network is not None and found.network.network is not None
        plant = Plant(found.network)
        plant.evaluate(0.0, np.concatenate([found.y, found.x]))
        names = [name for name, _, _ in found.network.network.outputs]
        told = dict(zip(names, plant.outputs(), strict=False))
        for name, content in held.items():
            level = content / sizes[name] * unit
            store = name.partition(".")[0]
            assert told[f"{store}.{quantity}"] == pytest.approx(level, rel=1e-9)
