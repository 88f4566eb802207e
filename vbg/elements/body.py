"""The rigid body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Shape, declare, quantity

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body: mass, inertia about the mass centre, start, named points.

    Either `mass` and `inertia` are written or they follow from `shape` and
    its density.  `com` is the mass centre in the axes in which `points` and
    `shape` are written; after reading, all points count from the mass centre.
    """

    table: ClassVar[str] = "bodies"
    kind: ClassVar[str] = "body"

    mass: float | None = quantity("kg", "mass; default: from shape", above=0.0, default=None)
    inertia: tuple[float, float, float, float, float, float] | None = declare(
        "inertia",
        "xx, yy, zz, xy, yz, zx about the mass centre, body axes; default: from shape",
        unit="kg*m^2",
        default=None,
    )
    shape: tuple[Shape, ...] = declare(
        "shape", "solids it is made of, drawn and weighed", default=()
    )
    com: Vector | None = declare(
        "vector", "mass centre from the body's origin", unit="m", size=3, default=None
    )
    position: Vector | None = declare(
        "vector", "of the mass centre in W at the start; a guess", unit="m", size=3, default=None
    )
    rotation: tuple[float, float, float, float] | None = declare(
        "rotation", "of the body's axes in W at the start; a guess", default=None
    )
    velocity: Vector | None = declare(
        "vector", "of the mass centre at the start, W", unit="m/s", size=3, default=None
    )
    angular_velocity: Vector | None = declare(
        "vector", "at the start, body axes", unit="rad/s", size=3, default=None
    )
    points: Mapping[str, Vector] = declare(
        "points", "named points in body axes, from the mass centre", unit="m", default={}
    )
