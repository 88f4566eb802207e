"""A validation is an object of its own: no other run ever enters its verdict."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import vbg
from tests.tui.conftest import MODEL, put_run, put_validation, recorded
from vbg.io import toml
from vbg.tmm_bridge.solver import simulate as transfer
from vbg.tui import make_app
from vbg.tui.actions.model.solids import LINK, body_of
from vbg.tui.content.results.validating import courses_of
from vbg.tui.picturing import press, screen_text, settled
from vbg.tui.session import validation as store
from vbg.validate import Evidence, verdict_on


def test_all_evidence_is_kept(tmp_path):
    """Every field of Evidence survives; one of a new type must be taught to the store."""
    first, second = recorded(0.0, "vbg"), recorded(1e-9, "mstmm")
    evidence = Evidence(
        first,
        second,
        coarser=recorded(1e-7, "mstmm"),
        replayed=frozenset({"b", "a"}),
        least=3e-6,
        notes=("one", "two"),
        rougher=recorded(1e-8, "vbg"),
    )
    kept = store.keep_evidence(evidence, str(tmp_path / "0001"), MODEL)
    back = store.evidence_of(kept, first, second)
    for f in fields(Evidence):
        was, now = getattr(evidence, f.name), getattr(back, f.name)
        if hasattr(was, "time"):
            np.testing.assert_array_equal(now["hinge.force"], was["hinge.force"])
            assert now.made_by == was.made_by and now.status == was.status
        else:
            assert type(now) is type(was) and now == was, f.name
    assert {f.name for f in fields(Evidence)} == {"first", "second", *kept}


async def test_a_later_run_leaves_the_verdict_alone(model):
    """The fault of an ordinary run, at whatever tolerances, is none of the validation's."""
    put_validation(model, put_run(model, 1, "vbg"), put_run(model, 2, "mstmm", seed=1e-9))
    put_run(model, 3, "vbg", seed=1e-2)
    put_run(model, 4, "mstmm", seed=-1e-2)
    app = make_app(str(model))
    async with app.run_test(size=(160, 48)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["5"])
        assert app.work.validate.verdict.result == "PASS"
        assert "run 1 bond graph" in screen_text(app) and "run 2 MSTMM" in screen_text(app)


async def test_two_ordinary_runs_are_no_validation(model):
    put_run(model, 1, "vbg")
    put_run(model, 2, "mstmm")
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["5"])
        assert "INCONCLUSIVE" in screen_text(app) and "R runs both solvers" in screen_text(app)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("# metres", "# of the rod", True),
        ("L = 0.5", "L = 0.51", False),
        ("t_end = 2.0", "t_end = 2.5", False),
        ("viscous = 0.05", "viscous = 0.04", False),
    ],
)
def test_a_verdict_is_on_a_machine_and_how_it_is_simulated(old, new, same):
    before = store.machine_of(toml.parse(MODEL, "a.toml"))
    after = store.machine_of(toml.parse(MODEL.replace(old, new), "b.toml"))
    assert (before == after) is same


async def test_the_verdict_follows_undo_and_its_settings_are_kept(model):
    put_validation(model, put_run(model, 1, "vbg"), put_run(model, 2, "mstmm", seed=1e-3))
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["5"])
        assert app.work.validate.verdict.result == "FAIL"
        await press(app, pilot, ["t", *"0.01", "enter"])
        assert app.work.validate.verdict.result == "PASS"
        app.select(("bodies", "rod"))
        await press(app, pilot, ["1", "c", "5"])
        assert app.work.validate.verdict is None, "the model is another one"
        await press(app, pilot, ["u"])
        await press(app, pilot, ["5"])
        assert app.work.validate.verdict.result == "PASS"
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["5"])
        assert app.work.validate.verdict.result == "PASS"
        assert app.work.validate.settings.tolerance == 0.01


async def test_a_removed_run_takes_its_validation_along(model):
    put_validation(model, put_run(model, 1, "vbg"), put_run(model, 2, "mstmm"))
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["5", "3", "d"])
        assert "its validation goes with it" in screen_text(app)
        await press(app, pilot, ["escape"])
        assert len(app.work.runs) == 2, "Esc removes nothing"
        await press(app, pilot, ["d", "enter", "5"])
        assert [run.number for run in app.work.runs] == [1]
        assert app.work.validate.verdict is None
        assert not list(store.folder_of(model).glob("0001*"))


HINGE = {"kind": "revolute", "axis": [0, 1, 0]}


def test_what_is_put_together_from_forces_is_drawn():
    """A loop in a plane leaves forces across it open; its channels in joint axes have courses,
    whose largest difference is the verdict's."""
    model = vbg.Model(
        bodies={
            name: {"mass": 1.0, **body_of(LINK, {"length": length, "radius": 0.01})}
            for name, length in (("crank", 0.05), ("rod", 0.15), ("slider", 0.04))
        },
        joints={
            "A": {**HINGE, "between": ["ground", "crank.A"], "initial": {"angle": 0.4}},
            "B": {**HINGE, "between": ["crank.B", "rod.A"]},
            "C": {**HINGE, "between": ["rod.B", "slider"]},
            "guide": {"kind": "prismatic", "between": ["ground", "slider"], "axis": [1, 0, 0]},
        },
        simulate={"t_end": 0.05},
    )
    first, second = vbg.simulate(model), transfer(model)
    verdict = verdict_on(Evidence(first, second, model=model))
    made = [c for c in verdict.channels if c.name not in first and c.result == "PASS"]
    assert made
    for channel in made:
        courses = courses_of(first, second, channel, verdict, model)
        assert courses is not None
        (time, a), (_, b) = courses
        assert len(time) == len(a) and np.abs(a - b).max() == pytest.approx(channel.max_error)
        assert courses_of(first, second, channel, verdict, None) is None
