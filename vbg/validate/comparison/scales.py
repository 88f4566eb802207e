"""What is small beside a machine: natural magnitudes of every unit, from the machine itself.

At rest a velocity is rounding in both solutions, and rounding cannot be compared with
rounding.  A machine of length L, mass m and inertia J under gravity g that is watched for a
duration T has magnitudes of its own, whatever it does::

    v = max(seen, sqrt(g L), L / T)      a = max(seen, g, L / T^2)
    w = max(seen, v / L)                 w' = max(seen, a / L)
    F = max(seen, written, m a, M / L)   M = max(seen, written, F L, J w')
    a = max(a, F / m, M / (m r))         w' = max(w', M / J), with J = m r^2
    E = max(seen, F L)                   P = max(seen, F v)
    p = max(seen, m v)                   of an impulse, and p L of its moment

and in circuits I = max(seen, written, U / R), U = max(seen, written, I R), P = max(seen, U I),
E = max(seen, P T), M = max(seen, written, K I) with the largest resistance R written for the
current, the smallest for the voltage: what surely flows where a source is there at all.  In oil,
whose pressures p count from an atmosphere,

    Q = max(seen, written, G p)          F = max(seen, written, A p)     M = max(seen, written, D p)

of the widest part (conductance G, or an orifice), the largest piston A and displacement D.

`seen` is the largest channel of the unit in either solution, `written` the largest number of
the unit in the file (a source, a preload, what a signal that gives a source may reach), m and J
those of the heaviest body: at rest large efforts balance, and their last digits accelerate it.
What is `shown` leaves out what is written of sources and reached by signals: a source that never
begins moves nothing, and a gain makes of nothing nothing.
Outputs without a unit have nothing to do with each other: a signal of 2e7 does not make a
quaternion small; each part's have a magnitude of their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.fields import Attachment, declared
from vbg.model import Model, catalogue
from vbg.model.forms.parts import coordinates_of
from vbg.physics.hydraulics import ATMOSPHERE
from vbg.plumbing.components import vector_of
from vbg.solution import Solution
from vbg.validate.comparison.drives import Drive, drives_of

_OF_GRAPHS = ("effort", "flow", "displacement", "momentum")
Own = Mapping[tuple[str, str], float]  # (part, unit) -> its largest channel
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_TABLES = (
    "forces", "joints", "rotational", "translational", "electric", "hydraulic", "bondgraph"
)  # fmt: skip


def kind_of(name: str, unit: str) -> str:
    """What an output is compared with others of: its unit, or without one its part; efforts,
    flows and states of raw bond graphs those of other vertices."""
    if unit not in ("", "1"):
        return unit
    part, _, quantity = vector_of(name).rpartition(".")
    return f"1 {quantity if quantity in _OF_GRAPHS else part or quantity}"


def natural_scales(
    model: Model,
    seen: Mapping[str, float],
    duration: float,
    own: Own | None = None,
    *,
    shown: bool = False,
) -> dict[str, float]:
    """Kind -> magnitude [of that unit], for all units that mechanics knows and that were seen;
    `seen` are the largest channels by kind, `own` those of parts by unit; of what is `shown` alone,
    without what the file writes of sources and what signals may reach."""
    written = {} if shown else largest_written(model)
    found = {unit: max(seen.get(unit, 0.0), written.get(unit, 0.0)) for unit in {*seen, *written}}
    for name in () if shown else model.signals:
        kind = kind_of(name, "1")
        found[kind] = max(found.get(kind, 0.0), _reach(model, name, set()))
    for kind in (kind_of(name, "1") for name in model.hydraulic):
        found[kind] = max(found.get(kind, 0.0), 1.0)  # openings of valves are shares
    _electric(model, found, duration)
    _oil(model, found, seen.get("Pa", 0.0), duration)
    _line(model, found, own or {}, max(duration, 1e-300), shown=shown)
    if model.bodies:
        _solid(model, seen, found, max(duration, 1e-300))
    _displaced(model, found)
    # last digits of volumes times this are pressures; but no piston feels it as one
    if model.hydraulic:
        found["Pa"] = max(found.get("Pa", 0.0), _stiffest_oil(model))
    return found


def _solid(model: Model, seen: Mapping[str, float], found: dict[str, float], T: float) -> None:
    """What bodies do by their weight, their size and the time T of the run."""
    L = _length(model, seen)
    g = float(np.linalg.norm(model.gravity))
    mass = max(body.mass for body in model.bodies.values())
    inertia = max(float(np.abs(body.inertia).max()) for body in model.bodies.values())

    def larger(unit: str, *values: float) -> float:
        found[unit] = max(found.get(unit, 0.0), *values)
        return found[unit]

    larger("m", L)
    larger("rad", 1.0)
    # directions and quaternions of bodies, strains of beams: shares of lengths
    bent = [name for name, part in model.forces.items() if part.kind == "beam_element"]
    for kind in ("1", *(kind_of(name, "1") for name in (*model.bodies, *bent))):
        larger(kind, 1.0)
    larger("1/m", 1.0 / L)
    v = larger("m/s", math.sqrt(g * L), L / T)
    a = larger("m/s^2", g, L / T**2)
    larger("rad/s", v / L)
    turning = larger("rad/s^2", a / L)
    force = larger("N", mass * a)
    torque = larger("N*m", force * L, inertia * turning)
    force = larger("N", torque / L)
    heaviest = max(model.bodies.values(), key=lambda body: body.mass)
    J = float(np.abs(heaviest.inertia).max())
    if mass > 0.0 and J > 0.0:
        larger("rad/s^2", torque / J)
        larger("m/s^2", force / mass, torque / J * math.sqrt(J / mass))
    larger("J", force * L)
    larger("W", force * v)
    larger("N*m*s", larger("N*s", mass * v) * L)


def _displaced(model: Model, found: dict[str, float]) -> None:
    """Flows of oil that cylinders, pumps and motors displace at the largest speeds: beside these
    the flow into a volume of a machine that stands is rounding."""
    speeds = {"m^2": found.get("m/s", 0.0), "m^3/rad": found.get("rad/s", 0.0)}
    flows = [found.get("m^3/s", 0.0)]
    for part in model.hydraulic.values():
        if part.kind != "orifice":
            flows += [size * speeds.get(unit, 0.0) for unit, size in _written(model, part)]
    if model.hydraulic:
        found["m^3/s"] = max(flows)


def _electric(model: Model, found: dict[str, float], T: float) -> None:
    """Currents and voltages by Ohm's law, their power and work, and the torque or force that the
    largest current is worth in a motor."""
    parts = model.electric.values()
    ohms = [R for part in parts for unit, R in _written(model, part) if unit == "ohm" and R > 0.0]
    motors = [part for part in parts if part.kind == "dc_motor"]
    if not parts:
        return
    U, current = found.get("V", 0.0), found.get("A", 0.0)
    found["A"] = max(current, U / max(ohms)) if ohms else current
    found["V"] = max(U, current * min(ohms)) if ohms else U
    found["W"] = max(found.get("W", 0.0), found["V"] * found["A"])
    found["J"] = max(found.get("J", 0.0), found["W"] * T)
    for motor in motors:
        unit = "N" if _slides(model, motor.on) else "N*m"
        found[unit] = max(found.get(unit, 0.0), abs(motor.K) * found["A"])


def _slides(model: Model, coordinate: str) -> bool:
    """Whether "joints.NAME" or "TABLE.NODE" is a way [m] and no angle."""
    table, name = coordinate.split(".")[:2]
    if table != "joints":
        return table == "translational"
    return coordinates_of(catalogue()["joints"][model.joints[name].kind]) == ("slide",)


def _oil(model: Model, found: dict[str, float], seen: float, T: float) -> None:
    """Flows, forces and torques of oil at the largest pressure, their power and work."""
    if not model.hydraulic:
        return
    p = max(seen, ATMOSPHERE)
    flows, forces, torques = [0.0], [0.0], [0.0]
    for part in model.hydraulic.values():
        written = list(_written(model, part))
        flows += [p * G for unit, G in written if unit == "m^3/s/Pa"]
        flows += [p / slope for unit, slope in written if unit == "Pa*s/m^3" and slope > 0.0]
        if part.kind == "orifice":
            flows.append(part.cd * part.area * math.sqrt(2.0 * p / part.density))
        forces += [p * area for unit, area in written if unit == "m^2"]
        torques += [p * displacement for unit, displacement in written if unit == "m^3/rad"]
    Q = max(found.get("m^3/s", 0.0), *flows)
    scales = ("Pa", p), ("m^3/s", Q), ("N", max(forces)), ("N*m", max(torques))
    for unit, value in (*scales, ("W", p * Q), ("J", p * Q * T)):
        found[unit] = max(found.get(unit, 0.0), value)


def _line(model: Model, found: dict[str, float], own: Own, T: float, *, shown: bool) -> None:
    """Of shafts and slides, rotors of motors with them, the speed that the largest effort gives in
    the time of the run to the largest inertia, or against the largest damper if that is less, or at
    which a motor induces the largest voltage, the way of that speed, and their power and work:
    beside these what a machine at rest shows is rounding.  Only efforts that act on it count, and
    at a joint the heaviest body does, too.  The torque that turns the largest inertia by a radian
    in that time is one of a machine whose sources are all zero; sqrt(k m) v is the effort by which
    the softest spring stops the least inertia m that has the largest speed v, also where no row
    falls between two passages of zero."""
    for table, line in _LINES.items():
        speed = found.get(line.speed, 0.0)
        moved = [(found.get(line.effort, 0.0), speed)]
        for drive in drives_of(model, table):
            moved.append(_moved(model, drive, line, found, own, T, shown=shown))
        for e, v in moved:
            values = (line.effort, e), (line.speed, v), (line.way, v * T)
            for unit, value in (*values, ("W", e * v), ("J", e * v * T)):
                found[unit] = max(found.get(unit, 0.0), value)


@dataclass(frozen=True)
class _Line:
    """Units of shafts, or of slides; `oil` is that of what turns a pressure into the effort."""

    effort: str
    inertia: str
    stiffness: str
    damper: str
    speed: str
    way: str
    oil: str


_LINES = {
    "rotational": _Line("N*m", "kg*m^2", "N*m/rad", "N*m*s/rad", "rad/s", "rad", "m^3/rad"),
    "translational": _Line("N", "kg", "N/m", "N*s/m", "m/s", "m", "m^2"),
}


def _moved(
    model: Model,
    drive: Drive,
    line: _Line,
    found: Mapping[str, float],
    own: Own,
    T: float,
    *,
    shown: bool,
) -> tuple[float, float]:
    """Effort and speed of a drive (`_line`)."""
    written = [pair for part in drive.parts.values() for pair in _written(model, part)]
    inertias = [value for unit, value in written if unit == line.inertia and value > 0.0]
    springs = [value for unit, value in written if unit == line.stiffness and value > 0.0]
    dampers = [value for unit, value in written if unit == line.damper and value > 0.0]
    motors = [
        abs(part.K)
        for part in drive.parts.values()
        if part.kind == "dc_motor" and part.K and _slides(model, part.on) == (line.way == "m")
    ]
    speed = found.get(line.speed, 0.0)
    turned = max(inertias, default=0.0) / T**2 if line.way == "rad" else 0.0
    stopping = math.sqrt(min(springs, default=0.0) * min(inertias, default=0.0))
    efforts = [own.get((name, line.effort), 0.0) for name in drive.parts]
    efforts += [abs(value) for unit, value in written if unit == line.effort and not shown]
    efforts += [abs(value) * found["Pa"] for unit, value in written if unit == line.oil]
    efforts += [K * found.get("A", 0.0) for K in motors]
    e = max(*efforts, turned, stopping * speed)
    if drive.on_joint:
        inertias.append(_heaviest(model, line.inertia))
    speeds = [speed, *(found.get("V", 0.0) / K for K in motors)]
    bounds = [e * T / max(inertias)] if max(inertias, default=0.0) > 0.0 else []
    bounds += [e / max(dampers)] if dampers else []
    speeds += [min(bounds)] if bounds else []
    return e, max(speeds)


def _heaviest(model: Model, unit: str) -> float:
    """The largest mass [kg] or moment of inertia [kg*m^2] of a body."""
    if unit == "kg":
        return max((body.mass for body in model.bodies.values()), default=0.0)
    return max((float(np.abs(body.inertia).max()) for body in model.bodies.values()), default=0.0)


def seen_by_unit(solution: Solution) -> dict[str, float]:
    """Largest finite magnitude of every kind in a solution."""
    seen: dict[str, float] = {}
    for name, unit, largest in _largest(solution):
        kind = kind_of(name, unit)
        seen[kind] = max(seen.get(kind, 0.0), largest)
    return seen


def _largest(solution: Solution) -> Iterator[tuple[str, str, float]]:
    """Name, unit and largest finite magnitude of every channel but for residuals."""
    for name, values in solution.signals.items():
        if values.size and not name.startswith("residual."):
            finite = np.abs(values[np.isfinite(values)])
            yield name, solution.units.get(name, ""), float(finite.max(initial=0.0))


def scales_of(model: Model, *solutions: Solution, shown: bool = False) -> dict[str, float]:
    """`natural_scales` with what the solutions show, or of that alone."""
    seen: dict[str, float] = {}
    own: dict[tuple[str, str], float] = {}
    for solution in solutions:
        for name, unit, largest in _largest(solution):
            kind, part = kind_of(name, unit), (name.split(".")[0], unit)
            seen[kind] = max(seen.get(kind, 0.0), largest)
            own[part] = max(own.get(part, 0.0), largest)
    spans = [float(s.time[-1] - s.time[0]) for s in solutions if len(s.time)]
    return natural_scales(model, seen, max(spans, default=1.0) or 1.0, own, shown=shown)


def _length(model: Model, seen: Mapping[str, float]) -> float:
    """The largest of points, places and radii of gyration [m]."""
    lengths = [seen.get("m", 0.0)]
    for body in model.bodies.values():
        lengths += [float(np.abs(point).max()) for point in body.points.values()]
        if body.mass > 0.0:  # not a point of a flexible body
            lengths.append(math.sqrt(max(float(np.abs(body.inertia).max()), 0.0) / body.mass))
    for joint in model.joints.values():
        for end in joint.between:
            if isinstance(end, Attachment):
                lengths.append(float(np.abs(end.at).max()))
    return max(lengths) or 1.0


def largest_written(model: Model) -> dict[str, float]:
    """Unit -> the largest magnitude that the file writes in it, sources as numbers included; but
    elastic fields, efforts at strain 1: what rounding makes of EA and GA [N] of beams is told apart
    (`elastic_rounding`), and of bulk moduli (`natural_scales`)."""
    largest: dict[str, float] = {}
    for table in _TABLES:
        for part in getattr(model, table).values():
            for unit, value in _written(model, part):
                largest[unit] = max(largest.get(unit, 0.0), abs(value))
    return largest


def _stiffest_oil(model: Model) -> float:
    """The largest bulk modulus [Pa]."""
    parts = model.hydraulic.values()
    moduli = (value for part in parts for _, value in _written(model, part, elastic=True))
    return max(moduli, default=0.0)


def _written(model: Model, part: Any, *, elastic: bool = False) -> Iterator[tuple[str, float]]:
    """(unit, value) of the numbers of a part, of its elastic fields or of all others, and of what
    signals may give it; a unit "A or B" counts for both."""
    for name, field in declared(type(part)).items():
        if field.elastic != elastic:
            continue
        given = getattr(part, name)
        values = [*_numbers(given), *(_reach(model, word, set()) for word in _words(given))]
        for value in values:
            for unit in field.unit.split(" or "):
                yield unit, value


def _words(value: Any) -> Iterator[str]:
    """Names in expressions."""
    if isinstance(value, str):
        yield from _NAME.findall(value)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _words(inner)


def _reach(model: Model, name: str, on_the_way: set[str]) -> float:
    """A magnitude that a signal may have: the largest number without a unit in it and in what
    it reads, where it has no limits on both sides; zero for other names."""
    part = model.signals.get(name)
    if part is None or name in on_the_way:
        return 0.0
    lower, upper = getattr(part, "lower", None), getattr(part, "upper", None)
    if lower is not None and upper is not None:
        return max(abs(float(lower)), abs(float(upper)))
    largest = 0.0
    for key, field in declared(type(part)).items():
        given = getattr(part, key)
        if field.columns:
            given = tuple(row[-1] for row in given) if field.columns[-1] == "" else ()
        if (field.unit == "" or field.columns) and field.form != "count":
            largest = max([largest, *map(abs, _numbers(given))])
            read = (_reach(model, word, on_the_way | {name}) for word in _words(given))
            largest = max([largest, *read])
    return largest


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, float | int) and not isinstance(value, bool):
        if math.isfinite(value):
            yield float(value)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _numbers(inner)
