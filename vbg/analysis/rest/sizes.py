"""What is large for each coordinate of a machine, by which ways to rest and rates are judged.

A store is judged by what it makes: a way of 1e-9 of what makes 1 V, 1 A, 1 bar, or of what it holds
where that is more.  1 C is nothing to go by: of 1 nF it makes 1e9 V, and beside the currents that
would flow then a current of 1e-6 A, which fills 0.1 F through 1 Mohm, would be rounding.

What a rate may have of rounding follows from what there is, not from what is large: a damper of
1e7 N s/m makes no rounding at rest, nor does a resistor of 1 ohm without a current.  Places have
that of the coordinates in which a posture is computed, a turn or 1 m.

The time in which bodies move is that of the machine, `pace` p: their speeds are judged by a size l
or a radian in it, p l and p, and their accelerations by p^2 l and p^2.  What stores beside them
fill is judged by that time where it is more than a second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.pace import pace
from vbg.analysis.probe.symmetry import Units
from vbg.analysis.probe.tangent import Tangent
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.graph.bondgraph import Vertex
from vbg.plumbing.components import vector_of
from vbg.plumbing.once import once
from vbg.simulate.steppers.machine_size import machine_size
from vbg.simulate.steppers.tolerances import MOVING, UNITS

Array = NDArray[np.float64]

POSTURES = ("position", "quaternion", "displacement")
NOTHING = 1e-12  # of a unit in a unit of time: a smaller rate is none


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of each coordinate: `large` is a large deviation, `grain` what it is computed from, and a
    rate smaller than `nothing` [1/s] is none; `measured`: stores of which it is known what makes 1
    unit there; `moving`: 1 of places, 2 of speeds, 0 of others."""

    large: Array
    grain: Array
    nothing: Array
    measured: NDArray[np.bool_]
    moving: NDArray[np.intp]

    def felt(self, reduced: Array) -> Array:
        """Slopes without those of speeds by speeds, and of places by places, that make nothing of
        a large deviation: of what is free to move on these are rounding of what is not."""
        alike = (self.moving[:, None] == self.moving) & (self.moving > 0)
        none = alike & (np.abs(reduced) * self.large <= self.nothing[:, None])
        return np.where(none, 0.0, reduced)


def sizes_of(system: System, space: Tangent, x: Array) -> Sizes:
    """Large is 1, of speeds one in the machine's time, of a store what it holds, but no less than
    what makes 1 unit there; a grain is what the coordinate is, of places a turn or 1 m at least."""
    size = np.abs(space.chosen @ x)
    placed = (space.chosen[:, _placed(system)] != 0.0).any(axis=1)
    grain = np.where(placed, np.maximum(size, 1.0), size)
    unit = np.abs(space.chosen) @ _units(system)
    measured = space.stores & (unit > 0.0)
    speeds = _speeds(system, space)
    unit = np.where(measured, unit, np.where(speeds > 0.0, speeds, 1.0))
    has_own = space.stores & ~measured & (size > 0.0)  # of a controller nobody knows the unit
    large = np.where(has_own, size, np.maximum(size, unit))
    moving = np.where(speeds > 0.0, 2, placed.astype(int))
    p = pace(system)
    time = np.where(moving > 0, p, min(p, 1.0))
    return Sizes(large, grain, NOTHING * unit * time, measured, moving)


def in_motion(sizes: Sizes, space: Tangent, units: Units) -> Sizes:
    """Sizes of a motion in its own units: rates are rounding where they move NOTHING of what is
    large there, at its pace; stores as at rest.  What is large has terms: those of g."""
    large = np.where(space.stores, sizes.large, np.abs(space.chosen) @ units.sizes)
    nothing = np.where(space.stores, sizes.nothing, NOTHING * units.pace * large)
    return replace(sizes, large=large, grain=large, nothing=nothing)


def _speeds(system: System, space: Tangent) -> Array:
    """Of each coordinate that is a speed a large one, p l [m/s] or p [rad/s]; 0 of others."""
    large = {"rad/s": pace(system), "m/s": pace(system) * machine_size(system)}
    units = system.signal_units
    told = (units.get(name, units.get(vector_of(name), "")) for name in space.names)
    return np.array([large.get(unit, 0.0) for unit in told])


@once
def _placed(system: System) -> NDArray[np.intp]:
    spans = [np.arange(s.first, s.last) for s in system.slices if s.state.kind in POSTURES]
    return np.concatenate(spans or [np.zeros(0, dtype=int)]).astype(np.intp)


@once
def _units(system: System) -> Array:
    """Of the scalar stores what makes 1 unit of effort or flow, by the slope of the law at the
    written start (one that a chamber has when it is drawn empty says nothing), of springs 1 m or
    rad at most; 0 of other states, and where a law has no slope."""
    evaluate, found = Evaluator(system.programs.slope), np.zeros(system.size)
    try:
        evaluate(0.0, system.written_state)
    except ZeroDivisionError:  # a law divides by zero there
        return found
    places = {s.state.name: s.first for s in system.slices}
    for vertex in system.causal.graph.vertices.values():
        name = "" if vertex.state is None else str(vertex.state.data)
        if vertex.state is None or not vertex.is_store or vertex.size > 1 or name not in places:
            continue
        block = system.equations.slopes[vertex.state]
        slope = block.data[0, 0] if block.is_const else evaluate.output(name)[0]
        found[places[name]] = _content(vertex, float(slope))
    return found


def _content(vertex: Vertex, slope: float) -> float:
    """What makes 1 unit, by the slope of the store's law."""
    if not np.isfinite(slope) or slope == 0.0:
        return 0.0
    effort, flow = UNITS.get(vertex.domain, (1.0, 1.0))
    content = (effort if vertex.kind == "C" else flow) / abs(slope)
    return min(content, 1.0) if vertex.domain in MOVING and vertex.kind == "C" else content
