"""Pressures that oil starts at: the written one, or a refusal where its law has none."""

import numpy as np
import pytest

import vbg
from vbg.errors import ModelError
from vbg.physics.hydraulics import ATMOSPHERE

KINDS = ("volume", "accumulator", "cylinder")
CYLINDER = {"on": "translational.x", "area_a": 1e-3, "stroke": 0.1, "dead_a": 1e-5, "dead_b": 1e-5}
OWN = {
    "volume": {"nodes": ["n"], "volume": 1e-3},
    "accumulator": {"nodes": ["n"], "volume": 1e-3, "precharge": 3e6},
    "cylinder": {"nodes": ["n", "tank"], **CYLINDER},
}


def model(kind, pressure, **more):
    key = "pressure_a" if kind == "cylinder" else "pressure"
    part = {"kind": kind, **OWN[kind], key: pressure, **more}
    leak = {"kind": "laminar_resistance", "nodes": ["n", "tank"], "conductance": 1e-12}
    rod = {"kind": "mass", "nodes": ["x"], "m": 1.0} if kind == "cylinder" else None
    return vbg.Model(
        hydraulic={"part": part, "leak": leak}, translational={"rod": rod} if rod else {}
    )


def begun(*arguments, **more):
    start = vbg.start(model(*arguments, **more))
    return float(start.outputs(0.0, start.state)["hydraulic.n.pressure"][0])


@pytest.mark.parametrize("kind", KINDS)
def test_oil_starts_at_its_written_pressure_on_both_sides_of_all_bends(kind):
    rng = np.random.default_rng(7)
    absolute = ATMOSPHERE * 10.0 ** rng.uniform(-3.0, 2.3, 6)
    for pressure in absolute - ATMOSPHERE:
        assert begun(kind, pressure) == pytest.approx(pressure, rel=1e-8, abs=1e-8 * ATMOSPHERE)
        assert begun(kind, -pressure, air=0) == pytest.approx(-pressure, rel=1e-8, abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("below", (1.0, 1.0 + 1e-12, 2.0, 1e4))
def test_a_pressure_below_vacuum_is_refused(kind, below):
    """-2 bar began at 310 bar, -1 atm with a division by zero."""
    with pytest.raises(ModelError, match=r"must be above -101325 Pa.*below vacuum.*sign and unit"):
        model(kind, -below * ATMOSPHERE)


@pytest.mark.parametrize("growth", (0.5, 10.0))
def test_a_pull_that_leaves_no_stiffness_is_refused(growth):
    least = -1.4e9 / growth
    assert begun("volume", 0.9 * least, air=0, growth=growth) == pytest.approx(0.9 * least)
    with pytest.raises(ModelError, match="-bulk / growth"):
        model("volume", least, air=0, growth=growth)
