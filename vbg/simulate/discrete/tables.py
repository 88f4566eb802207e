"""Flat arrays of the bodies and joints that the discrete-time kernels move.

Rows of the flat arrays (angles in rad, lengths in m, the last body is the ground):

    pose    PER_POSE  words for each body: R_WB 0-8, p_WB 9-11, v_WB 12-14, w_WB_W 15-17
    wrench  6 words for each body: bushing force about the mass centre and moment, W
    bushes  PER_BUSH words for each joint: p_AF_A 0-2, p_BM_B 3-5, then K and C of the
            translation and K and C of the rotation, 3 x 3 each, in the axes of A (6, 15,
            24, 33), then three pairs of directions a (A's axes), b (B's axes); of a joint
            that only keeps a square to b, 24 and 33 are the two numbers
    ends    for each joint: body A, body B, whether the points coincide, its rotation
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.machine import SOURCES
from vbg.plumbing.kernels.compiled import Kernels
from vbg.plumbing.kernels.native import Plan

PER_POSE, PER_BUSH, PER_END, PER_BODY = 18, 60, 4, 4
FREE, ALIGNED, SQUARE = 0, 1, 2  # rotation: unconstrained; pairs a, b parallel; perpendicular
SLIDE, ANGLE, ANGLE_ON_B = 0, 1, 2  # a coordinate; the last about an axis fixed in B
KERNELS = Kernels("discrete", [*SOURCES, Path(__file__), Path(__file__).with_name("kernels.py")])

Array = NDArray[np.float64]
Places = NDArray[np.int64]


class _Flat(NamedTuple):
    bodies: Places
    inertia: Array
    ends: Places
    bushes: Array
    coordinates: Places
    along: Array
    pose: Array
    wrench: Array


class Flat(_Flat, Plan):
    """A machine of n bodies, j joints, c coordinates.

    bodies : (4 n,) places of momentum, angular momentum, position, quaternion in the state.
    inertia : (10 n,) 1/m and J^-1 in body axes.
    ends : (4 j,) and bushes : (60 j,) as above.
    coordinates : (3 c,) place in the state, joint, what it is; along : (3 c,) its direction.
    pose : (18 (n + 1),) and wrench : (6 (n + 1),) room for what is computed."""
