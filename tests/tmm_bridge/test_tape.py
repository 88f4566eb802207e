"""Formulas on a tape, the steps that play it, and what the kernels are compiled from."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import vbg.tmm_bridge
from vbg.expressions import FUNCTIONS as PLAIN
from vbg.expressions import evaluate, parse
from vbg.tmm_bridge.formulas import tape as tapes
from vbg.tmm_bridge.formulas.tangent import computed_along, jacobian_recorded
from vbg.tmm_bridge.formulas.tape import Tape, choose
from vbg.tmm_bridge.formulas.written import of_expression, recorded_tree
from vbg.tmm_bridge.kernels.entries import errors, play
from vbg.tmm_bridge.kernels.program import inverted
from vbg.tmm_bridge.kernels.sources import SOURCES
from vbg.tmm_bridge.kernels.stages import STAGES
from vbg.tmm_bridge.motion.steps.stepping import Dense, dormand_prince

FOLDER = Path(vbg.tmm_bridge.__file__).parent
STEMS = [".".join(path.relative_to(FOLDER).with_suffix("").parts) for path in FOLDER.rglob("*.py")]
FORMULAS = (
    "-x + 2*y - 3/x",
    "x**1.7 + y**2 - x**(-2)",
    "sin(x)*cos(y) + tan(x)",
    "asin(x/9) + acos(y/9) + atan(x) - atan2(y, -x)",
    "sqrt(x) + exp(-y) + log(x*x)",
    "min(x, y, 0.3) - max(-x, y, x*y) + abs(-y)",
    "sign(y - x) + sign(x - y) + sign(x - x)",
)


def played(tape: Tape) -> np.ndarray:
    done = tape.played([""])
    play(done.code, done.memory, done.curves, 0, len(done.code))
    return done.memory


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize(("x", "y"), [(0.7, 1.9), (2.3, -0.4)])
def test_a_formula_on_the_tape_has_the_value_of_its_tree(text, x, y):
    tape = Tape()
    at = {"x": tape.place(x), "y": tape.place(y)}
    found = recorded_tree(parse(text), at.__getitem__)
    expected = evaluate(parse(text), {"x": x, "y": y})
    assert played(tape)[found.place] == pytest.approx(expected, rel=1e-14)


def test_the_tape_knows_every_function_of_expressions():
    assert set(tapes.FUNCTIONS) == set(PLAIN)


def test_without_slots_nothing_is_recorded():
    tape = Tape()
    assert choose(tapes.sin(0.5), 3.0, 4.0) == 3.0
    assert tapes.least(2.0, 1.0, 5.0) == 1.0
    assert recorded_tree(parse("2*sqrt(9) - 1"), {}.__getitem__) == 5.0
    assert not tape.sections


def test_where_a_law_has_no_value_the_tape_says_nan():
    tape = Tape()
    slot = tapes.root(tape.place(-1.0))
    assert math.isnan(played(tape)[slot.place])


@pytest.mark.parametrize("x", [-1.0, 0.0, 0.1, 1.0, 1.5, 2.0, 7.0])
def test_a_curve_begins_its_pieces_behind_their_starts(x):
    tape = Tape()
    pieces = np.array([[1.0, 2.0, 0.0, 0.0], [5.0, 0.0, 1.0, -0.5]])
    slot = tape.curve(tape.place(x), [0.0, 1.0], pieces)
    expected = 1.0 + 2.0 * x if x <= 1.0 else 5.0 + (x - 1.0) ** 2 - 0.5 * (x - 1.0) ** 3
    assert played(tape)[slot.place] == pytest.approx(expected, rel=1e-14)


def test_derivatives_of_an_expression():
    function = of_expression("a*sin(3*t)*exp(-t) + t**3", {"a": 2.0})
    t = 0.37
    slope = 2.0 * math.exp(-t) * (3.0 * math.cos(3 * t) - math.sin(3 * t)) + 3 * t**2
    bend = 2.0 * math.exp(-t) * (-8.0 * math.sin(3 * t) - 6.0 * math.cos(3 * t)) + 6 * t
    assert function.rates(t)[1:] == pytest.approx((slope, bend), rel=1e-13)


def test_inverse_with_pivots():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(7, 7))
    A[0, 0] = 0.0
    found = np.zeros((7, 7))
    assert inverted.py_func(A.copy(), found)
    np.testing.assert_allclose(found @ A, np.eye(7), atol=1e-12)
    A[3] = 2.0 * A[1]
    A[:, 5] = 0.0
    assert not inverted.py_func(A.copy(), found)


def stepped(h: float) -> tuple[np.ndarray, Dense, float]:
    """A step of y' = (-y1, y0) from (1, 0): end, dense output, error over the tolerance."""
    rules, weights = dormand_prince(2)
    y = np.array([1.0, 0.0])
    K = np.zeros((STAGES + 4, 2))
    for i in range(STAGES + 4):
        at = y + h * rules.A[i, :i] @ K[:i]
        K[i] = -at[1], at[0]
        if i == STAGES:
            end = at
    moved = end - y
    F = [moved, h * K[0] - moved, 2.0 * moved - h * (K[0] + K[STAGES])]
    dense = Dense(0.0, h, y, np.array([*F, *(h * (weights @ K))]))
    errors(K, rules, h, y, end, 1e-9, np.full(2, 1e-9))
    return end, dense, float(rules.error[0])


def test_a_step_has_order_8_and_its_dense_output_order_7():
    wrong, between, estimate = [], [], []
    for h in (0.8, 0.4):
        end, dense, error = stepped(h)
        wrong.append(np.abs(end - (math.cos(h), math.sin(h))).max())
        times = np.linspace(0.0, h, 9)
        exact = np.column_stack([np.cos(times), np.sin(times)])
        between.append(np.abs(dense(times) - exact).max())
        estimate.append(error)
    assert math.log2(wrong[0] / wrong[1]) == pytest.approx(9.0, abs=0.5)
    assert math.log2(between[0] / between[1]) > 7.5
    assert math.log2(estimate[0] / estimate[1]) > 7.0
    np.testing.assert_array_equal(dense(np.array([0.1, 0.2]))[1], dense(0.2))


def _marked(stem: str) -> set[str]:
    """Kernels of a module."""
    tree = ast.parse((FOLDER / f"{stem.replace('.', '/')}.py").read_text())
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if isinstance(mark, ast.Name) and mark.id == "compiled"
    }


def _called_from_python(file: Path) -> set[tuple[str, str]]:
    """(module, name) of what plain functions of a file call, of those it imports from kernels'
    modules or, being one of them, has itself."""
    tree = ast.parse(file.read_text())
    stem = (
        ".".join(file.relative_to(FOLDER).with_suffix("").parts) if FOLDER in file.parents else ""
    )
    kernels = _marked(stem) if stem else set()
    known = {name: (stem, name) for name in kernels}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vbg.tmm_bridge."):
            module = node.module.removeprefix("vbg.tmm_bridge.")
            known |= {a.asname or a.name: (module, a.name) for a in node.names}
    calls = set()
    for top in tree.body:
        if not (isinstance(top, ast.FunctionDef) and top.name in kernels):
            for node in ast.walk(top):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    calls.add(known.get(node.func.id, ("", "")))
    return calls


@pytest.mark.slow
def test_python_calls_only_entries():
    """Kernels have no wrapper for Python: a call ends the process."""
    inner = {(stem, name) for stem in STEMS for name in _marked(stem)}
    root = FOLDER.parents[1]
    for folder in (FOLDER, root / "tests", root / "benchmarks", root / "vbg" / "cli"):
        for file in folder.rglob("*.py"):
            assert not _called_from_python(file) & inner, file


def _uses(stem: str) -> set[str]:
    """Modules of this package that a module takes names from, outside its type checking."""
    tree = ast.parse((FOLDER / f"{stem.replace('.', '/')}.py").read_text())
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vbg.tmm_bridge."):
            found.add(node.module.removeprefix("vbg.tmm_bridge."))
    return found


def test_kernels_are_compiled_anew_when_any_of_their_sources_changes():
    """Modules with kernels, and those whose whole numbers they have in their code."""
    kernels = {stem for stem in STEMS if _marked(stem)}
    constants = {
        used
        for stem in kernels
        for used in _uses(stem)
        if not used.startswith(("onedim.", "mechanism."))
    }
    named = {".".join(path.relative_to(FOLDER).with_suffix("").parts) for path in SOURCES}
    assert kernels | constants | {"kernels.entries"} <= named


@pytest.mark.parametrize("text", FORMULAS)
def test_slopes_on_the_tape_are_those_that_are_computed(text):
    tape = Tape(section="law")
    at = {"x": tape.place(0.7), "y": tape.place(1.9)}
    value = recorded_tree(parse(text), at.__getitem__)
    by, law = [slot.place for slot in at.values()], list(tape.sections["law"])
    tape.section = "slopes"
    found = jacobian_recorded(tape, law, by, [value.place])
    done = tape.played(["law", "slopes"])
    play(done.code, done.memory, done.curves, 0, len(done.code))
    seeds = dict(zip(by, np.eye(2), strict=True))
    expected = np.zeros(2) + computed_along(law, done.memory, done.curves, seeds)[value.place]
    J = np.zeros(2)
    for row, column, place in found:
        assert row == 0
        J[column] = done.memory[place]
    np.testing.assert_allclose(J, expected, rtol=1e-14)
