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
from vbg.validate.comparison.pairing import on_other_sides
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


MAKERS = (locking, diode, springy, signed, stop, stick, lock, law)
CASES = [(maker, seed) for seed in range(4) for maker in MAKERS]


@pytest.mark.parametrize(("maker", "seed"), tail(CASES, 2))
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


@pytest.mark.parametrize("lost", [("mstmm",), ("vbg",), ("vbg", "mstmm")])
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
                    assert verdict.result == result, (channel.name, row)
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
