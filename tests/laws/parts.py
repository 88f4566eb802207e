"""Random parts on random machines: forces, couplings, drives and a rolling disc."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from tests.laws.machines import Machine, join, random_body, unit

TURNING = ("revolute", "helical")
SLIDING = ("prismatic", "point_on_line")


def loaded(machine: Machine, seed: int, *, conservative: bool = False) -> Machine:
    """The machine with every kind of force on it; without dampers and sources if
    `conservative`.  Springs on coordinates stand on every joint that has one."""
    rng = np.random.default_rng(seed + 77)
    other = copy.deepcopy(machine)
    names = [*other.bodies]

    def ends(first: str, second: str) -> list[dict[str, Any]]:
        return [other.at(b, rng.uniform(-0.8, 0.8, size=3)) for b in (first, second)]

    add_bushing(other, rng, "bushing", names[0], names[-1], damped=not conservative)
    line = ends("ground", names[0])
    first, second = (np.array(end["at"]) for end in line)
    p, R = other.pose(names[0])
    distance = float(np.linalg.norm(p + R @ second - first))
    other.forces["stop"] = {
        "kind": "stop",
        "between": line,
        "gap": 1.3 * distance,
        "k": rng.uniform(5.0, 20.0),
        "c": 0.0 if conservative else rng.uniform(0.5, 2.0),
    }
    for name, joint in machine.joints.items():
        _on_coordinate(other, rng, name, joint["kind"], conservative)
    if not conservative:
        other.forces["damper"] = {
            "kind": "damper",
            "between": ends(names[0], "ground"),
            "c": rng.uniform(0.5, 2.0),
        }
        _sources(other, rng, names)
    return other


def add_bushing(
    machine: Machine, rng: np.random.Generator, name: str, first: str, second: str, *, damped: bool
) -> None:
    """A full 6x6 bushing (positive definite), between a body and ground if `first` is
    `second`; its points are 0.1 to 0.3 m apart."""
    other = "ground" if first == second else first
    place = machine.pose(second)[0] + rng.uniform(-0.5, 0.5, size=3)
    apart = rng.uniform(0.1, 0.3) * unit(rng)
    root = rng.normal(size=(6, 6))
    machine.forces[name] = {
        "kind": "bushing",
        "between": [machine.at(other, place - apart), machine.at(second, place)],
        "stiffness": (3.0 * root @ root.T + 2.0 * np.eye(6)).tolist(),
    }
    if damped:
        root = rng.normal(size=(6, 6))
        machine.forces[name]["damping"] = (0.1 * root @ root.T).tolist()


def _on_coordinate(
    machine: Machine, rng: np.random.Generator, joint: str, kind: str, conservative: bool
) -> None:
    """A spring, a damper and a torque on the free coordinate of a joint that has one."""
    on, forces = f"joints.{joint}", machine.forces
    if kind in TURNING:
        forces[f"{joint}_twist"] = {
            "kind": "torsion_spring",
            "on": on,
            "k": rng.uniform(2.0, 6.0),
            "rest": rng.uniform(-0.4, 0.4),
            "c": 0.0 if conservative else rng.uniform(0.1, 0.4),
        }
    elif kind in SLIDING:
        forces[f"{joint}_spring"] = {
            "kind": "spring",
            "on": on,
            "k": rng.uniform(20.0, 60.0),
            "length": rng.uniform(0.1, 0.4),
        }
    if kind in TURNING + SLIDING and not conservative:
        forces[f"{joint}_damper"] = {"kind": "damper", "on": on, "c": rng.uniform(0.1, 0.4)}
        forces[f"{joint}_torque"] = {"kind": "torque", "on": on, "torque": [rng.uniform(0.5, 2.0)]}


def _sources(machine: Machine, rng: np.random.Generator, names: list[str]) -> None:
    """Forces and torques on bodies, in world and in body axes, some of them of time."""
    for axes in ("world", "body"):
        machine.forces[f"force_{axes}"] = {
            "kind": "force",
            "on": machine.at(names[-1], rng.uniform(-0.5, 0.5, size=3)),
            "force": [*rng.uniform(-3.0, 3.0, size=2), "1.3*cos(2.1*t + 0.3)"],
            "axes": axes,
        }
        machine.forces[f"torque_{axes}"] = {
            "kind": "torque",
            "on": machine.at(names[0], np.array([0.3, -0.2, 0.4])),
            "torque": ["0.7*sin(1.9*t + 0.4)", *rng.uniform(-2.0, 2.0, size=2)],
            "axes": axes,
        }


def at_rest(machine: Machine) -> Machine:
    for body in machine.bodies.values():
        body["velocity"] = body["angular_velocity"] = [0.0, 0.0, 0.0]
    return machine


def coupled(seed: int, kind: str) -> Machine:
    """Two bodies on ground by joints whose coordinates a gear, belt or rack couples."""
    rng = np.random.default_rng(seed)
    machine = Machine(gravity=rng.uniform(-10.0, 10.0, size=3))
    for name in ("one", "two"):
        machine.bodies[name] = random_body(rng)
    join(machine, rng, "first", "revolute", "ground", "one")
    join(machine, rng, "second", "prismatic" if kind == "rack_pinion" else "revolute", "one", "two")
    machine.joints["coupling"] = {
        "kind": kind,
        "between": ["joints.first", "joints.second"],
        "ratio": -0.7 if kind == "gear" else 0.6,
    }
    return machine


def rolling_disc(seed: int) -> Machine:
    """A body with a disc on it, its centre beside the mass centre, on a tilted plane."""
    rng = np.random.default_rng(seed)
    machine = Machine(gravity=np.array([1.1, -0.7, -9.3]))
    machine.bodies["disc"] = random_body(rng)
    normal = unit(rng)
    normal *= np.sign(normal[2])
    p, R = machine.pose("disc")
    centre = p + rng.uniform(-0.1, 0.1, size=3)
    axis = unit(rng)
    in_disc = normal - normal @ axis * axis
    radius = 0.4
    touching = centre - radius * in_disc / np.linalg.norm(in_disc)
    machine.joints["wheel"] = {
        "kind": "rolling",
        "between": [machine.at("ground", touching), machine.at("disc", centre)],
        "axis": list(normal),
        "axis2": list(R.T @ axis),
        "radius": radius,
    }
    return machine
