"""What a user is told, word for word where the words matter: misuse, missing folders, partial
results, wrong parameters, and the same as JSON."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from vbg.cli.main import main
from vbg.fields import declared
from vbg.io.runs import hdf5, results
from vbg.model import catalogue
from vbg.model.resolve.resolve import TOP_LEVEL
from vbg.model.resolve.settings import Simulate
from vbg.model.samples import machine
from vbg.model.text.everyday import EVERYDAY, UNSPOKEN
from vbg.model.text.plain import INERTIA_KEYS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CRANK = EXAMPLES / "slider-crank.toml"


def told(arguments, capsys):
    """Exit code, standard output and standard error of one command."""
    capsys.readouterr()
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("r=60 kg", "parameter r = '60 kg': [kg] is a mass, expected a length [mm]."),
        ("r=60 kgg", "parameter r = '60 kgg': 'kgg' is not a unit such as mm, N*m or 1/min."),
        ("R=1", "has no parameter 'R'. Did you mean 'r'?"),
        ("r=nan", "parameter r = nan: expected a finite number"),
    ],
)
def test_a_wrong_parameter_on_the_command_line(setting, words, capsys):
    for verb in ("run", "check", "validate"):
        code, out, err = told([verb, CRANK, "--set", setting], capsys)
        assert (code, out) == (2, "")
        assert words in err


def test_a_bare_number_meant_in_the_unit_of_the_file_is_pointed_out(capsys):
    code, _, err = told(["check", CRANK, "--set", "r=60"], capsys)
    assert code == 1
    assert "the file itself is in order; this is with r = 60.0 in SI [m] (the file has mm)." in err


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--t-end", "-1 s", "'-1 s' is not a time of 0 or more"),
        ("--output-step", "0", "'0' is not a time greater than 0"),
        ("--t-end", "2 kg", "[kg] is a mass, expected a time [s]"),
        ("--output-step", "nan", "'nan' is not a number with a unit"),
        ("--rtol", "2", "'2' is not less than 1"),
        ("--atol", "0", "'0' is not a number greater than 0"),
    ],
)
def test_times_and_tolerances_out_of_range(option, value, words, capsys):
    for verb in ("run", "validate"):
        code, out, err = told([verb, CRANK, f"{option}={value}"], capsys)
        assert (code, out) == (2, "")
        assert words in err


def test_times_take_units(tmp_path, capsys):
    path = tmp_path / "out.h5"
    arguments = ["run", CRANK, "-q", "-o", path, "--t-end", "50 ms", "--output-step", "0.01 s"]
    assert told(arguments, capsys)[0] == 0
    np.testing.assert_allclose(hdf5.read(path).time, np.arange(6) * 0.01, atol=1e-15)


def test_a_run_of_no_time_is_its_start(tmp_path, capsys):
    path = tmp_path / "r.h5"
    assert main(["run", str(CRANK), "-q", "-o", str(path), "--t-end", "0"]) == 0
    assert results.read(path).time.tolist() == [0.0]


def test_a_name_of_ten_thousand_letters_leaves_room_for_what_is_wrong_with_it(tmp_path, capsys):
    file = tmp_path / "long.toml"
    file.write_text(f"[bodies.{'b' * 10_000}]\nmass = 1\n", "utf-8")
    assert main(["check", str(file)]) == 1
    first = capsys.readouterr().err.splitlines()[0]
    assert "long.toml:1:1: error: bodies.bbb" in first and "at most 100 of them." in first
    assert len(first) < 600 + len(str(file))


def test_a_result_into_a_missing_folder_is_refused_before_the_run(tmp_path, capsys):
    folder = tmp_path / "none"
    code, out, err = told(["run", CRANK, "-o", folder / "x.h5"], capsys)
    assert (code, out) == (2, "")
    assert err == (
        f"vbg: -o {folder}/x.h5: cannot be written: there is no folder {folder}. "
        f"Make it first: mkdir -p '{folder}'.\n"
    )


def test_no_text_of_hdf5_reaches_the_user(tmp_path, capsys):
    table = tmp_path / "no.h5"
    table.write_text("time,angle\n")
    code, _, err = told(["plot", table, "A.angle"], capsys)
    assert code == 2 and "it is not an HDF5 file, or damaged" in err
    code, _, err = told(["animate", table, "-o", tmp_path / "a.html"], capsys)
    assert code == 2 and "it is not an HDF5 file, or damaged" in err
    code, _, err = told(["animate", tmp_path / "none.h5", "-o", tmp_path / "a.html"], capsys)
    assert code == 2 and err == f"vbg: {tmp_path}/none.h5: no such file.\n"
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["numbers"] = [1.0]
    code, _, err = told(["plot", other, "A.angle"], capsys)
    assert code == 2 and "something that vbg writes is missing" in err


@pytest.mark.parametrize(
    ("arguments", "error", "code"),
    [
        (["run", "none.toml"], "UsageError", 2),
        (["check", "none.toml"], "UsageError", 2),
        (["run", "EMPTY"], "ModelError", 1),
        (["run", CRANK, "--set", "r=-1"], "ModelError", 1),
        (["run", CRANK, "--t-end", "-1"], "UsageError", 2),
        (["show", "graph", CRANK, "--level", "zzz"], "UsageError", 2),
        (["fly"], "UsageError", 2),
    ],
)
def test_with_json_an_error_is_json_on_standard_output(arguments, error, code, tmp_path, capsys):
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    arguments = [empty if word == "EMPTY" else word for word in arguments]
    found, out, err = told([*arguments, "--json"], capsys)
    answer = json.loads(out)
    assert (found, err, answer["error"]) == (code, "", error)
    assert answer["message"]
    if error == "ModelError":
        assert answer["problems"][0]["severity"] == "error" and answer["problems"][0]["line"]


def test_an_empty_file_is_no_machine(tmp_path, capsys):
    path = tmp_path / "empty.toml"
    for text in ("", 'vbg = 1\nname = "nothing"\n', "# only a comment\n"):
        path.write_text(text)
        for verb in ("check", "run"):
            code, out, err = told([verb, path], capsys)
            assert (code, out) == (1, "")
            assert f"{path}:1:1: error: model: the model has no parts" in err and "vbg new" in err


def test_a_model_comes_from_standard_input(monkeypatch, capsys):
    text = CRANK.read_bytes()
    for verb in (["check"], ["run", "-q", "--t-end", "1 ms"], ["show", "graph"]):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        assert told([*verb, "-"], capsys)[0] == 0
    broken = text.replace(b'"revolute"', b'"revolut"')
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(broken)))
    code, _, err = told(["run", "-"], capsys)
    assert code == 1 and err.startswith("<stdin>:") and "'revolute'" in err


@pytest.fixture(scope="module")
def partial(tmp_path_factory):
    """A result file whose writer was killed: rows, no ending."""
    path = tmp_path_factory.mktemp("partial") / "cut.h5"
    assert main(["run", str(CRANK), "-q", "-o", str(path), "--t-end", "20 ms"]) == 0
    with h5py.File(path, "r+", libver="latest") as file:
        del file["ending"]
    return path


def test_a_partial_result_says_so(partial, tmp_path, capsys):
    code, out, err = told(["plot", partial, "A.angle"], capsys)
    assert code == 0 and "A.angle [rad]" in out
    assert "cut.h5 is partial" in err and "the rows reach t = 0.02 s" in err
    code, _, err = told(["animate", partial, "-o", tmp_path / "a.html"], capsys)
    assert code == 0 and "cut.h5 is partial" in err


def test_what_grew_beside_a_table_is_named(partial, tmp_path, capsys):
    shutil.copy(partial, tmp_path / "out.csv.part.h5")
    code, _, err = told(["plot", tmp_path / "out.csv", "A.angle"], capsys)
    assert code == 2 and "out.csv.part.h5" in err


@pytest.mark.slow
def test_unknown_signals_name_the_nearest(partial, capsys):
    code, _, err = told(["plot", partial, "A.angel"], capsys)
    assert code == 2 and "Nearest: A.angle" in err
    code, out, _ = told(["run", CRANK, "--t-end", "1 ms", "--signals", "A.forec"], capsys)
    assert code == 0 and "No signal matches 'A.forec'. Nearest: A.force" in out
    code, out, _ = told(["run", CRANK, "--t-end", "1 ms", "--signals", "A.zzz"], capsys)
    assert code == 0 and "Nearest: A.angle, A.speed" in out


def test_show_graph_opens_one_part_or_none(capsys):
    code, out, _ = told(["show", "graph", CRANK, "--level", "A"], capsys)
    assert code == 0 and "joints.A\n" in out and "joints.B\n" not in out
    code, out, _ = told(["show", "graph", CRANK, "--level", "word"], capsys)
    assert code == 0 and "joints.A --3--> bodies.crank" in out and "crank.v" not in out
    code, out, err = told(["show", "graph", CRANK, "--level", "zzz"], capsys)
    assert (code, out) == (2, "") and "levels are word, full, or one of crank" in err


def test_json_results_hold_the_whole_solution(tmp_path, capsys):
    kept = {}
    for ending in ("h5", "json"):
        path = tmp_path / f"out.{ending}"
        assert told(["run", CRANK, "-q", "-o", path, "--t-end", "5 ms"], capsys)[0] == 0
        kept[ending] = results.read(path)
    one, two = kept["h5"], kept["json"]
    assert list(one.signals) == list(two.signals) and one.units == two.units
    for name, values in one.signals.items():
        np.testing.assert_array_equal(two[name], values)
    assert two.status == one.status and two.made_by.model_hash == one.made_by.model_hash
    assert json.loads((tmp_path / "out.json").read_text())["units"]["A.force"] == "N"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.h5", "out.json"]
    code, out, _ = told(["plot", tmp_path / "out.json", "A.angle"], capsys)
    assert code == 0 and "A.angle [rad]" in out
    (tmp_path / "odd.json").write_text('{"vbg": 1}')
    code, _, err = told(["plot", tmp_path / "odd.json", "A.angle"], capsys)
    assert code == 2 and "not a result of vbg" in err


def test_a_reader_that_has_enough_ends_in_silence():
    command = f"{sys.executable} -m vbg.cli show graph {CRANK} | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.count("\n") == 1 and done.stderr == "" and done.returncode == 0


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("matplotlib", "draw", ["plot", "RESULT", "A.angle", "-o", "a.png"]),
        ("matplotlib", "draw", ["animate", "RESULT", "-o", "a.gif"]),
        ("sympy", "symbolic", ["show", "equations", CRANK]),
        ("pygraphviz", "draw", ["show", "structure", CRANK, "--diagram", "a.svg"]),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    package, extra, arguments, partial, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, package, None)
    words = [partial if word == "RESULT" else word for word in arguments]
    code, _, err = told(words, capsys)
    assert code == 2
    assert f"needs {package}. In the folder of vbg's README: " in err
    assert f"{sys.executable} -m pip install '.[{extra}]'" in err
    project = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text("utf-8"))["project"]
    assert extra in project["optional-dependencies"]


def test_a_pattern_means_whole_vectors_too(partial, capsys):
    code, out, _ = told(["run", CRANK, "--t-end", "1 ms", "--signals", "*.force"], capsys)
    assert code == 0 and "A.force.x" in out and "C.force.z" in out and "A.torque" not in out
    code, out, _ = told(["plot", partial, "A.for*"], capsys)
    assert code == 0 and "A.force.z [N]" in out


TWO = """
vbg = 1
[electric.one]
kind = "current_source"
nodes = ["a", "gnd"]
current = 1
[electric.two]
kind = "current_source"
nodes = ["gnd", "a"]
current = 2
"""


def test_a_conflict_of_causality_has_its_line_in_run_as_in_check(tmp_path, capsys):
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    for verb in ("check", "run"):
        code, out, err = told([verb, path], capsys)
        assert (code, out) == (1, "")
        assert re.match(rf"{path}:[37]:1: error: electric\.(one|two): ", err)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["runn", CRANK], "run"),
        (["show", "grap", CRANK], "graph"),
        (["run", CRANK, "--tend", "1"], "--t-end"),
        (["check", CRANK, "--quik"], "--quick"),
    ],
)
def test_a_wrong_verb_or_option_is_answered_with_the_nearest(words, meant, capsys):
    code, out, err = told(words, capsys)
    assert (code, out) == (2, "") and f"did you mean '{meant}'?" in err


def test_what_engineers_call_a_part_finds_it(capsys):
    for said, kind in (("hinge", "revolute"), ("battery", "voltage_source"), ("rope", "distance")):
        code, _, err = told(["parts", said], capsys)
        assert code == 2 and f"Did you mean '{kind}'?" in err
    kinds = {kind for table in catalogue().values() for kind in table}
    keys = {
        key for table in catalogue().values() for part in table.values() for key in declared(part)
    }
    known = kinds | keys | {*INERTIA_KEYS, *catalogue(), *TOP_LEVEL, *declared(Simulate)}
    assert {name for names in EVERYDAY.values() for name in names} <= known
    for word in {*catalogue(), *TOP_LEVEL} & set(EVERYDAY):
        assert not set(EVERYDAY[word]) & {*catalogue(), *TOP_LEVEL}
    assert not set(UNSPOKEN) & kinds
    code, _, err = told(["parts", "backlash"], capsys)
    assert code == 2 and "curve" in err


def test_a_run_tells_what_check_doubts(tmp_path, capsys):
    path = tmp_path / "loose.toml"
    body = "mass = 1\ninertia = { xx = 1, yy = 1, zz = 1 }\n"
    path.write_text(
        f"[bodies.a]\n{body}[bodies.b]\n{body}"
        '[joints.h]\nkind = "revolute"\nbetween = ["ground", "a"]\naxis = [0, 1, 0]\n'
    )
    code, out, _ = told(["run", path, "--t-end", "1 ms"], capsys)
    assert code == 0 and f"{path}:4:1: warning: bodies.b: no joint and no force is on" in out


def test_a_template_goes_to_standard_output(capsys):
    code, out, _ = told(["new", "pendulum", "-o", "-"], capsys)
    assert code == 0 and out == (EXAMPLES / "pendulum.toml").read_text("utf-8")


def test_a_quantity_that_reads_itself_is_told(tmp_path, capsys):
    path = tmp_path / "self.toml"
    load = '[electric.load]\nkind = "resistor"\nnodes = ["a", "gnd"]\nR = 2\n'
    source = TWO.split("[electric.two]")[0]
    path.write_text(source.replace("current = 1", 'current = "0.9*one.current"') + load)
    code, _, err = told(["check", path], capsys)
    assert code == 1
    assert f"{path}:3:1: error: electric.one: one.current is read where it is defined" in err


@pytest.mark.slow
def test_a_switch_without_value_ends_the_run_in_words(tmp_path, capsys):
    path = tmp_path / "switch.toml"
    path.write_text(machine("electric", "switch").replace("sin(20*t)", "sqrt(0.1 - t)"))
    code, out, _ = told(["run", path, "--t-end", "1"], capsys)
    assert code == 1 and "what switches has no value: S1" in out


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"<a>", b"", b'{"vbg": 1}', b"time\nx"])
@pytest.mark.parametrize(
    "words",
    [
        "run F.toml",
        "check F.toml",
        "show graph F.toml",
        "structure F.m",
        "import F.xml -o y.toml",
        "plot F.h5 x",
        "plot F.csv x",
        "plot F.json x",
        "animate F.h5 -o a.html",
    ],
)
def test_a_file_of_another_kind_is_refused_in_words(words, content, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = next(word for word in words.split() if word.startswith("F."))
    Path(name).write_bytes(content)
    code, _, err = told(words.split(), capsys)
    assert code in (1, 2) and name in err and "Traceback" not in err


def test_imported_parameters_take_units(tmp_path, capsys):
    printed = EXAMPLES.parent / "tests" / "io" / "mstmmsim" / "two_pendulum_as_printed.xml"
    out = tmp_path / "two.toml"
    assert told(["import", printed, "-o", out, "--set", "L=50 cm"], capsys)[0] == 0
    assert tomllib.loads(out.read_text("utf-8"))["parameters"]["L"] == 0.5
    code, _, err = told(["import", printed, "-o", out, "--force", "--set", "L=5 kgg"], capsys)
    assert code == 2 and "'kgg' is not a unit" in err


def test_an_import_does_not_write_over_a_model_unasked(tmp_path, capsys):
    out = tmp_path / "arm.toml"
    out.write_text("# changed by hand\n", "utf-8")
    arm = Path(__file__).parents[1] / "io/urdf/arm.urdf"
    words = ["import", str(arm), "-o", str(out)]
    code, _, err = told(words, capsys)
    assert (code, out.read_text("utf-8")) == (2, "# changed by hand\n")
    assert "arm.toml exists" in err and "--force" in err
    assert told([*words, "--force"], capsys)[0] == 0


def test_a_quiet_run_that_fails_says_why(tmp_path, capsys):
    path = tmp_path / "root.toml"
    pushed = '\n[forces.push]\nkind = "force"\non = "rod"\nforce = ["sqrt(0.05 - t)", 0, 0]\n'
    body = "[bodies.rod]\nmass = 1\ninertia = { xx = 1, yy = 1, zz = 1 }\n"
    path.write_text("vbg = 1\n" + body + pushed)
    assert main(["run", str(path), "-q", "--t-end", "0.1"]) == 1
    out, err = capsys.readouterr()
    assert not out and str(path) in err and "0.05" in err
