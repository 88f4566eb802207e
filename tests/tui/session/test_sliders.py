"""Numbers on sliders: round steps between their ends, units kept, one undo step, the newest run."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tui.conftest import MODEL
from vbg.tui import make_app
from vbg.tui.content.model import sliding
from vbg.tui.picturing import press, screen_text, settled, typed


@pytest.mark.parametrize("seed", range(20))
def test_places_and_values_belong_to_each_other_at_every_scale(seed):
    rng = np.random.default_rng(seed)
    value = float(rng.choice([-1, 1]) * 10 ** rng.uniform(-9, 9))
    ends = sliding.ends_about(value)
    assert ends.low < value < ends.high or ends.low <= value <= ends.high
    step = sliding.step_of(ends)
    assert 50 <= (ends.high - ends.low) / step <= 130
    for part in rng.uniform(0, 1, 5):
        there = sliding.at_place(ends, part)
        assert abs(sliding.place_of(ends, there) - part) <= 0.51 * step / (ends.high - ends.low)
        assert len(f"{there:.12g}".strip("-0.").replace(".", "").split("e")[0].strip("0")) <= 4
    wide = sliding.widened(ends, 10 * value)
    assert wide.low <= 10 * value <= wide.high


@pytest.mark.parametrize(
    ("value", "number", "other"),
    [
        (40, 40.0, 41),
        (0.5, 0.5, 41.0),
        ("40 mm", 40.0, "41 mm"),
        ("-1.2e3 N/m", -1200.0, "41 N/m"),
        ("7", 7.0, "41"),
    ],
)
def test_a_number_keeps_what_stands_behind_it(value, number, other):
    assert sliding.number_of(value) == number
    assert sliding.with_number(value, 41.0) == other


@pytest.mark.parametrize("value", ["2*L", "L", True, None, [1.0], float("nan"), "1 + 2"])
def test_expressions_have_no_slider(value):
    assert sliding.number_of(value) is None


async def test_a_slider_runs_the_machine_as_it_moves(model):
    """Steps by keys, a click on the line, one undo step; the curves are those of the last."""
    model.write_text(MODEL.replace("L = 0.5   # metres", 'L = { value = 500, unit = "mm" }'))
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["r"])
        await settled(app, pilot)
        await press(app, pilot, ["4", "L"])
        assert "Live" in screen_text(app) and "500 mm" in screen_text(app)
        assert app.main.active == "sliders"
        await typed(app, "right", "right", "left", "right")
        await _ended(app, pilot)
        assert app.work.data["parameters"]["L"] == {"value": 520, "unit": "mm"}
        assert app.work.document.undo_label.startswith("set parameters.L.value 500")
        assert len(app.work.runs) == 2 and app.work.plot.run == app.work.runs[1].number
        assert app.work.plot.overlay == app.work.runs[0].number, "the run before the first step"
        pane = app.main.panes["sliders"]
        room = pane.room(pane.inner[0])
        pane.clicked(19 + room - 1, 0)
        await _ended(app, pilot)
        assert app.work.data["parameters"]["L"]["value"] == 1000, "at its upper end"
        await press(app, pilot, ["u"])
        assert "value = 500" in app.work.document.now.text
        await press(app, pilot, ["L"])
        assert "sliders" not in app.main.rects
    app.solver.drop()
    await app.solver.process.wait()


async def _ended(app, pilot):
    """Wait for the run of the last step."""
    await pilot.pause()
    while app.work.nudges.running or app.job is not None:
        await pilot.pause(0.05)
    await settled(app, pilot)
