"""The causal graph: which end of each bond imposes effort, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vbg.errors import UsageError
from vbg.graph.bondgraph import Bond, BondGraph, Vertex

End = Literal["head", "tail"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a bond got its stroke: a sentence and the bonds it follows from."""

    sentence: str
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two demands on one bond, each with its reason."""

    bond: str
    vertex: str
    sentence: str
    first: Reason
    second: Reason


@dataclass(frozen=True, slots=True)
class Loop:
    """An algebraic loop: the vertices whose outputs determine one another."""

    vertices: tuple[str, ...]
    order: int
    linear: bool


@dataclass(frozen=True, slots=True)
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
    loops: tuple[Loop, ...]
    conflicts: tuple[Conflict, ...]
    differential: tuple[str, ...] = ()

    def imposes_effort(self, bond: Bond) -> Vertex:
        """The vertex that determines the bond's effort."""
        name = bond.tail if self.strokes[bond.name] == "head" else bond.head
        return self.graph.vertices[name]

    def imposes_flow(self, bond: Bond) -> Vertex:
        """The vertex that determines the bond's flow."""
        name = bond.head if self.strokes[bond.name] == "head" else bond.tail
        return self.graph.vertices[name]

    def why(self, bond: str) -> tuple[str, ...]:
        """The chain of reasons for the stroke of `bond`, its own first.

        Raises UsageError if there is no such bond.
        """
        if bond not in self.reasons:
            raise UsageError(f"there is no bond {bond!r}; `vbg show graph` lists them")
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
