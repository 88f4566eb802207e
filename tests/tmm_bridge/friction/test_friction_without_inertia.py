"""Dry frictions on shafts without inertia in the second solver: they brake, whatever steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import vbg
from tests.anywhere import SHAKES, SIZE
from tests.domains.random_switching import driveline
from tests.tail import tail
from vbg import tmm_bridge
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.motion.integration import integrate
from vbg.tmm_bridge.motion.signals.channels import replay
from vbg.tmm_bridge.motion.signals.resisting import not_resisting
from vbg.tmm_bridge.solver import with_network

C1, C2, C12, DRY = 0.5, 0.8, 0.3, 1.0  # N*m*s/rad, and N*m
END, STEP = 3.0, 1.45  # s
UP, DOWN, THROUGH = (3.0, 5.0), (5.0, 3.0), (4.0, -3.0)  # N*m before the step and behind it
TO_REST, FROM_REST = (-3.0, 0.4), (0.4, -6.0)
SCALES = [(1e-6, 1e5), (1.0, 1.0), (1e6, 1e-6)]  # of torque and time
SCALES += [pair for pair in product((1e-6, 1.0, 1e6), (1e-6, 1.0, 1e5)) if pair not in SCALES]


def between(torque, time, steps, kind, turned=1.0):
    """Two shafts with dampers, and between them one damper and a dry friction or a clutch."""
    before, after = (float(torque * turned * step) for step in steps)
    dry = {"coulomb": DRY * torque} if kind == "friction" else {"capacity": DRY * torque}
    parts = {
        "c1": {"kind": "damper", "nodes": ["n1"], "c": C1 * torque * time},
        "c2": {"kind": "damper", "nodes": ["n2"], "c": C2 * torque * time},
        "c12": {"kind": "damper", "nodes": ["n1", "n2"], "c": C12 * torque * time},
        "dry": {"kind": kind, "nodes": ["n1", "n2"], **dry},
        "drive": {
            "kind": "torque",
            "nodes": ["n1"],
            "torque": f"if(t < {STEP * time!r}, {before!r}, {after!r})",
        },
    }
    if kind == "clutch":
        parts["dry"]["engaged"] = "1"
    run = {"t_end": END * time, "output_step": 0.1 * time}
    return vbg.Model(rotational=parts, simulate=run)


@pytest.mark.parametrize("torque, time", tail(SCALES, 1))
@pytest.mark.parametrize("steps", [UP, DOWN, THROUGH, TO_REST, FROM_REST])
def test_what_slips_is_what_the_load_is_beyond_the_friction(torque, time, steps):
    """With w2 = (C12 s + f) / C2 the slip s is (C1 + C1 C12 / C2 + C12) s = T - f (1 + C1 / C2)."""
    moved = 1.0 + SIZE * np.random.default_rng(1).uniform(-1.0, 1.0, SHAKES)
    kinds = ("friction", "clutch") * (SHAKES // 2)
    for turned, kind in zip((1.0, *moved), ("clutch", *kinds), strict=True):
        found = tmm_bridge.simulate(between(torque, time, steps, kind, turned))
        assert found.status.code == "finished", found.status
        assert not found.audit.failures
        load = np.where(found.time / time < STEP, *steps)
        held = np.clip(load / (1.0 + C1 / C2), -DRY, DRY)
        slip = (load - held * (1.0 + C1 / C2)) / (C1 + C1 * C12 / C2 + C12)
        seen = (found["rotational.n1.speed"] - found["rotational.n2.speed"]) * time
        np.testing.assert_allclose(seen, slip, atol=1e-9)
        np.testing.assert_allclose(found["dry.torque"] / torque, held, atol=1e-9)


def tree(seed):
    """Two to four shafts in a tree of clutches to each other and the frame, each with a damper
    and a torque that steps at an instant of its own; capacities, scales of torque and time."""
    random = np.random.default_rng([seed, 5])
    torque, time = 10.0 ** random.uniform(-6, 6), 10.0 ** random.uniform(-6, 5)
    damping = torque * time
    nodes = [f"n{i}" for i in range(random.integers(2, 5))]
    parts = {}
    for i, node in enumerate(nodes):
        ahead = [*nodes[i + 1 :], "frame"]
        before, after = (torque * random.uniform(-3, 3) for _ in range(2))
        at = time * random.uniform(0.2, 2.8)
        parts |= {
            f"c{i}": {"kind": "damper", "nodes": [node], "c": damping * random.uniform(0.1, 9)},
            f"T{i}": {
                "kind": "torque",
                "nodes": [node],
                "torque": f"if(t < {at!r}, {before!r}, {after!r})",
            },
            f"f{i}": {
                "kind": "clutch",
                "nodes": [node, str(random.choice(ahead))],
                "capacity": torque * random.uniform(0.1, 1.5),
                "engaged": "1",
            },
        }
    parts["c"] = {"kind": "damper", "nodes": nodes[:2], "c": damping * random.uniform(0.1, 9)}
    return parts, {"t_end": 3.0 * time, "output_step": 0.1 * time}


@pytest.mark.parametrize("seed", tail(range(60), 20))
def test_every_friction_of_a_tree_resists_what_slips(seed):
    """Torques with the sign of the slip they are taken from, as large as what slips says, and
    shafts in balance: as all dampers grow with the speed, no other motion has these."""
    parts, run = tree(seed)
    found = tmm_bridge.simulate(vbg.Model(rotational=parts, simulate=run))
    assert found.status.code == "finished", found.status
    assert not found.audit.failures
    frictions = {name: part for name, part in parts.items() if part["kind"] == "clutch"}
    for name, part in frictions.items():
        slip = sum(
            sign * found[f"rotational.{node}.speed"]
            for node, sign in zip(part["nodes"], (1.0, -1.0), strict=True)
            if node != "frame"
        )
        torque, most = found[f"{name}.torque"], part["capacity"]
        assert np.abs(torque).max() <= (1.0 + 1e-9) * most
        slips = np.abs(slip) * run["t_end"] > 1e-9
        np.testing.assert_allclose(torque[slips], np.sign(slip[slips]) * most, rtol=1e-9)


# with shafts without inertia, which no two frictions hold together
@pytest.mark.parametrize("seed", tail([11, 44, 6, 12, 17, 18, 21, 27, 33, 35, 40, 62, 65], 5))
def test_no_friction_of_a_driveline_drives(seed):
    """Sines, ramps and clutches that close and open beside shafts with inertia: what turns round
    within rounding is seen to do so."""
    found = tmm_bridge.simulate(vbg.Model(name=f"driveline {seed}", **driveline(seed)))
    assert found.status.code == "finished", found.status
    assert not found.audit.failures


def test_a_friction_that_drives_is_told():
    """The mode of a friction is turned in what was recorded: its energy balances, and it is told
    whatever the scales."""
    for torque, time in ((1e-6, 1e-6), (1.0, 1.0), (1e6, 1e5)):
        mechanism = lay_out(between(torque, time, THROUGH, "clutch"))
        mechanism, y = with_network(mechanism, start(mechanism).y)
        grid = np.linspace(0.0, END * time, 31)
        trajectory = integrate(mechanism, y, grid, 1e-8, 1e-10)
        record = replay(mechanism, trajectory)
        assert not list(not_resisting(mechanism, record, torque))
        turned = trajectory.states.copy()
        turned[20:, mechanism.size + mechanism.network.frictions[0].mode] *= -1.0
        record = replay(mechanism, replace(trajectory, states=turned))
        told = list(not_resisting(mechanism, record, torque))
        assert len(told) == 1
        assert told[0].startswith("its dry friction dry drives what it should brake, by ")
