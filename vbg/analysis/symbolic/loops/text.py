"""Minimal equations to be read: what closes, what moves, what the joints carry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vbg.analysis.symbolic.loops.equations import MinimalEquations
from vbg.analysis.symbolic.rewriting.common import common_parts
from vbg.analysis.symbolic.rewriting.counting import Operations
from vbg.analysis.symbolic.rewriting.sharing import written_once
from vbg.analysis.symbolic.spelling import latex_symbols, latex_writer, shortened, upright
from vbg.plumbing.components import component_names
from vbg.plumbing.paused_collection import paused_collection

PARTS = "common parts"
READABLE = 400  # operations up to which nothing is abbreviated


@dataclass(frozen=True, eq=False)
class _Equation:
    """left = right, or left' = right where it is a `rate`; `note`: what is to be said of it."""

    left: Any
    right: Any
    rate: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class _Section:
    """Equations under a `title`."""

    title: str
    equations: tuple[_Equation, ...]


@paused_collection()
def as_text(e: MinimalEquations, *, forces: bool) -> str:
    """One equation a line, a prime for the derivative by time; `forces`: those of the joints."""
    printed = written_once()

    def written(expression: Any) -> str:
        return printed(shortened(expression, fractions=False))

    blocks: list[list[str]] = []
    for section in _sections(e, forces=forces):
        blocks.append([f"# {section.title}"] if section.title else [])
        for one in section.equations:
            prime, note = "'" if one.rate else "", f"    # {one.note}" if one.note else ""
            blocks[-1].append(f"{written(one.left)}{prime} = {written(one.right)}{note}")
    blocks[0] += [f"# {remark}" for remark in e.remarks(forces=forces)]
    if e.parameters:
        blocks.append([", ".join(f"{s} = {v:.7g}" for s, v in e.parameters.items())])
    text = "\n\n".join("\n".join(block) for block in blocks)
    return re.sub(r"\bd_([\w.\-]+(?:\[\d+\])?)", r"\1'", text)


@paused_collection()
def as_latex(e: MinimalEquations, *, forces: bool) -> str:
    """The same as align environments, one for each section; values and remarks as comments."""
    sections = _sections(e, forces=forces)
    parts = [
        one.left for section in sections if section.title == PARTS for one in section.equations
    ]
    rates = {a: rf"\dot{{{upright(str(u))}}}" for a, u in zip(e.accelerations, e.u, strict=True)}
    latex = latex_writer({**latex_symbols([*e.parameters, *parts]), **rates})

    def written(expression: Any) -> str:
        return latex(shortened(expression, fractions=False))

    blocks = []
    for section in sections:
        lines = []
        for one in section.equations:
            left = rf"\frac{{d}}{{dt}} {written(one.left)}" if one.rate else written(one.left)
            note = rf" && \text{{{one.note}}}" if one.note else ""
            lines.append(f"  {left} &= {written(one.right)}{note}")
        head = [f"% {section.title}"] if section.title else []
        body = " \\\\\n".join(lines)
        blocks.append("\n".join([*head, "\\begin{align}", body, "\\end{align}"]))
    values = ", ".join(f"{s} = {v:.7g}" for s, v in e.parameters.items())
    told = [f"% {one}" for one in (values, *e.remarks(forces=forces)) if one]
    return "\n".join([*blocks, *told])


def _sections(e: MinimalEquations, *, forces: bool) -> list[_Section]:
    import sympy

    found = [_Section("", tuple(_coordinates(e)))]
    if e.closures:
        zero = sympy.Integer(0)
        closing = tuple(_Equation(zero, closure) for closure in e.closures)
        found.append(_Section("dependent coordinates", closing))
    parts, moving = _motion(e)
    if parts:
        found.append(_Section(PARTS, tuple(parts)))
    found.append(_Section("motion", tuple(moving)))
    if forces:
        carried = tuple(
            _Equation(sympy.Symbol(one, real=True), value)
            for name, three in e.outputs.items()
            for one, value in zip(component_names(name, len(three)), three, strict=True)
        )
        found.append(_Section("what the joints carry, on their second bodies, world axes", carried))
    return found


def _coordinates(e: MinimalEquations) -> Iterator[_Equation]:
    for i, (q, u) in enumerate(zip(e.q, e.u, strict=True)):
        yield _Equation(q, u, rate=True, note="" if i in e.independent else "dependent")
    for state, rate in zip(e.states, e.state_rates, strict=True):
        yield _Equation(state, rate, rate=True)


def _motion(e: MinimalEquations) -> tuple[list[_Equation], list[_Equation]]:
    """The common parts where it would be long, and M q'' = h + J^T efforts, row by row."""
    import sympy

    n = len(e.q)
    efforts = sympy.Matrix(e.efforts) if e.efforts else sympy.zeros(0, 1)
    every = [*e.mass, *e.loads, *e.jacobian]
    parts: Any = []
    if sum(map(Operations(), every)) > READABLE:
        taken = {str(symbol) for symbol in e.parameters}
        names = (z for z in sympy.numbered_symbols("z") if z.name not in taken)
        parts, every = common_parts(every, names)
    mass = sympy.Matrix(n, n, every[: n * n])
    loads = every[n * n : n * n + n]
    J = sympy.Matrix(len(e.closures), n, every[n * n + n :])
    left = mass * sympy.Matrix(e.accelerations)
    pulled = J.T * efforts if e.efforts else sympy.zeros(n, 1)
    moving = [_Equation(left[i], loads[i] + pulled[i]) for i in range(n)]
    return [_Equation(s, value) for s, value in parts], moving
