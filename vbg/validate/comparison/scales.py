"""What is small beside a machine: natural magnitudes of every unit, from the machine itself.

At rest a velocity is rounding in both solutions, and rounding cannot be compared with
rounding.  A machine of length L, mass m and inertia J under gravity g that is watched for a
duration T has magnitudes of its own, whatever it does::

    v = max(seen, sqrt(g L), L / T)      a = max(seen, g, L / T^2)
    w = max(seen, v / L)                 w' = max(seen, a / L)
    F = max(seen, written, m a, M / L)   M = max(seen, written, F L, J w')
    E = max(seen, F L)                   P = max(seen, F v)

`seen` is the largest channel of the unit in either solution, `written` the largest number of
the unit in the file (a source, a preload), m and J those of the heaviest body.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vbg.fields import Attachment, declared
from vbg.model import Model
from vbg.solution import Solution

_TABLES = (
    "forces", "joints", "rotational", "translational", "electric", "hydraulic", "bondgraph"
)  # fmt: skip


def natural_scales(model: Model, seen: Mapping[str, float], duration: float) -> dict[str, float]:
    """Unit -> magnitude [of that unit], for all units that mechanics knows and that were seen;
    `seen` are the largest channels by unit."""
    written = largest_written(model)
    found = {unit: max(seen.get(unit, 0.0), written.get(unit, 0.0)) for unit in {*seen, *written}}
    if not model.bodies:
        return found
    L = _length(model, seen)
    T = max(duration, 1e-300)
    g = float(np.linalg.norm(model.gravity))
    mass = max(body.mass for body in model.bodies.values())
    inertia = max(float(np.abs(body.inertia).max()) for body in model.bodies.values())

    def larger(unit: str, *values: float) -> float:
        found[unit] = max(found.get(unit, 0.0), *values)
        return found[unit]

    larger("m", L)
    larger("rad", 1.0)
    larger("1", 1.0)
    v = larger("m/s", math.sqrt(g * L), L / T)
    a = larger("m/s^2", g, L / T**2)
    larger("rad/s", v / L)
    turning = larger("rad/s^2", a / L)
    force = larger("N", mass * a)
    torque = larger("N*m", force * L, inertia * turning)
    force = larger("N", torque / L)
    larger("J", force * L)
    larger("W", force * v)
    return found


def seen_by_unit(solution: Solution) -> dict[str, float]:
    """Largest finite magnitude of every unit in a solution."""
    seen: dict[str, float] = {}
    for name, values in solution.signals.items():
        if name.startswith("residual.") or not values.size:
            continue
        finite = np.abs(values[np.isfinite(values)])
        unit = solution.units.get(name, "")
        seen[unit] = max(seen.get(unit, 0.0), float(finite.max(initial=0.0)))
    return seen


def scales_of(model: Model, *solutions: Solution) -> dict[str, float]:
    """`natural_scales` with what the solutions show."""
    seen: dict[str, float] = {}
    for solution in solutions:
        for unit, value in seen_by_unit(solution).items():
            seen[unit] = max(seen.get(unit, 0.0), value)
    spans = [float(s.time[-1] - s.time[0]) for s in solutions if len(s.time)]
    return natural_scales(model, seen, max(spans, default=1.0) or 1.0)


def _length(model: Model, seen: Mapping[str, float]) -> float:
    """The largest of points, places and radii of gyration [m]."""
    lengths = [seen.get("m", 0.0)]
    for body in model.bodies.values():
        lengths += [float(np.abs(point).max()) for point in body.points.values()]
        lengths.append(math.sqrt(max(float(np.abs(body.inertia).max()), 0.0) / body.mass))
    for joint in model.joints.values():
        for end in joint.between:
            if isinstance(end, Attachment):
                lengths.append(float(np.abs(end.at).max()))
    return max(lengths) or 1.0


def largest_written(model: Model) -> dict[str, float]:
    """Unit -> the largest magnitude that the file writes in it, sources as numbers included."""
    largest: dict[str, float] = {}
    for table in _TABLES:
        for part in getattr(model, table).values():
            for unit, value in _written(part):
                largest[unit] = max(largest.get(unit, 0.0), abs(value))
    return largest


def _written(part: Any) -> Iterator[tuple[str, float]]:
    """(unit, value) of the numbers of a part; a unit "A or B" counts for both."""
    for name, field in declared(type(part)).items():
        for value in _numbers(getattr(part, name)):
            for unit in field.unit.split(" or "):
                yield unit, value


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, float | int) and not isinstance(value, bool):
        if math.isfinite(value):
            yield float(value)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _numbers(inner)
