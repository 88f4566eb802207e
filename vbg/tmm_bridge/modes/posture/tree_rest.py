"""Rest of chains and trees of bodies, springs and dampers, by Newton's method in the potential."""

from __future__ import annotations

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.scales import hinge_units
from vbg.tmm_bridge.mechanism.start import displace, model_size
from vbg.tmm_bridge.modes.passing import (
    count_below,
    eliminate_beside,
    needed,
    respond,
    without_dampers,
)
from vbg.tmm_bridge.modes.posture.small import Small, small_motion

RESTS = 1e-12  # unbalanced effort, relative to the largest that has been met
HELD = 1e-10  # of the stiffness of its parts: a motion that climbs by less is free
STEPS = 100
LARGEST_STEP = 0.3  # of any hinge in one Newton step [rad, or the model's size]


def rest_of_tree(mechanism: Mechanism, y: Array) -> tuple[Small, Array]:
    """Newton in the potential: (K + mu M) dq = unbalanced efforts, with mu where K alone
    would climb."""
    largest = 0.0
    small = small_motion(mechanism, y)
    for _ in range(STEPS):
        unbalanced = float(np.abs(small.unbalanced * _units(small)).max(initial=0.0))
        largest = max(largest, unbalanced, _static_size(small))
        if unbalanced <= max(RESTS * largest, _rounding(small)) and _is_balanced(small):
            return small, y
        step = _newton_step(small)
        y = displace(mechanism.tables, y, step)
        small = small_motion(mechanism, y)
    raise UsageError(
        f"{mechanism.model.name}: no rest was found next to the start; efforts of"
        f" {unbalanced:.2g} N*m are left. Start nearer to one, or switch off what drives it on."
    )


def _stiffness(small: Small) -> Array:
    """K of the free hinges, each by a turn of 1 rad or a slide by the model's size [J]."""
    units = _units(small)[small.free]
    unit = np.zeros((small.n_v, len(units)))
    unit[small.free, np.arange(len(units))] = units
    return np.asarray(units[:, None] * np.real(needed(small, 0.0, unit))[small.free])


def _is_balanced(small: Small) -> bool:
    """Whether of every hinge's effort nothing is left but RESTS of what such motions of all make
    of it and of what it carries: what is nothing beside a heavy body moves a light one."""
    left = np.abs(small.unbalanced * _units(small))[small.free]
    terms = np.abs(_stiffness(small)).sum(axis=1) + _carried(small)[small.free]
    return bool((left <= RESTS * terms + _rounding_of_couplings(small)[small.free]).all())


def _carried(small: Small) -> Array:
    """The weight of all bodies behind each hinge along the model's size [J]."""
    g = float(np.abs(small.mechanism.tables.gravity).max()) * model_size(small.mechanism)
    found, behind = np.zeros(small.n_v), small.M[:, 0, 0].copy()
    for node in range(len(small.hinges) - 1, -1, -1):
        hinge = small.hinges[node]
        found[hinge.place : hinge.place + len(hinge.k)] = g * behind[node]
        if hinge.parent >= 0:
            behind[hinge.parent] += behind[node]
    return found


def _is_held(small: Small) -> bool:
    """Whether every motion of the hinges climbs, each by its own stiffness: springs of a watch
    beside those of a press hold as they do alone."""
    K = _stiffness(small)
    own = np.diag(K)
    if not (own > 0.0).all():
        return False
    scaled = K / np.sqrt(np.outer(own, own))
    return bool(np.linalg.eigvalsh(0.5 * (scaled + scaled.T)).min(initial=1.0) > HELD)


def _units(small: Small) -> Array:
    """Of the hinges: what an effort on each works [J] by a turn of 1 rad or a slide by the model's
    size."""
    return hinge_units(small.mechanism.tables, model_size(small.mechanism))


def _static_size(small: Small) -> float:
    weight = np.abs(small.mechanism.tables.gravity).max() * np.abs(small.M[:, 0, 0]).sum()
    return float(weight) * model_size(small.mechanism) * 1e-3


def _rounding(small: Small) -> float:
    """Work of the stiffest spring along the model's size when positions are off by rounding."""
    size, units = model_size(small.mechanism), _units(small)
    six = np.array([size] * 3 + [1.0] * 3)
    stiff = [small.K * np.outer(six, six)]
    for hinge in small.hinges:
        unit = units[hinge.place : hinge.place + len(hinge.k)]
        stiff.append(hinge.k * np.outer(unit, unit))
    largest = max((float(np.abs(k).max(initial=0.0)) for k in stiff), default=0.0)
    of_couplings = float(_rounding_of_couplings(small).max(initial=0.0))
    return max(float(np.finfo(float).eps * largest), of_couplings)


def _rounding_of_couplings(small: Small) -> Array:
    """The same of springs between points, or of six displacements at each end, by the hinges that
    carry an end of one: others feel nothing of it."""
    six, found = np.array([model_size(small.mechanism)] * 3 + [1.0] * 3), np.zeros(small.n_v)
    for one in small.couplings:
        ends = np.resize(six, len(one.K))
        off = float(np.finfo(float).eps * np.abs(one.K * np.outer(ends, ends)).max(initial=0.0))
        for node in (one.a, one.b):
            while node >= 0:
                hinge = small.hinges[node]
                own = slice(hinge.place, hinge.place + len(hinge.k))
                found[own] = np.maximum(found[own], off)
                node = hinge.parent
    return found


def _newton_step(small: Small) -> Array:
    """A step of bounded length that does not climb: mu as small as both allow."""
    undamped = without_dampers(small)
    stiff = float(np.abs(small.K).max(initial=0.0)) + max(
        (float(np.abs(h.k).max(initial=0.0)) for h in small.hinges), default=0.0
    )
    scale = stiff / max(float(np.abs(small.M).max(initial=0.0)), 1e-300)
    e, units = np.zeros((len(small.M), 6, 1)), _units(small)
    held = count_below(undamped, 1e-12 * scale) == 0 or _is_held(undamped)
    mu = 0.0 if held else 1e-9 * scale
    while True:
        if count_below(undamped, -mu) == 0:
            passed = eliminate_beside(undamped, -mu)
            step = np.real(respond(undamped, passed, small.unbalanced[:, None], e).hinges[:, 0])
            if np.abs(step / units).max(initial=0.0) <= LARGEST_STEP:
                return np.asarray(step)
        mu = max(4.0 * mu, 1e-6 * scale)
