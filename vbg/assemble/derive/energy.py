"""Powers and energies of a graph, for the audit of every run."""

from __future__ import annotations

from vbg.assemble.derive.derivation import Derivation
from vbg.blocks import Block, Substitution, dot, linear, zeros

Term = tuple[float, Block]


def powers(work: Derivation, close: Substitution) -> tuple[Block, Block]:
    """Power of the sources that are not conservative, and of the resistors."""
    graph = work.causal.graph
    supplied: list[Term] = [(0.0, zeros(1))]
    dissipated: list[Term] = [(0.0, zeros(1))]
    for vertex in graph.vertices.values():
        if vertex.kind in ("Se", "Sf") and vertex.energy is None:
            terms, into = supplied, False
        elif vertex.kind == "R":
            terms, into = dissipated, True
        else:
            continue
        (bond,) = graph.incident[vertex.name]
        power = dot(work.structure.effort(bond), work.structure.flow(bond))
        along = (bond.head == vertex.name) == into
        terms.append((1.0 if along else -1.0, power))
    return _total(work, supplied, close), _total(work, dissipated, close)


def energies(work: Derivation) -> tuple[Block, Block]:
    """Kinetic energy (of the I) and the rest of what is stored."""
    kinetic: list[Term] = [(0.0, zeros(1))]
    potential: list[Term] = [(0.0, zeros(1))]
    for vertex in work.causal.graph.vertices.values():
        if vertex.energy is not None:
            terms = kinetic if vertex.kind == "I" else potential
            terms.append((1.0, vertex.energy))
    whole = Substitution({})
    return _total(work, kinetic, whole), _total(work, potential, whole)


def _total(work: Derivation, terms: list[Term], close: Substitution) -> Block:
    values = close.each(work.each_in_states([block for _, block in terms]))
    return linear(*zip([factor for factor, _ in terms], values, strict=True))
