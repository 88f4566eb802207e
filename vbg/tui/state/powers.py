"""The power in the bonds between joints and bodies, at the time that Plot's cursor is at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vbg.draw.text.bonds import Drawing
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.state.graphing import GraphState
    from vbg.tui.state.workspace import Workspace

_SMALL = 1e-3  # of the largest: not worth a colour


@dataclass(frozen=True, eq=False)
class Powers:
    """Power [W] by joint and body at `time` [s] of one run; `solution` is what it was made of."""

    solution: Solution
    time: float
    watts: dict[tuple[str, str], float]

    @property
    def largest(self) -> float:
        return max((abs(watt) for watt in self.watts.values()), default=0.0)


def powers_now(work: Workspace, before: Powers | None) -> Powers | None:
    """The powers at Plot's cursor, if the run shown there is of the model that is open."""
    time, run, model = work.plot.cursor, results.plotted(work), work.checked.model
    solution = work.solutions.get(run.number) if run is not None else None
    if time is None or run is None or model is None or solution is None or not len(solution.time):
        return None
    if run.text_hash != work.checked.text_hash:
        return None
    if before is not None and before.solution is solution and before.time == time:
        return before
    from vbg.analysis.forces import joint_powers

    return Powers(solution, time, joint_powers(model, solution, time))


def _between(state: GraphState, tail: str, head: str, powers: Powers) -> float | None:
    """The power from one vertex of the drawing to the other; None where it is not known."""
    parts = []
    for key in (tail, head):
        vertex = state.graph.vertices.get(key) if state.graph is not None else None
        inside = vertex is not None and vertex.part in state.opened
        parts.append((vertex.part if vertex is not None and inside else key).partition("."))
    (table, _, name), (other, _, second) = parts
    if (table, other) == ("joints", "bodies"):
        return powers.watts.get((name, second))
    into = powers.watts.get((second, name)) if (table, other) == ("bodies", "joints") else None
    return -into if into is not None else None


def coloured(state: GraphState, powers: Powers) -> Drawing:
    """The drawing with its bonds by the power in them: along the half arrow or against it."""
    drawing = state.drawing
    assert drawing is not None
    keys, bonds = [vertex.key for vertex in drawing.vertices], []
    for bond in drawing.bonds:
        watt = _between(state, keys[bond.tail], keys[bond.head], powers)
        if watt is not None and abs(watt) > _SMALL * powers.largest and bond.style == "dim":
            bond = replace(bond, style="bar" if watt > 0 else "warn")
        bonds.append(bond)
    return replace(drawing, bonds=tuple(bonds))


def of_part(powers: Powers, part: str) -> tuple[tuple[str, float], ...]:
    """The powers at a joint or a body: where to, and how many watts, the largest first."""
    table, _, name = part.partition(".")
    found = []
    for (joint, body), watt in powers.watts.items():
        if (table, name) == ("joints", joint):
            found.append((f"into {body}", watt))
        elif (table, name) == ("bodies", body):
            found.append((f"from {joint}", watt))
    return tuple(sorted(found, key=lambda entry: -abs(entry[1])))
