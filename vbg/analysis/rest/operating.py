"""Operating points: where a machine rests, or moves steadily, found by Newton."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.held import Samples
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.symmetry import Family, Generator, find_generator, symmetries
from vbg.analysis.probe.tangent import Tangent, contents, displacement_ties, tangent
from vbg.analysis.rest.resting import stuck, with_modes, without_friction
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.posture import Projector
from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System

Array = NDArray[np.float64]
Kind = Literal["equilibrium", "steady motion", "instant"]

RESTS = 1e-9  # of a coordinate: nearer to where the rates vanish is there
ROUNDING = 1e-12  # of the largest term of a row: a smaller sum of them is zero but for rounding
FIXED = 1e-13  # the same where no deviation changes the sum: rounding of the terms alone
DEPENDENT = 1e-11  # of the largest slope: directions below have none
NOTHING = 1e-12  # a rate smaller than this [1/s times a unit] is none
ITERATIONS = 60
LARGEST_STEP = 0.3  # of any component of x in one Newton step [m, rad or part of a quaternion]
HALVINGS = 10  # of a step of Newton that does not lead nearer to rest
DESCENTS = 200
RELAXATIONS = 80  # steps of implicit Euler towards rest, the first one `FIRST` of the shortest
FIRST, GROWTH = 0.1, 1.6  # time of the machine, each the `GROWTH` of the one before
HELD = 1e-13  # residual that the constraints keep


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A state and what kind of motion goes through it.

    `misfit` is what remains of the rate beside the symmetry g (zero field at an
    equilibrium), in the coordinates of the tangent space.
    """

    t: float
    x: Array
    kind: Kind
    misfit: float
    generator: Generator | None
    sentence: str


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
    """
    start = assemble_start(system).state if x is None else np.array(x, dtype=float)
    probe = Probe(system)
    if kind == "equilibrium":
        held = _held(probe, t, start)
        return _found_rest(probe, t, start) if held is None else held
    start = with_modes(system, t, start)
    space = tangent(probe, probe.jacobian(t, start), start)
    found = [
        _newton(probe, t, start.copy(), family)
        for family in symmetries(probe, space.rows, space.basis, t, start)
        if family.members
    ]
    steady = [point for point in found if point.kind != "instant"]
    if steady:
        return min(steady, key=lambda point: float(np.abs(point.x - start).max()))
    return classify(probe, t, start)


def _found_rest(probe: Probe, t: float, start: Array) -> OperatingPoint:
    settled = _settled(probe, t, start)
    point = _newton(probe, t, settled, None)
    if point.kind == "equilibrium":
        return point
    other = _newton(probe, t, _relaxed(probe, t, settled), None)
    if other.kind == "equilibrium":
        return other
    return _not_found(probe, min(point, other, key=lambda one: one.misfit))


def _not_found(probe: Probe, point: OperatingPoint) -> OperatingPoint:
    """The nearest to a rest that there was, with the coordinate that is least at rest."""
    jacobian = probe.jacobian(point.t, point.x)
    space = tangent(probe, jacobian, point.x)
    residual = np.abs(space.reduce @ probe.values(point.t, point.x)[probe.spans["rate"]][space.rows])
    reduced = np.abs(_reduced(probe, space, jacobian)) * _sizes(space, point.x)
    if not residual.size or not np.all(np.isfinite(residual)):
        return point
    worst = int(np.argmax(residual / (reduced.max(axis=1, initial=0.0) + NOTHING)))
    what = f"No rest found: largest imbalance {residual[worst]:.3g} /s at {space.names[worst]}."
    return replace(point, sentence=f"{what} {point.sentence}")


def _held(probe: Probe, t: float, start: Array) -> OperatingPoint | None:
    """The start put to rest, if dry friction keeps the machine there."""
    system = probe.system
    if not any(m.rest > 0.0 for m in system.causal.graph.modes):
        return None
    x = with_modes(system, t, _at_rest(Projector(system), t, start, _momenta(system)))
    point = classify(probe, t, x)
    return point if point.kind == "equilibrium" and stuck(system, x) else None


def classify(probe: Probe, t: float, x: Array) -> OperatingPoint:
    """What kind of point x is, as it stands."""
    jacobian = probe.jacobian(t, x)
    space = tangent(probe, jacobian, x)
    f = probe.values(t, x)[probe.spans["rate"]]
    residual = space.reduce @ f[space.rows]
    misfit = _size(residual)
    if not _reads_what_it_holds(probe, t, x):
        return _point(t, x, "instant", misfit, None)
    if _unrest(residual, _reduced(probe, space, jacobian), space, x) <= 1.0:
        return _point(t, x, "equilibrium", misfit, None)
    g = find_generator(probe, space.rows, space.basis, t, x)
    if g is not None:
        return _point(t, x, "steady motion", 0.0, g)
    return _point(t, x, "instant", misfit, None)


def _reads_what_it_holds(probe: Probe, t: float, x: Array) -> bool:
    """Whether the next samples change nothing."""
    following = Samples(probe.system).updated(t, x)
    return bool(np.allclose(following, x, rtol=RESTS, atol=NOTHING))


def _point(
    t: float, x: Array, kind: Kind, misfit: float, generator: Generator | None
) -> OperatingPoint:
    sentence = {
        "equilibrium": "The machine rests here.",
        "steady motion": "The machine moves steadily here: along a symmetry of its own.",
        "instant": f"This is one instant of a motion (rates up to {misfit:.3g}); "
        "poles describe deviations only as long as the motion has not gone on.",
    }[kind]
    return OperatingPoint(t, x, kind, misfit, generator, sentence)


def _size(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


def _reduced(probe: Probe, space: Tangent, jacobian: Array) -> Array:
    """Slopes of the rates in coordinates of the tangent space."""
    full = jacobian[probe.spans["rate"], : probe.size]
    return np.asarray(space.reduce @ full[space.rows] @ space.basis)


def _unrest(residual: Array, reduced: Array, space: Tangent, x: Array) -> float:
    """How far from rest, in units of what still counts as rest: row by row the rates over
    rounding of their own terms; or, where that is less, coordinate by coordinate the way to where
    they vanish over `RESTS` of it, and over rounding the rates that no deviation makes vanish.

    A stiff row must not hide a soft one: a micrometre may be 1e3 N along a beam and nothing
    across it, so that the size of the rates alone says nothing.
    """
    size = _sizes(space, x)
    terms = (np.abs(reduced) * size).max(axis=1, initial=0.0)
    balanced = float((np.abs(residual) / (ROUNDING * terms + NOTHING)).max(initial=0.0))
    if balanced <= 1.0 or not (np.all(np.isfinite(reduced)) and np.isfinite(balanced)):
        return balanced
    height = np.where(terms > 0.0, terms, 1.0)
    left, values, right = np.linalg.svd(reduced * size / height[:, None])
    rank = int(np.count_nonzero(values > DEPENDENT * values[0]))
    parts = left.T @ (residual / height)
    way = right[:rank].T @ (parts[:rank] / values[:rank])
    nothing = FIXED + NOTHING * np.abs(left[:, rank:].T) @ (1.0 / height)
    stays = np.abs(parts[rank:]) / nothing
    further = max(float(stays.max(initial=0.0)), float(np.abs(way).max(initial=0.0)) / RESTS)
    return min(balanced, further)


def _sizes(space: Tangent, x: Array) -> Array:
    """What a large deviation of each coordinate is: 1, of a store what it holds."""
    size = np.abs(space.chosen @ x)
    return np.where(space.stores & (size > 0.0), size, np.maximum(size, 1.0))


def _newton_step(reduced: Array, columns: Array, residual: Array, size: Array) -> Array:
    """The least (dz, ds) with reduced dz - columns ds = -residual.

    Contents of volumes are 1e-5 m^3 where pressures are 1e7 Pa: unscaled, directions that
    matter would count as dependent.
    """
    sizes = np.concatenate([size, np.ones(columns.shape[1])])
    whole = np.hstack([reduced, -columns]) * sizes
    height = np.abs(whole).max(axis=1, initial=0.0)
    height[height == 0.0] = 1.0
    step = np.linalg.lstsq(whole / height[:, None], -residual / height, rcond=DEPENDENT)[0]
    return np.asarray(sizes * step)


@dataclass(frozen=True, slots=True)
class _Local:
    """Rates f and their slopes `full` by x, and the tangent space at x."""

    x: Array
    space: Tangent
    f: Array
    full: Array

    def reduced(self, full: Array) -> Array:
        return np.asarray(self.space.reduce @ full[self.space.rows] @ self.space.basis)

    def along(self, rates: Array) -> Array:
        return np.asarray(self.space.reduce @ rates[self.space.rows])


def _local(probe: Probe, t: float, states: tuple[Array, ...]) -> _Local:
    """Their mean where there are several states of one place; what samplers hold follows what
    they read."""
    samples = Samples(probe.system)
    states = tuple(samples.updated(t, one) for one in states)
    x = states[0]
    jacobian = np.mean([probe.jacobian(t, one) for one in states], axis=0)
    f = np.mean([probe.values(t, one) for one in states], axis=0)[probe.spans["rate"]]
    full = jacobian[probe.spans["rate"], : probe.size]
    if samples.sampled:
        full = full @ samples.following(t, x)
    return _Local(x, tangent(probe, jacobian, x), f, full)


def _newton(probe: Probe, t: float, x: Array, family: Family | None) -> OperatingPoint:
    """Newton on the manifold for f(x) = g(x; s); without a family for f(x) = 0, without dry
    friction on the way."""
    projector = Projector(probe.system)
    rates = family if family is not None else Family(())
    s: Array = np.zeros(len(rates.members))
    best, misfit, least = x, np.inf, np.inf
    for _ in range(ITERATIONS):
        rubbed = family is not None
        here = _local(probe, t, (x,) if rubbed else without_friction(probe.system, t, x))
        x, columns = here.x, rates.values(here.x)
        if not np.any(s) and len(s):
            rows = here.space.rows
            fit = np.linalg.lstsq(columns[rows], here.f[rows], rcond=1e-12)[0]
            s = np.asarray(fit, dtype=np.float64)
        residual = here.along(here.f - columns @ s)
        if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(here.full))):
            break  # it has run away
        unrest = _unrest(residual, here.reduced(here.full), here.space, x)
        if unrest > 0.5 * least and least <= 1.0:
            break  # rounding is reached
        if unrest < least:
            best, misfit, least = x, _size(residual), unrest
        full = here.full - rates.combined(s).matrix if len(s) else here.full
        size = _sizes(here.space, x)
        step = _newton_step(here.reduced(full), here.along(columns), residual, size)
        dz, ds = step[: len(residual)], step[len(residual) :]
        if family is None:
            moved = _damped(probe, projector, t, here, dz)
            if moved is None:
                break  # it does not lead nearer
            x = moved
            continue
        x, length = _moved(projector, t, x, here.space.basis @ dz)
        s = s + length * ds
    if family is None:
        best = with_modes(probe.system, t, best)
    if not least <= 1.0:
        return _point(t, best, "instant", misfit, None)
    return _judged(probe, t, best, misfit, rates if family is not None else None, s)


def _damped(
    probe: Probe, projector: Projector, t: float, here: _Local, dz: Array
) -> Array | None:
    """The state after the longest of ever shorter parts of the step dz that leads nearer: the
    next step with the same slopes is shorter (natural monotonicity: P. Deuflhard, Newton
    Methods for Nonlinear Problems, 2004, section 3.3).  None where none does."""
    size, reduced = _sizes(here.space, here.x), here.reduced(here.full)
    none = np.zeros((len(dz), 0))
    before = float(np.linalg.norm(dz / size))
    for halvings in range(HALVINGS):
        part = 0.5**halvings
        x, length = _moved(projector, t, here.x, part * (here.space.basis @ dz))
        states = without_friction(probe.system, t, x)
        f = np.mean([probe.values(t, one) for one in states], axis=0)[probe.spans["rate"]]
        rates = here.along(f)
        if np.all(np.isfinite(rates)):
            following = _newton_step(reduced, none, rates, size) / size
            if float(np.linalg.norm(following)) <= (1.0 - 0.25 * part * length) * before:
                return x
    return None


def _moved(projector: Projector, t: float, x: Array, dx: Array) -> tuple[Array, float]:
    """x + dx on the constraints, or the part of dx that turns and moves nothing too far."""
    postures = _size(dx[_postures(projector.system)])
    length = min(1.0, LARGEST_STEP / postures) if postures > 0.0 else 1.0
    x = x + length * dx
    projector.normalise(x)
    projector.project(t, x, HELD, HELD)
    return x, length


def _relaxed(probe: Probe, t: float, x: Array) -> Array:
    """Where growing steps of implicit Euler lead (pseudo-transient continuation: C. Kelley,
    D. Keyes, SIAM J. Numer. Anal. 35, 1998, 508-523): the machine's own way to rest, which
    meets the valves that open and the stops that are touched on it."""
    projector = Projector(probe.system)
    h = 0.0
    for _ in range(RELAXATIONS):
        here = _local(probe, t, without_friction(probe.system, t, x))
        A, rates = here.reduced(here.full), here.along(here.f)
        if not (np.all(np.isfinite(A)) and np.all(np.isfinite(rates))):
            break
        h = GROWTH * h if h else FIRST / max(_size(A), 1.0)
        dz = np.linalg.lstsq(np.eye(len(A)) / h - A, rates, rcond=None)[0]
        x, _ = _moved(projector, t, here.x, here.space.basis @ dz)
    return x


def _judged(
    probe: Probe, t: float, x: Array, misfit: float, rates: Family | None, s: Array
) -> OperatingPoint:
    jacobian = probe.jacobian(t, x)
    space = tangent(probe, jacobian, x)
    if rates is None or not np.any(np.abs(rates.values(x) @ s) > RESTS):
        return _point(t, x, "equilibrium", misfit, None)
    g = find_generator(probe, space.rows, space.basis, t, x)
    return _point(t, x, "instant" if g is None else "steady motion", misfit, g)


def _postures(system: System) -> Array:
    kinds = ("position", "quaternion", "displacement")
    spans = [np.arange(s.first, s.last) for s in system.slices if s.state.kind in kinds]
    return np.concatenate(spans or [np.zeros(0, dtype=int)])


def _momenta(system: System) -> Array:
    """Places of the bodies' momenta in x."""
    bodies = set(system.causal.graph.bodies)
    spans = [
        np.arange(s.first, s.last)
        for s in system.slices
        if s.state.kind == "store" and s.state.name.rpartition(".")[0] in bodies
    ]
    return np.concatenate(spans or [np.zeros(0, dtype=int)])


def _followers(probe: Probe, t: float, x: Array) -> Array:
    """Places of contents that go with coordinates: the twist of a spring between two shafts."""
    ties = displacement_ties(probe, probe.jacobian(t, x), x) != 0.0
    held = contents(probe.system)
    return np.flatnonzero(held & ties[ties[:, ~held].any(axis=1)].any(axis=0))


def _settled(probe: Probe, t: float, x: Array) -> Array:
    """Steepest descent of the stored energy from rest, in the mass metric: the
    acceleration from rest is the direction, so that a saddle is left and a minimum
    is found.  Ends near it; Newton does the rest."""
    system = probe.system
    projector = Projector(system)
    rate = Evaluator(assemble_start(system).rate_program)
    energy = Evaluator(system.programs.energy)
    momenta, postures = _momenta(system), _postures(system)
    x = _at_rest(projector, t, x, momenta)
    if momenta.size == 0 or postures.size == 0:
        return x
    postures = np.union1d(postures, _followers(probe, t, x))
    stored, length = float(energy(t, x)[0]), 1e-2
    for _ in range(DESCENTS):
        moving = x.copy()
        same = without_friction(system, t, x)
        moving[momenta] = np.mean([rate(t, one)[momenta] for one in same], axis=0)
        direction = rate(t, moving)[postures].copy()
        largest = _size(direction)
        if largest * length < 1e-10:
            break
        trial = x.copy()
        trial[postures] += min(length, LARGEST_STEP / largest) * direction
        trial = without_friction(system, t, _at_rest(projector, t, trial, momenta))[0]
        following = float(energy(t, trial)[0])
        if following < stored:
            x, stored, length = trial, following, 1.6 * length
        else:
            length *= 0.3
    return x


def _at_rest(projector: Projector, t: float, x: Array, momenta: Array) -> Array:
    rest = x.copy()
    rest[momenta] = 0.0
    projector.normalise(rest)
    projector.project(t, rest, 1e-11, 1e-12)
    return rest
