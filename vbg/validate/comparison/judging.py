"""One channel judged: its errors, what is allowed, and what errors of integration explain.

A difference e(t) between the two solutions counts against

    allowed(t)   = max(tolerance, min(4 b(t) / peak, loosest),
                       min(4 s(t) / peak, tolerance |vector| / peak, loosest)) peak
    explained(t) = 4 s(t) + 10 m(t) peak + 4 max(rtol largest, min(rtol X_s, d))

where s(t), the largest change up to t in this channel by doubling the step of either solver, b(t),
the smaller one of both solvers, and m(t), as s over all motions and states, relative to their
peaks, bound the errors of integration; no run promises more than rtol of the largest channel of the
unit, nor of what is natural beside what the machine shows, X_s, as far as doubling the step changes
any channel of the unit, d. A motion that magnifies errors does so in both solvers: what one of them
alone loses by its step may explain a difference, but allows none.  A component that is small beside
its vector in space, |vector| at its largest, is the exception: turn the axes of the file, and the
same difference is beside a component of the vector's size, where `tolerance` allows it. What
bending leaves along a stiff arm, 3e-5 of the load, hangs on the last digits of places in one solver
and of strains in the other.  Above `allowed` but explained, a difference proves nothing
(INCONCLUSIVE); above both it is a FAIL.  Where a coarser run was made but has ended, everything is
explained.

A channel is zero (VACUOUS) which is rounding beside the machine, at most

    r = max(1e-12 X_s, e X)        e = 32 times the rounding of numbers

where X_s is what the machine's size and what it shows make natural and X what its sources and
controllers could do besides (`scales`): a force of 1e10 N that never sets in has last digits, but
excuses no more of a spring of 1 N beside it.  Of a power or an energy one factor, effort or speed,
is what is shown, and its last digits are e sqrt(X X_s).  Zero is, too, where nothing but errors of
integration or rounding is left of what is large between the rows: a body that stands still in every
row has speeds of 1e-12 of its fastest.  That such channels agree would be no evidence either. Nor
is a place or an angle that agrees beside its distance from the origin only, and not beside its way:
it begins alike in both solvers, so that others must speak for the motion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.plumbing.components import split_component, vector_of
from vbg.validate.comparison.pairing import Pair
from vbg.validate.comparison.values import Channel, Mark

Array = np.ndarray[Any, Any]

TOLERANCE = 1e-6
# A measured error of integration loosens a channel's tolerance by this factor, up to a limit:
# what grows faster in both solvers than any tolerance can follow is for the user to shorten.
SAFETY = 4.0
LOOSEST = 1e-3
MAGNIFIED = 10.0  # times a relative error of the motion: what it may do to a force
FLOOR = 1e-8  # of the largest channel of the same kind: smaller channels are zero
ROUNDING = 1e-12  # of the machine's own magnitude of the unit: what arithmetic leaves
LAST_DIGITS = 32.0 * float(np.finfo(float).eps)  # the same, also where the runs tell of none
PRODUCTS = ("W", "J")  # of an effort and a speed
TINY = 1e-300
MODAL = (".modal", ".modal_speed")  # of flexible bodies
_EFFORTS = ("N", "N*m")
_JUMPING = (*_EFFORTS, "m/s^2", "rad/s^2", "W")  # may jump at an event, which motions do not


@dataclass(frozen=True, eq=False)
class Judge:
    """What channels are judged by.

    tolerance : relative to the peak, None for `least` or what integration needs, at most
    `loosest`; largest : largest channel of every kind; noise : below it a component of the kind,
    or of that name, is rounding; motion : m(t) of the equations above, (n,); promised : what the
    runs may have made wrong in every kind (`promises`); shown : X_s of every kind; vectors :
    largest magnitude of every vector in space.  `largest`, `noise` and `shown` are of what the
    channel hangs together with, `promised` of all that was run at once.
    """

    tolerance: float | None
    least: float
    loosest: float
    largest: Mapping[str, float]
    noise: Mapping[str, float]
    motion: Array
    promised: Mapping[str, float] = field(default_factory=dict)
    shown: Mapping[str, float] = field(default_factory=dict)
    vectors: Mapping[str, float] = field(default_factory=dict)


def largest_by_unit(pairs: Sequence[Pair]) -> dict[str, float]:
    """The largest component of every kind; of torques at least that of forces at their arms."""
    largest: dict[str, float] = {}
    for pair in pairs:
        if math.isfinite(pair.peak):
            largest[pair.kind] = max(largest.get(pair.kind, 0.0), pair.peak)
    arm = max((p.peak for p in pairs if ".position" in p.name), default=0.0)
    if "N" in largest and "N*m" in largest and math.isfinite(arm):
        largest["N*m"] = max(largest["N*m"], largest["N"] * min(arm, 1.0))
    return largest


def vector_peaks(pairs: Sequence[Pair]) -> dict[str, float]:
    """The largest magnitude in either solution of every vector in space that has a unit, and of
    modal coordinates and speeds, whose modes are orthonormal: the square is twice an energy."""
    parts: dict[str, list[Pair]] = {}
    for pair in pairs:
        base, place = split_component(pair.name)
        in_space = place in tuple("xyz") and pair.unit not in ("", "1")
        if in_space or (place and base.endswith(MODAL)):
            parts.setdefault(base, []).append(pair)
    return {
        base: max(
            float(np.sqrt(sum(np.square(p.first) for p in whole)).max()),
            float(np.sqrt(sum(np.square(p.second) for p in whole)).max()),
        )
        for base, whole in parts.items()
    }


def own_changes(pair: Pair, rough: Array | None, coarser: Array | None) -> tuple[Array, Array]:
    """What doubling the step changes up to every instant, (n,), in the solver where it changes
    more and in that where it changes less: infinite where a coarser run was made but has ended,
    NaN where none was made."""
    found = [
        np.maximum.accumulate(np.where(np.isfinite(coarse), np.abs(fine - coarse), np.inf))
        for fine, coarse in ((pair.first, rough), (pair.second, coarser))
        if coarse is not None
    ]
    if not found:
        none = np.full(len(pair.first), np.nan)
        return none, none
    return np.max(found, axis=0), np.min(found, axis=0)


def told_by_kind(pairs: Sequence[Pair], changes: Sequence[tuple[Array, Array]]) -> dict[str, float]:
    """Kind -> d, the largest that doubling the step changes in a channel of it, in either solver;
    infinite where no coarser run was made or one has ended."""
    told: dict[str, float] = {}
    for pair, (either, _) in zip(pairs, changes, strict=True):
        largest = float(np.nan_to_num(either, nan=np.inf, posinf=np.inf).max(initial=0.0))
        told[pair.kind] = max(told.get(pair.kind, 0.0), largest)
    return told


def rounding(natural: Mapping[str, float], shown: Mapping[str, float]) -> dict[str, float]:
    """Kind -> r of the equations above, of X and X_s."""

    def last_digits(kind: str, X: float) -> float:
        return LAST_DIGITS * (math.sqrt(X * shown.get(kind, 0.0)) if kind in PRODUCTS else X)

    return {
        kind: max(ROUNDING * shown.get(kind, 0.0), last_digits(kind, X))
        for kind, X in natural.items()
    }


def promises(
    rtol: float,
    largest: Mapping[str, float],
    shown: Mapping[str, float],
    told: Mapping[str, float],
) -> dict[str, float]:
    """Kind -> max(rtol largest, min(rtol X_s, d)) of the equations above: runs hold their tolerance
    beside what the machine could do, also where it rests, and tell of it."""
    return {
        kind: max(rtol * size, min(rtol * shown.get(kind, 0.0), told.get(kind, math.inf)))
        for kind, size in largest.items()
    }


def motion_error(
    pairs: Sequence[Pair],
    changes: Sequence[Array],
    largest: Mapping[str, float],
    noise: Mapping[str, float],
) -> Array:
    """Largest relative change of motions and states by doubling the step, up to every instant."""
    worst = np.zeros(len(pairs[0].first) if pairs else 0)
    for pair, change in zip(pairs, changes, strict=True):
        floor = _floor(pair, largest, noise)
        if pair.unit in _JUMPING or not pair.peak > floor or np.isnan(change).all():
            continue
        worst = np.maximum(worst, change / pair.peak)
    return worst


def _floor(pair: Pair, largest: Mapping[str, float], noise: Mapping[str, float]) -> float:
    return max(FLOOR * largest.get(pair.kind, 0.0), noise_of(pair, noise), TINY)


def noise_of(pair: Pair, noise: Mapping[str, float]) -> float:
    """What is rounding of its kind, or of it alone."""
    return max(noise.get(pair.kind, 0.0), noise.get(pair.name, 0.0))


def channel_of(judge: Judge, time: Array, pair: Pair, changes: Array, in_both: Array) -> Channel:
    """Errors of one component and what they say; `changes` of either solver and `in_both` as
    `own_changes` has them."""
    a, b, peak = pair.first, pair.second, pair.peak
    error = np.abs(a - b)
    finite = bool(np.isfinite(a).all() and np.isfinite(b).all())
    worst = int(np.argmax(error)) if finite else int(np.argmax(~np.isfinite(error)))
    size = float(np.linalg.norm(a))
    l2 = float(np.linalg.norm(a - b)) / size if size > 0.0 else math.inf * bool(error.any())
    change = _last(changes)
    wider = np.where(np.isfinite(in_both), in_both, np.nan_to_num(_last(in_both)))
    bounds = _allowed(judge, wider / max(peak, TINY))
    small = peak <= max(
        max(float(bounds[-1]), TOLERANCE) * judge.largest.get(pair.kind, 0.0),
        FLOOR * judge.shown.get(pair.kind, 0.0),
    )
    bounds = np.maximum(bounds, _turned(judge, pair, changes))
    allowed = float(bounds[-1])
    noise = noise_of(pair, judge.noise)
    above = ~(error <= np.maximum(bounds * peak, noise))
    begins = int(np.argmax(above)) if finite else worst
    mark = _mark(judge, pair, error, above, changes, small=small)
    if mark == "PASS" and error[worst] > max(allowed, judge.loosest) * peak:
        mark = "VACUOUS"  # it is no more than rounding by which they agree
    elif mark == "PASS" and not l2 <= allowed and not error[worst] <= noise:
        mark = _in_the_mean(pair, error, changes, allowed, judge)
    return Channel(
        pair.name,
        pair.unit,
        peak,
        float(error[worst]),
        float(time[worst]),
        l2 if math.isfinite(l2) else math.inf,
        allowed,
        change / max(peak, TINY),
        "integrated",
        mark,
        float(time[begins]) if above.any() and mark != "VACUOUS" else math.nan,
        _proves(pair, float(error[worst]), allowed, noise),
    )


def _proves(pair: Pair, error: float, allowed: float, noise: float) -> bool | None:
    """Whether it agrees beside its own way or size, and not by rounding or by where it begins;
    None where it stands still."""
    way = _moved(pair) if _begins_alike(pair) else pair.peak
    return None if way <= noise else error <= allowed * way


def _begins_alike(pair: Pair) -> bool:
    """Whether it is a place or an angle, which one solver hands over to the other."""
    return pair.unit in ("m", "rad") or vector_of(pair.name).endswith(".rotation")


def _moved(pair: Pair) -> float:
    """The farthest from where it begins, in either solution."""
    return float(max(np.abs(one - one[0]).max() for one in (pair.first, pair.second)))


def _last(changes: Array) -> float:
    """The last that is known, NaN where none is."""
    known = changes[np.isfinite(changes)]
    return float(known[-1]) if len(known) else math.nan


def _allowed(judge: Judge, integration: Array) -> Array:
    """The tolerance relative to the peak, (n,)."""
    if judge.tolerance is not None:
        return np.full(len(integration), judge.tolerance)
    wider = np.minimum(SAFETY * integration, judge.loosest)
    return np.maximum(judge.least, wider)


def _turned(judge: Judge, pair: Pair, changes: Array) -> Array:
    """What one solver's own error of integration allows a component that is small beside its
    vector, relative to its peak, (n,)."""
    magnitude = judge.vectors.get(vector_of(pair.name), 0.0)
    if judge.tolerance is not None or not math.isfinite(magnitude):
        return np.zeros(len(changes))
    own = np.where(np.isfinite(changes), changes, np.nan_to_num(_last(changes)))
    most = min(judge.least * magnitude, judge.loosest * pair.peak)
    return np.minimum(SAFETY * own, most) / max(pair.peak, TINY)


def _explained(judge: Judge, pair: Pair, changes: Array) -> Array:
    """What errors of integration may have made of the difference, at every instant."""
    own = np.where(np.isnan(changes), 0.0, changes)
    by_motion = MAGNIFIED * judge.motion * max(pair.peak, TINY)
    explained: Array = SAFETY * (own + judge.promised.get(pair.kind, 0.0)) + by_motion
    return explained


def _mark(
    judge: Judge, pair: Pair, error: Array, above: Array, changes: Array, *, small: bool
) -> Mark:
    """The result by the largest error; `small`: next to nothing beside others of the unit, or
    beside what the machine has."""
    if pair.peak <= _floor(pair, judge.largest, judge.noise):
        return "VACUOUS"
    if not above.any():
        return "PASS"
    explained = _explained(judge, pair, changes)
    if (error[above] <= explained[above]).all():
        return "VACUOUS" if small else "INCONCLUSIVE"
    return "FAIL"


def _in_the_mean(pair: Pair, error: Array, changes: Array, allowed: float, judge: Judge) -> Mark:
    """The result where the largest error is allowed, but not the mean one."""
    floor = ROUNDING * judge.largest.get(pair.kind, 0.0)
    if error.max() <= floor:
        return "PASS"
    explained = np.linalg.norm(_explained(judge, pair, changes))
    return "INCONCLUSIVE" if np.linalg.norm(error) <= explained else "FAIL"
