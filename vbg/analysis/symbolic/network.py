"""Minimal form of networks without bodies: currents, speeds, pressures as states.

With the co-energy Z = F X of linear stores and constraints 0 = G Z between them (rotors on
one shaft), G constant:  Z = N z,  X = F^-1 N z,  and since constraint efforts enter as G^T U2,

    (N^T F^-1 N) z' = N^T f0(X, t)

Stores with a law that is not linear keep their state X and must be free of constraints.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.symbolic.equations import SymbolicEquations
from vbg.analysis.symbolic.named import Named, unnamed
from vbg.assemble.matrices.symbolic import SymbolicReader, symbols_of
from vbg.assemble.system import System

ALIKE = 1e-12  # relative difference of coefficients that counts as none


def why_not_linear(system: System) -> str:
    """Why the constraints between the stores cannot be eliminated once and for all."""
    if not system.equations.constraints:
        return ""
    _, reader, states = _read(system)
    residual = reader(system.equations.residual)
    if residual.jacobian(states).free_symbols or any(
        flow.subs(dict.fromkeys(states, 0)) != 0 for flow in residual
    ):
        return "its constraints change with time or state"
    return ""


def _read(system: System) -> tuple[dict[Any, Any], SymbolicReader, Any]:
    """Blocks known to be zero, a reader with them, and the column of all store states."""
    import sympy

    e = system.equations
    known: dict[Any, Any] = {c.unknown: sympy.zeros(c.unknown.rows, 1) for c in e.constraints}
    if e.constraints:
        known[e.efforts] = sympy.zeros(e.efforts.rows, 1)
    stores = [symbols_of(s.state.leaf) for s in system.slices if s.state.kind == "store"]
    return known, SymbolicReader(known), sympy.Matrix.vstack(*stores) if stores else sympy.Matrix()


def network_form(named: Named) -> SymbolicEquations:
    """The minimal form of a network, its states named after the signals they are."""
    import sympy

    system = named.base
    e = system.equations
    known, _, X = _read(system)
    reader = SymbolicReader({**named.constants, **known}, named.factors)
    slope, linear = _compliances(system, reader)
    numbers = np.flatnonzero(linear)
    G = np.zeros((0, len(numbers)))
    if e.constraints:
        flows = reader(e.residual).jacobian(X)
        rows = [[sympy.cancel(row[int(n)] / slope[n]) for n in numbers] for row in flows.tolist()]
        if named.parameters and any(g.free_symbols for row in rows for g in row):
            every = (*map(str, named.parameters), *named.numbered.formless)
            told = replace(named.numbered, formless=every)
            return replace(network_form(unnamed(named.system)), numbered=told)
        G = np.array(rows, dtype=float).reshape(-1, len(numbers))
    N, chosen = _independent(G)
    z = [_named(system, reader, X, numbers[i], slope[numbers[i]]) for i in chosen]
    values = dict(zip(X, X, strict=True))
    for row, number in enumerate(numbers):
        co_energy = sum((float(c) * s for c, s in zip(N[row], z, strict=True) if c), sympy.S(0))
        values[X[int(number)]] = co_energy / slope[number]
    rates: dict[Any, Any] = {}
    f0 = {}
    for s in system.slices:
        if s.state.kind in ("quadrature", "discrete"):
            continue
        for symbol, rate in zip(
            symbols_of(s.state.leaf), reader(e.rates[s.state.leaf]), strict=True
        ):
            f0[symbol] = rate.xreplace(values)
    right = [sum(N[row, i] * f0[X[int(n)]] for row, n in enumerate(numbers)) for i in range(len(z))]
    inverse = _inverse_mass(N, slope[numbers])
    for i, symbol in enumerate(z):
        total = sum((inverse[i, j] * right[j] for j in range(len(z))), sympy.S(0))
        rates[symbol] = sympy.expand(total)
    eliminated = {X[int(n)] for n in numbers}
    rates |= {symbol: sympy.expand(f0[symbol]) for symbol in f0 if symbol not in eliminated}
    return SymbolicEquations("minimal", reader.definitions, rates, (), ())


def _inverse_mass(N: NDArray[Any], slope: NDArray[Any]) -> Any:
    """(N^T F^-1 N)^-1, in numbers where all are numbers.

    Its rows have units of their own: M is inverted with diagonal entries of 1, and what is rounding
    is so beside sqrt(M_ii M_jj) of the inverse.
    """
    import sympy

    if any(one.free_symbols for one in slope):
        exact = sympy.Matrix(N.shape[0], N.shape[1], [sympy.nsimplify(v) for v in N.ravel()])
        return (exact.T * sympy.diag(*(1 / one for one in slope)) * exact).inv()
    mass = N.T @ np.diag(1.0 / slope.astype(float)) @ N
    if not len(mass):
        return mass
    size = np.sqrt(np.abs(np.diag(mass)))
    alike = np.linalg.inv(mass / np.outer(size, size))
    spread = np.sqrt(np.abs(np.diag(alike)))
    alike[np.abs(alike) < ALIKE * np.outer(spread, spread)] = 0.0
    return alike / np.outer(size, size)


def _compliances(system: System, reader: SymbolicReader) -> tuple[NDArray[Any], NDArray[Any]]:
    """F of every store component, and whether its law is linear with a constant F."""
    import sympy

    slopes, linear = [], []
    states = [symbol for s in system.slices for symbol in symbols_of(s.state.leaf)]
    by_state = {
        v.state.data: v for v in system.causal.graph.vertices.values() if v.state is not None
    }
    for s in system.slices:
        if s.state.kind != "store":
            continue
        vertex, x = by_state[s.state.name], symbols_of(s.state.leaf)
        assert vertex.law is not None
        law = reader(vertex.law)
        F = law.jacobian(x)
        plain = (
            len(x) == 1
            and not F.free_symbols & set(states)
            and law.subs(dict.fromkeys(x, 0))[0] == 0
        )
        for _ in x:
            linear.append(plain)
            slopes.append(F[0, 0] if plain else sympy.Integer(1))
    return np.array(slopes, dtype=object), np.array(linear, dtype=bool)


def _independent(G: NDArray[Any]) -> tuple[NDArray[Any], list[int]]:
    """N with G N = 0 whose rows of the chosen, first independent, components are the identity."""
    from vbg.analysis.probe.tangent import null_space

    count = G.shape[1]
    if not np.any(G):
        return np.eye(count), list(range(count))
    basis = null_space(G)
    chosen: list[int] = []
    for i in range(count):
        trial = [*chosen, i]
        if np.linalg.matrix_rank(basis[trial], tol=1e-9) == len(trial):
            chosen = trial
    N = basis @ np.linalg.inv(basis[chosen])
    N[np.abs(N) < ALIKE] = 0.0
    return np.where(np.abs(N - np.round(N)) < ALIKE, np.round(N), N), chosen


def _named(system: System, reader: SymbolicReader, X: Any, number: int, slope: Any) -> Any:
    """The signal that is the co-energy of a store, or FLOW/EFFORT of it by name."""
    import sympy

    state = X[int(number)]
    wanted = slope * state
    for name, value in system.equations.outputs.items():
        if value.rows != 1:
            continue
        found = reader(value)[0, 0]
        if found.free_symbols - wanted.free_symbols or state not in found.free_symbols:
            continue
        try:
            ratio = sympy.nsimplify(sympy.expand(found) / wanted)
        except (TypeError, ValueError):
            continue
        if ratio.is_number and abs(float(ratio) - 1.0) < ALIKE:
            return sympy.Symbol(name, real=True)
    return sympy.Symbol(f"co-energy of {X[int(number)]}", real=True)
