"""The speed benchmarks run, and the machines that they time are the machines they say."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vbg
from benchmarks import all as everything
from benchmarks.accuracy import papers
from benchmarks.machines import windows
from benchmarks.speed import beams, by_hand, chain, loops, runs
from benchmarks.timing import best_seconds

FILES = sorted(Path(beams.__file__).parent.glob("*.py"))


def test_the_chain_benchmark_prints_a_line_for_every_size(capsys):
    chain.rates((1, 3))
    chain.tips()
    out = capsys.readouterr().out
    assert re.search(r"^ +3 ", out, re.MULTILINE)
    errors = [float(e) for e in re.findall(r"error ([0-9.e+-]+) m", out)]
    assert len(errors) == len(chain.TIPS) and max(errors) < 1e-9


@pytest.mark.parametrize("redundant", [False, True])
def test_the_loop_benchmark_times_the_right_acceleration(redundant, capsys):
    loops.table((1, 3), redundant=redundant)
    out = capsys.readouterr().out
    errors = [float(e) for e in re.findall(r"^ +\d+ +[0-9.]+ +([0-9.e+-]+)", out, re.MULTILINE)]
    assert len(errors) == 2 and max(errors) < 1e-10


@pytest.mark.slow
def test_the_start_of_scissor_lifts_is_timed_at_the_right_acceleration(capsys):
    """3 (n - 1) redundant rows; three stages and forty: weak directions are solved, too."""
    loops.starts((3, 40))
    out = capsys.readouterr().out
    found = re.findall(r"^ +\d+ +[0-9.]+ +[0-9.]+ +\d+ +(\d+) +([0-9.e+-]+)", out, re.MULTILINE)
    assert [int(count) for count, _ in found] == [6, 117]
    assert max(float(error) for _, error in found) < 1e-9


def test_windows_satisfy_their_constraints_and_only_revolutes_are_redundant():
    for redundant in (False, True):
        solution = vbg.simulate(
            vbg.assemble(windows(2, redundant=redundant)), t_end=0.2, output_step=0.1
        )
        assert solution.audit.position_residual < 1e-10
        said = any("redundant" in note.what for note in solution.notes)
        assert said == redundant
        spins = [solution[f"V{k}.angular_velocity"][:, 2] for k in range(3)]
        np.testing.assert_allclose(spins, np.tile(spins[0], (3, 1)), rtol=1e-9)


def test_the_pendulum_beside_a_run_is_the_same_by_hand(capsys):
    runs.main(["pendulum"])
    assert re.search(
        r"^pendulum +[0-9.]+ +[0-9.]+ +[0-9.]+ +\d+ +\d+  dop853", capsys.readouterr().out, re.M
    )
    found = vbg.simulate(runs.started("pendulum"))
    angle, speed, along, across = runs.pendulum_by_hand(found.time)
    np.testing.assert_allclose(found["hinge.angle"], angle, atol=1e-6)
    np.testing.assert_allclose(found["hinge.speed"], speed, atol=1e-6)
    size = np.hypot(along, across)
    np.testing.assert_allclose(np.linalg.norm(found["hinge.force"], axis=1), size, atol=1e-4)


@pytest.mark.parametrize("name", by_hand.MACHINES)
def test_the_machines_with_oil_are_the_same_by_hand(name):
    assert max(by_hand.apart(name).values()) < 1e-5


@pytest.mark.parametrize("repeats", [1, 3])
def test_the_best_of_repeats_is_taken_also_of_one(repeats):
    calls = []
    assert best_seconds(lambda: calls.append(0), repeats, 0.0) >= 0.0
    assert len(calls) == 1 + repeats


def test_the_table_of_speeds_measures_what_it_says(capsys, monkeypatch, tmp_path):
    """Every row has its own name; the smallest of them is shown with its peer."""
    rows = list(everything.table(str(tmp_path)))
    assert len({row.name for row in rows}) == len(rows) >= 18
    monkeypatch.setattr("sys.argv", ["all", "pendulum"])
    everything.main()
    found = re.search(
        r"^pendulum, one run +([0-9.]+) ms +4.00 ms +[0-9.]+ x +([0-9.]+) ms",
        *capsys.readouterr()[:1],
        re.M,
    )
    assert found and float(found[1]) > 0.0 and float(found[2]) > 0.0


@pytest.mark.slow
def test_a_sweep_is_timed_by_one_process_and_by_two():
    assert everything.sweep_of_two(4) > 0.0


def test_the_beams_converge_to_the_continuous_rod(capsys):
    """With the square of the element's length."""
    ways = {"vbg": (beams.bent_tip, 6, (8, 16))}
    beams.table("bent", beams.continuous_tip(), ways)
    beams.cost((2, 3, 4))
    out = capsys.readouterr().out
    (found,) = re.findall(r"^vbg +16 +96 +([0-9.e+-]+) +([0-9.]+)", out, re.MULTILINE)
    assert float(found[0]) < 2e-3
    assert float(found[1]) == pytest.approx(2.0, abs=0.05)
    assert len(re.findall(r"^ +\d+ +[0-9.]+ \(", out, re.MULTILINE)) == 3


@pytest.mark.parametrize(
    "file", sorted(Path(beams.__file__).parent.glob("*.py")), ids=lambda f: f.stem
)
def test_every_command_says_what_it_does_and_does_nothing_else(file, capsys, monkeypatch):
    """--help of every benchmark: its own words, code 0, at once."""
    if '__name__ == "__main__"' not in (text := file.read_text(encoding="utf-8")):
        pytest.skip("no command")
    monkeypatch.setattr("sys.argv", [file.name, "--help"])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(file), run_name="__main__")
    said, first = " ".join(capsys.readouterr().out.split()), text.split('"""')[1].splitlines()[0]
    assert left.value.code == 0 and first.split("`")[0].strip() in said


def test_the_walk_through_the_papers_has_every_example_and_times_its_commands(capsys):
    """Rows of every item; one is run: its time, its exit code, its answer."""
    named = [(item.name, machine) for _, item, machine in papers.rows(every=True)]
    assert len(named) == len(set(named))
    assert {machine for name, machine in named if name == "equations"} == set(papers.EVERY)
    assert papers.walk(["6-bar chains"], (), every=False) == []
    row = re.search(r"6-bar chains \(2\) +([0-9.]+) +0 +1 ", capsys.readouterr().out)
    assert row is not None and 0.0 < float(row[1]) < papers.LIMIT


@pytest.mark.slow
def test_a_row_above_its_limit_is_named(capsys, monkeypatch):
    item = replace(papers.STRUCTURE[0], machines=("pendulum",), limit=0.5)
    monkeypatch.setattr(papers, "PAPERS", {"one": (item,)})
    (wrong,) = papers.walk((), (), every=False)
    assert "pendulum" in wrong and ("of 0.5" in wrong or "exit code" in wrong)
    assert "1 above their limit" in capsys.readouterr().out
