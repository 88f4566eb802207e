"""The state at the start of a run, behind an instant at which an input jumps, and at the end."""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.speeds import kinetic_energy
from vbg.tmm_bridge.mechanism.start import drive_rates
from vbg.tmm_bridge.motion.events.impulses import kick, slipped, strike_apart
from vbg.tmm_bridge.motion.events.latches import switched, turned_at_start
from vbg.tmm_bridge.motion.events.read_impulses import require_none_jumps
from vbg.tmm_bridge.motion.rate.instants import Stop
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.trajectory import RunRecord


def begun(plant: Plant, first: Stop, y0: Array, record: RunRecord) -> Array:
    """The state at the start, samplers read and modes chosen, also under what was sampled.

    Impulses that tie stores here are of the start: filters begin as they are written, and no work
    is counted."""
    t, seen, network = plant.smooth[0], record.between, plant.mechanism.network
    plant.written, plant.closing = y0, True
    plant.works.natural += kinetic_energy(plant.mechanism, y0, drive_rates(plant.mechanism, t))
    y = plant.sample(first, switched(plant, t, y0, seen, first=True))
    y = switched(plant, t, y, seen, first=False)
    plant.closing = False
    if network is not None:
        y[plant.works.places[2]] = y0[plant.works.places[2]]
    record.events += turned_at_start(plant, float(record.grid[0]), y0, y)
    record.add(plant, float(record.grid[0]), y.copy())
    record.twists.look(plant, t, y)
    return y


def keep_first_row(plant: Plant, y0: Array, record: RunRecord) -> None:
    """Of a run that ends before it has begun: the row at the start, as it is given."""
    if not record.done:
        record.add(plant, float(record.grid[0]), y0)


def behind(plant: Plant, stop: Stop, y: Array, record: RunRecord) -> Array:
    """The state behind a stop: what drives strike and samplers read there."""
    if stop.jumps:
        require_none_jumps(plant, stop, y)
    y, apart = strike_apart(plant, stop, plant.struck(stop, y)) if stop.jumps else (y, ())
    y, struck = kick(plant, stop, y)
    record.events += (*apart, *struck)
    return plant.sample(stop, slipped(plant, stop, y))


def last_row(plant: Plant, y: Array, end: Stop, record: RunRecord) -> None:
    """The row at the end of the run, where an input or a mode jumps just there."""
    if record.done < len(record.grid):
        plant.smooth = (end.after, np.inf)
        y = behind(plant, end, y, record)
        record.add(plant, end.after, switched(plant, end.after, y, record.between, first=False))
