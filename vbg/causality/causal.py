"""The causal graph: which end of each bond imposes effort, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from vbg.causality.loops import Loop, algebraic_loops
from vbg.causality.named import bond_named
from vbg.graph.bondgraph import Bond, BondGraph, End, Vertex


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a bond got its stroke: a sentence and the bonds it follows from; `lacks` is the
    junction to which no other bond gives what it needs, where that is the reason."""

    sentence: str
    because: tuple[str, ...] = ()
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two demands on one bond, each with its reason."""

    bond: str
    vertex: str
    sentence: str
    first: Reason
    second: Reason


@dataclass(frozen=True)
class CausalGraph:
    """A bond graph with all strokes.

    `strokes[bond]` is the end that receives effort (where the stroke is drawn);
    that end's vertex determines the flow, the other end's the effort.
    `states`: names of stores in integral causality; `dependent_stores`: those that
    depend on others; they were given a constraint source and so a state of their own, or
    they are `differential`: in derivative causality, without one.  `constraints`: the
    constraint sources; `arbitrary`: bonds whose stroke was a free choice.
    """

    graph: BondGraph
    strokes: Mapping[str, End]
    reasons: Mapping[str, Reason]
    states: tuple[str, ...]
    dependent_stores: tuple[str, ...]
    constraints: tuple[str, ...]
    arbitrary: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    differential: tuple[str, ...] = ()

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The algebraic loops, see `vbg.causality.loops`."""
        return tuple(algebraic_loops(self.graph, self.strokes))

    @cached_property
    def bringing(self) -> Mapping[str, Bond]:
        """Of each junction the bond that brings its shared variable: effort of a 0, flow of a
        1."""
        vertices, result = self.graph.vertices, {}
        for bond in self.graph.bonds.values():
            receives_effort, receives_flow = bond.tail, bond.head
            if self.strokes[bond.name] == "head":
                receives_effort, receives_flow = bond.head, bond.tail
            if vertices[receives_effort].kind == "0":
                result[receives_effort] = bond
            if vertices[receives_flow].kind == "1":
                result[receives_flow] = bond
        return result

    def imposes_effort(self, bond: Bond) -> Vertex:
        """The vertex that determines the bond's effort."""
        name = bond.tail if self.strokes[bond.name] == "head" else bond.head
        return self.graph.vertices[name]

    def imposes_flow(self, bond: Bond) -> Vertex:
        """The vertex that determines the bond's flow."""
        name = bond.head if self.strokes[bond.name] == "head" else bond.tail
        return self.graph.vertices[name]

    def why(self, name: str) -> tuple[str, ...]:
        """The chain of reasons for the stroke of a bond, its own first.

        `name` is a bond, a vertex with one bond, or a signal such as ``A.force``, which
        stands for the bond it is read from.  Raises UsageError for any other.
        """
        bond = bond_named(self.graph, name)
        return chain_of_reasons(self.reasons, self.strokes, self.graph, bond)


def chain_of_reasons(
    reasons: Mapping[str, Reason], strokes: Mapping[str, End], graph: BondGraph, bond: str
) -> tuple[str, ...]:
    """Sentences from `bond` back to the sources and stores it follows from."""
    sentences: list[str] = []
    seen: set[str] = set()
    pending = [bond]
    while pending:
        name = pending.pop(0)
        if name in seen:
            continue
        seen.add(name)
        reason = reasons[name]
        bond_here = graph.bonds[name]
        giver = bond_here.tail if strokes[name] == "head" else bond_here.head
        sentences.append(f"{name}: {giver} determines the effort, because {reason.sentence}.")
        pending.extend(reason.because)
    return tuple(sentences)
