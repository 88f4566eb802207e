"""One tape, several readers: the compiled machine equals the plain reader, and the rows of
the constraints equal their derivatives along the motion."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import KINDS, random_loop, random_tree
from vbg.assemble.program import machine
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.reference import evaluate

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.toml"))
STEP = 1e-6


def disturbed(system: vbg.System, size: float = 1e-3) -> np.ndarray:
    """A state near the start that breaks the constraints a little: general values."""
    rng = np.random.default_rng(8)
    x = vbg.start(system).state
    return x + size * rng.normal(size=len(x))


def assert_readers_agree(system: vbg.System) -> None:
    """All outputs of all programs, at a general state, to 1e-12 of their size and the rounding of
    the largest term (stiff forces that all but cancel)."""
    x = disturbed(system)
    for program in (vbg.start(system).rate_program, system.programs.residual):
        compiled = Evaluator(program)
        work = compiled.work.copy()
        work[: len(x)], work[len(x)] = x, 0.1
        evaluate(compiled.program, work)
        compiled(0.1, x)
        rounding = np.finfo(float).eps * np.abs(work[np.isfinite(work)]).max()
        for name, (at, rows, cols) in compiled.program.outputs.items():
            expected = work[at : at + rows * cols]
            got = compiled.output(name).ravel()
            size = 1.0 + abs(expected).max(initial=0.0)
            assert_allclose(got, expected, atol=1e-12 * size + rounding, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_and_plain_reader_agree_for_every_joint(kind):
    assert_readers_agree(vbg.assemble(random_tree(3, kinds=(kind,)).model()))


@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_plain_reader_agree_for_loops(seed):
    assert_readers_agree(vbg.assemble(random_loop(seed).model()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_compiled_and_plain_reader_agree_for_examples(path):
    # Where forces are not unique both readers find them by iteration.
    if path.stem != "bennett":
        assert_readers_agree(vbg.assemble(vbg.read(path)))


@pytest.mark.parametrize("kind", KINDS)
def test_flow_rows_and_gamma_are_derivatives_along_the_motion(kind):
    """d(position row)/dt = velocity row at any speeds, and d(velocity row)/dt = 0 with the
    accelerations that the constraint efforts give: central differences along x'."""
    system = vbg.assemble(random_tree(12, n=2, kinds=(kind,)).model())
    residual = Evaluator(system.programs.residual)

    def rows(x: np.ndarray, what: str) -> np.ndarray:
        residual(0.0, x)
        return residual.output(what).ravel().copy()

    def slope(x: np.ndarray, what: str) -> np.ndarray:
        rate = vbg.start(system).rate(0.0, x)
        return (rows(x + STEP * rate, what) - rows(x - STEP * rate, what)) / (2.0 * STEP)

    x = vbg.start(system).state
    size = 1.0 + np.abs(vbg.start(system).rate(0.0, x)).max()
    assert_allclose(slope(x, "velocity"), 0.0, atol=1e-7 * size)
    momenta = np.array(["momentum" in name for name in system.state_names])
    rng = np.random.default_rng(9)
    faster = x + momenta * rng.normal(size=len(x))
    assert_allclose(slope(faster, "position"), rows(faster, "velocity"), atol=1e-7 * size)


def test_python_has_only_kernels_with_a_wrapper_for_it():
    """Calling one without ends the process."""
    folder, root = Path(machine.__file__).parent, Path(vbg.__file__).parent
    implicit = root / "simulate/steppers/implicit/kernels"
    inner = {
        node.name
        for file in (*folder.rglob("*.py"), *implicit.glob("*.py"))
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(getattr(d, "id", "") in ("compiled", "unrolled") for d in node.decorator_list)
    }
    assert inner and not inner & set(machine.__all__)
    for file in root.rglob("*.py"):
        rooms = (folder, implicit, root / "simulate/discrete/kernels.py")
        if not any(file.is_relative_to(room) for room in rooms):
            text = file.read_text("utf-8")
            assert "from vbg.assemble.program.machine." not in text, f"{file}: not from __all__"
