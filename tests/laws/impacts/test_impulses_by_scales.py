"""A law of a jump's force acts on stores of many quantities and sizes: its word is the same in all
units, and no large momentum hides what a small store is owed."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.scaled import Scale

AT = 0.53
WRONG = {  # of a force u in units of a mass
    "abs": "0.4*abs({u})",
    "both": "0.2*{u} + 0.1*abs({u})",
    "one side": "max(0.4*{u}, -1)",
    "exponential": "0.1*exp({u})",
    "square": "0.01*({u})^2",
}
RIGHT = {
    "linear": "0.4*{u} + 0.1*sin(5*t)",
    "limited": "min(max(0.4*{u}, -2), 2)",
    "atan": "3*atan({u})",
    "root": "0.1*sqrt(abs({u}))",
    "seventh root": "0.1*abs({u})^0.7",
}


def machine(law, mass, weak, L):
    """A source jumps by 1 m/s with a mass [kg]; a voltage of `weak` times a law of its force acts
    on a coil L [H]; a torque of a linear law on a wheel, that another takes back, as well."""
    law = law.format(u=f"S.force/{mass!r}")
    return vbg.Model(
        translational={
            "S": {"kind": "speed", "nodes": ["frame", "a"], "speed": f"if(t > {AT}, 1.1, 0.1)"},
            "A": {"kind": "mass", "nodes": ["a"], "m": mass},
        },
        rotational={
            "P": {"kind": "torque", "nodes": ["frame", "w"], "torque": f"{0.3 * weak!r}*S.force"},
            "Q": {"kind": "torque", "nodes": ["frame", "w"], "torque": f"{-0.3 * weak!r}*S.force"},
            "W": {"kind": "inertia", "nodes": ["w"], "J": 0.7 * weak, "speed": 3.0},
        },
        electric={
            "V": {"kind": "voltage_source", "nodes": ["p", "gnd"], "voltage": f"{weak!r}*({law})"},
            "L": {"kind": "inductor", "nodes": ["p", "gnd"], "L": L},
        },
        simulate={"t_end": 1.0, "output_step": 0.1},
    )


@pytest.mark.parametrize("law", [*WRONG, *RIGHT])
def test_a_small_store_beside_a_large_one(law):
    """Of 2 to 1e10 kg m/s beside 1 to 1e-10 Wb: no size of one says anything of the other."""
    rng = np.random.default_rng(3)
    for heavy, weak in ((0.0, 0.0), (4.0, -7.0), (10.0, -10.0)):
        mass = float(10.0**heavy * rng.uniform(1.0, 2.0))
        model = machine((WRONG | RIGHT)[law], mass, 10.0**weak, 10.0**weak * 0.3)
        run = vbg.simulate(model)
        assert (run.status.code == "finished") == (law in RIGHT), (heavy, weak, run.status)
        if law in WRONG:
            assert "law of forces" in run.status.sentence and "L." in run.status.sentence


@pytest.mark.parametrize("law", ["abs", "both", "limited", "root"])
def test_in_all_units(law):
    model = machine((WRONG | RIGHT)[law], 1.3, 0.7, 0.4)
    for scale in (Scale(length=1e3), Scale(mass=1e6), Scale(mass=1e-5, length=1e-3)):
        scaled = scale.model(model)
        run = vbg.simulate(scaled, t_end=1.0, output_step=0.1)
        assert (run.status.code == "finished") == (law in RIGHT), (scale, run.status)
