"""Minimal equations to be read: what closes, what moves, what the joints carry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from vbg.analysis.symbolic.loops.equations import MinimalEquations
from vbg.analysis.symbolic.rewriting.common import common_parts
from vbg.analysis.symbolic.rewriting.counting import Operations
from vbg.analysis.symbolic.rewriting.sharing import written_once
from vbg.plumbing.components import component_names
from vbg.plumbing.paused_collection import paused_collection

READABLE = 400  # operations up to which nothing is abbreviated


@paused_collection()
def as_text(e: MinimalEquations, *, forces: bool) -> str:
    """One equation a line, a prime for the derivative by time; `forces`: those of the joints."""
    written = written_once()
    blocks = [list(_coordinates(e, written))]
    blocks[0] += [f"# {remark}" for remark in e.remarks(forces=forces)]
    left = [f"0 = {written(c)}" for c in e.closures]
    if left:
        blocks.append(["# dependent coordinates", *left])
    parts, lines = _motion(e, written)
    if parts:
        blocks.append(["# common parts", *parts])
    blocks.append(["# motion", *lines])
    if forces:
        blocks.append(["# what the joints carry, on their second bodies, world axes"])
        for name, three in e.outputs.items():
            own = component_names(name, len(three))
            blocks.append([f"{one} = {written(c)}" for one, c in zip(own, three, strict=True)])
    if e.parameters:
        blocks.append([", ".join(f"{s} = {v:.7g}" for s, v in e.parameters.items())])
    text = "\n\n".join("\n".join(block) for block in blocks)
    return re.sub(r"\bd_([\w.\-]+(?:\[\d+\])?)", r"\1'", text)


def _coordinates(e: MinimalEquations, written: Callable[[Any], str]) -> Iterator[str]:
    for i, (q, u) in enumerate(zip(e.q, e.u, strict=True)):
        yield f"{q}' = {u}" + ("" if i in e.independent else "    # dependent")
    for state, rate in zip(e.states, e.state_rates, strict=True):
        yield f"{state}' = {written(rate)}"


def _motion(e: MinimalEquations, written: Callable[[Any], str]) -> tuple[list[str], list[str]]:
    """M q'' = h + J^T efforts, row by row, and the common parts where it would be long."""
    import sympy

    n = len(e.q)
    efforts = sympy.Matrix(e.efforts) if e.efforts else sympy.zeros(0, 1)
    every = [*e.mass, *e.loads, *e.jacobian]
    parts: Any = []
    if sum(map(Operations(), every)) > READABLE:
        parts, every = common_parts(every, sympy.numbered_symbols("z"))
    mass = sympy.Matrix(n, n, every[: n * n])
    loads = every[n * n : n * n + n]
    J = sympy.Matrix(len(e.closures), n, every[n * n + n :])
    left = mass * sympy.Matrix(e.accelerations)
    pulled = J.T * efforts if e.efforts else sympy.zeros(n, 1)
    lines = [f"{written(left[i])} = {written(loads[i] + pulled[i])}" for i in range(n)]
    return [f"{s} = {written(value)}" for s, value in parts], lines
