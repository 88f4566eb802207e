"""What of a graph may jump at once: speeds that rows prescribe, stores that follow them.

A store in derivative causality imposes the rate of what it follows.  Where that jumps the rate is
an impulse, which no integral of rates contains: with a constraint source beside the store the jump
is one of a row, and the impulse is found with those of all rows
(`vbg.simulate.events.impulses.kicks`).
"""

from __future__ import annotations

from collections.abc import Iterable

from vbg.assemble.derive.derivation import begin
from vbg.assemble.derive.differential import define_dependent_states
from vbg.blocks import Block, dependencies
from vbg.causality import CausalGraph, relieve
from vbg.errors import AssemblyError
from vbg.graph.bondgraph import BondGraph

# functions that jump; an angle does where what it is of passes behind the origin
DISCONTINUOUS = frozenset({"select", "sign", "floor", "atan2"})


def is_discontinuous(graph: BondGraph, blocks: Iterable[Block]) -> bool:
    """Whether `blocks`, in states and time, jump with a mode or where a function does."""
    modes = {mode.state for mode in graph.modes}
    return any(
        node in modes or (node.op == "call" and node.data in DISCONTINUOUS)
        for node in dependencies(list(blocks))
    )


def relieve_impulsive(causal: CausalGraph) -> CausalGraph:
    """With a constraint source for each store in derivative causality whose rate may be an impulse,
    as it follows what may jump."""
    while causal.differential and (stores := _impulsive(causal)):
        causal = relieve(causal, stores)
    return causal


def as_assembled(causal: CausalGraph) -> CausalGraph:
    """For those who show it: with the constraint sources that only the equations ask for, where
    there are equations; a graph with conflicts has none."""
    if causal.conflicts:
        return causal
    try:
        return relieve_impulsive(causal)
    except AssemblyError:
        return causal


def _impulsive(causal: CausalGraph) -> list[str]:
    """Stores in derivative causality whose state may jump while those of the others do not: with
    a mode, where a function jumps, at an instant or at a sample."""
    work = begin(causal)
    define_dependent_states(work)
    graph = causal.graph
    timed = {graph.time, *(s.state for s in graph.discrete)}
    instants = bool(graph.instants or graph.clocks)
    states = work.each_in_states([v.state for v, _ in work.differential if v.state is not None])
    return [
        vertex.name
        for (vertex, _), state in zip(work.differential, states, strict=True)
        if is_discontinuous(graph, [state])
        or (instants and not timed.isdisjoint(dependencies([state])))
    ]
