"""The written posture: where each body stands, and the two frames of each joint.

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
from types import MappingProxyType

import numpy as np

from vbg.model.model import Model
from vbg.model.placing.links import GROUND, TO_SECOND_AXIS, Link, axes_of, links_of
from vbg.model.placing.posture import Rates, find_places, find_rates
from vbg.spatial import Array


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """p_WB : (3,) mass centre in W [m];  R_WB : (3, 3);  v_WB : (3,) its velocity, W [m/s];
    w_WB_B : (3,) angular velocity, body axes [rad/s]."""

    p_WB: Array
    R_WB: Array
    v_WB: Array
    w_WB_B: Array


@dataclass(frozen=True, slots=True, eq=False)
class JointFrame:
    """Frame F on body `first` and frame M on body `second`: (3,) from the mass
    centre [m] and (3, 3), in the body's axes; and the coordinates at the
    written posture, in the order angle, slide, angle2."""

    first: str
    second: str
    p_AF_A: Array
    R_AF: Array
    p_BM_B: Array
    R_BM: Array
    coordinates: tuple[float, ...]


_AT_REST = Pose(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))


def placement(model: Model) -> Mapping[str, Pose]:
    """The pose of every body as written, ground not included.

    A body without `position` is placed through a joint from the ground or from
    a body that is placed, its coordinates at their `initial` values (a drive's
    value at t = 0, or 0, where they are not written); a body that no joint
    reaches stands at the origin.  Velocities that are not written follow from
    the same joints with their `initial` speeds.
    """
    return MappingProxyType(_poses(model, links_of(model), _axes(model)))


def joint_frames(model: Model) -> Mapping[str, JointFrame]:
    """The frames of every joint between bodies, at the posture of `placement`.

    Coordinates without `initial` are measured at that posture.
    """
    axes = _axes(model)
    links = links_of(model)
    poses = _poses(model, links, axes)
    return MappingProxyType(
        {link.name: _joint_frame(model, link, *axes[link.name], poses) for link in links}
    )


def _axes(model: Model) -> Mapping[str, tuple[Array, Array]]:
    return {link.name: axes_of(model, link) for link in links_of(model)}


def _poses(
    model: Model, links: tuple[Link, ...], axes: Mapping[str, tuple[Array, Array]]
) -> dict[str, Pose]:
    places = find_places(model, links, axes)
    rates: Rates = find_rates(model, links, axes, places)
    poses = {}
    for name in model.bodies:
        p_WB, R_WB = places[name]
        v_WB, w_WB_W = rates[name]
        poses[name] = Pose(p_WB, R_WB, v_WB, R_WB.T @ w_WB_W)
    return poses


def _joint_frame(
    model: Model, link: Link, R_AF: Array, R_BM: Array, poses: Mapping[str, Pose]
) -> JointFrame:
    first = poses.get(link.first.body, _AT_REST)
    second = poses.get(link.second.body, _AT_REST)
    p_AF_A, p_BM_B = np.array(link.first.at), np.array(link.second.at)
    R_WF = first.R_WB @ R_AF
    p_WF = first.p_WB + first.R_WB @ p_AF_A
    p_WM = second.p_WB + second.R_WB @ p_BM_B
    measured = _measured(link, R_WF.T @ second.R_WB @ R_BM, R_WF.T @ (p_WM - p_WF))
    coordinates = tuple(
        _at_the_turn_of_its_drive(link, name, measured[name]) if start is None else start
        for name, start in link.start.items()
    )
    if link.kind == "helical" and link.start["angle"] is None and _both_placed(model, link):
        turned = link.part.lead * link.value("angle")
        p_AF_A = p_AF_A + (measured["slide"] - turned) * R_AF[:, 2]
    return JointFrame(link.first.body, link.second.body, p_AF_A, R_AF, p_BM_B, R_BM, coordinates)


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
