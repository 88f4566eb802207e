"""Pressures that balance a machine whose slides and pins rub."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.errors import AssemblyError

G, AREA = 9.81, 20e-4


def mast(rng: np.random.Generator, **more: dict) -> tuple[vbg.Model, float]:
    """A cylinder lifts a mast, a chain the carriage on it twice as far; both slides rub; `more`
    stands beside it.  (model, pressure that carries them)"""
    outer, inner = 10.0 ** rng.uniform(-1, 4, 2)
    weight = G * (outer + 2.0 * inner)

    def slide(first: str, second: str) -> dict:
        dry = {"coulomb": rng.uniform(0.01, 0.3) * weight}
        initial = {"slide": 0.2}
        ends = {"between": [first, second], "axis": [0, 0, 1]}
        return {"kind": "prismatic", **ends, "initial": initial, "friction": dry}

    def body(mass: float) -> dict:
        return {"mass": mass, "inertia": {"xx": mass, "yy": mass, "zz": mass}}

    cylinder = {
        "kind": "cylinder",
        "nodes": ["a", "tank"],
        "on": "joints.mast",
        "area_a": AREA,
        "stroke": 1.0,
        "pressure_a": "equilibrium",
    }
    chain = {"kind": "belt", "between": ["joints.mast", "joints.rollers"], "ratio": 1}
    model = vbg.Model(
        bodies={"inner": body(outer), "carriage": body(inner), **more.get("bodies", {})},
        joints={
            "mast": slide("ground", "inner"),
            "rollers": slide("inner", "carriage"),
            "chain": chain,
            **more.get("joints", {}),
        },
        hydraulic={"lift": cylinder},
    )
    return model, weight / AREA


@pytest.mark.parametrize("seed", tail(range(12), 3))
def test_dry_friction_carries_nothing_of_a_load_that_a_pressure_holds(seed):
    """The pressure was that at which all frictions are about to slip, which then switched
    endlessly."""
    model, expected = mast(np.random.default_rng(seed))
    solution = vbg.simulate(model, t_end=0.05)
    assert solution.status.code == "finished"
    assert solution["lift.pressure_a"] == pytest.approx(expected, rel=1e-7)
    assert np.abs(solution["mast.speed"]).max() < 1e-12
    rubbing = solution["mast.friction"] + solution["rollers.friction"]  # how they share is open
    assert np.abs(rubbing).max() < 1e-6 * expected * AREA


@pytest.mark.parametrize("brake, holds", [(40.0, True), (20.0, False)])
def test_what_no_pressure_reaches_may_hang_on_its_friction(brake, holds):
    """A boom beside the lift, 3 kg at 1 m, whose pin rubs, and which no pressure carries."""
    arm = {"mass": 3.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    pin = {
        "kind": "revolute",
        "between": [{"body": "ground", "at": [2, 0, 0]}, {"body": "arm", "at": [-1, 0, 0]}],
        "axis": [0, 1, 0],
        "friction": {"coulomb": brake},
    }
    model, expected = mast(np.random.default_rng(0), bodies={"arm": arm}, joints={"pin": pin})
    if not holds:
        with pytest.raises(AssemblyError, match="arm is left"):
            vbg.start(model)
        return
    solution = vbg.simulate(model, t_end=0.05)
    assert solution["lift.pressure_a"][0] == pytest.approx(expected, rel=1e-7)
    assert np.abs(solution["pin.friction"]) == pytest.approx(3.0 * G, rel=1e-7)


def test_what_both_starts_tell_is_told_once():
    """Of the written start and of the balanced one."""
    rail = {"kind": "prismatic", "between": ["ground", "inner"], "axis": [0, 0, 1]}
    second = {"second": {**rail, "initial": {"slide": 0.2}}}
    model, _ = mast(np.random.default_rng(1), joints=second)
    told = [note.what for note in vbg.start(model).notes]
    assert sum("redundant" in what for what in told) == 1
