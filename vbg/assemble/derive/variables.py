"""Elimination of what stands between states and rates: outputs of resistors, modulated
sources, signals, and the variables in which the junction structure closes on itself.

Each is a leaf with a definition in terms of others.  Taken in the order of their
dependence they are replaced one after the other; the strongly connected ones are the
algebraic loops.  A loop is torn at as few variables as a search finds, the rest is
written in terms of those, and

    y = A y + b          gives  y = (1 - A)^-1 b      (P and A1 of the paper)
    G(y, x, t) = 0       Newton in the virtual machine, with the exact dG/dy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

import numpy as np

from vbg.assemble.derive.junction_structure import GIVEN, READ, JunctionStructure
from vbg.blocks import (
    Block,
    Coefficients,
    Implicit,
    NotLinear,
    Substitution,
    Tangent,
    dependencies,
    implicit,
    leaf,
    linear_solve,
    rows,
    stack,
    zeros,
)
from vbg.causality.components import acyclic_order, feedback_set, strong_components
from vbg.errors import AssemblyError, Problem
from vbg.graph.placeholders import OUTPUT, SIGNAL


@dataclass(frozen=True, slots=True)
class SolvedLoop:
    """An algebraic loop: its variables, those it was torn at, and how it is solved."""

    variables: tuple[str, ...]
    torn: tuple[str, ...]
    order: int
    linear: bool


@dataclass(slots=True)
class Variables:
    """The definitions of one derivation and the substitution that eliminates them.

    `kept` leaves are not replaced (the co-energies, where rows on them are wanted).
    """

    structure: JunctionStructure
    kept: frozenset[Block] = frozenset()
    values: dict[Block, Block] = field(default_factory=dict)
    loops: list[SolvedLoop] = field(default_factory=list)
    _settled: int = 0  # the first so many definitions have values
    _laws: Substitution = field(default_factory=lambda: Substitution({}))

    def __call__(self, block: Block) -> Block:
        """`block`, resolved, in states, time and constraint efforts only."""
        return self.each([block])[0]

    def each(self, blocks: Sequence[Block]) -> Sequence[Block]:
        """The same for many blocks in one pass."""
        order = dependencies(blocks, self._laws.met)
        leaves = [node for node in order if node.op == "leaf"]
        resolved = self.structure.resolve_each(leaves)
        self._settle()
        for node, value in zip(leaves, self._laws.each(resolved), strict=True):
            if value is not node:
                self._laws.define(node, value)
        return self._laws.along(order, blocks)

    def _settle(self) -> None:
        """Values for the definitions that came since the last time."""
        self.structure.complete()
        definitions = self.structure.definitions
        fresh = [v for v in islice(definitions, self._settled, None) if v not in self.kept]
        self._settled = len(definitions)
        uses: dict[Block, set[Block]] = {}
        for variable in fresh:
            read = variables_in(definitions[variable], definitions)
            if read:
                uses[variable] = read
            else:
                self._define(variable, definitions[variable])
        for component in strong_components(uses):
            first = component[0]
            if len(component) == 1 and first not in uses[first]:
                self._define(first, self._laws(definitions[first]))
            else:
                self._solve(component, uses)

    def _define(self, variable: Block, value: Block) -> None:
        self.values[variable] = value
        self._laws.define(variable, value)

    def _solve(self, component: Sequence[Block], uses: Mapping[Block, set[Block]]) -> None:
        """Values of the variables of one loop."""
        definitions = self.structure.definitions
        inside = {v: uses[v] & set(component) for v in component}
        given = self._resistances(inside)
        torn, rest, equations = self._torn(inside, given)
        if given and not _are_linear(torn, equations):  # Newton's method does with the fewest
            torn, rest, equations = self._torn(inside, [])
        solution, is_linear = solution_of(torn, equations, self._where(component))
        for variable, value in zip(torn, solution, strict=True):
            self._define(variable, value)
        for variable in rest:
            self._define(variable, self._laws(definitions[variable]))
        self.loops.append(
            SolvedLoop(
                tuple(v.data for v in component),
                tuple(v.data for v in torn),
                sum(v.rows for v in torn),
                is_linear,
            )
        )

    def _resistances(self, inside: Mapping[Block, set[Block]]) -> list[Block]:
        """Of a loop in which modes choose resistances all that resistors give: of v = R (i - j)
        with i = j but for a leak, R = 1e14 ohm makes volts of what rounding leaves; as an unknown
        beside j, v is as exact as the numbers of the equations."""
        definitions = self.structure.definitions
        modes = {mode.state for mode in self.structure.causal.graph.modes}
        if not any(_chooses(definitions[v], modes) for v in inside):
            return []
        return [v for v in inside if v.data.startswith(GIVEN)]

    def _torn(
        self, inside: Mapping[Block, set[Block]], given: Sequence[Block]
    ) -> tuple[list[Block], list[Block], list[Block]]:
        """Unknowns of a loop, `given` and as few others as can be, its other variables in the order
        in which they follow, and the equations of the unknowns."""
        definitions, local = self.structure.definitions, Substitution(self.values)
        others = {v: inside[v] - set(given) for v in inside if v not in given}
        torn = [*given, *feedback_set(others)]
        rest = acyclic_order({v: inside[v] - set(torn) for v in inside if v not in torn})
        for variable in rest:
            local.define(variable, local(definitions[variable]))
        return torn, list(rest), [v - local(definitions[v]) for v in torn]

    def _where(self, component: Sequence[Block]) -> str:
        """The part to name in messages on a loop."""
        vertices = self.structure.causal.graph.vertices
        for variable in component:
            # effort of R, flow around R -> J
            ends = re.split(" of | around ", variable.data, maxsplit=1)[-1]
            for name in ends.split(" -> "):
                if name in vertices and vertices[name].part:
                    return vertices[name].part
                if variable.data.startswith((SIGNAL, OUTPUT, f"{READ} around ")):
                    return name.partition(".")[0]
        return str(component[0].data)


def _chooses(definition: Block, modes: set[Block]) -> bool:
    """Whether one of the modes chooses coefficients of it."""
    return any(
        node.op == "call" and node.data == "select" and node.args[0] in modes
        for node in dependencies([definition])
    )


def _are_linear(unknowns: Sequence[Block], equations: Sequence[Block]) -> bool:
    try:
        Coefficients(list(unknowns))(stack(*equations))
    except NotLinear:
        return False
    return True


def variables_in(block: Block, known: Mapping[Block, object]) -> set[Block]:
    """The leaves of `block` that are in `known`."""
    return {node for node in dependencies([block]) if node.op == "leaf" and node in known}


def solution_of(
    unknowns: Sequence[Block], equations: Sequence[Block], where: str
) -> tuple[list[Block], bool]:
    """The unknowns that make all equations vanish, and whether they enter linearly.

    Raises AssemblyError where the equations are linear with a constant singular matrix.
    """
    size = sum(u.rows for u in unknowns)
    y = leaf("unknown", size)
    first = np.concatenate([[0], np.cumsum([u.rows for u in unknowns])]).astype(int).tolist()
    spans = list(pairwise(first))
    parts = {u: rows(y, a, b) for u, (a, b) in zip(unknowns, spans, strict=True)}
    residual = Substitution(parts)(stack(*equations))
    try:
        slope, is_linear = Coefficients([y])(residual).get(y, zeros(size, size)), True
    except NotLinear:
        direction = leaf("direction of unknown", size)
        slope = Coefficients([direction])(Tangent({y: direction})(residual))[direction]
        is_linear = False
    if is_linear:
        if slope.is_const and not _regular(slope.data):
            raise AssemblyError.of([_without_solution(unknowns, where)])
        known = Substitution({y: zeros(size)})(residual)
        solution = linear_solve(slope, -known)
    else:
        solution = _newton(y, residual, slope)
    return [rows(solution, a, b) for a, b in spans], is_linear


def _regular(matrix: np.ndarray) -> bool:
    values = np.linalg.svd(matrix / np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300))
    return bool(values[1][-1] > 1e-13 * values[1][0])


def _newton(y: Block, residual: Block, slope: Block) -> Block:
    """The implicit block; what does not depend on y becomes its arguments."""
    order = dependencies([residual, slope])
    moving = {y}
    for node in order:
        if any(arg in moving for arg in node.args):
            moving.add(node)
    outside = {
        arg: None for node in order if node in moving for arg in node.args if arg not in moving
    }
    arguments = tuple(arg for arg in outside if not arg.is_const)
    inputs = tuple(leaf(f"argument {i}", a.rows, a.cols) for i, a in enumerate(arguments))
    inner = Substitution(dict(zip(arguments, inputs, strict=True)))
    return implicit(Implicit(y, inputs, inner(residual), inner(slope)), arguments)


def _bare(names: str) -> str:
    return names.replace(SIGNAL, "").replace(OUTPUT, "")


def _without_solution(unknowns: Iterable[Block], where: str) -> Problem:
    names = ", ".join(str(u.data) for u in unknowns)
    if all(u.data.startswith((SIGNAL, OUTPUT)) for u in unknowns):
        return Problem(
            "error",
            where,
            f"signals that read one another have no unique value: {_bare(names)}.",
            "Each follows from the others at the same instant, and no value or every one fulfils "
            "that. Put what keeps the past into the loop (transfer_function, sample_and_hold), or "
            "let one of them read something else.",
        )
    return Problem(
        "error",
        where,
        f"an algebraic loop of ideal parts has no unique solution: {names}.",
        "Every quantity of the loop follows from the others and nothing fixes one of them, or "
        "two ratios contradict each other. Put a resistance or a store (a capacitor, an inertia, "
        "a spring) into it, or remove one of the ideal parts.",
    )
