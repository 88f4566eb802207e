"""Table 3, the text form, and the message for every kind of wrong input (Fig. 10)."""

import pytest

from vbg.errors import ModelError
from vbg.structure import analyse_topology, from_adjacency, from_pairs, parse_topology
from vbg.structure.topology.pairs import TABLE_3
from vbg.structure.topology.textfile import read_topology, write_topology

FOUR_BAR = [["-", "R", "-", "P"], ["R", "-", "S", "-"], ["-", "S", "-", "C"], ["P", "-", "C", "-"]]
DRIVES = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

PRINTED = """
global ProblemType N M KnownInputs
%Topological information
ProblemType=6 ; %Select 3 for planar and 6 for spatial mechanism
M={ ... ; %Extended adjacency matrix based on Type
'1' 'R' '2' 'P';
'R' '2' 'S' '2';
'1' 'S' '3' 'C';
'P' '2' 'C' '4'};
N=length(M) ; %Number of bodies including chassis
KnownInputs=[ ... ; %Known inputs matrix
0 1 0 0;
1 0 0 0;
0 0 0 0;
0 0 0 0];
"""


def test_table_3_has_its_25_rows_and_grades():
    grades = dict.fromkeys("RPH", 1) | {"CPEP": 1}
    grades |= dict.fromkeys(["C", "ER", "U", "L", "EO", "EPI", "CTEP", "RP", "RD"], 2)
    grades |= dict.fromkeys(["S", "PL", "CR", "CTRP", "FP"], 3)
    grades |= dict.fromkeys(["SC", "PC", "CBIP"], 4) | dict.fromkeys(["SP", "SPSP"], 5)
    grades |= {"F": 6, "-": 0}
    assert {row.code: row.grade for row in TABLE_3} == grades
    assert len(TABLE_3) == 25


@pytest.mark.parametrize("row", TABLE_3[1:], ids=lambda row: row.code)
def test_each_code_removes_its_freedoms(row):
    for dimension in (3, 6):
        if dimension == 6 or row.planar:
            joined = from_adjacency(dimension, [["-", row.code], [row.code, "-"]])
            assert joined.mobility == row.grade
        else:
            with pytest.raises(ModelError, match="does not exist in the plane"):
                from_adjacency(dimension, [["-", row.code], [row.code, "-"]])


def test_the_printed_script(tmp_path):
    path = tmp_path / "User_Data.m"
    path.write_text(PRINTED)
    topology = read_topology(path)
    assert topology == from_adjacency(6, FOUR_BAR, DRIVES)
    assert parse_topology(write_topology(topology)) == topology
    assert analyse_topology(topology).determined


def changed(matrix, i, j, value, back=None):
    rows = [list(row) for row in matrix]
    rows[i][j] = value
    rows[j][i] = value if back is None else back
    return rows


@pytest.mark.parametrize(
    ("matrix", "drives", "dimension", "message"),
    [
        (changed(FOUR_BAR, 0, 1, "R", "P"), DRIVES, 6, r"M\(1,2\): is 'R' but M\(2,1\) is 'P'"),
        (FOUR_BAR, changed(DRIVES, 0, 1, 1, 0), 6, r"KnownInputs\(1,2\): is 1 but"),
        (changed(FOUR_BAR, 0, 1, "CRR"), DRIVES, 6, "Did you mean 'CR'"),
        (changed(FOUR_BAR, 0, 1, "CTPR"), DRIVES, 6, "Did you mean 'CTRP'"),
        (FOUR_BAR, changed(DRIVES, 0, 1, 2), 6, "drives 2 freedoms of 'R'"),
        (FOUR_BAR, changed(DRIVES, 0, 1, -1), 6, "whole number"),
        (FOUR_BAR, changed(DRIVES, 0, 2, 1), 6, "bodies are not connected"),
        (FOUR_BAR, changed(DRIVES, 2, 2, 1), 6, "not driven against itself"),
        (FOUR_BAR, DRIVES, 5, "planar problem has 3"),
        (FOUR_BAR, DRIVES, 3, "does not exist in the plane"),
        (FOUR_BAR[:3], DRIVES, 6, "must be 3 x 3"),
        (FOUR_BAR, DRIVES[:3], 6, "must be 4 x 4"),
        (changed(changed(FOUR_BAR, 3, 0, "-"), 3, 2, "-"), DRIVES, 6, "bodies.4: is not connected"),
    ],
)
def test_wrong_matrices(matrix, drives, dimension, message):
    with pytest.raises(ModelError, match=message):
        from_adjacency(dimension, matrix, drives)


def test_all_problems_are_told_at_once():
    wrong = changed(changed(FOUR_BAR, 0, 1, "R", "P"), 2, 3, "X9")
    with pytest.raises(ModelError) as caught:
        from_adjacency(6, wrong, changed(DRIVES, 0, 2, 1))
    assert len(caught.value.problems) >= 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("1", "9", "R", 0)], "which is no body"),
        ([("1", "1", "R", 0)], "joins a body to itself"),
        ([("2", "3", "R", 0)], "the frame has no pair"),
        ([("1", "2", "R", 0)], "bodies.3: is not connected"),
    ],
)
def test_wrong_pairs(rows, message):
    with pytest.raises(ModelError, match=message):
        from_pairs(6, ["1", "2", "3"], rows)
    with pytest.raises(ModelError, match="listed twice"):
        from_pairs(6, ["1", "2", "2"], [("1", "2", "R", 0)])


def test_more_drives_than_freedoms():
    structure = analyse_topology(from_adjacency(6, FOUR_BAR, changed(DRIVES, 2, 3, 1)))
    assert not structure.determined
    assert "more drives than freedoms" in str(structure.problems[0])
    assert structure.over is not None
    assert structure.over.surplus == 1


def test_right_number_of_drives_in_the_wrong_place():
    """Mobility 2, two drives, both where one freedom is: the whole count alone would pass."""
    rows = [("1", "2", "R", 1), ("2", "3", "R", 0), ("3", "1", "L", 1), ("1", "4", "R", 0)]
    structure = analyse_topology(from_pairs(3, "1234", [*rows]))
    assert structure.mobility == structure.driven + 1 or not structure.determined
    assert {structure.topology.bodies[b] for b in structure.under.bodies} == {"4"}
    assert [structure.topology.pairs[d.pair].name for d in structure.fixes] == ["KP(1-4)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("M={'-' 'R';'R' '-'}", "does not define ProblemType"),
        ("ProblemType=6", "does not define M"),
        ("ProblemType=6; N=3; M={'-' 'R';'R' '-'}", "N: is 3 where M has 2 rows"),
        ("ProblemType=six; M={'-' 'R';'R' '-'}", "^error: ProblemType: found six .* Write 3 for"),
        (
            "ProblemType=6; M={'-' 'R';'R' '-'}; KnownInputs=[0 1.5; 1.5 0]",
            "KnownInputs: found 1.5",
        ),
    ],
)
def test_wrong_text(text, message):
    with pytest.raises(ModelError, match=message):
        parse_topology(text)
