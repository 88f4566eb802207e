"""Linear algebraic loops: solutions as exact as the numbers of their equations, in any units.

Beside 60 digits: |x - x*| <= c eps |A^-1| (|A| |x*| + |b|), whatever the rows and columns are
written in (R. Skeel, Math. Comp. 35, 1980); elimination alone is off by 1e12 times as much.
"""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import lu_solve, matrix, workdps

from tests.export.tape_in_c import library, played, played_straight, straight_library
from vbg.assemble.program.evaluator import Evaluator, all_rows
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.blocks import leaf, linear, linear_solve, rows, stack, times
from vbg.blocks.node import const, transpose
from vbg.blocks.rounding import terms_of

EPS = np.finfo(float).eps
SIZES = (2, 5, 9)


def loop(m):
    """x of A x = b, both given."""
    given = leaf("A", m * m)
    A = stack(*(transpose(rows(given, m * i, m * (i + 1))) for i in range(m)))
    return linear_solve(A, leaf("b", m)), {"A": given, "b": leaf("b", m)}


def programs():
    found = {}
    for m in SIZES:
        x, inputs = loop(m)
        each = stack(*(rows(x, i, i + 1) for i in range(m)))
        found[f"of{m}"] = lower({"x": x, "T": terms_of(each)}, inputs)
    return found


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    folders = (tmp_path_factory.mktemp(name) for name in ("tape", "line"))
    return library(next(folders)), straight_library(next(folders), programs())


def systems(rng, m, count):
    """A and b whose rows, columns and entries differ by many decades, some entries zero."""
    for decades in rng.permutation([(0, 0, 0), (8, 0, 0), (0, 8, 0), (8, 8, 0), (4, 4, 4)] * count):
        by_row, by_column, by_entry = decades
        A = rng.normal(size=(m, m)) * (rng.random((m, m)) < 0.6) + np.diag(rng.normal(size=m))
        A *= 10.0 ** rng.uniform(-by_entry, by_entry, (m, m))
        units = 10.0 ** rng.uniform(-by_column, by_column, m)
        A *= 10.0 ** rng.uniform(-by_row, by_row, (m, 1)) * units
        yield A, A @ (rng.normal(size=m) / units)


@pytest.mark.parametrize("m", SIZES)
def test_units_of_rows_change_no_digit(m):
    """Powers of two, which round nothing: no pivot depends on them."""
    rng, run = np.random.default_rng([m, 1]), Evaluator(programs()[f"of{m}"])
    for A, b in systems(rng, m, 6):
        units = 2.0 ** rng.integers(-300, 301, m)
        found = [
            run(0.0, np.concatenate([(A * u[:, None]).ravel(), b * u]))[:m].copy()
            for u in (np.ones(m), units)
        ]
        assert (found[0] == found[1]).all()


@pytest.mark.parametrize("m", SIZES)
def test_every_reader_is_as_exact_as_its_numbers(m, in_c):
    rng, program = np.random.default_rng(m), programs()[f"of{m}"]
    machine, line = in_c
    places = [np.arange(m) + program.outputs[name][0] for name in ("x", "T")]
    for A, b in systems(rng, m, 6):
        with workdps(60):
            exact = lu_solve(matrix(A.tolist()), matrix(b.tolist()))
            inverse = np.abs(np.array((matrix(A.tolist()) ** -1).tolist(), dtype=float))
            x = np.array([float(v) for v in exact])
        bound = EPS * inverse @ (np.abs(A) @ np.abs(x) + np.abs(b))
        work = program.workspace.copy()
        work[: m * m + m] = np.concatenate([A.ravel(), b])
        compiled = Evaluator(program)
        compiled(0.0, work[: m * m + m])
        for found in (
            compiled.work,
            evaluate(program, work.copy()),
            evaluate(program, work.astype(complex)).real,
            played(machine, program, work, all_rows(program)),
            played_straight(line, f"of{m}", program, work, all_rows(program)),
        ):
            solution, terms = (found[at] for at in places)
            error = np.abs(solution - x)
            assert np.all(error <= 8.0 * bound)
            assert np.all(error <= 2.0 * EPS * terms)
            assert np.all(EPS * terms <= 20.0 * bound + 4.0 * EPS * np.abs(x))


def test_nothing_of_modes_is_rounded():
    """What a mode takes out of an equation is out of it exactly."""
    forward, backward, y = leaf("f", 1), leaf("b", 1), leaf("y", 1)
    free = linear((-1.0, forward), (-1.0, backward), (1.0, const(1.0)))
    value = times(linear((3e7, free)), y) + linear((1.0, forward))
    inputs = {"f": forward, "b": backward, "y": y}
    modes = frozenset((forward, backward))
    program = lower({"T": terms_of(value, modes), "all": terms_of(value)}, inputs)
    for f, b, expected in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.5e8)):
        T, counted = Evaluator(program)(0.0, np.array([f, b, 5.0])).ravel()
        assert expected == T and counted > 1e8
