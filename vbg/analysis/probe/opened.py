"""A linear form in which the elements stand apart.

The laws of all compliances, resistances and sources that depend on the state are cut open: what an
element gives is an input u beside x, and its law an output,

    x' = f(x, u),  u = g(x, u),      df/dx = f_x + f_u (1 - g_u)^-1 g_x.

In f_x + f_u g_x stiff and soft springs are summed, and the sum may have no digit of the soft
one.  In the factors every element has rows and columns of its own: along a motion that does not
stretch the stiff one its part vanishes to rounding of both factors, and that of the soft one stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.corners import with_sides
from vbg.analysis.probe.probe import STEP
from vbg.assemble.derive.derive import derive
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System
from vbg.blocks import Block, Substitution, leaf, rows
from vbg.causality import CausalGraph
from vbg.graph.bondgraph import BondGraph, Output, Vertex
from vbg.graph.placeholders import BOND_FLOW, EFFORT

Array = NDArray[np.float64]

LAW = "law of element "
ROUNDS = 30  # in which values of laws that read one another settle


@dataclass(frozen=True, slots=True, eq=False)
class Parted:
    """f_x (n, n), f_u (n, e) and (1 - g_u)^-1 g_x (e, n) at a state."""

    plain: Array
    gives: Array
    takes: Array


class Opened:
    """Rates and laws of a system whose elements are cut open, with their derivatives."""

    def __init__(self, system: System):
        graph, corners = with_sides(system.causal.graph)
        sides = [c.side for c in corners if c.side is not None]
        graph, cuts = _opened(system.causal, graph)
        e = derive(replace(system.causal, graph=graph))
        close = Substitution(
            {c.unknown: rows(e.efforts, c.first, c.first + c.unknown.rows) for c in e.constraints}
        )
        outputs = {f"rate {s.state.name}": e.rates[s.state.leaf] for s in system.slices}
        outputs |= {LAW + name: close(e.outputs[LAW + name]) for name in cuts}
        given = {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time}
        given |= {f"input {side.data}": side for side in sides}
        given |= {f"input {name}": block for name, block in cuts.items()}
        start = assemble_start(system)
        program = lower(outputs, given, smallest=start.dependent > 0)
        self._evaluate = Evaluator(program, kept=start.kept, complex_valued=True)
        self.size, self.elements = system.size, sum(block.rows for block in cuts.values())

    def apart(self, t: float, x: Array, sides: Array) -> Parted | None:
        """The factors at (t, x); None where there is no element, where laws read one another in a
        circle that does not settle, or one has no value with others at zero."""
        try:
            return self._apart(t, x, sides)
        except (ZeroDivisionError, np.linalg.LinAlgError):
            return None

    def _apart(self, t: float, x: Array, sides: Array) -> Parted | None:
        n = self.size
        u = self._settled(t, x, sides)
        if u is None or not len(u):
            return None
        z, first = np.concatenate([x, sides, u]).astype(complex), n + len(sides)
        places = [*range(n), *range(first, len(z))]
        columns = np.empty((len(places), n + len(u)))
        for row, place in enumerate(places):
            z[place] += 1j * STEP
            columns[row] = self._evaluate(t, z[:n], z[n:]).imag / STEP
            z[place] = z[place].real
        J = columns.T
        takes = np.asarray(np.linalg.solve(np.eye(len(u)) - J[n:, n:], J[n:, :n]), dtype=float)
        return Parted(J[:n, :n], J[:n, n:], takes)

    def _settled(self, t: float, x: Array, sides: Array) -> Array | None:
        u = np.zeros(self.elements)
        for _ in range(ROUNDS):
            last, u = u, self._evaluate(t, x, np.concatenate([sides, u])).real[self.size :].copy()
            if not np.all(np.isfinite(u)):
                return None
            if np.array_equal(u, last):
                return u
        return None


def _opened(causal: CausalGraph, graph: BondGraph) -> tuple[BondGraph, dict[str, Block]]:
    """The graph with inputs for laws, which are among its outputs, and the inputs by vertex."""
    vertices, outputs, cuts = dict(graph.vertices), list(graph.outputs), {}
    for vertex in graph.vertices.values():
        found = _cut(causal, graph, vertex)
        if found is not None:
            vertices[vertex.name], law, cuts[vertex.name] = found
            outputs.append(Output(LAW + vertex.name, law, ""))
    changed = replace(graph, vertices=MappingProxyType(vertices), outputs=tuple(outputs))
    return changed, cuts


def _cut(
    causal: CausalGraph, graph: BondGraph, vertex: Vertex
) -> tuple[Vertex, Block, Block] | None:
    """A vertex that gives an input, its law and the input; None where it is no such element."""
    given, law = leaf(f"u of {vertex.name}", vertex.size), vertex.law
    if vertex.kind in ("C", "Se") and law is not None and not law.is_const:
        dependent = vertex.name in causal.differential
        return None if dependent else (replace(vertex, law=given), law, given)
    if vertex.kind != "R":
        return None
    bond = graph.incident[vertex.name][0]
    if causal.imposes_effort(bond).name == vertex.name:
        law, port, name = vertex.effort_law, vertex.port_flow, f"{BOND_FLOW}{bond.name}"
        changed = replace(vertex, effort_law=given)
    else:
        law, port, name = vertex.flow_law, vertex.port_effort, f"{EFFORT}{bond.name}"
        changed = replace(vertex, flow_law=given)
    if law is None or port is None:
        return None
    return changed, Substitution({port: leaf(name, vertex.size)})(law), given
