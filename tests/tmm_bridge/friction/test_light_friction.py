"""Dry friction where gears tie both its ends together, and on shafts without inertia."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge.solver import simulate
from vbg.validate import validate

COULOMB, DAMPER, TORQUE, PACE = 0.7, 0.5, 3.0, 8.0


def friction(*nodes: str) -> dict[str, object]:
    return {"kind": "friction", "nodes": list(nodes), "coulomb": COULOMB}


def test_friction_between_the_ends_of_a_gear_slips_at_the_difference_of_their_speeds():
    """J = Ja + r^2 Jb under T - (r - 1) f sign: w' by hand while all turns forward."""
    ratio, Ja, Jb = -2.0, 1.0, 0.3
    model = vbg.Model(
        rotational={
            "Ja": {"kind": "inertia", "nodes": ["a"], "J": Ja},
            "Jb": {"kind": "inertia", "nodes": ["b"], "J": Jb},
            "g": {"kind": "gear", "nodes": ["a", "b"], "ratio": ratio},
            "f": friction("a", "b"),
            "T": {"kind": "torque", "nodes": ["a"], "torque": "3*t"},
        },
        simulate={"t_end": 1.0, "output_step": 0.05},
    )
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    held = abs(ratio - 1.0) * COULOMB  # at the first shaft
    t = report.solutions["mstmm"].time
    begin = held / 3.0
    moved = np.where(t > begin, t - begin, 0.0)
    expected = 1.5 * moved**2 / (Ja + ratio**2 * Jb)
    for solution in report.solutions.values():
        assert solution["rotational.a.speed"] == pytest.approx(expected, abs=1e-9)


def test_a_shaft_without_inertia_sticks_and_slips_as_its_damper_lets_it():
    """c w = T - f sign(w) where |T| is more than f, and w = 0 where it is not."""
    model = vbg.Model(
        rotational={
            "d": {"kind": "damper", "nodes": ["n", "frame"], "c": DAMPER},
            "f": friction("n", "frame"),
            "T": {"kind": "torque", "nodes": ["n"], "torque": f"{TORQUE}*sin({PACE}*t)"},
        },
        simulate={"t_end": 1.0, "output_step": 0.013},
    )
    found = simulate(model, rtol=1e-9, atol=1e-11)
    assert found.status.code == "finished", found.status.sentence
    T = TORQUE * np.sin(PACE * found.time)
    speed = np.sign(T) * np.maximum(np.abs(T) - COULOMB, 0.0) / DAMPER
    assert found["rotational.n.speed"] == pytest.approx(speed, abs=1e-9)
    assert found["f.torque"] == pytest.approx(np.clip(T, -COULOMB, COULOMB), abs=1e-9)
