"""Runs end where an impulse is read that the steps of this solver do not know.

Of sources that prescribe a speed or a pressure it is their jump.  Dependent stores jump along the
impulses L of a network's unknowns z (`rate.dependent`); so does what reads these, by the slope
dx'/dz that it has there.  An impulse is the limit of a ramp ever steeper, z = k L, k -> oo: only
where

    (x'(z + k L) - x'(z)) / k = dx'/dz L,

the other residuals vanish alike, and both are the same before, at and behind the jump, that is what
a state steps by: not of |z|, nor of the product of a current and a voltage that jumps with it.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.mechanism import NoBalance
from vbg.tmm_bridge.motion.rate.dependent import JUMPS, Dependence
from vbg.tmm_bridge.motion.rate.instants import Stop
from vbg.tmm_bridge.motion.rate.plant import EXACT, Plant
from vbg.tmm_bridge.motion.rate.sources_read import ImpulseRead

SEEN = 1e-9  # of a speed or pressure: a smaller jump is rounding
STEEP = (2.0**60, 2.0**40)  # k [1/s]: what is bounded leaves less than AGREE of the limit
AGREE = 1e-6  # of a step
ROUNDING = 1e-12  # of its terms, and of the state that it changes
BESIDE = 1e-9  # of the run: so far before an event that no stop is
REMEDY = (
    "Let {what} rise over a short time, as by s*min(1, max(0, t/tau)){beside}; or read something "
    "else."
)


def require_none_jumps(plant: Plant, stop: Stop, y: Array) -> None:
    """Raises ImpulseRead where a source whose effort or flow is read jumps at a stop; a slope that
    ends between its two instants does not."""
    plant.earlier = stop.before, y
    if not plant.read:
        return
    before, after = (_memory(plant, t, y) for t in (stop.before, stop.after))
    for part in plant.read:
        fast, steep = (
            max(abs(float(memory[place])) for memory in (before, after))
            for place in (part.value, part.rate)
        )
        least = SEEN * fast + 4.0 * (stop.after - stop.before) * steep
        if abs(float(after[part.value] - before[part.value])) > least:
            what = f"the {part.quantity} of {part.name}"
            beside = ", or drive through an elastic shaft" if part.quantity == "speed" else ""
            raise ImpulseRead(
                stop.first,
                f"{what} jumps, and its {part.told} is read,",
                REMEDY.format(what=what, beside=beside),
            )


def together(plant: Plant, t: float, y: Array, *, first: bool) -> Array:
    """The state with the network's dependent stores as they hang together.  Raises ImpulseRead
    where what reads their impulses steps otherwise, NoBalance where nothing that jumps holds them
    together."""
    try:
        found = plant.together(t, y, first=first)
    except np.linalg.LinAlgError:
        raise NoBalance(t) from None
    if plant.dependence is None or first:
        return found
    own = plant.mechanism.size
    step = found[own:] - y[own:]
    step[plant.works.places[2] - own] = 0.0
    largest = max(np.abs(x[own:]).max(initial=0.0) for x in (y, plant.written) if x is not None)
    if np.abs(step).max(initial=0.0) > SEEN * largest:
        _require_ramp(plant, plant.dependence, t, y, found)
        plant.evaluate(t, found)
    return found


def _require_ramp(plant: Plant, tied: Dependence, t: float, y: Array, behind: Array) -> None:
    """Raises ImpulseRead where what is not tied itself steps otherwise than behind a ramp."""
    memories = [_memory(plant, *_before(plant, t, y)), *(_memory(plant, t, x) for x in (y, behind))]
    impulses, none = _impulses(plant, tied, t, y)
    step = behind[plant.mechanism.size :] - y[plant.mechanism.size :]
    size = np.abs(y[plant.mechanism.size :])
    passed_by = np.isin(np.arange(len(step)), list(plant.kept))
    free = np.flatnonzero(~tied.holds(memories[1]) & ~passed_by)
    free = free[free + plant.mechanism.size != plant.works.places[2]]
    for memory in memories:
        moved, kept = tied.terms(memory, impulses)
        lost, open_ = tied.terms(memory, none)  # of steps and residuals, with what is no impulse
        least = AGREE * np.abs(step) + ROUNDING * (moved + size) + lost
        for k in STEEP:
            grown, left = tied.growing(memory, impulses, k)
            follows = (np.abs(grown - step) <= least)[free].all()
            if not (follows and (np.abs(left) <= AGREE * kept + open_).all()):
                raise ImpulseRead(
                    t,
                    "a voltage, current, flow or pressure is an impulse, and is read by a law that"
                    " is not linear in it or changes with what jumps,",
                    REMEDY.format(what="what jumps", beside=""),
                )


def _impulses(plant: Plant, tied: Dependence, t: float, y: Array) -> tuple[Array, Array]:
    """Of the unknowns, on the way of `Plant.together`; and what up to is none."""
    y, own = y.copy(), plant.mechanism.size
    found: Array = np.zeros(len(tied.z))
    rounding: Array = np.zeros(len(tied.z))
    for _ in range(JUMPS):
        plant.evaluate(t, y)
        memory = plant.program.memory
        more, none = tied.impulses(memory, plant.program.scales[: len(tied.z)], plant.kept)
        found, rounding = found + more, rounding + none
        y[own:], size = tied.consistent(memory, y[own:], kept=plant.kept)
        if size <= EXACT:
            break
    return found, rounding


def _before(plant: Plant, t: float, y: Array) -> tuple[float, Array]:
    """Time and state right before what jumps at t."""
    if plant.earlier is not None and plant.earlier[0] <= t <= plant.smooth[0]:
        return plant.earlier
    back = BESIDE * plant.duration
    return t - back, y - back * plant.rate(t, y)


def _memory(plant: Plant, t: float, y: Array) -> Array:
    """Of the tape, where no stop parts the instants."""
    smooth, plant.smooth = plant.smooth, (-np.inf, np.inf)
    plant.evaluate(t, y)
    plant.smooth = smooth
    return plant.program.memory.copy()
