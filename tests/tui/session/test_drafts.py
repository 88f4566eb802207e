"""A part that was being made when Esc was pressed is kept and taken up again."""

from __future__ import annotations

from vbg.tui import make_app
from vbg.tui.picturing import press, screen_text, settled


def new_body(app):
    (name,) = set(app.work.data["bodies"]) - {"rod"}
    return app.work.data["bodies"][name]


async def test_a_half_made_part_is_kept_and_taken_up(model):
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        before = app.work.document.now.text
        await press(app, pilot, ["a", "b", "enter"])  # a body: its mass, 1
        await press(app, pilot, ["escape"])
        assert app.work.document.now.text == before
        assert "body not added; its answer is kept: add a body again to go on" in screen_text(app)

        await press(app, pilot, ["a", "b"])
        assert "A half-made body was kept" in screen_text(app)
        assert "mass = 1" in screen_text(app)
        await press(app, pilot, ["escape"])
        assert app.work.drafts, "a second Esc loses nothing either"

        await press(app, pilot, ["a", "b", "enter"])
        assert "body: inertia" in screen_text(app), "the mass is not asked again"
        await press(app, pilot, ["enter", "escape"])
        assert "its 2 answers are kept" in screen_text(app)
        await press(app, pilot, ["a", "b", "enter", "enter"])
        await settled(app, pilot)
        assert new_body(app)["mass"] == 1
        assert not app.work.drafts
        await press(app, pilot, ["u"])
        assert app.work.document.now.text == before, "one step takes all of it back"


async def test_it_can_be_started_anew_and_esc_before_an_answer_keeps_nothing(model):
    app = make_app(str(model))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["a", "b", "escape"])
        assert not app.work.drafts and "kept" not in screen_text(app)
        await press(app, pilot, ["a", "b", "7", "enter", "escape"])
        assert app.work.drafts["bodies", "body"]["mass"] != 1
        await press(app, pilot, ["a", "b", "down", "enter"])
        assert "body: mass" in screen_text(app)
        await press(app, pilot, ["enter", "enter", "enter"])
        await settled(app, pilot)
        assert new_body(app)["mass"] == 1
