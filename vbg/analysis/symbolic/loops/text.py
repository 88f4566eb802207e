"""Minimal equations to be read: what closes, what moves, what the joints carry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache
from typing import Any

from vbg.analysis.symbolic.loops.equations import MinimalEquations
from vbg.analysis.symbolic.loops.reduced import Reduced, reduced
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
    """left = right, or left' = right where it is a `rate`; `note`: what is to be said of it;
    `part`: whether it is a common part of others."""

    left: Any
    right: Any
    rate: bool = False
    note: str = ""
    part: bool = False


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
        blocks.append([", ".join(f"{s} = {v:.12g}" for s, v in e.parameters.items())])
    text = "\n\n".join("\n".join(block) for block in blocks)
    return re.sub(r"\bd_([\w.\-]+(?:\[\d+\])?)", r"\1'", text)


@paused_collection()
def as_latex(e: MinimalEquations, *, forces: bool) -> str:
    """The same as align environments, one for each section; values and remarks as comments."""
    sections = _sections(e, forces=forces)
    parts = [one.left for section in sections for one in section.equations if one.part]
    rates = {a: rf"\dot{{{upright(str(u))}}}" for a, u in zip(e.accelerations, e.u, strict=True)}
    latex = latex_writer({**latex_symbols([*e.parameters, *parts]), **rates, **_subscripts(e)})

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
    values = ", ".join(f"{s} = {v:.12g}" for s, v in e.parameters.items())
    told = [f"% {one}" for one in (values, *e.remarks(forces=forces)) if one]
    return "\n".join([*blocks, *told])


def _sections(e: MinimalEquations, *, forces: bool) -> list[_Section]:
    import sympy

    found = [_Section("", tuple(_coordinates(e)))]
    if e.closures:
        zero = sympy.Integer(0)
        closing = tuple(_Equation(zero, closure) for closure in e.closures)
        found.append(_Section("dependent coordinates", closing))
    less = _reduced(e)
    found += _multiplied(e) if less is None else _independent(less, e, forces=forces)
    if forces:
        carried = tuple(
            _Equation(symbol, value)
            for name, three in e.outputs.items()
            for one, value in zip(component_names(name, len(three)), three, strict=True)
            if (symbol := sympy.Symbol(one, real=True)) != value  # a drive is among the efforts
        )
        found.append(_Section("what the joints carry, on their second bodies, world axes", carried))
    return [section for section in found if section.equations]


@cache
def _reduced(e: MinimalEquations) -> Reduced | None:
    return reduced(e) if e.closures else None


def _subscripts(e: MinimalEquations) -> dict[Any, str]:
    """dz/dy as z_{,y}, v and g with the coordinate below."""
    less = _reduced(e)
    if less is None:
        return {}
    name = {q: upright(str(q)) for q in e.q}
    partial = {s: f"{name[z]}_{{,{name[y]}}}" for s, (z, y) in less.partial.items()}
    return partial | {s: f"{str(s)[0]}_{{{name[z]}}}" for s, z in less.of_rests.items()}


def _coordinates(e: MinimalEquations) -> Iterator[_Equation]:
    for i, (q, u) in enumerate(zip(e.q, e.u, strict=True)):
        yield _Equation(q, u, rate=True, note="" if i in e.independent else "dependent")
    for state, rate in zip(e.states, e.state_rates, strict=True):
        yield _Equation(state, rate, rate=True)


def _multiplied(e: MinimalEquations) -> Iterator[_Section]:
    """M q'' = h + J^T efforts, row by row: trees, and loops whose closures are redundant."""
    import sympy

    n = len(e.q)
    efforts = sympy.Matrix(e.efforts) if e.efforts else sympy.zeros(0, 1)
    parts, every = _parted(e, [*e.mass, *e.loads, *e.jacobian])
    mass = sympy.Matrix(n, n, every[: n * n])
    loads = every[n * n : n * n + n]
    J = sympy.Matrix(len(e.closures), n, every[n * n + n :])
    left = mass * sympy.Matrix(e.accelerations)
    pulled = J.T * efforts if e.efforts else sympy.zeros(n, 1)
    yield _Section(PARTS, parts)
    title = "motion, with the efforts that close the loops" if e.closures else "motion"
    yield _Section(title, tuple(_Equation(left[i], loads[i] + pulled[i]) for i in range(n)))


def _independent(less: Reduced, e: MinimalEquations, *, forces: bool) -> Iterator[_Section]:
    """B^T M B y'' = B^T (h - M g), and what it reads of the dependent coordinates."""
    groups = {
        "dependent by independent coordinates": less.slopes,
        "dependent speeds": less.speeds,
        "dependent accelerations while the independent speeds stay": less.rests,
        "motion": less.motion,
    }
    if forces:
        groups |= {"dependent accelerations": less.accelerations}
        groups |= {"what closes the loops": less.efforts}
    flat = [side for relations in groups.values() for both in relations for side in both]
    parts, every = _parted(e, flat)
    speeds = {left for left, _ in less.speeds}
    given = {*less.partial, *less.of_rests, *speeds, *e.accelerations, *e.efforts}
    first: list[_Equation] = []
    later: dict[Any, _Equation] = {}
    for one in parts:  # in the order in which they need each other
        if one.right.free_symbols & (given | later.keys()):
            later[one.left] = one
        else:
            first.append(one)
    yield _Section(PARTS, tuple(first))
    sides = iter(every)
    for title, relations in groups.items():
        lines: list[_Equation] = []
        for _ in relations:
            told = _Equation(next(sides), next(sides))
            lines += [*_taken(later, told.left.free_symbols | told.right.free_symbols), told]
        yield _Section(title, tuple(lines))


def _taken(later: dict[Any, _Equation], read: Set[Any]) -> list[_Equation]:
    """The parts that are read, and those that they read, out of `later`."""
    found: list[_Equation] = []
    for symbol in [s for s in later if s in read]:
        one = later.pop(symbol, None)
        if one is not None:
            found += [*_taken(later, one.right.free_symbols), one]
    return found


def _parted(e: MinimalEquations, every: list[Any]) -> tuple[tuple[_Equation, ...], list[Any]]:
    """The common parts where it would be long."""
    import sympy

    if sum(map(Operations(), every)) <= READABLE:
        return (), every
    taken = {str(symbol) for symbol in e.parameters}
    names = (z for z in sympy.numbered_symbols("z") if z.name not in taken)
    parts, rest = common_parts(every, names)
    return tuple(_Equation(s, value, part=True) for s, value in parts), rest
