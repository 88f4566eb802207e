"""Model files: what is read, what is written, and that nothing ends in a traceback."""

import tomllib
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbg.errors import ModelError, UsageError
from vbg.io import toml
from vbg.model import Model, check, place
from vbg.model.catalogue import TABLES
from vbg.model.model import edit
from vbg.model.resolve.beams import parts_of

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples").glob("*.toml"))
GOOD = [path.read_text(encoding="utf-8") for path in FILES]
every_example = pytest.mark.parametrize("file", FILES, ids=[path.stem for path in FILES])

PENDULUM = """\
# A pendulum.
vbg = 1
name = "pendulum"

[parameters]
l = "50 cm"   # length of the rod
m = { value = 2.0, unit = "kg", note = "steel" }

[bodies.rod]
mass = "m"
inertia = { xx = 1e-3, yy = "m*l**2/12", zz = "m*l^2/12" }  # about the mass centre
points = { A = ["-l/2", 0, 0] }

[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 2, 0]
initial = { angle = "30 deg", speed = "10 rpm" }
"""


def test_a_pendulum_is_read_in_si():
    model = toml.parse(PENDULUM, "pendulum.toml")
    assert model.name == "pendulum"
    assert model.parameters == {"l": 0.5, "m": 2.0}
    rod, hinge = model.bodies["rod"], model.joints["hinge"]
    assert rod.mass == 2.0
    assert rod.inertia == pytest.approx((1e-3, 2 * 0.25 / 12, 2 * 0.25 / 12, 0, 0, 0), rel=1e-15)
    assert rod.points == {"A": (-0.25, 0.0, 0.0)}
    assert hinge.between[1].point == "A"
    assert hinge.between[1].at == (-0.25, 0.0, 0.0)
    assert hinge.axis == (0.0, 1.0, 0.0)
    assert hinge.initial.angle == pytest.approx(0.5235987755982988, rel=1e-15)
    assert hinge.initial.speed == pytest.approx(1.0471975511965976, rel=1e-15)
    assert model.places[("joints", "hinge", "initial", "speed")] == (18, 31)


@every_example
def test_written_files_read_the_same(file, tmp_path, monkeypatch):
    monkeypatch.setenv("VBG_ALLOW_INCLUDE", str(file.parent))  # the copy includes from there
    model = toml.read(file)
    path = tmp_path / "copy.toml"
    toml.write(model, path)
    again = toml.read(path)
    assert again.hash == model.hash
    assert without_includes(again) == without_includes(model)
    assert (again.simulate, again.outputs) == (model.simulate, model.outputs)


def without_includes(model: Model) -> dict:
    """The document less the files it includes, whose paths count from its folder."""
    return {key: value for key, value in model.document.items() if key != "include"}


@every_example
def test_parts_read_back_from_their_instances(file):
    model = toml.read(file)
    beams = [parts_of(name, beam) for name, beam in model.beams.items()]
    made = {part for tables in beams for parts in tables.values() for part in parts}
    tables = {
        table: {name: part for name, part in getattr(model, table).items() if name not in made}
        for table in TABLES
        if getattr(model, table)
    }
    assert Model(gravity=model.gravity, bonds=model.bonds, **tables).hash == model.hash


def test_writing_over_a_file_keeps_comments_and_layout(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    model = toml.read(path)
    toml.write(model, path)
    assert path.read_text() == PENDULUM
    changed = model.edited(("bodies", "rod", "inertia", "xx"), 2e-3)
    toml.write(changed, path)
    assert path.read_text() == PENDULUM.replace("xx = 1e-3", "xx = 0.002")


def test_writing_adds_and_removes_parts_in_place(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    model = toml.read(path)
    spring = {"kind": "spring", "on": "joints.hinge", "k": "3 N*m/rad"}
    changed = model.edited(("forces", "hold"), spring).edited(("joints", "hinge", "initial"), None)
    toml.write(changed, path)
    text = path.read_text()
    assert toml.read(path).hash == changed.hash
    assert "# length of the rod" in text
    assert "# about the mass centre" in text
    assert "[forces.hold]" in text
    assert "initial" not in text


@every_example
@pytest.mark.parametrize("seed", range(4))
def test_any_change_of_values_keeps_every_comment(file, seed):
    text = file.read_text(encoding="utf-8")
    """Numbers changed, entries and parts added: no comment is lost, and the text says it all."""
    random = Random(seed)
    document = tomllib.loads(text)
    leaves = [path for path in leaf_paths(document) if len(path) > 2]
    for path in random.sample(leaves, 3):
        edit(document, path, random.choice([1.5, "2*l", [1, 2, 3]]))
    edit(document, ("bodies", "added"), {"mass": 1.0, "points": {"A": [0, 0, 1]}})
    edit(document, ("parameters", "added_too"), {"value": 1, "unit": "m"})
    edit(document, ("description",), "another")
    edit(document, ("electric", "R"), {"kind": "resistor", "nodes": ["a", "gnd"]})
    changed = toml.updated(text, document)
    assert tomllib.loads(changed) == document
    comments = [line.split("#", 1)[1] for line in text.splitlines() if "#" in line]
    assert [c for c in comments if c not in changed] == []


def leaf_paths(value, path=()):
    """Paths of all entries that are no tables."""
    for key, entry in value.items():
        if isinstance(entry, dict):
            yield from leaf_paths(entry, (*path, key))
        else:
            yield (*path, key)


def test_removing_parts_keeps_the_comments_of_the_others():
    text = GOOD[0]
    document = tomllib.loads(text)
    names = list(document["joints"])
    for name in names[1:]:
        edit(document, ("joints", name), None)
    changed = toml.updated(text, document)
    assert tomllib.loads(changed) == document
    assert text.split("[joints")[0].strip() in changed
    edit(document, ("joints", names[0]), None)
    assert "joints" not in tomllib.loads(toml.updated(changed, document))


def test_misuse_is_told(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        toml.read(tmp_path / "nothing.toml")
    with pytest.raises(UsageError, match="cannot read"):
        toml.read(tmp_path)
    with pytest.raises(UsageError, match="cannot be written"):
        toml.write(toml.parse(PENDULUM), tmp_path / "no" / "folder.toml")


def survives(text):
    """Read `text`; whatever it says, the answer is a model or a list of problems with places."""
    try:
        model = toml.parse(text, "mutant.toml")
    except ModelError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.line >= 1
            assert problem.column >= 1
            assert problem.what
        return
    place(model)
    check(model)
    assert toml.parse(toml.updated("", model.document)).hash == model.hash


CHARACTERS = "[]{}\"'=.,#\n+-*/^()ex0159 \\\x00é"
ODD_VALUES = (
    '""',
    '"nan"',
    "nan",
    "-inf",
    "true",
    "[]",
    "{}",
    "[[]]",
    "1e308",
    "-0.0",
    "9223372036854775807",
    '"1e400"',
    '"((((("',
    '"t"',
    '"a.b"',
    '"1/0"',
    '"ground"',
    '"3 mm/"',
    '"-"',
    "07:32:00",
    '"\\u0000"',
    "[1, 2, 3, 4]",
    '{ body = "ground" }',
    '"joints."',
    "[nan, 0, 1]",
    '"10**400"',
    '"0**-1"',
)


@pytest.mark.slow
@settings(max_examples=600, derandomize=True, deadline=None)
@given(st.data())
def test_characters_changed_at_random(data):
    text = data.draw(st.sampled_from(GOOD))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        length = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.text(CHARACTERS, max_size=3)) + text[at + length :]
    survives(text)


@pytest.mark.slow
@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.data())
def test_lines_moved_at_random(data):
    lines = data.draw(st.sampled_from(GOOD)).splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        taken = lines.pop(data.draw(st.integers(0, len(lines) - 1)))
        if data.draw(st.booleans()):
            lines.insert(data.draw(st.integers(0, len(lines))), taken)
    survives("\n".join(lines))


@settings(max_examples=800, derandomize=True, deadline=None)
@given(st.data())
def test_values_replaced_at_random(data):
    lines = data.draw(st.sampled_from(GOOD)).splitlines()
    settable = [i for i, line in enumerate(lines) if " = " in line and not line.startswith("#")]
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.sampled_from(settable))
        key = lines[index].split(" = ")[0]
        lines[index] = f"{key} = {data.draw(st.sampled_from(ODD_VALUES))}"
    survives("\n".join(lines))


def test_nesting_without_end():
    survives("a = " + "[" * 5000)
    survives("a = " + "[" * 300 + "]" * 300)
    survives("[bodies.b]\nshape = " + "{ a = " * 200 + "1" + " }" * 200)
    survives('[bodies.b]\nmass = "' + "(" * 3000 + '"')
    survives("[bodies.b]\nmass = " + "9" * 5000)
