"""Effort, flow and power in the bonds, at the time that Plot's cursor is at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.draw.text.axes import number
from vbg.draw.text.bonds import Drawing
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.analysis.forces import JointBond
    from vbg.solution import Solution
    from vbg.tui.state.graphing import GraphState
    from vbg.tui.state.workspace import Workspace

Array = NDArray[np.float64]

_SMALL = 1e-3  # of the largest: not worth a colour


@dataclass(frozen=True, eq=False)
class Powers:
    """Bonds by joint and body at `time` [s] of one run; `solution` is what they are made of."""

    solution: Solution
    time: float
    bonds: dict[tuple[str, str], JointBond]

    @property
    def watts(self) -> dict[tuple[str, str], float]:
        """The power [W] by joint and body."""
        return {key: bond.power for key, bond in self.bonds.items()}

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
    from vbg.analysis.forces import joint_bonds

    return Powers(solution, time, joint_bonds(model, solution, time))


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


@dataclass(frozen=True, slots=True)
class Exchange:
    """A bond of a part: where to, its power [W], and its pairs of effort and flow as words."""

    where: str
    watt: float
    pairs: tuple[str, ...]


def of_part(powers: Powers, part: str) -> tuple[Exchange, ...]:
    """What a part exchanges: a joint with its bodies, a body with its joints, the largest power
    first; a one-dimensional part at its ports."""
    table, _, name = part.partition(".")
    found = []
    for (joint, body), bond in powers.bonds.items():
        pairs = _pair("force", bond.force, "N", "velocity", bond.velocity, "m/s")
        pairs += _pair("torque", bond.torque, "N*m", "turning", bond.turn, "rad/s")
        if (table, name) == ("joints", joint):
            found.append(Exchange(f"into {body}", bond.power, pairs))
        elif (table, name) == ("bodies", body):
            found.append(Exchange(f"from {joint}", bond.power, pairs))
    found.sort(key=lambda exchange: -abs(exchange.watt))
    return tuple(found) if table in ("joints", "bodies") else _ports(powers, name)


# effort and flow of each domain by their units; their product is in watts
_DOMAINS = {"V": "A", "N*m": "rad/s", "N": "m/s", "Pa": "m^3/s"}


def _ports(powers: Powers, name: str) -> tuple[Exchange, ...]:
    """Efforts and flows among the signals of a one-dimensional part, domain by domain."""
    solution = powers.solution
    row = int(np.argmin(np.abs(solution.time - powers.time)))
    own = [
        (signal.removeprefix(f"{name}."), solution.unit(signal), float(values[row]))
        for signal, values in solution.signals.items()
        if signal.startswith(f"{name}.") and values.ndim == 1
    ]
    found = []
    for effort, flow in _DOMAINS.items():
        efforts = [entry for entry in own if entry[1] == effort]
        flows = [entry for entry in own if entry[1] == flow]
        if len(efforts) == len(flows) == 1:
            words = " \u00b7 ".join(f"{n} {number(v)} {u}" for n, u, v in (*efforts, *flows))
            found.append(Exchange("", efforts[0][2] * flows[0][2], (words,)))
    return tuple(found)


def _pair(
    effort: str, e: Array, effort_unit: str, flow: str, f: Array, flow_unit: str
) -> tuple[str, ...]:
    """Effort and flow of three components each as words; nothing where there is no effort."""
    if not np.abs(e).max() > 0.0:
        return ()
    told = (
        f"{name} [{', '.join(map(number, values))}] {unit}"
        for name, values, unit in ((effort, e, effort_unit), (flow, f, flow_unit))
    )
    return (" \u00b7 ".join(told),)
