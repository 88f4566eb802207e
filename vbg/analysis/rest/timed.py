"""What of a machine follows the time: laws that do not stay as they are from an instant on.

A rest, or a steady motion, is one for good only where no law of the machine changes by the time
alone.  A function f of the time alone stays from t on where its bounds over [t, oo) are one value
(`vbg.simulate.instants.bounds`); where they are not known to be, it counts as one that changes.

A speed v(t) that is prescribed and changes leaves neither: with v != 0 the posture goes on, with
v' != 0 inertia is accelerated behind it.  With v = v' = 0 at t, as before a drive sets out, there
is a rest, as there is beside a force that changes: one as long as these stay as they are at t.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks import Block, call, dependencies
from vbg.blocks.calculus import time_derivative
from vbg.blocks.rounding import terms_of
from vbg.graph.bondgraph import BondGraph, Vertex
from vbg.graph.placeholders import OUTPUT, SIGNAL
from vbg.plumbing.components import vector_of
from vbg.simulate.instants.bounds import bounds

Array = NDArray[np.float64]

SHOWN = 4  # names in a sentence
SAME = 1e-9  # of a function's size: what changes less stays
MOVING = ("mechanical", "rotation", "translation")
NOTHING = 1e-12  # of the terms of a speed: a smaller one is rounding


@dataclass(frozen=True, slots=True)
class Timed:
    """Names of the parts that change by the time alone from an instant on; `driving`: those of
    them whose prescribed speeds move or accelerate the machine there."""

    changing: tuple[str, ...] = ()
    driving: tuple[str, ...] = ()


def timed(probe: Probe, t: float, x: Array) -> Timed:
    """What follows the time from t on, and what of it drives the machine at (t, x)."""
    graph = probe.system.causal.graph
    parts = (part for part, functions in _functions(graph) if _changing(functions, t))
    changing = tuple(dict.fromkeys(map(_name, parts)))
    if not changing:
        return Timed()
    imposed = bool(np.any(probe.drift(t, x)[probe.spans["velocity"]] != 0.0))
    driving = []
    for vertex in graph.vertices.values():
        if vertex.kind != "Sf" or vertex.law is None:
            continue
        for speed in _changing(_of_time([vertex.law], graph.time), t):
            moves, accelerates = _moves(speed, graph.time, t)
            if (moves and _has_posture(vertex)) or (accelerates and imposed):
                driving.append(_name(vertex.part))
    return Timed(changing, tuple(dict.fromkeys(driving)))


def few(names: Sequence[str]) -> str:
    """The first names, for a sentence."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def as_long_as(changing: Sequence[str], t: float) -> str:
    """What a sentence says behind "rests here"; nothing where nothing changes."""
    stay = "stay as they are" if len(changing) > 1 else "stays as it is"
    return f" as long as {few(changing)} {stay} at t = {t:.6g} s" if changing else ""


def _name(part: str) -> str:
    return part.partition(".")[2] or part


def _has_posture(vertex: Vertex) -> bool:
    """Whether it moves something: the shaft of a pump without inertia has no place."""
    return vertex.domain in MOVING and not vertex.part.startswith("hydraulic.")


def _functions(graph: BondGraph) -> Iterator[tuple[str, list[Block]]]:
    """Parts with the scalar functions of the time alone in their laws, and signals that the laws
    read; of the places of drives their rates, which are laws, too."""
    outputs = {output.name: output.value for output in graph.outputs}
    time, read = graph.time, list[Block]()
    for part, laws in _laws(graph):
        read += laws
        yield part, _of_time(laws, time)
    for mode in graph.modes:
        signs = [call("positive", one) for one in _of_time(_sides(mode.condition), time)]
        read.append(mode.condition)
        yield _owner(mode.name), signs
    seen: set[str] = set()
    while read:
        leaves = {str(b.data) for b in dependencies(read) if b.op == "leaf"} - seen
        seen |= leaves
        read = []
        for one in sorted(leaves):
            name = one.removeprefix(SIGNAL).removeprefix(OUTPUT)
            value = graph.signals.get(name) if one.startswith(SIGNAL) else None
            if one.startswith(OUTPUT):
                value = outputs.get(name, outputs.get(vector_of(name)))
            if value is not None:
                read.append(value)
                yield f"signals.{name}", _of_time([value], time)


def _laws(graph: BondGraph) -> Iterator[tuple[str, list[Block]]]:
    for v in graph.vertices.values():
        laws = (v.law, v.effort_law, v.flow_law, v.inverse)
        yield v.part, [law for law in laws if law is not None]
    for c in graph.configurations:
        yield _owner(c.name), [c.rate]
    for state in graph.signal_states:
        yield _owner(state.name), [state.rate]
    for sampled in graph.sampled:
        yield _owner(sampled.name), [sampled.update]


def _owner(state: str) -> str:
    return f"states.{state.rpartition('.')[0] or state}"


def _sides(condition: Block) -> list[Block]:
    """The conditions that a mode has while it is 1 and while it is 0."""
    chosen = condition.op == "call" and condition.data == "select"
    return list(condition.args[1:]) if chosen else [condition]


def _of_time(roots: list[Block], time: Block) -> list[Block]:
    """The largest scalar parts of the expressions that are functions of the time alone; of a
    choice by the time which side it is."""
    alone: set[bytes] = set()
    found: list[Block] = []

    def scalars(block: Block) -> Iterator[Block]:
        if block.shape == (1, 1):
            yield block
            return
        for a in block.args:
            if a.key in alone:
                yield from scalars(a)

    for block in dependencies(roots):
        timed_args = [a for a in block.args if a.key in alone]
        if block == time or (timed_args and all(a.is_const or a in timed_args for a in block.args)):
            alone.add(block.key)
            continue
        for a in timed_args:
            decides = block.op == "call" and block.data == "select" and a == block.args[0]
            found += [call("positive", a)] if decides else scalars(a)
    for root in roots:
        if root.key in alone:
            found += scalars(root)
    return list(dict.fromkeys(found))


def _changing(functions: list[Block], t: float) -> list[Block]:
    """Those that are not known to stay as they are from t on."""
    found = bounds(functions, np.array([t]), np.array([np.inf]))
    return [f for f, (low, high) in zip(functions, found, strict=True) if not _stays(low, high)]


def _stays(low: Array, high: Array) -> bool:
    size = float(max(abs(low[0]), abs(high[0])))
    return bool(np.isfinite(size) and high[0] - low[0] <= SAME * size)


def _moves(speed: Block, time: Block, t: float) -> tuple[bool, bool]:
    """Whether the function of time and its rate differ from zero at t, beside their terms."""
    rate = time_derivative(speed, time)
    wanted = {"speed": speed, "rate": rate}
    wanted |= {f"terms of {name}": terms_of(value) for name, value in wanted.items()}
    evaluate = Evaluator(lower(wanted, {"t": time}))
    found = np.abs(evaluate.each(np.array([t]), np.empty((1, 0))))[0]
    moves = ~(found[:2] <= NOTHING * found[2:])  # what has no value moves, too
    return bool(moves[0]), bool(moves[1])
