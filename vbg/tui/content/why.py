"""Why strokes are where they are, and what can be done about a conflict, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, printable, wrap
from vbg.edit.conflicts import remedies
from vbg.edit.proposals import Fix

if TYPE_CHECKING:
    from vbg.causality.causal import Conflict
    from vbg.tui.state.graphing import GraphState


def fixes(state: GraphState, conflict: Conflict, data: Mapping[str, Any]) -> tuple[Fix, ...]:
    """Up to four remedies of a conflict, each with its effect."""
    assert state.graph is not None and state.causal is not None
    return remedies(state.graph, state.causal, conflict, data)


def why_rows(state: GraphState | None, data: Mapping[str, Any], width: int, marks: Marks) -> Rows:
    """The explanation of the marked vertex, or of the marked conflict."""
    if state is None or state.graph is None:
        text = state.trouble if state else "the graph is drawn when the model has no errors"
        return _text(text, width, "warn")
    if 0 <= state.conflict < len(state.conflicts):
        return conflict_rows(state, state.conflicts[state.conflict], data, width, marks)
    rows: list[Row] = list(_summary(state, width, marks))
    rows.append(())
    graph, causal = state.graph, state.causal
    inside = [v for v in graph.vertices.values() if v.part == state.marked_part]
    if state.mark in graph.vertices and state.marked_part in state.opened:
        inside = [graph.vertices[state.mark]]
    names = {v.name for v in inside}
    rows.append(((printable(state.mark), "title"),))
    kinds = ", ".join(f"{v.kind}:{v.name.split('.', 1)[-1]}" for v in inside[:8])
    rows += _text(f"vertices: {kinds}", width, "dim")
    bonds = [b for b in graph.bonds.values() if (b.tail in names) != (b.head in names)]
    if len(inside) == 1:
        bonds = [b for b in graph.bonds.values() if names & {b.tail, b.head}]
    for bond in bonds:
        if causal is None:
            continue
        effort = causal.imposes_effort(bond).name
        flow = causal.imposes_flow(bond).name
        head = f"{bond.tail} {marks.harpoons[0]} {bond.head}"
        rows.append(((printable(f"{head}  [{bond.size}]"), "bold"),))
        rows += _text(f"  effort from {effort}, flow from {flow}", width, "")
        reason = causal.reasons.get(bond.name)
        if reason is not None:
            rows += _text(f"  because {reason.sentence}", width, "dim")
            if reason.because:
                rows += _text(f"  which follows from {', '.join(reason.because)}", width, "dim")
    return tuple(rows)


def _summary(state: GraphState, width: int, marks: Marks) -> Rows:
    """The causality of the whole graph in a line or two."""
    causal = state.causal
    if causal is None:
        return _text(f"{marks.error} {state.trouble}", width, "error")
    count = len(causal.conflicts)
    if count:
        return _text(
            f"{marks.error} {count} causality conflict{'s' * (count > 1)}: c goes to the next",
            width,
            "error",
        )
    words = [
        _counted(len(causal.states), "state"),
        _counted(len(causal.constraints), "constraint source"),
    ]
    if causal.dependent_stores:
        words.append(_counted(len(causal.dependent_stores), "dependent store"))
    if causal.loops:
        words.append(_counted(len(causal.loops), "algebraic loop"))
    return _text(f"{marks.ok} causal: {', '.join(words)}", width, "ok")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def conflict_rows(
    state: GraphState, conflict: Conflict, data: Mapping[str, Any], width: int, marks: Marks
) -> Rows:
    """A conflict: what, the two chains of reasons, the numbered fixes."""
    rows: list[Row] = []
    rows += _text(f"{marks.error} {conflict.sentence}", width, "error")
    rows.append(())
    for word, reason in (("because", conflict.first), ("and", conflict.second)):
        rows += _text(f"{word} {reason.sentence}", width, "")
        for bond in reason.because:
            deeper = state.causal.reasons.get(bond) if state.causal else None
            sentence = f": {deeper.sentence}" if deeper else ""
            rows += _text(f"  {marks.harpoons[0]} {bond}{sentence}", width, "dim")
    rows.append(())
    for number, fix in enumerate(fixes(state, conflict, data), 1):
        rows += _text(f"{number}: {fix.label} ({fix.effect})", width, "focus")
    return tuple(rows)


def _text(text: str, width: int, style: str) -> Rows:
    return tuple(((line, style),) for line in wrap(printable(text), width))
