"""Every value of a row that lies on a crossing is compared: one that is wrong in one run fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.validate.test_rows_on_crossings import MASS, ROWS, law, lock, model, sliding, stick, stop
from tests.validate.test_rows_on_crossings import latch as locking
from tests.validate.test_rows_on_crossings import start_of as start_of_rows
from vbg.errors import UsageError
from vbg.validate import child
from vbg.validate.columns import column_of
from vbg.validate.comparison.pairing import on_other_sides
from vbg.validate.comparison.sides import goes_on
from vbg.validate.evidence import verdict_on


def signed(h: float, v: float) -> vbg.Model:
    """A force that slows the block down to half until it is where its sign turns; on the row it may
    be halfway."""
    push = f"{MASS * v / (ROWS * h)!r} * sign(p.slide - {v * 0.375 * ROWS * h!r})"
    force = {"f": {"kind": "force", "nodes": ["joint:p"], "force": push}}
    return sliding(h, v, translational=force)


def springy(h: float, v: float) -> vbg.Model:
    """A force that begins when a spring has turned the motion by three radians."""
    k = MASS * (3.0 / (0.5 * ROWS * h)) ** 2
    push = f"if(p.speed < {float(v * np.cos(3.0))!r}, {float(-0.3 * v * np.sqrt(MASS * k))!r}, 0)"
    parts = {
        "s": {"kind": "spring", "nodes": ["joint:p", "frame"], "k": float(k)},
        "f": {"kind": "force", "nodes": ["joint:p"], "force": push},
    }
    return sliding(h, v, translational=parts)


def diode(h: float, v: float) -> vbg.Model:
    """A diode that blocks when a source has driven the current of a coil to zero."""
    R, L, T = 0.7, 0.5 * ROWS * h, 0.5 * ROWS * h
    parts = {
        "u": {
            "kind": "voltage_source",
            "nodes": ["gnd", "a"],
            "voltage": v * R / np.expm1(R * T / L),
        },
        "l": {"kind": "inductor", "nodes": ["a", "b"], "L": L, "current": v},
        "d": {"kind": "diode", "nodes": ["b", "gnd"], "law": "ideal", "Ron": R},
    }
    return model("diode", h, electric=parts)


def stopping(h: float, v: float) -> vbg.Model:
    """A block on which a force begins where it meets a stop."""
    push = f"if(p.slide > {v * 0.5 * ROWS * h!r}, {-MASS * v / (ROWS * h)!r}, 0)"
    force = {"f": {"kind": "force", "nodes": ["joint:p"], "force": push}}
    rate = 1.0 / (ROWS * h)
    return sliding(h, v, {"k": 9 * MASS * rate**2, "c": MASS * rate}, translational=force)


def twice(h: float, v: float) -> vbg.Model:
    """Two masses that dry friction stops at one instant."""
    parts = {}
    for name, share in (("", 1.0), ("2", 0.6)):
        slowing = MASS * share * v / (0.5 * ROWS * h)
        ends = [f"a{name}", "frame"]
        parts |= {
            f"m{name}": {"kind": "mass", "nodes": ends[:1], "m": MASS, "speed": share * v},
            f"f{name}": {"kind": "friction", "nodes": ends, "coulomb": 0.75 * slowing},
            f"load{name}": {"kind": "force", "nodes": ends[:1], "force": -0.25 * slowing},
        }
    return model("twice", h, translational=parts)


@pytest.mark.slow
@pytest.mark.parametrize(("maker", "seed"), [(twice, 0), (stopping, 0), (stopping, 1)])
def test_a_value_beyond_the_sides_is_no_pass_where_two_laws_change(maker, seed):
    random, torn = np.random.default_rng(40 + seed), 0
    for shake in range(10):
        h, v = float(f"{10 ** random.uniform(-3, 0):.2g}"), float(10 ** random.uniform(-1, 1))
        report = vbg.validate(maker(h, v), in_children=False)
        assert report.result == "PASS", (shake, report.verdict.sentence)
        evidence = report.evidence
        rows = np.arange(len(evidence.first.time))
        apart = np.flatnonzero(on_other_sides(evidence.first, evidence.second, rows, rows))
        torn += len(apart)
        told = [channel for channel in report.channels if channel.result == "PASS"]
        for channel in told if len(apart) else ():
            off = 1e-2 * channel.peak
            for row, (low, high) in ((int(r), near(evidence, channel.name, r)) for r in apart):
                here = column(evidence.second, channel.name)[row]
                between = low + random.choice([0.1, 0.3, 0.8]) * (high - low)
                for value in (high + off, low - off, *([between] if high - low > off else ())):
                    wrong_by = value - here
                    both = bool(random.integers(2))
                    wrong = spoilt(evidence, channel.name, row, float(wrong_by), both=both)
                    assert verdict_on(wrong).result != "PASS", (channel.name, row)
    assert torn


def near(evidence, name: str, row: int) -> tuple[float, float]:
    """The least and the largest value close to a row in both runs."""
    there = evidence.first.time[row]
    found = []
    for run in (evidence.beside, evidence.other_beside, evidence.first, evidence.second):
        if run is not None:
            close = np.abs(run.time - there) < 1e-4 * evidence.first.time[-1]
            found += column(run, name)[close].tolist()
    return min(found), max(found)


def column(run, name: str) -> np.ndarray:
    """One component of a run."""
    if name in run.signals:
        return run.signals[name]
    base, _, place = name.rpartition(".")
    values = run.signals[base]
    return values[:, "wxyz"[-values.shape[1] :].index(place)]


def thrice(h: float, v: float) -> vbg.Model:
    """Three forces that begin where the block has come to, each by a condition of its own
    rounding: what adds them up has of them what each run had seen."""
    at, push = v * 0.5 * ROWS * h, 0.2 * MASS * v / (ROWS * h)
    forces = {
        f"f{k}": {
            "kind": "force",
            "nodes": ["joint:p"],
            "force": f"if({k}*p.slide > {k * at!r}, {k * push!r}, 0)",
        }
        for k in (1, 3, 7)
    }
    return sliding(h, v, translational=forces)


@pytest.mark.slow
def test_laws_that_one_root_is_that_of_fail_no_right_machine():
    """And excuse no other row, and no place on it."""
    random = np.random.default_rng(11)
    found = set()
    for _ in range(10):
        h, v = float(f"{10 ** random.uniform(-3, 0):.2g}"), float(10 ** random.uniform(-1, 1))
        report = vbg.validate(thrice(h, v), in_children=False)
        found.add(report.result)
        assert report.result != "FAIL", report.verdict.sentence
        for name, row in (("b.acceleration.x", 14), ("p.slide", ROWS // 2)):
            off = 1e-2 * float(np.abs(column(report.evidence.second, name)).max())
            wrong = spoilt(report.evidence, name, row, off, both=True)
            assert verdict_on(wrong).result == "FAIL"
    assert "PASS" in found


@pytest.mark.slow
def test_a_method_that_steps_over_a_crossing_is_not_judged_by_its_row_there():
    """The discrete-time method has some of a stop's damper in that row; elsewhere it is judged."""
    random = np.random.default_rng(5)
    for _ in range(3):
        h, v = float(f"{10 ** random.uniform(-2, -1):.2g}"), float(random.uniform(0.5, 3.0))
        report = vbg.validate(stop(h, v), also=("dt",), in_children=False)
        assert report.result == "PASS"
        assert report.also["dt"].result != "FAIL", report.also["dt"].sentence
        dt = report.solutions["dt"]
        for row, name in ((4, "b.velocity.x"), (ROWS // 2, "p.slide")):
            off = float(np.abs(column(dt, name)).max())
            wrong = spoilt(
                replace(report.evidence, second=dt, coarser=dt), name, row, off, both=False
            )
            answer = child.Answer((wrong.second,))
            assert column_of(report.evidence, answer, None, ()).result == "FAIL"


MAKERS = (locking, diode, springy, signed, stop, stick, lock, law)
CASES = [(maker, seed) for seed in range(4) for maker in MAKERS]


@pytest.mark.parametrize(("maker", "seed"), tail(CASES, 1))
def test_one_wrong_value_is_no_pass_wherever_it_is(maker, seed):
    """By a hundredth of its peak, and by little more than its tolerance."""
    random = np.random.default_rng(70 + seed)
    h, v = float(f"{10 ** random.uniform(-4, 0.5):.2g}"), float(10 ** random.uniform(-1.5, 1.5))
    for shake in range(10):
        machine = maker(h, v)
        if shake:
            machine = machine.edited(*start_of(maker), v * (1 + 1e-13 * random.uniform(-1, 1)))
        report = vbg.validate(machine, in_children=False)
        assert report.result == "PASS", report.verdict.sentence
        first, second = report.evidence.first, report.evidence.second
        rows = np.arange(len(first.time))
        torn = np.flatnonzero(on_other_sides(first, second, rows, rows)).tolist()
        told = [channel for channel in report.channels if channel.result == "PASS"]
        for channel in told[shake::10]:
            other = int(random.integers(len(rows)))
            for row in {*torn, 0, len(rows) // 2, other}:
                for size in (1e-2, 3.0 * channel.tolerance):
                    off = float(size * channel.peak * random.choice([-1, 1]))
                    both = bool(random.integers(2))
                    wrong = spoilt(report.evidence, channel.name, row, off, both=both)
                    assert verdict_on(wrong).result != "PASS", (channel.name, row, size)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [["mstmm"], ["vbg"], ["vbg", "mstmm"]])
def test_a_run_that_fails_beside_the_crossing_excuses_nothing(lost, monkeypatch):
    """A solver that cannot be run again with rows there is told of; it is no fault of either, and
    no PASS, whatever is on the row."""
    solver_of = child.solver_of

    def failing(job):
        if job.beside and job.solver in lost:
            raise UsageError("It does not go on.")
        return solver_of(job)

    monkeypatch.setattr(child, "solver_of", failing)
    random, torn = np.random.default_rng(91), 0
    for shake in range(10):
        h, v = float(f"{10 ** random.uniform(-2, 0):.2g}"), float(random.uniform(0.5, 3.0))
        report = vbg.validate(law(h, v * (1 + 1e-13 * shake)), in_children=False)
        evidence = report.evidence
        if not evidence.alone:
            continue
        torn += 1
        assert report.result == "INCONCLUSIVE", report.verdict.sentence
        assert report.verdict.sentence == evidence.alone
        assert evidence.alone.count("does not go on") == len(lost)
        for row, result in ((ROWS // 2, "INCONCLUSIVE"), (ROWS // 2 + 2, "FAIL")):
            for channel in report.channels:
                if channel.result in ("PASS", "INCONCLUSIVE"):
                    off = 1e-2 * channel.peak
                    wrong = spoilt(evidence, channel.name, row, off, both=True)
                    verdict = verdict_on(wrong)
                    placed = goes_on(channel.name, channel.unit)
                    assert verdict.result == ("FAIL" if placed else result), (channel.name, row)
                    assert evidence.alone in (verdict.sentence, *verdict.notes)
    assert torn


def start_of(maker) -> tuple[tuple[str, ...]]:
    return (("electric", "l", "current"),) if maker is diode else start_of_rows(maker)


def spoilt(evidence, name: str, row: int, off: float, *, both: bool):
    """One value of the second run wrong by `off`, and `both`: in its coarser run, too."""
    base, _, place = name.rpartition(".")

    def wrong(run):
        whole = name if name in run.signals else base
        values = run.signals[whole].copy()
        column = values if whole == name else values[:, "wxyz"[-values.shape[1] :].index(place)]
        column[row] += off
        return replace(run, signals={**run.signals, whole: values})

    second = wrong(evidence.second)
    coarser = wrong(evidence.coarser) if both else evidence.coarser
    return replace(evidence, second=second, coarser=coarser)
