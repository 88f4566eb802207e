"""Fixes of causal conflicts: a source behind a small resistance, or one of two taken out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from vbg.edit.commands import AddTable, Command, Remove, SetValue
from vbg.edit.proposals import Fix
from vbg.errors import ModelError, Problem, VbgError

if TYPE_CHECKING:
    from vbg.causality.causal import CausalGraph, Conflict
    from vbg.graph import BondGraph

_SERIES = {"electric": ("resistor", "R", 0.01), "hydraulic": ("resistance", "R", 1e6)}


def conflict_parts(graph: BondGraph, causal: CausalGraph, conflict: Conflict) -> tuple[str, ...]:
    """The parts whose demands clash, by their paths, in a fixed order."""
    bonds = [conflict.bond, *conflict.first.because, *conflict.second.because]
    seen: list[str] = []
    pending = list(bonds)
    while pending:
        name = pending.pop(0)
        if name in seen or name not in graph.bonds:
            continue
        seen.append(name)
        reason = causal.reasons.get(name)
        pending += list(reason.because) if reason is not None else []
    parts: list[str] = []
    for name in seen:
        for vertex_name in (graph.bonds[name].tail, graph.bonds[name].head):
            vertex = graph.vertices[vertex_name]
            if vertex.kind in ("Se", "Sf", "I", "C") and vertex.part not in parts:
                parts.append(vertex.part)
    return tuple(parts)


def remedies(
    graph: BondGraph, causal: CausalGraph, conflict: Conflict, data: Mapping[str, Any]
) -> tuple[Fix, ...]:
    """Up to four remedies of a conflict, each with its effect."""
    found: list[Fix] = []
    for part in conflict_parts(graph, causal, conflict):
        table, _, name = part.partition(".")
        holder = data.get(table)
        written = holder.get(name) if isinstance(holder, Mapping) else None
        if not isinstance(written, Mapping):
            continue
        series = _with_series(data, table, name, written)
        if series is not None:
            found.append(series)
        found.append(
            Fix(
                f"delete {part}",
                "its demand is gone",
                (Remove(((table, name),), f"delete {part}"),),
            )
        )
    found.sort(key=lambda fix: fix.label.startswith("delete"))
    return tuple(found[:4])


def _with_series(
    data: Mapping[str, Any], table: str, name: str, written: Mapping[str, Any]
) -> Fix | None:
    """A small resistance before a source, so that it no longer dictates its node."""
    from vbg.model.catalogue import catalogue

    nodes = written.get("nodes")
    kind, field, value = _SERIES.get(table, ("", "", 0.0))
    if kind not in catalogue().get(table, {}) or not isinstance(nodes, list) or len(nodes) < 2:
        return None
    inner = f"{name}_{nodes[0]}"
    new = _free_name(data, f"{field}_{name}")
    label = f"put {new} = {value:g} in series with {name}"
    commands: tuple[Command, ...] = (
        SetValue((table, name, "nodes"), [inner, *nodes[1:]], label),
        AddTable((table, new), {"kind": kind, "nodes": [nodes[0], inner], field: value}, label),
    )
    return Fix(label, "the source may differ a little from its node", commands)


def _free_name(data: Mapping[str, Any], stem: str) -> str:
    """`stem` with the first number that makes it new."""
    taken = {name for table in data.values() if isinstance(table, Mapping) for name in table}
    return next(name for name in (f"{stem}{n}" for n in count(1)) if name not in taken)


def conflict_fixes(
    problem: Problem, text: str, data: Mapping[str, Any], file: str = ""
) -> tuple[Fix, ...]:
    """The remedies of the conflict that `problem` tells, those with which there are fewer."""
    from vbg.causality.messages import problem_of

    try:
        causal = _attempted(text, file)
        told = [c for c in causal.conflicts if problem_of(causal, c).what == problem.what]
        if not told:
            return ()
        found = remedies(causal.graph, causal, told[0], data)
    except VbgError:
        return ()
    return tuple(fix for fix in found if _helps(fix, text, file, len(causal.conflicts)))


def _helps(fix: Fix, text: str, file: str, before: int) -> bool:
    """Whether there are fewer conflicts with it, and no errors."""
    try:
        after = _attempted(fix.as_one(text).change_text(text), file)
    except VbgError:
        return False
    return len(after.conflicts) < before


def _attempted(text: str, file: str) -> CausalGraph:
    """The causal graph of a text, with its conflicts.  Raises VbgError where it has errors."""
    import vbg
    from vbg.causality.assign import attempt
    from vbg.io import toml
    from vbg.model import check

    model = toml.parse(text, file)
    errors = [problem for problem in check(model) if problem.severity == "error"]
    if errors:
        raise ModelError.of(errors)
    return attempt(vbg.expand(model))
