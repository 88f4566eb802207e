"""The discrete-time method against the constraint solution."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from benchmarks.machines import chain, scissor_lift, windows
from vbg.assemble.derive.constraints import vectors_of
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.posture import Projector
from vbg.simulate.discrete.bushings import Mobility, bushings
from vbg.simulate.discrete.method import DiscreteTime, displaced

EXAMPLES = Path(__file__).parents[2] / "examples"


def system(name):
    return vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))


def test_converges_to_the_constraint_solution():
    """With w dt fixed the gap falls with dt^2 (1/w^2), the error of the motion with dt."""
    pendulum = system("double-pendulum")
    end = 0.1
    exact = vbg.simulate(pendulum, t_end=end, output_step=end, rtol=1e-10, atol=1e-12)
    at = pendulum.state_names.index("elbow.angle")
    errors, gaps = [], []
    for dt in (4e-5, 2e-5, 1e-5):
        stepper = DiscreteTime(vbg.start(pendulum), dt)
        stepper.advance(end)
        errors.append(abs(stepper.x[at] - exact["elbow.angle"][-1]))
        gaps.append(np.abs(Projector(pendulum).residuals(end, stepper.x)[0]).max())
    assert errors[-1] < 2e-4
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.0, atol=0.15)
    assert_allclose(np.log2(np.divide(gaps[:-1], gaps[1:])), 2.0, atol=0.3)


def test_as_a_method_of_simulate_with_joint_forces():
    crank = system("slider-crank")
    found = vbg.simulate(crank, t_end=0.02, output_step=0.005, method="discrete-time")
    exact = vbg.simulate(crank, t_end=0.02, output_step=0.005)
    assert found.status.code == "finished" and "real-time factor" in found.status.sentence
    assert_allclose(found["A.angle"], exact["A.angle"], atol=1e-4)
    largest = np.abs(exact["A.force"]).max()
    assert_allclose(found["A.force"][-1], exact["A.force"][-1], atol=0.05 * largest)
    assert found.made_by.method == "discrete-time"


def test_rotation_is_the_exact_one_of_each_step():
    """A body that spins freely about a principal axis turns by w t, whatever the step."""
    top = vbg.Model(
        name="spinner",
        gravity=[0, 0, 0],
        bodies={
            "disc": {
                "mass": 1.0,
                "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2},
                "angular_velocity": [0, 0, 40.0],
            }
        },
        joints={"pin": {"kind": "spherical", "between": ["ground", "disc"]}},
    )
    assembled = vbg.assemble(top)
    stepper = DiscreteTime(vbg.start(assembled), 1e-4)
    stepper.advance(0.05)
    at = assembled.state_names.index("disc.quaternion.w")
    assert stepper.x[at] == pytest.approx(np.cos(1.0), abs=1e-12)
    assert np.linalg.norm(stepper.x[at : at + 4]) == pytest.approx(1.0, abs=1e-12)


def by_the_tape(stepper, assembled, steps):
    """The same steps, slowly: every rate from the one tape of all equations."""
    x, dt = stepper.x.copy(), stepper.dt
    posture = Evaluator(assembled.programs.posture_rate)
    for k in range(steps):
        t = k * dt
        rate = stepper.rates(t, x)[: assembled.size].copy()
        displacements = [s for s in assembled.slices if s.state.name in displaced(assembled)]
        for s in assembled.slices:
            if s.state.kind in ("store", "signal", "quadrature") and s not in displacements:
                x[s.first : s.last] += dt * rate[s.first : s.last]
        rate = stepper.rates(t, x)[: assembled.size].copy()
        for s in displacements:
            x[s.first : s.last] += dt * rate[s.first : s.last]
        posture(t, x)
        for s in assembled.slices:
            if s.state.kind in ("position", "displacement"):
                x[s.first : s.last] += dt * posture.output(s.state.name)
            elif s.state.kind == "quaternion":
                turn = posture.output(s.state.name)
                angle = dt * np.linalg.norm(turn)
                x[s.first : s.last] *= np.cos(angle)
                x[s.first : s.last] += dt * np.sinc(angle / np.pi) * turn
    return x


def pair_of(kind, axes):
    """Two spinning bodies in general position, on the ground and on one another by `kind`."""
    inertia = {"xx": 0.2, "yy": 0.3, "zz": 0.25, "xy": 0.02, "yz": -0.01, "zx": 0.03}
    turn = {"axis": [0.3, -0.5, 0.8], "angle": 0.7}
    first, second = dict(axes), dict(axes)
    return vbg.Model(
        name=kind,
        gravity=[0.3, -0.2, -9.81],
        bodies={
            "a": {
                "mass": 1.3,
                "inertia": inertia,
                "position": [0.4, 0.1, -0.3],
                "angular_velocity": [0.5, 1.1, -0.7],
            },
            "b": {
                "mass": 0.7,
                "inertia": inertia,
                "position": [0.9, -0.2, 0.2],
                "rotation": turn,
                "velocity": [0.4, 0.3, -0.2],
            },
        },
        joints={
            "J": {"kind": kind, "between": [{"body": "ground", "at": [0.1, 0.2, 0.1]}, "a"]}
            | first,
            "K": {
                "kind": kind,
                "between": [
                    {"body": "a", "at": [0.2, -0.1, 0.3]},
                    {"body": "b", "at": [-0.3, 0.1, 0.05]},
                ],
            }
            | second,
        },
    )


AXIS = {"axis": [0.48, -0.6, 0.64]}


@pytest.mark.parametrize(
    ("kind", "axes"),
    [
        ("revolute", AXIS),
        ("spherical", {}),
        ("fixed", {}),
        ("prismatic", AXIS),
        ("cylindrical", AXIS),
        ("planar", AXIS),
        ("point_on_line", AXIS),
        ("point_on_plane", AXIS),
        ("universal", AXIS | {"axis2": [0.8, 0.0, -0.6]}),
        ("helical", AXIS | {"lead": 0.05}),
    ],
)
def test_the_kernels_of_joints_are_the_equations(kind, axes):
    """Flat arrays and tape make the same steps to rounding, for bodies on the ground and on
    bodies; what no kernel knows (helical) stays on the tape."""
    assembled = vbg.assemble(pair_of(kind, axes))
    stepper = DiscreteTime(vbg.start(assembled), 1e-5)
    stepper.x += 1e-3 * np.random.default_rng(7).standard_normal(assembled.size)
    for s in assembled.slices:
        if s.state.kind == "quaternion":
            stepper.x[s.first : s.last] /= np.linalg.norm(stepper.x[s.first : s.last])
    twin = by_the_tape(stepper, assembled, 50)
    stepper.advance(50 * stepper.dt)
    assert_allclose(stepper.x, twin, rtol=1e-11, atol=1e-11 * np.abs(twin).max())


@pytest.mark.parametrize(
    "name", ["gear-pair", "motor-slider-crank", "stewart-platform", "hydraulic-arm"]
)
def test_examples_with_other_parts_step_as_the_equations_say(name):
    assembled = system(name)
    stepper = DiscreteTime(vbg.start(assembled), 2e-6)
    twin = by_the_tape(stepper, assembled, 100)
    stepper.advance(100 * stepper.dt)
    assert_allclose(stepper.x, twin, rtol=1e-9, atol=1e-9 * np.abs(twin).max())


@pytest.mark.parametrize("model", [chain(4), windows(2, redundant=True), scissor_lift(2)])
def test_bushings_are_those_of_the_whole_mobility(model):
    """Diagonal by probes and largest eigenvalue by products, against the dense matrix."""
    assembled = vbg.assemble(model)
    mobility = Mobility(vbg.start(assembled))
    count = len(assembled.constraint_names)
    dense = np.column_stack([mobility(unit) for unit in np.eye(count)])
    assert_allclose(dense, dense.T, atol=1e-12 * np.abs(dense).max())
    diagonal = np.diag(dense)
    assert_allclose(mobility.diagonal(), diagonal, rtol=1e-12)
    bush = bushings(mobility, 100.0)
    largest = np.linalg.eigvals(bush.stiffness[:, None] * dense).real.max()
    assert largest == pytest.approx(1e4, rel=1e-6)
    for first, count in vectors_of(assembled.equations.constraints):
        assert np.ptp(bush.stiffness[first : first + count]) == 0.0


def test_probes_of_the_mobility_do_not_grow_in_number_with_a_chain(monkeypatch):
    calls: list[int] = []
    product = Mobility.__call__

    def counted(mobility, y):
        calls.append(len(y))
        return product(mobility, y)

    monkeypatch.setattr(Mobility, "__call__", counted)
    for n in (10, 40):
        Mobility(vbg.start(chain(n))).diagonal()
    assert calls.count(50) == calls.count(200) <= 15
