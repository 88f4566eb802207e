"""The impulse of a drive whose speed jumps.

Within no time only what is of the size of 1/time counts: no weight, no spring, no product of
velocities, no friction.  What is left of the equations of motion of the mechanism at rest,

    M a = h + G^T e,   G a = c,   a = c of driven hinges,

holds of the changes of speed a and of the impulses e, h for the drives' changes c as it holds of
accelerations and efforts.  Between ideal drives and joints it is the change of least kinetic
energy; what the kinetic energy grows by is work of the drives.

Where the speed s of a source between two shafts jumps it strikes them apart (`onedim.offsets`):
-m r d times the jump is the impulse on what both have in common.  Dry friction carries nothing of
any impulse, as it is bounded.
"""

from __future__ import annotations

import math

import numpy as np

from vbg.solution import Event
from vbg.tmm_bridge.kernels.entries import impulse
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import LINK_DRIVEN, LINK_V
from vbg.tmm_bridge.mechanism.mechanism import NoInertia
from vbg.tmm_bridge.mechanism.speeds import change_by, kinetic_energy
from vbg.tmm_bridge.mechanism.start import drive_rates
from vbg.tmm_bridge.motion.rate.instants import Stop, drives_from
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.onedim.laws.mechanical import FREE, JOINT
from vbg.tmm_bridge.onedim.offsets import Between

SEEN = 1e-9  # of a drive's speed: a smaller jump is rounding
ROUNDING = 1e-13  # [m/s or rad/s]
IMPULSIVE = 1e-9  # of the largest change of speed: a smaller one is rounding


def kick(plant: Plant, stop: Stop, y: Array) -> tuple[Array, tuple[Event, ...]]:
    """The state behind a stop, and the drives whose speed jumps there.  Raises NoInertia."""
    mechanism = plant.mechanism
    before = drives_from(mechanism, stop.before, stop.first)
    after = drives_from(mechanism, stop.after, stop.last)
    change = after[:, 1] - before[:, 1]
    fast = np.maximum(np.abs(before), np.abs(after))
    change[np.abs(change) <= SEEN * fast[:, 1] + ROUNDING] = 0.0
    rises = 4.0 * (stop.after - stop.before) * fast[:, 2]  # a slope that ends between two instants
    if not change.any():
        return y, ()
    modes, y = y, plant.loosened(y)
    energy = kinetic_energy(mechanism, y, before)
    n_q, n_v = plant.tables.sizes[:2]
    y[n_q : n_q + n_v] += _change_of_speeds(plant, y, after, change)
    y = plant.restored(plant.project(stop.after, y, jerk=np.inf), modes)
    y[mechanism.size - 2] += kinetic_energy(mechanism, y, after) - energy
    _let_go(plant, stop.after, y, float(np.abs(change).max()))
    names = [name for name, drive in mechanism.driven.items() if abs(change[drive]) > rises[drive]]
    told = [Event(stop.first, f"joints.{name}", "its speed jumps: an impulse") for name in names]
    return y, tuple(told)


def strike_apart(plant: Plant, stop: Stop, y: Array) -> tuple[Array, tuple[Event, ...]]:
    """The state behind a stop, and the sources between shafts whose speed jumps there."""
    own = plant.mechanism.size
    struck = [(part, push) for part in _apart(plant) if (push := _push(part, stop))]
    if not struck:
        return y, ()
    y, pushed = y.copy(), np.zeros(int(plant.tables.sizes[1]))
    held = plant.held_by_network(stop.after, y)
    for part, push in struck:
        if part.shaft.kind == FREE:
            y[own + part.shaft.state + 1] -= push / part.shaft.mass
        elif part.shaft.kind == JOINT:
            pushed[plant.tables.coordinates[part.shaft.place, 3]] -= push
    y[plant.works.places[2]] += plant.held_by_network(stop.after, y) - held
    if pushed.any():
        y = _pushed(plant, stop, y, pushed)
    _let_go(plant, stop.after, y, max(abs(push / part.mass / part.ratio) for part, push in struck))
    names = [f"{part.offset.part.table}.{part.offset.name}" for part, _ in struck]
    return y, tuple(Event(stop.first, name, "its speed jumps: an impulse") for name in names)


def slipped(plant: Plant, stop: Stop, y: Array) -> Array:
    """The state behind a stop at which given speeds jump: what dry friction between shafts holds is
    bounded, so that a shaft it held to such a speed keeps its own, and the friction slips."""
    network, own, smooth = plant.mechanism.network, plant.mechanism.size, plant.smooth
    alone = [f for f in network.frictions if f.row < 0] if network is not None else []
    alone = [f for f in alone if not f.has_no_inertia]
    if not alone or not stop.jumps:
        return y
    apart = stop.after - stop.before
    times = (stop.before - apart, stop.before, stop.after, stop.after + apart)
    plant.smooth = (-np.inf, np.inf)
    far, before, after, beyond = (plant.grips(t, y)[:, 0].copy() for t in times)
    plant.smooth = smooth
    bent = 4.0 * np.maximum(np.abs(before - far), np.abs(beyond - after))
    change = np.abs(after - before)
    jumps = change > bent + SEEN * np.maximum(np.abs(before), np.abs(after))
    slips = jumps & (np.abs(after) > IMPULSIVE * change)
    y = y.copy()
    for friction in alone:
        if slips[friction.index]:
            y[own + friction.mode] = math.copysign(1.0, after[friction.index])
    return y


def _apart(plant: Plant) -> list[Between]:
    """Sources between shafts that move an inertia."""
    network = plant.mechanism.network
    parts = network.parts if network is not None else ()
    return [part for part in parts if isinstance(part, Between) and part.mass > 0.0]


def _push(part: Between, stop: Stop) -> float:
    """m r d times the jump of the source's speed at a stop."""
    before, after = (part.offset.drive.rates(t) for t in (stop.before, stop.after))
    change = float(after[0] - before[0])
    fast, faster = (max(abs(float(before[k])), abs(float(after[k]))) for k in (0, 1))
    smooth = SEEN * fast + 4.0 * (stop.after - stop.before) * faster + ROUNDING
    return part.mass * part.ratio * part.offset.sign * change if abs(change) > smooth else 0.0


def _pushed(plant: Plant, stop: Stop, y: Array, pushed: Array) -> Array:
    """The state behind impulses on the hinges, whose work is the sources'."""
    mechanism, own = plant.mechanism, plant.mechanism.size
    n_q, n_v = plant.tables.sizes[:2]
    drive, modes, y = drive_rates(mechanism, stop.after), y, plant.loosened(y)
    energy = kinetic_energy(mechanism, y, drive)
    y[n_q : n_q + n_v] += change_by(mechanism, plant.tables, y[:own], drive, pushed)
    y = plant.restored(plant.project(stop.after, y, jerk=np.inf), modes)
    y[plant.works.places[2]] += kinetic_energy(mechanism, y, drive) - energy
    return y


def _change_of_speeds(plant: Plant, y: Array, drive: Array, change: Array) -> Array:
    """Of all hinges that are not driven, when the drives' speeds change by `change`; frictions
    have been let go."""
    t, s = plant.tables, plant.scratch
    n_q, n_v = t.sizes[:2]
    still = y[: plant.mechanism.size].copy()
    still[n_q : n_q + n_v] = 0.0
    pushed = np.column_stack([drive[:, 0], np.zeros(len(drive)), change])
    s.limit[0] = -1
    faulty = impulse(t._replace(gravity=np.zeros(3)), s, still, pushed)
    if faulty >= 0:
        raise NoInertia(faulty)
    found: Array = s.acceleration.copy()
    found[t.links[t.links[:, LINK_DRIVEN] == 1, LINK_V]] = 0.0
    return found


def _let_go(plant: Plant, t: float, y: Array, largest: float) -> None:
    """Frictions slip that an impulse has set in motion, in place; `largest` jump of a speed."""
    network = plant.mechanism.network
    if network is None or not network.frictions:
        return
    for friction, (v, _, _) in zip(network.frictions, plant.grips(t, y), strict=True):
        if abs(v) > IMPULSIVE * largest:
            y[plant.mechanism.size + friction.mode] = math.copysign(1.0, v)
