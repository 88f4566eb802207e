"""A Start from a state that is there already: a rest that was found, a row of a result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.assemble.start.constraints.choice import every_row
from vbg.assemble.start.constraints.closing import Closer
from vbg.assemble.start.constraints.sizes import typical_length
from vbg.assemble.start.lengths import row_lengths
from vbg.assemble.start.start import Start, admissible, examined
from vbg.assemble.start.ties import with_ties
from vbg.assemble.start.values.modes import agree
from vbg.assemble.system import System
from vbg.errors import AssemblyError, Problem, UsageError
from vbg.model.located import located

Array = NDArray[np.float64]

LEAST = (
    1e-3  # of the largest state of its unit, of the machine's length, of 1 rad: so much at least
)
COSTS = ("impulse", "moment", "lost")  # of a joint that closes, counted from the start of a run
NEAR = 1e-6  # of a body's way or of a speed: a state that is moved less was on the constraints


def start_at(system: System, state: ArrayLike) -> Start:
    """The Start of `system` from `state`, x in the order of `System.state_names`.

    The state is put onto the constraints at t = 0, the nearest way in the metric of the masses;
    its energies supplied and dissipated begin at zero, as what joints that close have cost so far;
    contacts and the like agree with it.
    A note tells where it had to be moved.  Raises UsageError for a state of another size or
    without values, AssemblyError where the mechanism does not close near it or drives
    contradict it.
    """
    x = np.array(state, dtype=float)
    if x.shape != (system.size,) or not np.all(np.isfinite(x)):
        raise UsageError(
            f"a start of {system.model.name} is {system.size} numbers, in the order of "
            f"System.state_names; found shape {x.shape}"
            + ("." if x.shape != (system.size,) else " with numbers that have no value.")
        )
    latches = [c.name for c in system.equations.constraints if c.latches]
    counted = {f"{name}.{cost}" for name in latches for cost in COSTS}
    for s in system.slices:
        if s.state.kind == "quadrature" or s.state.name in counted:
            x[s.first : s.last] = 0.0
    try:
        start = _on_constraints(system, x)
    except AssemblyError as error:
        raise AssemblyError.of(located(system.model, error.problems)) from None
    return replace(start, notes=located(system.model, start.notes))


def _on_constraints(system: System, given: Array) -> Start:
    kept = every_row(system)
    closer = Closer(system, kept)
    projector, x = closer.projector, given.copy()
    if projector.rows:
        projector.normalise(x)
        closed = closer.close(0.0, x)
        if closed is None:
            raise AssemblyError.of([_far(system)])
        x = closed
        projector.measure(0.0, x)
        closer.choose(0.0, x)
        lengths = with_ties(projector, x, row_lengths(system, closer))
        velocity = projector.residuals(0.0, x)[1] / lengths
        x = admissible(projector, x, 1.0 + float(np.abs(velocity).max()), lengths)
    agree(system, 0.0, x, kept)
    position, velocity = projector.residuals(0.0, x)
    left = [float(np.abs(r).max(initial=0.0)) for r in (position, velocity)]
    start = Start(system, x, left[0], left[1], (), 0, None, _moved(system, given, x), kept)
    return examined(system, closer, start) if projector.rows else start


def _far(system: System) -> Problem:
    return Problem(
        "error",
        "simulate.start",
        "the mechanism does not close from the state that it is to start from.",
        f"The state is that of another machine than {system.model.name}, or drives stand "
        "elsewhere at t = 0 than it does: a start's clock begins at 0.",
    )


def _moved(system: System, given: Array, x: Array) -> tuple[Problem, ...]:
    """A warning with the state that had to be moved farthest."""
    moved = np.abs(x - given)
    modes = {m.name for m in system.causal.graph.modes}
    large = {"m": typical_length(system), "rad": 1.0}
    for s in system.slices:
        own = float(np.abs(given[s.first : s.last]).max(initial=0.0))
        large[s.state.unit] = max(large.get(s.state.unit, 0.0), own)
    worst, name = 0.0, ""
    for s in system.slices:
        span = slice(s.first, s.last)
        least = LEAST * (large[s.state.unit] or 1.0)
        size = max(float(np.abs(given[span]).max()), least)
        relative = float(moved[span].max()) / size
        if s.state.name not in modes and relative > worst:
            worst, name = relative, s.state.name
    if worst <= NEAR:
        return ()
    percent = f"{name} by {100.0 * worst:.3g} %."
    told = f"the state to start from was moved onto the joints and drives: {percent}"
    remedy = "It belongs to a machine with other lengths, or with other drives at t = 0."
    if domain := _domain(system, name):
        quantity = {"hydraulic": "pressure", "electric": "voltage or current"}[domain]
        told = (
            f"the state to start from has more than one {quantity} where parts share one: {percent}"
        )
        remedy = "It belongs to a machine with other stores there, or with other sources at t = 0."
    return (Problem("warning", "simulate.start", told, remedy),)


def _domain(system: System, state: str) -> str:
    """ "electric" or "hydraulic" of what a part of these holds, else empty."""
    for vertex in system.causal.graph.vertices.values():
        if vertex.state is not None and vertex.state.data == state and vertex.is_store:
            domain = vertex.part.partition(".")[0]
            return domain if domain in ("electric", "hydraulic") else ""
    return ""
