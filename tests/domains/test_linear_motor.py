"""A dc_motor on what slides is a linear motor: force K i [N], speed [m/s]."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from vbg import tmm_bridge
from vbg.errors import ModelError
from vbg.io import toml
from vbg.model import catalogue

M, J, R, L, K, B, U = 2.0, 0.3, 2.0, 5e-3, 12.0, 4.0, 24.0
MOTOR = f"""vbg = 1
gravity = [0, 0, 0]
[simulate]
t_end = 0.05
output_step = 5e-3
[electric.supply]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = {U}
[electric.m]
kind = "dc_motor"
nodes = ["a", "gnd"]
on = "WHERE"
R = {R}
L = {L}
K = "{K} N/A"
J = "{J} kg"
B = "{B} N*s/m"
"""
RAIL = f"""[bodies.cart]
mass = {M}
inertia = {{ xx = 0.1, yy = 0.1, zz = 0.1 }}
[joints.rail]
kind = "prismatic"
between = ["ground", "cart"]
axis = [1, 2, 2]
"""
NODE = f'[translational.load]\nkind = "mass"\nnodes = ["s"]\nm = {M}\n'
WAYS = {"joints.rail": RAIL, "translational.s": NODE}


def closed_form(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Current and speed from rest: (m + J) v' = K i - B v, L i' = U - R i - K v."""
    A = np.array([[-R / L, -K / L], [K / (M + J), -B / (M + J)]])
    end = np.linalg.solve(A, [-U / L, 0.0])
    roots, modes = np.linalg.eig(A)
    weights = np.linalg.solve(modes, -end)
    i, v = (modes * weights @ np.exp(np.outer(roots, t)) + end[:, None]).real
    return i, v


@pytest.mark.parametrize("where", WAYS)
def test_it_moves_as_its_two_poles_say_in_both_solvers(where):
    model = toml.parse(MOTOR.replace("WHERE", where) + WAYS[where], "m.toml")
    for found in (vbg.simulate(model), tmm_bridge.simulate(model)):
        i, v = closed_form(found.time)
        np.testing.assert_allclose(found["m.current"], i, rtol=0.0, atol=1e-6 * np.abs(i).max())
        np.testing.assert_allclose(found["m.force"], K * found["m.current"], rtol=1e-12)
        np.testing.assert_allclose(found["m.speed"], v, rtol=0.0, atol=1e-6 * v.max())
        assert (found.units["m.force"], found.units["m.speed"]) == ("N", "m/s")
        assert "m.torque" not in found.signals


def test_its_run_is_the_same_from_any_rounding():
    model = toml.parse(MOTOR.replace("WHERE", "joints.rail") + RAIL, "m.toml")
    for start in shaken(vbg.start(model)):
        found = vbg.simulate(start)
        _, v = closed_form(found.time)
        np.testing.assert_allclose(found["m.speed"], v, rtol=0.0, atol=1e-6 * v.max())


def test_units_of_either_motion_come_in_one_order():
    """Readers take the first of "N/m or N*m/rad" for what slides, the second for what turns."""
    for kinds in catalogue().values():
        for part in kinds.values():
            for key, field in vbg.fields.declared(part).items():
                slide, *turn = field.unit.split(" or ")
                if len(turn) == 1:
                    assert "rad" not in slide, (part, key)
                    assert "rad" in turn[0] or turn[0] in ("N*m", "kg*m^2"), (part, key)


WRONG = {
    "a constant of what turns": ('K = "12.0 N/A"', 'K = "12 N*m/A"', "expected .*N/A"),
    "an inertia that turns": ('J = "0.3 kg"', 'J = "0.3 kg*m^2"', "expected a mass"),
    "a torque": ("[electric.m]", '[rotational.T]\nkind = "torque"\non = "joints.rail"\ntorque = 1\n'
                 "[electric.m]", r"joints.rail slides, .*\[rotational\].*\[translational\]"),
    "a pump": ("[electric.m]", '[hydraulic.P]\nkind = "pump"\non = "joints.rail"\n'
               'nodes = ["tank", "p"]\ndisplacement = 1e-6\n[electric.m]',
               "joints.rail slides, here is needed what turns. .*revolute"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_turns_is_refused_on_what_slides(what):
    old, new, told = WRONG[what]
    text = MOTOR.replace("WHERE", "joints.rail") + RAIL
    assert old in text
    with pytest.raises(ModelError, match=told):
        toml.parse(text.replace(old, new), "m.toml")
