"""The bond graph of the model that is open: which parts are opened, where the mark is."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from vbg.draw.text.bonds import Bond, Drawing, Vertex, laid_out
from vbg.errors import VbgError

if TYPE_CHECKING:
    from vbg.causality.causal import CausalGraph, Conflict
    from vbg.graph import BondGraph
    from vbg.model import Model

MOST_SHOWN = 90  # vertices drawn at once; more would be a tangle
_GAPS = (5, 7, 10)
_NOTED = 12  # cells between vertices where bonds say their power
Stroke = Literal["tail", "head", ""]


@dataclass(frozen=True, eq=False)
class GraphState:
    """A causal graph and how it is looked at.

    `opened` parts show their inside; `mark` is the key of the marked vertex: a
    part's path or a vertex' name; `zoom` 0 to 2 is how long labels are; `noted` with room for
    words on the bonds.
    """

    text_hash: str
    graph: BondGraph | None = None
    causal: CausalGraph | None = None
    trouble: str = ""
    opened: frozenset[str] = frozenset()
    mark: str = ""
    zoom: int = 1
    conflict: int = -1
    words: tuple[tuple[Vertex, ...], tuple[Bond, ...]] = ((), ())
    drawing: Drawing | None = None
    hidden: int = 0
    noted: bool = False

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return self.causal.conflicts if self.causal is not None else ()

    @property
    def marked_part(self) -> str:
        """The path of the part that the marked vertex is of or in."""
        if self.graph is not None and self.mark in self.graph.vertices:
            return self.graph.vertices[self.mark].part
        return self.mark

    @property
    def index(self) -> int:
        """The number of the marked vertex in the drawing, or -1."""
        if self.drawing is None:
            return -1
        keys = [vertex.key for vertex in self.drawing.vertices]
        if self.mark in keys:
            return keys.index(self.mark)
        part = self.marked_part
        found = [i for i, key in enumerate(keys) if key == part or self._part(key) == part]
        return found[0] if found else -1

    def _part(self, key: str) -> str:
        if self.graph is not None and key in self.graph.vertices:
            return self.graph.vertices[key].part
        return key


def made(model: Model, text_hash: str, before: GraphState | None) -> GraphState:
    """The graph of `model`, looked at as `before` was."""
    import vbg

    state = before or GraphState(text_hash)
    try:
        graph = vbg.expand(model)
    except VbgError as error:
        return replace(
            state, text_hash=text_hash, graph=None, causal=None, drawing=None, trouble=str(error)
        )
    from vbg.assemble.derive.jumping import as_assembled
    from vbg.causality.assign import attempt

    try:
        causal, trouble = as_assembled(attempt(graph)), ""
    except VbgError as error:
        causal, trouble = None, str(error)
    parts = {vertex.part for vertex in graph.vertices.values()}
    state = replace(
        state,
        text_hash=text_hash,
        graph=graph,
        causal=causal,
        trouble=trouble,
        opened=state.opened & parts,
        conflict=-1,
    )
    if not state.mark:
        sources = [v.part for v in graph.vertices.values() if v.kind in ("Se", "Sf")]
        # each body has a source of its own, its weight: a machine's drives come before those
        driving = [part for part in sources if not part.startswith("bodies.")] or sources
        state = replace(state, mark=driving[0] if driving else min(parts, default=""))
    return drawn(state)


def drawn(state: GraphState) -> GraphState:
    """`state` with its vertices and its drawing made anew."""
    if state.graph is None:
        return state
    return _near_mark(replace(state, words=_shown(state)))


def _near_mark(state: GraphState) -> GraphState:
    """`state` with the drawing of what is near the mark."""
    vertices, bonds = state.words
    keep = _near(state, vertices, bonds)
    number = {old: new for new, old in enumerate(keep)}
    drawing = laid_out(
        tuple(vertices[i] for i in keep),
        tuple(
            replace(bond, tail=number[bond.tail], head=number[bond.head])
            for bond in bonds
            if bond.tail in number and bond.head in number
        ),
        max(_GAPS[state.zoom], _NOTED if state.noted else 0),
    )
    return replace(state, drawing=drawing, hidden=len(vertices) - len(keep))


def _shown(state: GraphState) -> tuple[tuple[Vertex, ...], tuple[Bond, ...]]:
    """Vertices and bonds with closed parts drawn as one word."""
    graph = state.graph
    assert graph is not None
    trouble = _troubled(state)
    keys: dict[str, int] = {}
    vertices: list[Vertex] = []
    for vertex in graph.vertices.values():
        key = vertex.name if vertex.part in state.opened else vertex.part
        if key not in keys:
            keys[key] = len(vertices)
            vertices.append(_vertex(state, key, vertex.part, trouble))
    joined: dict[tuple[int, int], list[str]] = {}
    for bond in graph.bonds.values():
        ends = []
        for name in (bond.tail, bond.head):
            part = graph.vertices[name].part
            ends.append(keys[name if part in state.opened else part])
        if ends[0] != ends[1]:
            joined.setdefault((ends[0], ends[1]), []).append(bond.name)
    bonds = [_bond(state, tail, head, names, trouble) for (tail, head), names in joined.items()]
    return tuple(vertices), tuple(bonds)


def _troubled(state: GraphState) -> set[str]:
    """Names of the bonds, vertices and parts of conflicts."""
    if state.causal is None or state.graph is None:
        return set()
    vertices = {conflict.vertex for conflict in state.causal.conflicts}
    parts = {state.graph.vertices[name].part for name in vertices}
    return {conflict.bond for conflict in state.causal.conflicts} | vertices | parts


def _vertex(state: GraphState, key: str, part: str, trouble: set[str]) -> Vertex:
    graph = state.graph
    assert graph is not None
    inside = key in graph.vertices and part in state.opened
    name = part.split(".", 1)[-1]
    if not inside:
        style = "error" if part in trouble else "ok" if part.startswith("bodies") else "title"
        return Vertex(_clipped(name, state.zoom), style, key)
    vertex = graph.vertices[key]
    own = vertex.name.removeprefix(name + ".")
    label = f"{vertex.kind}:{own.removesuffix('.' + vertex.kind)}"
    style = "error" if key in trouble else "note" if vertex.kind == "Sc" else ""
    return Vertex(_clipped(label, state.zoom), style, key)


def _clipped(label: str, zoom: int) -> str:
    size = (6, 16, 40)[zoom]
    return label if len(label) <= size else label[: size - 1] + "…"


def _bond(state: GraphState, tail: int, head: int, names: list[str], trouble: set[str]) -> Bond:
    """One bond of the drawing for all between two words; the stroke if they agree."""
    graph, causal = state.graph, state.causal
    assert graph is not None
    strokes: set[Stroke] = set()
    for name in names if causal is not None else ():
        strokes.add(causal.strokes.get(name, "") if causal is not None else "")
    stroke = strokes.pop() if len(strokes) == 1 else ""
    size = sum(graph.bonds[name].size for name in names)
    style = "error" if trouble & set(names) else "dim"
    return Bond(tail, head, stroke, size, style, ",".join(names))


def _near(state: GraphState, vertices: tuple[Vertex, ...], bonds: tuple[Bond, ...]) -> list[int]:
    """The vertices drawn: all, or those nearest to the marked one."""
    if len(vertices) <= MOST_SHOWN:
        return list(range(len(vertices)))
    beside: dict[int, list[int]] = {}
    for bond in bonds:
        beside.setdefault(bond.tail, []).append(bond.head)
        beside.setdefault(bond.head, []).append(bond.tail)
    keys = {vertex.key: i for i, vertex in enumerate(vertices)}
    start = keys.get(state.mark, keys.get(state.marked_part, 0))
    seen, queue = {start}, deque([start])
    while queue and len(seen) < MOST_SHOWN // 2:
        for other in beside.get(queue.popleft(), ()):
            if other not in seen and len(seen) < MOST_SHOWN // 2:
                seen.add(other)
                queue.append(other)
    return sorted(seen)


def marked(state: GraphState, key: str) -> GraphState:
    """`state` with the mark elsewhere; drawn anew if that is not in the drawing."""
    state = replace(state, mark=key)
    return _near_mark(state) if state.index < 0 else state


def opened(state: GraphState, part: str) -> GraphState:
    """`state` with one part opened or closed."""
    parts = state.opened ^ {part}
    mark = part
    if part in parts and state.graph is not None:
        mark = next((v.name for v in state.graph.vertices.values() if v.part == part), part)
    return drawn(replace(state, opened=parts, mark=mark))


def opened_all(state: GraphState) -> GraphState:
    """`state` with all parts opened, or all closed."""
    assert state.graph is not None
    part = state.marked_part
    parts = frozenset(vertex.part for vertex in state.graph.vertices.values())
    return drawn(replace(state, opened=frozenset() if state.opened else parts, mark=part))


def with_notes(state: GraphState, *, noted: bool) -> GraphState:
    """`state` with room for words on the bonds, or without."""
    return state if state.noted == noted else drawn(replace(state, noted=noted))


def zoomed(state: GraphState, step: int) -> GraphState:
    """`state` with longer or shorter labels."""
    return drawn(replace(state, zoom=max(0, min(state.zoom + step, len(_GAPS) - 1))))
