"""Speed sources between two shafts: one runs ahead of the other by a given speed."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.validate import validate

JA, JB, TORQUE = 1.3, 0.4, 0.9


def source(a: str, b: str, speed: str) -> dict[str, object]:
    return {"kind": "speed", "nodes": [a, b], "speed": speed}


def shafts(more: dict[str, object], **start: float) -> vbg.Model:
    inertias = {
        f"J{node}": {"kind": "inertia", "nodes": [node], "J": J}
        | ({"speed": start[node]} if node in start else {})
        for node, J in (("a", JA), ("b", JB))
    }
    torque = {"kind": "torque", "nodes": ["b"], "torque": TORQUE}
    return vbg.Model(
        rotational={**inertias, "T": torque, **more},
        simulate={"t_end": 1.0, "output_step": 0.1},
    )


def judged(model: vbg.Model) -> vbg.validate.Report:
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.verdict.word == "PASS", report.verdict.sentence
    return report


@pytest.mark.parametrize(
    ("start", "begin"),
    tail(
        [({}, -JB / (JA + JB)), ({"a": 2.0}, 2.0), ({"b": 2.0}, 1.0), ({"a": 2.0, "b": 3.0}, 2.0)],
        2,
    ),
)
@pytest.mark.parametrize("ends", ["ab", "ba"])
def test_momentum_of_both_follows_the_torque(start, begin, ends):
    """wb = wa + s, s = cos(3 t): Ja wa' + Jb wb' = T; the source exerts Jb wb' - T on b."""
    given = "cos(3*t)" if ends == "ab" else "-cos(3*t)"
    for solution in judged(shafts({"s": source(*ends, given)}, **start)).solutions.values():
        t, s = solution.time, np.cos(3.0 * solution.time)
        wa = begin + (TORQUE * t - JB * (s - 1.0)) / (JA + JB)
        slope = (TORQUE + JB * 3.0 * np.sin(3.0 * t)) / (JA + JB) - 3.0 * np.sin(3.0 * t)
        exerted = (JB * slope - TORQUE) * (1.0 if ends == "ab" else -1.0)
        assert solution["rotational.a.speed"] == pytest.approx(wa, abs=1e-8)
        assert solution["rotational.b.speed"] == pytest.approx(wa + s, abs=1e-8)
        assert solution["s.torque"] == pytest.approx(exerted, abs=1e-8)


OTHERS = {
    "spring and damper": {
        "k": {"kind": "spring", "nodes": ["b", "frame"], "k": 20.0},
        "d": {"kind": "damper", "nodes": ["a", "b"], "c": 0.3},
    },
    "dry friction of what it moves": {
        "f": {"kind": "friction", "nodes": ["b", "frame"], "coulomb": 0.2}
    },
    "the first is driven": {"S": {"kind": "speed", "nodes": ["a"], "speed": "t"}},
    "the second is driven": {"S": {"kind": "speed", "nodes": ["b", "frame"], "speed": "t*t"}},
}


@pytest.mark.parametrize("name", tail(OTHERS, 2))
def test_both_solvers_agree_with_what_else_acts(name):
    judged(shafts({"s": source("a", "b", "sin(4*t)"), **OTHERS[name]}))


def test_a_source_between_a_joint_and_a_shaft_is_told():
    """It strikes at the start, which a replay of its torque would leave out."""
    model = vbg.Model(
        bodies={"p": {"mass": 1.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={"A": {"kind": "revolute", "between": ["ground", "p"], "axis": [0, 0, 1]}},
        rotational={
            "J": {"kind": "inertia", "nodes": ["n"], "J": 1.0},
            "s": source("joint:A", "n", "1"),
        },
        simulate={"t_end": 0.1, "output_step": 0.05},
    )
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "INCONCLUSIVE"
    assert "rotational.s" in report.verdict.sentence
