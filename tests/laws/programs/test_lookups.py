"""Rows of tables as blocks: every reader finds the same row, at the begin of one, too."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.export.tape_in_c import library, played, played_straight, straight_library
from vbg.assemble.matrices.symbolic import SymbolicReader
from vbg.assemble.program.evaluator import Evaluator, all_rows
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.blocks import Tangent, const, leaf, lookup, rows, times
from vbg.blocks.rounding import terms_of
from vbg.blocks.tables import beyond_jump, on_side
from vbg.elements.signals.pieces import chosen
from vbg.simulate.instants.bounds import bounds

X = leaf("t", 1)
COUNTS = (1, 2, 17, 64)


def table(rng, count, columns=3):
    starts = np.cumsum(rng.uniform(0.1, 1.0, count)) - 2.0
    return starts, rng.normal(size=(count, columns))


def places(rng, starts):
    """Between the begins, on each of them, beside them by one rounding, without a value."""
    inside = rng.uniform(starts[0] - 1.0, starts[-1] + 1.0, 20)
    return [*inside, *starts, *np.nextafter(starts, -9.0), np.inf, -np.inf, np.nan]


def expected(starts, data, x):
    if np.isnan(x):
        return np.full(data.shape[1], np.nan)
    return data[max((i for i, begin in enumerate(starts) if begin <= x), default=0)]


def of_size(count):
    rng = np.random.default_rng(count)
    starts, data = table(rng, count)
    return rng, starts, data, lookup(X, const(starts), const(data))


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    """The tape's machine and the straight code of all sizes, compiled once."""
    programs = {f"of{n}": lower({"row": of_size(n)[3]}, {"t": X}) for n in COUNTS}
    folders = (tmp_path_factory.mktemp(name) for name in ("tape", "line"))
    return library(next(folders)), straight_library(next(folders), programs)


@pytest.mark.parametrize("count", COUNTS)
def test_every_reader_finds_the_row(count, in_c):
    rng, starts, data, block = of_size(count)
    program = lower({"row": block}, {"t": X})
    compiled = Evaluator(program)
    machine, line = in_c
    formula = SymbolicReader()(block)
    (symbol,) = formula.free_symbols or {None}
    at, rows_, _ = program.outputs["row"]
    for x in places(rng, starts):
        wanted = expected(starts, data, x)
        assert np.array_equal(compiled(x, np.zeros(0)).ravel(), wanted, equal_nan=True)
        work = program.workspace.copy()
        work[0] = x
        for found in (
            evaluate(program, work.copy()),
            evaluate(program, work.astype(complex)).real,
            played(machine, program, work, all_rows(program)),
            played_straight(line, f"of{count}", program, work, all_rows(program)),
        ):
            assert np.array_equal(found[at : at + rows_], wanted, equal_nan=True)
        if np.abs(x - starts).min() > 1e-12:  # sympy's numbers round in their own way
            told = formula if symbol is None else formula.subs(symbol, x)
            assert np.array(told, dtype=float).ravel() == pytest.approx(wanted, rel=1e-15)
            folded = lookup(const(x), const(starts), const(data))
            assert np.array_equal(folded.data.ravel(), wanted)


def test_derivative_terms_and_bounds_of_a_piecewise_polynomial():
    rng = np.random.default_rng(5)
    starts, data = table(rng, 9, 4)
    value = chosen(X, starts, data)
    slope, terms = Tangent({X: const(1.0)})(value), terms_of(value)
    evaluator = Evaluator(lower({"v": value, "s": slope, "T": terms}, {"t": X}))
    polynomials = [np.polynomial.Polynomial(c) for c in data]
    for x in places(rng, starts)[:-3]:
        k = max((i for i, begin in enumerate(starts) if begin <= x), default=0)
        v, s, T = evaluator(x, np.zeros(0)).ravel()
        d = x - starts[k]
        assert v == pytest.approx(polynomials[k](d), rel=1e-12)
        assert s == pytest.approx(polynomials[k].deriv()(d), rel=1e-12)
        size = np.abs(data[k]) @ np.maximum(abs(d), 1e-300) ** np.arange(4)
        assert size <= T * (1.0 + 1e-12)
        scale = abs(x) + abs(starts[k])
        assert T <= 40.0 * (size + scale * np.abs(data[k]).sum() * (1.0 + d * d))  # noqa: SIM300
    low = rng.uniform(starts[0] - 1.0, starts[-1], 60)
    high = low + rng.exponential(size=60)
    ((least, largest),) = bounds([value], low, high)
    for a, b, bottom, top in zip(low, high, least, largest):
        seen = [evaluator(x, np.zeros(0)).ravel()[0] for x in np.linspace(a, b, 40)]
        assert bottom <= min(seen) + 1e-12 and max(seen) - 1e-12 <= top
    width = 1e-6  # within one piece the bounds close in on the value
    inside = starts[3] + 0.05
    ((least, largest),) = bounds([value], np.array([inside]), np.array([inside + width]))
    assert largest - least < 100.0 * width


def test_sides_of_a_jump():
    starts, data = table(np.random.default_rng(6), 8)
    block = lookup(X, const(starts), const(data))
    side = leaf("side", 1)
    gap = beyond_jump(block)
    chosen_side = rows(on_side(block, side), 1, 2)
    evaluator = Evaluator(lower({"gap": gap, "v": chosen_side}, {"side": side, "t": X}))
    for k in range(1, 8):
        for off in (0.0, 0.01, -0.01):
            x = starts[k] + off
            for s, wanted in ((1e250, data[k, 1]), (-1e250, data[k - 1, 1])):
                found = evaluator(x, np.array([s])).ravel()
                assert found == pytest.approx([off, wanted], abs=1e-14)
            own = evaluator(x, np.zeros(1)).ravel()[1]
            assert own == data[k if off >= 0.0 else k - 1, 1]


def shaft(count):
    x = np.linspace(-1.0, 1.0, count)
    curve = [[float(a), float(-2.0 * a - a**3)] for a in x]
    return vbg.Model(
        rotational={
            "J": {"kind": "inertia", "nodes": ["w"], "J": 1.0, "speed": 0.4},
            "T": {"kind": "torque", "nodes": ["frame", "w"], "torque": "law"},
        },
        signals={
            "law": {
                "kind": "curve",
                "input": "J.speed",
                "rows": curve,
                "interpolation": "cubic",
                "outside": "extend",
            }
        },
        simulate={"t_end": 0.5, "output_step": 0.1},
    )


def test_the_work_of_an_evaluation_does_not_grow_with_the_rows():
    few, many = (vbg.start(vbg.assemble(shaft(n))).rate_program for n in (8, 4000))
    assert many.operations == few.operations
    # J w' = -2 w - w^3: 1/w^2 + 1/2 = (1/w0^2 + 1/2) exp(4 t)
    found = vbg.simulate(shaft(4000), rtol=1e-10, atol=1e-12)
    exact = ((1 / 0.16 + 0.5) * np.exp(4.0 * found.time) - 0.5) ** -0.5
    assert found["J.speed"] == pytest.approx(exact, rel=1e-8)


def test_products_with_tables_have_their_derivatives():
    """z(x)^2 by the product's rule."""
    starts, data = table(np.random.default_rng(7), 6, 3)
    z = chosen(X, starts, data)
    slope = Tangent({X: const(1.0)})
    twice = Evaluator(lower({"a": slope(times(z, z)), "b": 2.0 * times(z, slope(z))}, {"t": X}))
    a, b = twice(0.3, np.zeros(0)).ravel()
    assert a == pytest.approx(b, rel=1e-13)
