"""A model in its written posture: the stage between what the engineer wrote and the equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from vbg.errors import ModelError, Problem
from vbg.junctions.latch import begins_open
from vbg.model.model import Model
from vbg.model.placing.frames import JointFrame, frame_of
from vbg.model.placing.links import Link, axes_of, elements_of, links_of
from vbg.model.placing.posture import Places, find_places, find_rates
from vbg.spatial import Array

STRETCH = 0.1  # of an element's length: what assembly may give or take at the start
WRITTEN = ("position", "rotation", "velocity", "angular_velocity")  # keys of a body


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """p_WB : (3,) mass centre in W [m];  R_WB : (3, 3);  v_WB : (3,) its velocity, W [m/s];
    w_WB_B : (3,) angular velocity, body axes [rad/s].  `written`: the keys of `WRITTEN` that
    the file has; what is not written is inferred across joints, or is a guess."""

    p_WB: Array
    R_WB: Array
    v_WB: Array
    w_WB_B: Array
    written: frozenset[str]

    @property
    def is_guessed(self) -> bool:
        """Whether the file says nothing of where the body stands."""
        return not self.written & {"position", "rotation"}


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The pose of every body, ground not included, and the frames of every joint between
    bodies, with the zero of its coordinates.

    Loops need not close here: that is for each solver's own assembly.
    """

    model: Model
    poses: Mapping[str, Pose]
    frames: Mapping[str, JointFrame]


def place(model: Model) -> Placed:
    """The model in its written posture.

    A body without `position` is placed through a joint from the ground or from
    a body that is placed, its coordinates at their `initial` values (a drive's
    value at t = 0, or 0, where they are not written); a body that no joint
    reaches stands at the origin.  Velocities that are not written follow from
    the same joints with their `initial` speeds.  Coordinates without `initial` are measured
    at that posture.
    """
    links = links_of(model)
    elements = elements_of(model)
    through = (*(link for link in links if not begins_open(link.part)), *elements)
    axes = {link.name: axes_of(model, link) for link in (*links, *elements)}
    places = find_places(model, through, axes)
    _require_as_written(model, elements, places)
    axes |= {link.name: _as_placed(link, places) for link in links if _ends_beam(model, link)}
    rates = find_rates(model, through, axes, places)
    poses = {}
    for name, body in model.bodies.items():
        (p_WB, R_WB), (v_WB, w_WB_W) = places[name], rates[name]
        written = frozenset(key for key in WRITTEN if getattr(body, key) is not None)
        poses[name] = Pose(p_WB, R_WB, v_WB, R_WB.T @ w_WB_W, written)
    frames = {link.name: frame_of(model, link, axes[link.name], places) for link in links}
    return Placed(model, MappingProxyType(poses), MappingProxyType(frames))


def _require_as_written(model: Model, elements: tuple[Link, ...], places: Places) -> None:
    """ModelError for a beam whose ends are held where it does not reach: the start would stretch
    one element by all of the gap."""
    for link in elements:
        if link.kind != "beam_element":
            continue
        (p_A, R_A), (p_B, R_B) = places[link.first.body], places[link.second.body]
        gap = p_B + R_B @ np.array(link.second.at) - p_A - R_A @ np.array(link.first.at)
        beam, length = link.name.rpartition("_")[0], link.part.length
        if np.linalg.norm(gap) > STRETCH * length:
            what = (
                f"its ends are held {np.linalg.norm(gap):.3g} m from where they are as it is "
                f"written: the element {link.name}, {length:.3g} m long, would have to bridge that."
            )
            remedy = (
                'Check length and axis against the points that hold it: { body = "ground", at = '
                "[x, y, z] } holds an end away from the origin; a part that it bends to begins "
                "with a joint in `initial` or a position that fits the beam."
            )
            file, line, column = model.where(("beams", beam))
            raise ModelError.of(
                (Problem("error", f"beams.{beam}", what, remedy, file, line, column),)
            )


def _ends_beam(model: Model, link: Link) -> bool:
    """Whether the joint is one that a beam makes at its end."""
    beam, _, end = link.name.rpartition("_")
    return beam in model.beams and end in ("A", "B")


def _as_placed(link: Link, places: Places) -> tuple[Array, Array]:
    """Axes of a fixed joint that holds its bodies as they are placed."""
    R_WA, R_WB = places[link.first.body][1], places[link.second.body][1]
    return np.eye(3), R_WB.T @ R_WA
