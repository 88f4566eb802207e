"""Random robots as URDF files: trees of all kinds of joints in any axes, inertias in turned frames,
links without mass on fixed joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def random_urdf(seed: int) -> str:
    """The text of a file.  Planar joints have the axis z: Pinocchio 4.1 does not read theirs."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    root = _inertial(rng) if rng.random() < 0.3 else ""
    text = f'<robot name="random"><link name="l0">{root}</link>'
    for i in range(1, count + 1):
        kind = str(rng.choice(KINDS, p=(0.3, 0.25, 0.2, 0.17, 0.04, 0.04)))
        light = kind == "fixed" and rng.random() < 0.3
        text += f'<link name="l{i}">{"" if light else _inertial(rng)}</link>'
        text += f'<joint name="j{i}" type="{kind}">{_origin(rng, 0.4)}{_axis(rng, kind)}'
        text += f'<parent link="l{rng.integers(0, i)}"/><child link="l{i}"/>'
        if kind in ("revolute", "prismatic"):
            low, high = sorted(rng.uniform(-2.0, 2.0, 2))
            text += f'<limit lower="{low}" upper="{high}" effort="10" velocity="3"/>'
        text += '<dynamics damping="0.4" friction="0.2"/>' if rng.random() < 0.3 else ""
        text += "</joint>"
    return f"{text}</robot>"


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def _origin(rng: np.random.Generator, reach: float) -> str:
    xyz, rpy = rng.uniform(-reach, reach, 3), rng.uniform(-3.0, 3.0, 3)
    return f'<origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/>' if rng.random() < 0.85 else ""


def _axis(rng: np.random.Generator, kind: str) -> str:
    if kind == "planar":
        return '<axis xyz="0 0 1"/>'
    one = np.eye(3)[rng.integers(3)] * rng.choice((-1.0, 1.0))
    axis = rng.normal(size=3) if rng.random() < 0.6 else one
    return f'<axis xyz="{_text(axis)}"/>' if rng.random() < 0.9 else ""


def _inertial(rng: np.random.Generator) -> str:
    """Of a box, turned."""
    x, y, z = rng.uniform(0.05, 0.3, 3) ** 2
    mass, Q = float(rng.uniform(0.3, 4.0)), Rotation.random(random_state=rng).as_matrix()
    J = mass / 12.0 * Q @ np.diag([y + z, x + z, x + y]) @ Q.T
    keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    six = J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    moments = " ".join(f'{key}="{float(value)!r}"' for key, value in zip(keys, six))
    return f'<inertial>{_origin(rng, 0.2)}<mass value="{mass}"/><inertia {moments}/></inertial>'
