"""The work space of a causality assignment: strokes, their reasons, and what follows from them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from vbg.causality.causal import Conflict, Reason
from vbg.graph.bondgraph import Bond, BondGraph, End, Vertex

Mark = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the strokes that a bond may have: whether `vertex` receives the effort."""

    bond: Bond
    vertex: str
    effort_in: bool
    reason: Reason


@dataclass(slots=True)
class Strokes:
    """Work space of one assignment; discarded when the result is frozen."""

    graph: BondGraph
    strokes: dict[str, End] = field(default_factory=dict)
    reasons: dict[str, Reason] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    arbitrary: list[str] = field(default_factory=list)
    waiting: deque[str] = field(default_factory=deque)
    queued: set[str] = field(default_factory=set)

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
            for end in (bond.tail, bond.head):
                if end not in self.queued:
                    self.queued.add(end)
                    self.waiting.append(end)
        elif held != stroke:
            self._conflict(bond, vertex, reason)

    def mark(self) -> Mark:
        """How far the assignment is, to come back to."""
        return len(self.strokes), len(self.conflicts)

    def undo(self, mark: Mark) -> None:
        """Forgets what was given since the mark."""
        strokes, conflicts = mark
        while len(self.strokes) > strokes:
            self.strokes.popitem()
            self.reasons.popitem()
        del self.conflicts[conflicts:]
        self.waiting.clear()
        self.queued.clear()

    def try_(self, choice: Choice) -> bool:
        """Makes the choice and follows it; whether that leads to no new conflict."""
        before = len(self.conflicts)
        self.give(choice.bond, choice.vertex, effort_in=choice.effort_in, reason=choice.reason)
        self.propagate()
        return len(self.conflicts) == before

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
            self.queued.discard(name)
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
        strong, open_bonds = [], []
        for bond in bonds:
            receives = self.effort_in(bond, vertex.name)
            if receives is None:
                open_bonds.append(bond)
            elif receives is brings:
                strong.append(bond)
        if len(strong) == 1 and not open_bonds:
            return
        if strong:
            giver = strong[0].name
            sentence = f"the {vertex.kind}-junction {vertex.name} has its {what} from {giver}"
            reason = Reason(sentence, (giver,))
            for bond in open_bonds:
                self.give(bond, vertex.name, effort_in=not brings, reason=reason)
            for bond in strong[1:]:
                self._conflict(bond, vertex.name, reason)
        elif len(open_bonds) == 1:
            others = tuple(b.name for b in bonds if b is not open_bonds[0])
            sentence = f"no other bond gives the {vertex.kind}-junction {vertex.name} its {what}"
            reason = Reason(sentence, others, lacks=vertex.name)
            self.give(open_bonds[0], vertex.name, effort_in=brings, reason=reason)
        elif not open_bonds:
            last = bonds[-1]
            sentence = f"no bond gives the {vertex.kind}-junction {vertex.name} its {what}"
            others = tuple(b.name for b in bonds[:-1])
            self._conflict(last, vertex.name, Reason(sentence, others, lacks=vertex.name))

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
