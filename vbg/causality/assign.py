"""Sequential causality assignment (SCAP) on vector bonds.

Order: (1) what admits one causality only: sources, constraint sources,
Eulerian junction structures, transformers whose modulus has no inverse,
resistors with one law; (2) stores, integral preferred; (3) resistors with two
laws; (4) what is left, by free choice.  After each choice its consequences
are followed through junctions, transformers and gyrators before the next is
made (D. Karnopp, D. Margolis, R. Rosenberg, System Dynamics, 4th ed., ch. 5;
vector bonds: S. Behzadipour, A. Khajepour, Simul. Model. Pract. Th. 14, 2006).
A vector bond carries one stroke for all of its directions: the expansion of
joints splits constrained from free directions, so that this is enough.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

from vbg.causality.causal import (
    CausalGraph,
    Conflict,
    End,
    Loop,
    Reason,
    chain_of_reasons,
)
from vbg.causality.dependent import with_constraint_source
from vbg.errors import CausalityError, Problem
from vbg.graph.bondgraph import Bond, BondGraph, Causality, Vertex


@dataclass(slots=True)
class _Assignment:
    """Work space of one assignment; discarded when the result is frozen."""

    graph: BondGraph
    strokes: dict[str, End] = field(default_factory=dict)
    reasons: dict[str, Reason] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    arbitrary: list[str] = field(default_factory=list)
    waiting: deque[str] = field(default_factory=deque)
    assigned_at: dict[str, int] = field(default_factory=dict)

    def effort_in(self, bond: Bond, vertex: str) -> bool | None:
        """Whether `vertex` receives the bond's effort; None while open."""
        stroke = self.strokes.get(bond.name)
        if stroke is None:
            return None
        return (bond.head if stroke == "head" else bond.tail) == vertex

    def give(self, bond: Bond, vertex: str, *, effort_in: bool, reason: Reason) -> None:
        """`vertex` shall receive the effort of `bond` (or determine it)."""
        stroke: End = "head" if (bond.head == vertex) == effort_in else "tail"
        held = self.strokes.get(bond.name)
        if held is None:
            self.strokes[bond.name] = stroke
            self.reasons[bond.name] = reason
            self.waiting.extend((bond.tail, bond.head))
        elif held != stroke:
            self._conflict(bond, vertex, reason)

    def _conflict(self, bond: Bond, vertex: str, reason: Reason) -> None:
        what = "effort" if self.effort_in(bond, vertex) else "flow"
        sentence = f"both ends of {bond.name} impose {what}"
        if not any(c.bond == bond.name and c.vertex == vertex for c in self.conflicts):
            self.conflicts.append(
                Conflict(bond.name, vertex, sentence, self.reasons[bond.name], reason)
            )

    def propagate(self) -> None:
        """Follows the consequences of what is known until nothing new comes."""
        while self.waiting:
            name = self.waiting.popleft()
            vertex = self.graph.vertices[name]
            bonds = self.graph.incident[name]
            if vertex.kind in ("0", "1"):
                self._junction(vertex, bonds)
            elif vertex.kind in ("TF", "GY") and len(bonds) == 2:
                self._two_port(vertex, bonds)

    def _junction(self, vertex: Vertex, bonds: tuple[Bond, ...]) -> None:
        """0: one bond brings the effort; 1: one bond brings the flow."""
        brings = vertex.kind == "0"
        what = "effort" if brings else "flow"
        inputs = [self.effort_in(bond, vertex.name) for bond in bonds]
        strong = [b for b, known in zip(bonds, inputs, strict=True) if known is brings]
        open_bonds = [b for b, known in zip(bonds, inputs, strict=True) if known is None]
        if strong:
            sentence = (
                f"the {vertex.kind}-junction {vertex.name} has its {what} from {strong[0].name}"
            )
            for bond in open_bonds:
                self.give(
                    bond,
                    vertex.name,
                    effort_in=not brings,
                    reason=Reason(sentence, (strong[0].name,)),
                )
            for bond in strong[1:]:
                self._conflict(bond, vertex.name, Reason(sentence, (strong[0].name,)))
        elif len(open_bonds) == 1:
            others = tuple(b.name for b in bonds if b is not open_bonds[0])
            sentence = f"no other bond gives the {vertex.kind}-junction {vertex.name} its {what}"
            self.give(open_bonds[0], vertex.name, effort_in=brings, reason=Reason(sentence, others))
        elif not open_bonds:
            last = bonds[-1]
            sentence = f"no bond gives the {vertex.kind}-junction {vertex.name} its {what}"
            others = tuple(b.name for b in bonds[:-1])
            self._conflict(last, vertex.name, Reason(sentence, others))

    def _two_port(self, vertex: Vertex, bonds: tuple[Bond, ...]) -> None:
        """TF passes the effort on; GY receives effort on both bonds or none."""
        for known, other in ((bonds[0], bonds[1]), (bonds[1], bonds[0])):
            receives = self.effort_in(known, vertex.name)
            if receives is None:
                continue
            passes = vertex.kind == "TF"
            what = "passes effort through" if passes else "turns effort into flow"
            self.give(
                other,
                vertex.name,
                effort_in=receives is not passes,
                reason=Reason(f"{vertex.name} {what}", (known.name,)),
            )


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


def _give_fixed(work: _Assignment) -> None:
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


def _give_stores(work: _Assignment) -> list[str]:
    """Integral causality where it is still free; returns the other stores."""
    dependent = []
    for vertex in work.graph.vertices.values():
        if not vertex.is_store:
            continue
        bond = work.graph.incident[vertex.name][0]
        integral = vertex.kind == "I"  # I receives effort, C determines it
        known = work.effort_in(bond, vertex.name)
        if known is None:
            sentence = f"{vertex.name} is a store in integral causality"
            work.give(bond, vertex.name, effort_in=integral, reason=Reason(sentence))
            work.propagate()
        elif known is not integral:
            dependent.append(vertex.name)
    return dependent


def _give_rest(work: _Assignment) -> None:
    for vertex in work.graph.vertices.values():
        if vertex.kind != "R":
            continue
        bond = work.graph.incident[vertex.name][0]
        if work.effort_in(bond, vertex.name) is None:
            work.arbitrary.append(bond.name)
            by_flow = vertex.preferred == "effort"
            chosen = "effort(flow)" if by_flow else "flow(effort)"
            reason = Reason(f"{vertex.name} may have either causality; {chosen} was chosen")
            work.give(bond, vertex.name, effort_in=not by_flow, reason=reason)
            work.propagate()
    for bond in work.graph.bonds.values():
        if bond.name not in work.strokes:
            work.arbitrary.append(bond.name)
            reason = Reason("nothing determines it; the choice was free")
            work.give(bond, bond.head, effort_in=True, reason=reason)
            work.propagate()


def _assigned(graph: BondGraph) -> tuple[_Assignment, list[str]]:
    work = _Assignment(graph)
    _give_fixed(work)
    dependent = _give_stores(work)
    _give_rest(work)
    return work, dependent


def _causal(graph: BondGraph, causality: Causality) -> CausalGraph:
    """Assigns; where no store may stay dependent, gives each that is one a constraint
    source and assigns anew."""
    relieved: list[str] = []
    work, dependent = _assigned(graph)
    while causality == "integral" and dependent and not work.conflicts:
        relieved.append(dependent[0])
        graph = with_constraint_source(graph, dependent[0])
        work, dependent = _assigned(graph)
    stores = [v.name for v in graph.vertices.values() if v.is_store]
    return CausalGraph(
        graph=graph,
        strokes=MappingProxyType(work.strokes),
        reasons=MappingProxyType(work.reasons),
        states=tuple(name for name in stores if name not in dependent),
        dependent_stores=(*relieved, *dependent),
        constraints=tuple(v.name for v in graph.vertices.values() if v.kind == "Sc"),
        arbitrary=tuple(work.arbitrary),
        loops=tuple(_loops(work)),
        conflicts=tuple(work.conflicts),
        differential=tuple(dependent),
    )


def _loops(work: _Assignment) -> Iterator[Loop]:
    from vbg.causality.loops import algebraic_loops

    yield from algebraic_loops(work.graph, work.strokes)


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

    Raises CausalityError with every conflict, its two chains of reasons and
    what usually causes it.
    """
    causal = _causal(graph, causality or graph.causality)
    if causal.conflicts:
        raise CausalityError.of(_problem(causal, conflict) for conflict in causal.conflicts)
    return causal


def _problem(causal: CausalGraph, conflict: Conflict) -> Problem:
    steps = "; ".join(
        f"{reason.sentence}"
        + "".join(
            f", since {sentence}"
            for bond in reason.because[:1]
            for sentence in chain_of_reasons(causal.reasons, causal.strokes, causal.graph, bond)[:3]
        )
        for reason in (conflict.first, conflict.second)
    )
    part = causal.graph.vertices[conflict.vertex].part or conflict.vertex
    return Problem(
        "error",
        part,
        f"{conflict.sentence}. {steps}.",
        "Usual cause: two sources or two rigidly joined parts fix the same quantity. "
        "(1) Remove one of them, or (2) put a compliance or a resistance between them.",
    )
