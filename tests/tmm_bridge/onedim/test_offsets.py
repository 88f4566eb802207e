"""Speed sources between two shafts: one runs ahead of the other by a given speed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.tmm_bridge.motion.events import impulses
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


def gear(a: str, b: str, ratio: float) -> dict[str, object]:
    return {"kind": "gear", "nodes": [a, b], "ratio": ratio}


def geared(more: dict[str, object], given: str = "1 + sin(3*t)", ends: str = "cb") -> vbg.Model:
    """c turns R times as fast as a, e Q times as fast as b; b is ahead of c."""
    inertias = {f"J{n}": {"kind": "inertia", "nodes": [n], "J": J} for n, J in GEARED.items()}
    trains = {"g": gear("a", "c", R), "h": gear("e", "b", 1.0 / Q)}
    torque = {"kind": "torque", "nodes": ["e"], "torque": TORQUE}
    parts = {**inertias, **trains, "T": torque, "s": source(*ends, given), **more}
    return vbg.Model(rotational=parts, simulate={"t_end": 1.0, "output_step": 0.1})


R, Q = -2.5, 0.7
GEARED = {"a": 1.3, "b": 0.4, "c": 0.2, "e": 0.1}


@pytest.mark.parametrize("ends", ["cb", "bc"])
def test_a_source_between_geared_shafts(ends):
    """With A = Ja + R^2 Jc and B = Jb + Q^2 Je: (A + R^2 B) wa' = Q R T - R B s', from the speed at
    which the source strikes both apart; it exerts B wb' - Q T on b."""
    A, B = GEARED["a"] + R * R * GEARED["c"], GEARED["b"] + Q * Q * GEARED["e"]
    whole, sign = A + R * R * B, 1.0 if ends == "cb" else -1.0
    for solution in judged(geared({}, ends=ends)).solutions.values():
        t = solution.time
        s, slope = sign * (1.0 + np.sin(3.0 * t)), sign * 3.0 * np.cos(3.0 * t)
        wa = (Q * R * TORQUE * t - R * B * s) / whole
        wb = (Q * R * TORQUE - R * B * slope) / whole * R + slope
        assert solution["rotational.a.speed"] == pytest.approx(wa, abs=1e-8)
        assert solution["rotational.e.speed"] == pytest.approx(Q * (R * wa + s), abs=1e-8)
        assert solution["s.torque"] == pytest.approx(sign * (B * wb - Q * TORQUE), abs=1e-8)
        assert solution["h.torque1"] == pytest.approx(TORQUE - GEARED["e"] * Q * wb, abs=1e-8)


BESIDE = {
    "a damper across": {"d": {"kind": "damper", "nodes": ["a", "e"], "c": 0.3}},
    "dry friction": {"f": {"kind": "friction", "nodes": ["a", "e"], "coulomb": 0.2}},
    "a second source": {
        "Jf": {"kind": "inertia", "nodes": ["f"], "J": 0.3},
        "s2": source("a", "f", "cos(t)"),
        "d": {"kind": "damper", "nodes": ["f", "e"], "c": 0.3},
    },
    "a given speed": {"Ja": {"kind": "speed", "nodes": ["a"], "speed": "t"}},
}


@pytest.mark.parametrize("given", ["1 + sin(3*t)", "1 + sign(t - 0.35)"])
@pytest.mark.parametrize("name", tail(BESIDE, 2))
def test_both_solvers_agree_beside_geared_shafts(name, given):
    judged(geared(BESIDE[name], given))


def test_a_source_whose_speed_jumps_strikes_both():
    """Ja wa + Jb wb stays at the jump of s by 1: wa falls by Jb / (Ja + Jb), the source brings
    what the kinetic energy grows by."""
    model = shafts({"s": source("a", "b", "0.5 + 0.5*sign(t - 0.35)")}, a=2.0, b=2.0)
    for solution in judged(model).solutions.values():
        t = solution.time
        wa = 2.0 + (TORQUE * t - JB * (t > 0.35)) / (JA + JB)
        wb = wa + (t > 0.35)
        assert solution["rotational.a.speed"] == pytest.approx(wa, abs=1e-8)
        held = 0.5 * (JA * wa**2 + JB * wb**2)
        assert solution["energy.kinetic"] == pytest.approx(held, abs=1e-8)
        assert solution["energy.supplied"] == pytest.approx(held - held[0], abs=1e-8)


def test_what_frictions_share_on_the_one_shaft_is_supplied_alike():
    """Two brakes on a: the mechanism moves it then, and its acceleration is known late."""
    brakes = {
        f"f{n}": {"kind": "friction", "nodes": ["a", "frame"], "coulomb": c}
        for n, c in enumerate((0.05, 0.02))
    }
    judged(shafts({"s": source("a", "b", "2*sin(5*t)"), **brakes}))


JOINT, WHEEL = 0.7, 0.25


def carrier(ends: tuple[str, str], given: str, **start: float) -> vbg.Model:
    """A body on a vertical hinge, a wheel on a shaft that a source drives ahead of it."""
    return vbg.Model(
        bodies={"p": {"mass": 1.0, "inertia": dict.fromkeys(("xx", "yy", "zz"), JOINT)}},
        joints={"A": {"kind": "revolute", "between": ["ground", "p"], "axis": [0, 0, 1]}},
        rotational={
            "wheel": {"kind": "inertia", "nodes": ["n"], "J": WHEEL, **start},
            "T": {"kind": "torque", "nodes": ["n"], "torque": TORQUE},
            "s": source(*ends, given),
        },
        simulate={"t_end": 1.0, "output_step": 0.1},
    )


@pytest.mark.parametrize("ends", [("joint:A", "n"), ("n", "joint:A")])
@pytest.mark.parametrize("start", [{}, {"speed": 2.0}])
def test_a_shaft_ahead_of_a_joint(ends, start):
    """The same balance, J of the body in the place of Ja; the wheel's speed begins as written."""
    given = "cos(3*t)" if ends[1] == "n" else "-cos(3*t)"
    begin = 2.0 - 1.0 if start else -WHEEL / (JOINT + WHEEL)
    for solution in judged(carrier(ends, given, **start)).solutions.values():
        t, s = solution.time, np.cos(3.0 * solution.time)
        w = begin + (TORQUE * t - WHEEL * (s - 1.0)) / (JOINT + WHEEL)
        slope = (TORQUE - 3.0 * JOINT * np.sin(3.0 * t)) / (JOINT + WHEEL)
        exerted = (WHEEL * slope - TORQUE) * (1.0 if ends[1] == "n" else -1.0)
        assert solution["A.speed"] == pytest.approx(w, abs=1e-8)
        assert solution["rotational.n.speed"] == pytest.approx(w + s, abs=1e-8)
        assert solution["s.torque"] == pytest.approx(exerted, abs=1e-8)


CRANK = vbg.read(Path(__file__).parents[3] / "examples" / "slider-crank.toml")


@pytest.mark.parametrize("given", ["1 + 2*sin(5*t)", "1 + sign(t - 0.13)"])
@pytest.mark.parametrize("ends", [("q", "m"), ("n", "q"), ("joint:A", "m")])
@pytest.mark.parametrize("start", tail([{}, {"speed": 2.0}], 1))
def test_gears_on_both_sides_of_a_source_on_a_joint(ends, start, given):
    parts = {
        "Jm": {"kind": "inertia", "nodes": ["m"], "J": 0.2},
        "Jq": {"kind": "inertia", "nodes": ["q"], "J": 0.05},
        "g": gear("n", "m", -1.5),
        "h": gear("joint:A", "q", 3.0),
        "T": {"kind": "torque", "nodes": ["m"], "torque": "0.9*cos(2*t)"},
    }
    model = carrier(ends, given, **start)
    rotational = {**model.document["rotational"], **parts}
    judged(vbg.Model(**{**model.document, "rotational": rotational}))


@pytest.mark.slow
def test_what_a_source_strikes_through_gears_is_not_replayed():
    """A friction has no twin here, and efforts alone do not tell of the strike at the start."""
    rub = {"kind": "friction", "nodes": ["n", "frame"], "coulomb": 0.2}
    model = carrier(("q", "n"), "1 + sin(4*t)")
    parts = {"f": rub, "h": gear("joint:A", "q", 3.0)}
    rotational = {**model.document["rotational"], **parts}
    verdict = validate(vbg.Model(**{**model.document, "rotational": rotational})).verdict
    assert verdict.result == "INCONCLUSIVE"
    assert "does not tell what it strikes at the start" in verdict.sentence


@pytest.mark.parametrize("speed", ["20*sin(5*t) + 4", "5 + 5*sign(t - 0.35)"])
def test_a_shaft_ahead_of_a_joint_of_a_loop(speed):
    parts = {
        "wheel": {"kind": "inertia", "nodes": ["n"], "J": 0.002},
        "d": {"kind": "damper", "nodes": ["n"], "c": 0.001},
        "s": source("joint:A", "n", speed),
    }
    judged(
        vbg.Model(
            **{
                **CRANK.document,
                "rotational": parts,
                "simulate": {"t_end": 1.0, "output_step": 0.05},
            }
        )
    )


def test_a_wrong_impulse_fails(monkeypatch):
    sound = impulses.change_by
    monkeypatch.setattr(impulses, "change_by", lambda *given: 1.001 * sound(*given))
    model = carrier(("joint:A", "n"), "0.5 + 0.5*sign(t - 0.35)")
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "FAIL", report.verdict.sentence
