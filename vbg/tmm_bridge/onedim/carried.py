"""Raw inertias whose flow is that of a joint: the hinge carries them.

1-junctions share the flow of a joint's coordinate and transformers of a constant ratio multiply it:
an inertia with the flow c v there has the kinetic energy I (c v)^2 / 2, and the coordinate feels
I c^2 v'.  What it exerts, I c v', is known when the mechanism has been solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from vbg.model import Model
from vbg.tmm_bridge.formulas.tape import Number
from vbg.tmm_bridge.onedim.draft import Draft
from vbg.tmm_bridge.onedim.laws.working import Output, Working
from vbg.tmm_bridge.onedim.rawbonds import shaft_path
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key


@dataclass(frozen=True)
class Carried:
    """An inertia on the hinge of a shaft, with the flow `ratio` times its speed; places of the
    bond's effort and flow among the unknowns, `row` its own equation: the bond brings nothing."""

    name: str
    inertia: float
    ratio: float
    shaft: int
    effort: int
    flow: int
    row: int

    def act(self, w: Working) -> None:
        w.residual[self.row] = w.z[self.effort]

    def exerted(self, w: Working) -> Number:
        """p' = I c v'."""
        return self.inertia * self.ratio * w.accelerations[self.shaft]

    def outputs(self) -> Iterator[Output]:
        yield f"{self.name}.flow", "1", lambda w: w.z[self.flow]
        yield f"{self.name}.momentum", "1", lambda w: self.inertia * w.z[self.flow]


def carried_by_joints(model: Model) -> dict[str, tuple[str, float]]:
    """Inertias by name: (path of the coordinate that moves them, their flow over its speed); not
    those that two coordinates move."""
    bonds = [tuple(bond.split(" -> ")) for bond in model.bonds]
    found: dict[str, tuple[str, float]] = {}
    twice: set[str] = set()
    for tail, head in bonds:
        for end, vertex in ((tail, head), (head, tail)):
            path = "" if end in model.bondgraph else shaft_path(model, end)
            if path.startswith("joints.") and vertex in model.bondgraph:
                for name, ratio in _moved(model, bonds, vertex, (tail, head)):
                    twice |= {name} & set(found)
                    found[name] = path, ratio
    return {name: tie for name, tie in found.items() if name not in twice}


def _moved(
    model: Model, bonds: list[tuple[str, ...]], vertex: str, bond: tuple[str, ...]
) -> Iterator[tuple[str, float]]:
    """Inertias beyond a bond of flow 1 into or out of a vertex, with their flows."""
    waiting, passed = [(vertex, bond, 1.0)], {bond}
    while waiting:
        name, bond, flow = waiting.pop()
        part: Any = model.bondgraph.get(name)
        if part is None:
            continue
        if part.kind == "I" and part.size == 1 and isinstance(part.value, float):
            yield name, flow
        if part.kind == "TF" and part.matrix is None and isinstance(part.ratio, float):
            flow = flow * part.ratio if bond[1] == name else flow / part.ratio
        elif part.kind != "1" or part.size != 1:
            continue
        for other in bonds:
            if name in other and other not in passed:
                passed.add(other)
                waiting.append((other[0] if other[1] == name else other[1], other, flow))


def lay_on_hinge(
    draft: Draft, name: str, tie: tuple[str, float], effort: int, flow: int, row: int
) -> None:
    """The inertia on the shaft of its joint."""
    part, (path, ratio) = draft.model.bondgraph[name], tie
    inertia = float(part.value)
    index = draft.joint(coordinate_joint(path), coordinate_key(draft.model, path))
    shaft = draft.shafts[index]
    written = shaft.written
    if part.initial is not None:
        written = (*written, (ratio, inertia, float(part.initial[0]) / inertia))
    mass = shaft.mass + inertia * ratio * ratio
    draft.shafts[index] = replace(shaft, mass=mass, written=written)
    carried = Carried(name, inertia, ratio, index, effort, flow, row)
    draft.late.append(carried)
    for output in carried.outputs():
        draft.tell(output)
    draft.outputs.append((f"{name}.effort", "1", carried.exerted))
