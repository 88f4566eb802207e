"""Independent coordinates against the constraint form, closed forms and their own laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from benchmarks.machines import chain, windows
from benchmarks.speed import minimal as benchmark
from tests.anywhere import shaken
from tests.laws.machines import random_loop, random_tree
from tests.laws.parts import coupled, loaded, rolling_disc
from tests.published.problems import PROBLEMS
from tests.scaled import Scale
from tests.tail import tail
from vbg.assemble.start.constraints.posture import Projector
from vbg.errors import UsageError
from vbg.simulate.minimal.coordinates import choose
from vbg.simulate.minimal.factors import LARGE
from vbg.simulate.minimal.retraction import Retraction
from vbg.simulate.minimal.stepper import Minimal
from vbg.simulate.steppers.adams import Adams, NoStep

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
# t_end: short, since each machine is run in both forms
MACHINES = {
    "slider-crank": 0.3,
    "andrews-squeezer": 0.02,
    "bennett": 0.5,  # redundant, and the dependent row moves along the motion
    "spatial-four-bar": 0.3,
    "stewart-platform": 0.5,  # all driven: nothing is left to integrate
    "heavy-top": 0.1,
    "triple-pendulum": 0.5,  # ball joints: coordinates are chosen anew
    "gear-pair": 0.5,
    "shaft-arm-slider": 0.5,
    "two-link-robot": 0.5,
    "pick-and-place": 0.3,  # rotors on joints: stores that depend on others
    "excavator-arm": 0.3,
    "motor-slider-crank": 0.02,
    "quarter-car": 0.5,
    "ball-screw-axis": 0.2,
    "free-body": 0.5,
}


def assembled(name):
    return vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))


@pytest.mark.parametrize("name", tail(MACHINES, 8))
def test_both_formulations_give_the_same_motion_and_forces(name):
    system, t_end = assembled(name), MACHINES[name]
    plan = {"t_end": t_end, "output_step": t_end / 20, "rtol": 1e-10, "atol": 1e-12}
    constraint = vbg.simulate(system, method="auto", formulation="constraint", **plan)
    minimal = vbg.simulate(system, method="auto", formulation="minimal", **plan)
    assert minimal.status.code == "finished", minimal.status
    assert minimal.made_by.method == "adams"
    assert minimal.audit.position_residual < 1e-13
    assert minimal.audit.velocity_residual < 1e-11
    assert minimal.audit.energy_residual < 2e-9
    assert [e.what for e in minimal.audit.events] == [e.what for e in constraint.audit.events]
    size = {"m": 1.0, "m/s": 1.0, "m/s^2": 10.0}
    for signal, values in constraint.signals.items():
        if "residual" in signal:
            continue
        scale = max(np.abs(values).max(), size.get(constraint.unit(signal), 1e-3))
        assert_allclose(minimal[signal], values, rtol=0, atol=2e-5 * scale, err_msg=signal)


def random_machines():
    """Every joint, closed loops, couplings, a rolling disc, forces of every kind."""
    for seed in (0, 2, 6):
        yield f"tree {seed}", loaded(random_tree(seed), seed)
    for seed in (2, 4):
        yield f"loop {seed}", loaded(random_loop(seed), seed)
    yield "rack and pinion", coupled(3, "rack_pinion")
    yield "rolling disc", rolling_disc(1)  # 5 coordinates, 3 speeds


@pytest.mark.parametrize(("name", "machine"), [*random_machines()])
def test_random_machines_move_alike_in_both_formulations(name, machine):
    system = vbg.assemble(machine.model())
    plan = {"t_end": 0.3, "output_step": 0.03, "rtol": 1e-10, "atol": 1e-12}
    constraint = vbg.simulate(system, formulation="constraint", **plan)
    minimal = vbg.simulate(system, formulation="minimal", **plan)
    assert minimal.status.code == "finished", minimal.status
    assert minimal.audit.position_residual < 1e-13
    assert minimal.audit.velocity_residual < 1e-12
    for signal, values in constraint.signals.items():
        if "residual" not in signal and not signal.startswith("energy."):
            scale = max(np.abs(values).max(), 1e-2)
            assert_allclose(minimal[signal], values, rtol=0, atol=1e-6 * scale, err_msg=signal)


ROD = {
    "mass": 1.0,
    "inertia": {"xx": 0.01, "yy": 0.1, "zz": 0.1},
    "points": {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]},
}


def crane():
    """A driven rail, a hinge and a ball joint: y moves with the drive."""
    return vbg.Model(
        name="crane",
        gravity=[0, 0, -9.81],
        bodies={
            "cart": {"mass": 2.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}},
            "rod": {**ROD, "position": [0.5, 0, 0]},
            "bob": {**ROD, "position": [1.5, 0, 0], "angular_velocity": [0.3, 0, 0.5]},
        },
        joints={
            "rail": {
                "kind": "prismatic",
                "between": ["ground", "cart"],
                "axis": [1, 0, 0],
                "drive": "0.3*sin(3*t)",
            },
            "hinge": {"kind": "revolute", "between": ["cart", "rod.A"], "axis": [0, 1, 0]},
            "ball": {"kind": "spherical", "between": ["rod.B", "bob.A"]},
        },
    )


def hinged(**joint):
    return vbg.Model(
        name="hinged rod",
        gravity=[0, 0, -9.81],
        bodies={"rod": ROD},
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "rod.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": 0.2, "speed": 0.5},
                **joint,
            }
        },
    )


STOP = {"lower": -1.0, "upper": 1.2, "k": 5e3, "c": 20.0}


@pytest.mark.parametrize(
    ("model", "events"),
    [
        (crane(), 0),
        (hinged(stop=STOP), 2),  # it strikes the stop
        (hinged(friction={"coulomb": 2.0, "static": 2.5}), 1),  # it turns back and comes to rest
    ],
    ids=["drive", "stop", "dry friction"],
)
def test_drives_and_events(model, events):
    system = vbg.assemble(model)
    plan = {"t_end": 1.5, "output_step": 0.05, "rtol": 1e-10, "atol": 1e-12}
    constraint = vbg.simulate(system, formulation="constraint", **plan)
    minimal = vbg.simulate(system, formulation="minimal", **plan)
    expected = [(e.what, e.time) for e in constraint.audit.events]
    found = [(e.what, e.time) for e in minimal.audit.events]
    assert [what for what, _ in found] == [what for what, _ in expected]
    assert len(found) >= events
    assert_allclose([t for _, t in found], [t for _, t in expected], rtol=0, atol=1e-7)
    for signal, values in constraint.signals.items():
        if ".position" in signal or ".angle" in signal:
            assert_allclose(minimal[signal], values, rtol=0, atol=1e-7, err_msg=signal)
    assert minimal.audit.position_residual < 1e-14


def test_a_start_without_a_rate_fails_at_once_and_says_why():
    """A spring whose ends coincide has no direction."""
    body = {"mass": 1.2, "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.25}}
    spring = {"kind": "spring", "between": ["ground", "body"], "k": 9.0, "length": 0.1}
    model = vbg.Model(name="coincident", bodies={"body": body}, forces={"spring": spring})
    solution = vbg.simulate(model, t_end=0.2, output_step=0.1, formulation="minimal")
    assert solution.status.code == "failed" and "not finite" in solution.status.sentence
    assert len(solution.time) == 1


def test_an_output_that_cannot_be_retracted_is_interpolated(monkeypatch):
    """Inside a step the polynomial is near the constraints even where Newton finds no way."""
    system = vbg.assemble(vbg.read(EXAMPLES / "slider-crank.toml"))
    stepper = Minimal(vbg.start(system), 0.0, vbg.start(system).state.copy(), 1e-8, 1e-10)
    stepper.limit(0.01)
    for _ in range(10):
        assert stepper.step() is None
    middle = 0.5 * (stepper.t_before + stepper.t)
    closed = stepper.between(middle)

    def lost(*_):
        raise NoStep

    monkeypatch.setattr(Retraction, "__call__", lost)
    assert_allclose(stepper.between(middle), closed, atol=1e-6)


def test_a_rate_that_ends_at_the_start_is_not_waited_for():
    """sqrt(-t) has a value at t = 0 and none behind it: no step is short enough."""
    model = vbg.Model(
        name="ends",
        bodies={"b": {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}},
        joints={"j": {"kind": "prismatic", "between": ["ground", "b"], "axis": [0, 0, 1]}},
        forces={"f": {"kind": "force", "on": "b", "force": [0, 0, "sqrt(0 - t)"]}},
    )
    found = vbg.simulate(model, t_end=1.0, output_step=0.1, formulation="minimal")
    assert found.status.code == "failed"
    assert "The rate is not finite" in found.status.sentence


@pytest.mark.parametrize("name", ["andrews_squeezer", "msl_fourbar1"])
def test_published_digits_are_met_in_minimal_form(name):
    problem = PROBLEMS[name]
    system = vbg.assemble(vbg.read(problem.model))
    solution = vbg.simulate(system, method="auto", formulation="minimal")
    assert solution.status.code == "finished", solution.status
    missed = [c for c in problem.channels(solution) if not c.error <= c.tolerance]
    assert not missed, missed


@pytest.mark.slow
def test_leaps_over_singular_postures_keep_six_digits_at_any_rounding():
    """A02 passes several flat postures: of 16 roundings the worst missed its digits
    by 2.4e-7; with projections they are met to 1e-7."""
    problem = PROBLEMS["a02_double_four_bar"]
    for start in shaken(vbg.start(vbg.read(problem.model)), 2):
        solution = vbg.simulate(start, formulation="minimal")
        assert solution.status.code == "finished", solution.status
        missed = [c for c in problem.channels(solution) if not c.error <= max(c.tolerance, 5e-7)]
        assert not missed, missed
        assert solution.audit.energy_residual < 1e-8


@pytest.mark.slow
def test_many_revolutions_without_any_projection(monkeypatch):
    """The residuals after twenty revolutions are those of rounding, and no state is moved
    onto the constraints between steps."""
    system = benchmark.slider_crank()
    assert vbg.start(system).state is not None  # assembly itself projects

    def never(*_):
        raise AssertionError("projected")

    monkeypatch.setattr(Projector, "project", never)
    solution = vbg.simulate(system, t_end=4.0, output_step=0.02, formulation="minimal")
    assert solution["A.angle"][-1] - solution["A.angle"][0] > 19.0 * 2.0 * np.pi
    assert solution.audit.position_residual < 1e-13
    assert solution.audit.velocity_residual < 1e-12


def test_a_new_choice_of_coordinates_keeps_the_history():
    """The step is as long behind a change as before it; with a restart it is not."""
    system = assembled("heavy-top")
    kept = benchmark.run(system, 0.2, "transform", 1e-8, 1e-10)
    restarted = benchmark.run(system, 0.2, "restart", 1e-8, 1e-10)
    assert kept.changes > 5 and restarted.changes > 5
    assert kept.rejected < restarted.rejected
    assert kept.behind < restarted.behind
    assert kept.until_back < 1.0 and restarted.until_back > 10.0
    assert kept.steps < 0.5 * restarted.steps


def test_the_benchmark_prints_its_tables(capsys):
    benchmark.changes(share=0.02)
    benchmark.published(("andrews_squeezer",))
    benchmark.long_run(2.0)
    lines = capsys.readouterr().out.splitlines()
    assert sum("transform" in line or "restart" in line for line in lines) == 8
    (squeezer,) = [line.split() for line in lines if line.startswith("andrews")]
    assert float(squeezer[2]) < 1.0
    assert "position residual" in lines[-1]


def test_coordinates_of_a_tree_are_its_joint_coordinates():
    system = assembled("double-pendulum")
    stepper = Minimal(vbg.start(system), 0.0, vbg.start(system).state, 1e-8, 1e-10)
    stepper.limit(1.0)
    while stepper.t < 1.0:
        assert stepper.step() is None
    z = stepper.programs.posture
    names = [system.state_names[i] for i in z]
    rows = stepper.coordinates
    chosen = {names[i] for row in rows for i in np.flatnonzero(row)}
    assert len(chosen) == 2 and all(name.endswith(".angle") for name in chosen)
    assert np.count_nonzero(rows) == len(rows) == 2
    assert stepper.changes == 0 and stepper.worst == pytest.approx(1.0)


LARGE_MACHINES = {
    "chain": (chain(25, across=1.0), True),  # joint coordinates, sparse
    "windows": (windows(11, redundant=False), False),  # loops, sparse
    "redundant windows": (windows(11, redundant=True), False),  # least squares
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE_MACHINES)
def test_large_machines_move_alike_in_both_formulations(name):
    """Ten starts that rounding tells apart."""
    model, alone = LARGE_MACHINES[name]
    plan = {"t_end": 0.1, "output_step": 0.05, "rtol": 1e-9, "atol": 1e-11}
    for start in shaken(vbg.start(vbg.assemble(model))):
        stepper = Minimal(start, 0.0, start.state, 1e-9, 1e-11)
        assert stepper.programs.slope.shape[1] >= LARGE
        assert stepper._retraction.lasting is alone
        constraint = vbg.simulate(start, formulation="constraint", **plan)
        minimal = vbg.simulate(start, formulation="minimal", **plan)
        assert minimal.audit.position_residual < 1e-13
        for signal, values in constraint.signals.items():
            if "residual" not in signal:
                scale = max(np.abs(values).max(), 1e-2)
                assert_allclose(minimal[signal], values, rtol=0, atol=1e-6 * scale, err_msg=signal)


@pytest.mark.parametrize("length", [1e-9, 1e-3, 1e3, 1e8])
def test_machines_of_any_size_move_alike_in_minimal_form(length):
    """Newton ends at the machine's own rounding: at 1e8 m it never did."""
    model, plan = windows(3, redundant=False), {"t_end": 0.1, "output_step": 0.02}
    scale = Scale(length, length**2, 1.0)
    first = vbg.simulate(model, formulation="minimal", **plan)
    found = vbg.simulate(scale.model(model), formulation="minimal", **plan)
    assert found.status.code == "finished", found.status
    for joint in model.joints:
        name = f"{joint}.force"
        size = max(np.abs(first[f"{other}.force"]).max() for other in model.joints)
        error = np.abs(found[name] / scale.of(first.units[name]) - first[name]).max()
        assert error < 1e-8 * size, name


@pytest.mark.parametrize("seed", range(6))
def test_sparse_and_dense_factors_are_alike(seed, monkeypatch):
    """The motions of the coordinates that each finds are one another's images, and what its
    factors solve, they solve; trees and loops."""
    machine = random_tree(seed) if seed % 2 else random_loop(seed)
    start = vbg.start(vbg.assemble(machine.model()))
    dense = Minimal(start, 0.0, start.state, 1e-8, 1e-10)._retraction
    monkeypatch.setattr("vbg.simulate.minimal.retraction.LARGE", 0)
    sparse = Minimal(start, 0.0, start.state, 1e-8, 1e-10)._retraction
    rng = np.random.default_rng(seed)
    for level in ("_posture", "_speeds"):
        ours, theirs = getattr(sparse, level), getattr(dense, level)
        rows = sparse.rows
        rest = np.zeros(len(ours.size) if level == "_posture" else len(theirs.size))
        rest[rows:] = rng.standard_normal(len(rest) - rows)  # a motion that keeps the joints
        step = ours.solve(rest)
        K = (dense.K if level == "_posture" else dense.L).matrix
        again = theirs.solve(np.concatenate([rest[:rows], K @ (theirs.motion @ step)]))
        assert_allclose(again, step, rtol=0, atol=1e-9 * np.abs(step).max())


def test_the_choice_spans_the_null_space():
    """K T is regular for any full-rank constraint Jacobian, and the identity on motions
    where the coordinates are the unknowns themselves."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        J = rng.standard_normal((4, 7))
        J[3] = J[0] - 2.0 * J[1]  # redundant
        chosen = choose(J, np.eye(7), np.zeros(7, dtype=int), None)
        assert chosen.matrix.shape == (4, 7)
        whole = np.vstack([J, chosen.matrix])
        assert np.linalg.matrix_rank(whole) == 7
        N = np.linalg.svd(J)[2][3:].T
        motion = N @ np.linalg.inv(chosen.matrix @ N)
        assert chosen.growth(motion) == pytest.approx(1.0, rel=1e-9)


def adams(rate, X, rtol):
    def error(difference, at):
        return float(np.sqrt(np.mean((difference / (rtol * (1.0 + np.abs(at)))) ** 2)))

    return Adams(rate, lambda t, X: X, error, 0.0, np.array(X))


def test_adams_follows_an_orbit_and_its_dense_output():
    """Kepler, eccentricity 0.6: position after one turn, and E - e sin E = t inside."""

    def rate(t, X):
        r = np.hypot(X[0], X[1])
        return np.array([X[2], X[3], -X[0] / r**3, -X[1] / r**3])

    e = 0.6
    start = [1.0 - e, 0.0, 0.0, np.sqrt((1.0 + e) / (1.0 - e))]
    errors = []
    for rtol in (1e-6, 1e-9, 1e-12):
        stepper = adams(rate, start, rtol)
        worst = 0.0
        while stepper.t < 2.0 * np.pi:
            assert stepper.step(2.0 * np.pi) is None
            for t in np.linspace(stepper.t_before, stepper.t, 4):
                E = t
                for _ in range(50):
                    E -= (E - e * np.sin(E) - t) / (1.0 - e * np.cos(E))
                place = [np.cos(E) - e, np.sqrt(1.0 - e**2) * np.sin(E)]
                worst = max(worst, np.abs(stepper.between(t)[:2] - place).max())
        errors.append(worst)
        assert stepper.t == 2.0 * np.pi
        assert worst < 2e3 * rtol
    assert stepper.steps < 500 and stepper.rejected < 60
    assert errors[2] < 1e-5 * errors[0]


def test_adams_is_exact_for_polynomials_of_its_order():
    stepper = adams(lambda t, X: np.array([1.0, 5.0 * t**4, t**2]), [0.0, 0.0, 0.0], 1e-8)
    while stepper.t < 2.0:
        assert stepper.step(2.0) is None
    assert stepper.order >= 5
    assert_allclose(stepper.X, [2.0, 32.0, 8.0 / 3.0], rtol=1e-7)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"formulation": "minimal", "method": "radau"}, "adams"),
        ({"formulation": "minimal", "method": "discrete-time"}, "adams"),
        ({"formulation": "constraint", "method": "adams"}, "minimal"),
        ({"formulation": "reduced"}, "constraint, minimal"),
    ],
)
def test_what_cannot_be_combined_is_said(settings, words):
    with pytest.raises(UsageError, match=words):
        vbg.simulate(assembled("pendulum"), t_end=0.1, **settings)


def test_the_model_file_may_ask_for_it():
    model = vbg.read(EXAMPLES / "pendulum.toml")
    document = dict(model.document)
    document["simulate"] = {**document.get("simulate", {}), "formulation": "minimal", "t_end": 0.2}
    again = vbg.Model(**{k: v for k, v in document.items() if k != "vbg"})
    solution = vbg.simulate(again)
    assert solution.made_by.method == "adams"
    assert any("independent coordinates" in note.what for note in solution.notes)


def test_a_machine_too_large_for_dense_jacobians_is_refused_in_words(monkeypatch):
    monkeypatch.setattr("vbg.simulate.minimal.retraction.LARGEST", 10)
    with pytest.raises(UsageError, match="formulation = 'constraint'"):
        vbg.simulate(assembled("slider-crank"), t_end=0.1, formulation="minimal")
