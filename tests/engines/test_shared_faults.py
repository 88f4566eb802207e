"""What both own solvers share, rotations and frames of joints, is witnessed by the engines: a fault
in any function of these files shows against them, or changes nothing at all."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from tests.tail import tail
from vbg import spatial
from vbg.engines.machine import written_place
from vbg.engines.pose import of_quaternion
from vbg.model import Model
from vbg.model.placing import frames

TILT = Rotation.from_rotvec([0.004, 0.007, -0.005])
SEEN = 1e-6
J1, J2 = {"xx": 0.1, "yy": 0.2, "zz": 0.25}, {"xx": 0.03, "yy": 0.02, "zz": 0.04}
TURNED = {"axis": [1, 2, 3], "angle": "40 deg"}

CHAIN = {
    "bodies": {
        "a": {
            "mass": 1.0,
            "inertia": J1,
            "position": [0.3, 0.1, 0],
            "rotation": TURNED,
            "points": {"P": [0.2, 0, 0.1], "Q": [-0.1, 0.2, 0]},
        },
        "b": {"mass": 0.7, "inertia": J2},
        "c": {"mass": 0.5, "inertia": J2},
    },
    "joints": {
        "h": {
            "kind": "revolute",
            "between": ["ground", "a.Q"],
            "axis": [1, 1, 2],
            "initial": {"angle": 0.3, "speed": 1.0},
        },
        "g": {
            "kind": "revolute",
            "between": ["a.P", "b"],
            "axis": [0, 0.6, 0.8],
            "axis_on_second": [0.6, 0, 0.8],
            "initial": {"angle": 0.4, "speed": -2.0},
        },
        "u": {
            "kind": "universal",
            "between": ["b", {"body": "c", "at": [0.1, 0.2, 0.1]}],
            "axis": [1, 0, 0],
            "axis2": [0, 0.8, 0.6],
            "initial": {"angle": 0.4, "angle2": 0.2, "speed": 0.3, "speed2": -0.2},
        },
    },
}
SCREW = {
    "bodies": {
        "a": {
            "mass": 1.0,
            "inertia": J1,
            "position": [0, 0, 0.5],
            "rotation": {"euler": [0, 0, 0.3], "sequence": "XYZ"},
        },
        "b": {
            "mass": 1.0,
            "inertia": J1,
            "position": [0.3, 0.4, 0.5],
            "rotation": {"quaternion": [0.5, 0.5, 0.5, 0.5]},
        },
    },
    "joints": {
        "s": {
            "kind": "helical",
            "between": ["ground", "a"],
            "axis": [0, 0, 1],
            "lead": 0.05,
            "drive": "7 + 2*t",
        },
        "p": {"kind": "prismatic", "between": ["a", "b"], "axis": [0, 1, 0.5]},
    },
}
LOOSE = {
    "bodies": {
        "a": {
            "shape": [
                {
                    "box": {"x": 0.1, "y": 0.2, "z": 0.3},
                    "density": 1000,
                    "position": [0.1, 0.2, 0],
                    "rotation": {"axis": [0, 1, 1], "angle": 0.5},
                },
                {"cylinder": {"radius": 0.05, "length": 0.4, "axis": [1, 0, 1]}, "density": 2000},
            ],
            "rotation": {"axis": [1, 2, 0], "angle": 2.0},
            "position": [0, 0, 1],
            "angular_velocity": [1, 2, 3],
        }
    }
}
MACHINES = {"chain": CHAIN, "screw": SCREW, "loose": LOOSE}
FUNCTIONS = [
    (module, name)
    for module in (spatial, frames)
    for name, one in inspect.getmembers(module, inspect.isfunction)
    if one.__module__ == module.__name__
]


@pytest.fixture(scope="module", params=["mujoco", "exudyn", "drake"])
def engine(request):
    pytest.importorskip({"drake": "pydrake"}.get(request.param, request.param))
    return request.param


def moved(value, only: str = ""):
    """A result of a shared function that is a little off."""
    if isinstance(value, frames.JointFrame):
        return dataclasses.replace(value, **{only: moved(getattr(value, only))})
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return value + 0.01
    if isinstance(value, tuple):
        return tuple(map(moved, value))
    if isinstance(value, Mapping):
        return {key: moved(one) for key, one in value.items()}
    if value.shape == (3, 3):
        return TILT.as_matrix() @ value
    if value.shape == (4,):
        turned = TILT * Rotation.from_quat(value, scalar_first=True)
        return turned.as_quat(scalar_first=True)
    return value @ TILT.as_matrix() + 0.01


def seen(machine: str, engine: str) -> tuple[dict[str, np.ndarray], float]:
    """The first instant by vbg, and by how much an engine's differs: signals, and places of
    bodies that are written."""
    from vbg.engines.running import simulate

    model = Model(name=machine, **MACHINES[machine])
    start = vbg.start(model)
    first = start.outputs(0.0, start.state)
    found = simulate(model, first, engine=engine, t_end=1e-9, output_step=1e-9)
    apart = 0.0
    for name, values in found.signals.items():
        if name in first and not name.endswith("rotation"):
            right = np.ravel(first[name])
            gap = np.abs(right - np.ravel(values[0])).max()
            apart = max(apart, float(gap) / max(1.0, np.abs(right).max()))
    if not model.joints:  # nothing moves it from where it is written
        gap = of_quaternion(np.ravel(first["a.rotation"])) - written_place(model, "a").R
        apart = max(apart, float(np.abs(gap).max()))
    return first, apart


@pytest.mark.parametrize("machine", MACHINES)
def test_without_a_fault_the_engine_agrees(machine, engine):
    assert seen(machine, engine)[1] < 1e-9


CASES = [
    (module, name, only)
    for module, name in FUNCTIONS
    for only in (
        ("p_AF_A", "R_AF", "p_BM_B", "R_BM", "coordinates") if name == "frame_of" else ("",)
    )
]


@pytest.mark.parametrize(("module", "name", "only"), tail(CASES, 4))
def test_a_fault_in_any_shared_function_shows(module, name, only, engine, monkeypatch):
    right = getattr(module, name)
    unharmed = {machine: seen(machine, engine)[0] for machine in MACHINES}
    for holder in list(sys.modules.values()):
        if holder.__name__.startswith("vbg") and getattr(holder, name, None) is right:
            monkeypatch.setattr(holder, name, lambda *a, **k: moved(right(*a, **k), only))
    effects = []
    for machine, before in unharmed.items():
        try:
            first, apart = seen(machine, engine)
        except vbg.VbgError:  # the start does not close: told
            return
        if apart > SEEN:
            return
        effects += [float(np.abs(first[n] - before[n]).max()) for n in before]
    assert max(effects) < 1e-9  # not seen, and nothing to see
