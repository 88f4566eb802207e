"""The benchmark of structural analysis runs and prints the paper's table."""

import pytest

from benchmarks import structure


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


@pytest.mark.slow
def test_kinematics_are_timed(capsys):
    structure.print_kinematics()
    assert capsys.readouterr().out.count("sequential:") == 1
