"""`vbg structure` and `vbg show structure` as a user meets them."""

import json
from itertools import islice
from pathlib import Path

import pytest

from vbg.cli.main import main
from vbg.cli.structure import analyse as verb

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

FOUR_BAR = """
ProblemType = 6;
M = {'-' 'R' '-' 'P'; 'R' '-' 'S' '-'; '-' 'S' '-' 'C'; 'P' '-' 'C' '-'};
KnownInputs = [0 1 0 0; 1 0 0 0; 0 0 0 0; 0 0 0 0];
"""


@pytest.fixture
def four_bar(tmp_path):
    path = tmp_path / "four_bar.m"
    path.write_text(FOUR_BAR)
    return str(path)


def test_a_bare_topology(four_bar, tmp_path, capsys):
    picture = tmp_path / "diagram.dot"
    assert main(["structure", four_bar, "--diagram", str(picture), "--library", "1R3D"]) == 0
    printed = capsys.readouterr().out
    assert "mobility 1, driven freedoms 1: determined" in printed
    assert "1P1C1S3D" in printed
    assert "SG-II" in picture.read_text()
    assert main(["structure", four_bar, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results_matrix"][0] == [0, 1, 2, 2]


def test_wrong_and_undetermined_topologies(tmp_path, capsys):
    loose = tmp_path / "loose.m"
    loose.write_text(FOUR_BAR.split("KnownInputs")[0])
    assert main(["structure", str(loose)]) == 1
    assert "Drive for instance" in capsys.readouterr().out
    wrong = tmp_path / "wrong.m"
    wrong.write_text(FOUR_BAR.replace("'S' '-' 'C'", "'X' '-' 'C'"))
    assert main(["structure", str(wrong)]) == 1
    assert "is no pair of Table 3" in capsys.readouterr().err


def test_search_store_and_query(four_bar, tmp_path, capsys):
    store = str(tmp_path / "found.sqlite")
    assert main(["structure", four_bar, "--transform", "--store", store, "--json"]) == 0
    searched = json.loads(capsys.readouterr().out)
    assert searched["complete"]
    assert len(searched["choices"]) == 4
    assert main(["structure", four_bar, "--query", "--store", store, "--keep", "2"]) == 0
    assert "KP(1-2)" in capsys.readouterr().out
    arguments = ["structure", four_bar, "--transform", "--allow", "KP(1-4)"]
    assert main(arguments) == 0
    assert "1 choice " in capsys.readouterr().out
    assert main([*arguments[:-1], "KP(7-9)"]) == 2
    assert main(["structure", four_bar, "--query"]) == 2


def test_an_interrupted_search_keeps_what_it_found():
    import signal

    with verb._stoppable() as progress:
        assert progress(1, 0.1)
        signal.raise_signal(signal.SIGINT)
        assert not progress(2, 0.2)


@pytest.mark.parametrize(
    ("example", "finding"), [("bennett", "Bennett linkage"), ("slider-crank", None)]
)
def test_models(example, finding, capsys):
    assert main(["show", "structure", str(EXAMPLES / f"{example}.toml"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["mobility"] == 1
    assert data["with_proposed_drives"]["determined"]
    assert [f["name"] for f in data["findings"]] == ([finding] if finding else [])


def test_the_columns_of_the_groups_are_explained(capsys):
    crank = str(EXAMPLES / "slider-crank.toml")
    assert main(["show", "structure", crank, "--workers", "2"]) == 0
    out, _ = capsys.readouterr()
    head = next(line for line in out.splitlines() if line.startswith("group  level"))
    legend = out[out.index("A group is solved at once") :]
    for column in ("level", "n_c", "type", "external", "internal", "handed on"):
        assert column in head and column in legend
    assert "in library" not in out, "no library was named"
    assert "sequential: 1848 operations\n" in out
    assert "1.00 times as fast as sequential" in out
    assert main(["show", "structure", crank, "--library", "1R3D"]) == 0
    assert "in library" in capsys.readouterr().out


def synthesise(capsys, *arguments):
    assert main(["structure", "synthesise", *arguments]) == 0
    return capsys.readouterr().out


def test_synthesis_lists_chains_mechanisms_and_groups(capsys):
    eight = ["--planar", "--mobility", "1", "--bodies", "8"]
    chains = synthesise(capsys, *eight, "--as", "chains").splitlines()
    assert chains[0] == "16 chains: 8 bodies, mobility 1, in the plane"
    assert chains[1].split()[0] == "9"  # 9, 5 and 2 by the bodies' numbers of pairs
    assert len(chains) == 1 + 3 + 16
    assert synthesise(capsys, *eight, "--count").startswith("71 mechanisms")
    driven = ["--mobility", "1", "--bodies", "4", "--pairs", "R,S=2", "--as", "driven"]
    assert "groups 1R3D, 1R2S3D" in synthesise(capsys, *driven)
    data = json.loads(synthesise(capsys, *eight, "--keep", "3", "--json"))
    assert data["count"] == len(data["structures"]) == 3
    assert not data["complete"]
    assert "10 Assur groups" in synthesise(
        capsys, "--planar", "--mobility", "0", "--bodies", "7", "--count"
    )


@pytest.mark.slow
def test_a_synthesised_machine_runs(tmp_path, capsys):
    model, topology = str(tmp_path / "m.toml"), str(tmp_path / "m.m")
    six = ["--planar", "--mobility", "1", "--bodies", "6", "--pairs", "R,P:1", "--number", "12"]
    synthesise(capsys, *six, "-o", model)
    assert main(["run", model, "--strict", "-q"]) == 0
    synthesise(capsys, *six, "-o", topology)
    assert main(["structure", topology]) == 0
    assert "mobility 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pairs", "R,X1"], "'X1' is no kind of pair"),
        (["--pairs", "R,S", "--planar"], "in the plane takes R, P"),
        (["-o", "m.toml", "--planar", "--number", "900"], "there are 1 driven mechanism"),
    ],
)
def test_synthesis_refuses_in_words(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["structure", "synthesise", "--mobility", "1", "--bodies", "4", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_ctrl_c_keeps_the_structures_found(capsys, monkeypatch):
    """The first three of 71, and a stop: told as not all there are."""
    from vbg.structure.synthesis import structures

    every = structures.mechanisms

    def stopped(wanted):
        yield from islice(every(wanted), 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(structures, "mechanisms", stopped)
    eight = ["--planar", "--mobility", "1", "--bodies", "8", "--pairs", "R"]
    assert main(["structure", "synthesise", *eight, "--count"]) == 130
    assert capsys.readouterr().out.startswith("3 mechanisms (stopped there): 8 bodies")
    assert main(["structure", "synthesise", *eight, "--json"]) == 130
    told = json.loads(capsys.readouterr().out)
    assert told["complete"] is False and told["count"] == 3


def test_expansions_that_are_not_determined_say_by_how_much(capsys, tmp_path):
    """A dyad on a driven crank, tied by a triple pin that leaves it free: mobility 3."""
    path = tmp_path / "six.m"
    path.write_text(
        "ProblemType = 3;\n"
        "M = {'-' 'R' '-' '-' '-' 'R'; 'R' '-' 'R' '-' '-' '-'; '-' 'R' '-' 'R' 'R' '-';\n"
        "     '-' '-' 'R' '-' 'R' '-'; '-' '-' 'R' 'R' '-' 'R'; 'R' '-' '-' '-' 'R' '-'};\n"
        "KnownInputs = [0 1 0 0 0 0; 1 0 0 0 0 0; 0 0 0 0 0 0; 0 0 0 0 0 0; 0 0 0 0 0 0;"
        " 0 0 0 0 0 0];\n"
    )
    assert main(["structure", str(path), "--joint", "3,4,5"]) == 1
    assert capsys.readouterr().out.count("not determined: mobility 3, driven 1") == 3
