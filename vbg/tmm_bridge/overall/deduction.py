"""The overall transfer equation by the automatic deduction theorem, as text.

Elements are bodies and hinges, elastic ones among them.  Along a path from a tip to the
root the state vector is pre-multiplied by the transfer matrices of the elements passed.  A
body with several inputs adds one geometrical equation per further input; a cut
joint adds a couple of ends with the same state vector (mstmmsim.txt, theorems
1 to 5; Rui et al., reference 45 there).  A flexible body floats; its points are elements before it,
whose a and alpha its modes add to, and the balance of the modes is one more equation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from vbg.model import Model
from vbg.plumbing.groups import joined
from vbg.tmm_bridge.tree.forest import (
    GROUND,
    Carrier,
    Forest,
    carried_points,
    ends_of,
    is_coupling,
    is_elastic,
    plant,
)


@dataclass(frozen=True)
class End:
    """A boundary end: its name, the body it is on, and what is known of it."""

    name: str
    body: str
    condition: str


@dataclass(frozen=True)
class Deduction:
    """topology : as `topology_of` names it; `paths` leads from an end to the elements passed
    on the way to the root; `equations` are the rows; `beside` what acts between two bodies that
    the tree joins otherwise, by name."""

    topology: str
    ends: tuple[End, ...]
    roots: tuple[str, ...]
    paths: Mapping[str, tuple[str, ...]]
    equations: tuple[str, ...]
    beside: Mapping[str, tuple[str, str]]


def deduce(model: Model) -> Deduction:
    """Topology, boundary ends and the rows of the overall transfer equation."""
    forest = plant(model)
    carriers = {carrier.body: carrier for carrier in forest.carriers}
    children: dict[str, list[str]] = {body: [] for body in (GROUND, *model.bodies)}
    for carrier in forest.carriers:
        children[carrier.parent].append(carrier.body)
    ends = _ends(model, forest, children)
    paths = {end.name: _path(end.body, carriers) for end in ends}
    trunks = [c for c in forest.carriers if c.parent == GROUND]
    roots = tuple(_root_name(c) for c in trunks)
    equations = []
    for trunk, root in zip(trunks, roots, strict=True):
        own = [end for end in ends if _trunk(end.body, carriers) == trunk.body]
        terms = " + ".join(f"{_product(paths[end.name])} {end.name}" for end in own)
        equations.append(f"-{root} + {terms} = 0")
        for body in _subtree(trunk.body, children):
            equations += _geometry(body, carriers, children, own, paths)
            if model.bodies[body].flexible is not None:
                equations.append(_modes(body, children, own, paths))
    equations += [f"z[{name}']  =  z[{name}\"]" for name in forest.cut]
    beside = _beside(model, forest)
    topology = topology_of(model)
    return Deduction(topology, ends, roots, paths, tuple(equations), beside)


@dataclass(frozen=True)
class Reach:
    """How a body stands in the overall equation: its state by those of the ends, the elements
    that follow it on the way to the root."""

    state: str
    beyond: str


def reaches(model: Model) -> dict[str, Reach]:
    """Of every body."""
    forest = plant(model)
    carriers = {carrier.body: carrier for carrier in forest.carriers}
    children: dict[str, list[str]] = {body: [] for body in (GROUND, *model.bodies)}
    for carrier in forest.carriers:
        children[carrier.parent].append(carrier.body)
    paths = {end.name: _path(end.body, carriers) for end in _ends(model, forest, children)}
    found = {}
    for body in model.bodies:
        own = {end: (*_until(path, body), body) for end, path in paths.items() if body in path}
        state = " + ".join(f"{_product(path)} {end}" for end, path in own.items())
        found[body] = Reach(state, " ".join(_passed(_path(body, carriers)[1:])))
    return found


def _ends(model: Model, forest: Forest, children: Mapping[str, list[str]]) -> tuple[End, ...]:
    """Free tips, then the two ends of every cut joint (those on moving bodies).  A tip that
    only an elastic hinge beside the tree holds is free of the tree.

    A tip that a cut joint leaves is that joint's end and not free.
    """
    cut = {body for name in forest.cut for body in ends_of(model.joints[name])}
    ends = [
        End(f"z[{body}]", body, "free end: m = 0, q = 0")
        for body in model.bodies
        if not children[body] and body not in cut
    ]
    for name in forest.cut:
        for body, mark in zip(ends_of(model.joints[name]), ("'", '"'), strict=True):
            if body != GROUND:
                condition = "cut end: m, q are the efforts of the joint, with opposite signs"
                ends.append(End(f"z[{name}{mark}]", body, condition))
    return tuple(ends)


def _path(body: str, carriers: Mapping[str, Carrier]) -> tuple[str, ...]:
    """Elements from the body to the ground: body, its hinge, the next body, ..."""
    elements: list[str] = []
    while body != GROUND:
        carrier = carriers[body]
        elements.append(body)
        if carrier.joint or carrier.parent == GROUND:  # a flexible body carries its points itself
            elements.append(carrier.joint or "free")
        body = carrier.parent
    return tuple(elements)


def _product(path: tuple[str, ...]) -> str:
    """U of the last element first, as matrices multiply."""
    return " ".join(_passed(path)) or "1"


def _passed(path: tuple[str, ...]) -> list[str]:
    return [f"U[{element}]" for element in reversed(path)]


def _trunk(body: str, carriers: Mapping[str, Carrier]) -> str:
    """The body of the same tree that the ground carries."""
    while carriers[body].parent != GROUND:
        body = carriers[body].parent
    return body


def _root_name(carrier: Carrier) -> str:
    return f"z[ground at {carrier.joint}]" if carrier.joint else f"z[{carrier.body} afloat]"


def _subtree(body: str, children: Mapping[str, list[str]]) -> list[str]:
    found = [body]
    for child in children[body]:
        found += _subtree(child, children)
    return found


def _geometry(
    body: str,
    carriers: Mapping[str, Carrier],
    children: Mapping[str, list[str]],
    own: list[End],
    paths: Mapping[str, tuple[str, ...]],
) -> list[str]:
    """a and alpha of the k-th input follow from those of the first: 6 rows each."""
    inputs = children[body]
    rows = []
    for child in inputs[1:]:
        sides = []
        for k, side in ((1, inputs[0]), (inputs.index(child) + 1, child)):
            ends = [end for end in own if side in paths[end.name]]
            elements = {end.name: _until(paths[end.name], body) for end in ends}
            terms = " + ".join(f"{_product(elements[e.name])} {e.name}" for e in ends)
            sides.append(f"H[{body},{k}] ({terms})")
        rows.append(f"{sides[0]} - {sides[1]} = 0")
    return rows


def _modes(
    body: str,
    children: Mapping[str, list[str]],
    own: list[End],
    paths: Mapping[str, tuple[str, ...]],
) -> str:
    """The balance of a flexible body's modes: what crosses its points works on them by H'."""
    terms = [f"q''[{body}] + G'[{body}] alpha[{body}]"]
    for point in children[body]:
        ends = [end for end in own if point in paths[end.name]]
        reach = {end.name: _until(paths[end.name], point) for end in ends}
        crossing = " + ".join(" ".join([*_passed(reach[e.name]), e.name]) for e in ends)
        terms.append(f"H'[{point}] ({crossing})")
    return f"{' + '.join(terms)} = f[{body}]"


def _until(path: tuple[str, ...], body: str) -> tuple[str, ...]:
    return path[: path.index(body)]


def _beside(model: Model, forest: Forest) -> dict[str, tuple[str, str]]:
    """Springs, dampers and elastic hinges between two bodies, but those that carry one."""
    carrying = {carrier.joint for carrier in forest.carriers}
    return {
        name: ends_of(part)
        for name, part in model.forces.items()
        if name not in carrying and isinstance(getattr(part, "between", None), tuple)
    }


def topology_of(model: Model) -> str:
    """ "chain", "tree", "closed loop", "tree with one loop", "network of 3 loops", of bodies,
    joints and elastic hinges; of several parts that only the ground joins, all of them.

    A loop through the ground is one.  With n vertices, the ground among them where it is
    touched, and m edges, there are m - n + 1 loops; a lone loop has two edges at each vertex.
    """
    if not model.bodies:
        return "no bodies"
    joints = [joint for joint in model.joints.values() if not is_coupling(joint)]
    elastic = [part for part in model.forces.values() if is_elastic(part)]
    edges = [ends_of(part) for part in (*joints, *elastic)]
    edges += list(carried_points(model).items())
    kinds = [_kind(part, edges) for part in _parts(list(model.bodies), edges)]
    if len(kinds) == 1:
        return kinds[0]
    counted = [f"{kinds.count(kind)} x {kind}" for kind in dict.fromkeys(kinds)]
    return f"{len(kinds)} separate parts: {', '.join(counted)}"


def _parts(bodies: list[str], edges: list[tuple[str, str]]) -> list[set[str]]:
    """Bodies that hang together without the ground."""
    inner = [edge for edge in edges if GROUND not in edge]
    return [set(part) for part in joined(bodies, inner)]


def _kind(part: set[str], edges: list[tuple[str, str]]) -> str:
    own = [edge for edge in edges if not part.isdisjoint(edge)]
    degrees = Counter(body for edge in own for body in edge)
    loops = len(own) - len(part | set(degrees)) + 1
    if loops == 0:
        return "chain" if max(degrees.values(), default=0) <= 2 else "tree"
    if loops == 1:
        return "closed loop" if set(degrees.values()) == {2} else "tree with one loop"
    tips = any(degree == 1 for body, degree in degrees.items() if body != GROUND)
    return f"tree with {loops} loops" if tips else f"network of {loops} loops"


def transfer_text(model: Model) -> str:
    """Topology, paths, equation and boundary conditions, for `vbg show transfer`."""
    if not model.bodies:
        return f"{model.name}: no bodies, so there is no transfer equation of mechanics."
    found = deduce(model)
    couplings = [name for name, joint in model.joints.items() if is_coupling(joint)]
    lines = [f"{model.name}: {found.topology}", "", "State vector  z = [a, alpha, m, q, 1]", ""]
    flexible = [name for name, body in model.bodies.items() if body.flexible is not None]
    for name in flexible:
        points = ", ".join(f"U[{p}]" for p, body in carried_points(model).items() if body == name)
        lines += [f"Modes q''[{name}], unknown too: {points} take H q'' off a and alpha", ""]
    lines.append("Transfer paths, tip to root")
    lines += [f"  {name}: {' > '.join(path)} > ground" for name, path in found.paths.items()]
    lines += ["", "Overall transfer equation"]
    lines += [f"  {equation}" for equation in found.equations]
    lines += [f"  effort[{name}] couples two hinges" for name in couplings]
    if found.beside:
        lines += ["", "Beside the tree: their efforts are among the loads of both bodies"]
        lines += [f"  {name}: {first}, {second}" for name, (first, second) in found.beside.items()]
    lines += ["", "Boundary conditions"]
    for root in found.roots:
        known = "m = 0, q = 0" if "afloat" in root else "a = 0, alpha = 0"
        lines.append(f"  {root}: {known}")
    lines += [f"  {end.name}: {end.condition}" for end in found.ends]
    return "\n".join(lines)
