"""Operating points: where a machine rests, or moves steadily, found by Newton."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.held import Samples
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.symmetry import (
    Family,
    Generator,
    Units,
    find_generator,
    seen_from,
    symmetries,
    turning_with,
    units_of,
)
from vbg.analysis.probe.tangent import Tangent, tangent
from vbg.analysis.rest.descent import Slopes, relaxed, settled
from vbg.analysis.rest.growth import Growth, driven, growing, natural_sizes
from vbg.analysis.rest.local import (
    Local,
    divided,
    hidden,
    imbalance,
    largest,
    local_at,
    newton_step,
    reduced_slopes,
)
from vbg.analysis.rest.manifold import Manifold
from vbg.analysis.rest.missing import given_nodes, loose_at
from vbg.analysis.rest.resting import stuck, with_modes, without_friction
from vbg.analysis.rest.sizes import NOTHING, Sizes, in_motion, sizes_of
from vbg.analysis.rest.timed import as_long_as, few, timed
from vbg.assemble.system import System
from vbg.errors import UsageError
from vbg.plumbing.one_thread import one_thread

Array = NDArray[np.float64]
Kind = Literal["equilibrium", "steady motion", "instant"]

RESTS = 1e-9  # of a coordinate: nearer to where the rates vanish is there
STEADY = 1e-7  # of a coordinate, or of the terms of a rate: nearer to a steady motion is one
ITERATIONS = 60
STALLED = 12  # steps in which what is left has not halved: there is nothing to close in on
# of the way to where the machine goes from an unstable rest: a start this near is meant to be there
ASIDE = 1e-6
TAKES_PART = 1e-3  # of what moves most in a deviation: what moves less has no part in it
GOES_ON = (
    "moves the machine at a speed that changes with time: it neither rests nor moves steadily."
)
POLISHED = 2  # steps within rounding: the first one may stir what is far below the largest rate
HALVINGS = 10  # of a step of Newton that does not lead nearer to rest
BENT = 0.25  # of the way to rest: what slopes that change on it may leave of it
AT_REST = Units(np.ones(1), 1.0)  # nothing is counted in these


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A state and what kind of motion goes through it.

    `misfit` is what remains of the rate beside the symmetry g (zero field at an
    equilibrium), in the coordinates of the tangent space.  `growth` of what leaves a rest that
    is unstable, None where nothing does.  `until_changed`: parts that follow the time and are
    taken as they are at t; `is_driven` where drives are the reason why it is an instant only.
    `hidden` says where a rest is one of many that no rate tells apart from one another.
    """

    t: float
    x: Array
    kind: Kind
    misfit: float
    generator: Generator | None
    sentence: str
    growth: Growth | None = None
    until_changed: tuple[str, ...] = ()
    is_driven: bool = False
    hidden: str = ""


@one_thread()
def operating_point(
    system: System,
    kind: Literal["equilibrium", "steady"] = "equilibrium",
    x: Array | None = None,
    t: float = 0.0,
) -> OperatingPoint:
    """The equilibrium or steady motion next to `x` (default: the assembled start).

    "equilibrium": the machine is let go at rest and descends in its potential as
    far as it does; Newton on the constraint manifold finishes.  "steady": Newton
    from x on f(x) - g(x; s) = 0 over deviations and the rates s of the candidate
    symmetries; of several results the nearest.  Where Newton does not converge the result
    says so (kind "instant").
    Beside drives whose speeds change there is neither (`vbg.analysis.rest.timed`).
    """
    probe = Probe(system)
    start = probe.start.state if x is None else np.array(x, dtype=float)
    manifold = Manifold(probe, t, start)
    if timed(probe, t, start).driving:
        return classify(probe, t, with_modes(probe.start, t, start))
    if kind == "equilibrium":
        held = _held(manifold, t, start)
        return _found_rest(manifold, t, start) if held is None else held
    start = with_modes(probe.start, t, start)
    jacobian = probe.jacobian(t, start)
    space, units = tangent(probe, jacobian, start), units_of(probe, t, jacobian, start)
    found = [
        _newton(manifold, t, start.copy(), family, units)
        for family in symmetries(probe, units, space.rows, space.basis, t, start)
        if family.members
    ]
    steady = [point for point in found if point.kind != "instant"]
    if steady:
        return min(steady, key=lambda one: float(np.abs((one.x - start) / units.sizes).max()))
    return classify(probe, t, start)


def _found_rest(manifold: Manifold, t: float, start: Array) -> OperatingPoint:
    probe = manifold.probe
    space: Tangent | None = None

    def local(x: Array) -> Local:
        nonlocal space
        here = local_at(probe, t, without_friction(probe.start, t, x), space)
        space = here.space
        return here

    def slopes(x: Array) -> tuple[Array, Array, Array, Array]:
        here = local(x)
        return here.x, here.space.basis, here.reduced(here.full), here.along(here.f)

    def at_rest(x: Array) -> tuple[Array, Array, Array, Array]:
        """No posture has a rate there, whatever speed a rotor has, or rounding of it."""
        here = local(x)
        is_moved = np.delete(here.space.chosen, manifold.moving, axis=1).any(axis=1)
        rates = np.where(is_moved, here.along(here.f), 0.0)
        return here.x, here.space.basis, here.reduced(here.full), rates

    low = settled(manifold, t, start, at_rest)
    # what rests on a stop may have been let go while it bounced; where it stood it touches
    sought = (
        lambda: low,
        lambda: relaxed(manifold, t, low, slopes),
        lambda: manifold.at_rest(t, start),
    )
    found = []
    for begin in sought:
        found.append(_newton(manifold, t, begin(), None))
        if found[-1].kind == "equilibrium":
            return _stable(manifold, t, start, found[-1], slopes)
        if found[-1].kind == "steady motion":
            return found[-1]
    driven_on = [one for one in found if one.is_driven]
    if driven_on:
        return driven_on[0]
    nearest = min(found, key=lambda one: one.misfit)
    return _not_found(probe, nearest, loose_at(manifold, t, start))


def _stable(
    manifold: Manifold, t: float, start: Array, point: OperatingPoint, slopes: Slopes
) -> OperatingPoint:
    """The rest; where it is unstable, and the machine did not stand there before, that to which the
    machine goes on its own way from beside it, if that is stable: first on the side where it stood.
    Of sources that work (constant torques) the stored energy, down which the search goes, is no
    measure.

    What is written upright stays so: it stands there if nothing that would leave has moved by more
    than ASIDE of the way that it would go, whatever the size of the machine is.
    """
    if point.growth is None:
        return point
    places, units = manifold.postures, natural_sizes(manifold.probe, t, point.x)
    way = point.growth.way[places] / units[places]
    leaving = np.abs(way) > TAKES_PART * np.abs(way).max(initial=0.0)
    if not leaving.any():
        return point
    moved = np.where(leaving, (manifold.at_rest(t, start) - point.x)[places] / units[places], 0.0)
    for side in (1.0, -1.0) if moved @ way >= 0.0 else (-1.0, 1.0):
        dx = side / float(np.abs(way).max()) * point.growth.way
        beside, _ = manifold.moved(t, point.x, min(manifold.longest(dx), 1.0) * dx)
        try:
            other = _newton(manifold, t, relaxed(manifold, t, beside, slopes), None)
        except UsageError:
            continue  # a law divides by zero on that way
        if other.kind == "equilibrium" and other.growth is None:
            gone = (other.x - point.x)[places] / units[places]
            return point if np.linalg.norm(moved) <= ASIDE * np.linalg.norm(gone) else other
    return point


def _not_found(probe: Probe, point: OperatingPoint, loose: list[str]) -> OperatingPoint:
    """The nearest to a rest that there was, with the coordinate that is least at rest and what
    nothing holds."""
    if not _has_rates(probe, point.t, point.x):
        what = "No rest found: where the search ends a root, a logarithm or a power has no value."
        return replace(point, sentence=what)
    jacobian = probe.jacobian(point.t, point.x)
    space = tangent(probe, jacobian, point.x)
    residual = np.abs(
        space.reduce @ probe.values(point.t, point.x)[probe.spans["rate"]][space.rows]
    )
    sizes = sizes_of(probe.system, space, point.x)
    reduced = np.abs(_reduced(probe, space, jacobian, sizes)) * sizes.large
    if not residual.size or not np.all(np.isfinite(residual)):
        return point
    if given := given_nodes(probe, space, residual > sizes.nothing, reduced):
        return _driven(probe, point.t, point.x, point.misfit, f"Drives move {few(given)} here.")
    worst = int(np.argmax(residual / (reduced.max(axis=1, initial=0.0) + sizes.nothing)))
    what = f"No rest found: largest imbalance {residual[worst]:.3g} /s at {space.names[worst]}."
    if loose:
        what = f"{what} Nothing holds {few(loose)}."
    return replace(point, sentence=f"{what} {point.sentence}")


def _held(manifold: Manifold, t: float, start: Array) -> OperatingPoint | None:
    """The start put to rest, if dry friction keeps the machine there."""
    system = manifold.probe.system
    if not any(m.rest > 0.0 for m in system.causal.graph.modes):
        return None
    x = with_modes(manifold.probe.start, t, manifold.at_rest(t, start))
    point = classify(manifold.probe, t, x)
    return point if point.kind == "equilibrium" and stuck(system, x) else None


def classify(probe: Probe, t: float, x: Array) -> OperatingPoint:
    """What kind of point x is, as it stands."""
    jacobian = probe.jacobian(t, x)
    space = tangent(probe, jacobian, x)
    f = probe.values(t, x)[probe.spans["rate"]]
    residual = space.reduce @ f[space.rows]
    misfit = largest(residual)
    if driving := timed(probe, t, x).driving:
        return _driven(probe, t, x, misfit, f"{few(driving)} {GOES_ON}")
    if not _reads_what_it_holds(probe, t, x):
        return _point(probe, t, x, "instant", misfit, None)
    sizes = sizes_of(probe.system, space, x)
    unrest = _unrest(residual, _reduced(probe, space, jacobian, sizes), sizes)
    if unrest <= 1.0 and _is_straight(probe, t, (x,)) and _has_rates(probe, t, x):
        return _rest(probe, t, x, misfit)
    g = _steadily(probe, t, x, jacobian, space)
    if g is not None:
        return _point(probe, t, x, "steady motion", 0.0, g)
    return _point(probe, t, x, "instant", misfit, None)


def _steadily(
    probe: Probe, t: float, x: Array, jacobian: Array, space: Tangent, by_terms: bool = True
) -> Generator | None:
    """The symmetry along which x moves steadily, None where there is none or where coordinates
    of the steady motion are off: rates of turning may hide a slow drift of a store.  `by_terms`:
    rates that are small beside their terms will do."""
    units = units_of(probe, t, jacobian, x)
    g = find_generator(probe, units, space.rows, space.basis, t, x)
    if g is None:
        return None
    rate = probe.spans["rate"]
    residual = space.reduce @ (probe.values(t, x)[rate] - g.at(x))[space.rows]
    sizes = sizes_of(probe.system, space, x)
    reduced = reduced_slopes(space, jacobian[rate, : probe.size] - g.matrix, sizes)
    if not (residual.size and np.all(np.isfinite(reduced))):
        return g
    sizes = in_motion(sizes, space, units)
    terms = np.abs(reduced) @ sizes.large
    balanced = by_terms and np.all(np.abs(residual) <= STEADY * terms + sizes.nothing)
    return g if balanced or divided(reduced, residual, sizes)[2] <= STEADY else None


def _reads_what_it_holds(probe: Probe, t: float, x: Array) -> bool:
    """Whether the next samples change nothing."""
    following = Samples(probe.system).updated(t, x)
    return bool(np.allclose(following, x, rtol=RESTS, atol=NOTHING))


def _point(
    probe: Probe, t: float, x: Array, kind: Kind, misfit: float, generator: Generator | None
) -> OperatingPoint:
    changing = timed(probe, t, x).changing if kind != "instant" else ()
    limit = as_long_as(changing, t)
    sentence = {
        "equilibrium": f"The machine rests here{limit}.",
        "steady motion": f"The machine moves steadily here{limit}: along a symmetry of its own.",
        "instant": f"This is one instant of a motion (rates up to {misfit:.3g}); "
        "poles describe deviations only as long as the motion has not gone on.",
    }[kind]
    if kind == "steady motion" and generator is not None:
        sentence += seen_from(turning_with(probe.system, generator))
    return OperatingPoint(t, x, kind, misfit, generator, sentence, until_changed=changing)


def _driven(probe: Probe, t: float, x: Array, misfit: float, sentence: str) -> OperatingPoint:
    point = _point(probe, t, x, "instant", misfit, None)
    return replace(point, sentence=sentence, is_driven=True)


def _rest(probe: Probe, t: float, x: Array, misfit: float) -> OperatingPoint:
    """A rest, with how deviations leave it where they do.  What drives keep moving is none, though
    its rates vanish beside the drives', unless deviations feel nothing of that motion: their slopes
    lack what turns with it (centrifugal and gyroscopic terms)."""
    jacobian = probe.jacobian(t, x)
    space = tangent(probe, jacobian, x)
    if moved := driven(probe, t, x):
        g = _steadily(probe, t, x, jacobian, space)
        if g is None:
            return _driven(probe, t, x, misfit, f"Drives move {moved} here.")
        sizes = sizes_of(probe.system, space, x)
        felt = np.abs(space.reduce @ g.matrix[space.rows] @ space.basis) @ sizes.large
        terms = np.abs(_reduced(probe, space, jacobian, sizes)) @ sizes.large
        if np.any(felt > RESTS * terms + sizes.nothing):
            return _point(probe, t, x, "steady motion", misfit, g)
    growth = growing(probe, t, x, jacobian, space)
    point = _point(probe, t, x, "equilibrium", misfit, None)
    if unknown := _hidden(probe, t, x, jacobian, space):
        point = replace(point, sentence=f"{point.sentence} {unknown}", hidden=unknown)
    if growth is None:
        return point
    return replace(point, sentence=f"{point.sentence} {growth.sentence}", growth=growth)


def _reduced(probe: Probe, space: Tangent, jacobian: Array, sizes: Sizes) -> Array:
    return reduced_slopes(space, jacobian[probe.spans["rate"], : probe.size], sizes)


def _hidden(probe: Probe, t: float, x: Array, jacobian: Array, space: Tangent) -> str:
    """A sentence on the coordinate that is known least, where that is less than `RESTS` asks for:
    what fills a vessel through a leak of 1e-10 of the pipe beside it is rounding of the pipe's."""
    sizes = sizes_of(probe.system, space, x)
    known = sizes.measured | ~space.stores  # not of controllers, whose units nobody knows
    parts = np.where(known, hidden(_reduced(probe, space, jacobian, sizes), sizes), 0.0)
    if not parts.size or not parts.max() > RESTS:
        return ""
    least = int(np.argmax(parts))
    return (
        f"Rounding leaves {space.names[least]} unknown by {parts[least]:.1g} of "
        f"{sizes.large[least]:.3g}: what determines it is weak beside what it exchanges."
    )


def _unrest(residual: Array, reduced: Array, sizes: Sizes) -> float:
    """How far from rest, in units of what still counts as rest: row by row the rates over
    rounding of their own terms, or where that is less coordinate by coordinate the way to where
    they vanish over `RESTS` of it; and over rounding the rates that no deviation makes vanish.

    A stiff row must not hide a soft one: a micrometre may be 1e3 N along a beam and nothing
    across it, so that the size of the rates alone says nothing.
    """
    balanced = imbalance(residual, reduced, sizes)
    if not residual.size or not (np.all(np.isfinite(reduced)) and np.isfinite(balanced)):
        return balanced
    _, _, way, stays = divided(reduced, residual, sizes)
    return max(stays, min(balanced, way / RESTS))


def _is_straight(probe: Probe, t: float, states: tuple[Array, ...]) -> bool:
    """Whether the slopes hold as far as the way to rest that they tell: beside a wall or a pole
    (a force 1/slide at a slide of 1e-9 m) that way is short wherever one stands, and no rest is
    at its end.  What the changed slopes leave is measured by the next step, as in `_damped`.
    `states` as for `local_at`; nothing is asked where the rates are rounding of what is there.
    """
    here = local_at(probe, t, states)
    residual, reduced = here.along(here.f), here.reduced(here.full)
    sizes = here.sizes
    there_is = replace(sizes, grain=np.abs(here.space.chosen @ here.x))
    if imbalance(residual, reduced, there_is) <= 1.0:
        return True
    size = sizes.large
    none = np.zeros((len(residual), 0))
    dz = newton_step(reduced, none, residual, sizes)
    dx = here.space.basis @ dz
    try:
        there = local_at(probe, t, tuple(one + dx for one in states))
    except UsageError:  # a law divides by zero at the very end
        dx = 0.5 * dx
        there = local_at(probe, t, tuple(one + dx for one in states))
    left = here.along((there.full - here.full) @ dx)
    if not np.all(np.isfinite(left)):
        return False
    following = newton_step(reduced, none, left, sizes)
    return bool(np.linalg.norm(following / size) <= BENT * np.linalg.norm(dz / size))


def _has_rates(probe: Probe, t: float, x: Array) -> bool:
    """Whether the laws have values in real numbers: those of a probe are complex, where the root
    of -1 has one."""
    return bool(np.isfinite(probe.start.evaluator("rate")(t, x)).all())


def _newton(
    manifold: Manifold, t: float, x: Array, family: Family | None, units: Units = AT_REST
) -> OperatingPoint:
    """Newton on the manifold for f(x) = g(x; s); without a family for f(x) = 0, without dry
    friction on the way."""
    probe = manifold.probe
    rates = family if family is not None else Family(())
    s: Array = np.zeros(len(rates.members))
    best, misfit, least, nearest, rounded = x, np.inf, np.inf, s, 0
    halved, since = np.inf, 0
    space: Tangent | None = None
    for _ in range(ITERATIONS):
        rubbed = family is not None
        states = (x,) if rubbed else without_friction(probe.start, t, x)
        here = local_at(probe, t, states, space)
        x, space, columns = here.x, here.space, rates.values(here.x)
        if not np.any(s) and len(s):
            s = _as_it_goes(manifold, here, columns)
        residual = here.along(here.f - columns @ s)
        if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(here.full))):
            break
        if manifold.is_away(x):
            break
        sizes = in_motion(here.sizes, space, units) if rubbed else here.sizes
        unrest = _unrest(residual, here.reduced(here.full), sizes)
        rounded += unrest >= 0.5 * least and least <= 1.0
        if unrest < least:
            best, misfit, least, nearest = x, largest(residual), unrest, s
        halved, since = (least, 0) if least < 0.5 * halved else (halved, since + 1)
        if rounded == POLISHED or since == STALLED:
            break
        full = here.full - rates.combined(s).matrix if len(s) else here.full
        gone = here.driven(manifold.poses, columns)
        step = newton_step(
            np.vstack([here.reduced(full), full[gone] @ here.space.basis]),
            units.pace * np.vstack([here.along(columns), columns[gone]]),
            np.concatenate([residual, (here.f - columns @ s)[gone]]),
            sizes,
        )
        dz, ds = step[: len(residual)], units.pace * step[len(residual) :]
        if family is None:
            moved = _damped(manifold, t, here, dz)
            if moved is None:
                break  # it does not lead nearer
            x = moved
            continue
        if least <= 1.0 and largest(dz / sizes.large) > STEADY:
            break  # far along what is free but for rounding: nothing asks for that
        x, length = manifold.moved(t, x, here.space.basis @ dz)
        s = s + length * ds
    found = least <= 1.0
    if family is None:
        found = found and _is_straight(probe, t, without_friction(probe.start, t, best))
        best = with_modes(probe.start, t, best)
        found = found and _has_rates(probe, t, best)
    elif np.isfinite(least) and units.moves(family.values(best) @ nearest, RESTS):
        return _turning(probe, t, best, misfit, found)
    if not found:
        return _point(probe, t, best, "instant", misfit, None)
    return _rest(probe, t, best, misfit)


def _as_it_goes(manifold: Manifold, here: Local, columns: Array) -> Array:
    """Rates of the symmetries that are the speeds as they are: what momenta do about them is still
    to be balanced."""
    rows = np.intersect1d(here.space.rows, manifold.postures)
    fit = np.linalg.lstsq(columns[rows], here.f[rows], rcond=1e-12)[0]
    return np.asarray(fit, dtype=np.float64)


def _damped(manifold: Manifold, t: float, here: Local, dz: Array) -> Array | None:
    """The state after the longest of ever shorter parts of the step dz that leads nearer: the
    next step with the same slopes is shorter (natural monotonicity: P. Deuflhard, Newton
    Methods for Nonlinear Problems, 2004, section 3.3).  None where none does."""
    probe, reduced = manifold.probe, here.reduced(here.full)
    sizes = here.sizes
    size = sizes.large
    none = np.zeros((len(dz), 0))
    before = float(np.linalg.norm(dz / size))
    for halvings in range(HALVINGS):
        part = 0.5**halvings
        x, length = manifold.moved(t, here.x, part * (here.space.basis @ dz))
        states = without_friction(probe.start, t, x)
        try:
            f = np.mean([probe.values(t, one) for one in states], axis=0)[probe.spans["rate"]]
        except UsageError:
            continue  # a law divides by zero there
        rates = here.along(f)
        if np.all(np.isfinite(rates)):
            following = newton_step(reduced, none, rates, sizes) / size
            if float(np.linalg.norm(following)) <= (1.0 - 0.25 * part * length) * before:
                return x
    return None


def _turning(probe: Probe, t: float, x: Array, misfit: float, found: bool) -> OperatingPoint:
    """What goes through x along a symmetry.  Newton's iterations need not come to within rounding
    of the terms of the rates (`found`): those of a light rotor that a gear ties to a heavy one are
    the difference of efforts that tie them.  Then coordinates within `STEADY` make it steady.
    """
    jacobian = probe.jacobian(t, x)
    g = _steadily(probe, t, x, jacobian, tangent(probe, jacobian, x), by_terms=found)
    return _point(probe, t, x, "instant" if g is None else "steady motion", misfit, g)
