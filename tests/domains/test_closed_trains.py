"""Closed chains of gears, belts and screws: their ratios contradict each other or say a thing
twice, whatever shafts they stand on, in whatever order and direction they are written."""

from __future__ import annotations

import numpy as np
import pytest

import vbg

SEEDS = range(4)


def ring(seed, product):
    """Shafts in a ring, all tied by ratios whose product is `product`; the parts in any order, some
    written from the other side, a screw and the slide behind it among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    ratios = np.exp(rng.uniform(-1, 1, n)) * rng.choice([-1.0, 1.0], n)
    ratios[-1] = product / np.prod(ratios[:-1])
    parts = {f"i{k}": {"kind": "inertia", "nodes": [f"s{k}"], "J": 1.0 + k} for k in range(n)}
    for k in rng.permutation(n):
        nodes, ratio = [f"s{k}", f"s{(k + 1) % n}"], float(ratios[k])
        if rng.random() < 0.5:
            nodes, ratio = nodes[::-1], 1.0 / ratio
        parts[f"g{k}"] = {"kind": "gear", "nodes": nodes, "ratio": ratio}
    parts["push"] = {"kind": "torque", "nodes": ["s0"], "torque": 1.0}
    return vbg.Model(
        rotational=parts,
        translational={
            "table": {"kind": "mass", "nodes": ["x"], "m": 3.0},
            "screw": {
                "kind": "ball_screw",
                "shaft": "rotational.s0",
                "slide": "translational.x",
                "lead": 0.01,
            },
        },
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("product", "told"), [(1.2, "not 1: nothing"), (-1.0, "not 1: nothing"), (1.0, "not unique")]
)
def test_a_ring_of_gears(seed, product, told):
    model = ring(seed, product)
    (problem,) = vbg.check(model)
    assert problem.severity == "error" and told in problem.what
    with pytest.raises(vbg.VbgError):
        vbg.simulate(model, t_end=0.1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_ring_that_is_open_turns(seed):
    """One gear less: a = M / (sum of J_k r_k^2 + m lead^2), r_k the speed beside the first's."""
    model = ring(seed, 1.2)
    gears = [name for name in model.rotational if name.startswith("g")]
    parts = {k: v for k, v in model.document["rotational"].items() if k != gears[-1]}
    opened = vbg.Model.from_document({**model.document, "rotational": parts})
    assert not vbg.check(opened)
    found = vbg.simulate(opened, t_end=0.1, output_step=0.1)
    J = {f"s{k}": 1.0 + k for k in range(len(gears))}
    speeds = {"s0": 1.0}
    while len(speeds) < len(J):
        for name in gears[:-1]:
            (a, b), ratio = model.rotational[name].nodes, model.rotational[name].ratio
            if a in speeds:
                speeds[b] = speeds[a] * ratio
            elif b in speeds:
                speeds[a] = speeds[b] / ratio
    inertia = sum(J[s] * speeds[s] ** 2 for s in J) + 3.0 * 0.01**2
    np.testing.assert_allclose(found["rotational.s0.angle"][-1], 0.5 * 0.1**2 / inertia, rtol=1e-8)


def test_joints_are_shafts_of_a_ring():
    """Two wheels on joints, tied by a gear between their shafts and by a belt that turns alike."""
    wheel = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    hinges = {
        f"h{k}": {
            "kind": "revolute",
            "between": [{"body": "ground", "at": [float(k), 0, 0]}, f"w{k}"],
            "axis": [0, 0, 1],
        }
        for k in range(2)
    }
    ties = {
        "mesh": {"kind": "gear", "nodes": ["joint:h0", "joint:h1"], "ratio": -1.0},
        "belt": {"kind": "belt", "nodes": ["joint:h0", "joint:h1"], "radius1": 0.1, "radius2": 0.1},
    }
    model = vbg.Model(bodies={"w0": wheel, "w1": wheel}, joints=hinges, rotational=ties)
    (problem,) = vbg.check(model)
    assert problem.where == "rotational.belt" and "product -1," in problem.what
