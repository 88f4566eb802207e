"""What has no value gives none: random formulas with NaN among what they read, by every reader.

The oracle is numpy on the tree itself: maximum and minimum, which are NaN where a side is.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import vbg
from tests.export.tape_in_c import library, played, played_straight, straight_library
from vbg.assemble.program.evaluator import Evaluator, all_rows
from vbg.assemble.program.lower import lower
from vbg.assemble.program.machine.operations.scalars import complex_power
from vbg.assemble.program.reference import evaluate as reference
from vbg.blocks import Tangent, const, leaf, stack
from vbg.errors import ModelError
from vbg.expressions import Binary, Call, Name, Number, Unary, derivative, evaluate
from vbg.physics.laws import block_of
from vbg.tmm_bridge.formulas.tangent import computed_along
from vbg.tmm_bridge.formulas.tape import Tape
from vbg.tmm_bridge.formulas.written import recorded_tree
from vbg.tmm_bridge.kernels.entries import play

NAMES = ("u", "v", "w")
COUNT = 40
VALUES = (-1.7, -0.4, 0.3, 1.0, 2.6)


KINDS = ["min", "max", "if", "abs", "sign", "+", "*", "-"]
ROOTS = ["sqrt", "log"]  # no value below zero; complex numbers have one there


def random_tree(rng, depth, kinds):
    """A formula of min, max, if, abs, sign, sums and products, and what else is asked for."""
    if depth == 0 or rng.random() < 0.1:
        return Name(str(rng.choice(NAMES))) if rng.random() < 0.8 else Number(rng.normal())
    kind = rng.choice(kinds)
    below = [random_tree(rng, depth - 1, kinds) for _ in range(3)]
    if kind in ("min", "max"):
        return Call(str(kind), tuple(below[: rng.integers(2, 4)]))
    if kind == "if":
        return Call("if", tuple(below))
    if kind in ("+", "*"):
        return Binary(str(kind), below[0], below[1])
    return Unary(below[0]) if kind == "-" else Call(str(kind), (below[0],))


def by_numpy(node, at, dot=None):
    """Value and rate of a formula; `dot`: rates of what it reads."""
    match node:
        case Number(value):
            return np.float64(value), np.float64(0.0)
        case Name(name):
            return at[name], dot[name]
        case Unary(a):
            value, rate = by_numpy(a, at, dot)
            return -value, -rate
        case Binary(operator, left, right):
            (a, da), (b, db) = by_numpy(left, at, dot), by_numpy(right, at, dot)
            return (a + b, da + db) if operator == "+" else (a * b, da * b + a * db)
    found = [by_numpy(a, at, dot) for a in node.arguments]
    a, da = found[0]
    match node.function:
        case "min" | "max":
            better = np.minimum if node.function == "min" else np.maximum
            for b, db in found[1:]:
                value = better(a, b)
                da = np.nan if np.isnan(value) else da if value == a else db
                a = value
            return a, da
        case "if":
            return (np.nan, np.nan) if np.isnan(a) else found[1] if a > 0.0 else found[2]
        case "abs":
            return abs(a), np.sign(a) * da
        case "sign":
            return np.sign(a), np.nan if np.isnan(a) else 0.0
        case "sqrt":
            return np.sqrt(a), 0.5 / np.sqrt(a) * da
        case _:
            return np.log(a), da / a if a >= 0.0 else np.nan


@cache
def cases():
    rng = np.random.default_rng(7)
    trees = [random_tree(rng, 4, KINDS) for _ in range(COUNT)]
    trees += [random_tree(rng, 4, KINDS + ROOTS) for _ in range(COUNT)]
    given = []
    for _ in range(25):
        values = rng.choice(VALUES, size=3) * rng.uniform(0.9, 1.1, size=3)
        values[rng.random(3) < 0.25] = np.nan
        given.append((values, rng.normal(size=3)))
    return trees, given


def expected(tree, values, dots):
    with np.errstate(all="ignore"):
        return by_numpy(
            tree, dict(zip(NAMES, values, strict=True)), dict(zip(NAMES, dots, strict=True))
        )


@cache
def program(count=2 * COUNT):
    """Values and rates of the first formulas."""
    trees = cases()[0][:count]
    leaves = {name: leaf(name, 1) for name in NAMES}
    rates = {f"d{name}": leaf(f"d{name}", 1) for name in NAMES}
    blocks = [block_of(tree, leaves.__getitem__) for tree in trees]
    tangent = Tangent({leaves[n]: rates[f"d{n}"] for n in NAMES})
    outputs = {"values": stack(*blocks), "rates": stack(*map(tangent, blocks))}
    return lower(outputs, leaves | rates)


def compare(values, found, rates):
    """As many formulas as are given."""
    for tree, value, rate, (x, dx) in zip(
        cases()[0], found, rates, expected_of(values), strict=False
    ):
        np.testing.assert_allclose(value, x, rtol=1e-12, atol=1e-14, err_msg=str(tree))
        if np.isfinite([x, dx]).all():  # a root has no slope at zero
            np.testing.assert_allclose(rate, dx, rtol=1e-12, atol=1e-14, err_msg=str(tree))


def expected_of(values):
    dots = next(d for v, d in cases()[1] if v is values)
    return [expected(tree, values, dots) for tree in cases()[0]]


def parts(work, count=2 * COUNT):
    spans = program(count).outputs
    return [work[at : at + rows] for at, rows, _ in (spans["values"], spans["rates"])]


def test_values_are_lost_at_all():
    lost = np.array([[np.isnan(x) for x, _ in expected_of(v)] for v, _ in cases()[1]])
    assert 0.2 < lost[:, :COUNT].mean() < lost.mean() < 0.8


@pytest.mark.parametrize("kind", [float, complex])
def test_both_readers_of_the_first_solver(kind):
    count = COUNT if kind is complex else 2 * COUNT
    both = program(count)
    run = Evaluator(both, complex_valued=kind is complex)
    for values, dots in cases()[1]:
        work = both.workspace.astype(kind)
        work[:6] = [*values, *dots]
        with np.errstate(all="ignore"):
            reference(both, work, all_rows(both))
        run(dots[2], np.array([*values, *dots[:2]], dtype=kind))
        for found in (work, run.work):
            compare(values, *(part.real for part in parts(found, count)))


@pytest.mark.slow
def test_tables_and_lines_in_c(tmp_path):
    tapes, lines = library(tmp_path), straight_library(tmp_path, {"formulas": program()})
    kept = all_rows(program())
    for values, dots in cases()[1]:
        filled = program().workspace.copy()
        filled[:6] = [*values, *dots]
        compare(values, *parts(played(tapes, program(), filled, kept)))
        compare(values, *parts(played_straight(lines, "formulas", program(), filled, kept)))


def test_the_tape_of_the_second_solver_and_its_tangents():
    tape = Tape()
    places = {name: tape.place() for name in NAMES}
    slots = [tape.slot(recorded_tree(tree, places.__getitem__)) for tree in cases()[0]]
    done = tape.played([""])
    operations = [tuple(map(int, row)) for row in done.code]
    for values, dots in cases()[1]:
        memory = done.memory
        for name, value in zip(NAMES, values, strict=True):
            memory[places[name].place] = value
        play(done.code, memory, done.curves, 0, len(done.code))
        seeds = {places[n].place: float(d) for n, d in zip(NAMES, dots, strict=True)}
        slopes = computed_along(operations, memory, done.curves, seeds)
        found = [memory[slot.place] for slot in slots]
        compare(values, found, [slopes.get(slot.place, 0.0) for slot in slots])


def test_formulas_in_files():
    """`evaluate` refuses what is no number; the derivative of a formula is one."""
    for values, dots in cases()[1]:
        at = dict(zip(NAMES, map(float, values), strict=True))
        for tree, (x, dx) in zip(cases()[0], expected_of(values), strict=True):
            if not np.isfinite(x):
                with pytest.raises(ModelError):
                    evaluate(tree, at)
                continue
            assert evaluate(tree, at) == pytest.approx(x, rel=1e-12, abs=1e-14)
            if np.isfinite([*values, dx]).all():
                slopes = [evaluate(derivative(tree, name), at) for name in NAMES]
                assert np.dot(slopes, dots) == pytest.approx(dx, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("x", [math.inf, -math.inf, 1e300, 2.5e19, 0.0])
def test_numbers_without_bound_are_compared_as_numbers(x):
    a = leaf("a", 1)
    wanted = {"sign": np.sign(x), "positive": 1.0 * (x > 0.0), "floor": np.floor(x)}
    found = {name: vbg.blocks.call(name, a) for name in wanted}
    found["atan2"] = vbg.blocks.call("atan2", a, const(0.0))
    run = Evaluator(lower(found, {"a": a}))
    run(x, np.zeros(0))
    spans = run.program.outputs
    assert {n: run.work[spans[n][0]] for n in wanted} == wanted
    if np.isfinite(x):
        assert run.work[spans["atan2"][0]] == math.atan2(x, 0.0)


@pytest.mark.parametrize(
    ("method", "duration"), [("auto", 1e-6), ("auto", 1.0), ("dop853", 1e6), ("radau", 1.0)]
)
def test_a_law_that_leaves_its_domain_where_the_run_begins_ends_it(method, duration):
    """Beside t = 0 numbers are dense: steps could be halved for ever, 1e-17 s and less."""
    parts = {
        "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": duration, "voltage": 1.0},
        "J": {"kind": "current_source", "nodes": ["gnd", "a"], "current": "asin(C.voltage)"},
    }
    solution = vbg.simulate(
        vbg.Model(electric=parts), t_end=duration, output_step=duration / 20, method=method
    )
    assert solution.status.code == "failed" and "C.charge has no value" in solution.status.sentence


def _pushed(law):
    return vbg.Model(
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": 1.0, "position": 1.0},
            "f": {"kind": "force", "nodes": ["x"], "force": law},
        }
    )


@pytest.mark.parametrize(
    "law",
    [
        "asin(1.01*sin(t))",
        "asin(1.0000000000000002*sin(t))",  # no value for 3e-8 s: rounding leads there
        "-sqrt(translational.x.position)",
        "sqrt(1 - cos(t)^2 - sin(t)^2)",
    ],
)
def test_both_solvers_tell_where_a_law_leaves_its_domain_within_a_run(law):
    """And what to do about it; what stays inside up to rounding, as asin(sin(t)), goes on."""
    from vbg.tmm_bridge.solver import simulate as second_solver

    model, run = _pushed(law), {"t_end": 7.0, "output_step": 0.05, "rtol": 1e-9, "atol": 1e-12}
    for solver, lost in ((vbg.simulate, "the rate of m.momentum"), (second_solver, "f.force")):
        status = solver(model, **run).status
        assert f"rom there on {lost} has no value" in status.sentence
        assert status.code == "failed" and "asin(min(1, max(-1, ...)))" in status.remedy
        if law.startswith("asin"):
            assert solver(_pushed("asin(sin(t))"), **run).status.code == "finished"


def test_a_power_of_zero_and_its_step():
    assert complex_power(0j, 0.5 + 0j) == 0.0
    assert math.isnan(complex_power(0j, -1.0 + 0j).real)
    assert abs(complex_power(1e-40j, 3.0 + 0j)) < 1e-100
    assert complex_power(1e-40j, 1.0 + 0j).imag == 1e-40


@pytest.mark.parametrize("start", [0.0, 1e-3])
def test_a_source_on_a_store_that_reads_nothing_over_nothing_is_told_at_that_store(start):
    electric = {
        "U": {"kind": "voltage_source", "nodes": ["u", "gnd"], "voltage": 1.0},
        "R": {"kind": "resistor", "nodes": ["u", "c"], "R": 1.0},
        "C": {"kind": "capacitor", "nodes": ["c", "gnd"], "C": 1.0, "voltage": start},
        "s": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "C.voltage/C.voltage"},
        "held": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 1.0},
    }
    model = vbg.Model(name="lost", electric=electric, simulate={"t_end": 1.0})
    if start:
        assert vbg.simulate(model)["held.voltage"][-1] == 1.0
        return
    with pytest.raises(vbg.AssemblyError, match=r"(?s)held: .* no value at the start.*0/0") as told:
        vbg.simulate(model)
    assert "direction" not in str(told.value)
