"""Arrays that symbolic equations take from a model itself, as functions of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vbg.model.placing.placed import Placed, place

if TYPE_CHECKING:
    from vbg.model import Model

UNIT = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)  # inertia


@lru_cache(maxsize=128)
def _placed(model: Model) -> Placed:
    """The written posture; the same models are asked for every array of every joint."""
    return place(model)


def frame_of(joint: str, name: str) -> Callable[[Model], Any]:
    """The function that takes an array of a joint's frame from a model."""
    return lambda model: np.atleast_2d(getattr(_placed(model).frames[joint], name).T).T


def number_of(joint: str, key: str) -> Callable[[Model], Any]:
    """The function that takes a number of a joint, (1, 1); a length that is not written is the
    distance of its two points at the written posture."""

    def of(model: Model) -> Any:
        value = getattr(model.joints[joint], key)
        return [[_distance(_placed(model), joint) if value is None else value]]

    return of


def _distance(placed: Placed, joint: str) -> float:
    frame = placed.frames[joint]
    ends = ((frame.first, frame.p_AF_A), (frame.second, frame.p_BM_B))
    first, second = (
        placed.poses[body].p_WB + placed.poses[body].R_WB @ at if body in placed.poses else at
        for body, at in ends
    )
    return float(np.linalg.norm(second - first))


def mass_of(body: str) -> Callable[[Model], Any]:
    """The function that takes the mass of a body, (1, 1)."""
    return lambda model: [[model.bodies[body].mass]]


def inertia_of(body: str) -> Callable[[Model], Any]:
    """The function that takes the inertia matrix of a body, (3, 3)."""

    def of(model: Model) -> Any:
        xx, yy, zz, xy, yz, zx = model.bodies[body].inertia
        return [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]

    return of


def gravity_of(model: Model) -> Any:
    """(3, 1), W."""
    return np.array(model.gravity).reshape(3, 1)


def of_unit_bodies(model: Model) -> Model:
    """The same machine with bodies of mass 1 and inertia 1: its flows are its momenta, and
    no constant of its expressions holds a mass."""
    unit = {name: replace(body, mass=1.0, inertia=UNIT) for name, body in model.bodies.items()}
    twin = type(model).__new__(type(model))
    twin.__dict__.update(model.__dict__ | {"bodies": unit})
    return twin
