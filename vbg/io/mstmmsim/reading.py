"""A parameter file of MSTMMSim as the document of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vbg import expressions
from vbg.errors import ModelError, Problem
from vbg.io.mstmmsim import joints as joint_reading
from vbg.io.mstmmsim.joints import joints_of
from vbg.io.mstmmsim.nodes import GROUND, Node, node_named, nodes_of
from vbg.io.mstmmsim.placing import contradicted
from vbg.io.mstmmsim.tree import Element, parse, refused
from vbg.io.mstmmsim.values import (
    Entry,
    Scope,
    combined,
    entry_of,
    inertia_of,
    numbers_of,
    require_finite,
    require_name,
    split,
    vector_of,
)
from vbg.spatial import quaternion_from_matrix

COUNTED = {"structuralnodes": "nodes", "rigidbodies": "bodies", "joints": "joints"}


@dataclass(frozen=True, slots=True)
class Imported:
    """The document of a model, and what the reader of the file has to know: what was
    repaired, filled in or read otherwise than written."""

    document: dict[str, Any]
    notes: tuple[Problem, ...]


def imported(text: str, file: str, parameters: Mapping[str, float]) -> Imported:
    """What the text of a parameter file says.

    `parameters` add to or replace those of the file.  Raises ModelError, with the line, for
    what is unknown, missing or contradictory.
    """
    root, repairs = parse(text, file)
    written = _parameters(root, file) | dict(parameters)
    scope = Scope(file, _evaluated(written, file))
    nodes = nodes_of(scope, root)
    bodies = _bodies(scope, root, nodes)
    axes = {node.body: node.R_WN for node in nodes.values()} | {GROUND: np.eye(3)}
    joints, notes = joints_of(scope, root, nodes, axes)
    moved, told = contradicted(scope, {n.body: n for n in nodes.values() if n.body}, joints)
    contents = {
        name: _content(scope, element, node, moving=_moving(scope, nodes), placed=name not in moved)
        for name, (element, node) in bodies.items()
    }
    document: dict[str, Any] = {"vbg": 1, "name": _name(root)}
    path = _child(root, "modelname", "path")
    if path:
        document["description"] = f"geometry: {path}"
    document |= {
        "gravity": _gravity(scope, root),
        "parameters": written,
        "bodies": contents,
        "joints": {joint.name: joint_reading.document_of(joint, axes) for joint in joints},
        "simulate": _simulate(scope, root),
    }
    filled = _filled(scope, bodies)
    counted = _miscounted(scope, root, nodes, bodies)
    return Imported(document, (*repairs, *counted, *filled, *notes, *told))


def _child(root: Element, group: str, tag: str) -> str:
    found = root.find(group)
    return "" if found is None else found.said(tag)


def _name(root: Element) -> str:
    return _child(root, "modelname", "name") or "model"


def _parameters(root: Element, file: str) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    group = root.find("parameters")
    for element in group.children if group is not None else ():
        name, kind = element.said("name"), element.said("type") or "real"
        if kind not in ("real", "integer"):
            what = f"type {kind!r} is neither real nor integer."
            raise refused(file, element, f"parameters.{name}", what)
        if name in found:
            raise refused(file, element, f"parameters.{name}", "a second parameter of this name.")
        require_name(Scope(file, {}), element, "parameters", name)
        found[name] = entry_of(element.said("value"))
        require_finite(file, element, found[name])
    return found


def _evaluated(written: Mapping[str, Entry], file: str) -> dict[str, float]:
    """The values of parameters, of which some are made of others, in whatever order."""
    values: dict[str, float] = {}
    waiting = dict(written)
    while waiting:
        ready = {}
        for name, entry in waiting.items():
            node = expressions.parse(entry) if isinstance(entry, str) else None
            if node is None or expressions.names(node) <= values.keys():
                ready[name] = entry if node is None else expressions.evaluate(node, values)
        if not ready:
            name, entry = next(iter(waiting.items()))
            raise ModelError(f"{file}: parameters.{name}: {entry!r} uses what is no parameter.")
        values |= ready  # type: ignore[arg-type]
        waiting = {name: entry for name, entry in waiting.items() if name not in ready}
    return values


def _bodies(scope: Scope, root: Element, nodes: dict[str, Node]) -> dict[str, tuple[Element, Node]]:
    """Bodies by name with their nodes, which know them from here on."""
    found: dict[str, tuple[Element, Node]] = {}
    elements = root.find("elements")
    group = elements.find("bodies") if elements is not None else None
    for element in group.children if group is not None else ():
        name, of = element.said("name"), element.said("node")
        where = f"bodies.{name}"
        if name in found or name == GROUND:
            raise refused(scope.file, element, where, "a second body of this name.")
        require_name(scope, element, "bodies", name)
        node = node_named(scope, nodes, element, "node")
        if node.body:
            holder = "is static" if node.fixed else f"carries {node.body} already"
            remedy = "Give the body a dynamic node of its own."
            raise refused(scope.file, element, where, f"its node {of} {holder}.", remedy)
        node = replace(node, body=name, p_NB_N=vector_of(scope, element, "relativecentermass"))
        nodes[of] = node
        found[name] = element, node
    if not found:
        raise refused(scope.file, root, "<bodies>", "holds no body.")
    return found


def _moving(scope: Scope, nodes: Mapping[str, Node]) -> bool:
    """Whether any node has a velocity: then those of the others, null, are zero."""
    return any(
        scope.values((*node.v_WN_W, *node.w_WN_W), node.element).any() for node in nodes.values()
    )


def _content(
    scope: Scope, element: Element, node: Node, *, moving: bool, placed: bool
) -> dict[str, Any]:
    """One body.  Its position is left to its joint unless it is `placed`."""
    inertia, _ = inertia_of(scope, element)
    mass = element.find("mass")
    assert mass is not None
    scope.value(entry_of(mass.text), mass)
    content: dict[str, Any] = {"mass": entry_of(mass.text), "inertia": inertia}
    if placed:
        content["position"] = list(node.p_WB)
    turned = not np.array_equal(node.R_WN, np.eye(3))
    if turned or not placed:
        quaternion = quaternion_from_matrix(node.R_WN)
        content["rotation"] = {"quaternion": [float(x) for x in quaternion]}
    if moving:
        content["velocity"] = list(node.v_WB(scope))
        content["angular_velocity"] = list(combined(node.R_WN.T, node.w_WN_W))
    centre = scope.values(node.p_NB_N, element)
    if centre.any():
        content["points"] = {"node": list(combined(-np.eye(3), node.p_NB_N))}
    return content


def _filled(scope: Scope, bodies: Mapping[str, tuple[Element, Node]]) -> list[Problem]:
    """Notes on moments of inertia that were zero."""
    told = []
    for name, (element, _) in bodies.items():
        if inertia_of(scope, element)[1]:
            what = "a moment of inertia is 0, as of a thin rod; taken as 1e-6 of the largest."
            line = element.line
            told.append(Problem("note", f"bodies.{name}.inertia", what, "", scope.file, line, 1))
    return told


def _miscounted(
    scope: Scope, root: Element, nodes: Mapping[str, Node], bodies: Mapping[str, Any]
) -> list[Problem]:
    """Notes where <controldata> announces another number than there is."""
    control = root.find("controldata")
    elements = root.find("elements")
    group = elements.find("joints") if elements is not None else None
    there = {
        "structuralnodes": len(nodes),
        "rigidbodies": len(bodies),
        "joints": len(group.children) if group is not None else 0,
    }
    told = []
    for tag, number in there.items():
        element = control.find(tag) if control is not None else None
        if element is not None and element.text != str(number):
            what = f"announces {element.text}; there are {number} {COUNTED[tag]}."
            told.append(Problem("note", f"<{tag}>", what, "", scope.file, element.line, 1))
    return told


def _gravity(scope: Scope, root: Element) -> list[float]:
    """ "x, y, z, const, size": the size along a direction [m/s^2]."""
    control = root.find("controldata")
    element = control.find("gravity") if control is not None else None
    if element is None or element.text in ("", "null"):
        return [0.0, 0.0, 0.0]
    entries = split(element.text)
    if len(entries) == 5 and entries[3] == "const":
        *direction, size = scope.values([entry_of(e) for e in (*entries[:3], entries[4])], element)
    elif len(entries) == 3:
        direction = list(numbers_of(scope, element, entries))
        size = float(np.linalg.norm(direction))
    else:
        what = f"must be 'x, y, z, const, size', found {element.text!r}."
        raise refused(scope.file, element, "<gravity>", what)
    length = float(np.linalg.norm(direction))
    if length == 0.0 and size != 0.0:
        raise refused(scope.file, element, "<gravity>", "has no direction.")
    return [float(size * x / (length or 1.0)) for x in direction]


def _simulate(scope: Scope, root: Element) -> dict[str, float]:
    """Duration, since a run of vbg begins at 0, and step of the output."""
    group = root.find("initialvalue")
    default = {"initialtime": 0.0, "timestep": 1e-3}

    def number(tag: str) -> float | None:
        element = group.find(tag) if group is not None else None
        if element is None or element.text in ("", "null"):
            return default.get(tag)
        return float(numbers_of(scope, element, [element.text])[0])

    begin, end, step = number("initialtime"), number("finaltime"), number("timestep")
    assert begin is not None and step is not None
    span = 1.0 if end is None else end - begin
    if not (span > 0.0 and 0.0 < step <= span):
        place = group or root
        what = f"final time {end} s, initial time {begin} s and time step {step} s make no run."
        raise refused(scope.file, place, "<initialvalue>", what)
    return {"t_end": span, "output_step": step}
