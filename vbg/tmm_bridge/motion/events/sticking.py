"""Dry frictions that come to rest, hold and break away, those on one mechanism together.

Speeds at rest grow by a = K f + c under the efforts f of the frictions, within -ahead <= f <= back;
each either holds, a = 0, or is at its limit against its own a.  Gauss and Seidel's sweeps, which
are what friction does one after the other (M. Jean, Comput. Methods Appl. Mech. Eng. 177, 1999),
come near to it; which are at their limits they know long before, and the rest is linear.
Where more hold than motions are held, as in a linkage with dry hinges, the shares are open; those
of a vertex are taken (linear programming), in which as few hold as there are motions, and no joint
of a loop is left to share with them.
"""

from __future__ import annotations

import math

import numpy as np

from vbg.tmm_bridge.kernels.entries import closure
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import W_ACC, W_ALPHA
from vbg.tmm_bridge.kernels.tables import Scratch
from vbg.tmm_bridge.motion.rate.indicating import of_modes
from vbg.tmm_bridge.motion.rate.instants import ALIKE
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.onedim.laws.friction import AT_REST, ROOM, DryFriction

AT_LIMIT = 1e-9  # of what a friction holds: nearer to it, it goes
POWERLESS = 1e-9  # of an acceleration: a friction that can take no more off it does not hold
# Of a run: a speed that is gone so soon moves nothing by more than 1e-20 of the way that what takes
# it off would make in the whole run.
GONE = 1e-10
GRAIN = 1e-8  # of the largest speed that a friction has had: what is left of it where it stops
SLACK = 1e-11  # of the same: what it may slip beyond zero before it is seen to
SWEEPS, TRIALS = 25, 400  # between two trials to end, and trials
DEPENDENT = 1e-8  # of the largest singular value: shares along a smaller one change no motion
WRONG = 1e-9  # of the largest acceleration, against which what slips is not accelerated


def frictions_switched(plant: Plant, t: float, y: Array, *, first: bool) -> Array:
    """The state with the modes of dry friction that hold from here on."""
    network, own = plant.mechanism.network, plant.mechanism.size
    if network is None or not network.frictions:
        return y
    y = y.copy()
    found = plant.grips(t, y)
    np.maximum(plant.fastest, np.abs(found[:, 0]), out=plant.fastest)
    for i, friction in enumerate(network.frictions):
        if friction.row < 0 and not friction.has_no_inertia:
            speed, held, most = found[i]
            if not first:  # a load beyond what it holds takes nothing along before it slips
                friction.release(y[own:], held, most)
            idle = _idle(plant, i, most * friction.lightness, first=first)
            friction.stop(y[own:], speed, idle, first=first)
    y = _without_inertia(plant, t, y)
    if plant.sticky:
        _decide(plant, t, y, found[:, 0], first=first)
        plant.scratch.limit[0] = -1
        plant.evaluate(t, y)
        y = plant.project(t, y, jerk=np.inf)
    for _ in network.frictions:  # what one lets go, the others have to hold
        before = y.copy()
        if plant.sticky:  # redundant rows hold as they will do between stops
            plant.settle(t, y)
        found = plant.grips(t, y)
        for friction, (_, held, most) in zip(network.frictions, found, strict=True):
            if friction.row < 0 and not friction.has_no_inertia:
                friction.release(y[own:], held, most)
        _let_go(plant, y, found)
        if (y == before).all() or not plant.sticky:
            break
    return y


def _without_inertia(plant: Plant, t: float, y: Array) -> Array:
    """The state with the modes of the frictions on shafts without inertia, whose speeds follow
    from the efforts at once: one that lets go or sticks moves the others, and may turn them round.

    Slip speeds v = K f + c, K positive definite, want f at the limit against v, or v = 0 between
    the limits.  The first of all that are wrong changes, held to slipping where its load pushes
    and slipping to held, until none is (after K. G. Murty, Opsearch 11, 1974); with other laws
    than these, as friction that falls, TRIALS may end it."""
    own, y = plant.mechanism.size, y.copy()
    modes = of_modes(plant.mechanism, len(plant.program.changes))
    light = [(place, friction) for place, friction in modes if friction.has_no_inertia]
    for _ in range(TRIALS if light else 0):
        found, told = plant.grips(t, y), plant.program.memory[plant.program.changes]
        first = next((f for place, f in light if _is_wrong(f, y[own:], found, told[place])), None)
        if first is None:
            break
        load = -found[first.index, 1]
        y[own + first.mode] = math.copysign(1.0, load) if y[own + first.mode] == 0.0 else 0.0
    return y


def _is_wrong(friction: DryFriction, x: Array, found: Array, told: float) -> bool:
    """Whether a mode does not fit what it makes, by half of the rounding that what is `told` to
    change its sign has room for: where that is seen to change, no rounding says otherwise."""
    (speed, held, most), mode = found[friction.index], x[friction.mode]
    fits = most - abs(held) if mode == 0.0 else mode * speed
    return bool(fits + told < 0.0)


def _let_go(plant: Plant, y: Array, found: Array) -> None:
    """The most overloaded of those that hold on the mechanism: others may hold what is left."""
    own = plant.mechanism.size
    used = {}
    for friction in plant.sticky:
        _, held, most = found[friction.index]
        if y[own + friction.mode] == 0.0 and held != 0.0 and abs(held) > (1.0 - AT_LIMIT) * most:
            used[friction] = math.inf if most == 0.0 else abs(held) / most
    if used:
        worst = max(used, key=lambda friction: used[friction])
        y[own + worst.mode] = -math.copysign(1.0, found[worst.index, 1])


def _decide(plant: Plant, t: float, y: Array, speed: Array, *, first: bool) -> None:
    """Modes of those on the mechanism, in place: of what moves by its speed."""
    own, resting = plant.mechanism.size, []
    places = {friction: own + friction.mode for friction in plant.sticky}
    before = {friction: y[place] for friction, place in places.items()}
    for friction, place in places.items():
        y[place] = math.copysign(1.0, speed[friction.index] or before[friction])
    growth = dict(zip(plant.sticky, _growth(plant, t, y, plant.sticky), strict=True))
    for friction, mode in before.items():
        v = speed[friction.index]
        idle = _idle(plant, friction.index, growth[friction], first=first)
        stops = (first or mode * v <= 0.0) and abs(v) <= max(idle, 2.0 * y[places[friction] + ROOM])
        slowest = max(AT_REST, SLACK * plant.fastest[friction.index])
        if stops or abs(v) <= max(min(slowest, idle), ALIKE * abs(t * growth[friction])):
            resting.append(friction)
        gone = GONE * plant.duration * plant.liveliest[friction.index]
        slack = max(gone, SLACK * plant.fastest[friction.index])
        y[places[friction] + ROOM] = min(slowest, slack)
    if not resting:
        return
    for friction, mode in zip(resting, _modes(plant, t, y, resting), strict=True):
        y[places[friction]] = mode
        if mode == 0.0 and (first or before[friction] != 0.0):
            y[places[friction] + 1] = plant.where(friction)


def _idle(plant: Plant, i: int, growth: float, *, first: bool) -> float:
    """The speed below which friction i, which is accelerated by `growth`, is at rest where it
    begins or has stuck [m/s or rad/s]: no speed is none by its size alone, only beside what the
    run would make of it and, once it runs, beside the fastest that it has been."""
    plant.liveliest[i] = max(plant.liveliest[i], abs(growth))
    gone = GONE * plant.duration * float(plant.liveliest[i])
    return gone if first else max(gone, GRAIN * float(plant.fastest[i]))


def _growth(plant: Plant, t: float, y: Array, frictions: list[DryFriction]) -> Array:
    """Accelerations of the ports of frictions, all of which slip."""
    tables, s = plant.tables, plant.scratch
    rows = [friction.row for friction in frictions]
    tables.rows[rows, 4] = -1  # only looked at
    closure(tables, s, y.copy(), plant.drive)
    loads = (
        s.row_state[rows],
        s.row_nodes[rows],
        s.row_wrench[rows],
        s.row_v[rows],
        s.row_gain[rows],
    )
    s.limit[0] = -1
    plant.evaluate(t, y)  # here they are idle
    s.row_state[rows], s.row_nodes[rows], s.row_wrench[rows], s.row_v[rows], s.row_gain[rows] = (
        loads
    )
    return np.array([f.lever * _acceleration(s, f.row) for f in frictions])


def _acceleration(s: Scratch, r: int) -> float:
    """G V' and the products of row r, whose loads are in `s`."""
    total = float(s.row_state[r, 2])
    for node, wrench in zip(s.row_nodes[r], s.row_wrench[r], strict=True):
        if node >= 0:
            total += float(wrench[:3] @ s.work[node, W_ACC : W_ACC + 3])
            total += float(wrench[3:] @ s.work[node, W_ALPHA : W_ALPHA + 3])
    there = s.row_v[r] >= 0
    return total + float(s.row_gain[r, there] @ s.acceleration[s.row_v[r, there]])


def _modes(plant: Plant, t: float, y: Array, resting: list[DryFriction]) -> Array:
    """1, -1 or 0 of each: its own effort on all others is measured."""
    y, places = y.copy(), [plant.mechanism.size + friction.mode for friction in resting]
    index = [friction.index for friction in resting]
    y[places] = -1.0
    low, back = _growth(plant, t, y, resting), plant.grips(t, y)[index, 2]
    y[places] = 1.0
    ahead = plant.grips(t, y)[index, 2]
    K = np.zeros((len(resting), len(resting)))
    for j, place in enumerate(places):
        y[places] = -1.0
        y[place] = 1.0
        if (span := ahead[j] + back[j]) > 0.0:
            K[:, j] = (low - _growth(plant, t, y, resting)) / span
    ahead, back = (1.0 - AT_LIMIT) * ahead, (1.0 - AT_LIMIT) * back
    modes, f = settled(K, low - K @ back, ahead, back)
    return by_few(K, f, ahead, back, modes)


def by_few(K: Array, f: Array, ahead: Array, back: Array, modes: Array) -> Array:
    """The modes with no more held than motions are, those that hold with as much left as can be;
    the others are at their limits.  What can hold nothing has no share of what others hold, as an
    open clutch beside a brake: it slips, at no speed."""
    from scipy.optimize import linprog

    modes = modes.copy()
    most = np.maximum(ahead, back)
    free = np.flatnonzero((modes == 0.0) & (most > 0.0))
    held_by_others = K[:, free].any(axis=1)
    modes[(modes == 0.0) & (most <= 0.0) & held_by_others] = 1.0
    if len(free) < 2:
        return modes
    size = most[free]
    _, values, along = np.linalg.svd(size[:, None] * K[np.ix_(free, free)] * size)
    moves = along[values > DEPENDENT * values[0]]
    if len(moves) == len(free):
        return modes
    lower, upper = -ahead[free] / size, back[free] / size
    load = moves @ np.clip(f[free] / size, lower, upper)
    bounds = np.stack([lower, upper], axis=1)
    near, left = AT_LIMIT * (upper - lower), -1.0
    for wanted in (sign * row for row in np.eye(len(free)) for sign in (-1.0, 1.0)):
        found = linprog(wanted, A_eq=moves, b_eq=load, bounds=bounds, method="highs-ds")
        if found.status != 0:
            continue
        low, high = found.x <= lower + near, found.x >= upper - near
        rest = np.minimum(upper - found.x, found.x - lower)[~(low | high)].min(initial=1.0)
        if (slack := float(rest) if not (low | high).all() else 0.0) > left:
            left, modes[free] = slack, np.where(low, 1.0, np.where(high, -1.0, 0.0))
    return modes


def settled(K: Array, c: Array, ahead: Array, back: Array) -> tuple[Array, Array]:
    """1 for what goes ahead, -1 for what goes back, 0 for what is held; and the efforts."""
    n, span = len(c), ahead + back
    lower, upper = -ahead, back
    power = np.diag(K) * span
    holds = power > POWERLESS * np.abs(c)
    f = np.where(holds, 0.0, np.where(c > 0.0, lower, upper))
    for _ in range(TRIALS):
        for _ in range(SWEEPS):
            for i in np.flatnonzero(holds):
                f[i] = min(max(f[i] - (K[i] @ f + c[i]) / K[i, i], lower[i]), upper[i])
        ended = _ended(K, c, f, holds, lower, upper)
        if ended is not None:
            f = ended
            break
    a = K @ f + c
    modes = np.zeros(n)
    modes[f <= lower * (1.0 - AT_LIMIT)] = 1.0
    modes[(f >= upper * (1.0 - AT_LIMIT)) & (modes == 0.0)] = -1.0
    return np.where(holds, modes, np.sign(a)), f


def _ended(K: Array, c: Array, f: Array, holds: Array, lower: Array, upper: Array) -> Array | None:
    """Efforts with those between their limits solved for, if that is the answer."""
    free = holds & (f > lower) & (f < upper)
    size = np.where(free, np.maximum(-lower, upper), 1.0)
    f = f.copy()
    a = K @ f + c
    if free.any():
        S = size[free]
        square = S[:, None] * K[np.ix_(free, free)] * S
        f[free] -= S * np.linalg.lstsq(square, S * a[free], rcond=1e-10)[0]
    a = K @ f + c
    room = WRONG * (upper - lower)
    inside = (f >= lower - room) & (f <= upper + room)
    largest = np.abs(np.diag(K)) * (upper - lower) + np.abs(c)
    rests = ~free | (np.abs(a) <= WRONG * largest)
    ahead, back = f <= lower, f >= upper
    goes = free | ~holds | (ahead & (a >= -WRONG * largest)) | (back & (a <= WRONG * largest))
    return f if bool(np.all(inside & rests & goes)) else None
