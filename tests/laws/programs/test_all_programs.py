"""Every program of a System by two readers: the compiled machine and plain numpy, in real and
in complex numbers, agree to 1e-12."""

from __future__ import annotations

import inspect
from functools import cached_property

import numpy as np
import pytest

import vbg
from tests.laws.joints.test_faults import four_bar
from tests.laws.machines import random_loop, random_tree
from tests.laws.parts import coupled, loaded, rolling_disc
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.reference import evaluate
from vbg.assemble.programs import Programs

PROGRAMS = tuple(
    name
    for name, member in inspect.getmembers(Programs)
    if isinstance(member, cached_property) and name != "inputs" and not name.startswith("_")
)
STEP = 1e-7  # of the imaginary parts


def disagreement(
    start: vbg.Start, what: str, x: np.ndarray, others: np.ndarray
) -> dict[str, float]:
    """Largest difference of each output, relative to the largest value of the program, real and
    imaginary parts each on their own scale."""
    system, kept = start.system, start.kept
    chosen = getattr(system.programs, what)
    compiled = Evaluator(chosen, kept=kept, complex_valued=np.iscomplexobj(x))
    program = compiled.program
    work = program.workspace.astype(x.dtype)
    inputs = np.concatenate([x, [0.1], others[: extra_inputs(system, what)]])
    work[: len(inputs)] = inputs
    evaluate(program, work, compiled.kept)
    compiled(0.1, x, inputs[len(x) + 1 :])
    parts = [np.real, np.imag] if np.iscomplexobj(x) else [np.real]
    spans = {name: slice(at, at + r * c) for name, (at, r, c) in program.outputs.items()}
    scales = [
        max((np.abs(part(work[span])).max(initial=0.0) for span in spans.values()), default=0.0)
        for part in parts
    ]
    return {
        name: max(
            np.abs(part(compiled.work[span] - work[span])).max(initial=0.0) / (scale or 1.0)
            for part, scale in zip(parts, scales, strict=True)
        )
        for name, span in spans.items()
    }


def extra_inputs(system: vbg.System, what: str) -> int:
    """Number of inputs behind states and time."""
    inputs = list(getattr(system.programs, what).inputs.values())
    return sum(rows * cols for _, rows, cols in inputs[len(system.slices) + 1 :])


SYSTEMS = {
    "tree": lambda: loaded(random_tree(5), 5).model(),
    "loop": lambda: loaded(random_loop(5), 5).model(),
    "gear": lambda: coupled(5, "gear").model(),
    "rolling": lambda: rolling_disc(5).model(),
}


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("name", SYSTEMS)
def test_both_readers_agree_on_every_program(name, kind):
    """At a state that breaks the constraints a little."""
    rng = np.random.default_rng(3)
    start = vbg.start(SYSTEMS[name]())
    x = (start.state + 1e-3 * rng.normal(size=len(start.state))).astype(kind)
    if kind is complex:
        x += 1j * STEP * rng.normal(size=len(x))
    others = rng.normal(size=1000)
    for what in PROGRAMS:
        for output, error in disagreement(start, what, x, others).items():
            assert error < 1e-12, (what, output)


@pytest.mark.parametrize("kind", [float, complex])
def test_both_readers_agree_on_a_redundant_machine(kind):
    """Beside the manifold, too: the rows that are not kept take no part."""
    rng = np.random.default_rng(4)
    start = vbg.start(vbg.Model(**four_bar()))
    assert start.redundant
    x = (start.state + 1e-3 * rng.normal(size=len(start.state))).astype(kind)
    if kind is complex:
        x += 1j * STEP * rng.normal(size=len(x))
    for what in PROGRAMS:
        for output, error in disagreement(start, what, x, rng.normal(size=1000)).items():
            assert error < 1e-12, (what, output)
