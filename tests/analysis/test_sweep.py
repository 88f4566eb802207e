"""Parameter studies: measures, points, tables that survive a kill, processes, Dask."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis.studies.optimise import optimise
from vbg.analysis.studies.plans import points_of
from vbg.analysis.studies.sampling import Range, grid, latin_hypercube, parse_range
from vbg.analysis.studies.sweep import Study, run_point, sweep, table_of
from vbg.analysis.studies.table import Row, Table, read_table
from vbg.cli.main import build_parser, main
from vbg.errors import UsageError
from vbg.measures import evaluate, parse
from vbg.solution import Solution

MODEL = """\
vbg = 1
name = "oscillator"
gravity = [0, 0, 0]
[parameters]
k = 100.0
[bodies.mass]
mass = 1.0
inertia = { xx = 0.01, yy = 0.01, zz = 0.01 }
[joints.guide]
kind = "prismatic"
between = ["ground", "mass"]
axis = [1, 0, 0]
initial = { slide = 0.1, speed = 0.0 }
[forces.spring]
kind = "spring"
on = "joints.guide"
k = "k"
[simulate]
t_end = 0.1
output_step = 0.01
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "oscillator.toml"
    path.write_text(MODEL)
    return path


def study(file, *measures):
    return Study(vbg.read(file), {}, measures or ("final(guide.slide)",))


def test_measures():
    time = np.linspace(0, 1, 101)
    force = np.column_stack([3 * time, 0 * time, 4 * time])
    solution = Solution(time, {"A.force": force, "a": time - 0.5})
    for text, expected in (
        ("max(norm(A.force))", 5.0),
        ("final(A.force.z) / 2", 2.0),
        ("max(abs(a)) ** 2 - min(a)", 0.75),
        ("range(A.force[0])", 3.0),
        ("rms(a * 0 + 2)", 2.0),
        ("10**20", 1e20),
        ("2**70", 2.0**70),
        ("max(A.force) * 10**-3", 4e-3),
        ("(-2)**3 + 7/2", -4.5),
    ):
        assert evaluate(parse(text), solution) == pytest.approx(expected)
    for wrong in (
        "__import__('os')",
        "a.b()",
        "lambda: 1",
        "max(a, a)",
        "[1]",
        "open(a)",
        "max(",
        "True",
        "1" + 400 * "0",
        "9\0",
        "-" * 100000 + "1",
    ):
        with pytest.raises(UsageError):
            parse(wrong)
    with pytest.raises(UsageError, match="101 numbers"):
        evaluate(parse("a"), solution)
    with pytest.raises(UsageError, match="shape"):
        evaluate(parse("max(a + A.force)"), solution)
    for nothing in ("sqrt(-1)", "9**9**9", "min(a) ** 0.5", "log(first(a) + 0.5)"):
        assert not np.isfinite(evaluate(parse(nothing), solution))


def test_a_measure_without_a_value_is_no_optimum(file):
    row = run_point(study(file, "sqrt(final(guide.slide) - 1)"), (("k", 50.0),))
    assert (row.status, row.measures) == ("failed", ())
    assert "has no value" in row.reason


def test_mean_and_rms_are_integrals():
    """Over a full turn of a sine: 0 and 1/sqrt(2), on uneven rows too (t_end beside the grid);
    between rows a signal is straight, so that with steps h its rms is sqrt((2 + cos h)/3) of
    that; the rms of a force is that of its length; the mean of a vector is no number."""
    even = np.linspace(0, 2 * np.pi, 101)
    straight = np.sqrt(0.5 * (2.0 + np.cos(even[1])) / 3.0)
    for t, rms, tolerance in (
        (even, straight, 1e-12),
        (np.append(even[:-1:2], [even[-1]]) ** 1.2, np.sqrt(0.5), 1e-2),
    ):
        turn = 2 * np.pi * t / t[-1]
        force = np.column_stack([3 * np.sin(turn), 4 * np.sin(turn)])
        solution = Solution(t, {"A.force": force, "a": np.sin(turn)})
        for text, expected in (
            ("mean(a)", 0.0),
            ("rms(a)", rms),
            ("rms(A.force)", 5 * rms),
            ("rms(norm(A.force))", 5 * rms),
        ):
            assert evaluate(parse(text), solution) == pytest.approx(expected, abs=tolerance)
    with pytest.raises(UsageError, match="2 numbers"):
        evaluate(parse("mean(A.force)"), solution)


def test_points():
    r = parse_range("K=log:1:100:3")
    assert r == Range("K", 1.0, 100.0, 3, log=True)
    assert_allclose(r.values(), [1.0, 10.0, 100.0])
    assert len(grid([r, parse_range("r=0:1:4")])) == 12
    sample = latin_hypercube([Range("a", 0.0, 1.0, 1)], 20)
    assert sorted(int(v * 20) for ((_, v),) in sample) == list(range(20))
    assert sample == points_of([Range("a", 0.0, 1.0, 1)], "lhs:20")
    units = {"r": "mm", "T": "degC"}
    assert parse_range("r=30 mm:.06 m:4", units) == parse_range("r=0.03:0.06:4", units)
    assert parse_range("T=log:0 degC:546.3:2", units).low == pytest.approx(273.15)
    with pytest.raises(UsageError, match="a pressure, expected a length"):
        parse_range("r=1 bar:2:3", units)
    for wrong in ("K", "K=1", "K=log:0:1", "K=1:2:3:4", "K=a:b"):
        with pytest.raises(UsageError):
            parse_range(wrong)


def test_sweep_is_the_closed_form_and_goes_on_where_it_was(file, tmp_path):
    """x = 0.1 cos(sqrt(k) t)."""
    points = grid([parse_range("k=50:200:5")])
    path = tmp_path / "t.csv"
    one = study(file)
    sweep(one, points[:3], table_of(one, path, ["k"]))
    table = table_of(one, path, ["k"])
    assert table.missing(points) == points[3:]
    sweep(one, points, table)
    k = np.array([row.point[0][1] for row in table.rows])
    found = [row.measures[0] for row in table.rows]
    assert_allclose(found, 0.1 * np.cos(np.sqrt(k) * 0.1), rtol=1e-6)
    with pytest.raises(UsageError, match="another"):
        Table(path, "other study", ["k"], one.measures, ["m"])
    with pytest.raises(UsageError, match="another study"):
        Table(path, one.key(["k"]), ["m"], one.measures, ["m"])


def test_a_line_cut_off_by_a_kill_is_dropped(tmp_path):
    path = tmp_path / "t.csv"
    with Table(path, "s", ["k"], ["m"], ["N"]) as table:
        table.add(Row((("k", 1.0),), (2.0,), "finished", ""))
    with open(path, "a", encoding="utf-8") as file:
        file.write("s,2.0,3.")
    again = Table(path, "s", ["k"], ["m"], ["N"])
    assert [row.point for row in again.rows] == [(("k", 1.0),)]
    with again:
        again.add(Row((("k", 2.0),), (4.0,), "finished", ""))
    assert len(Table(path, "s", ["k"], ["m"], ["N"]).rows) == 2


def test_failed_points_keep_their_reason(file, tmp_path):
    one = study(file)
    table = table_of(one, tmp_path / "t.csv", ["k"])
    sweep(one, [(("k", -5.0),), (("k", 5.0),)], table)
    assert [row.status for row in table.rows] == ["failed", "finished"]
    assert "k" in table.rows[0].reason


@pytest.mark.slow
def test_killed_and_resumed_on_two_processes(file, tmp_path):
    """kill -9 in the middle; the second run computes only what is missing."""
    path = tmp_path / "t.csv"
    command = [sys.executable, "-m", "vbg.cli", "sweep", str(file), "--vary", "k=50:500:60"]
    command += ["--measure", "final(guide.slide)", "-o", str(path), "-j", "2", "--json"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if path.exists() and path.read_text().count("\n") > 8:
            break
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    before = path.read_text().splitlines()
    assert 8 < len(before) < 61
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = path.read_text().splitlines()
    assert len(after) == 61
    whole = before if before[-1] in after else before[:-1]
    assert after[: len(whole)] == whole  # nothing was computed again
    assert len(set(after)) == 61


def test_parquet(file, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    target = tmp_path / "t.parquet"
    command = ["sweep", str(file), "--vary", "k=50:60:2", "--measure", "final(guide.slide)"]
    assert main([*command, "-o", str(target)]) == 0
    assert parquet.read_table(target).column_names[:2] == ["k", "final(guide.slide) [m]"]


def test_optimum(file, tmp_path):
    """The mass is back at its end (cos = -1) for sqrt(k) 0.1 = pi."""
    one = study(file)
    table = table_of(one, tmp_path / "t.csv", ["k"])
    best = optimise(one, [parse_range("k=500:1500")], table, evaluations=60)
    assert best.point[0][1] == pytest.approx((np.pi / 0.1) ** 2, rel=1e-2)
    assert best.measures[0] == pytest.approx(-0.1, rel=1e-5)


@pytest.mark.slow
def test_dask_with_two_workers(file, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    one = study(file)
    table = table_of(one, tmp_path / "t.csv", ["k"])
    points = grid([parse_range("k=50:200:6")])
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as c:
        sweep(one, points, table, scheduler=c.scheduler_address)
    assert sorted(row.point for row in table.rows) == points
    assert all(row.status == "finished" for row in table.rows)


@pytest.mark.parametrize(
    ("varied", "samples"),
    [
        (["k=-20:200:5"], None),
        (["k=log:10:1000:4", "m=0:2:3"], None),
        (["k=1:9", "m=1:2"], "lhs:6"),
    ],
)
def test_pictures_of_tables(tmp_path, varied, samples):
    """Curves, a map, samples; failed points (k < 0, m = 0) do not stop them."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "oscillator.toml"
    path.write_text(MODEL.replace("mass = 1.0", 'mass = "m"').replace("k = 100.0", TWO))
    table, picture = tmp_path / "t.csv", tmp_path / "t.svg"
    command = ["sweep", str(path), "--measure", "final(guide.slide)", "-o", str(table)]
    for one in varied:
        command += ["--vary", one]
    command += ["--samples", samples] if samples else []
    assert main([*command, "--plot", str(picture)]) == 0
    again = tmp_path / "again.png"
    assert main(["plot", str(table), "-o", str(again)]) == 0
    assert picture.stat().st_size > 5000 and again.stat().st_size > 5000
    found = read_table(table)
    assert list(found.parameters) == [one.partition("=")[0] for one in varied]
    assert list(found.measures) == ["final(guide.slide)"]


TWO = 'k = { value = 100.0, unit = "N/m" }\nm = { value = 1000, unit = "g" }'


def test_pictures_say_what_they_cannot_show(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("study,k,final(a),status,reason\ns,1.0,2.0,finished,\n")
    assert main(["plot", str(table)]) == 2
    assert "-o" in capsys.readouterr().err
    assert main(["plot", str(table), "max(b)", "-o", str(tmp_path / "x.svg")]) == 2
    assert "final(a)" in capsys.readouterr().err


def test_an_interrupt_keeps_the_runs_and_says_where(file, tmp_path, monkeypatch, capsys):
    table = tmp_path / "t.csv"
    command = ["sweep", str(file), "--vary", "k=50:60:4", "--measure", "final(guide.slide)"]
    command += ["-o", str(table)]
    build_parser()  # every verb is imported, none takes the function of this test
    monkeypatch.setattr("vbg.cli.verbs.sweep.show_progress", interrupt_after(2))
    assert main(command) == 130
    assert "stopped after 2 of 4 runs" in capsys.readouterr().err
    monkeypatch.undo()
    assert main(command) == 0
    assert "2 runs, 2 taken from" in capsys.readouterr().out


def interrupt_after(runs):
    def progress(done, total):
        if done == runs:
            raise KeyboardInterrupt

    return progress


@pytest.mark.slow
def test_the_benchmark_prints_both_times(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["sweep", "2"])
    from benchmarks.speed.sweep import main as benchmark

    benchmark()
    assert "times as fast" in capsys.readouterr().out


def test_a_search_makes_no_more_runs_than_asked_for(file, capsys):
    """Nor does it find the runs of the search before it: a table that nobody named is its own."""
    command = ["optimise", str(file), "--vary", "k=50:60", "--measure", "final(guide.slide)"]
    for search in ("nelder-mead", "differential-evolution"):
        assert main([*command, "--evaluations", "7", "--search", search, "--json"]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["runs"] <= 7 and "Warning" not in err
