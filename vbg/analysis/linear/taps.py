"""Inputs at signals, and loops opened at them.

A tap stands between a signal and those who read it (`vbg.graph.expand`):

    read = computed                the machine itself
    read = computed + input        an additive input at the signal
    read = value + input           the loop opened there, `value` that of the operating point

The signal itself stays what its part computes, so that with the loop opened its response
to the input is the loop's transfer function L; closed, the machine's poles are where L = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType

import numpy as np

from vbg.analysis.probe.probe import available_inputs
from vbg.analysis.rest.operating import OperatingPoint
from vbg.assemble import assemble, assemble_start
from vbg.assemble.system import System
from vbg.blocks import const, dependencies, is_zero
from vbg.errors import ModelError, UsageError
from vbg.graph import expand
from vbg.graph.bondgraph import BondGraph, Vertex
from vbg.graph.placeholders import indexed, reading
from vbg.plumbing.components import component_names, vector_of


def wired(system: System, point: OperatingPoint, inputs: Sequence[str], loop: str | None) -> System:
    """The same machine with taps at those `inputs` that are no sources, and opened at `loop`.

    Raises UsageError for signals that are not there, that nothing reads, or whose readers
    need their rate.
    """
    sources = {indexed(i.name) for i in available_inputs(system)}
    sources |= {vector_of(name) for name in sources}
    names = [name for name in inputs if indexed(name) not in sources]
    if loop is not None:
        names.append(loop)
    found = tapped(system, tuple(dict.fromkeys(names)))
    return found if loop is None else opened(found, loop, value_at(system, point, loop))


def tapped(system: System, names: Sequence[str]) -> System:
    """The same machine with a tap at each of the signals `names`."""
    missing = [name for name in names if not has_tap(system.causal.graph, name)]
    if not missing:
        return system
    for name in missing:
        _require_signal(system, name)
    head = reading("")
    before = (
        name.removeprefix(head) for name in system.causal.graph.signals if name.startswith(head)
    )
    try:
        graph = expand(system.model, (*before, *missing))
    except ModelError as error:
        told = " ".join(problem.what for problem in error.problems)
        raise UsageError(f"{', '.join(missing)} can be no input: {told}") from None
    for name in missing:
        if not has_tap(graph, name):
            raise UsageError(f"nothing reads {name}: an input there would change nothing.")
    kept = MappingProxyType({**graph.vertices, **_switched_off(system, graph)})
    return assemble(replace(graph, vertices=kept))


def has_tap(graph: BondGraph, name: str) -> bool:
    return reading(indexed(name)) in graph.signals


def _require_signal(system: System, name: str) -> None:
    known = _scalars(system)
    if indexed(name) in map(indexed, known):
        return
    near = get_close_matches(name, known, n=1)
    signals = ", ".join(system.model.signals) or "none"
    sources = ", ".join(i.name for i in available_inputs(system)) or "none"
    raise UsageError(
        f"there is no input {name!r}{f'; did you mean {near[0]!r}?' if near else '.'} Inputs are "
        f"the sources of the model ({sources}), its signals ({signals}) and every quantity "
        "that a part reads."
    )


def _scalars(system: System) -> list[str]:
    """Names of all signals and outputs, vectors by component."""
    names: list[str] = []
    for name, value in system.equations.outputs.items():
        names += component_names(name, value.rows)
    return names


def _switched_off(system: System, graph: BondGraph) -> dict[str, Vertex]:
    """Sources of `graph` that follow time alone and are zero in `system`
    (`vbg.analysis.rest.idle`), with only what inputs add to them."""
    vertices = system.causal.graph.vertices.values()
    silent = [v.name for v in vertices if v.law is not None and is_zero(v.law)]
    alone = expand(system.model).vertices if silent else {}
    found = {}
    for name in silent:
        law, original = (of[name].law if name in of else None for of in (graph.vertices, alone))
        if law is not None and original is not None:
            found[name] = replace(graph.vertices[name], law=law - original)
    return found


def opened(system: System, name: str, value: float) -> System:
    """A tapped machine with the loop opened at the signal: its readers get `value`."""
    graph = system.causal.graph
    wires = {**graph.signals, reading(indexed(name)): const(value)}
    cut = replace(graph, signals=MappingProxyType(wires))
    return assemble(replace(system.causal, graph=cut))


def value_at(system: System, point: OperatingPoint, name: str) -> float:
    """What the signal `name` is at a point."""
    base, _, place = indexed(name).partition("[")
    values = np.ravel(assemble_start(system).outputs(point.t, point.x)[base])
    return float(values[int(place.rstrip("]") or 0)])


def sampled_states(system: System) -> list[tuple[str, slice, float]]:
    """Name, place in x and period [s] of what samples something that may deviate."""
    graph, found = system.causal.graph, []
    places = {s.state.name: slice(s.first, s.last) for s in system.slices}
    for one in graph.sampled:
        leaves = [b for b in dependencies([one.update]) if b.op == "leaf"]
        if any(b != graph.time for b in leaves):
            found.append((one.name.rpartition(".")[0], places[one.name], one.clock.period))
    return found
