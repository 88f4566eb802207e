"""Dry friction in several joints of linkages: both solvers, and the linkage's own equation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.domains.dry_linkages import Reduced, four_bar, slider_crank, table
from tests.tail import tail
from vbg import tmm_bridge
from vbg.simulate.events.sticking import alone, held
from vbg.tmm_bridge.motion.events.sticking import by_few, settled

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
CRANKS = [
    *[(4, 0.1, 1.0), (20, 10.0, 1e4), (10, 1e-3, 1e-6), (1, 0.1, 1.0), (22, 10.0, 1e4)],
    *[(31, 100.0, 1e6), (30, 1e-6, 1e-15)],
]
BARS = [(48, False), (3, True), (10, True), (2, True), (12, False), (1, False), (4, False)]


@pytest.mark.parametrize(("seed", "length", "mass"), tail(CRANKS, 2))
def test_a_slider_crank_moves_as_its_own_equation_says(seed, length, mass):
    """Slides reverse at the dead centres while the crank goes on; three frictions stick together
    where it stops, and let go together."""
    machine = slider_crank(seed, length, mass)
    angle, _ = Reduced(machine["made"]).solve(np.linspace(0.0, machine["t_end"], 101))
    for run in (vbg.simulate, tmm_bridge.simulate):
        solution = run(vbg.Model(**table(machine)), **TIGHT)
        assert solution.status.code == "finished", solution.status.sentence
        assert_allclose(solution["A.angle"], angle, atol=1e-6)
        assert solution.audit.energy_residual < 1e-6


@pytest.mark.parametrize(("seed", "parallel"), tail(BARS, 2))
@pytest.mark.parametrize(("length", "mass"), tail([(0.1, 1.0), (1e-3, 1e-6), (10.0, 1e4)], 1))
def test_both_solvers_agree_on_a_four_bar(seed, parallel, length, mass):
    model = vbg.Model(**table(four_bar(seed, length, mass, parallel=parallel)))
    first, second = (run(model, **TIGHT) for run in (vbg.simulate, tmm_bridge.simulate))
    assert first.status.code == second.status.code == "finished"
    for name in ("A.angle", "B.angle", "D.angle"):
        assert_allclose(second[name], first[name], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [99, 100, 131, 717, 1307])
def test_a_row_across_a_singular_posture_is_as_good_as_its_neighbours(rows):
    """The parallelogram is flattened at 14.955 ms; a look at the rates of a step across it says
    nothing of its polynomial, and shorter steps end beside it."""
    machine = table(four_bar(2, 1e-3, 1e-6, parallel=True))
    machine["simulate"]["output_step"] = machine["simulate"]["t_end"] / rows
    model = vbg.Model(**machine)
    for change in np.arange(10):
        tight = {"rtol": 1e-10 * (1.0 + 1e-4 * change), "atol": 1e-12}
        first, second = (run(model, **tight) for run in (vbg.simulate, tmm_bridge.simulate))
        assert second.status.code == "finished", second.status.sentence
        for name in ("B.speed", "D.speed"):
            assert_allclose(second[name], first[name], atol=1e-7 * np.abs(first[name]).max())


@pytest.mark.parametrize("seed", range(20))
def test_what_holds_is_the_least_power_that_can_be(seed):
    """Both choices fulfil the law: no motion within the limits, at the limit against the motion."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    J = rng.normal(size=(n, m))
    ahead, back = rng.uniform(0.2, 1.0, (2, n))
    A, b = J @ J.T, J @ rng.normal(size=m) * rng.uniform(0.1, 3.0)
    (first, _, found), (second, _) = held(A, b, ahead, back), settled(A, b, ahead, back)
    assert found
    f = _least_power(A, b, ahead, back)
    growth = A @ f + b
    moves = np.abs(growth) > 1e-5
    assert np.array_equal(np.sign(growth[moves]), first[moves])
    assert np.array_equal(np.sign(growth[moves]), second[moves])


@pytest.mark.parametrize("choice", [alone, by_few])
@pytest.mark.parametrize("seed", range(8))
def test_no_more_hold_than_motions_are_held(seed, choice):
    """What held together still does, within its limits, by those that are left and those that are
    at their limits; also where nothing loads them."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 3))
    J, ahead, back = rng.normal(size=(n, m)), *rng.uniform(0.2, 1.0, (2, n))
    f = rng.uniform(-0.9, 0.9, n) * np.minimum(ahead, back) * (seed > 1)
    modes = choice(J @ J.T, f, ahead, back, np.zeros(n))
    holds = modes == 0
    assert holds.sum() <= m
    share = np.where(modes > 0, -ahead, back)
    share[holds] = np.linalg.lstsq(J[holds].T, J.T @ f - J[~holds].T @ share[~holds])[0]
    assert_allclose(J.T @ share, J.T @ f, atol=1e-9)
    assert np.all((-ahead < share + 1e-9) & (share - 1e-9 < back))


def _least_power(A, b, ahead, back):
    """The optimum by scipy, from 0."""
    from scipy.optimize import minimize

    found = minimize(
        lambda f: 0.5 * f @ A @ f + b @ f,
        np.zeros(len(b)),
        jac=lambda f: A @ f + b,
        bounds=list(zip(-ahead, back, strict=True)),
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10000},
    )
    return found.x
