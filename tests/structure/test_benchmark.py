"""The benchmark of structural analysis runs and prints the paper's table."""

import json

import pytest

from benchmarks.speed import structure
from vbg.cli.main import main


def test_table_16_and_growth_are_printed(capsys):
    structure.print_table()
    structure.print_growth(1000)
    out = capsys.readouterr().out
    assert out.count("ASSUR") == 16
    assert "70940.31" in out
    rows = [line.split() for line in out.splitlines() if line.startswith("ASSUR")]
    for row in rows:
        bodies, theirs, ours = int(row[2]), row[4], int(row[6])
        assert bodies >= 6
        assert theirs in ("-", str(ours))


@pytest.mark.parametrize(
    ("name", "groups", "bodies"),
    [("I-8", 9, 18), ("I-8B", 3, 18), ("II-4B", 2, 18), ("III-4B", 1, 26), ("5-2", 3, 22)],
)
def test_table_16_from_the_command_line(name, groups, bodies, tmp_path, capsys):
    """The linkage, its groups, and the file of it, which has the same."""
    file = tmp_path / "linkage.m"
    assert main(["structure", "assur", name, "-o", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["groups"]) == groups and len(found["bodies"]) == bodies
    assert main(["structure", str(file), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["groups"]
    for key in ("bodies", "type", "driven", "needs"):
        assert [group[key] for group in again] == [group[key] for group in found["groups"]]


def test_what_is_no_name_of_table_16(capsys):
    for name in ("IV", "II-0", "B-2"):
        assert main(["structure", "assur", name]) == 2
        assert "such as I-2 or II-4B" in capsys.readouterr().err


@pytest.mark.slow
def test_kinematics_are_timed(capsys):
    structure.print_kinematics()
    assert capsys.readouterr().out.count("sequential:") == 1
