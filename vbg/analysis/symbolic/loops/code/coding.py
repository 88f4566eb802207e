"""What code in every language is made of: names, and functions as lists of assignments."""

from __future__ import annotations

import keyword
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vbg.analysis.symbolic.loops.equations import MinimalEquations
from vbg.analysis.symbolic.rewriting.common import common_parts
from vbg.analysis.symbolic.rewriting.sharing import renamed
from vbg.analysis.symbolic.written import WORDS_OF_C, identifier
from vbg.errors import VbgError
from vbg.plumbing.components import component_names
from vbg.plumbing.paused_collection import paused_collection

# names of the code around the equations, without regard to capitals, which Fortran does not tell
OWN = (
    "t y q u x a e f dy phi jac driven bias mass loads rates closures motion outputs rate close "
    "solve main run n m k i j s p np linalg array zeros start free bound given step steps argv "
    "argc nf ny no dp maxval d one right row machine exchange g "
    "b w z r c0 nb nx factors solved efforts fits others names choose wish taken changed "
    "column sizes most square "
    "intermediate result real integer program module end do if then call double"
)
TAKEN = frozenset(
    word.lower() for word in (*keyword.kwlist, *dir(math), *OWN.split(), *WORDS_OF_C.split())
)


Value = tuple[str, tuple[int, ...], Any]  # array, indices, expression


@dataclass(frozen=True, eq=False)
class Function:
    """`parts`: common expressions, named, in order; `values`: (array, indices, expression)."""

    parts: tuple[tuple[Any, Any], ...]
    values: tuple[tuple[str, tuple[int, ...], Any], ...]

    @cached_property
    def symbols(self) -> set[Any]:
        """Symbols that are read."""
        every = [e for _, e in self.parts] + [e for _, _, e in self.values]
        return set().union(*(e.free_symbols for e in every)) if every else set()


@dataclass(frozen=True, eq=False)
class Code:
    """The three functions of a machine with their symbols renamed; `names` what they were.

    closures: Phi and J from (t, q);  motion: driven, bias, M, h and rates from (t, q, u, x);
    outputs: joint forces from (t, q, u, x, a, e).
    """

    equations: MinimalEquations
    names: Mapping[Any, Any]
    closures: Function
    motion: Function
    outputs: Function

    def arguments(self, function: Function) -> list[tuple[str, int, Any]]:
        """(array, place, symbol) of what a function reads."""
        e = self.equations
        arrays = {"q": e.q, "u": e.u, "x": e.states, "a": e.accelerations, "e": e.efforts}
        return [
            (array, i, self.names[s])
            for array, symbols in arrays.items()
            for i, s in enumerate(symbols)
            if self.names[s] in function.symbols
        ]

    def parameters(self, function: Function) -> list[tuple[Any, float]]:
        """Parameters that a function reads, with their values."""
        given = self.equations.parameters.items()
        return [(self.names[s], v) for s, v in given if self.names[s] in function.symbols]


@paused_collection()
def code_of(e: MinimalEquations) -> Code:
    """The functions of the equations, common parts named z0, z1, ...

    Raises VbgError for machines with stops, switches or friction: a program does not look for
    the instants at which they change.
    """
    names = _names(e)
    _require_no_modes(e, names)
    n, m = len(e.q), len(e.closures)
    closures: list[Value] = [("phi", (i,), c) for i, c in enumerate(e.closures)]
    closures += [("jac", (i, j), e.jacobian[i, j]) for i in range(m) for j in range(n)]
    motion: list[Value] = [("driven", (i,), c) for i, c in enumerate(e.driven)]
    motion += [("bias", (i,), c) for i, c in enumerate(e.bias)]
    motion += [("mass", (i, j), e.mass[i, j]) for i in range(n) for j in range(n)]
    motion += [("loads", (i,), c) for i, c in enumerate(e.loads)]
    motion += [("rates", (i,), c) for i, c in enumerate(e.state_rates)]
    return Code(e, names, _function(closures, names), _function(motion, names), _outputs(e, names))


def _require_no_modes(e: MinimalEquations, names: Mapping[Any, Any]) -> None:
    import sympy

    found = [*e.closures, *e.jacobian, *e.driven, *e.bias, *e.mass, *e.loads, *e.state_rates]
    found += [c for three in e.outputs.values() for c in three]
    read = set().union(*(c.free_symbols for c in found)) if found else set()
    modes = read - names.keys() - {sympy.Symbol("t", real=True)}
    if modes:
        raise VbgError(
            f"{e.name} has no program of its own: {', '.join(sorted(map(str, modes)))} "
            "(1 or 0) would change at instants that it does not look for. vbg export --c does; a "
            "stop with k = 0 is none."
        )


def _outputs(e: MinimalEquations, names: Mapping[Any, Any]) -> Function:
    """Joint forces, of which later ones are written by earlier ones: parts in the order in which
    they need each other."""
    import sympy

    every = [c for three in e.outputs.values() for c in three]
    own = [names[sympy.Symbol(name, real=True)] for name in output_names(e)]
    made = _function([("f", (i,), c) for i, c in enumerate(every)], names)
    named = [(s, value) for s, (_, _, value) in zip(own, made.values, strict=True)]
    waiting = {symbol: (value, value.free_symbols) for symbol, value in [*made.parts, *named]}
    ordered: list[tuple[Any, Any]] = []
    waiting = {s: entry for s, entry in waiting.items() if entry[0] != s}  # a drive is given
    while waiting:
        ready = [s for s, (_, read) in waiting.items() if not read & waiting.keys()]
        ordered += [(s, waiting.pop(s)[0]) for s in ready]
    return Function(tuple(ordered), tuple(("f", (i,), s) for i, s in enumerate(own)))


def _function(
    values: Sequence[tuple[str, tuple[int, ...], Any]], names: Mapping[Any, Any]
) -> Function:
    import sympy

    short = sympy.numbered_symbols("z", real=True)
    done: dict[Any, Any] = {}
    own = [renamed(value, names, done) for _, _, value in values]
    parts, rest = common_parts(own, short)
    kept = [(a, i, e) for (a, i, _), e in zip(values, rest, strict=True)]
    return Function(tuple(parts), tuple(kept))


def _names(e: MinimalEquations) -> dict[Any, Any]:
    """Every symbol by a name that Python, C and Fortran take, each once without capitals."""
    import sympy

    found = [*e.q, *e.u, *e.states, *e.accelerations, *e.efforts, *e.parameters]
    found += [
        one for name in output_names(e) if (one := sympy.Symbol(name, real=True)) not in found
    ]
    names, taken = {}, set(TAKEN)
    for symbol in found:
        name = identifier(str(symbol))[:50]
        while name.lower() in taken or (name[0] == "z" and name[1:].isdigit()):
            name += "_"
        taken.add(name.lower())
        names[symbol] = sympy.Symbol(name, real=True)
    return names


def output_names(e: MinimalEquations) -> list[str]:
    """The scalars of the outputs: A.force.x, A.force.y, ..., A.drive."""
    return [one for name, three in e.outputs.items() for one in component_names(name, len(three))]


def motion_names(e: MinimalEquations) -> dict[str, list[str]]:
    """All coordinates q, their rates u, other states x."""
    return {name: [*map(str, own)] for name, own in (("q", e.q), ("u", e.u), ("x", e.states))}


def start_of(e: MinimalEquations) -> tuple[list[float], list[float]]:
    """y = (independent q, their u, other states) and all q at the start."""
    y = [e.start[e.q[i]] for i in e.independent] + [e.start[e.u[i]] for i in e.independent]
    return y + [e.start[s] for s in e.states], [e.start[q] for q in e.q]
