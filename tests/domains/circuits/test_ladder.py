"""Long RLC ladders: sparse Jacobians, the implicit method on them, ngspice beside it."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import vbg
from benchmarks.speed.ladder import (
    ALLOWED,
    SETTINGS,
    Ladder,
    by_ngspice,
    by_vbg,
    model,
    plain,
    stiff,
)
from tests.domains.benches import BENCHES
from tests.laws.programs.test_all_programs import SYSTEMS
from vbg.simulate.steppers.implicit.jacobian import (
    complex_step_jacobian,
    sparse_jacobian,
    sparse_pattern,
)
from vbg.simulate.steppers.implicit.sparsity import dependencies, pattern

MACHINES = SYSTEMS | {f"bench {name}": bench for name, bench in BENCHES.items()}


@pytest.mark.parametrize("name", MACHINES)
def test_structure_holds_every_entry_of_the_jacobian(name):
    """Whatever complex steps find, the tape had announced; grouped columns give the same."""
    machine = MACHINES[name]
    system = vbg.assemble(machine() if callable(machine) else vbg.Model(**machine))
    start, n = vbg.start(system), system.size
    x = start.state
    exact = complex_step_jacobian(start)(0.1, x)
    sets = dependencies(start.rate_program, n)
    announced = np.array([[(sets[i] >> j) & 1 for j in range(n)] for i in range(n)], dtype=bool)
    assert not np.any(exact[~announced])
    structure = pattern(start.rate_program, n, frozenset(), start.system.discrete)
    grouped = sparse_jacobian(start, structure)(0.1, x)
    assert_allclose(grouped.toarray(), exact, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("kind", [plain, stiff])
def test_cost_grows_with_the_sections_only(kind):
    """Operations of the rate are linear in the sections, groups of columns constant."""
    systems = [vbg.assemble(model(kind(n))) for n in (50, 100, 200)]
    few, twice, four = (vbg.start(s).rate_program.operations for s in systems)
    assert four - twice == 2 * (twice - few)
    structures = [sparse_pattern(vbg.start(s)) for s in systems]
    assert [structure.groups for structure in structures] == [3, 3, 3]


def test_parts_that_all_reach_each_other_are_left_dense():
    """The joint forces of a chain couple all its rates."""
    assert sparse_pattern(vbg.start(SYSTEMS["tree"]())) is None


def linear_ladder(ladder: Ladder, times: np.ndarray) -> np.ndarray:
    """Voltages of the capacitors by the matrix exponential while the source still rises.

    With currents i and voltages v of the sections, source u = s t:
    L i' = v_(k-1) - v_k - R i_k,  C v' = i_k - i_(k+1),  the last one with the load.
    """
    n = ladder.sections
    A = np.zeros((2 * n + 2, 2 * n + 2))  # i, v, u, s
    for k in range(n):
        A[k, k] = -ladder.resistance / ladder.inductance
        A[k, n + k - 1 if k else 2 * n] = 1.0 / ladder.inductance
        A[k, n + k] = -1.0 / ladder.inductance
        A[n + k, k] = 1.0 / ladder.capacitance
        if k < n - 1:
            A[n + k, k + 1] = -1.0 / ladder.capacitance
    A[2 * n - 1, 2 * n - 1] = -1.0 / (ladder.load * ladder.capacitance)
    A[2 * n, 2 * n + 1] = 1.0
    start = np.zeros(2 * n + 2)
    start[-1] = ladder.voltage / ladder.rise
    return np.array([expm(A * t) @ start for t in times])[:, n : 2 * n]


def test_stiff_ladder_follows_its_matrix_exponential():
    """Fastest time constant 1e-11 s, run of 1.6e-6 s: chosen implicit by itself, and right."""
    ladder = replace(stiff(40), clamped=False, rise=2e-6)
    _, solution, _ = by_vbg(replace(ladder, rtol=1e-8))
    assert solution.made_by.method == "radau"
    places = slice(0, None, 20)
    expected = linear_ladder(ladder, solution.time[places])
    own = np.array([solution[f"C{i}.voltage"][places] for i in range(ladder.sections)]).T
    assert_allclose(own, expected, atol=1e-6 * ladder.voltage)
    assert solution.audit.energy_residual < 1e-7


@pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")
@pytest.mark.parametrize("kind", [plain, stiff])
def test_ladder_as_ngspice_has_it(kind):
    ladder = kind(100)
    _, solution, own = by_vbg(ladder)
    _, curves = by_ngspice(ladder, *SETTINGS[0], solution.time)
    assert_allclose(own, curves, atol=ALLOWED)
