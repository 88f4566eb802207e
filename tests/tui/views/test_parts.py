"""Pieces with their own tests: explanations and fixes, jobs, runs, exports, templates."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
import tomllib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.tui.conftest import MODEL, put_run, recorded
from vbg import runner
from vbg.causality.causal import CausalGraph, Conflict, Reason
from vbg.draw.text.curves import Range
from vbg.draw.text.marks import UNICODE
from vbg.draw.text.rows import cells, plain, shortened
from vbg.edit.fixes import problems_in
from vbg.errors import UsageError
from vbg.graph.bondgraph import Bond, Vertex
from vbg.io.templates import templates as examples
from vbg.tui import make_app
from vbg.tui.actions.exporting import rows_svg
from vbg.tui.actions.model.adding import removed
from vbg.tui.content import why
from vbg.tui.content.results import plotting, validating
from vbg.tui.content.sketching import sketch
from vbg.tui.session import runs
from vbg.tui.session.kept import templates
from vbg.tui.session.runs import Run
from vbg.tui.session.solving.jobs import Job
from vbg.tui.state import graphing
from vbg.tui.state.graphing import GraphState

DATA = {
    "electric": {
        "U1": {"kind": "voltage_source", "nodes": ["a", "gnd"]},
        "U2": {"kind": "voltage_source", "nodes": ["a", "gnd"]},
    }
}


def clashing() -> GraphState:
    """Two voltage sources on one node."""
    vertices = {
        "U1.Se": Vertex("U1.Se", "Se", 1, "electric.U1"),
        "U2.Se": Vertex("U2.Se", "Se", 1, "electric.U2"),
        "a.0": Vertex("a.0", "0", 1, "electric.a"),
    }
    bonds = {
        name: Bond(name, tail, head, 1, "electric", "scalar")
        for name, tail, head in (("b1", "U1.Se", "a.0"), ("b2", "U2.Se", "a.0"))
    }
    both = tuple(bonds.values())
    incident = {"U1.Se": both[:1], "U2.Se": both[1:], "a.0": both}
    graph = SimpleNamespace(vertices=vertices, bonds=bonds, incident=incident)
    reasons = {"b1": Reason("U1.Se is an effort source")}
    conflict = Conflict(
        "b2",
        "a.0",
        "The 0-junction a.0 gets its effort twice: from U1.Se and from U2.Se.",
        Reason("U1.Se is an effort source", ("b1",)),
        Reason("U2.Se is an effort source"),
    )
    causal = CausalGraph(graph, {"b1": "head", "b2": "head"}, reasons, (), (), (), (), (conflict,))
    return graphing.drawn(GraphState("x", graph, causal, mark="electric.a", conflict=0))


def test_a_conflict_is_told_with_both_reasons_and_numbered_fixes():
    state = clashing()
    text = "\n".join(plain(why.why_rows(state, DATA, 70, UNICODE)))
    assert "gets its effort twice" in text
    assert "because U1.Se is an effort source" in text and "and U2.Se is" in text
    assert "1: " in text and "2: " in text and "delete electric.U1" in text
    assert any(vertex.style == "error" for vertex in state.drawing.vertices)


def test_a_fix_is_one_edit():
    text = "[electric.U1]\nkind = 'x'\n\n[electric.U2]\nkind = 'y'\n"
    state = clashing()
    found = why.fixes(state, state.conflicts[0], tomllib.loads(text))
    assert {fix.label for fix in found} == {"delete electric.U1", "delete electric.U2"}
    changed = found[0].as_one(text).change_text(text)
    assert len(tomllib.loads(changed)["electric"]) == 1


def test_a_part_opens_into_its_vertices_and_closes_again():
    state = clashing()
    count = len(state.drawing.vertices)
    opened = graphing.opened(state, "electric.U1")
    assert "U1.Se" in [vertex.key for vertex in opened.drawing.vertices]
    assert opened.mark == "U1.Se" and opened.marked_part == "electric.U1"
    closed = graphing.opened(opened, "electric.U1")
    assert len(closed.drawing.vertices) == count
    assert len(graphing.opened_all(state).drawing.vertices) == 3


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("revolute", 5),
        ("spherical", 3),
        ("fixed", 6),
        ("planar", 3),
        ("universal", 4),
        ("gear", None),
    ],
)
def test_the_preview_counts_what_a_joint_takes_away(kind, count):
    assert removed(kind) == count


def test_templates_are_models_and_start_with_the_smallest():
    found = templates.templates()
    assert [template.name for template in found[:2]] == ["pendulum", templates.EMPTY]
    for template in found:
        assert tomllib.loads(template.text)["vbg"] == 1


@pytest.mark.parametrize(
    "template",
    [t for t in templates.templates() if t.name != templates.EMPTY],
    ids=lambda t: t.name,
)
def test_every_template_has_a_drawing(template):
    rows = plain(sketch(template.text, str(template.file), 44, 16, UNICODE))
    assert len(rows) == 16 and all(cells(row) <= 44 for row in rows)
    assert not rows[0].startswith("no drawing")
    assert sum(not c.isspace() for row in rows for c in row) > 10


def test_templates_are_those_of_the_command_line_and_can_be_read(tmp_path):
    """With all that they need: matrices of finite elements, too."""
    found = {template.name: template for template in templates.templates()}
    assert {*found} == {*examples(), templates.EMPTY}
    matrices = 0
    for name, template in found.items():
        target = tmp_path / name / "mine.toml"
        target.parent.mkdir()
        templates.place(template, target)
        told = problems_in(target.read_text("utf-8"), str(target))
        errors = [problem for problem in told if problem.severity == "error"]
        assert bool(errors) == (name == templates.EMPTY), (name, errors)
        matrices += len(list(target.parent.glob("*.npy")))
    assert matrices > 0


def test_a_template_brings_the_files_it_includes(tmp_path):
    (tmp_path / "lib" / "parts").mkdir(parents=True)
    file = tmp_path / "lib" / "two.toml"
    file.write_text('vbg = 1\n[include.a]\nfile = "parts/one.toml"\n')
    (tmp_path / "lib" / "parts" / "one.toml").write_text("vbg = 1\n")
    template = templates.Template("two", "", file.read_text(), file)
    templates.place(template, tmp_path / "mine.toml")
    assert (tmp_path / "parts" / "one.toml").read_text() == "vbg = 1\n"
    templates.place(template, tmp_path / "mine2.toml")
    (tmp_path / "parts" / "one.toml").write_text("vbg = 2\n")
    with pytest.raises(UsageError, match="other content"):
        templates.place(template, tmp_path / "mine3.toml")
    assert not (tmp_path / "mine3.toml").exists()


def test_a_model_that_cannot_be_drawn_says_why():
    assert "no drawing" in plain(sketch("vbg = ", "m.toml", 40, 5, UNICODE))[0]


CHILD = """
import json, sys, time
def tell(**message): print(json.dumps(message), flush=True)
job = json.loads(sys.stdin.readline())
tell(kind="stage", stage="assembling")
if job["model"] == "dies":
    print("Traceback", file=sys.stderr); print("ValueError: no", file=sys.stderr); sys.exit(3)
if job["model"] == "fails":
    tell(kind="failed", error="ModelError", message="m.toml:3: no mass", problems=[]); sys.exit(1)
if job["model"] == "deaf":
    import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)
tell(kind="progress", fraction=0.5, time=1.0, eta=1.0)
if job["model"] == "obeys":
    assert json.loads(sys.stdin.readline()) == {"cmd": "cancel"}
    tell(kind="finished", status={"code": "cancelled", "sentence": "Cancelled.", "remedy": ""},
         audit={"events": []}, made_by={})
    sys.exit(0)
if job["model"] == "deaf": time.sleep(60)
tell(kind="finished", status={"code": "finished", "sentence": "Done.", "remedy": ""},
     audit={"events": [{"time": 0.5, "where": "forces.s", "what": "touches"}]}, made_by={})
"""


@pytest.mark.parametrize(
    ("behaviour", "cancel", "state", "words"),
    [
        ("works", False, "finished", "finished at t = 2 s"),
        ("fails", False, "failed", "m.toml:3: no mass"),
        ("dies", False, "failed", "ValueError: no"),
        ("obeys", True, "cancelled", "cancelled at t = 1 s"),
        ("deaf", True, "cancelled", "cancelled at t = 1 s"),
    ],
)
async def test_jobs_end_in_words_however_the_child_ends(
    tmp_path, monkeypatch, behaviour, cancel, state, words
):
    monkeypatch.setattr(runner, "command", lambda: [sys.executable, "-c", textwrap.dedent(CHILD)])
    monkeypatch.setattr("vbg.tui.session.solving.child.KILL_SECONDS", 0.3)
    seen: list[Run] = []
    run = Run(1, "vbg", "x", str(tmp_path / "r.h5"), t_end=2.0)
    job = Job(run, runner.Job(model=behaviour), seen.append)
    following = asyncio.create_task(job.follow())
    if cancel:
        while job.run.time < 1.0:
            await asyncio.sleep(0.01)
        await job.cancel()
        await job.cancel()
    ended = await following
    assert ended.state == state and words in ended.outcome
    assert job.child.process is not None
    await job.ending
    assert job.child.process.returncode is not None
    assert json.loads((tmp_path / "r.json").read_text())["state"] == state
    assert {r.state for r in seen} <= {"starting", "running", "cancelling", state}


def test_runs_are_listed_again_and_old_ones_go(model, monkeypatch):
    monkeypatch.setattr(runs, "KEPT", 3)
    for number in range(1, 6):
        put_run(model, number, "vbg")
    assert [run.number for run in runs.remembered(model)] == [3, 4, 5]
    assert len(list(runs.runs_folder(model).glob("*.h5"))) == 3
    (runs.runs_folder(model) / "0009-vbg.json").write_text("{broken")
    assert len(runs.remembered(model)) == 3
    number, file = runs.next_file(model, runs.remembered(model), "vbg")
    assert number == 6 and not file.exists()


def test_two_axes_by_unit_and_a_note_on_the_third():
    solution = recorded(0.0, "vbg")
    names = ("hinge.force.x", "hinge.angle", "rod.position.x")
    assert plotting.units_of(solution, names) == ("N", "rad", "m")
    picture = plotting.Picture(solution, names)
    text = "\n".join(plain(plotting.picture_rows(picture, 80, 20, UNICODE)))
    assert "left [N]   right [rad]" in text and "1 more unit" in text
    split = replace(picture, split=True)
    text = "\n".join(plain(plotting.picture_rows(split, 80, 30, UNICODE)))
    assert "[N]" in text and "[rad]" in text and "[m]" in text


def test_a_signal_over_another_is_a_path():
    """A circle crosses each column twice, and its inside stays empty."""
    t = np.linspace(0.0, 2 * np.pi, 400)
    solution = replace(
        recorded(0.0, "vbg"),
        time=t,
        signals={"a.x": np.cos(t), "a.y": np.sin(t)},
        units={"a.x": "m", "a.y": "m"},
    )
    picture = plotting.Picture(solution, ("a.y",), x="a.x", cursor=0.0)
    rows = plain(plotting.picture_rows(picture, 60, 24, UNICODE))
    assert "over a.x [m]" in rows[1] and rows[-1].split() == ["-1", "0", "1", "m"]
    body = [row.partition("│")[2] or row.partition("┤")[2] for row in rows[2:-1]]
    assert body[5].count(" ") > 25, "the inside is not filled"
    assert any("●" in row[-4:] for row in body), "the cursor is at (1, 0)"
    first_quarter = replace(picture, window=Range(0.0, np.pi / 2), cursor=None)
    cut = plain(plotting.picture_rows(first_quarter, 60, 24, UNICODE))
    assert "-1" not in "".join(cut[2:]), "only the times in sight"


def test_long_names_keep_their_last_part():
    assert shortened("crank.position.x", 12) == "crank.pos….x"
    assert shortened("crank.x", 12) == "crank.x"
    assert shortened("nodotatallinthis", 8) == "nodotat…"


def test_windows_about_events_are_joined():
    first = recorded(0.0, "vbg")
    assert validating.event_windows(first, first) == ((pytest.approx(0.68), pytest.approx(0.72)),)
    calm = SimpleNamespace(time=np.linspace(0, 1, 11), audit=SimpleNamespace(events=()))
    assert validating.event_windows(calm, calm) == ()


def test_pictures_escape_what_a_browser_would_interpret():
    words = {"": SimpleNamespace(color=None, bgcolor=None)}
    text = rows_svg(((("<script>&", ""),),), words)
    assert "&lt;script&gt;&amp;" in text and "<script>" not in text


def test_the_sample_model_of_these_tests_is_sound():
    from vbg.io import toml

    assert toml.parse(MODEL).bodies["rod"].mass == 1.0


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [("60 mm", 60, "mm"), ("60mm", 60, "mm"), ("2*M mm", "2*M", "mm"), ("3 N·m", 3, "N·m")],
)
async def test_a_value_typed_with_the_unit_of_its_field(tmp_path, text, value, unit):
    from vbg.tui.actions.model import editing
    from vbg.tui.content.model.fields import field_rows

    file = tmp_path / "demo.toml"
    file.write_text(MODEL.replace("L = 0.5", 'M = 2\nL = { value = 500, unit = "mm" }'))
    app = make_app(str(file))
    row = next(r for r in field_rows(app.work.data, ("parameters", "L")) if r.label == "value")
    assert editing._measured(app, row, text) == {"value": value, "unit": unit}
    assert editing.judge_value(app, row, text)[1]
