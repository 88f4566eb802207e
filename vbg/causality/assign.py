"""Sequential causality assignment (SCAP) on vector bonds.

Order: (1) what admits one causality only: sources, constraint sources,
Eulerian junction structures, transformers whose modulus has no inverse,
resistors with one law; (2) stores, integral preferred; (3) resistors with two
laws; (4) what is left, by free choice.  After each choice its consequences
are followed through junctions, transformers and gyrators before the next is
made; a choice that leads to a conflict is taken back (D. Karnopp, D. Margolis,
R. Rosenberg, System Dynamics, 4th ed., ch. 5; vector bonds: S. Behzadipour,
A. Khajepour, Simul. Model. Pract. Th. 14, 2006).
A vector bond carries one stroke for all of its directions: the expansion of
joints splits constrained from free directions, so that this is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from vbg.causality.balanced import with_balances
from vbg.causality.causal import CausalGraph, Conflict, Reason
from vbg.causality.choices import choose, prefer_integral
from vbg.causality.dependent import with_constraint_source
from vbg.causality.islands import islands_without_power
from vbg.causality.messages import problem_of
from vbg.causality.strokes import Strokes
from vbg.errors import CausalityError
from vbg.graph.bondgraph import BondGraph, Causality, Vertex
from vbg.graph.raw import mixed_domains
from vbg.model.located import told_in


def _fixed(vertex: Vertex) -> tuple[bool, str] | None:
    """Whether a one-port vertex must receive effort, and why; None if free."""
    match vertex.kind:
        case "Se":
            return False, f"{vertex.name} is a source of effort"
        case "Sf":
            return True, f"{vertex.name} is a source of flow"
        case "Sc":
            return vertex.dual, (
                f"{vertex.name} is a constraint source: its "
                f"{'flow' if vertex.dual else 'effort'} is the unknown"
            )
        case "EJS":
            return False, f"{vertex.name} is an Eulerian junction structure: effort = w x h"
        case "C" if vertex.state is None:
            return False, f"{vertex.name} has its displacement from the posture"
        case "R" if vertex.flow_law is None:
            return False, f"{vertex.name} has a law effort(flow) only"
        case "R" if vertex.effort_law is None:
            return True, f"{vertex.name} has a law flow(effort) only"
    return None


def _give_fixed(work: Strokes) -> None:
    for vertex in work.graph.vertices.values():
        bonds = work.graph.incident[vertex.name]
        if vertex.kind == "TF" and vertex.inverse is None:
            reason = Reason(f"{vertex.name} cannot be inverted")
            work.give(bonds[0], vertex.name, effort_in=False, reason=reason)
            work.give(bonds[1], vertex.name, effort_in=True, reason=reason)
        elif vertex.kind == "GY" and vertex.inverse is None:
            reason = Reason(f"{vertex.name} cannot be inverted")
            work.give(bonds[0], vertex.name, effort_in=False, reason=reason)
            work.give(bonds[1], vertex.name, effort_in=False, reason=reason)
        elif (fixed := _fixed(vertex)) is not None:
            effort_in, sentence = fixed
            work.give(bonds[0], vertex.name, effort_in=effort_in, reason=Reason(sentence))
        else:
            continue
        work.propagate()


def _dependent(work: Strokes) -> list[str]:
    """The stores without integral causality."""
    stores = [v for v in work.graph.vertices.values() if v.is_store]
    return [
        v.name
        for v in stores
        if work.effort_in(work.graph.incident[v.name][0], v.name) is not (v.kind == "I")
    ]


def _forced(graph: BondGraph) -> Strokes:
    """The strokes without a choice where all stores have integral causality."""
    work = Strokes(graph)
    _give_fixed(work)
    prefer_integral(work)
    return work


def _assigned(graph: BondGraph) -> tuple[Strokes, list[str]]:
    work = Strokes(graph)
    _give_fixed(work)
    choose(work)
    return work, _dependent(work)


def _causal(graph: BondGraph, causality: Causality) -> CausalGraph:
    """Assigns, with a constraint source on each node that no part gives an effort; where no
    store may stay dependent, gives each that is one a constraint source and assigns anew."""
    graph = with_balances(graph, _forced)
    relieved: list[str] = []
    work, dependent = _assigned(graph)
    while causality == "integral" and dependent and not work.conflicts:
        relieved += dependent
        for store in dependent:
            graph = with_constraint_source(graph, store)
        work, dependent = _assigned(graph)
    return _with_strokes(graph, work, relieved, dependent)


def _with_strokes(
    graph: BondGraph, work: Strokes, relieved: Sequence[str], dependent: Sequence[str]
) -> CausalGraph:
    """What was assigned; `relieved` have a constraint source, `dependent` are left."""
    stores = [v.name for v in graph.vertices.values() if v.is_store]
    return CausalGraph(
        graph=graph,
        strokes=MappingProxyType(work.strokes),
        reasons=MappingProxyType(work.reasons),
        states=tuple(name for name in stores if name not in dependent),
        dependent_stores=(*relieved, *dependent),
        constraints=tuple(v.name for v in graph.vertices.values() if v.kind == "Sc"),
        arbitrary=tuple(work.arbitrary),
        conflicts=tuple(work.conflicts),
        differential=tuple(dependent),
    )


def relieve(causal: CausalGraph, stores: Sequence[str]) -> CausalGraph:
    """Assigned anew, with a constraint source for these stores in derivative causality."""
    graph, had = causal.graph, set(causal.differential)
    for store in stores:
        graph = with_constraint_source(graph, store)
    relieved = [name for name in causal.dependent_stores if name not in had]
    work, dependent = _assigned(graph)
    return _with_strokes(graph, work, [*relieved, *stores], dependent)


def find_causal_conflicts(graph: BondGraph) -> tuple[Conflict, ...]:
    """The conflicts that `assign` would raise, as values."""
    return attempt(graph).conflicts


def attempt(graph: BondGraph) -> CausalGraph:
    """As `assign`, but conflicts are left in the graph, with the strokes there are:
    for those who show them."""
    return _causal(graph, graph.causality)


def assign(graph: BondGraph, causality: Causality | None = None) -> CausalGraph:
    """The causal graph of `graph`.

    `causality`: "integral" gives every store that depends on others a constraint source
    and with it a state of its own; "derivative" leaves it without either, so that its
    effort (I) or flow (C) is the rate of what follows from the other states.  Default:
    what the model asks.

    Raises CausalityError with every conflict, its two chains of reasons and what mends it,
    for sub-graphs of junctions alone and for junctions of two domains.
    """
    with told_in(graph.placed.model):
        if faults := (*mixed_domains(graph), *islands_without_power(graph)):
            raise CausalityError.of(faults)
        causal = _causal(graph, causality or graph.causality)
        if causal.conflicts:
            raise CausalityError.of(problem_of(causal, conflict) for conflict in causal.conflicts)
        return causal
