"""What a source could do that never sets in calls nothing zero that moves beside it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import vbg
from benchmarks.verdict.false_alarms import mechanism
from benchmarks.verdict.wrong_entries import CHANGES, asleep, missed
from tests.tail import tail
from vbg.validate import validate
from vbg.validate.comparison.judging import rounding
from vbg.validate.comparison.scales import natural_scales

NEVER = {"kind": "step", "start": 1e3}


def noticed(model: vbg.Model) -> None:
    """A right verdict, and a hundredth too much in any channel is told."""
    report = validate(model, t_end=0.2, output_step=0.01, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for name, change in CHANGES.items():
        asked, overlooked = missed(report, change)
        assert asked or name == "exchanged"
        assert not overlooked, (name, overlooked)


@pytest.mark.parametrize("height", tail([1e9, 1e3, 1e6], 1))
def test_a_wrong_slide_is_told_beside_a_force_that_never_sets_in(height):
    """Energies of some J were zero beside the 1e17 J of a force of 1e9 N, its ways beside 1e7 m."""
    rng = np.random.default_rng(7)
    m, k, c, x = 10.0 ** rng.uniform([-1, 0, -1, -2], [1, 3, 1, 0])
    noticed(
        vbg.Model(
            translational={
                "m": {"kind": "mass", "nodes": ["x"], "m": m, "position": x},
                "k": {"kind": "spring", "nodes": ["x", "frame"], "k": k},
                "c": {"kind": "damper", "nodes": ["x", "frame"], "c": c},
                "F": {"kind": "force", "nodes": ["x"], "force": "never"},
            },
            signals={"never": NEVER | {"height": height}},
        )
    )


@pytest.mark.parametrize("height", tail([1e9, 1e3, 1e6], 1))
def test_a_wrong_circuit_is_told_beside_a_voltage_that_never_sets_in(height):
    noticed(
        vbg.Model(
            electric={
                "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "u"},
                "R": {"kind": "resistor", "nodes": ["a", "b"], "R": 7.0},
                "L": {"kind": "inductor", "nodes": ["b", "gnd"], "L": 0.03},
            },
            signals={
                "u": {"kind": "expression", "expression": "2*sin(30*t) + never"},
                "never": NEVER | {"height": height},
            },
        )
    )


@pytest.mark.parametrize("seed", tail([2, 0, 1, 3], 1))
def test_a_wrong_mechanism_is_told_beside_a_force_that_never_sets_in(seed):
    draw = random.Random(f"asleep {seed}")
    noticed(vbg.Model(**asleep(mechanism(draw), draw)))


def test_a_source_that_never_begins_shows_nothing():
    """Rounding of what is seen hangs on its height by the last digits of one factor alone."""

    def scales(height, *, shown):
        model = vbg.Model(
            translational={
                "m": {"kind": "mass", "nodes": ["x"], "m": 2.0},
                "F": {"kind": "force", "nodes": ["x"], "force": "never"},
            },
            signals={"never": NEVER | {"height": height}},
        )
        return natural_scales(model, {"N": 3.0, "m/s": 0.5, "W": 1.5, "J": 0.4}, 1.0, shown=shown)

    assert scales(1e2, shown=True) == scales(1e9, shown=True)
    could, shown = scales(1e9, shown=False), scales(1e9, shown=True)
    assert could["N"] == 1e9 and shown["N"] == 3.0
    assert 1e-12 * could["J"] > 1e5 * 0.4
    assert 1e-12 * 0.4 < rounding(could, shown)["J"] < 1e-4 * 0.4
