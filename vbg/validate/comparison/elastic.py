"""What rounding of positions leaves in forces and accelerations where parts are stiff.

A place at the distance L from the origin is known to e L, e the rounding of numbers.  A part of
stiffness k [N/m] makes the force k e L of it, at an arm r the torque k e L r, and

    a = k e L (1/m_A + 1/m_B)         w' = (k_r e + k e L r) (1/J_A + 1/J_B)

of the masses m and the smallest moments of inertia J that it holds, k_r [N*m/rad] its stiffness
against turning; ground counts nothing.  The energy of that rounding, k (e L)^2 / 2, moves them

    v = e L sqrt(k (1/m_A + 1/m_B))      w = e sqrt((k_r + k L^2) (1/J_A + 1/J_B))

which every step gives anew by its last digits: without a damper e walks at random, WALK sqrt(n) in
n steps, where that is more.  A tube of carbon (k = 3e7 N/m) that holds 0.1 kg at 1 m shows
1e-7 m/s^2 where nothing moves, whatever the step: beside gravity no number that is small.

Modes of a flexible body of mass m have coordinates q in m sqrt(kg), so that their energy is
(q'^2 + w^2 q^2) / 2: what joints make of a place that is known to e L is q = e L sqrt(m), and its
energy the modal speed w e L sqrt(m), w the highest frequency.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vbg.fields import Attachment
from vbg.model import Model

EPS = float(np.finfo(float).eps)
PLACES = 32.0 * EPS
"""Relative rounding of a difference of places that were turned, added and integrated."""
WALK = 4.0 * EPS
"""Four deviations of a walk whose every step is the last digit: in 1 of 10 000 runs it is more."""


def elastic_rounding(model: Model, length: float, speed: float, steps: int = 0) -> dict[str, float]:
    """Unit -> largest magnitude [of that unit] that is rounding behind the model's elastic parts,
    whose places are at most `length` [m] from the origin and move with `speed` [m/s], in a run
    of so many steps."""
    found: dict[str, float] = {}
    walked = max(PLACES, WALK * math.sqrt(steps))
    for part in model.forces.values():
        stiff = _stiffness(part)
        if stiff is None:
            continue
        force = PLACES * stiff[0] * length
        arm = max(float(np.linalg.norm(end.at)) for end in _ends(part))
        torque = PLACES * stiff[1] + force * arm
        masses, inertias = _held(model, part)
        moved = walked * length * math.sqrt(stiff[0] * masses)
        turned = walked * math.sqrt((stiff[1] + stiff[0] * length**2) * inertias)
        for unit, value in (
            ("N", force),
            ("N*m", torque),
            ("W", force * max(speed, moved)),
            ("m/s", moved),
            ("rad/s", turned),
            ("m/s^2", force * masses),
            ("rad/s^2", torque * inertias),
        ):
            found[unit] = max(found.get(unit, 0.0), value)
    for body in model.bodies.values():
        if body.flexible is not None:
            highest = float(np.max(body.flexible.modes.frequencies, initial=0.0))
            speed = walked * length * highest * math.sqrt(body.mass)
            found["1/s"] = max(found.get("1/s", 0.0), speed)
    return found


def _stiffness(part: Any) -> tuple[float, float] | None:
    """(k [N/m], k_r [N*m/rad]) of a part between two bodies; None of any other."""
    if not _ends(part):
        return None
    if part.kind in ("spring", "stop"):
        return float(part.k), 0.0
    if part.kind == "bushing":
        K = np.abs(np.array(part.stiffness, dtype=float))
        return float(K[:3, :3].max()), float(K[3:, 3:].max())
    if part.kind == "beam_element":
        along = [part.EA, part.GA_y or 0.0, part.GA_z or 0.0]  # none: stiff against shear
        about = [part.GJ, part.EI_y, part.EI_z]
        return float(max(along) / part.length), float(max(about) / part.length)
    return None


def _ends(part: Any) -> tuple[Attachment, ...]:
    ends = getattr(part, "between", None) or ()
    return tuple(end for end in ends if isinstance(end, Attachment))


def _held(model: Model, part: Any) -> tuple[float, float]:
    """Sums of 1/m [1/kg] and of 1/J [1/(kg*m^2)] over the bodies at its ends."""
    bodies = [model.bodies[end.body] for end in _ends(part) if end.body in model.bodies]
    masses = [1.0 / body.mass for body in bodies if body.mass > 0.0]
    moments = [np.abs(np.linalg.eigvalsh(_tensor(body.inertia))).min() for body in bodies]
    return math.fsum(masses), math.fsum(1.0 / J for J in moments if J > 0.0)


def _tensor(inertia: tuple[float, ...]) -> np.ndarray[Any, Any]:
    xx, yy, zz, xy, yz, zx = inertia
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
