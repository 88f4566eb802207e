"""Stores on one 0-junction, of which one has its start written: the others begin with its effort.

A volume of oil at 80 bar and the accumulator on its node, a chamber of a cylinder: what nobody
wrote is solved from the law of the store, whatever that law is.  Stores that are tied by more than
a junction are left to `vbg.assemble.start.values.written`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.derivation import compliance
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.system import System
from vbg.graph import BondGraph, Vertex

Array = NDArray[np.float64]

ITERATIONS = 200  # steps and halvings of one store
CLOSE = 1e-15  # of the effort
NEAR = 1e-9  # of it and of what the law rounds: where no step comes nearer the store has it


def level(system: System, x: Array) -> None:
    """Gives stores whose start nobody wrote the effort of the one that has it written, in place."""
    for given, free in _tied(system):
        assert given.law is not None and free.law is not None
        laws = {"given": given.law, "effort": free.law, "slope": compliance(free)}
        inputs = {s.state.name: s.state.leaf for s in system.slices}
        evaluate = Evaluator(lower(laws, inputs | {"t": system.equations.time}))
        place = next(s.first for s in system.slices if s.state.leaf is free.state)
        _solve(evaluate, x, place)


def _tied(system: System) -> Iterator[tuple[Vertex, Vertex]]:
    """(store with a written start, store without one) on a 0-junction, where it is the only one
    with a written start."""
    graph = system.causal.graph
    on: dict[str, list[Vertex]] = {}
    for store in graph.vertices.values():
        if store.kind == "C" and store.is_store and store.size == 1:
            node = _node(graph, store.name)
            if graph.vertices[node].kind == "0":
                on.setdefault(node, []).append(store)
    for stores in on.values():
        written = [store for store in stores if store.written]
        if len(written) == 1:
            yield from ((written[0], store) for store in stores if not store.written)


def _node(graph: BondGraph, store: str) -> str:
    """The junction that a store is on, behind the constraint source of a dependent one."""
    (node,) = _neighbours(graph, store)
    around = [graph.vertices[name] for name in _neighbours(graph, node)]
    if not any(v.kind == "Sc" and v.dual for v in around):
        return node
    return next(v.name for v in around if v.kind != "Sc" and v.name != store)


def _neighbours(graph: BondGraph, name: str) -> list[str]:
    return [bond.head if bond.tail == name else bond.tail for bond in graph.incident[name]]


def _solve(evaluate: Evaluator, x: Array, place: int) -> None:
    """Newton on law(q) = effort; a step is halved until it comes nearer.  Laws of stores grow with
    q: a step that leaves the span between a q that is too small and one that is too large, as at
    the bend of a bladder that closes, goes to its middle.  Where none comes nearer (no state has
    that effort) x stays as it was."""
    first, best, step, before = x[place], np.inf, 0.0, x[place]
    low, high, size = -np.inf, np.inf, 0.0
    for _ in range(ITERATIONS):
        evaluate(0.0, x)
        wanted, effort = (float(evaluate.output(name)[0]) for name in ("given", "effort"))
        miss, between = abs(effort - wanted), low < x[place] < high and np.isfinite(high - low)
        if miss < best or (between and np.isfinite(miss)):
            if miss <= CLOSE * abs(wanted):
                return
            before, best = x[place], miss
            low, high = (before, high) if effort < wanted else (low, before)
            slope = float(evaluate.output("slope")[0])
            step = (wanted - effort) / slope if slope > 0.0 else np.inf
            size = abs(slope * before)
        else:
            step *= 0.5
        after = before + step
        if np.isfinite(high - low) and not low < after < high:
            after = 0.5 * (low + high)
        if after in (before, low, high) or not np.isfinite(after):
            if best <= NEAR * (abs(wanted) + size):
                x[place] = before
                return
            break
        x[place] = after
    x[place] = first
