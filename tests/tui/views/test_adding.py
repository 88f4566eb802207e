"""New parts: every table is seen and can be added to; bodies by dimensions; what names what."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.tui.conftest import MODEL
from vbg.model.catalogue import TABLES
from vbg.tui import make_app
from vbg.tui.actions.model.adding import HANDLERS
from vbg.tui.actions.model.solids import LINK, body_of, part_of
from vbg.tui.content.model.fields import field_rows
from vbg.tui.content.model.references import end_items, place_items, renamed, users_of
from vbg.tui.content.model.tree import TITLES, tree_rows
from vbg.tui.picturing import press, settled


def test_every_table_has_a_heading_and_can_be_added_to():
    added = {h.args[0] for h in HANDLERS.values() if hasattr(h, "args")}
    assert added == set(TABLES)
    assert set(TITLES) >= {*TABLES, "parameters", "include", "ports", "measures"}
    data = {table: {"part": {"kind": "x"}} for table in TITLES}
    shown = {row.path[0] for row in tree_rows(data) if len(row.path) == 2}
    assert shown == set(TITLES)


@pytest.mark.parametrize("length", [0.3, "300 mm", "L", "2*L + 10 mm"])
def test_a_link_is_a_rod_between_its_points(length):
    """Mass spread evenly over a cylinder: m (3 r^2 + l^2) / 12 across, ends at half its length."""
    model = vbg.Model(
        parameters={"L": 0.145 if "2" in str(length) else 0.3},
        bodies={"a": {"mass": 2.0, **body_of(LINK, {"length": length, "radius": 0.01})}},
    )
    body = model.bodies["a"]
    assert body.inertia[:3] == pytest.approx([1e-4, (3e-4 + 0.09) / 6, (3e-4 + 0.09) / 6])
    assert body.points["A"] == pytest.approx([-0.15, 0, 0])
    assert body.points["B"] == pytest.approx([0.15, 0, 0])


def test_a_share_of_a_length_keeps_its_unit():
    assert part_of(0.5, -0.5) == -0.25
    assert part_of("L", 0.5) == "0.5*L"
    assert part_of("30 mm", -0.5) == "-15 mm"
    assert part_of("2*L - 10 mm", 0.5) == "0.5*(2*L) + -5 mm"


BEAM = {
    "bodies": {"hub": {"points": {"P": [0, 0, 0]}}},
    "beams": {"blade": {"between": ["hub.P", "free"]}},
    "joints": {"pin": {"kind": "revolute", "between": ["ground", "blade.B"]}},
    "measures": {"top": "max(pin.speed)", "share": {"expression": "final(hub.speed)", "unit": "1"}},
}


def test_beams_and_measures_name_parts():
    """What is renamed is renamed in them, what is deleted has them as its users."""
    assert users_of(BEAM, ("bodies", "hub")) == (
        ("beams", "blade", "between", 0),
        ("measures", "share", "expression"),
    )
    assert dict(renamed(BEAM, ("joints", "pin"), "axle")) == {
        ("measures", "top"): "max(axle.speed)"
    }
    assert dict(renamed(BEAM, ("beams", "blade"), "wing")) == {
        ("joints", "pin", "between", 1): "wing.B"
    }


def test_ends_are_points_beams_and_places_of_ones_own():
    keys = [item.key for item in end_items(BEAM, [])]
    assert keys == ["ground", "hub", "hub.P", "blade.A", "blade.B"]
    ground = {"body": "ground", "at": [0, 0, 1]}
    assert [item.key for item in place_items(BEAM, [ground])] == ["hub@"]
    assert next(item for item in end_items(BEAM, [ground])).refusal


def test_measures_and_beams_have_fields():
    assert [row.label for row in field_rows(BEAM, ("measures", "share"))] == ["expression", "unit"]
    assert [row.label for row in field_rows(BEAM, ("measures", "top"))] == ["expression"]
    assert "length" in [row.label for row in field_rows(BEAM, ("beams", "blade"))]


@pytest.mark.parametrize(("part", "row"), [("electric.m", 1), ("joints.J2", 0)])
async def test_what_a_field_names_now_is_marked_when_it_is_edited(tmp_path, part, row):
    """Enter through all questions leaves everything as it is."""
    more = "[bodies.arm]\nmass = 1\ninertia = { xx = 1, yy = 1, zz = 1 }\n[joints.J2]\n"
    more += 'kind = "revolute"\nbetween = ["rod.B", "arm"]\naxis = [0, 1, 0]\n'
    more += (
        '[electric.m]\nkind = "dc_motor"\nnodes = ["a", "gnd"]\non = "joints.J2"\nR = 1\nK = 1\n'
    )
    file = tmp_path / "demo.toml"
    file.write_text(f"{MODEL}\n{more}")
    app = make_app(str(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        before = app.work.data
        app.select(tuple(part.split(".")))
        app.main.activate("inspector")
        app.work.field_index = row
        await press(app, pilot, ["e"])
        while app.screen is not app.main:
            assert app.screen.marked.label, "a reference is marked"
            await press(app, pilot, ["enter"])
        assert app.work.document.undo_label.startswith(f"set {part}.")
        assert app.work.data == before


@pytest.mark.slow
async def test_another_key_is_written_in_the_place_of_what_is_asked(model):
    """frequency = 20 kHz for a period, duty for a width; what is wrong is not taken."""
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["a", "s", *"pulse", "enter"])
        await press(app, pilot, [*_typed("frequency = 20 kHz"), "enter"])
        await press(app, pilot, [*_typed("duty = 2"), "enter"])
        assert "signals" not in app.work.data
        await press(app, pilot, ["ctrl+u", *_typed("duty = 0.3"), "enter", *_typed("pwm"), "enter"])
        assert app.work.data["signals"]["pwm"] == {
            "kind": "pulse",
            "frequency": "20 kHz",
            "duty": 0.3,
        }


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
async def test_a_cylinder_is_offered_the_room_between_its_points(tmp_path, scale):
    """By Enter alone it begins in the middle of its stroke, whatever the size of the machine."""
    file = tmp_path / "demo.toml"
    arm = f"points = {{ B = [{0.3 * scale}, 0, 0] }}\nposition = [{0.1 * scale}, 0, 0]\n"
    file.write_text(
        f"[bodies.arm]\nmass = 1\ninertia = {{ xx = 1, yy = 1, zz = 1 }}\n{arm}"
        '[joints.pin]\nkind = "revolute"\nbetween = ["ground", "arm"]\naxis = [0, 1, 0]\n'
    )
    ends = ("ground", "arm.B")
    app = make_app(str(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["a", "h", *"cyl", "enter", "enter"])
        for end in ends:
            await press(app, pilot, [*end, "enter"])
        for _ in range(5):
            await press(app, pilot, ["enter"])
        cylinder = app.work.data["hydraulic"]["cylinder1"]
    assert cylinder["between"] == list(ends) and cylinder["nodes"] == ["a", "tank"]
    begins = 0.4 * scale - cylinder["length"]
    assert begins == pytest.approx(cylinder["stroke"] / 2, rel=0.1)


@pytest.mark.parametrize(
    ("length", "weight"),
    tail([("300 mm", "7850 kg/m^3"), ("0.6*L", "2"), ("0.3", "2"), ("L", "2")], 2),
)
async def test_one_value_drives_the_length_of_a_link(model, length, weight):
    """Its shape, its mass and its ends follow one parameter, in one undo step."""
    app = make_app(str(model))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        written = app.work.document.now.text
        await press(app, pilot, ["a", "l", "enter", *_typed(length), "enter"])
        await press(app, pilot, [*_typed("0.01"), "enter", *_typed(weight), "enter"])
        await press(app, pilot, [*_typed("new-rod"), "enter"])
        data = app.work.data
        await press(app, pilot, ["u"])
        assert app.work.document.now.text == written
    own = "L" if length == "L" else "new_rod_length"
    assert set(data["parameters"]) == {"L", own}
    for value in (0.3, 0.7):
        changed = {**data, "parameters": {"L": 0.5, own: value}}
        body = vbg.Model.from_document(changed).bodies["new-rod"]
        (rod,) = body.shape
        assert rod.sizes["length"] == value and body.points["B"][0] == value / 2
        assert body.mass == pytest.approx(2 if weight == "2" else 7850 * np.pi * 1e-4 * value)


def _typed(text: str) -> list[str]:
    """The keys of an answer that replaces the one that is offered."""
    return ["space" if letter == " " else letter for letter in text]
