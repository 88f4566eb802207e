"""Why a joint force is as large as it is: terms that add up, and come from Newton's second law."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.analysis.forces import explained, joint_bonds, joint_powers
from vbg.errors import UsageError
from vbg.io import toml
from vbg.spatial import rotation_matrix


def ran(name: str):
    model = vbg.read(f"examples/{name}.toml")
    return model, vbg.simulate(model, t_end=0.1)


@pytest.mark.parametrize("name", ["double-pendulum", "spatial-four-bar", "robot-arm"])
def test_the_terms_add_up_to_the_force_and_leave_nothing(name):
    """Nothing but joints and gravity acts on these bodies: what is left over is rounding."""
    model, solution = ran(name)
    count = 0
    for joint in model.joints:
        if f"{joint}.force" not in solution.signals:
            continue
        for time in (0.0, 0.03, 0.1):
            steps = explained(model, solution, joint, time)
            row = int(np.argmin(np.abs(solution.time - time)))
            assert steps[0].size == pytest.approx(np.linalg.norm(solution[f"{joint}.force"][row]))
            for step in steps:
                if step.terms:
                    assert sum(term.value for term in step.terms) == pytest.approx(
                        step.size, rel=1e-5
                    )
                for term in step.terms:
                    if term.what.startswith(("other", "friction")):
                        assert abs(term.value) < 1e-5 * step.size, (joint, term)
                    count += 1
            assert len({step.joint for step in steps}) == len(steps), "no joint twice"
    assert count > 10


def test_a_hanging_chain_passes_the_weights_on():
    """At rest: each hinge carries what hangs below it, and the path goes down to the last rod."""
    text = 'vbg = 1\nname = "chain"\n'
    for i, mass in enumerate((1.0, 2.0, 4.0)):
        text += f"[bodies.b{i}]\nmass = {mass}\ninertia = {{ xx = 0.1, yy = 0.1, zz = 0.1 }}\n"
        text += "points = { A = [0, 0, 0.5], B = [0, 0, -0.5] }\n"
        before = f"b{i - 1}.B" if i else "ground"
        text += f'[joints.j{i}]\nkind = "revolute"\nbetween = ["{before}", "b{i}.A"]\n'
        text += "axis = [0, 1, 0]\n"
    model = toml.parse(text, "chain.toml")
    solution = vbg.simulate(model, t_end=0.01)
    steps = explained(model, solution, "j0", 0.0)
    assert [(step.joint, step.body) for step in steps] == [("j0", "b0"), ("j1", "b1"), ("j2", "b2")]
    g = 9.81
    assert [step.size for step in steps] == pytest.approx([7 * g, 6 * g, 4 * g])
    weights = [next(t.value for t in step.terms if "weight" in t.what) for step in steps]
    assert weights == pytest.approx([1 * g, 2 * g, 4 * g])


def test_what_is_no_joint_force_is_named():
    """The gas in the cylinder pushes the piston, and nothing else does."""
    model, solution = ran("motor-slider-crank")
    step = explained(model, solution, "C", 0.03)[0]
    # the first end is the piston; the second, the conrod, is explained first
    steps = {s.body: s for s in (step, *explained(model, solution, "B", 0.03))}
    named = [t for s in steps.values() for t in s.terms if t.what.startswith("other parts")]
    assert all(t.what == "other parts: cylinder" for t in named)


@pytest.mark.parametrize(
    ("name", "bodies"),
    [
        ("triple-pendulum", ("first", "second", "third")),
        ("spatial-four-bar", ("coupler",)),  # a motor turns the crank, friction brakes the rocker
        ("heavy-top", ("top",)),
    ],
)
def test_powers_of_joints_are_the_work_on_each_body(name, bodies):
    """What ideal joints pass on they take from the other body, and it is the rate of the energy
    of each body: m a . v + dL/dt . w - m g . v, from signals alone, by central differences."""
    model = vbg.read(f"examples/{name}.toml")
    solution = vbg.simulate(model, t_end=2e-3, output_step=1e-5, rtol=1e-12, atol=1e-14)
    for row in (len(solution.time) // 3, 2 * len(solution.time) // 3):
        powers = joint_powers(model, solution, float(solution.time[row]))
        scale = max(
            np.linalg.norm(solution[f"{joint}.force"][row]) * np.linalg.norm(pace[row])
            + np.linalg.norm(solution[f"{joint}.torque"][row]) * np.linalg.norm(spin[row])
            for joint in model.joints
            for body in model.bodies
            for pace, spin in [(solution[f"{body}.velocity"], solution[f"{body}.angular_velocity"])]
        )
        for joint in model.joints:
            own = [power for (name_, _), power in powers.items() if name_ == joint]
            if len(own) == 2:
                assert sum(own) == pytest.approx(0.0, abs=1e-6 * scale)
        for body in bodies:
            part = model.bodies[body]
            taken = sum(power for (_, name_), power in powers.items() if name_ == body)
            energies = [_energy(model, solution, body, part, row + i) for i in (-1, 1)]
            rate = (energies[1] - energies[0]) / 2e-5
            assert taken == pytest.approx(rate, abs=1e-5 * scale)


def test_the_flow_of_a_joint_bond_is_the_velocity_of_its_point():
    """The point of the body moves with it: central differences of position + R p."""
    model = vbg.read("examples/spatial-four-bar.toml")
    solution = vbg.simulate(model, t_end=2e-3, output_step=1e-5, rtol=1e-12, atol=1e-14)
    row = len(solution.time) // 2
    for (joint, body), bond in joint_bonds(model, solution, float(solution.time[row])).items():
        end = model.joints[joint].between[1]
        if end.body == body:
            before, after = (_point(model, solution, end, row + i) for i in (-1, 1))
            assert bond.velocity == pytest.approx((after - before) / 2e-5, abs=1e-6)
            assert bond.force == pytest.approx(solution[f"{joint}.force"][row])


def _point(model, solution, end, row):
    turned = rotation_matrix(solution[f"{end.body}.rotation"][row])
    return solution[f"{end.body}.position"][row] + turned @ np.asarray(end.at)


def _energy(model, solution, body, part, row):
    xx, yy, zz, xy, yz, zx = part.inertia
    inertia = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    spin, pace = (solution[f"{body}.{n}"][row] for n in ("angular_velocity", "velocity"))
    height = -part.mass * np.asarray(model.gravity) @ solution[f"{body}.position"][row]
    return part.mass * pace @ pace / 2 + spin @ inertia @ spin / 2 + height


def test_what_is_no_joint_is_refused():
    model, solution = ran("double-pendulum")
    with pytest.raises(UsageError, match="no joint with a force"):
        explained(model, solution, "nobody", 0.0)
