"""Elastic hinges: parts with a law of six dimensions, as hinges of the tree or between bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.elements.beam_element import BeamElement
from vbg.model.placing.placed import Placed
from vbg.tmm_bridge.kernels.motion.rotation import Array, matrix_of
from vbg.tmm_bridge.kernels.tables import SIX_FIRST, SIX_MIDDLE
from vbg.tmm_bridge.tree.forest import GROUND
from vbg.tmm_bridge.tree.places import BodyPlace


@dataclass(frozen=True)
class Six:
    """A law of six dimensions: its kind; axes of F in the first body and of M in the second;
    constants (72,), stiffness and damping row by row."""

    law: int
    R_AF: Array
    R_BM: Array
    constants: Array


def six_of_part(placed: Placed, part: Any) -> Six:
    """The law of a part.  A bushing's F has the axes of its first body or frame, a beam
    element's its own;
    M's are parallel to them at the written posture."""
    R_WA, R_WB = (_written_rotation(placed, end.body) for end in part.between)
    if isinstance(part, BeamElement):
        E, K = matrix_of(np.array(part.rotation)), np.diag(timoshenko(part)).ravel()
        return Six(SIX_MIDDLE, E, R_WB.T @ R_WA @ E, np.concatenate([K, part.damping * K]))
    constants = np.concatenate([_rows(part.stiffness), _rows(part.damping)])
    frame = part.between[0].rotation
    E = np.eye(3) if frame is None else matrix_of(np.array(frame))
    return Six(SIX_FIRST, E, R_WB.T @ R_WA @ E, constants)


def timoshenko(element: BeamElement) -> Array:
    """Diagonal (6,) of the stiffness about the middle of a beam element: stretch and shear,
    twist and bending.

    A shear force Q alone in the middle is a moment Q s at the distance s from there: by
    Castigliano the ends part by Q (int s^2 / EI ds + l / GA) = Q (l^3 / (12 EI) + l / GA).
    """
    length = element.length
    shears = [0.0 if GA is None else 1.0 / GA for GA in (element.GA_y, element.GA_z)]
    bendings = [length**2 / (12.0 * EI) for EI in (element.EI_z, element.EI_y)]
    yielding = [1.0 / element.EA, *(s + b for s, b in zip(shears, bendings, strict=True))]
    turning = [element.GJ, element.EI_y, element.EI_z]
    return np.array([*(1.0 / y for y in yielding), *turning]) / length


def _rows(matrix: tuple[tuple[float, ...], ...] | None) -> Array:
    return np.zeros(36) if matrix is None else np.array(matrix, dtype=float).ravel()


def _written_rotation(placed: Placed, body: str) -> Array:
    return np.eye(3) if body == GROUND else np.asarray(placed.poses[body].R_WB)


@dataclass(frozen=True)
class Ends:
    """Frame of an elastic hinge on the parent's node, (3, 3) and (3,), and axes and point of the
    frame behind it on the body that it carries."""

    R_in: Array
    p_in: Array
    R_out: Array
    p_out: Array


def ends_in_tree(part: Any, six: Six, places: Mapping[str, BodyPlace], *, backward: bool) -> Ends:
    """F on the parent and M on the body, or the other way where it is met from behind."""
    frames = [(six.R_AF, part.between[0]), (six.R_BM, part.between[1])]
    (R_in, end_in), (R_out, end_out) = reversed(frames) if backward else frames
    parent = places[end_in.body]
    p_in = parent.p_NB + parent.R_NB @ np.array(end_in.at)
    return Ends(parent.R_NB @ R_in, p_in, R_out, np.array(end_out.at))
