"""Units in which slides compare with turns: the length of the mechanism and the radian."""

from __future__ import annotations

import math

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import (
    ELASTIC,
    LINK_KIND,
    LINK_MASS,
    LINK_Q,
    LINK_V,
    PRISMATIC,
)
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_SLIDE,
    COORDINATE_TREE,
    ROW_COUPLE,
    ROW_DOT,
    ROW_TURN,
    Tables,
)


def row_units(t: Tables) -> Array:
    """(m,): the length of the mechanism [m] of rows that close gaps, 1 [rad] of those of turns."""
    length = float(t.length[0])
    of_hinge = hinge_units(t, length)
    units = np.full(len(t.rows), length)
    for r, (primitive, _, _, j, _) in enumerate(t.rows):
        if primitive in (ROW_DOT, ROW_TURN):
            units[r] = 1.0
        elif primitive == ROW_COUPLE:
            kind, _, _, v = t.coordinates[j]
            slides = kind == COORDINATE_SLIDE
            units[r] = of_hinge[v] if kind == COORDINATE_TREE else length if slides else 1.0
    return units


def hinge_units(t: Tables, length: float) -> Array:
    """(n_v,): the same of hinges, which slide by this length; of modes, which have the unit
    m kg^1/2, times the root of the mass of their body."""
    return _units(t, length, int(t.sizes[1]), t.links[:, LINK_V], t.flexes[:, 2])


def strain_of_rounding(t: Tables) -> float:
    """Energy [J] that the last digit of places strains all bushings and elastic hinges by:
    eps^2 / 2 sum (k l^2 + k_r) of their stiffest directions, l the length of the mechanism."""
    length = float(t.length[0])
    found = 0.0
    for stiffness in (*t.bush[:, 24:60], *t.elastic[:, :36]):
        K = np.abs(stiffness.reshape(6, 6))
        found += float(K[:3, :3].max() * length**2 + K[3:, 3:].max())
    return 0.5 * float(np.finfo(float).eps) ** 2 * found


def state_units(t: Tables, duration: float) -> Array:
    """(n_q + n_v,): what counts as one of each coordinate and of each speed of the hinges: a
    radian, or the length of the mechanism, 1 m at most; of speeds that in a run of this duration
    [s], or in a second where it is shorter: what a speed is off by adds up over the run."""
    length = min(1.0, float(t.length[0]))
    positions = _units(t, length, int(t.sizes[0]), t.links[:, LINK_Q], t.flexes[:, 1])
    return np.concatenate([positions, hinge_units(t, length) / max(1.0, duration)])


def _units(t: Tables, length: float, count: int, hinges: Array, modes: Array) -> Array:
    """(count,): of what hinges and modes have from these places on; three slide of an elastic
    hinge, before its turns."""
    units = np.ones(count)
    for kind, at in zip(t.links[:, LINK_KIND], hinges, strict=True):
        if kind == PRISMATIC:
            units[at] = length
        elif kind == ELASTIC:
            units[at : at + 3] = length
    for (node, _, _, n), at in zip(t.flexes, modes, strict=True):
        units[at : at + n] = length * math.sqrt(t.link[node, LINK_MASS])
    return units
