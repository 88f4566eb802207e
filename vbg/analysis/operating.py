"""Operating points: where a machine rests, or moves steadily, found by Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe import Probe
from vbg.analysis.symmetry import Family, Generator, find_generator, symmetries
from vbg.analysis.tangent import Tangent, tangent
from vbg.assemble.posture import Projector
from vbg.assemble.system import System

Array = NDArray[np.float64]
Kind = Literal["equilibrium", "steady motion", "instant"]

RESTS = 1e-9  # rate that still counts as zero, relative to the largest term of the Jacobian
ITERATIONS = 60
LARGEST_STEP = 0.3  # of any component of x in one Newton step [m, rad or part of a quaternion]
DESCENTS = 200
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
    start = system.initial_state if x is None else np.array(x, dtype=float)
    probe = Probe(system)
    if kind == "equilibrium":
        return _newton(probe, t, _settled(system, t, start), None)
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


def classify(probe: Probe, t: float, x: Array) -> OperatingPoint:
    """What kind of point x is, as it stands."""
    jacobian = probe.jacobian(t, x)
    space = tangent(probe, jacobian, x)
    f = probe.values(t, x)[probe.spans["rate"]]
    misfit = _size(space.reduce @ f[space.rows])
    if misfit <= RESTS * _scale(space, jacobian, probe):
        return _point(t, x, "equilibrium", misfit, None)
    g = find_generator(probe, space.rows, space.basis, t, x)
    if g is not None:
        return _point(t, x, "steady motion", 0.0, g)
    return _point(t, x, "instant", misfit, None)


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


def _scale(space: Tangent, jacobian: Array, probe: Probe) -> float:
    """Size of the rates that a deviation of 1 would cause."""
    full = jacobian[probe.spans["rate"], : probe.size]
    reduced = space.reduce @ full[space.rows] @ space.basis
    return max(_size(reduced), 1.0)


def _newton(probe: Probe, t: float, x: Array, family: Family | None) -> OperatingPoint:
    """Newton on the manifold for f(x) = g(x; s); without a family for f(x) = 0."""
    projector = Projector(probe.system)
    rates = family if family is not None else Family(())
    s: Array = np.zeros(len(rates.members))
    n = probe.size
    best, misfit = x, np.inf
    for _ in range(ITERATIONS):
        jacobian = probe.jacobian(t, x)
        space = tangent(probe, jacobian, x)
        f = probe.values(t, x)[probe.spans["rate"]]
        columns = rates.values(x)
        if not np.any(s) and len(s):
            fit = np.linalg.lstsq(columns[space.rows], f[space.rows], rcond=1e-12)[0]
            s = np.asarray(fit, dtype=np.float64)
        residual = space.reduce @ (f - columns @ s)[space.rows]
        now = _size(residual)
        if now > 0.5 * misfit and misfit <= RESTS * _scale(space, jacobian, probe):
            break  # rounding is reached
        if now < misfit:
            best, misfit = x, now
        full = jacobian[probe.spans["rate"], :n]
        if len(s):
            full = full - rates.combined(s).matrix
        reduced = space.reduce @ full[space.rows] @ space.basis
        whole = np.hstack([reduced, -space.reduce @ columns[space.rows]])
        step = np.linalg.lstsq(whole, -residual, rcond=1e-11)[0]
        dz, ds = step[: len(residual)], step[len(residual) :]
        dx = space.basis @ dz
        postures = _size(dx[_postures(probe.system)])
        length = min(1.0, LARGEST_STEP / postures) if postures > 0.0 else 1.0
        x, s = x + length * dx, s + length * ds
        projector.normalise(x)
        projector.project(t, x, HELD, HELD)
    return _judged(probe, t, best, misfit, rates if family is not None else None, s)


def _judged(
    probe: Probe, t: float, x: Array, misfit: float, rates: Family | None, s: Array
) -> OperatingPoint:
    jacobian = probe.jacobian(t, x)
    space = tangent(probe, jacobian, x)
    if not misfit <= RESTS * _scale(space, jacobian, probe):
        return _point(t, x, "instant", misfit, None)
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


def _settled(system: System, t: float, x: Array) -> Array:
    """Steepest descent of the stored energy from rest, in the mass metric: the
    acceleration from rest is the direction, so that a saddle is left and a minimum
    is found.  Ends near it; Newton does the rest."""
    projector = Projector(system)
    rate, turn, energy = (system.evaluator(w) for w in ("rate", "posture_rate", "energy"))
    momenta, postures = _momenta(system), _postures(system)
    x = _at_rest(projector, t, x, momenta)
    if momenta.size == 0 or postures.size == 0:
        return x
    stored, length = float(energy(t, x)[0]), 1e-2
    for _ in range(DESCENTS):
        moving = x.copy()
        moving[momenta] = rate(t, x)[momenta]
        direction = turn(t, moving).copy()
        largest = _size(direction)
        if largest * length < 1e-10:
            break
        trial = x.copy()
        trial[postures] += min(length, LARGEST_STEP / largest) * direction
        trial = _at_rest(projector, t, trial, momenta)
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
