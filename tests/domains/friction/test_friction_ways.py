"""Dry friction of a different size in each direction, on joints, shafts and slides, in both
solvers: when it breaks away, what it exerts, what it holds where a rest is sought."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg import tmm_bridge
from vbg.errors import ModelError
from vbg.io import toml

WAYS = (
    "coulomb = 20, static = 30, viscous = 5, coulomb_back = 45, static_back = 60, viscous_back = 12"
)
SLED = f"""vbg = 1
[bodies.sled]
mass = 10
inertia = {{ xx = 1, yy = 1, zz = 1 }}
[joints.rail]
kind = "prismatic"
between = ["ground", "sled"]
axis = [1, 0, 0]
friction = {{ {WAYS} }}
[forces.push]
kind = "force"
on = "sled"
force = ["PUSH", 0, 0]
[simulate]
t_end = 1.2
output_step = 0.005
"""
KEYS = WAYS.replace(", ", "\n")
DISC = f"""vbg = 1
[rotational.disc]
kind = "inertia"
nodes = ["a"]
J = 10
[rotational.push]
kind = "torque"
nodes = ["a"]
torque = "PUSH"
[rotational.rail]
kind = "friction"
nodes = ["a"]
{KEYS}
[simulate]
t_end = 1.2
output_step = 0.005
"""
SLIDE = DISC.replace("rotational", "translational").replace('"inertia"', '"mass"')
SLIDE = SLIDE.replace("J = ", "m = ").replace('"torque"', '"force"').replace("torque =", "force =")
MACHINES = {
    "joint": (SLED, "rail.speed", "rail.friction"),
    "shaft": (DISC, "rotational.a.speed", "rail.torque"),
    "slide": (SLIDE, "translational.a.speed", "rail.force"),
}


def by_hand(v: float) -> float:
    """The law where it moves."""
    if v > 0.0:
        return -(20 + 10 * np.exp(-v / 0.01) + 5 * v)
    return 45 + 15 * np.exp(v / 0.01) - 12 * v


@pytest.mark.parametrize("machine", MACHINES)
def test_each_way_has_its_friction(machine):
    text, speed, friction = MACHINES[machine]
    model = toml.parse(text.replace("PUSH", "80*sin(6*t)"))
    runs = vbg.simulate(model, rtol=1e-9), tmm_bridge.simulate(model, rtol=1e-9, atol=1e-11)
    for run in runs:
        t, v, f = run.time, run[speed].ravel(), run[friction].ravel()
        moves = abs(v) > 1e-6
        assert (v > 1e-6).any() and (v < -1e-6).any()
        assert_allclose(f[moves], [by_hand(x) for x in v[moves]], rtol=1e-7)
        assert_allclose(f[~moves], -80 * np.sin(6 * t[~moves]), atol=1e-6)
        leaves = np.arcsin(30 / 80) / 6
        assert not moves[t < leaves].any() and moves[(t > leaves) & (t < leaves + 0.1)].all()
    assert_allclose(runs[0][speed], runs[1][speed], atol=1e-7)
    assert runs[0].audit.energy_residual < 1e-8 and runs[1].audit.energy_residual < 1e-8


@pytest.mark.parametrize("machine", MACHINES)
def test_what_it_holds_depends_on_the_way(machine):
    text, speed, friction = MACHINES[machine]
    for load, holds in ((29.0, True), (31.0, False), (-59.0, True), (-61.0, False)):
        model = toml.parse(text.replace("PUSH", str(load)))
        for run in (vbg.simulate(model, t_end=0.05), tmm_bridge.simulate(model, t_end=0.05)):
            assert (abs(run[speed][-1]).item() < 1e-12) is holds
            if holds:
                assert_allclose(run[friction][-1], -load, rtol=1e-9)


def test_rests_hold_what_the_way_allows():
    """A rest is sought with what friction holds: 40 N only against the way back."""
    back = toml.parse(SLED.replace("PUSH", "-40"))
    assert_allclose(vbg.simulate(back, t_end=0.01, start="equilibrium")["rail.friction"][-1], 40.0)
    ahead = toml.parse(SLED.replace("PUSH", "40"))
    with pytest.raises(vbg.VbgError):
        vbg.simulate(ahead, t_end=0.01, start="equilibrium")


def test_a_driven_joint_feels_each_way():
    text = SLED.replace("axis = [1, 0, 0]", 'axis = [1, 0, 0]\ndrive = "0.1*sin(5*t)"')
    model = toml.parse(text.replace("PUSH", "0"))
    for run in (vbg.simulate(model), tmm_bridge.simulate(model)):
        v, f = run["rail.speed"].ravel(), run["rail.friction"].ravel()
        moves = abs(v) > 1e-6
        assert_allclose(f[moves], [by_hand(x) for x in v[moves]], rtol=1e-6)


@pytest.mark.parametrize(
    "wrong, where",
    [("static_back = 60", "static_back = 40"), ("coulomb = 20, static = 30, ", "")],
)
def test_what_cannot_be_is_told(wrong, where):
    with pytest.raises(ModelError, match="_back"):
        vbg.assemble(toml.parse(SLED.replace("PUSH", "0").replace(wrong, where)))


WRITTEN = [
    {"static": 50.0},
    {"coulomb_back": 35.0},
    {"static_back": 55.0},
    {"static": 50.0, "coulomb_back": 35.0},
    {"static": 50.0, "coulomb_back": 12.0},
    {"coulomb_back": 35.0, "static_back": 55.0},
    {"static": 50.0, "coulomb_back": 35.0, "static_back": 41.0},
]


def keys_of(written: dict[str, float]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in {"coulomb": 20.0, **written}.items())


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("written", WRITTEN, ids=lambda written: "+".join(written))
def test_what_is_not_written_of_the_way_back_is_that_of_the_way_ahead(written, machine):
    """Slipping back: coulomb_back, else coulomb. Held: static_back, else static, else that."""
    dry = written.get("coulomb_back", 20.0)
    held = written.get("static_back", written.get("static", dry))
    text, speed, friction = MACHINES[machine]
    keys = keys_of(written)
    text = text.replace(WAYS, keys).replace(KEYS, keys.replace(", ", "\n"))
    for load in (-(held - 0.5), -(held + 0.5)):
        model = toml.parse(text.replace("PUSH", str(load)))
        for run in (vbg.simulate(model, t_end=0.05), tmm_bridge.simulate(model, t_end=0.05)):
            v, f = float(run[speed].ravel()[-1]), float(run[friction].ravel()[-1])
            if load > -held:
                assert abs(v) < 1e-12
                assert_allclose(f, -load, rtol=1e-9)
            else:
                assert v < 0.0
                assert_allclose(f, dry + (held - dry) * np.exp(v / 0.01), rtol=1e-7)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_static_friction_that_cannot_hold_back_asks_for_that_of_back(machine):
    text, *_ = MACHINES[machine]
    keys = keys_of({"static": 30.0, "coulomb_back": 45.0})
    text = text.replace(WAYS, keys).replace(KEYS, keys.replace(", ", "\n"))
    with pytest.raises(ModelError, match=r"static 30 is below coulomb_back 45.*write static_back"):
        toml.parse(text.replace("PUSH", "0"))
