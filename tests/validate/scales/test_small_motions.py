"""One machine at lengths from 1e-3 m to 1e-9 m and times from 1 s to 1 us is one machine: the same
verdict, and a fault in it is seen at every one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.tmm_bridge.solver import simulate as second_solver
from vbg.validate import validate
from vbg.validate.compare import compare

PERIODS, SECONDS = 5, (1.0, 1e-3, 1e-6)
METRES = (1e-5, 1e-3, 1e-7, 1e-9)


def mass(**more):
    return {"kind": "mass", "nodes": ["x"], "m": 1.0, **more}


def let_go(way, w):
    return {"m": mass(position=way), "k": {"kind": "spring", "nodes": ["x"], "k": w**2}}


def pushed(way, w):
    push = {"kind": "force", "nodes": ["x"], "force": f"{way * w**2!r}*cos({w!r}*t)"}
    return {"m": mass(), "f": push}


def shaken_foot(way, w):
    foot = {"kind": "speed", "nodes": ["b"], "speed": f"{way * w!r}*cos({w!r}*t)"}
    return {"m": mass(), "s": foot, "k": {"kind": "spring", "nodes": ["b", "x"], "k": w**2 / 4}}


def pair(way, w):
    soft = {"kind": "spring", "nodes": ["x", "y"], "k": 0.7 * w**2}
    return let_go(way, w) | {"n": {"kind": "mass", "nodes": ["y"], "m": 0.3}, "soft": soft}


MACHINES = [let_go, shaken_foot, pushed, pair]
CASES = [(make, way) for way in METRES for make in MACHINES]


@pytest.mark.parametrize(("make", "way"), tail(CASES, 2))
def test_verdicts_are_alike_at_all_scales(make, way):
    """With a row in each turning point, where a phase of 1e-9 is all that a speed consists of, or
    in each passage of a force through zero."""
    for n, period in enumerate(SECONDS):
        w = 2.0 * np.pi / period
        model = vbg.Model(translational=make(way * (1.0 + 1e-13 * (n + 1)), w))
        rows = period if make is shaken_foot else 0.5 * period
        run = {"t_end": PERIODS * period, "output_step": rows}
        report = validate(model, **run, in_children=False)
        assert report.result == "PASS", (period, report.verdict.sentence)
        agree = [c for c in report.channels if c.result == "PASS"]
        assert agree and all(c.max_error <= 1e-6 * c.peak for c in agree), period
        off = make(way, w)
        off["m"]["m"] *= 1.0001
        fine = {"rtol": 1e-11, "atol": 1e-13}
        wrong = second_solver(vbg.Model(translational=off), **run, **fine)
        made_by = replace(wrong.made_by, model_hash=model.hash)
        verdict = compare(report.solutions["vbg"], replace(wrong, made_by=made_by), model=model)
        assert verdict.result == "FAIL", (period, verdict.sentence)
