"""Maps over parameters and optimisations: drawn, watched, cancelled, taken into the model."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.tail import tail
from tests.tui.conftest import MODEL
from vbg.draw.text.rows import cells, plain
from vbg.tui import make_app
from vbg.tui.content.results import mapping
from vbg.tui.dialogs import watch
from vbg.tui.picturing import press, screen_text, settled, typed
from vbg.tui.session.solving.study import Study, StudyJob, Tried
from vbg.tui.session.solving.studying import Order

ORDER = Order("m.toml", "", ("a=0:1:5", "b=0:1:4"), "max(J.force)", "grid", 100, "")
MACHINE = MODEL.replace("L = 0.5   # metres", 'L = { value = 500, unit = "mm" }\nM = 1.0').replace(
    "mass = 1.0", 'mass = "M"'
)


def bowl(count: tuple[int, int], scale: float = 1.0) -> Study:
    """Points of a bowl whose floor is at (0.5, 1/3)."""
    points = [
        (float(x), float(y))
        for x in np.linspace(0, 1, count[0])
        for y in np.linspace(0, 1, count[1])
    ]
    tried = tuple(Tried(p, scale * ((p[0] - 0.5) ** 2 + (p[1] - 1 / 3) ** 2)) for p in points)
    return Study(ORDER, ("a", "b"), ("mm", ""), tried, len(tried), "finished")


def digits(study: Study) -> list[list[int]]:
    rows = plain(mapping.map_rows(study, 40))[1:-2]
    return [[int(c) for c in row.split()[1:] for c in c if c.isdigit()] for row in rows]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_map_says_its_values_without_colour(scale):
    """Digits grow with the measure, whatever its size; upwards is the second parameter."""
    study = bowl((5, 4), scale)
    seen = digits(study)
    assert np.shape(seen) == (4, 5)
    values = {t.point: t.value for t in study.tried}
    xs, ys = sorted({p[0] for p in values}), sorted({p[1] for p in values}, reverse=True)
    flat = [(values[x, y], seen[i][j]) for i, y in enumerate(ys) for j, x in enumerate(xs)]
    flat.sort()
    assert [level for _, level in flat] == sorted(level for _, level in flat)
    assert flat[0][1] == 0 and flat[-1][1] == 9
    assert "[0]" in plain(mapping.map_rows(study, 40))[3], "the smallest is framed where it is"


def test_points_that_fail_or_are_to_come_have_their_own_marks():
    study = bowl((5, 4))
    tried = (replace(study.tried[0], value=None, reason="locked"), *study.tried[1:-1])
    text = "\n".join(plain(mapping.map_rows(replace(study, tried=tried), 40))[:-1])
    assert len(re.findall(r" x\s", text)) == 1 and len(re.findall(r" \.$", text, re.M)) == 1


@pytest.mark.parametrize("width", [40, 58, 118])
@pytest.mark.parametrize("method", ["grid", "nelder-mead"])
def test_rows_fit_their_room(width, method):
    study = replace(bowl((9, 7)), order=replace(ORDER, method=method, measure="max(J.force)" * 4))
    rows = mapping.study_rows(study, width, 16)
    assert len(rows) <= 16
    assert all(cells(row) <= width for row in plain(rows)[:2])


def test_an_optimisation_tells_each_better_point():
    """Every row but the last is smaller than the one before it."""
    values = np.random.default_rng(1).uniform(size=60)
    tried = tuple(Tried((float(i),), float(v)) for i, v in enumerate(values))
    order = replace(ORDER, method="nelder-mead")
    rows = plain(mapping.point_rows(Study(order, ("a",), ("",), tried, 60), 80, 30))
    told = [float(row.split()[-1]) for row in rows[1:-1]]
    assert told == sorted(told, reverse=True) and len(told) >= 2
    assert np.isclose(told[-1], values.min(), rtol=1e-4)


def test_values_of_a_measure_stand_with_its_unit():
    study = replace(bowl((5, 4)), unit="N*cm")
    text = "\n".join(plain(mapping.study_rows(study, 80, 24)))
    assert f"smallest {ORDER.measure} = " in text and " N*cm at a = " in text
    assert "0 is 0 N*cm, 9 is " in text
    assert plain(mapping.point_rows(study, 80, 30))[0].endswith(f"{ORDER.measure} [N*cm]")


@pytest.mark.slow
async def test_what_cannot_be_studied_is_said_in_the_field(model):
    model.write_text(MACHINE)
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["M", "enter"])
        assert "L=250 mm:750 mm:7, M=0.5:1.5:7" in screen_text(app)
        for text, said in (("Q=1:2:3", "is no parameter"), ("L=1 kg:2 m:3", "length")):
            await typed(app, "ctrl+u", *("space" if c == " " else c for c in text))
            await settled(app, pilot)
            assert said in " ".join(screen_text(app).split()), text
        await press(app, pilot, ["escape"])


@pytest.mark.parametrize("method", tail(["grid", "nelder-mead"], 0))
async def test_a_study_is_watched_and_its_best_taken(model, method, monkeypatch):
    """By a child process; one undo step; the table is what `vbg plot` reads.

    Its end is seen without a tick of the watch.
    """
    monkeypatch.setattr(watch, "SECONDS", 3600.0)
    model.write_text(MACHINE)
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["M", *(["down"] if method != "grid" else []), "enter"])
        ranges = "L=400 mm:600 mm:3,M=1:2:2" if method == "grid" else "L=400 mm:600 mm"
        await typed(app, "ctrl+u", *("space" if c == " " else c for c in ranges), "enter")
        await settled(app, pilot)
        await typed(app, "ctrl+u", *"max(abs(hinge.angle))", "enter")
        await settled(app, pilot)
        study = app.work.study
        assert study is not None and study.state == "finished", study
        assert "smallest max(abs(hinge.angle))" in screen_text(app)
        if method == "grid":
            assert len(study.tried) == 6 and "[0]" in screen_text(app)
        best = study.best
        assert best is not None and 400 <= best.point[0] <= 600
        await press(app, pilot, ["g"])
        data = tomllib.loads(app.work.document.now.text)
        assert np.isclose(data["parameters"]["L"]["value"], best.point[0], rtol=1e-8)
        await press(app, pilot, ["u"])
        assert app.work.document.now.text == MACHINE
        await press(app, pilot, ["M", "enter", "c"])
        assert (model.parent / "study.csv").read_text().startswith("study,L")


@pytest.mark.slow
async def test_a_study_is_cancelled_and_keeps_its_points(model):
    """Its child is gone; a map of other points takes those that are in the table, and no more."""
    model.write_text(MACHINE)
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        for points in (400, 3):
            await press(app, pilot, ["M", *(["down"] if points == 3 else []), "enter"])
            ranges = f"L=400 mm:600 mm:{points}"
            await typed(app, "ctrl+u", *("space" if c == " " else c for c in ranges), "enter")
            while "Which measure" not in screen_text(app):
                await pilot.pause(0.05)
            await typed(app, "ctrl+u", *"max(abs(hinge.angle))", "enter")
            if points == 3:
                break
            while app.work.study is None or len(app.work.study.tried) < 2:
                await pilot.pause(0.05)
            job = app.job
            await typed(app, "x", "escape")
            await settled(app, pilot)
            assert app.work.study.state == "cancelled"
            assert isinstance(job, StudyJob) and job.child.process is not None
            assert job.child.process.returncode is not None
            first = app.work.study.tried
        await settled(app, pilot)
        study = app.work.study
        assert study is not None and study.state == "finished"
        assert [one.point[0] for one in study.tried] == [400, 500, 600]
        assert study.tried[0] == first[0]
        rows = Path(study.table).read_text().splitlines()[1:]
        assert len(rows) == len({row.split(",")[1] for row in rows}), "no point was run twice"
