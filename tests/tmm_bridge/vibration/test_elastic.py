"""Elastic hinges in the tree: motion, overall equation, vibration, names of topologies."""

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.cli.show.vibration import compared, poses_at, responses
from vbg.errors import UsageError
from vbg.io.toml import parse
from vbg.model import Model
from vbg.tmm_bridge.kernels.tables import SIX_FIRST, SIX_MIDDLE
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.modes.modal import vibration
from vbg.tmm_bridge.modes.network.exciting import input_of
from vbg.tmm_bridge.modes.posture.six import effort, stiffness
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.overall.deduction import deduce, topology_of
from vbg.tmm_bridge.overall.transfer import overall_general
from vbg.tmm_bridge.solver import simulate

HERE = Path(__file__).parents[1] / "reproduced"


def machine(scale=1.0):
    """Three bodies of general inertia on elastic hinges met from both sides, a hinge between,
    and one elastic hinge that closes a loop; `scale` is that of all lengths."""

    def six(force, torque):
        return [*(f for f in force), *(scale**2 * t for t in torque)]

    def body(mass, moments, **more):
        xx, yy, zz, xy = (m * scale**2 for m in moments)
        return {"mass": mass, "inertia": {"xx": xx, "yy": yy, "zz": zz, "xy": xy}, **more}

    def at(name, *point):
        return {"body": name, "at": [scale * x for x in point]}

    springs = {
        "h1": (["ground", at("a", -0.2, 0, 0)], [1e4, 1.1e4, 1.2e4], [500, 450, 400], 2e-3),
        "h2": ([at("b", -0.2, 0, 0), at("a", 0.2, 0, 0)], [1e3, 2e3, 900], [5, 4, 6], 3e-3),
        "h3": (["c", "a"], [100, 200, 110], [5, 4, 3], 1e-2),
    }
    forces = {
        name: {
            "kind": "bushing",
            "between": between,
            "stiffness": six(force, torque),
            "damping": [late * k for k in six(force, torque)],
        }
        for name, (between, force, torque, late) in springs.items()
    }
    forces["push"] = {"kind": "force", "on": "c", "force": [0, "sin(3*t)", 0]}
    turned = {"axis": [1, 2, 3], "angle": 0.5}
    return vbg.Model(
        name="elastic",
        gravity=[0, 0, -9.81 * scale],
        bodies={
            "a": body(2, (0.02, 0.03, 0.04, 0.003), position=[0.2 * scale, 0, 0]),
            "b": body(1, (0.01, 0.015, 0.016, 0), position=[0.6 * scale, 0, 0], rotation=turned),
            "c": body(1, (0.01, 0.012, 0.016, 0.001)),
        },
        joints={
            "J": {
                "kind": "revolute",
                "between": ["c", at("b", 0, 0.2, 0)],
                "axis": [0, 0, 1],
                "initial": {"speed": 2.0},
            }
        },
        forces=forces,
    )


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_both_solvers_agree(scale):
    model = machine(scale)
    assert list(lay_out(model).elastic) == ["h1", "h2"]
    run = {"t_end": 0.1, "output_step": 0.02, "rtol": 1e-10, "atol": 1e-12 * scale}
    one, two = vbg.simulate(vbg.assemble(model), **run), simulate(model, **run)
    assert one.status.code == two.status.code == "finished"
    assert two.audit.energy_residual < 1e-9
    for name in ("h1.force", "h1.torque", "h2.force", "h2.torque", "h3.force", "h3.torque"):
        np.testing.assert_allclose(two[name], one[name], atol=1e-8 * np.abs(one[name]).max())
    for name in ("J.force", "J.torque", "c.acceleration", "b.rotation"):
        np.testing.assert_allclose(two[name], one[name], atol=1e-8 * np.abs(one[name]).max())


def test_recursion_equals_overall_equation():
    model = machine()
    mechanism = lay_out(model)
    y = start(mechanism).y
    y[:-2] += 0.05 * np.random.default_rng(4).standard_normal(len(y) - 2)
    plant = Plant(mechanism)
    y = plant.project(0.3, y)
    plant.evaluate(0.3, y)
    whole = overall_general(mechanism, y, 0.3)
    ours = plant.scratch.acceleration
    np.testing.assert_allclose(ours, whole.acceleration, atol=1e-9 * np.abs(ours).max())


@pytest.mark.slow
def test_vibration_beside_the_bond_graph():
    from vbg.analysis import linearise
    from vbg.analysis.rest.idle import resting_point

    for model in (machine(), vbg.read(HERE / "bush.toml")):
        place = resting_point(vbg.assemble(model))
        found = vibration(model, poses=poses_at(place), off=place.off)
        excited = ["push.y"] if "push" in model.forces else []
        linear = linearise(place.system, place.point, inputs=excited)
        rows = compared(found, linear)
        assert len(rows) == len(linear.modes)
        assert max(row.error for row in rows) < 1e-9
        assert max(row.apart for row in rows if row.apart == row.apart) < 1e-7
        assert np.allclose(found.poles.real, 0.0) == (not excited)
        if excited:
            assert max(a.error for a in responses(found, linear, excited[0])) < 1e-9


@pytest.mark.parametrize("stiffer", [1.0, 1.0 + 1e-13, 3.0])
def test_a_vehicle_of_two_arms_on_springs(stiffer):
    """M q'' + C q' + K q = 0 in the height s and the angles of the arms, whose mass centres are
    at s - 0.4 a and s - 0.3 b.  The spring of free length 0, 0.5 m along the first arm, has the
    energy k/2 ((0.5 + 0.4 (1 - cos a))^2 + (s - 0.4 sin a)^2)."""
    from vbg.analysis.rest.idle import resting_point

    text = (HERE / "vib.toml").read_text().replace("k=8e4", f"k={8e4 * stiffer}")
    model = Model.from_document(parse(text).document)
    place = resting_point(vbg.assemble(model))
    found = vibration(model, poses=poses_at(place), off=place.off).poles
    M = np.array([[143, -5.6, -2.7], [-5.6, 0.9 + 14 * 0.16, 0], [-2.7, 0, 0.5 + 9 * 0.09]])
    K, C = np.diag([8e4 * stiffer, 3000, 1200]), np.diag([900.0, 0, 0])
    K += 5000 * np.outer([1, -0.4, 0], [1, -0.4, 0]) + 5000 * np.diag([0, 0.5 * 0.4, 0])
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    exact = np.linalg.eigvals(A)
    upper = sorted(exact[exact.imag > 0], key=lambda pole: pole.imag)
    ours = sorted(found[found.imag > 0], key=lambda pole: pole.imag)
    np.testing.assert_allclose(ours, upper, rtol=1e-9)


def test_every_proposed_input_is_taken():
    mechanism = lay_out(machine())
    for text in ("push", "push[1]", "push.y", "forces.push.y"):
        assert input_of(mechanism, text) == "push.y"
    with pytest.raises(UsageError, match=r"push\.x, push\.y, push\.z"):
        input_of(mechanism, "pull")


@pytest.mark.parametrize("law", [SIX_FIRST, SIX_MIDDLE])
def test_effort_is_the_gradient_of_an_energy(law):
    """Around a closed path of displacement and turn no work is left: the slope by translation
    is symmetric, and that by turns but for half the torque."""
    rng = np.random.default_rng(law)
    A = rng.standard_normal((6, 6))
    K = A @ A.T
    for size in (0.02, 0.5, 1.5):
        x = size * rng.uniform(-1, 1, 6)
        k, load = stiffness(law, K, x), effort(law, K, x)
        f = k[:3, 3:] - k[3:, :3].T
        turning = k[3:, 3:] - k[3:, 3:].T
        m = load[3:]
        spin = np.array([[0, -m[2], m[1]], [m[2], 0, -m[0]], [-m[1], m[0], 0]])
        np.testing.assert_allclose(k[:3, :3], k[:3, :3].T, atol=1e-12 * np.abs(k).max())
        np.testing.assert_allclose(f, 0.0, atol=1e-12 * np.abs(k).max())
        np.testing.assert_allclose(turning, spin, atol=1e-12 * np.abs(k).max())


def of(*edges):
    """A model of bodies joined by hinges about z, as topologies need it."""
    bodies = sorted({b for edge in edges for b in edge} - {"ground"})
    inertia = {"xx": 1, "yy": 1, "zz": 1}
    return vbg.Model(
        bodies={b: {"mass": 1, "inertia": inertia, "position": [0, 0, 0]} for b in bodies},
        joints={
            f"j{k}": {"kind": "revolute", "between": list(edge), "axis": [0, 0, 1]}
            for k, edge in enumerate(edges)
        },
    )


@pytest.mark.parametrize(
    ("edges", "name"),
    [
        (["ga", "ab"], "chain"),
        (["ga", "ab", "ac"], "tree"),
        (["ga", "ab", "bg"], "closed loop"),
        (["ab", "bc", "ca"], "closed loop"),
        (["ga", "ab", "bg", "bc"], "tree with one loop"),
        (["ga", "ab", "bg", "bc", "ca"], "network of 2 loops"),
        (["ga", "ab", "bg", "bc", "ca", "cd"], "tree with 2 loops"),
        (["ga", "gb"], "2 separate parts: 2 x chain"),
    ],
)
def test_topology_by_name(edges, name):
    model = of(*(tuple("ground" if b == "g" else b for b in edge) for edge in edges))
    assert topology_of(model) == name


def test_elastic_hinges_stand_in_the_deduction():
    found = deduce(machine())
    assert found.topology == "closed loop" or found.topology.startswith("tree with one loop")
    assert found.paths["z[c]"] == ("c", "J", "b", "h2", "a", "h1")
    assert found.beside == {"h3": ("c", "a")}
