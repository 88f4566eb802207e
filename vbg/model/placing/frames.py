"""The two frames of a joint, and its coordinates at the written posture.

A joint joins frame F on the first body and frame M on the second.  F's z is
the joint's `axis`, and the coordinates are those of M in F::

    revolute, helical     R_FM = Rz(angle)         p_FM = 0, lead * angle * z
    prismatic             R_FM = 1                 p_FM = slide * z
    cylindrical           R_FM = Rz(angle)         p_FM = slide * z
    universal             R_FM = Rz(angle) Rx(-90 deg) Rz(angle2), so z_M = y_F at angle 0
    rolling               z_F the plane's normal, z_M the disc's axis
    fixed, spherical, ... R_FM = 1 at the written posture

What fixes the zero of an angle: where both bodies have a position or a
rotation written, the angle has its `initial` value (0 if not written) at that
posture.  Otherwise the axes of both bodies are parallel at angle 0.  A screw
whose bodies are both placed turns from there too: its F stands where the slide
is lead * angle at the written posture, the angle being the drive's or 0; with
`initial` it stays at the point that is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vbg.model.model import Model
from vbg.model.placing.links import GROUND, TO_SECOND_AXIS, Link
from vbg.model.placing.posture import Places
from vbg.spatial import Array


@dataclass(frozen=True, slots=True, eq=False)
class JointFrame:
    """Frame F on body `first` and frame M on body `second`: (3,) from the mass
    centre [m] and (3, 3), in the body's axes; and the coordinates at the
    written posture, in the order angle, slide, angle2.  `written`: those of them whose value
    the engineer wrote; the others are measured."""

    first: str
    second: str
    p_AF_A: Array
    R_AF: Array
    p_BM_B: Array
    R_BM: Array
    coordinates: tuple[float, ...]
    written: frozenset[str]


def frame_of(model: Model, link: Link, axes: tuple[Array, Array], places: Places) -> JointFrame:
    """The frames of one joint between bodies; coordinates without `initial` as its bodies'
    `places` show them."""
    R_AF, R_BM = axes
    (p_WA, R_WA), (p_WB, R_WB) = places[link.first.body], places[link.second.body]
    p_AF_A, p_BM_B = np.array(link.first.at), np.array(link.second.at)
    R_WF = R_WA @ R_AF
    p_FM_W = p_WB + R_WB @ p_BM_B - p_WA - R_WA @ p_AF_A
    measured = _measured(link, R_WF.T @ R_WB @ R_BM, R_WF.T @ p_FM_W)
    coordinates = tuple(
        _at_the_turn_of_its_drive(link, name, measured[name]) if start is None else start
        for name, start in link.start.items()
    )
    if link.kind == "helical" and link.start["angle"] is None and _both_placed(model, link):
        turned = link.part.lead * link.value("angle")
        p_AF_A = p_AF_A + (measured["slide"] - turned) * R_AF[:, 2]
    written = frozenset(name for name, start in link.start.items() if start is not None)
    ends = (link.first.body, link.second.body)
    return JointFrame(*ends, p_AF_A, R_AF, p_BM_B, R_BM, coordinates, written)


def _both_placed(model: Model, link: Link) -> bool:
    ends = (link.first.body, link.second.body)
    return all(b == GROUND or model.bodies[b].position is not None for b in ends)


def _at_the_turn_of_its_drive(link: Link, name: str, value: float) -> float:
    """The posture shows an angle but for whole turns; a drive says which one it begins in."""
    if name == "slide" or link.drive is None:
        return value
    return value + 2.0 * math.pi * round((link.drive[0] - value) / (2.0 * math.pi))


def _measured(link: Link, R_FM: Array, p_FM_F: Array) -> Mapping[str, float]:
    """The coordinates that the posture shows, angles within half a turn."""
    if link.kind == "universal":
        # R_FM = Rz(a) Rx(-90 deg) Rz(a2): third column (-sin a, cos a, 0), third row
        # (-sin a2, -cos a2, 0); the mean over the matrix is taken where it is not quite that
        R = R_FM @ np.eye(3)
        angle = math.atan2(-R[0, 2], R[1, 2])
        c, s = math.cos(angle), math.sin(angle)
        turned = TO_SECOND_AXIS.T @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
        return {"angle": angle, "angle2": math.atan2(turned[1, 0], turned[0, 0])}
    return {
        "angle": math.atan2(R_FM[1, 0] - R_FM[0, 1], R_FM[0, 0] + R_FM[1, 1]),
        "slide": float(p_FM_F[2]),
    }
