"""The verdict is a pure function of two solutions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import vbg
from vbg import tmm_bridge
from vbg.errors import Problem
from vbg.solution import Audit, MadeBy, Solution, Status, judged
from vbg.tmm_bridge.notes import NOT_UNIQUE, channels_in
from vbg.validate import Evidence, as_csv, as_html, as_json, as_markdown, text, write
from vbg.validate.both import Report
from vbg.validate.compare import compare
from vbg.validate.comparison.ended import agreed
from vbg.validate.comparison.values import Channel, Verdict
from vbg.validate.evidence import verdict_on

EXAMPLES = Path(__file__).parents[2] / "examples"
META = "<meta charset='utf-8'>"  # which has no end in HTML
TIME = np.linspace(0.0, 1.0, 101)
FORCE = np.column_stack([np.sin(5 * TIME), 40.0 * np.cos(3 * TIME), np.zeros(101)])


def solution(force: np.ndarray = FORCE, **changes: object) -> Solution:
    made = Solution(
        TIME[: len(force)],
        {"A.force": force, "energy.kinetic": np.ones(len(force))},
        made_by=MadeBy(solver="s", model="m", model_hash="h"),
        units={"A.force": "N"},
    )
    return replace(made, **changes)


def mark(verdict, name: str) -> str:
    return next(c.result for c in verdict.channels if c.name == name)


def test_equal_solutions_pass_and_zero_channels_are_vacuous():
    verdict = compare(solution(), solution())
    assert verdict.result == "PASS"
    assert mark(verdict, "A.force.z") == "VACUOUS"
    assert not any(c.name.startswith("energy") for c in verdict.channels)


def test_tolerance_counts_against_the_peak_and_in_the_mean():
    off = FORCE.copy()
    off[50, 0] += 2e-6
    verdict = compare(solution(), solution(off))
    assert verdict.result == "FAIL"
    (failed,) = verdict.failed()
    assert failed.name == "A.force.x"
    assert failed.worst_time == pytest.approx(0.5)
    assert failed.max_error == pytest.approx(2e-6)
    assert compare(solution(), solution(off), tolerance=1e-5).result == "PASS"


def test_a_force_where_there_should_be_none_fails():
    off = FORCE.copy()
    off[:, 2] = 1e-3
    assert mark(compare(solution(), solution(off)), "A.force.z") == "FAIL"


def test_nan_fails_and_is_named():
    off = FORCE.copy()
    off[30, 1] = np.nan
    verdict = compare(solution(), solution(off))
    assert verdict.result == "FAIL"
    assert verdict.failed()[0].name == "A.force.y"


@pytest.mark.parametrize(
    "second",
    [
        solution(made_by=MadeBy(model_hash="another")),
        solution(status=Status("cancelled", "The run was cancelled.")),
        solution(FORCE[:90]),
        solution(np.zeros((101, 3))),
    ],
)
def test_inconclusive(second):
    first = solution(np.zeros((101, 3))) if not second["A.force"].any() else solution()
    verdict = compare(first, second)
    assert verdict.result == "INCONCLUSIVE"
    assert verdict.sentence


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([*range(101), 100], "101 rows against 102, row 102 at none against 1 s"),
        (range(100), "101 rows against 100, row 101 at 1 s against none"),
        ([*range(50), *range(51, 101)], "101 rows against 100, row 51 at 0.5 s against 0.51 s"),
        ([*range(50), 49, *range(51, 101)], "101 rows against 101, row 51 at 0.5 s against 0.49 s"),
    ],
)
def test_a_row_that_one_run_lacks_or_has_twice_is_told(rows, told):
    """What both have agrees to the last digit, and more than 95 % of the rows are of both."""
    kept = np.array(rows)
    signals = {name: values[kept] for name, values in solution().signals.items()}
    verdict = compare(solution(), replace(solution(), time=TIME[kept], signals=signals))
    assert verdict.result == "INCONCLUSIVE"
    assert told in verdict.sentence


def test_windows_about_events_are_left_out_and_recorded():
    off = FORCE.copy()
    off[50] += 1.0
    verdict = compare(solution(), solution(off), exclude=((0.495, 0.505),))
    assert verdict.result == "PASS"
    assert verdict.excluded == ((0.495, 0.505),)


@pytest.mark.parametrize(
    "windows", [((0.005, 1.0),), ((0.0, 0.999),), ((0.1, 0.13), (0.12, 0.16)), ((0.5, 9.0),)]
)
def test_what_windows_leave_is_no_pass_below_95_percent(windows):
    verdict = compare(solution(), solution(), exclude=windows)
    assert verdict.result == "INCONCLUSIVE" and "95 % of both" in verdict.sentence
    off = FORCE.copy()
    off[[0, -1]] += 1.0
    assert compare(solution(), solution(off), exclude=windows).result == "FAIL"


def test_not_unique_channels_do_not_count():
    note = Problem("note", "joints.A", f"{NOT_UNIQUE}force.x.")
    off = FORCE.copy()
    off[:, 0] *= 2.0
    verdict = compare(solution(), solution(off), not_unique=channels_in([note]))
    assert verdict.result == "PASS"
    assert mark(verdict, "A.force.x") == "NOT UNIQUE"


def test_measured_integration_error_loosens_the_tolerance_and_no_more():
    off, rough = FORCE * (1 + 3e-6), FORCE * (1 + 4e-6)
    assert compare(solution(), solution(off)).result == "FAIL"
    verdict = compare(solution(), solution(off), coarser=solution(rough))
    assert verdict.result == "PASS"
    assert verdict.halving == pytest.approx(4 / 3, rel=1e-3)


def test_what_integration_explains_is_no_fault_and_no_row_says_so():
    off, rough = FORCE * 1.01, FORCE * 1.5
    wild = compare(solution(), solution(off), coarser=solution(rough))
    assert wild.result == "INCONCLUSIVE"
    assert {c.result for c in wild.channels} == {"INCONCLUSIVE", "VACUOUS"}
    assert "shorten" in wild.sentence.lower()
    sure = compare(solution(), solution(FORCE * 1.5), coarser=solution(FORCE * 1.51))
    assert sure.result == "FAIL"


def test_what_differs_before_errors_of_integration_have_grown_is_a_fault():
    grown = 1.0 + 1e-11 * np.exp(27 * TIME)[:, None]
    late = 1.0 + 2e-11 * np.exp(27 * TIME)[:, None]
    chaotic = compare(solution(), solution(FORCE * grown), coarser=solution(FORCE * late))
    assert chaotic.result == "INCONCLUSIVE"
    off, rough = FORCE * (grown + 1e-4), FORCE * (late + 1e-4)
    early = compare(solution(), solution(off), coarser=solution(rough))
    assert early.result == "FAIL"


def test_the_common_part_of_a_coarser_run_that_ended_early_is_used():
    def half(force: np.ndarray) -> Solution:
        return solution(force[:51], status=Status("failed", "It stopped."))

    off, rough = FORCE * (1 + 3e-6), half(FORCE * (1 + 4e-6))
    assert compare(solution(), solution(off), coarser=rough).result == "PASS"
    late = FORCE.copy()
    late[80:] *= 1.5
    assert compare(solution(), solution(late), coarser=half(late)).result == "INCONCLUSIVE"
    late[20] *= 1.5
    assert compare(solution(), solution(late), coarser=half(late)).result == "FAIL"


@pytest.mark.parametrize(
    ("row", "how", "result", "told"),
    [
        (None, "failed", "INCONCLUSIVE", "Up to t = 0.9 s both agree within 0.001"),
        (70, "failed", "INCONCLUSIVE", "Before t = 0.7 s both agree within 0.001"),
        (70, "cancelled", "INCONCLUSIVE", "Before t = 0.7 s both agree within 0.001"),
        (20, "cancelled", "INCONCLUSIVE", "Before t = 0.2 s both agree within 0.001"),
        (20, "failed", "FAIL", "Then s: It stopped."),
        (0, "cancelled", "INCONCLUSIVE", "They differ from the first row on."),
    ],
)
def test_until_when_both_agree_is_told_of_a_run_that_stopped(row, how, result, told):
    """What lies behind its end, or near it, fails nothing; it passes nothing either."""
    force = FORCE.copy()
    force[slice(101, None) if row is None else slice(row, None)] *= 1.1
    stopped = solution(force[:92], status=Status(how, "It stopped."))
    stopped = replace(stopped, time=np.append(TIME[:91], 0.9047))  # between two rows of the other
    for pair in ((stopped, solution()), (solution(), stopped)):
        verdict = compare(*pair)
        assert verdict.result == result
        assert "s: It stopped." in verdict.sentence and told in verdict.sentence


def channel(name: str, result: str, *, proves: bool | None = True, since: float = math.nan):
    return Channel(name, "N", 1.0, 0.0, 0.5, 0.0, 1e-3, 0.0, "", result, since, proves)


@pytest.mark.parametrize(
    ("channels", "told"),
    [
        ([channel("a", "PASS")], "Up to t = 0.9 s both agree within 0.001 of each peak;"),
        ([channel("a", "PASS"), channel("b", "INCONCLUSIVE")], "in 1 of 2 non-zero channels"),
        ([channel("a", "FAIL", since=0.3), channel("b", "PASS")], "Before t = 0.3 s both agree"),
        ([channel("a", "INCONCLUSIVE"), channel("b", "VACUOUS")], ""),
        ([channel("a", "PASS", proves=False), channel("b", "PASS", proves=None)], ""),
        ([channel("a", "PASS", proves=None)], "Up to t = 0.9 s both agree"),
    ],
)
@pytest.mark.parametrize("end", [0.9, 0.0])
def test_nothing_is_said_to_agree_that_proves_nothing(channels, told, end):
    """Channels that integration leaves open, rounding, and a single row."""
    sentence = agreed(Verdict("INCONCLUSIVE", "", tuple(channels), span=(0.0, end)), 1e-3)
    assert told in sentence and bool(sentence) == bool(told) if end else sentence == ""


def test_a_second_solver_that_gives_up_is_compared_as_far_as_it_came():
    model = vbg.read(EXAMPLES / "pendulum.toml")
    first = vbg.simulate(model, rtol=1e-11, atol=1e-13)
    second = tmm_bridge.simulate(model, rtol=1e-11, atol=1e-13, patience=400)
    assert second.status.code == "failed"
    verdict = compare(first, second, model=model)
    assert verdict.result == "INCONCLUSIVE"
    assert f"Up to t = {second.time[-1]:.4g} s both agree" in verdict.sentence
    heavier = vbg.Model(**{**model.document, "gravity": [0, 0, -10.0]})
    other = replace(vbg.simulate(heavier), made_by=first.made_by)
    assert compare(other, second, model=model).result == "FAIL"


def test_turned_over_quaternions_are_the_same_rotation():
    q = np.tile([0.5, -0.5, 0.5, 0.5], (101, 1))
    first = solution(signals={"B.rotation": q})
    second = solution(signals={"B.rotation": -q})
    assert compare(first, second).result == "PASS"


@pytest.mark.parametrize("seed", range(5))
def test_turned_over_quaternions_excuse_no_fault(seed):
    """Whatever the signs of each row of the two runs and of the coarser one: no error of
    integration is read off them, which would make a wrong force INCONCLUSIVE."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=4) + np.outer(TIME, rng.normal(size=4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)

    def turned(force: np.ndarray) -> Solution:
        signs = rng.choice([-1.0, 1.0], (len(q), 1))
        return solution(signals={"B.rotation": signs * q, "A.force": force})

    verdict = compare(turned(FORCE), turned(FORCE), coarser=turned(FORCE))
    assert verdict.result == "PASS"
    assert all(c.integration < 1e-12 for c in verdict.channels if c.result == "PASS")
    off = FORCE * 1.01
    assert compare(turned(FORCE), turned(off), coarser=turned(off)).result == "FAIL"


def test_reports(tmp_path):
    off = FORCE.copy()
    off[:, 0] *= 1.1
    report = Report(compare(solution(), solution(off)), {"vbg": solution(), "mstmm": solution(off)})
    assert "FAIL" in text(report)
    assert "A.force.x" in text(report)
    plain = json.loads(as_json(report))
    assert plain["result"] == "FAIL"
    assert plain["runs"]["vbg"]["status"] == "finished"
    assert as_markdown(report).startswith("# Validation of m")
    assert as_csv(report).splitlines()[0].startswith("name,unit,peak")
    paths = write(report, tmp_path / "report")
    assert {path.suffix for path in paths} == {".txt", ".json", ".md", ".html", ".csv"}
    evidence = Evidence(solution(), solution(off))
    page = as_html(replace(report, evidence=evidence))
    assert page.count("<svg") == 4  # two channels that count, each with its difference
    assert "A.force.x [N], FAIL" in page
    tree = ElementTree.fromstring(page.replace("<!doctype html>", "").replace(META, ""))
    assert tree.tag == "html"


@pytest.mark.parametrize(("changed", "result"), [(0.01, "INCONCLUSIVE"), (1e-4, "PASS")])
def test_what_is_replayed_has_to_be_found_by_the_run_that_it_is_from(changed, result):
    """The two agree to the last digit; where both solvers have the part, they would pass."""
    rough = solution((1.0 + changed) * FORCE)
    evidence = Evidence(solution(), solution(), rough, frozenset(["A"]), rougher=rough)
    verdict = verdict_on(evidence)
    assert verdict.result == result, verdict.sentence
    assert result == "PASS" or "A.force" in verdict.sentence
    assert verdict_on(replace(evidence, replayed=frozenset())).result == "PASS"


def test_the_word_says_what_was_not_solved_twice():
    verdict = replace(compare(solution(), solution()), replayed=("motor", "valve"))
    assert verdict.word == "PASS (2 parts replayed: motor, valve)"
    report = Report(verdict, {"vbg": solution(), "mstmm": solution()})
    assert json.loads(as_json(report))["word"] == verdict.word
    assert verdict.word in text(report)
    assert verdict.word in as_markdown(report)
    assert json.loads(as_json(report))["shares"]["zero"] == pytest.approx(1 / 3)


def test_what_the_longer_step_changes_in_the_first_solver_counts_as_well():
    """What one solver alone loses by its step explains a difference, but allows none."""
    off, rough = FORCE * (1 + 3e-6), FORCE * (1 + 2e-6)
    assert compare(solution(), solution(off), coarser=solution(off)).result == "FAIL"
    verdict = compare(solution(), solution(off), coarser=solution(off), rougher=solution(rough))
    assert verdict.result == "INCONCLUSIVE"
    assert max(c.integration for c in verdict.channels) == pytest.approx(2e-6, rel=1e-3)
    both = solution(FORCE * (1 + 4e-6))
    verdict = compare(solution(), solution(off), coarser=both, rougher=solution(rough))
    assert verdict.result == "PASS"  # 3e-6 <= 4 min(1e-6, 2e-6)


@pytest.mark.parametrize("change, result", [(0.74e-6, "INCONCLUSIVE"), (0.76e-6, "PASS")])
def test_the_tolerance_widens_by_the_solver_that_the_step_changes_less(change, result):
    first, off = solution(FORCE), solution(FORCE * (1 + 3e-6))
    rougher = solution(FORCE * (1 + change))
    assert compare(first, off, coarser=first, rougher=rougher).result == result


def test_the_error_of_a_fixed_step_counts_alone():
    made = MadeBy(solver="s", model="m", model_hash="h", method="rk4")
    off, rough = FORCE * (1 + 3e-6), FORCE * (1 + 2e-6)
    first = solution(made_by=made)
    verdict = compare(first, solution(off), coarser=solution(off), rougher=solution(rough))
    assert verdict.result == "PASS"


LIMITS = {"energy_limit": 1e-8, "position_limit": 1e-9, "velocity_limit": 1e-7}
FRICTION = "clutch gives 3 W at t = 0.2 s"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("audit", "result", "words"),
    [
        (Audit(energy_residual=1.001e-8, **LIMITS), "PASS", "energy audit failed by 1e-08"),
        (Audit(energy_residual=2e-6, **LIMITS), "INCONCLUSIVE", "energy audit failed by 2e-06"),
        (Audit(position_residual=1e-8, **LIMITS), "INCONCLUSIVE", "position audit failed by 1e-08"),
        (Audit(velocity_residual=1e-6, **LIMITS), "INCONCLUSIVE", "velocity audit failed by 1e-06"),
        (Audit(failures=(FRICTION,)), "INCONCLUSIVE", FRICTION),
        (Audit(energy_residual=9e-9, **LIMITS), "PASS", ""),
    ],
)
def test_a_run_whose_own_audit_fails_is_named_whichever_side_it_is(side, audit, result, words):
    """Energy within a verdict's tolerance is told; by what is beyond nothing is proven."""
    spoiled = solution(
        audit=replace(judged(audit), failures=judged(audit).failures + audit.failures)
    )
    made = replace(spoiled.made_by, solver=("vbg", "tmm_bridge")[side])
    runs = [solution(made_by=replace(made, solver="s")) for _ in range(2)]
    runs[side] = replace(spoiled, made_by=made)
    verdict = compare(*runs)
    assert verdict.result == result
    told = [verdict.sentence, *verdict.notes]
    who = ("the bond-graph solver", "the transfer-matrix solver")[side]
    assert any(words in one and who in one for one in told) or not words
    assert bool(words) == any("audit" in one or FRICTION in one for one in told)
    wrong = replace(runs[1], signals={"A.force": FORCE * 1.01})
    assert compare(runs[0], wrong).result == "FAIL"


def test_replayed_efforts_that_run_free_prove_nothing():
    off, rough = FORCE * 1.01, FORCE * 1.5
    replayed = frozenset({"A"})
    verdict = compare(solution(), solution(off), coarser=solution(rough), replayed=replayed)
    assert verdict.result == "INCONCLUSIVE"
    assert "A.force.x" in verdict.sentence
    sure = compare(solution(), solution(off), coarser=solution(off), replayed=replayed)
    assert sure.result == "FAIL"


def test_an_output_that_only_one_solver_has_of_a_part_that_both_solved_fails():
    """One that neither joins nor measures, too; a part with outputs of one solver was solved
    once."""
    model = vbg.Model(electric={"R": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 1.0}})
    column = np.cos(TIME)
    has = {"R.current": column, "R.voltage": column}
    other = {"R.current": column, "R.power": column}
    renamed = compare(solution(signals=has), solution(signals=other), model=model)
    assert renamed.result == "FAIL"
    assert renamed.sentence == "Outputs that only one solver has: R.power, R.voltage."
    alone = compare(solution(signals=has), solution(signals={"S.current": column}), model=model)
    assert alone.result != "FAIL"
    assert alone.once == ("R", "S")


def test_a_run_that_stopped_at_its_start_proves_nothing():
    """Its only row is that in which a law lost its value."""
    stopped = solution(np.full((1, 3), np.nan), status=Status("failed", "No value."))
    for pair in ((stopped, solution()), (solution(), stopped)):
        verdict = compare(*pair)
        assert verdict.result == "INCONCLUSIVE"
        assert verdict.sentence == "s: No value."
    later = FORCE.copy()
    later[3:] = np.nan
    lost = solution(later[:11], status=Status("failed", "No value."))
    assert compare(lost, solution()).result == "FAIL"


def test_shares_of_parts_in_the_energies_are_told_as_not_compared():
    """They are asked for in `[outputs]` and of the bond graph alone; all else that one side lacks
    fails as ever, also where the file did not ask for them."""
    parts = {"R": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 1.0}}
    column = np.cos(TIME)
    both, shares = {"R.current": column}, {"R.energy": column, "R.intake": column}

    def verdict(first, second, energy):
        model = vbg.Model(electric=parts, outputs={"energy": energy})
        runs = (solution(signals=both | has) for has in (first, second))
        return compare(*runs, model=model)

    asked = verdict(shares, {}, True)
    assert asked.result == "PASS" and not asked.once
    assert [note for note in asked.notes if "NAME.energy and NAME.intake" in note]
    for lost in (
        verdict(shares, {}, False),
        verdict({}, shares, True),
        verdict(shares | {"R.power": column}, {}, True),
    ):
        assert lost.result == "FAIL" and "only one solver" in lost.sentence
