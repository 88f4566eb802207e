"""The implicit method: its coefficients, orders, published stiff problems, scales, roundings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_matrix

import vbg
from benchmarks.speed import ladder
from tests.anywhere import shaken
from vbg.simulate.steppers.implicit import implicit
from vbg.simulate.steppers.implicit.collocation import integrals, radau
from vbg.simulate.steppers.implicit.implicit import STAGES, Implicit
from vbg.simulate.steppers.implicit.iteration import Compiled
from vbg.simulate.steppers.implicit.jacobian import complex_step_jacobian, implicit_jacobian
from vbg.simulate.steppers.work import Counts

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def solver(rate, jacobian, x, t_end, *, t=0.0, h=np.inf, rtol=1e-8, atol=1e-10):
    """One whose rates of several states are those of each."""

    def rates(times, states):
        return np.stack([rate(at, state) for at, state in zip(times, states, strict=True)])

    x = np.asarray(x, dtype=float)
    return Implicit(rate, rates, jacobian, t, x, t_end, max_step=h, rtol=rtol, atol=atol)


def end(made):
    """Where it gets to, and the steps that it takes."""
    steps = 0
    while made.status == "running":
        assert made.step() is None
        steps += 1
    return made.y, steps


# -- coefficients ------------------------------------------------------------------


@pytest.mark.parametrize("s", STAGES)
def test_stages_integrate_polynomials(s):
    """Up to degree s - 1 at each point, 2s - 2 at the end."""
    method = radau(s)
    for k in range(1, s + 1):
        assert_allclose(method.A @ method.c ** (k - 1), method.c**k / k, rtol=0, atol=4e-15)
    for k in range(1, 2 * s):
        assert method.A[-1] @ method.c ** (k - 1) == pytest.approx(1.0 / k, abs=4e-15)
    assert_allclose(integrals(method.c, s) @ method.inverse, np.eye(s), atol=1e-12)


def test_three_stages_are_those_of_the_book():
    """E. Hairer, G. Wanner, II, table IV.5.6, and the eigenvalues of IV.8."""
    r, method = np.sqrt(6.0), radau(3)
    assert_allclose(method.c, [(4 - r) / 10, (4 + r) / 10, 1.0], rtol=1e-15)
    assert_allclose(method.A[-1], [(16 - r) / 36, (16 + r) / 36, 1 / 9], rtol=1e-14)
    assert_allclose(method.A[0, 0], (88 - 7 * r) / 360, rtol=1e-14)
    assert method.shifts[0].real == pytest.approx(3.637834252744496, rel=1e-14)
    assert method.shifts[1] == pytest.approx(2.681082873627752 + 3.050430199247411j, rel=1e-14)


@pytest.mark.parametrize("s", STAGES)
def test_coordinates_of_the_systems_are_those_of_the_inverse(s):
    method = radau(s)
    whole = (method.back * method.shifts @ method.into).real
    assert_allclose(whole @ method.A, np.eye(s), atol=1e-9)


# -- orders -------------------------------------------------------------------------


def bend(t, x):
    """x = 1 / (1 + t^2), and a turning pair."""
    return np.array([-2.0 * t * x[0] ** 2, -3.0 * x[2], 3.0 * x[1]])


def bend_slopes(t, x):
    return np.array([[-4.0 * t * x[0], 0, 0], [0, 0, -3.0], [0, 3.0, 0]])


def bend_exact(t):
    return np.array([1.0 / (1.0 + t**2), np.cos(3.0 * t), np.sin(3.0 * t)])


def fixed(monkeypatch, s, h, t_end=2.0):
    """Errors at the end and inside of steps h of s stages, which error control lets pass."""
    monkeypatch.setattr(implicit, "STAGES", (s,))
    made = solver(bend, bend_slopes, bend_exact(0.0), t_end, h=h, rtol=1e-30, atol=1e3)
    made.h_abs, made.newton_tol = h, 1e-19
    inside = 0.0
    while made.status == "running":
        assert made.step() is None
        times = np.linspace(made.t_old, made.t, 9)
        miss = made.dense_output().each(times) - np.stack([bend_exact(t) for t in times])
        inside = max(inside, float(np.abs(miss).max()))
    return float(np.abs(made.y - bend_exact(made.t)).max()), inside


@pytest.mark.parametrize(("s", "steps"), [(3, (16, 32)), (5, (6, 12)), (7, (4, 5))])
def test_order_at_the_end_and_inside(monkeypatch, s, steps):
    """2s - 1 at the end; s + 1 between, where the step's own error is what counts."""
    errors = np.array([fixed(monkeypatch, s, 2.0 / n) for n in steps])
    at_end, inside = np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])
    assert errors[1, 0] > 1e-13
    assert 2 * s - 1.6 < at_end < 2 * s + 1.6
    assert s + 0.4 < inside < s + 2.6


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
def test_the_tolerance_is_held_inside_the_steps(rtol):
    made = solver(bend, bend_slopes, bend_exact(0.0), 10.0, rtol=rtol, atol=rtol)
    while made.status == "running":
        assert made.step() is None
        times = np.linspace(made.t_old, made.t, 11)
        miss = made.dense_output().each(times) - np.stack([bend_exact(t) for t in times])
        assert np.abs(miss).max() < 20.0 * rtol


def test_what_is_constant_stays_so_to_the_last_digit():
    made = solver(
        lambda t, x: np.array([0.0, -x[1]]), lambda t, x: np.diag([0.0, -1.0]), [1 / 3, 1], 1
    )
    while made.status == "running":
        assert made.step() is None
        times = np.linspace(made.t_old, made.t, 7)
        assert (made.dense_output().each(times)[:, 0] == 1 / 3).all()


# -- published stiff problems -------------------------------------------------------


def van_der_pol(t, x, eps=1e-6):
    return np.array([x[1], ((1.0 - x[0] ** 2) * x[1] - x[0]) / eps])


def van_der_pol_slopes(t, x, eps=1e-6):
    return np.array([[0.0, 1.0], [(-2.0 * x[0] * x[1] - 1.0) / eps, (1.0 - x[0] ** 2) / eps]])


VAN_DER_POL = [0.1706167732170483e1, -0.8928097010247975]  # at t = 2, IVP Test Set 2.4


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_van_der_pol(rtol):
    made = solver(van_der_pol, van_der_pol_slopes, [2.0, 0.0], 2.0, rtol=rtol, atol=rtol)
    made.h_abs = 1e-7
    x, steps = end(made)
    assert_allclose(x, VAN_DER_POL, rtol=100.0 * rtol)
    assert steps < 700


@pytest.mark.parametrize("pace", [1e-9, 1e9])
def test_a_scale_of_time_changes_nothing(pace):
    """Beside the same problem in seconds: the steps, times the scale."""
    one = solver(van_der_pol, van_der_pol_slopes, [2.0, 0.0], 2.0, rtol=1e-7, atol=1e-7)
    two = solver(
        lambda t, x: van_der_pol(t / pace, x) / pace,
        lambda t, x: van_der_pol_slopes(t / pace, x) / pace,
        [2.0, 0.0],
        2.0 * pace,
        rtol=1e-7,
        atol=1e-7,
    )
    one.h_abs, two.h_abs = 1e-7, 1e-7 * pace
    (x, few), (y, many) = end(one), end(two)
    assert_allclose(y, x, rtol=1e-5)
    assert abs(many - few) <= 0.1 * few


def robertson(t, x):
    slow, fast, square = 0.04 * x[0], 1e4 * x[1] * x[2], 3e7 * x[1] ** 2
    return np.array([fast - slow, slow - fast - square, square])


def robertson_slopes(t, x):
    J = np.array([[-0.04, 1e4 * x[2], 1e4 * x[1]], [0.04, -1e4 * x[2], -1e4 * x[1]], [0.0] * 3])
    J[1:, 1] += [-6e7 * x[1], 6e7 * x[1]]
    return J


ROBERTSON = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]  # at 1e11 s


@pytest.mark.parametrize("sparse", [False, True])
def test_robertson(sparse):
    """Eleven decades of time; what is there stays, a linear invariant."""

    def slopes(t, x):
        J = robertson_slopes(t, x)
        return csc_matrix(J) if sparse else J

    made = solver(robertson, slopes, [1.0, 0, 0], 1e11, rtol=1e-9, atol=1e-20)
    made.h_abs = 1e-4
    while made.status == "running":
        assert made.step() is None
        assert made.y.sum() == pytest.approx(1.0, abs=1e-11)
    assert_allclose(made.y, ROBERTSON, rtol=1e-6)


def test_stages_follow_what_limits_the_steps():
    """The error of a smooth motion asks for seven stages, and for no iteration of more than a few;
    few Jacobians and factors serve it."""
    count = {"slopes": 0}

    def slopes(t, x):
        count["slopes"] += 1
        return bend_slopes(t, x)

    made = solver(bend, slopes, bend_exact(0.0), 20.0, rtol=1e-10, atol=1e-10)
    x, steps = end(made)
    assert_allclose(x, bend_exact(20.0), atol=1e-8)
    assert made.method.stages == 7
    assert steps < 130 and count["slopes"] < steps


def test_a_jacobian_without_a_value_is_said():
    with pytest.raises(ZeroDivisionError):
        solver(bend, lambda t, x: np.full((3, 3), np.nan), bend_exact(0.0), 1.0)


# -- machines ------------------------------------------------------------------------


def by_kernels_and_numpy(start, x, jacobian, s, h):
    """The same steps of s stages from a first one of the length h on."""
    rate, n, made = start.evaluator("rate"), start.system.size, []
    for newton in (Compiled(rate, n, Counts()), None):
        limits = {"max_step": np.inf, "rtol": 1e-8, "atol": 1e-10}
        solver = Implicit(
            lambda t, x: rate(t, x)[:n].copy(),
            lambda times, states: rate.each(times, states)[:, :n],
            jacobian,
            *(0.0, x, 1.0),
            **limits,
            counts=Counts() if newton is None else newton.counts,
            newton=newton,
        )
        solver.h_abs, solver.method = h, radau(s)
        assert solver.step() is None
        solver.method = radau(s)
        made.append(solver)
    return made


def assert_alike(one, two, h, converges):
    """What compiled code says of a step of h, and numpy."""
    found, wanted = (solver._attempt(solver.t + h, True) for solver in (one, two))
    assert found.count == wanted.count and one.counts == two.counts
    assert found.contraction == pytest.approx(wanted.contraction, rel=1e-3, abs=1e-6)
    assert (found.Z is not None) == (wanted.Z is not None) == converges
    assert (found.f is None) == (wanted.f is None)
    if converges:
        scale = 1e-10 + 1e-8 * np.abs(one.y)
        assert np.abs((found.Z - wanted.Z) / scale).max() < 1e-2
        assert found.error == pytest.approx(wanted.error, rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("s", STAGES)
@pytest.mark.parametrize("h", [1e-5, 1e-3])
def test_a_compiled_step_is_that_by_numpy(s, h):
    """Behind one of another length; the second is too long for the iteration."""
    start = vbg.start(vbg.assemble(vbg.read(EXAMPLES / "motor-slider-crank.toml")))
    one, two = by_kernels_and_numpy(start, start.state, implicit_jacobian(start), s, 0.9e-5)
    assert one.staged > 0 == two.staged
    assert_alike(one, two, h, h == 1e-5)


@pytest.mark.parametrize("s", STAGES)
def test_a_compiled_step_on_a_sparse_jacobian(s):
    """Of a ladder; then on matrices of pairs, coupled at random in one pattern: pivots of the first
    do not bear the second, whose diagonal is that of z / h - J."""
    start, h = vbg.start(vbg.assemble(ladder.model(ladder.stiff(10)))), 1e-11
    exact, rng, n = complex_step_jacobian(start), np.random.default_rng(s), start.system.size
    x = start.state + 1e-9 * rng.normal(size=n)
    one, two = by_kernels_and_numpy(start, x, lambda t, x: csc_matrix(exact(t, x)), s, 0.01 * h)
    one.inside = two.inside = None  # from no guess, whose defect may be rounding
    assert_alike(one, two, 0.01 * h, True)
    far = np.kron(np.diag(rng.uniform(1.0, 2.0, n // 2)), [[0.0, 1.0], [1.0, 0.0]])
    far += 0.1 * rng.normal(size=(n, n)) * (rng.random((n, n)) < 2.0 / n)
    np.fill_diagonal(far, 0.0)
    for diagonal in (-50.0, radau(s).shifts[0].real, 2.0):
        one.J = two.J = csc_matrix((far + diagonal * np.eye(n)) / h)
        assert_alike(one, two, h, False)


def test_a_stiff_machine_as_the_explicit_method_has_it_at_any_rounding():
    """Motor, oil and slider-crank, whose steps stability limits: states, joint forces."""
    start = vbg.start(vbg.assemble(vbg.read(EXAMPLES / "motor-slider-crank.toml")))
    run = {"t_end": 0.05, "output_step": 1e-3}
    exact = vbg.simulate(start, method="dop853", rtol=1e-11, atol=1e-13, **run)
    forces = [name for name in exact.signals if name.endswith(".force")]
    assert forces
    few = None
    for moved in shaken(start):
        found = vbg.simulate(moved, method="radau", **run)
        few = few or found.made_by.n_steps
        assert found.status.code == "finished" and found.audit.failures == ()
        assert found.made_by.n_steps < 1.5 * few and 5 * few < exact.made_by.n_steps
        for name in forces:
            size = np.abs(exact[name]).max()
            one, two = found[name][1:], exact[name][1:]  # the first is that of the moved start
            assert_allclose(one, two, rtol=0.0, atol=2e-6 * size, err_msg=name)
