"""Diameters for areas, a duty for a width, a frequency for a period: the same machine to the last
digits of a run, in both solvers; two keys for one thing, and none, are refused in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg import tmm_bridge
from vbg.errors import ModelError
from vbg.fields import alternatives, declared
from vbg.io import toml
from vbg.model.catalogue import catalogue
from vbg.model.samples import machine
from vbg.validate import validate

BORE, ROD = 0.05, 0.028
A = math.pi / 4.0 * BORE**2
PAIRS = [
    (part, key, other)
    for kinds in catalogue().values()
    for part in kinds.values()
    for key, others in alternatives(part).items()
    for other in others
]


def machine_with(written: dict, pulse: dict, orifice: dict) -> vbg.Model:
    """A mass on a cylinder that a pulsed source feeds through an orifice."""
    pulse = {"kind": "pulse", "height": "60 bar", "offset": "20 bar", **pulse}
    chambers = {"nodes": ["a", "b"], "on": "translational.x", "stroke": 0.4, "length": -0.2}
    return vbg.Model(
        name="press",
        signals={"beat": pulse},
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": 40.0},
            "k": {"kind": "spring", "nodes": ["x"], "k": 1e5},
        },
        hydraulic={
            "c": {"kind": "cylinder", "friction": 3e3, **chambers, **written},
            "supply": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": "beat"},
            "inlet": {"kind": "orifice", "nodes": ["p", "a"], **orifice},
            "outlet": {"kind": "orifice", "nodes": ["b", "tank"], "area": "5 mm^2"},
        },
    )


WIDE = {"area_a": A, "area_b": A - math.pi / 4.0 * ROD**2}
ROUND = {"bore": "50 mm", "rod": "28 mm"}
TIMES = ({"period": 0.05, "width": 0.015}, {"frequency": "20 Hz", "duty": "30 %"})
HOLE = ({"area": math.pi / 4.0 * 4e-6}, {"diameter": "2 mm"})


@pytest.mark.slow
def test_both_spellings_are_one_machine() -> None:
    """Every signal, and those of the second solver; areas by pi d^2 / 4 here."""
    areas = machine_with(WIDE, TIMES[0], HOLE[0])
    rounds = machine_with(ROUND, TIMES[1], HOLE[1])
    first, second = (
        vbg.simulate(vbg.assemble(model), t_end=0.2, output_step=0.001) for model in (areas, rounds)
    )
    for name in (name for name in first if name != "energy.residual"):
        peak = np.abs(first[name]).max()
        assert_allclose(second[name], first[name], atol=1e-6 * peak, err_msg=name)
    other = tmm_bridge.simulate(rounds, t_end=0.2, output_step=0.001)
    peak = np.abs(first["c.force"]).max()
    assert_allclose(other["c.force"], first["c.force"], atol=1e-5 * peak)
    report = validate(rounds, t_end=0.05)
    assert report.result == "PASS"


@pytest.mark.parametrize("round_ones", [{"bore": 0.05}, {"area_a": A, "rod": 0.028}, ROUND])
def test_a_machine_is_made_again_of_its_parts(round_ones: dict) -> None:
    """A part that was written with a diameter is not written with its area as well."""
    model = machine_with(round_ones, TIMES[1], HOLE[1])
    tables = {name: getattr(model, name) for name in ("signals", "translational", "hydraulic")}
    assert vbg.Model(name="press", **tables).hash == model.hash


def test_rods_alone_and_bores_alone() -> None:
    """An area of A beside a rod; a bore without one is a rod through both chambers."""
    for written, b in (
        ({"area_a": A, "rod": ROD}, A - math.pi / 4.0 * ROD**2),
        ({"bore": BORE}, A),
        ({"bore": BORE, "area_b": 1e-3}, 1e-3),
    ):
        part = machine_with(written, TIMES[0], HOLE[0]).hydraulic["c"]
        assert (part.area_a, part.area_b or part.area_a) == pytest.approx((A, b), rel=1e-15)


@pytest.mark.parametrize(
    ("written", "pulse", "told"),
    [
        ({}, TIMES[0], "cylinder needs area_a: area of chamber A .*; or bore: diameter"),
        ({"bore": BORE, "area_a": A}, TIMES[0], "area_a and bore say the same thing twice"),
        ({"bore": BORE, "rod": ROD, "area_b": A}, TIMES[0], "area_b and rod say the same"),
        ({"bore": BORE, "rod": BORE}, TIMES[0], "a rod of 0.05 m fills the piston"),
        ({"area_a": A, "rod": 0.051}, TIMES[0], "whose diameter is 0.05 m"),
        (ROUND, {"period": 1.0}, "a pulse needs width: .*; or duty: part of a period"),
        (ROUND, {"duty": 0.5}, "a pulse needs period: .*; or frequency"),
        (ROUND, {"period": 1.0, "duty": 1.5}, "duty|below 1|less than 1|< 1"),
    ],
)
def test_wrong_combinations(written: dict, pulse: dict, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        machine_with(written, pulse, HOLE[0])


@pytest.mark.parametrize(("part", "key", "other"), PAIRS)
def test_declared_alternatives(part: Any, key: str, other: str) -> None:
    """Each stands for a key that there is; both at once are refused in the sample's machine."""
    assert key in declared(part)
    model = toml.parse(machine(part.table, part.kind))
    name = next(name for name, one in getattr(model, part.table).items() if type(one) is part)
    with pytest.raises(ModelError, match="the same thing twice"):
        model.edited((part.table, name, key), 1e-4).edited((part.table, name, other), 1e-3)


@pytest.mark.parametrize("seed", tail(range(6), first=2))
def test_random_duties_have_their_mean(seed: int) -> None:
    """The mean of a pulse over whole periods is offset + height duty, at all scales of time."""
    random = np.random.default_rng(seed)
    duty, f = random.uniform(0.05, 0.95), 10.0 ** random.uniform(-3, 5)
    pulse = {"kind": "pulse", "frequency": f"{f!r} Hz", "duty": duty, "height": 3.0, "offset": 1.0}
    model = vbg.Model(
        name="mean",
        signals={"p": pulse},
        electric={
            "I": {"kind": "current_source", "nodes": ["gnd", "n"], "current": "p"},
            "C": {"kind": "capacitor", "nodes": ["n", "gnd"], "C": 1.0 / f},
        },
    )
    run = vbg.simulate(vbg.assemble(model), t_end=7.0 / f, output_step=0.25 / f)
    assert run["C.voltage"][-1] == pytest.approx(7.0 * (1.0 + 3.0 * duty), rel=1e-6)
