"""Output rows on which the motion itself makes a force jump: one solver may have the row before
the jump, the other behind it, and both are right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.validate.comparison.pairing import on_other_sides
from vbg.validate.evidence import verdict_on

ROWS = 20  # the jump is on the row in the middle, at t = ROWS / 2 h
MASS = 2.0  # kg


def model(name: str, h: float, **tables: object) -> vbg.Model:
    return vbg.Model(name=name, gravity=[0, 0, 0], simulate=settings(h), **tables)


def settings(h: float) -> dict[str, float]:
    return {"t_end": ROWS * h, "output_step": h}


def sliding(h: float, v: float, stop: dict | None = None, latch: bool = False, **tables: object):
    """A block that comes along at v, and is at x = v t; something happens at half the run."""
    slide = {
        "kind": "prismatic",
        "between": ["ground", "b"],
        "axis": [1, 0, 0],
        "initial": {"speed": v},
    }
    at = v * 0.5 * ROWS * h
    joints = {"p": slide | ({"stop": {"upper": at, **stop}} if stop else {})}
    if latch:
        ends = [{"body": "ground", "at": [at, 0, 0]}, "b"]
        joints["l"] = {"kind": "fixed", "between": ends, "engage": f"p.slide > {at!r}"}
    body = {"mass": MASS, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    return model("sliding", h, bodies={"b": body}, joints=joints, **tables)


def law(h: float, v: float) -> vbg.Model:
    """A force that begins where the block has come to."""
    push = f"if(p.slide > {v * 0.5 * ROWS * h!r}, {MASS * v / (ROWS * h)!r}, 0)"
    force = {"f": {"kind": "force", "nodes": ["joint:p"], "force": push}}
    return sliding(h, v, translational=force)


def stick(h: float, v: float) -> vbg.Model:
    """Dry friction that stops a mass, and holds it against a force."""
    slowing = MASS * v / (0.5 * ROWS * h)
    return model(
        "stick",
        h,
        translational={
            "m": {"kind": "mass", "nodes": ["a"], "m": MASS, "speed": v},
            "f": {"kind": "friction", "nodes": ["a", "frame"], "coulomb": 0.75 * slowing},
            "load": {"kind": "force", "nodes": ["a"], "force": -0.25 * slowing},
        },
    )


def lock(h: float, v: float) -> vbg.Model:
    """A clutch whose shafts come to one speed."""
    J, J2 = 0.3, 0.8
    drive = 5.0 * v / (ROWS * h)
    capacity = (v / (0.5 * ROWS * h) + drive / J) / (1 / J + 1 / J2)
    return model(
        "lock",
        h,
        rotational={
            "J": {"kind": "inertia", "nodes": ["a"], "J": J, "speed": v},
            "J2": {"kind": "inertia", "nodes": ["b"], "J": J2},
            "T": {"kind": "torque", "nodes": ["a"], "torque": drive},
            "c": {"kind": "clutch", "nodes": ["a", "b"], "capacity": capacity},
        },
    )


def stop(h: float, v: float) -> vbg.Model:
    """A stop whose damper jumps in."""
    rate = 1.0 / (ROWS * h)
    return sliding(h, v, stop={"k": 9 * MASS * rate**2, "c": MASS * rate})


def latch(h: float, v: float) -> vbg.Model:
    """A joint that closes there in an impact."""
    return sliding(h, v, latch=True)


MAKERS = (law, lock, latch, stick, stop)
CASES = [(maker, seed) for seed in range(4) for maker in MAKERS]


@pytest.mark.parametrize(("maker", "seed"), tail(CASES, 1))
def test_a_force_that_jumps_on_a_row_is_judged_at_all_others(maker, seed):
    """And one that is wrong in one solver on any row but that is a FAIL; that row, too, where
    both tell that it is on one side of the jump."""
    random = np.random.default_rng(seed)
    h, v = float(f"{10 ** random.uniform(-3, -0.5):.2g}"), float(random.uniform(0.5, 3.0))
    for shake in range(10):
        moved = v * (1.0 + 1e-13 * float(random.uniform(-1, 1)) * (shake > 0))
        machine = maker(h, v).edited(*start_of(maker), moved) if shake else maker(h, v)
        report = vbg.validate(machine, in_children=False)
        assert report.result == "PASS", report.verdict.sentence
        first, second = report.evidence.first, report.evidence.second
        rows = np.arange(ROWS + 1)
        apart = np.flatnonzero(on_other_sides(first, second, rows, rows))
        assert set(apart) <= {ROWS // 2}
        for row in {ROWS // 2, ROWS // 2 + 1} - set(apart.tolist()):
            assert verdict_on(spoilt(report.evidence, row)).result == "FAIL"


def start_of(maker) -> tuple[tuple[str, ...]]:
    where = {stick: ("translational", "m", "speed"), lock: ("rotational", "J", "speed")}
    return (where.get(maker, ("joints", "p", "initial", "speed")),)


def spoilt(evidence, row: int):
    """The second solver's largest effort, or of a machine without efforts its speed, a thousandth
    off in one row."""
    second = evidence.second
    peaks = {n: float(np.abs(values).max()) for n, values in second.signals.items()}
    efforts = [n for n, unit in second.units.items() if unit in ("N", "N*m") and peaks[n] > 1e-9]
    name = max(efforts, key=peaks.__getitem__) if efforts else "p.speed"

    def wrong(run):
        values = run.signals[name].copy()
        values[row] += 1e-3 * peaks[name]
        return replace(run, signals={**run.signals, name: values})

    return replace(evidence, second=wrong(second), coarser=wrong(evidence.coarser))
