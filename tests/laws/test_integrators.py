"""Integrators: observed order, work, exact Jacobians, and runs that end early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import Machine, random_body, random_loop, random_tree
from tests.laws.parts import add_bushing, loaded
from vbg import tmm_bridge
from vbg.assemble.program.evaluator import Evaluator
from vbg.io.runs import csv, hdf5
from vbg.simulate.steppers.implicit.jacobian import complex_step_jacobian
from vbg.solution import Solution, components

T_END = 0.4


def solve(system: vbg.System, method: str, step: float, **options: Any) -> Solution:
    solution = vbg.simulate(system, t_end=T_END, output_step=step, method=method, **options)
    assert solution.status.code == "finished", solution.status
    return solution


def end(solution: Solution, machine: Machine) -> np.ndarray:
    return np.concatenate([solution[f"{body}.position"][-1] for body in machine.bodies])


@pytest.mark.parametrize("make", [random_tree, random_loop])
def test_rk4_has_order_four(make):
    """Halving the step divides the error by about 16, with projection on the constraints."""
    machine = make(6)
    system = vbg.assemble(machine.model())
    exact = end(solve(system, "dop853", 0.1, rtol=1e-12, atol=1e-13), machine)
    steps = [0.01, 0.005, 0.0025]
    errors = [np.linalg.norm(end(solve(system, "rk4", h), machine) - exact) for h in steps]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] > 1e-12
    assert_allclose(orders, 4.0, atol=0.4)


@pytest.mark.parametrize("make", [random_tree, random_loop])
def test_dop853_keeps_its_tolerance_and_bounds_its_work(make):
    """Error below 100 rtol, and so few rates as an order of 8 needs: 1e-10 costs at most
    3 times what 1e-6 costs."""
    machine = make(6)
    system = vbg.assemble(machine.model())
    exact = end(solve(system, "dop853", 0.1, rtol=1e-12, atol=1e-13), machine)
    rates = {}
    for rtol in (1e-6, 1e-8, 1e-10):
        solution = solve(system, "dop853", 0.1, rtol=rtol, atol=1e-2 * rtol)
        assert np.abs(end(solution, machine) - exact).max() < 100 * rtol
        rates[rtol] = solution.made_by.n_rates
        assert 12 * solution.made_by.n_steps <= solution.made_by.n_rates
    assert rates[1e-6] < 400
    assert rates[1e-10] < 3.5 * rates[1e-6]


def test_output_rows_cost_four_rates_a_step_at_most():
    """Three that the dense output of order 7 needs and one in its middle, which says whether it
    follows the motion, however many rows are read from it."""
    system = vbg.assemble(random_tree(6).model())
    few, many = (solve(system, "dop853", step).made_by for step in (T_END, 0.001))
    assert few.n_steps == many.n_steps
    assert many.n_rates <= few.n_rates + 4 * few.n_steps


@pytest.mark.parametrize("seed", [1, 2])
def test_complex_steps_give_the_jacobian(seed):
    """Against central differences, for a machine with every part, constraint forces included;
    modes are never moved."""
    machine = loaded(random_loop(seed), seed)
    system = vbg.assemble(machine.model())
    x = vbg.start(system).state
    exact = complex_step_jacobian(vbg.start(system))(0.3, x)
    rate = Evaluator(vbg.start(system).rate_program)
    h = 1e-6
    assert system.discrete.any() and not exact[:, system.discrete].any()
    for i in np.flatnonzero(~system.discrete):
        e = h * np.eye(len(x))[i]
        forward, back = (rate(0.3, x + s * e)[: len(x)].copy() for s in (1.0, -1.0))
        slope = (forward - back) / (2 * h)
        size = 1.0 + np.abs(exact).max()
        assert_allclose(exact[:, i], slope, atol=1e-8 * size, err_msg=system.state_names[i])


def stiff() -> Machine:
    """A body on a bushing with 1e6 N/m and strong damping, and a soft spring to pull at it."""
    rng = np.random.default_rng(9)
    machine = Machine(gravity=np.array([1.0, -2.0, -9.3]))
    machine.bodies["mass"] = random_body(rng)
    machine.bodies["mass"]["velocity"] = [0.0, 0.0, 0.0]
    machine.bodies["mass"]["angular_velocity"] = [0.0, 0.0, 0.0]
    add_bushing(machine, rng, "mount", "mass", "mass", damped=True)
    mount = machine.forces["mount"]
    mount["stiffness"] = (1e6 * np.eye(6) + 1e5 * np.array(mount["stiffness"])).tolist()
    mount["damping"] = (3e4 * np.eye(6) + 1e3 * np.array(mount["damping"])).tolist()
    mount["between"][0] = mount["between"][1] | {"body": "ground"}
    p, R = machine.pose("mass")
    at = p + R @ np.array(mount["between"][1]["at"])
    mount["between"][0] = machine.at("ground", at)
    return machine


@pytest.mark.slow
def test_radau_takes_few_steps_where_explicit_steps_are_short():
    machine = stiff()
    system = vbg.assemble(machine.model())
    one = solve(system, "radau", 0.05, rtol=1e-7, atol=1e-10)
    two = solve(system, "dop853", 0.05, rtol=1e-7, atol=1e-10)
    assert one.made_by.n_steps < 0.1 * two.made_by.n_steps
    assert one.made_by.n_rates < 0.1 * two.made_by.n_rates
    assert_allclose(one["mass.position"], two["mass.position"], atol=1e-8)
    assert_allclose(one["mount.force"], two["mount.force"], rtol=1e-4, atol=1e-3)


# -- runs that end early, and results on disk --------------------------------------


def test_cancel_keeps_what_was_computed():
    system = vbg.assemble(random_loop(3).model())
    whole = vbg.simulate(system, t_end=1.0, output_step=0.01)
    seen: list[float] = []

    def until_half(fraction: float, t: float) -> bool | None:
        seen.append(t)
        return None if fraction < 0.5 else False

    part = vbg.simulate(system, t_end=1.0, output_step=0.01, progress=until_half)
    assert part.status.code == "cancelled"
    assert seen == sorted(seen)
    assert 2 < len(part.time) < len(whole.time)
    for name, values in part.signals.items():
        same = slice(0, len(part.time) - 1)
        assert_allclose(values[same], whole[name][same], rtol=1e-12, atol=0.0, err_msg=name)


@pytest.mark.parametrize("method", ["dop853", "radau", "discrete-time", "mstmm"])
def test_a_cancelled_run_keeps_the_row_that_it_has_reached(method):
    """Also where no output instant has passed yet: what is shown as reached is there."""
    model = random_loop(3).model()
    seen: list[float] = []

    def at_the_third(fraction: float, t: float) -> bool:
        seen.append(t)
        return len(seen) < 3

    solver = tmm_bridge.simulate if method == "mstmm" else vbg.simulate
    settings = {} if method == "mstmm" else {"method": method}
    part = solver(model, t_end=2.0, output_step=0.7, progress=at_the_third, **settings)
    assert part.status.code == "cancelled" and part.time[-1] == seen[-1] > 0.0
    assert np.all(np.diff(part.time) > 0.0)
    whole = solver(model, t_end=seen[-1], output_step=0.7, **settings)
    for name, values in part.signals.items():
        if name.endswith(("position", "velocity")) and not name.startswith("residual"):
            assert_allclose(values[-1], whole[name][-1], rtol=1e-5, atol=1e-6, err_msg=name)


def towards_zero() -> vbg.System:
    """A spring between two points that are driven into one another: its direction is lost."""
    slider = {
        "kind": "prismatic",
        "between": ["ground", "body"],
        "axis": [0, 0, 1],
        "drive": "0.5 - 1.1*t",
    }
    rod = {"kind": "distance", "between": ["ground", "load"], "length": 0.6}
    body = {"mass": 1.2, "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.25}}
    load = body | {"position": [0.6, 0, 0]}
    force = {"kind": "force", "on": "load", "force": ["1/(0.3 - t)**2", 0, 0]}
    return vbg.assemble(
        vbg.Model(
            name="fails",
            bodies={"body": body, "load": load},
            joints={"slider": slider, "rod": rod},
            forces={"pull": force},
        )
    )


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_failure_is_a_status_with_what_was_computed(method):
    """A force that becomes infinite at t = 0.3 s."""
    solution = vbg.simulate(
        towards_zero(), t_end=1.0, output_step=0.01, method=method, rtol=1e-8, atol=1e-10
    )
    assert solution.status.code == "failed"
    assert solution.status.remedy
    assert "t = 0.3" in solution.status.sentence or "t = 0.29" in solution.status.sentence
    assert 20 < len(solution.time) <= 31
    assert np.isfinite(solution["load.position"]).all()


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_start_without_a_rate_fails_at_once(method):
    """A spring whose ends coincide has no direction."""
    body = {"mass": 1.2, "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.25}}
    spring = {"kind": "spring", "between": ["ground", "body"], "k": 9.0, "length": 0.1}
    model = vbg.Model(name="coincident", bodies={"body": body}, forces={"spring": spring})
    solution = vbg.simulate(vbg.assemble(model), t_end=0.2, output_step=0.1, method=method)
    assert solution.status.code == "failed"
    assert "not finite" in solution.status.sentence
    assert len(solution.time) == 1


def test_results_come_back_from_disk(tmp_path):
    system = vbg.assemble(loaded(random_loop(4), 4).model())
    solution = vbg.simulate(system, t_end=0.1, output_step=0.01)
    hdf5.write(solution, tmp_path / "run.h5")
    again = hdf5.read(tmp_path / "run.h5")
    assert again.status == solution.status
    assert again.audit == solution.audit
    assert again.made_by == solution.made_by
    assert dict(again.units) == dict(solution.units)
    assert list(again.signals) == list(solution.signals)
    assert np.array_equal(again.time, solution.time)
    for name, values in solution.signals.items():
        assert np.array_equal(again[name], values), name
    csv.write(solution, tmp_path / "run.csv")
    table = csv.read(tmp_path / "run.csv")
    assert np.array_equal(table.time, solution.time)
    for name, values in components(solution):
        assert np.array_equal(table[name], values), name


def test_rows_stream_while_the_run_goes_on(tmp_path: Path):
    """The blocks a sink gets are the solution; what was streamed before a crash is readable."""
    system = vbg.assemble(random_tree(4).model())
    blocks: list[np.ndarray] = []
    path = tmp_path / "run.h5"

    class Crash(Exception):
        pass

    with hdf5.Writer(path) as writer:

        def sink(time: np.ndarray, signals: Any) -> None:
            blocks.append(time)
            writer.append(time, signals)
            if len(blocks) == 3:
                raise Crash

        with pytest.raises(Crash):
            vbg.simulate(system, t_end=2.0, output_step=1e-3, sink=sink)
    partial = hdf5.read(path)
    whole = vbg.simulate(system, t_end=2.0, output_step=1e-3)
    count = sum(map(len, blocks))
    assert 0 < count < len(whole.time)
    assert np.array_equal(partial.time, np.concatenate(blocks))
    assert partial.status.code != "finished"
    force = whole["joint0.force"][:count]
    assert_allclose(partial["joint0.force"], force, rtol=1e-9, atol=1e-9)
