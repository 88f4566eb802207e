"""Joints whose directions repeat each other beside dependent stores: derivative causality and rows
of which resistors tell the efforts (case 14, mixed) leave motion and joint forces as they are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken

RUN = {"t_end": 0.4, "output_step": 0.02, "rtol": 1e-10, "atol": 1e-12}


def trammel(random, causality="integral", **parts):
    """A bar between two sliders on crossing rails, all in one plane: three directions repeat
    others."""
    length, angle = random.uniform(0.2, 0.8), random.uniform(0.4, 1.1)
    x, z = length * np.cos(angle), length * np.sin(angle)

    def body(at, **more):
        a, b = random.uniform(4e-3, 1e-2, 2)
        inertia = {"xx": a, "yy": b, "zz": (a + b) / 1.5}
        return {"mass": random.uniform(0.3, 2.0), "inertia": inertia, "position": at} | more

    bodies = {
        "sx": body([x, 0, 0]),
        "sz": body([0, 0, z]),
        "bar": body(
            [x / 2, 0, z / 2],
            points={"X": [x / 2, 0, -z / 2], "Z": [-x / 2, 0, z / 2]},
        ),
    }
    pin = {"kind": "revolute", "axis": [0, 1, 0]}
    joints = {
        "H": {"kind": "prismatic", "between": ["ground", "sx"], "axis": [1, 0, 0]},
        "V": {"kind": "prismatic", "between": ["ground", "sz"], "axis": [0, 0, 1]},
        "PX": {**pin, "between": ["sx", "bar.X"]},
        "PZ": {**pin, "between": ["sz", "bar.Z"]},
    }
    spring = {"kind": "spring", "on": "joints.H", "k": 200.0, "length": x}
    settings = RUN | {"causality": causality}
    return vbg.Model(bodies=bodies, joints=joints, forces={"K": spring}, simulate=settings, **parts)


def assert_alike(model, other):
    found, expected = vbg.simulate(vbg.assemble(model)), vbg.simulate(vbg.assemble(other))
    assert found.status.code == expected.status.code == "finished"
    for name in ("H.slide", "V.speed", "H.force", "V.force", "PX.force", "PZ.torque"):
        size = np.abs(expected[name]).max()
        assert_allclose(found[name], expected[name], rtol=0, atol=1e-6 * max(size, 1e-3))


@pytest.mark.parametrize("seed", range(3))
def test_derivative_causality_changes_nothing(seed):
    """Masses on two nodes, tied to the sliders: their states follow from those of the sliders."""
    masses = {
        "a": {"kind": "mass", "nodes": ["joint:H"], "m": 0.3 + seed},
        "b": {"kind": "mass", "nodes": ["joint:V"], "m": 1.7},
    }
    models = [
        trammel(np.random.default_rng(seed), causality, translational=masses)
        for causality in ("derivative", "integral")
    ]
    assert len(vbg.assemble(models[0]).causal.differential) == 2
    assert_alike(*models)


def coils_in_series(random, law, *inertias):
    """Coils and a resistance in one circuit that moves a slider of the trammel."""
    vertices = {
        "U": {"kind": "Se", "effort": "6*cos(9*t)"},
        "a": {"kind": "1"},
        "R": {"kind": "R", **law},
        "G": {"kind": "GY", "ratio": 2.5},
    } | {f"I{i}": {"kind": "I", "value": value} for i, value in enumerate(inertias)}
    bonds = ["U -> a", "a -> R", "a -> G", "G -> H.slide"]
    bonds += [f"a -> I{i}" for i in range(len(inertias))]
    return trammel(random, bondgraph=vertices, bonds=bonds)


@pytest.mark.parametrize("inertias", [(0.05,), (0.02, 0.05), (0.01, 0.03, 0.02)])
def test_efforts_that_a_conductance_tells(inertias):
    """A resistance written as a conductance fixes the current of all coils (cases 14 and mixed);
    written as a resistance it does not (case 15)."""
    assert_alike(
        *(
            coils_in_series(np.random.default_rng(1), law, *inertias)
            for law in ({"flow": "e/4"}, {"effort": "4*f"})
        )
    )


def test_a_bent_conductance_sees_the_sum_of_coils():
    law = {"flow": "e/4 + e^3/900"}
    assert_alike(
        *(
            coils_in_series(np.random.default_rng(2), law, *inertias)
            for inertias in ((0.01, 0.03, 0.02), (0.06,))
        )
    )


def test_at_any_rounding():
    masses = {"a": {"kind": "mass", "nodes": ["joint:H"], "m": 0.5}}
    model = trammel(np.random.default_rng(7), "derivative", translational=masses)
    finals = []
    for start in shaken(vbg.start(vbg.assemble(model))):
        solution = vbg.simulate(start)
        assert solution.status.code == "finished" and solution.audit.energy_residual < 1e-6
        finals.append(solution["H.force"][-1])
    assert_allclose(finals, np.broadcast_to(finals[0], np.shape(finals)), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_source_that_reads_the_motion_changes_nothing(seed):
    """Of a circuit that does not act on the trammel, but reads it: its row is no combination of
    flows alone, and is solved beside those of the joints."""
    circuit = {
        "S": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "2 + 3*H.speed"},
        "store": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 0.2},
    }
    model, alone = (trammel(np.random.default_rng(seed), electric=parts) for parts in (circuit, {}))
    assert_alike(model, alone)
    run = vbg.simulate(model)
    assert not run.audit.failures
    expected = 2.0 + 3.0 * run["H.speed"]
    assert_allclose(run["store.voltage"], expected, rtol=0, atol=1e-8 * np.abs(expected).max())
