"""Result files: what is written comes back, and a killed run leaves its rows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vbg.errors import Problem, UsageError
from vbg.io.runs import csv, hdf5
from vbg.io.runs.names import SAVED_ENDINGS
from vbg.io.runs.results import load, save
from vbg.solution import Audit, Event, MadeBy, Solution, Status

FLOATS = st.floats(allow_nan=True, allow_infinity=True, width=64)


def made_up(scalar, vector):
    """A solution with everything in it; scalar (n,), vector (n, 3)."""
    return Solution(
        np.linspace(0.0, 0.3, len(scalar)),
        {
            "energy.kinetic": scalar,
            "A.force": vector,
            "crank.rotation": np.tile(0.5, (len(scalar), 4)),
        },
        audit=Audit(
            1e-12,
            2e-11,
            events=(Event(0.17, "forces.buffer", "touches"),),
            carried=((0.1, 0.11),),
            crossings=((0.17, 3), (0.2, -1)),
        ),
        made_by=MadeBy("vbg", "crank", "abc", "dop853", 1e-8, 1e-10, {"numpy": "2"}, 17, 204, 0.03),
        status=Status("cancelled", "Stopped by the user at t = 0.3 s."),
        units={"A.force": "N", "energy.kinetic": "J"},
        notes=(Problem("note", "joints.A", "was moved by 1 mm.", "Write its position."),),
    )


@settings(max_examples=25, deadline=None)
@given(data=st.data(), n=st.integers(1, 6))
def test_hdf5_gives_back_all_of_a_solution(tmp_path_factory, data, n):
    path = tmp_path_factory.mktemp("h5") / "run.h5"
    solution = made_up(
        data.draw(arrays(float, n, elements=FLOATS)),
        data.draw(arrays(float, (n, 3), elements=FLOATS)),
    )
    hdf5.write(solution, path, model="name = 'crank'")
    again = hdf5.read(path)
    assert hdf5.read_model(path) == "name = 'crank'"
    np.testing.assert_array_equal(again.time, solution.time)
    assert list(again.signals) == list(solution.signals)
    for name, values in solution.signals.items():
        np.testing.assert_array_equal(again[name], values)
        assert again.unit(name) == solution.unit(name)
    assert (again.status, again.notes, again.audit.events) == (
        solution.status,
        solution.notes,
        solution.audit.events,
    )
    assert again.made_by == solution.made_by
    assert np.isnan(again.audit.velocity_residual) and again.audit.energy_residual == 1e-12


@settings(max_examples=25, deadline=None)
@given(data=st.data(), n=st.integers(1, 6))
def test_csv_gives_back_the_same_floats(tmp_path_factory, data, n):
    path = tmp_path_factory.mktemp("csv") / "run.csv"
    solution = made_up(
        data.draw(arrays(float, n, elements=FLOATS)),
        data.draw(arrays(float, (n, 3), elements=FLOATS)),
    )
    csv.write(solution, path)
    again = csv.read(path)
    np.testing.assert_array_equal(again.time, solution.time)
    for name, values in solution.signals.items():
        np.testing.assert_array_equal(again[name], values)


def test_csv_keeps_units_and_reads_tables_without(tmp_path):
    path = tmp_path / "run.csv"
    csv.write(made_up(np.arange(3.0), np.ones((3, 3))), path)
    header, *rows = path.read_text().splitlines()
    assert header.startswith("time [s],energy.kinetic [J],A.force.x [N],A.force.y [N]")
    again = csv.read(path)
    assert again.unit("A.force.x") == "N" and again.unit("energy.kinetic") == "J"
    assert again.unit("crank.rotation") == ""
    plain = header.replace(" [N]", "").replace(" [J]", "").replace(" [s]", "")
    path.write_text("\n".join([plain, *rows]))
    bare = csv.read(path)
    assert set(bare.signals) == set(again.signals) and not bare.units


def test_blocks_append_and_a_reader_sees_them_while_the_file_grows(tmp_path):
    path = tmp_path / "run.h5"
    rng = np.random.default_rng(20)
    force = rng.normal(size=(900, 3))
    times = np.linspace(0.0, 1.0, 900)
    with hdf5.Writer(path, {"A.force": "N"}) as writer:
        for start in range(0, 900, 70):
            rows = slice(start, start + 70)
            writer.append(times[rows], {"A.force": force[rows]})
            seen = hdf5.read(path)
            np.testing.assert_array_equal(seen["A.force"], force[: start + 70])
            assert seen.status.code == "failed" and "no ending" in seen.status.sentence
    np.testing.assert_array_equal(hdf5.read(path, start=850)["A.force"], force[850:])


WRITER = """
import sys, numpy as np
from vbg.io.runs.hdf5 import Writer
writer = Writer(sys.argv[1], {"A.force": "N"})
for block in range(100_000):
    t = np.arange(block * 50, block * 50 + 50) * 1e-3
    writer.append(t, {"A.force": np.outer(np.sin(t), [1.0, 2.0, 3.0]), "energy.kinetic": t * t})
    print(block, flush=True)
"""


def test_kill_leaves_all_rows_up_to_the_last_append(tmp_path):
    path = tmp_path / "run.h5"
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=os.getcwd(),
    )
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) == 40:
            break
    os.kill(child.pid, signal.SIGKILL)
    rest = [int(line) for line in child.stdout]
    assert child.wait() == -signal.SIGKILL
    last = max([40, *rest])
    solution = hdf5.read(path)
    # The append after the last one announced may or may not have got through.
    assert len(solution.time) >= 50 * (last + 1)
    np.testing.assert_array_equal(solution.time, np.arange(len(solution.time)) * 1e-3)
    np.testing.assert_array_equal(solution["A.force.z"], np.sin(solution.time) * 3.0)
    assert solution.status.code == "failed" and solution.status.remedy


def test_a_second_block_with_other_signals_is_refused(tmp_path):
    with hdf5.Writer(tmp_path / "run.h5") as writer:
        writer.append(np.zeros(1), {"a": np.zeros(1)})
        with pytest.raises(UsageError, match=r"not in both.*'b'"):
            writer.append(np.ones(1), {"a": np.zeros(1), "b": np.zeros(1)})


@pytest.mark.parametrize("read", [hdf5.read, csv.read])
def test_wrong_files_are_named(tmp_path, read):
    with pytest.raises(UsageError, match="no such file"):
        read(tmp_path / "none")
    other = tmp_path / "other"
    other.write_text("x,y\nred,2\n")
    with pytest.raises(UsageError, match=str(other)):
        read(other)


@pytest.mark.parametrize("write", [hdf5.write, csv.write])
def test_a_place_that_cannot_be_written_is_named(tmp_path, write):
    path = tmp_path / "no folder" / "run"
    with pytest.raises(UsageError, match=r"no folder.*cannot be written"):
        write(Solution(np.zeros(1), {"a": np.zeros(1)}), path)


def test_two_writers_cannot_take_the_same_file(tmp_path):
    path = tmp_path / "run.h5"
    with hdf5.Writer(path) as first:
        first.append(np.zeros(1), {"a": np.zeros(1)})
        with pytest.raises(UsageError, match=rf"being written by process {os.getpid()}"):
            hdf5.write(Solution(np.zeros(1), {"a": np.zeros(1)}), path)
        first.append(np.ones(1), {"a": np.ones(1)})
    np.testing.assert_array_equal(hdf5.read(path)["a"], [0.0, 1.0])


@pytest.mark.parametrize("ending", SAVED_ENDINGS)
def test_what_is_saved_comes_back_bit_by_bit_in_every_format(tmp_path, ending):
    draw = np.random.default_rng(7)
    numbers = draw.integers(0, 2**63, size=(40, 4), dtype=np.uint64).view(np.float64)
    finite = np.where(np.isfinite(numbers), numbers, -0.0)
    solution = made_up(finite[:, 0], finite[:, 1:])
    path = tmp_path / f"run{ending}"
    save(solution, path)
    again = load(path)
    assert again.signals.keys() == solution.signals.keys()
    for name, values in solution.signals.items():
        assert again.unit(name) == solution.unit(name)
        np.testing.assert_array_equal(again[name].view(np.uint64), np.array(values).view(np.uint64))
    np.testing.assert_array_equal(again.time, solution.time)
    assert again.status == solution.status and again.notes == solution.notes
    assert again.made_by == solution.made_by and again.audit.events == solution.audit.events


def test_a_parquet_file_of_another_program_is_read_and_one_that_is_none_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "scope.parquet"
    parquet.write_table(pyarrow.table({"time": [0.0, 1.0], "u": [1, 2]}), path)
    assert load(path)["u"].tolist() == [1.0, 2.0] and load(path).status.code == "finished"
    parquet.write_table(pyarrow.table({"u": [1, 2]}), path)
    with pytest.raises(UsageError, match="no column 'time'"):
        load(path)
    parquet.write_table(pyarrow.table({"time": ["a", "b"]}), path)
    with pytest.raises(UsageError, match="no result in Parquet"):
        load(path)
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UsageError, match="no result in Parquet"):
        load(path)


def test_other_endings_and_units_where_files_are_in_si_are_refused(tmp_path):
    solution = made_up(np.zeros(2), np.zeros((2, 3)))
    with pytest.raises(UsageError, match="written as"):
        save(solution, tmp_path / "run.xlsx")
    with pytest.raises(UsageError, match="in SI"):
        save(solution, tmp_path / "run.h5", "kN")


@pytest.mark.parametrize("ending", [".h5", ".csv", ".json", ".parquet"])
@pytest.mark.parametrize(
    ("time", "told"),
    [
        ([0.0, 0.2, 0.1, 0.3], r"must not fall, found 0.2 s in row 2 and 0.1 s in row 3"),
        ([0.0, 1.0, 2.0, 0.0], r"must not fall, found 2.0 s in row 3 and 0.0 s in row 4"),
        ([0.0, 0.1, 0.1, 0.1], r"must grow.* 0.1 s in row 2 and in the two after"),
        ([0.0, np.nan, 0.2, 0.3], r"must be finite, found nan s in row 2 of 4"),
        ([0.0, 0.1, 0.2, np.inf], r"must be finite, found (inf|nan) s in row 4 of 4"),
    ],
)
def test_a_time_that_is_none_is_no_result(tmp_path, ending, time, told):
    path = tmp_path / f"run{ending}"
    save(Solution(np.array(time), {"x": np.arange(4.0)}), path)
    with pytest.raises(UsageError, match=told) as error:
        load(path)
    assert str(path) in str(error.value)


def test_both_rows_of_an_event_are_a_result(tmp_path):
    """Other programs write the values before and after it."""
    time = np.array([0.0, 0.1, 0.1, 0.2, 0.2])
    save(Solution(time, {"x": np.arange(5.0)}), tmp_path / "run.csv")
    np.testing.assert_array_equal(load(tmp_path / "run.csv").time, time)


@pytest.mark.parametrize("ending", [".h5", ".csv", ".json", ".parquet"])
def test_every_format_keeps_bits_and_units(tmp_path, ending):
    """What has no value or no end, minus zero, the least number; a unit that holds commas."""
    odd = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]
    units = {"x": "V, A, 1e5 Pa or 1e-5 m^3/s", "turn": "1", "last": "N*m"}
    signals = {
        "x": np.array(odd),
        "turn": np.array([np.roll(odd, k)[:4] for k in range(7)]),
        "last": np.arange(7.0),
    }
    path = tmp_path / f"run{ending}"
    save(Solution(0.1 * np.arange(7), signals, units=units), path)
    found = load(path)
    assert set(found.signals) == set(signals)
    for name, values in signals.items():
        assert found.unit(name) == units[name]
        np.testing.assert_array_equal(found[name], values)
        np.testing.assert_array_equal(np.signbit(found[name]), np.signbit(values))
    if ending == ".csv":
        pandas = pytest.importorskip("pandas")
        assert pandas.read_csv(path)["last [N*m]"].tolist() == list(range(7))
