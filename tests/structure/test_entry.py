"""A topology entered line by line, and asked for by `vbg structure new`."""

import io

import pytest

from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.structure import analyse_topology, read_topology
from vbg.structure.topology.entry import begun, with_pair

# the spatial four-bar of the paper's kind, RSCP, and a plane one
SPATIAL = ("space", "4", ("1 2 R 1", "2 3 S", "3 4 C", "4 1 P"))
PLANE = ("plane", "4", ("1 2 R 1", "2, 3, r", "3 4 R", "1 4 P"))


def entered(space, bodies, pairs):
    entry = begun(space, bodies)
    for pair in pairs:
        entry = with_pair(entry, pair)
    return entry


@pytest.mark.parametrize("answers", [SPATIAL, PLANE])
def test_the_count_is_that_of_the_analysis(answers):
    entry = entered(*answers)
    structure = analyse_topology(entry.topology())
    assert entry.mobility == 1 == entry.driven
    assert structure.determined and not entry.loose
    assert entry.without_last().loose in ((), (4,))
    assert len(entry.without_last().pairs) == len(entry.pairs) - 1


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("1 2", "a pair is two bodies"),
        ("1 2 R R R", "a pair is two bodies"),
        ("0 2 R", "'0' is no body; there are 1"),
        ("1 5 R", "'5' is no body"),
        ("2 2 R", "both bodies are 2"),
        ("2 1 R", "2 and 1 have a pair"),
        ("2 3 Q", "'Q' is no pair of Table 3"),
        ("2 3 -", "is no pair"),
        ("2 3 S", "is no pair of a plane problem"),
        ("2 3 R 2", "R leaves 1 freedom"),
        ("2 3 R -1", "R leaves 1 freedom"),
    ],
)
def test_what_is_wrong_with_a_pair(pair, said):
    with pytest.raises(UsageError, match=said):
        with_pair(entered("plane", "4", ("1 2 R",)), pair)


@pytest.mark.parametrize("driven", ["R*1", "R*", "R 1"])
def test_a_drive_is_written_as_it_is_shown(driven):
    (pair,) = entered("space", "3", (f"1 2 {driven}",)).pairs
    assert (pair.code, pair.driven) == ("R", 1)
    with pytest.raises(UsageError, match="R leaves 1 freedom"):
        with_pair(begun("space", "3"), "1 2 R*2")


@pytest.mark.parametrize(
    ("space", "bodies"), [("plain", "4"), ("plane", "1"), ("", "four"), ("", "")]
)
def test_what_is_wrong_with_the_first_answers(space, bodies):
    with pytest.raises(UsageError):
        begun(space, bodies)


@pytest.mark.parametrize("answers", [SPATIAL, PLANE])
def test_the_verb_writes_what_the_analysis_reads(answers, tmp_path, monkeypatch, capsys):
    space, bodies, pairs = answers
    file = tmp_path / "new.m"
    lines = [space, bodies, *pairs[:1], pairs[1], "undo", *pairs[1:], ""]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    assert main(["structure", "new", "-o", str(file)]) == 0
    assert "determined" in capsys.readouterr().out
    own, again = entered(*answers).topology(), read_topology(file)
    assert [(p.ends, p.code, p.driven) for p in again.pairs] == [
        (p.ends, p.code, p.driven) for p in own.pairs
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("plane\n"))
    assert main(["structure", "new", "-o", str(file)]) == 2
    assert "--force" in capsys.readouterr().err


def test_a_wrong_answer_that_is_piped_in_ends_it(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("plane\n4\n1 2 X\n"))
    assert main(["structure", "new"]) == 2
    assert "Table 3" in capsys.readouterr().err


class Typed(io.StringIO):
    """Lines as of a person at a terminal; behind the last one stands Ctrl-D."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "stopped before plane or space"),
        ("space\n", "stopped before bodies"),
        ("space\nfour\n", "stopped before bodies"),
        ("space\n3\n1 2 R 1\n\n", "not joined yet: 3 (F joins"),
    ],
)
def test_the_end_of_the_input_ends_the_questions(lines, said, monkeypatch, capsys):
    """Ctrl-D asked the number of bodies without end; an empty line threw loose bodies away."""
    monkeypatch.setattr("sys.stdin", Typed(lines))
    assert main(["structure", "new"]) != 0
    assert said in capsys.readouterr().err
