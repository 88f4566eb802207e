"""Rules between the parts of a model that reads well: what cannot work, or looks unintended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from vbg import expressions
from vbg.errors import ModelError, Problem, Severity, UsageError
from vbg.fields import Attachment, attachments
from vbg.junctions.latch import opens
from vbg.model.amplifiers import fed_back
from vbg.model.bonding import vertices_without_bonds
from vbg.model.catalogue import JOINT_NODE, TABLES
from vbg.model.forms.bodies import principal_moments
from vbg.model.model import Model
from vbg.model.placing.placed import Placed, Pose, place
from vbg.model.text.places import Path, spelled
from vbg.model.trains import closed_trains
from vbg.physics.hydraulics import CHAMBERS, GIVEN_FLOWS, SHUT

# the node that fixes the level of each domain's efforts; a chain of inertias may float
REFERENCES: Mapping[str, str] = {"electric": "gnd", "hydraulic": "tank"}
LEADING = ("inductor", "current_source")  # their currents are given, whatever the voltage
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def check(model: Model) -> tuple[Problem, ...]:
    """Everything that is wrong or doubtful between the parts of `model`, in the
    order of its file; empty is fine.

    Errors: no part at all, circuits without a reference node, oil without pressure, op-amps with
    positive feedback, closed chains of gears, raw vertices without their bonds, drives without a
    speed or acceleration at the start, springs that push and have no direction.
    Warnings: bodies that nothing holds or moves, other springs and rods whose ends coincide at
    the start, cylinders beyond their stroke, axes of a universal joint in line, moments of
    inertia that strain the triangle inequality, nodes with one part, parameters that nothing uses.
    """
    if not isinstance(model, Model):
        raise UsageError("check takes a Model: vbg.check(vbg.read(path)).")
    found = [
        *_islands(model),
        *_lonely_nodes(model),
        *_nodes_without_pressure(model),
        *_nodes_without_voltage(model),
        *fed_back(model),
        *closed_trains(model),
        *vertices_without_bonds(model),
        *_loose_bodies(model),
        *_inertias(model),
        *_postures(model),
        *_drives(model),
        *_acting_on_latches(model),
        *_unused_parameters(model),
        *_open_inputs(model),
        *_settings(model),
    ]
    return tuple(sorted(found, key=lambda problem: (problem.line, problem.column)))


def _problem(model: Model, severity: Severity, path: Path, what: str, remedy: str = "") -> Problem:
    file, line, column = model.where(path)
    return Problem(severity, spelled(path), what, remedy, file, line, column)


def _circuits(model: Model, table: str) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """node -> the parts of `table` on it, each with the nodes that it joins with this one:
    all of its nodes, or those of one of its `paths()`."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name, part in getattr(model, table).items():
        nodes = tuple(getattr(part, "nodes", ()) or ())
        for path in part.paths() if hasattr(part, "paths") else (nodes,):
            for node in path:
                found.setdefault(node, []).append((name, path))
    return found


def _islands(model: Model) -> Iterator[Problem]:
    yield from (problem for problem, _ in floating(model))


def floating(model: Model) -> Iterator[tuple[Problem, frozenset[str]]]:
    """Circuits that no path of parts joins to their reference node, nor a raw bond to a
    source or store of its own; each with its parts, "TABLE.NAME".  Oil in a chamber has a
    pressure without a path: that of its content, so there it is a warning."""
    bonded = {end for bond in model.bonds for end in bond.split(" -> ")}
    for table, reference in REFERENCES.items():
        circuits = _circuits(model, table)
        seen: set[str] = set()
        for start in circuits:
            if start in seen:
                continue
            island = _reached(circuits, start)
            seen |= island
            if reference in island or any(f"{table}.{node}" in bonded for node in island):
                continue
            names = {part for node in island for part, _ in circuits[node]}
            locked = any(getattr(model, table)[name].kind in CHAMBERS for name in names)
            what = (
                f"the {table} nodes {', '.join(sorted(island))} have no path to {reference!r}: "
                f"{'their oil is locked in' if locked else 'a floating island'}."
            )
            severity: Severity = "warning" if locked else "error"
            remedy = _LOCKED if locked else _REMEDIES[table]
            found = _problem(model, severity, (table, circuits[start][0][0]), what, remedy)
            yield found, frozenset(f"{table}.{name}" for name in names)


def led(model: Model) -> Iterator[tuple[Problem, frozenset[str]]]:
    """Circuits that inductors and current sources alone join to gnd, each with its parts: their
    currents are their own and add to zero, so that no voltage of the circuit against gnd follows
    from them, as of a three-phase bridge with a choke in each line and a floating load.  No fault
    where its currents depend on one another and nothing else is in it."""
    every = _circuits(model, "electric")
    inside = {
        node: [(name, path) for name, path in parts if model.electric[name].kind not in LEADING]
        for node, parts in every.items()
    }
    seen: set[str] = set()
    for start in inside:
        if start in seen:
            continue
        island = _reached(inside, start)
        seen |= island
        there = [one for node in island for one in every[node]]
        leads = sorted({name for name, path in there if not island.issuperset(path)})
        if "gnd" in island or not leads:
            continue
        what = (
            f"nothing fixes the voltage of the electric nodes {', '.join(sorted(island))} against "
            f"gnd: {', '.join(leads)} alone lead there, and their currents are their own."
        )
        leak = f'kind = "resistor", nodes = ["{start}", "gnd"], R = "1 Mohm"'
        remedy = f"Give one of them a way to gnd that takes next to nothing: {leak}."
        found = _problem(model, "error", ("electric", leads[0]), what, remedy)
        yield found, frozenset(f"electric.{name}" for name, _ in there)


_REMEDIES = {
    "electric": "(1) Connect one of them to 'gnd', or (2) put a resistor between them and 'gnd'.",
    "hydraulic": "Connect one of them to 'tank' by an orifice, valve or pump.",
}
_LOCKED = (
    "Its pressure is that of its start, and changes as it is squeezed. Where it is to flow, "
    "connect a node to 'tank' by an orifice, valve or pump; is its name written alike everywhere?"
)


def _reached(circuits: Mapping[str, list[tuple[str, tuple[str, ...]]]], start: str) -> set[str]:
    island, waiting = {start}, [start]
    while waiting:
        for _, nodes in circuits[waiting.pop()]:
            waiting.extend(node for node in nodes if node not in island)
            island.update(nodes)
    return island


def _lonely_nodes(model: Model) -> Iterator[Problem]:
    bonded = {end for bond in model.bonds for end in bond.split(" -> ")}
    for table, reference in REFERENCES.items():
        for node, parts in _circuits(model, table).items():
            if len(parts) == 1 and node != reference and f"{table}.{node}" not in bonded:
                name, path = parts[0]
                if path == (node,) and getattr(model, table)[name].kind in CHAMBERS:
                    continue  # told as locked oil
                what = f"nothing but {name} is on the node {node!r}."
                remedy = "Is the name of the node written alike everywhere?"
                yield _problem(model, "warning", (table, name, "nodes"), what, remedy)


def _nodes_without_pressure(model: Model) -> Iterator[Problem]:
    """Hydraulic nodes whose parts let the same flow through at any pressure, or while valves are
    shut: none gives it."""
    for node, parts in _circuits(model, "hydraulic").items():
        names = sorted({name for name, _ in parts})
        kinds = [model.hydraulic[name] for name in names]
        driven = any(part.kind == "pump" and part.on is not None for part in kinds)
        if node == "tank" or len(names) < 2 or driven:
            continue
        rigid = (*GIVEN_FLOWS, *SHUT)
        if all(part.kind in rigid and not getattr(part, "leakage", 0.0) for part in kinds):
            shut = any(part.kind.endswith("valve") for part in kinds)
            which = "give flows" + (", or none while they are shut" if shut else "")
            what = f"nothing gives the node {node!r} its pressure: {', '.join(names)} {which}."
            oil = f'kind = "volume", nodes = ["{node}"], volume = "1 L"'
            remedy = f"Add the oil in the line: {oil}; or write a leakage of one of them."
            yield _problem(model, "error", ("hydraulic", names[0], "nodes"), what, remedy)


def _nodes_without_voltage(model: Model) -> Iterator[Problem]:
    """Electric nodes on which there are inputs of op-amps only: no current, no voltage."""
    given = {"gnd"}
    for part in model.electric.values():
        nodes = tuple(getattr(part, "nodes", ()) or ())
        given.update(nodes[2:] if part.kind == "op_amp" else nodes)
    for name, part in model.electric.items():
        for node in part.nodes[:2] if part.kind == "op_amp" else ():
            if node not in given:
                what = f"nothing gives the node {node!r} a voltage: it has inputs of op-amps only."
                remedy = "Connect it to a source, to a part or to gnd."
                yield _problem(model, "error", ("electric", name, "nodes"), what, remedy)


def _loose_bodies(model: Model) -> Iterator[Problem]:
    """Bodies that no joint and no force touches, where there are others that some do."""
    touched = {
        end.body
        for table in TABLES
        for part in getattr(model, table).values()
        for end in attachments(part)
    }
    if not touched:
        return
    points = {n: b.on.body for n, b in model.bodies.items() if b.kind == "flexible_point"}
    touched |= {*points, *(points[name] for name in touched if name in points)}
    for name in model.bodies:
        if name not in touched:
            what = "no joint and no force is on this body: it moves freely."
            yield _problem(model, "warning", ("bodies", name), what)


def _open_inputs(model: Model) -> Iterator[Problem]:
    """Inputs of FMUs that nothing is wired to."""
    for name, part in model.fmu.items():
        open_ones = [v.name for v in part.described.of("input") if v.name not in part.inputs]
        if open_ones:
            which = ", ".join(open_ones[:5]) + (", ..." if len(open_ones) > 5 else "")
            what = f"of its inputs nothing is wired to {which}: they keep the FMU's own start."
            yield _problem(model, "warning", ("fmu", name), what, "Write them in inputs.")


def _inertias(model: Model) -> Iterator[Problem]:
    for name, body in model.bodies.items():
        smallest, middle, largest = principal_moments(body.inertia)
        allowed = body.allow_unphysical_inertia
        if smallest < 0.0:
            yield _problem(
                model,
                "warning",
                ("bodies", name, "inertia"),
                f"the principal moment {smallest:.6g} kg*m^2 is below zero, as allowed.",
                "No rigid body has it; check the source. (Imports of robots give it to links "
                "without mass: see docs/robots.md.)",
            )
        elif largest > (smallest + middle) * (1 + 1e-6):
            yield _problem(
                model,
                "warning",
                ("bodies", name, "inertia"),
                f"the largest principal moment {largest:.6g} exceeds the sum of the others "
                f"{smallest + middle:.6g} kg*m^2{', as allowed' if allowed else ' a little'}.",
                "No rigid body has it; check the source." if allowed else "Rounded values?",
            )


def _postures(model: Model) -> Iterator[Problem]:
    """What is singular at the written posture."""
    placed = place(model)
    poses = placed.poses
    yield from _cylinders(model, placed)
    for table in ("joints", "forces"):
        for name, part in getattr(model, table).items():
            between = getattr(part, "between", None)
            if not between or not isinstance(between[0], Attachment):
                continue
            if part.kind in ("spring", "damper", "stop", "distance"):
                yield from _coinciding_ends(model, (table, name), part, poses)
            elif part.kind == "universal":
                yield from _axes_in_line(model, (table, name), part, poses)


def _cylinders(model: Model, placed: Placed) -> Iterator[Problem]:
    """Hydraulic cylinders whose piston would start outside of its stroke."""
    for name, part in model.hydraulic.items():
        if part.kind != "cylinder":
            continue
        if part.between is not None:
            first, second = (_point(end, placed.poses) for end in part.between)
            place_of_piston: float | None = float(np.linalg.norm(second - first))
            stands, key = "its ends are {:.4g} m apart", "the distance of its ends"
        else:
            place_of_piston = _coordinate(model, placed, part.on)
            stands, key = f"{part.on} is {{:.4g}} m", f"the value of {part.on}"
        if place_of_piston is None or 0.0 <= place_of_piston - part.length <= part.stroke:
            continue
        what = (
            f"{stands.format(place_of_piston)} at the written posture, but it reaches from "
            f"{part.length:.4g} m (length) to {part.length + part.stroke:.4g} m (with stroke)."
        )
        remedy = f"Write length, {key} with the piston in, or another posture."
        yield _problem(model, "warning", ("hydraulic", name), what, remedy)


def _coordinate(model: Model, placed: Placed, on: str) -> float | None:
    """Where the coordinate `on` begins [m]: the slide of a joint, a node of [translational];
    None where that is not known here."""
    table, _, node = on.partition(".")
    if table == "translational" and not node.startswith(JOINT_NODE):
        begins = (
            getattr(part, "position", 0.0)
            for part in model.translational.values()
            if part.kind == "mass" and (part.on == on or node in (part.nodes or ()))
        )
        return next((value for value in begins if value), 0.0)
    name = on.removeprefix("translational.").removeprefix(JOINT_NODE).removeprefix("joints.")
    name = name.removesuffix(".slide")
    if name not in placed.frames or name not in model.joints:
        return None
    initial = getattr(model.joints[name], "initial", None)
    known = [key for key in ("angle", "slide", "angle2") if hasattr(initial, key)]
    values = dict(zip(known, placed.frames[name].coordinates, strict=False))
    return values.get("slide")


def _coinciding_ends(
    model: Model, path: Path, part: Any, poses: Mapping[str, Pose]
) -> Iterator[Problem]:
    first, second = (_point(end, poses) for end in part.between)
    if np.linalg.norm(second - first) > 1e-9:
        return
    pushes = part.kind == "spring" and part.length  # with k length, and nowhere to
    asked = part.kind == "distance" and not part.length
    severity: Severity = "error" if pushes or asked else "warning"
    yield _problem(
        model,
        severity,
        path,
        f"the ends of this {part.kind} coincide at the written posture: it has no direction.",
        "Write positions of the bodies, or other points; what acts in all directions about a point "
        "is a bushing.",
    )


def _point(end: Attachment, poses: Mapping[str, Pose]) -> Any:
    pose = poses.get(end.body)
    return np.array(end.at) if pose is None else pose.p_WB + pose.R_WB @ np.array(end.at)


def _axes_in_line(
    model: Model, path: Path, part: Any, poses: Mapping[str, Pose]
) -> Iterator[Problem]:
    ends = [
        (end.body, axis) for end, axis in zip(part.between, (part.axis, part.axis2), strict=True)
    ]
    first, second = (
        np.array(axis) if body not in poses else poses[body].R_WB @ np.array(axis)
        for body, axis in ends
    )
    if abs(first @ second) > 1 - 1e-9:
        yield _problem(
            model,
            "warning",
            path,
            "axis and axis2 are in line at the written posture; they must be perpendicular.",
            "axis is in the first body's axes, axis2 in the second's.",
        )


def _drives(model: Model) -> Iterator[Problem]:
    """A drive sets speed and acceleration too: both must exist at the start."""
    for name, part in model.joints.items():
        drive = getattr(part, "drive", None)
        if not isinstance(drive, str) or drive in model.signals:
            continue
        node = expressions.parse(drive)
        if expressions.names(node) - {"t"}:
            continue
        for order in ("speed", "acceleration"):
            node = expressions.derivative(node, "t")
            try:
                expressions.evaluate(node, {"t": 0.0})
            except ModelError as error:
                what = f"this drive has no {order} at t = 0: {error}."
                remedy = "Begin smoothly, for example with t**2 instead of sqrt(t)."
                yield _problem(model, "error", ("joints", name, "drive"), what, remedy)
                break


def _acting_on_latches(model: Model) -> Iterator[Problem]:
    """Parts on the coordinate of a joint that opens: there is none while it is open."""
    opening = {f"joints.{name}" for name, joint in model.joints.items() if opens(joint)}
    opening |= {f"{JOINT_NODE}{name.removeprefix('joints.')}" for name in opening}
    for table in TABLES:
        for name, part in getattr(model, table).items():
            for field in fields(part):
                value = getattr(part, field.name)
                ends = value if isinstance(value, tuple) else (value,)
                for end in ends:
                    if isinstance(end, str) and end in opening:
                        what = f"{end} opens: no part can act on its coordinate."
                        remedy = "Let it act between two points, or on another joint."
                        yield _problem(model, "error", (table, name, field.name), what, remedy)


def _unused_parameters(model: Model) -> Iterator[Problem]:
    used: set[str] = set()
    for key, value in model.document.items():
        if key not in ("name", "description"):
            used |= _identifiers(value)
    for name in model.parameters:
        if name not in used:
            yield _problem(model, "note", ("parameters", name), "nothing uses this parameter.")
    for name in model.document.get("functions", {}):
        if name not in used:
            yield _problem(model, "note", ("functions", name), "nothing calls this function.")


def _identifiers(value: Any) -> set[str]:
    """Every word in the texts of nested plain data, keys and notes not counted."""
    if isinstance(value, str):
        return set(_IDENTIFIER.findall(value))
    entries = [v for k, v in value.items() if k != "note"] if isinstance(value, Mapping) else value
    if isinstance(entries, (list, tuple)):
        return set().union(*map(_identifiers, entries))
    return set()


def _settings(model: Model) -> Iterator[Problem]:
    run = model.simulate
    if run.t_end and run.output_step > run.t_end:
        what = f"the output step {run.output_step:g} s is longer than the run of {run.t_end:g} s."
        yield _problem(model, "warning", ("simulate", "output_step"), what)
    if not any(len(getattr(model, table)) for table in TABLES):
        what = "the model has no parts: there is no machine to compute."
        remedy = "Write [bodies.NAME] or another table of parts, or start from a template: vbg new."
        yield _problem(model, "error", (), what, remedy)
