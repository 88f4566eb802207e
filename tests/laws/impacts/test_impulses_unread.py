"""Stores that a source's jump ties, of sizes decades apart, beside branches that no impulse
reaches: their steps of rounding are none, and both solvers run to the end and agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.tmm_bridge import simulate as second
from vbg.validate import validate

AT = 0.31
Tables = dict[str, Any]


def on(kind: str, nodes: str, **fields: Any) -> Tables:
    return {"kind": kind, "nodes": nodes.split(), **fields}


def decades(draw: Generator, low: float, high: float) -> float:
    return float(10.0 ** draw.uniform(low, high))


def jump(draw: Generator) -> str:
    low, high = draw.uniform(0.5, 5.0, 2).tolist()
    return f"if(t > {AT}, {high!r}, {low!r})"


def capacitors(draw: Generator) -> Tables:
    """Two that divide the voltage, one of them bridged; a coil at no current behind a resistor,
    which damps them."""
    upper, lower, L = decades(draw, -9, -3), decades(draw, -9, -3), decades(draw, -4, 0)
    return {
        "V": on("voltage_source", "gnd a", voltage=jump(draw)),
        "upper": on("capacitor", "a b", C=upper),
        "lower": on("capacitor", "b gnd", C=lower),
        "bridge": on("resistor", "b gnd", R=decades(draw, 0, 6)),
        "R": on("resistor", "b c", R=math.sqrt(L / (upper + lower)) * decades(draw, 0.5, 3)),
        "L": on("inductor", "c gnd", L=L),
    }


def coils(draw: Generator) -> Tables:
    """Two that share the current, one of them lossy; a capacitor at no voltage beside it, behind
    a resistor, which damps them."""
    one, two, C = decades(draw, -6, 0), decades(draw, -6, 0), decades(draw, -6, -1)
    return {
        "I": on("current_source", "gnd a", current=jump(draw)),
        "one": on("inductor", "a gnd", L=one),
        "two": on("inductor", "a b", L=two),
        "loss": on("resistor", "b gnd", R=decades(draw, -3, 3)),
        "R": on("resistor", "b c", R=math.sqrt((one + two) / C) * decades(draw, 0.5, 3)),
        "C": on("capacitor", "c gnd", C=C),
    }


def switching(draw: Generator) -> Tables:
    """The same with a third, and diodes before resistors."""
    return capacitors(draw) | {
        "across": on("capacitor", "a gnd", C=decades(draw, -9, -3)),
        "D": on("diode", "b d"),
        "drain": on("resistor", "d gnd", R=decades(draw, 0, 5)),
        "other": on("diode", "a e"),
        "load": on("resistor", "e gnd", R=decades(draw, 0, 5)),
    }


CIRCUITS: dict[str, Callable[[Generator], Tables]] = {
    "capacitors": capacitors,
    "coils": coils,
    "switching": switching,
}


@pytest.mark.parametrize("seed", tail(range(8), 1))
@pytest.mark.parametrize("circuit", CIRCUITS)
def test_what_no_impulse_reaches_steps_by_rounding_at_most(circuit: str, seed: int) -> None:
    draw = np.random.default_rng([seed, *map(ord, circuit)])
    electric = CIRCUITS[circuit](draw)
    settings = {"t_end": 0.35, "output_step": 0.05}
    model = vbg.Model(name=circuit, electric=electric, simulate=settings)
    one, other = vbg.simulate(model), second(model)
    assert one.status.code == other.status.code == "finished", other.status.sentence
    for told in ("voltage", "current"):
        names = [f"{name}.{told}" for name in electric if f"{name}.{told}" in one.signals]
        rows, others = (np.array([run[name] for name in names]) for run in (one, other))
        assert_allclose(others, rows, rtol=0, atol=1e-5 * np.abs(rows).max() + 1e-9)
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
