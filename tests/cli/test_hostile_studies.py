"""Tables and ranges of strangers and of slips: one sentence, no endless work, no marks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.analysis.studies.plans import points_of
from vbg.analysis.studies.sampling import parse_range
from vbg.analysis.studies.table import Row, Table, read_table
from vbg.cli.main import main
from vbg.cli.parser import ANY, count_of
from vbg.cli.text import table
from vbg.errors import ModelError, UsageError

MODEL = str(Path(__file__).parents[2] / "examples" / "pendulum.toml")
STUDY = ("sweep", MODEL, "--measure", "max(hinge.angle)", "--t-end", "0.01")


def grown(path: Path) -> Table:
    """A table of two runs, one of them failed."""
    made = Table(path, "hash", ("L",), ("max(x)",), ("m",))
    with made:
        made.add(Row((("L", 1.0),), (2.0,), "finished", ""))
        made.add(Row((("L", 2.0),), (), "failed", "it broke"))
    return made


FORGED = {
    "a status that moves the cursor": ("finished", "\x1b[2J"),
    "a status that there is not": ("finished", "perhaps"),
    "finished without a value": ("2.0", ""),
    "finished with nan": ("2.0", "nan"),
    "finished with infinity": ("2.0", "1e400"),
    "failed with a value": ("2.0,finished", "2.0,failed"),
    "a parameter that is none": ("1.0", "nan"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_row_of_a_table_is_one_sentence(what, tmp_path):
    path = tmp_path / "s.csv"
    grown(path)
    assert len(Table(path, "hash", ("L",), ("max(x)",), ("m",)).rows) == 2
    old, new = FORGED[what]
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match="line 2 is damaged") as error:
        Table(path, "hash", ("L",), ("max(x)",), ("m",))
    assert str(error.value).isprintable()


def test_a_table_that_is_looked_at_has_no_infinite_value(tmp_path):
    path = tmp_path / "s.csv"
    grown(path)
    assert np.isnan(read_table(path).measures["max(x)"][1])
    path.write_text(path.read_text().replace("2.0", "inf", 1))
    with pytest.raises(UsageError, match="no number"):
        read_table(path)


def test_cells_of_any_table_are_escaped_before_they_are_measured():
    shown = table([("name", "x"), ("a\x1b[2J\u202e", "1")], "<>")
    assert shown.replace("\n", "").isprintable()
    assert len({len(line) for line in shown.splitlines()}) == 1


@pytest.mark.parametrize("count", ["99999999999999999999", "9" * 4000])
def test_a_grid_that_never_ends_is_refused(count):
    ranges = [parse_range("L=1:2:3"), parse_range(f"d=1:2:{count}")]
    with pytest.raises(UsageError, match=r"1000000 at most.*lhs"):
        points_of(ranges, None)


def test_numbers_of_any_length_in_a_plan_are_one_sentence():
    for plan in ("lhs:", "sobol:", "factorial:", "lhs:3:"):
        with pytest.raises(UsageError):
            points_of([parse_range("L=1:2")], plan + "9" * 5000)


def test_a_parameter_has_one_range(capsys, tmp_path):
    code = main([*STUDY, "--vary", "L=1:2:2", "--vary", "L=1:2:2", "-o", str(tmp_path / "s.csv")])
    assert code == 2 and "names L twice" in capsys.readouterr().err


def test_nothing_is_counted_without_end(capsys):
    """But a seed, which counts nothing, may be any number."""
    assert count_of(0, ANY)("9" * 12) == 10**12 - 1
    for words in (
        [*STUDY, "--vary", "L=1:2:2", "-j", "99999999"],
        ["show", "bode", MODEL, "--points", "9" * 12],
        ["measure", MODEL, "--classes", "9" * 12],
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2 and "the most there may be" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["t,x\n0,{}\n1,2\n", 't,x\n0,"{}'])
def test_a_cell_of_any_length_is_one_sentence(content, tmp_path):
    """Python's reader of CSV files ends at 131072 characters."""
    (tmp_path / "long.csv").write_text(content.format("9" * 200_000))
    model = tmp_path / "m.toml"
    model.write_text(
        """vbg = 1
[signals.course]
kind = "table"
rows = { file = "long.csv", columns = ["t", "x"] }
"""
    )
    with pytest.raises(ModelError) as error:
        vbg.read(model)
    (problem,) = error.value.problems
    assert problem.line == 4 and "field larger" in problem.what


@pytest.mark.parametrize("address", ["3 kg", "::::", "nan"])
def test_a_scheduler_that_is_none_is_told(address, tmp_path, capsys):
    pytest.importorskip("distributed")
    words = (*STUDY, "--vary", "L=1:2:2", "-o", str(tmp_path / "s.csv"), "--scheduler", address)
    assert main(words) == 2
    assert "there is no Dask cluster" in capsys.readouterr().err


def test_a_parameter_is_set_or_varied_and_a_study_without_a_run_has_failed(capsys):
    assert main([*STUDY, "--vary", "L=1:2:2", "--set", "L=1"]) == 2
    assert "--set and --vary both name L" in capsys.readouterr().err
    assert main([*STUDY, "--vary", "L=-2:-1:2"]) == 1
    assert "2 failed" in capsys.readouterr().out
    assert main(["run", MODEL, "--solver", "mstmm", "--method", "radau", "--t-end", "0.01"]) == 2
    assert "Leave out --method or --solver" in capsys.readouterr().err
