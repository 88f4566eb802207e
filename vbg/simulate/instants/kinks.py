"""Instants at which functions of time alone have a kink or a jump, before a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.system import System
from vbg.blocks import Block, dependencies
from vbg.graph.bondgraph import BondGraph

Array = NDArray[np.float64]

FEWEST, MOST = 4096, 20_000  # places of a run at which the functions are looked at
EXACT = 4.0 * np.finfo(float).eps
BEYOND = 16.0 * np.finfo(float).eps  # of the end of a run: a change so near behind it is on it


def kink_instants(system: System, grid: Array) -> Array:
    """Zeros of what functions of time alone have kinks at (`physics.laws`), and of those that
    alone turn a mode, over the output `grid`, in order.

    The functions are looked at in the output instants and at least FEWEST places; two
    zeros between two looks are not seen.  One on the last row counts: that row, too, holds what
    is behind it.
    """
    graph = system.causal.graph
    looked = tuple(dict.fromkeys((*graph.instants, *_turning(graph))))
    if not looked or grid[-1] == 0.0:
        return np.zeros(0)
    places = np.linspace(0.0, grid[-1], FEWEST)
    if len(grid) <= MOST:
        places = np.union1d(places, grid)
    places = np.append(places, (1.0 + BEYOND) * grid[-1])
    functions = {str(i): block for i, block in enumerate(looked)}
    evaluate = Evaluator(lower(functions, {"t": graph.time}))
    values = evaluate.each(places, np.empty((len(places), 0)))
    # at t = 0 a mode is as its condition says there
    found: list[float] = [0.0] if np.any(values[0, : len(graph.instants)] == 0.0) else []
    for i in range(values.shape[1]):
        found += _zeros(evaluate, i, places, values[:, i])
    return np.minimum(np.unique(found), grid[-1])


def _turning(graph: BondGraph) -> Iterator[Block]:
    """Conditions of modes on the time alone, as of a joint that is released at 0.3 s: found as an
    event, such an instant is before or behind the row on it as the steps happen to end."""
    for mode in graph.modes:
        value = mode.condition
        chosen = value.data == "select" and value.args[0] is mode.state
        for one in value.args[1:] if chosen else (value,):
            if {b.data for b in dependencies([one]) if b.op == "leaf"} == {graph.time.data}:
                yield one


def _zeros(evaluate: Evaluator, i: int, places: Array, values: Array) -> list[float]:
    """Where function `i` changes its sign.  Where it stays zero it has no kink of its own:
    what makes it stay has one."""
    from scipy.optimize import brentq

    def value(t: float) -> float:
        return float(evaluate(t, np.zeros(0))[i])

    at = np.flatnonzero(values)
    before, after = at[:-1], at[1:]
    with np.errstate(over="ignore"):  # signs are what counts
        turns = (values[before] * values[after] < 0.0) & (after <= before + 2)
    found = []
    # others stay on one side, or have no value there
    for a, b in zip(before[turns].tolist(), after[turns].tolist(), strict=True):
        if b == a + 2:
            found.append(float(places[a + 1]))
        else:
            ends = places[a], places[b]
            found.append(float(brentq(value, *ends, xtol=EXACT * ends[1], rtol=EXACT)))
    return found
