"""Where the energy goes: what all parts take up adds up to the audit, at any time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import random_loop, random_tree
from tests.laws.parts import coupled, loaded, rolling_disc
from tests.tail import tail
from vbg.io.toml import parse

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def balanced(model):
    """The model with the energies of its parts."""
    document = {k: v for k, v in model.document.items() if k != "vbg"}
    return vbg.Model(**document | {"outputs": {**document.get("outputs", {}), "energy": True}})


def check(model, t_end):
    model = model if model.outputs.energy else balanced(model)
    found = vbg.simulate(model, t_end=t_end, output_step=t_end / 10)
    assert found.status.code == "finished", found.status
    parts = [n.removesuffix(".intake") for n in found.signals if n.endswith(".intake")]
    energies = np.stack([found[f"{part}.energy"] for part in parts])
    intakes = np.stack([found[f"{part}.intake"] for part in parts])
    largest = max(np.abs(energies).max(), np.abs(found["energy.kinetic"]).max())
    total = energies.sum(axis=0)
    assert_allclose(total - total[0], found["energy.residual"], rtol=0, atol=1e-10 * largest)
    # junctions keep nothing; a lone body takes nothing, that is rounding of its energies in 1 s
    fastest = max(np.abs(intakes).max(), 10.0 * largest)
    assert_allclose(intakes.sum(axis=0), 0.0, rtol=0, atol=1e-9 * fastest)
    return found, parts


@pytest.mark.parametrize("path", tail(EXAMPLES, 20), ids=lambda p: p.stem)
def test_parts_of_examples_add_up_to_the_audit(path):
    model = parse(path.read_text() + "\n[outputs]\nenergy = true\n", str(path))
    found, parts = check(model, min(0.02, model.simulate.t_end))
    assert set(model.bodies) <= set(parts)
    assert all(found.unit(f"{p}.energy") == "J" and found.unit(f"{p}.intake") == "W" for p in parts)


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_random_machines_add_up(seed):
    check(loaded(random_tree(seed), seed).model(), 0.2)
    check(loaded(random_loop(seed), seed).model(), 0.1)


@pytest.mark.parametrize("machine", [coupled(3, "rack_pinion"), rolling_disc(1)])
def test_couplings_and_rolling_take_nothing(machine):
    check(machine.model(), 0.2)


def test_the_impulse_of_a_drive_is_its_own():
    """A crank that a drive starts with a jump in speed at 0.1 s, into a damper."""
    model = vbg.Model(
        name="kick",
        gravity=[0, 0, 0],
        bodies={"arm": {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}},
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "arm"],
                "axis": [0, 0, 1],
                "drive": "4*max(0, t - 0.1)",
            }
        },
    )
    found, _ = check(model, 0.2)
    assert found["arm.energy"][-1] == pytest.approx(0.5 * 0.1 * 16.0, rel=1e-6)
    assert found["hinge.energy"][-1] == pytest.approx(-0.8, rel=1e-6)
