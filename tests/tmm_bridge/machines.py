"""Two machines that between them use every part of the mechanics, written down in full.

Small enough to run in a tenth of a second, oblique enough that no term vanishes.
"""

from __future__ import annotations

from vbg.model import Model

BAR = {"xx": 0.003, "yy": 0.021, "zz": 0.023, "xy": 0.001, "yz": -0.0007, "zx": 0.0012}


def arm() -> Model:
    """Tree: revolute, cylinder driven about nothing, ball; springs, dampers, loads, a gear."""
    return Model(
        name="arm",
        gravity=[0.3, -0.2, -9.81],
        bodies={
            "base": {
                "mass": 2.0,
                "inertia": BAR,
                "position": [0.2, 0.05, 0.1],
                "points": {"in": [-0.2, -0.05, -0.1], "out": [0.25, 0.02, 0.03]},
            },
            "slider": {
                "mass": 1.1,
                "inertia": BAR,
                "position": [0.6, 0.1, 0.2],
                "points": {"in": [-0.15, -0.03, -0.07], "out": [0.1, 0.2, 0.0]},
            },
            "hand": {
                "mass": 0.7,
                "inertia": BAR,
                "position": [0.85, 0.35, 0.15],
                "angular_velocity": [1.0, -2.0, 1.5],
                "points": {"in": [-0.15, -0.05, 0.05], "tip": [0.2, 0.1, 0.05]},
            },
            "wheel": {"mass": 0.4, "inertia": BAR, "position": [-0.3, 0.1, 0.0]},
        },
        joints={
            "J1": {
                "kind": "revolute",
                "between": ["ground", "base.in"],
                "axis": [0.2, 0.9, 0.3],
                "initial": {"angle": 0.0, "speed": 3.0},
                "friction": {"viscous": 0.2},
            },
            "J2": {
                "kind": "cylindrical",
                "between": ["base.out", "slider.in"],
                "axis": [0.8, -0.1, 0.4],
                "initial": {"angle": 0.0, "speed": -2.0, "slide": 0.0, "slide_speed": 1.0},
            },
            "J3": {"kind": "spherical", "between": ["slider.out", "hand.in"]},
            "J4": {
                "kind": "revolute",
                "between": [{"body": "ground", "at": [-0.3, 0.0, 0.0]}, "wheel"],
                "axis": [0.1, 1.0, 0.0],
            },
            "gear": {"kind": "gear", "between": ["joints.J1", "joints.J4"], "ratio": -1.7},
        },
        forces={
            "line": {
                "kind": "spring",
                "between": ["hand.tip", {"body": "ground", "at": [0.9, 0.9, 0.2]}],
                "k": 150.0,
                "length": 0.3,
            },
            "dash": {"kind": "damper", "between": ["base.out", "hand.tip"], "c": 4.0},
            "coil": {"kind": "torsion_spring", "on": "joints.J1", "k": 6.0, "rest": 0.2},
            "push": {
                "kind": "force",
                "on": "hand.tip",
                "force": [2.0, "3*sin(20*t)", -1.0],
                "axes": "body",
            },
            "mount": {
                "kind": "bushing",
                "between": ["slider.out", {"body": "ground", "at": [0.7, 0.3, 0.2]}],
                "stiffness": [80, 90, 70, 2, 3, 4],
                "damping": [1, 2, 1, 0.1, 0.1, 0.2],
            },
        },
    )


def loop() -> Model:
    """Driven crank with three loops: a point on a line, a universal joint and a rod close them."""
    return Model(
        name="loop",
        gravity=[0.0, -9.81, 0.5],
        bodies={
            "crank": {
                "mass": 1.0,
                "inertia": BAR,
                "position": [0.0, 0.1, 0.05],
                "points": {
                    "in": [0.0, -0.1, -0.05],
                    "out": [0.0, 0.1, 0.05],
                    "side": [0.1, 0.05, -0.05],
                },
            },
            "rod": {
                "mass": 0.8,
                "inertia": BAR,
                "position": [0.3, 0.25, 0.15],
                "points": {"in": [-0.3, -0.05, -0.05], "line": [0.1, 0.05, 0.0]},
            },
            "link": {
                "mass": 0.6,
                "inertia": BAR,
                "position": [0.4, 0.0, -0.05],
                "points": {"in": [-0.3, 0.15, 0.05], "out": [0.3, -0.1, 0.05]},
            },
            "sleeve": {
                "mass": 0.5,
                "inertia": BAR,
                "position": [0.75, -0.1, 0.05],
                "points": {"in": [-0.05, 0.0, -0.05]},
            },
            "nut": {
                "mass": 0.3,
                "inertia": BAR,
                "position": [-0.13, 0.32, 0.09],
                "points": {"in": [0.03, -0.02, 0.01], "arm": [0.0, 0.1, 0.1]},
            },
        },
        joints={
            "J1": {
                "kind": "revolute",
                "between": ["ground", "crank.in"],
                "axis": [1, 0.2, 0.1],
                "drive": "2*t + 6*t**2",
            },
            "J2": {
                "kind": "universal",
                "between": ["crank.out", "rod.in"],
                "axis": [0, 1, 0],
                "axis2": [0.1, 0, 1],
            },
            "eye": {
                "kind": "point_on_line",
                "between": ["rod.line", {"body": "ground", "at": [0.4, 0.3, 0.15]}],
                "axis": [1, 0.2, 0.1],
            },
            "J5": {
                "kind": "universal",
                "between": ["crank.side", "link.in"],
                "axis": [0.2, 0, 1],
                "axis2": [0, 1, 0],
            },
            "J6": {
                "kind": "cylindrical",
                "between": [{"body": "ground", "at": [0.75, -0.1, 0.05]}, "sleeve"],
                "axis": [1, 0, 0.1],
            },
            "J7": {
                "kind": "universal",
                "between": ["link.out", "sleeve.in"],
                "axis": [0, 1, 0.1],
                "axis2": [0, 0, 1],
            },
            "thread": {
                "kind": "helical",
                "between": ["nut.in", {"body": "crank", "at": [-0.1, 0.2, 0.05]}],
                "axis": [0.1, 1, 0],
                "lead": 0.05,
            },
            "strut": {
                "kind": "distance",
                "between": [{"body": "ground", "at": [-0.4, 0.3, 0.3]}, "nut.arm"],
            },
        },
    )
