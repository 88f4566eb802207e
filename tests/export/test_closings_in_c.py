"""Exported code closes rates as the compiled machine does, also where a pivot is rounding."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from benchmarks.accuracy.mechanisms import corner, model_of
from tests.export.tape_in_c import library, played, played_straight, straight_library
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.rounding import lost_pivots

SEEDS = (18, 36)  # links that lose a pivot, hinges only: rows that depend on others
KINDS = ("well_closed_rate", "well_closed_recorded")


@pytest.fixture(scope="module")
def starts():
    return {seed: vbg.start(model_of(corner(seed))) for seed in SEEDS}


@pytest.fixture(scope="module")
def in_c(tmp_path_factory, starts):
    folders = (tmp_path_factory.mktemp(name) for name in ("tape", "line"))
    programs = {
        f"{kind}{seed}": getattr(start.system.programs, kind)
        for seed, start in starts.items()
        for kind in KINDS
    }
    return library(next(folders)), straight_library(next(folders), programs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_rates_and_efforts_are_those_of_the_machine(seed, kind, starts, in_c):
    start = starts[seed]
    (machine, line), system = in_c, start.system
    program, kept = getattr(system.programs, kind), start.kept
    evaluate = Evaluator(program, kept=kept)
    filled = program.workspace.copy()
    given = np.concatenate([start.state, [0.0]])
    filled[: len(given)] = given
    evaluate(0.0, start.state)
    if kind == KINDS[0]:
        rows = len(system.constraint_names)
        assert lost_pivots(evaluate, kept[:rows]).any() and start.dependent > 0
    found = (
        played(machine, program, filled, kept),
        played_straight(line, f"{kind}{seed}", program, filled, kept),
    )
    # the shares of efforts that are not unique are as exact as their elimination is
    unique = [name for name in program.outputs if name != "efforts" or kind == KINDS[0]]
    for name in unique:
        at, size, _ = program.outputs[name]
        right = evaluate.output(name).ravel()
        for work in found:
            miss = np.abs(work[at : at + size] - right).max()
            assert miss <= 1e-6 * np.abs(right).max(), (name, miss)
