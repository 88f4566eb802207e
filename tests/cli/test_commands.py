"""The command line as a user meets it: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vbg.cli.main import main
from vbg.io.runs import csv, hdf5
from vbg.io.templates import templates
from vbg.model import catalogue

BAD = """
vbg = 1
[bodies.rod]
mass = -1
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.hinge]
kind = "revolut"
between = ["ground", "rod"]
axis = [0, 1, 0]
"""


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "swing.toml"
    assert main(["new", "pendulum", "-o", str(path)]) == 0
    return path


def run_verb(arguments, capsys):
    """Exit code, standard output and standard error of one command."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def verbs(*before):
    """Names of the verbs that `vbg ... --help` lists."""
    listing = subprocess.run(
        [sys.executable, "-m", "vbg.cli", *before, "--help"], capture_output=True, text=True
    )
    assert listing.returncode == 0
    lines = listing.stdout.splitlines()
    return [line.split()[0] for line in lines if line.startswith("    ") and line[4] != " "]


def test_every_verb_has_a_help_with_examples(capsys):
    names = verbs()
    assert {"new", "parts", "check", "run", "show"} <= set(names)
    for name in names:
        with pytest.raises(SystemExit) as stopped:
            main([name, "--help"])
        assert stopped.value.code == 0
        assert f"vbg {name}" in capsys.readouterr().out.split("examples:")[1]


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['vbg', '--help']\n"
        "from vbg.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print({'numpy', 'numba', 'scipy', 'h5py', 'textual', 'tomlkit'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["run"], ["run", "x.toml", "--set", "r"], ["run", "x.toml", "--t-end", "soon"]],
)
def test_misuse_of_the_command_line_is_2_with_usage_on_stderr(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    captured = capsys.readouterr()
    assert stopped.value.code == 2
    assert "usage: vbg" in captured.err and not captured.out


def test_new_lists_every_example_and_writes_it_unchanged(tmp_path, capsys):
    code, out, _ = run_verb(["new"], capsys)
    assert code == 0
    assert len(templates()) >= 14
    for name, file in templates().items():
        assert name in out
        target = tmp_path / f"{name}.toml"
        assert run_verb(["new", name, "-o", target], capsys)[0] == 0
        assert target.read_text("utf-8") == file.read_text("utf-8")


def test_new_brings_matrices_and_what_wrote_them(tmp_path, capsys):
    """The flexible ladder is whole where it was put."""
    target = tmp_path / "mine.toml"
    assert run_verb(["new", "ladder", "-o", target], capsys)[0] == 0
    arrays = {f"ladder-{name}.npy" for name in ("M", "K", "nodes")}
    assert {file.name for file in tmp_path.iterdir()} == {"mine.toml", "ladder.py", *arrays}
    assert run_verb(["check", target], capsys)[0] == 0


def test_new_does_not_overwrite_unasked_and_names_the_nearest(tmp_path, capsys):
    target = tmp_path / "mine.toml"
    target.write_text("precious")
    code, _, err = run_verb(["new", "pendulum", "-o", target], capsys)
    assert code == 2 and "--force" in err and target.read_text() == "precious"
    code, _, err = run_verb(["new", "pendulun"], capsys)
    assert code == 2 and "'pendulum'" in err
    assert run_verb(["new", "pendulum", "-o", target, "--force"], capsys)[0] == 0


def test_parts_lists_every_part_and_every_field(capsys):
    _, out, _ = run_verb(["parts", "--json"], capsys)
    listed = {table: {part["kind"] for part in parts} for table, parts in json.loads(out).items()}
    everything = {table: set(kinds) for table, kinds in catalogue().items() if kinds}
    assert listed == everything
    code, out, _ = run_verb(["parts", "revolute"], capsys)
    assert code == 0 and all(word in out for word in ("between", "axis", "drive", "required"))
    code, _, err = run_verb(["parts", "revolut"], capsys)
    assert code == 2 and "'revolute'" in err


def test_check_passes_a_good_file_and_lists_all_errors_of_a_bad_one(pendulum, tmp_path, capsys):
    code, out, err = run_verb(["check", pendulum], capsys)
    assert (code, err) == (0, "") and "no problems" in out
    bad = tmp_path / "bad.toml"
    bad.write_text(BAD)
    code, out, err = run_verb(["check", bad], capsys)
    assert code == 1 and not out
    assert f"{bad}:4:" in err and f"{bad}:7:" in err and "revolute" in err
    code, out, _ = run_verb(["check", bad, "--json"], capsys)
    problems = json.loads(out)["problems"]
    assert code == 1 and {problem["line"] for problem in problems} == {4, 7}


def test_run_prints_signals_residuals_and_audit(pendulum, capsys):
    code, out, err = run_verb(["run", pendulum, "--t-end", "0.5"], capsys)
    assert (code, err) == (0, "")
    for word in ("hinge.angle", "hinge.force.z", "rad", "residuals", "energy", "rtol", "finished"):
        assert word in out


def test_run_writes_the_same_to_hdf5_and_csv(pendulum, tmp_path, capsys):
    paths = [tmp_path / "out.h5", tmp_path / "out.csv"]
    for path in paths:
        assert run_verb(["run", pendulum, "-q", "-o", path, "--t-end", "0.3"], capsys)[0] == 0
    kept, table = hdf5.read(paths[0]), csv.read(paths[1])
    assert set(kept.signals) == set(table.signals)
    np.testing.assert_array_equal(kept.time, table.time)
    for name, values in kept.signals.items():
        np.testing.assert_array_equal(table[name], values)
    assert kept.time[-1] == 0.3 and kept.status.code == "finished"
    assert hdf5.read_model(paths[0]) == pendulum.read_text("utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "out.csv",
        "out.csv.ending",
        "out.h5",
        "swing.toml",
    ]


def test_json_tells_the_signals_that_are_asked_for(pendulum, capsys):
    code, out, _ = run_verb(["run", pendulum, "--json", "--signals", "hinge.a*,hinge.sp*"], capsys)
    assert code == 0
    assert {row["signal"] for row in json.loads(out)["summary"]} == {"hinge.angle", "hinge.speed"}


@pytest.mark.slow
def test_set_replaces_a_parameter(pendulum, capsys):
    """A longer pendulum is slower."""
    speeds = []
    for setting in ("L=0.5", "L=2 m"):
        code, out, _ = run_verb(["run", pendulum, "--set", setting, "--json"], capsys)
        assert code == 0
        rows = {row["signal"]: row for row in json.loads(out)["summary"]}
        speeds.append(rows["hinge.speed"]["max"])
    # From rest, horizontal, to the lowest point: speed^2 = 3 g / L; the output grid may
    # miss that instant by half a step.
    np.testing.assert_allclose(speeds, [np.sqrt(3 * 9.81 / L) for L in (0.5, 2.0)], rtol=1e-3)


def test_run_refuses_what_it_cannot_do(pendulum, tmp_path, capsys):
    for arguments, words in (
        (["run", tmp_path / "none.toml"], "no such file"),
        (["run", pendulum, "-o", "x.xls"], ".h5"),
        (["run", pendulum, "-o", tmp_path / "none" / "x.h5"], "cannot be written"),
        (["run", pendulum, "--set", "length=2"], "no parameter"),
        (["run", pendulum, "--method", "magic"], "magic"),
        (["run", pendulum, "--t-end", "1e9", "--output-step", "1e-6"], "larger output_step"),
    ):
        code, out, err = run_verb(arguments, capsys)
        assert code == 2, arguments
        assert words in err and not out
    bad = tmp_path / "bad.toml"
    bad.write_text(BAD)
    code, out, err = run_verb(["run", bad], capsys)
    assert code == 1 and not out and f"{bad}:4:" in err


def test_show_graph_and_causal_name_every_vertex_and_bond(pendulum, capsys):
    _, out, _ = run_verb(["show", "graph", pendulum, "--json"], capsys)
    graph = json.loads(out)
    code, text, _ = run_verb(["show", "graph", pendulum], capsys)
    assert code == 0
    assert all(vertex["name"] in text for vertex in graph["vertices"])
    code, out, _ = run_verb(["show", "causal", pendulum, "--json"], capsys)
    causal = json.loads(out)
    assert code == 0 and set(causal["strokes"]) == {bond["name"] for bond in graph["bonds"]}
    assert causal["constraints"] and not causal["conflicts"]
    bond = graph["bonds"][0]["name"]
    code, out, _ = run_verb(["show", "causal", pendulum, "--why", bond], capsys)
    assert code == 0 and out.startswith(f"{bond}: ")


def test_examples_are_commented_and_complete():
    """Each opens with a sketch in its comments and says what it is."""
    for name, file in templates().items():
        text = file.read_text("utf-8")
        head = text.split("vbg = 1")[0]
        assert head.startswith("#") and head.count("\n") >= 4, name
        assert 'description = "' in text and "[simulate]" in text, name


def test_every_example_checks_without_a_problem(capsys):
    """Bennett's linkage moves although it is over-constrained: that is what it shows; a robot
    rests where it starts until its commands set out."""
    for name, file in templates().items():
        code, out, err = run_verb(["check", file], capsys)
        assert code == 0, name
        if name == "bennett":
            assert "3 constraint directions are redundant" in err and "1 remark" in out
        else:
            remarks = err.splitlines()
            assert all("rests as long as" in remark for remark in remarks), name
            assert ("1 remark" if remarks else "no problems") in out, name


def test_the_checkout_ships_its_examples():
    folder = Path(__file__).resolve().parents[2] / "examples"
    assert {file.stem for file in folder.glob("*.toml")} <= set(templates())
