"""A pressure carries its load, whatever a drive carries beside it."""

import numpy as np
import pytest

import vbg
from vbg.errors import AssemblyError

G, PRESSURE = 9.81, 1e5
SEEDS = range(4)


def crane(seed: int, flap: str | None = None) -> vbg.Model:
    """A boom of up to 1e10 kg that a drive holds or turns, beside a slide of down to 1e-5 kg on a
    cylinder in which PRESSURE carries it;
    with a flap of the same mass, pinned to the body `flap`, that nothing carries."""
    rng = np.random.default_rng(seed)
    heavy, light, l = 10.0 ** rng.uniform([4, -5, -2], [10, -1, 1])
    axis = rng.normal(size=3)

    def body(m: float) -> dict:
        J = dict.fromkeys(("xx", "yy", "zz"), 0.1 * m * l**2)
        return {"mass": m, "inertia": J, "points": {"A": [0.37 * l, 0.11 * l, -0.21 * l]}}

    arm = {"kind": "revolute", "between": ["ground", "boom.A"], "axis": axis.tolist()}
    slide = {"kind": "prismatic", "between": ["ground", "slide"], "axis": [0, 0, 1]}
    cylinder = {
        "kind": "cylinder",
        "nodes": ["a", "tank"],
        "on": "joints.lift",
        "area_a": light * G / PRESSURE,
        "stroke": l,
        "pressure_a": "equilibrium",
    }
    joints = {
        "arm": {**arm, "drive": f"{rng.uniform(-3, 3)!r} + {seed % 2}*t"},
        "lift": {**slide, "initial": {"slide": 0.3 * l}},
    }
    bodies = {"boom": body(heavy), "slide": body(light)}
    if flap:
        pin = {"kind": "revolute", "between": [flap, "flap.A"], "axis": [0, 1, 0]}
        joints, bodies = {**joints, "pin": pin}, {**bodies, "flap": body(light)}
    return vbg.Model(bodies=bodies, joints=joints, hydraulic={"c": cylinder})


@pytest.mark.parametrize("seed", SEEDS)
def test_a_light_load_is_carried_beside_a_heavy_boom_on_a_drive(seed):
    start = vbg.start(crane(seed))
    found = float(np.ravel(start.outputs(0.0, start.state)["c.pressure_a"])[0])
    assert found == pytest.approx(PRESSURE, rel=1e-6)


@pytest.mark.parametrize("flap", ["ground", "slide.A", "boom.A"])
@pytest.mark.parametrize("seed", (0, 2, 4))
def test_what_nothing_carries_beside_it_is_told_however_light_it_is(seed, flap):
    """Beside a boom at rest: the weight of 1e10 kg is no size of what rounding does to a flap of
    1e-5 kg, not even where it hangs on the boom itself."""
    with pytest.raises(AssemblyError, match="flap is left"):
        vbg.start(crane(seed, flap))
