"""Verdicts on outputs that lie on a crossing, as pure functions of solutions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tmm_bridge.test_verdict import FORCE, TIME, solution
from vbg.solution import Audit, Solution
from vbg.validate import Evidence
from vbg.validate.compare import compare
from vbg.validate.evidence import verdict_on


def stepped(row: int, *crossings: tuple[float, int]) -> Solution:
    """A force that jumps at a crossing, the first row behind it given; and what the run tells of
    crossings, with the rows before each."""
    force = FORCE.copy()
    force[row:, 0] += 5.0
    return solution(force, audit=Audit(crossings=crossings))


def beside(jump: float = 5.0) -> Solution:
    """A run with rows close before and behind the crossing, whose force jumps there."""
    time = np.sort(np.append(TIME, 0.5 + 4e-9 * np.array([-3, -2, -1, 1, 2, 3])))
    force = np.column_stack([np.sin(5 * time), 40.0 * np.cos(3 * time), np.zeros(len(time))])
    force[time > 0.5, 0] += jump
    return Solution(time, {"A.force": force, "energy.kinetic": np.ones(len(time))})


@pytest.mark.parametrize("late", [0.0, 1e-15, 1e-11])
def test_an_output_on_different_sides_of_a_crossing_is_compared_on_one_and_named(late):
    early, behind = stepped(50, (0.5 - late, 50)), stepped(51, (0.5 + late, 51))
    for pair in ((early, behind), (behind, early)):
        verdict = compare(*pair, beside=(beside(), beside()))
        assert verdict.result == "PASS", verdict.sentence
        assert any("0.5 s" in note and "different sides" in note for note in verdict.notes)
        assert not verdict.excluded
        for known in ((None, None), (beside(), None), (None, beside())):
            assert compare(*pair, beside=known).result == "FAIL"


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("off", [2e-5, -2e-2, 1.0])
def test_a_wrong_value_on_a_crossing_is_on_neither_side(place, off):
    """Whether it is one that jumps or another; and two runs that jump differently differ."""
    runs = stepped(50, (0.5, 50)), stepped(51, (0.5, 51))
    known = beside(), beside()
    assert compare(*runs, beside=(beside(), beside(5.0 + off))).result == "FAIL"
    for n in (0, 1):
        force = runs[n]["A.force"].copy()
        force[50, place] += 10.0 * off
        pair = [runs[0], runs[1]]
        pair[n] = replace(runs[n], signals={"A.force": force, "energy.kinetic": np.ones(101)})
        assert compare(*pair, beside=known).result == "FAIL"


@pytest.mark.parametrize("seed", range(3))
def test_where_several_laws_change_at_once_a_value_between_the_sides_proves_nothing(seed):
    """A row may be behind one law and before the other, and the other run the other way round:
    both are then as far from the sides.  Any other value between them is no PASS, and none beyond
    them, as behind a law that adds a force and before one that takes it back."""
    random = np.random.default_rng(seed)
    first, second = stepped(51, (0.5, 50), (0.5, 51)), stepped(51, (0.5, 51), (0.5, 51))

    def on_the_row(share: float, run: Solution = first) -> Solution:
        force = run["A.force"].copy()
        force[50, 0] = FORCE[50, 0] + share
        return replace(run, signals=run.signals | {"A.force": force})

    known = (beside(), beside())
    for share in random.uniform(0.01, 2.4, 5):
        for x in (share, 5.0 - share):
            for pair in ((on_the_row(x), second), (second, on_the_row(x))):
                assert compare(*pair, beside=known).result == "FAIL"
                evidence = Evidence(*pair, beside=known[0], other_beside=known[1])
                assert verdict_on(evidence).result == "INCONCLUSIVE"
        other_way = on_the_row(share), on_the_row(5.0 - share, second)
        assert compare(*other_way, beside=known).result == "PASS"
        other = (beside(), beside(5.0 + 2e-4))
        assert compare(*other_way, beside=other).result == "FAIL"
    for off in random.uniform(1e-4, 10.0, 5):
        for share in (-off, 5.0 + off):
            for pair in ((on_the_row(share), second), (second, on_the_row(share))):
                assert compare(*pair, beside=known).result == "FAIL"
                evidence = Evidence(*pair, beside=known[0], other_beside=known[1])
                verdict = verdict_on(evidence)
                assert verdict.result == "INCONCLUSIVE"
                assert "0.5 s" in verdict.sentence
                force = pair[1]["A.force"].copy()
                force[60] += 0.4
                signals = pair[1].signals | {"A.force": force}
                wrong = replace(evidence, second=replace(pair[1], signals=signals))
                assert verdict_on(wrong).result == "FAIL"


@pytest.mark.parametrize("size", [1e-5, 1e-3, 0.3])
def test_what_the_sides_do_not_tell_well_excuses_nothing(size):
    """A component bent so that its parabola differs from its straight line by more than a verdict
    sees, and is right: a value that is wrong by less than that is on neither side."""
    runs = stepped(50, (0.5, 50)), stepped(51, (0.5, 51))
    known = beside()
    off = (known.time - 0.5) / 4e-9
    force = known["A.force"].copy()
    force[:, 1] += np.where(abs(off) < 3.5, 40.0 * size * off**2, 0.0)
    bent = replace(known, signals=known.signals | {"A.force": force})
    assert compare(*runs, beside=(bent, bent)).result == "PASS"
    for wrong_by in (-3.0 * size, 0.5 * size, 6.0 * size):
        for n in (0, 1):
            force = runs[n]["A.force"].copy()
            force[50, 1] += 40.0 * wrong_by
            pair = list(runs)
            pair[n] = replace(runs[n], signals=runs[n].signals | {"A.force": force})
            assert compare(*pair, beside=(bent, bent)).result == "FAIL"


def test_an_output_on_one_side_of_a_crossing_in_both_runs_or_away_from_it_is_compared():
    """The second run tells that its row is behind, as that of the first is, or before: then it
    differs there for another reason."""
    behind, before = (0.5 - 1e-11, 50), (0.5 + 1e-11, 51)
    assert compare(stepped(50, behind), stepped(51, behind)).result == "FAIL"
    assert compare(stepped(50, before), stepped(51, before)).result == "FAIL"
    assert compare(stepped(50, (0.5 - 1e-6, 50)), stepped(51, (0.5 + 1e-6, 51))).result == "FAIL"
    assert compare(stepped(50, behind), stepped(52, before)).result == "FAIL"
    assert compare(stepped(50), stepped(51)).result == "FAIL"


def test_several_crossings_on_one_output_are_one_where_all_are_on_one_side():
    twice, thrice = ((0.5, 50), (0.5 + 1e-12, 50)), ((0.5, 50), (0.5, 50), (0.5 + 1e-12, 50))
    assert compare(stepped(50, *twice), stepped(51, *thrice)).result == "FAIL"
    parted = ((0.5, 50), (0.5 + 1e-12, 51))
    assert compare(stepped(50, *parted), stepped(51, *parted)).result == "FAIL"
    known = beside(), beside()
    assert compare(stepped(50, *twice), stepped(51, *parted), beside=known).result == "PASS"


def test_a_coarse_run_on_the_other_side_of_a_crossing_excuses_nothing_behind_it():
    """Its jump there is no error of integration."""
    fine, other = stepped(50, (0.5, 50)), stepped(51, (0.5, 51))
    off = np.where(TIME > 0.7, 1e-3, 0.0)[:, None]
    wrong, roughly = (replace(r, signals={"A.force": r["A.force"] + off}) for r in (fine, other))
    assert compare(fine, fine, coarser=other, rougher=other).result == "PASS"
    verdict = compare(fine, wrong, coarser=roughly, rougher=other)
    assert verdict.result == "FAIL"
    assert verdict.failed()[0].integration < 1e-9
