"""What a verb says of the files it writes, refuses to write, or was given by mistake."""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

import vbg
from vbg.cli.main import main
from vbg.cli.output import size
from vbg.cli.verbs.animate import kept_model
from vbg.errors import ModelError
from vbg.io.runs import hdf5

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = str(EXAMPLES / "pendulum.toml")
STUDY = ["--t-end", "10 ms", "--vary", "L=1:2:2", "--measure", "final(hinge.angle)"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, a short result of it, one of another model, and wrong files."""
    folder = tmp_path_factory.mktemp("outputs")
    for name in ("pendulum", "two-link-robot"):
        model = vbg.read(EXAMPLES / f"{name}.toml")
        system = vbg.assemble(model)
        solution = vbg.simulate(system, t_end=0.02, output_step=0.01)
        hdf5.write(solution, folder / f"{name}.h5", Path(model.path).read_text())
    (folder / "empty.csv").write_text("")
    (folder / "empty.h5").write_text("")
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00\x81" * 100)
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00\x81" * 100)
    (folder / "model.csv").write_text(Path(MODEL).read_text())
    (folder / "hdf5.toml").write_bytes((folder / "pendulum.h5").read_bytes())
    (folder / "here").mkdir()
    return folder


def said(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("words", "name", "what"),
    [
        (["show", "graph", MODEL, "-o"], "g.dot", r"bond graph of \d+ vertices"),
        (["show", "structure", MODEL, "--diagram"], "d.dot", "structural diagram"),
        (["plot", "R", "hinge.force", "-o"], "p.svg", "plot of 3 curves"),
        (["plot", "R", "hinge.angle", "-o"], "p1.svg", "plot of 1 curve"),
        (["animate", "R", "-o"], "a.html", "film of 3 pictures"),
        (["run", MODEL, "--t-end", "10 ms", "-o"], "r.csv", r"result, \d+ outputs"),
        (["sweep", MODEL, *STUDY, "-o"], "s.csv", "table of 2 runs"),
        (["new", "pendulum", "-o"], "n.toml", "model from the template pendulum"),
    ],
)
def test_what_was_written_is_told_with_its_size(words, name, what, folder, capsys):
    words = [folder / "pendulum.h5" if word == "R" else word for word in words]
    code, _, err = said(capsys, *words, folder / name)
    assert code == 0
    path = re.escape(str(folder / name))
    assert re.search(rf"^wrote {path} \({what}, [\d.]+ (B|kB|MB)\)$", err, re.MULTILINE), err


def test_sizes_as_one_reads_them():
    told = [size(n) for n in (0, 999, 1000, 42_345, 999_400, 1_300_000, 2_500_000_000)]
    assert told == ["0 B", "999 B", "1 kB", "42 kB", "999 kB", "1.3 MB", "2.5 GB"]


OUTPUTS = [
    (["show", "graph", MODEL, "-o"], ".svg"),
    (["show", "structure", MODEL, "--graph"], ".svg"),
    (["plot", "R", "hinge.angle", "-o"], ".svg"),
    (["animate", "R", "-o"], ".html"),
    (["run", MODEL, "-o"], ".h5"),
    (["sweep", MODEL, *STUDY, "-o"], ".csv"),
    (["sweep", MODEL, *STUDY, "--plot"], ".svg"),
    (["new", "pendulum", "-o"], ".toml"),
    (["optimise", MODEL, *STUDY, "-o"], ".csv"),
]


@pytest.mark.parametrize(("words", "ending"), OUTPUTS)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(words, ending, folder, capsys):
    words = [folder / "pendulum.h5" if word == "R" else word for word in words]
    code, out, err = said(capsys, *words, folder / "none" / f"x{ending}")
    assert code == 2 and not out
    assert f"there is no folder {folder}/none. Make it first: mkdir -p" in err
    (folder / f"taken{ending}").mkdir(exist_ok=True)
    code, out, err = said(capsys, *words, folder / f"taken{ending}")
    assert code == 2 and not out and "it is a folder" in err
    if ending != ".toml":
        code, out, err = said(capsys, *words, folder / "x.odd")
        assert code == 2 and not out and "the name must end in" in err


def test_a_report_cannot_go_into_a_file(folder, capsys):
    code, _, err = said(capsys, "validate", MODEL, "-o", folder / "empty.csv")
    assert code == 2 and "is a file; name a folder" in err


READERS = [
    ["check"],
    ["run"],
    ["validate"],
    ["show", "graph"],
    ["show", "structure"],
    ["show", "transfer"],
    ["sweep", *STUDY],
]


@pytest.mark.parametrize("verb", READERS, ids=lambda verb: " ".join(verb[:2]))
def test_what_is_no_model_is_told_alike_by_every_verb(verb, folder, capsys):
    words, options = verb[:2] if verb[0] == "show" else verb[:1], verb[1:]
    options = [] if verb[0] == "show" else options
    for name, message in (
        ("here", "here is a folder; name the model file in it."),
        ("none.toml", "none.toml: no such file. `vbg new` writes one to start from."),
        ("hdf5.toml", "hdf5.toml is a result, not a model file; `vbg plot` and"),
        ("binary.toml", "byte 1 is not UTF-8 text."),
    ):
        code, out, err = said(capsys, *words, folder / name, *options)
        assert code in (1, 2) and not out
        assert message in err and "Traceback" not in err


@pytest.mark.parametrize("verb", ["plot", "animate"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("here", "result files end in .h5"),
        ("pendulum.toml", "result files end in .h5"),
        ("empty.h5", "it is not an HDF5 file, or damaged"),
        ("empty.csv", "the first column must be 'time'; it is empty."),
        ("binary.csv", "no result: it is not text."),
        ("model.csv", "the first column must be 'time'; found"),
    ],
)
def test_what_is_no_result_is_told(verb, name, message, folder, capsys):
    options = ["hinge.angle"] if verb == "plot" else ["-o", folder / "no.html"]
    code, out, err = said(capsys, verb, folder / name, *options)
    assert code == 2 and message in err and not out


def test_results_of_another_model(folder, capsys):
    mine, other = folder / "pendulum.h5", folder / "two-link-robot.h5"
    code, _, err = said(capsys, "plot", mine, "hinge.angle", "--with", other)
    assert code == 2
    assert f"{other} has no signal 'hinge.angle'" in err
    assert f"{other} is a run of another model than {mine}." in err
    robot = EXAMPLES / "two-link-robot.toml"
    code, _, err = said(capsys, "animate", mine, "--model", robot, "-o", folder / "no.html")
    assert code != 0 and "it was not made by" in err


def test_plot_without_signals_names_some(folder, capsys):
    code, _, err = said(capsys, "plot", folder / "pendulum.h5")
    assert code == 2 and "'*.angle' takes all angles" in err and "rod.position, rod.velocity" in err


def test_a_result_keeps_the_parameters_it_was_run_with(folder, capsys):
    path = folder / "long.h5"
    assert main(["run", MODEL, "--t-end", "1 ms", "--set", "L=2", "-q", "-o", str(path)]) == 0
    assert capsys.readouterr() == ("", "")
    assert vbg.io.toml.parse(hdf5.read_model(path)).parameters["L"] == 2.0


def test_no_words_give_the_help_and_wrong_ones_the_nearest(capsys):
    for words in ([], ["show"]):
        code, out, _ = said(capsys, *words)
        assert code == 0 and out.startswith("usage: vbg")
    for words, message in (
        (["rnu", "x"], "there is no verb 'rnu'; did you mean 'run'?"),
        (["show", "grph"], "there is no view 'grph'; did you mean 'graph'?"),
        (["qwertz"], "there is no verb 'qwertz'; there are new, parts, check, run,"),
        ([MODEL], f"there is no verb '{MODEL}'; to run a model file: vbg run {MODEL}"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(words)
        assert message in capsys.readouterr().err


def test_every_help_has_an_example_that_can_be_parsed():
    """The examples of every --help are words that the parser takes."""
    import shlex

    from vbg.cli.main import build_parser
    from vbg.cli.parser import Misused

    top = build_parser()

    def all_below(parser):
        for below in parser.verbs.values():
            yield below
            yield from all_below(below)

    for parser in all_below(top):
        assert parser.epilog.startswith("examples:\n  vbg "), parser.prog
        for line in parser.epilog.splitlines()[1:]:
            command = re.split(" [<>] ", line)[0].split(" | ")
            for one in (c for c in command if c.strip().startswith("vbg ")):
                words = shlex.split(one)[1:]
                try:
                    top.parse_args([w for w in words if w not in ("and", "in")][:20])
                except Misused as misuse:
                    pytest.fail(f"{parser.prog}: {line.strip()}: {misuse}")


def test_an_interrupted_verb_says_how_far_it_came_and_ends_with_130(folder, monkeypatch, capsys):
    def interrupted(*_, progress=None, **__):
        if progress is not None:
            progress("vbg", 0.4)
        raise KeyboardInterrupt

    monkeypatch.setattr("vbg.validate.validate", interrupted)
    code, out, err = said(capsys, "validate", MODEL)
    assert code == 130 and not out
    assert "vbg: stopped. bond graph at 40 %. No verdict." in err

    def best_of_three(study, ranges, results, *, progress, **_):
        from vbg.analysis.studies.table import Row

        with results:
            for length in (1.0, 1.5, 2.0):
                results.add(Row((("L", length),), ((length - 1.4) ** 2,), "finished", ""))
        raise KeyboardInterrupt

    monkeypatch.setattr("vbg.analysis.studies.optimise.optimise", best_of_three)
    code, out, err = said(capsys, "optimise", MODEL, *STUDY, "-o", folder / "opt.csv")
    assert code == 130 and "L = 1.5" in out
    assert f"stopped after 3 runs, before the search had converged. They are in {folder}" in err

    monkeypatch.setattr("vbg.draw.page.write_page", interrupted)
    monkeypatch.setattr("vbg.draw.movie.write_movie", interrupted)
    result = folder / "pendulum.h5"
    for name in ("cut.html", "cut.gif"):
        code, _, err = said(capsys, "animate", result, "-o", folder / name)
        assert code == 130 and "vbg: stopped." in err


def test_the_console_script_ends_with_130_too(tmp_path):
    """The whole process, as a shell sees it."""
    script = (
        "import vbg.cli.entry, vbg.cli.main as m;"
        " m.build_parser = lambda: (_ for _ in ()).throw(%s); vbg.cli.entry.run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script % "KeyboardInterrupt()"], capture_output=True, text=True
    )
    assert done.returncode == 130 and "Traceback" not in done.stderr


def test_an_interrupt_within_an_import_ends_with_130_too(tmp_path):
    """Within exec of a text, as dataclasses are made, the interpreter remembers it."""
    code = (
        "import vbg.cli.main as verbs\n"
        "def main():\n"
        "    try:\n"
        "        exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt:\n"
        "        return 130\n"
        "verbs.main = main\n"
        "from vbg.cli.entry import run\n"
        "run()\n"
    )
    (tmp_path / "interrupted.py").write_text(code)
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert done.returncode == 130


def test_a_result_away_from_what_its_model_reads(tmp_path, monkeypatch):
    """The matrices of a flexible body stay where they were: the remedy is the model's own file."""
    ladder = Path(__file__).parents[2] / "examples" / "finite-elements" / "ladder.toml"
    monkeypatch.setattr("vbg.io.runs.hdf5.read_model", lambda file: ladder.read_text("utf-8"))
    given = Namespace(model=None, file=str(tmp_path / "ladder.h5"), parameters=[])
    with pytest.raises(ModelError, match="give --model") as told:
        kept_model(given)
    assert "ladder-M.npy" in str(told.value)
    given.model = str(ladder)
    assert "ladder" in kept_model(given).bodies


def test_a_report_begins_with_loads_and_ends_with_the_audit(capsys):
    """Joint forces and pressures before what bodies do, every signal once."""
    code, out, _ = said(capsys, "run", EXAMPLES / "hydraulic-arm.toml", "--t-end", "10 ms", "--all")
    rows = out.split("unit\n")[1].split("\n\n")[0].splitlines()
    units = [row.split()[-1] for row in rows]
    names = [row.split()[0] for row in rows]
    assert code == 0 and len(set(names)) == len(names)
    loads = [unit in ("N", "N*m", "Pa") for unit in units]
    assert loads == sorted(loads, reverse=True) and sum(loads) > 5 and "Pa" in units
    bodies = [".position" in name or ".velocity" in name for name in names]
    audit = [name.startswith(("residual.", "energy.")) for name in names]
    places = [2 * end + (body and not end) for body, end in zip(bodies, audit, strict=True)]
    assert max(k for k, place in enumerate(places) if place == 1) < audit.index(True)
    assert places.index(1) > max(k for k, load in enumerate(loads) if load)
    assert audit == sorted(audit)
