"""A small machine around every body, joint, force and raw vertex, for laws that all parts keep."""

from __future__ import annotations

from typing import Any

GRAVITY = [0.4, -1.1, -9.6]


def _body(position: list[float], **more: Any) -> dict[str, Any]:
    return {
        "mass": 1.3,
        "inertia": {"xx": 0.05, "yy": 0.07, "zz": 0.06, "xy": 0.004},
        "position": position,
        **more,
    }


def _two_bodies() -> dict[str, Any]:
    """Two moving bodies whose points P and Q coincide; R and S are other points of them."""
    return {
        "a": _body([0, 0, 0], points={"P": [0.2, 0.1, -0.05], "R": [-0.2, 0.1, 0.3]})
        | {"velocity": [0.3, -0.2, 0.5], "angular_velocity": [0.7, -0.4, 0.9]},
        "b": _body([0.5, 0.2, 0.1], points={"Q": [-0.3, -0.1, -0.15], "S": [0.3, 0.4, 0.1]})
        | {"velocity": [-0.1, 0.2, 0.1], "angular_velocity": [-0.5, 0.8, 0.2]},
    }


def _joint(**joint: Any) -> dict[str, Any]:
    """A pair between two free bodies."""
    part = {"between": ["a.P", "b.Q"], **joint}
    return {"gravity": GRAVITY, "bodies": _two_bodies(), "joints": {"part": part}}


def _force(**part: Any) -> dict[str, Any]:
    return {"gravity": GRAVITY, "bodies": _two_bodies(), "forces": {"part": part}}


def _on_hinge(**part: Any) -> dict[str, Any]:
    document = _joint(kind="revolute", axis=[0, 0.6, 0.8], initial={"angle": 0.2, "speed": 1.1})
    document["joints"] = {"hinge": document["joints"]["part"]}
    return document | {"forces": {"part": part}}


def _coupling(second: str = "revolute", **coupling: Any) -> dict[str, Any]:
    """Two bodies on ground, the coordinates of their joints coupled."""
    joints = {
        name: {"kind": kind, "between": [{"body": "ground", "at": at}, name], "axis": [0, 0.6, 0.8]}
        for name, kind, at in (("a", "revolute", [0, 0.1, 0]), ("b", second, [0.5, 0.2, 0.2]))
    }
    joints["a"]["initial"] = {"speed": 1.3}
    hinges = {f"j{name}": joint for name, joint in joints.items()}
    part = {"between": ["joints.ja", "joints.jb"], **coupling}
    bodies = {name: _body(at) for name, at in (("a", [0, 0, 0]), ("b", [0.5, 0.2, 0.1]))}
    return {"gravity": GRAVITY, "bodies": bodies, "joints": hinges | {"part": part}}


def _raw(vertices: dict[str, Any], *bonds: str) -> dict[str, Any]:
    return {"bondgraph": vertices, "bonds": list(bonds)}


_DRY = {"viscous": 0.3, "coulomb": 0.4, "static": 0.6}
_STOP = {"lower": -0.05, "upper": 0.05, "k": 400.0, "c": 1.0}
_LINE = {"between": ["a.R", "b.S"]}
_OSCILLATOR = {
    "one": {"kind": "1"},
    "m": {"kind": "I", "value": 2.0, "initial": [1.5]},
    "k": {"kind": "C", "value": 0.1, "initial": [0.2]},
}
_RING = ("one -> m", "one -> k")

MECHANICS: dict[str, dict[str, Any]] = {
    "bodies.body": {"gravity": GRAVITY, "bodies": {"a": _two_bodies()["a"]}},
    "joints.fixed": _joint(kind="fixed"),
    "joints.revolute": _joint(kind="revolute", axis=[0, 0.6, 0.8], friction=_DRY, stop=_STOP),
    "joints.prismatic": _joint(kind="prismatic", axis=[0, 0.6, 0.8], friction=_DRY, stop=_STOP),
    "joints.helical": _joint(kind="helical", axis=[0, 0.6, 0.8], lead=0.05, friction=_DRY),
    "joints.cylindrical": _joint(kind="cylindrical", axis=[0, 0.6, 0.8]),
    "joints.universal": _joint(kind="universal", axis=[0, 0.6, 0.8], axis2=[1, 0, 0]),
    "joints.spherical": _joint(kind="spherical"),
    "joints.point_on_line": _joint(kind="point_on_line", axis=[0, 0.6, 0.8]),
    "joints.point_on_plane": _joint(kind="point_on_plane", axis=[0, 0.6, 0.8]),
    "joints.guide": _joint(kind="guide", axis=[0, 0.6, 0.8], drive="0.2*sin(2*t)"),
    "joints.planar": _joint(kind="planar", axis=[0, 0.6, 0.8]),
    "joints.distance": _joint(kind="distance", **_LINE),
    "joints.gear": _coupling(kind="gear", ratio=-1.7),
    "joints.belt": _coupling(kind="belt", ratio=1.7),
    "joints.rack_pinion": _coupling("prismatic", kind="rack_pinion", ratio=0.13),
    "joints.rolling": {
        "gravity": GRAVITY,
        "bodies": {"disc": _body([0, 0, 0.3], angular_velocity=[0.2, 3.0, 0.5])},
        "joints": {
            "part": {
                "kind": "rolling",
                "between": ["ground", "disc"],
                "axis": [0, 0, 1],
                "axis2": [0, 1, 0],
                "radius": 0.3,
            }
        },
    },
    "forces.spring": _force(kind="spring", k=70.0, length=0.4, **_LINE),
    "forces.damper": _force(kind="damper", c=3.0, **_LINE),
    "forces.stop": _force(kind="stop", gap=0.5, k=300.0, c=2.0, **_LINE),
    "forces.bushing": _force(
        kind="bushing",
        between=["a.P", "b.Q"],
        stiffness=[90.0, 80.0, 70.0, 3.0, 4.0, 5.0],
        damping=[0.9, 0.8, 0.7, 0.1, 0.2, 0.3],
    ),
    "forces.beam_element": _force(
        kind="beam_element",
        between=["a.P", "b.Q"],
        length=0.7,
        EA=90.0,
        GA_y=80.0,
        GJ=3.0,
        EI_y=4.0,
        EI_z=5.0,
        damping=0.01,
    ),
    "forces.force": _force(kind="force", on="a.P", force=[1.0, "2*sin(30*t)", -3.0]),
    "forces.torque": _force(kind="torque", on="a", torque=[1.0, "2*sin(30*t)", -3.0]),
    "forces.torsion_spring": _on_hinge(kind="torsion_spring", on="joints.hinge", k=9.0, c=0.1),
    "bondgraph.I": _raw(
        _OSCILLATOR | {"m": {"kind": "I", "energy": "p**2/4 + p**4/50", "initial": [1.5]}}, *_RING
    ),
    "bondgraph.C": _raw(
        _OSCILLATOR | {"k": {"kind": "C", "energy": "5*q**2 + 3*q**4", "initial": [0.2]}}, *_RING
    ),
    "bondgraph.R": _raw(
        _OSCILLATOR | {"r": {"kind": "R", "effort": "0.4*f + f**3"}}, *_RING, "one -> r"
    ),
    "bondgraph.Se": _raw(
        _OSCILLATOR | {"s": {"kind": "Se", "effort": "3*sin(20*t)"}}, *_RING, "s -> one"
    ),
    "bondgraph.Sf": _raw(
        _OSCILLATOR
        | {"zero": {"kind": "0"}, "s": {"kind": "Sf", "flow": "3*sin(20*t)"}}
        | {"c": {"kind": "C", "value": 0.3}},
        *_RING,
        "s -> zero",
        "zero -> c",
        "zero -> one",
    ),
    "bondgraph.TF": _raw(
        _OSCILLATOR
        | {
            "tf": {"kind": "TF", "ratio": 2.5},
            "two": {"kind": "1"},
            "c": {"kind": "C", "value": 0.3},
        },
        *_RING,
        "one -> tf",
        "tf -> two",
        "two -> c",
    ),
    "bondgraph.GY": _raw(
        _OSCILLATOR
        | {
            "gy": {"kind": "GY", "ratio": 2.5},
            "two": {"kind": "1"},
            "n": {"kind": "I", "value": 0.7},
        },
        *_RING,
        "one -> gy",
        "gy -> two",
        "two -> n",
    ),
}
MECHANICS["beams.beam"] = {
    "gravity": GRAVITY,
    "beams": {
        "boom": {
            "between": ["ground", "free"],
            "length": 1.5,
            "axis": [1, 2, 2],
            "up": [0, 0, 1],
            "section": {"tube": {"radius": 0.02, "inner_radius": 0.018}},
            "material": {"E": "7 MPa", "nu": 0.3, "density": 1000.0},
            "elements": 2,
            "damping": 1e-3,
        }
    },
}
MECHANICS["bondgraph.0"] = MECHANICS["bondgraph.Sf"]
MECHANICS["bondgraph.1"] = MECHANICS["bondgraph.TF"]
