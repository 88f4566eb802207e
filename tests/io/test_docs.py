"""Every example in the page on the model file reads without a complaint."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

import vbg.cli.verbs
from vbg import expressions, units
from vbg.cli.main import main
from vbg.elements.body import Body
from vbg.fields import declared
from vbg.io import toml
from vbg.io.runs.names import SAVED_ENDINGS
from vbg.model import catalogue, check
from vbg.model.catalogue import REFERENCE_NODES
from vbg.model.forms.shapes import SOLIDS
from vbg.model.resolve.included import KEYS
from vbg.model.resolve.resolve import TOP_LEVEL
from vbg.model.resolve.settings import Outputs, Simulate
from vbg.model.text.plain import INERTIA_KEYS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "model-file.md").read_text(encoding="utf-8")
PARTS = (DOCS / "parts.md").read_text(encoding="utf-8")


ELBOW = """
[bodies.arm]
mass = 2.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }

[joints.elbow]
kind = "revolute"
between = ["ground", "arm"]
axis = [0, 1, 0]
"""

ROAD = """
[bodies.car]
mass = 1200.0
inertia = { xx = 1, yy = 1, zz = 1 }

[joints.road]
kind = "prismatic"
between = ["ground", "car"]
axis = [1, 0, 0]

[forces.losses]
kind = "force"
on = "car"
force = ["-rolling(road.speed) - friction_factor(4e4, 1e-3) N", 0, 0]
"""

FLANGE = """
[bodies.arm]
mass = 2.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
points = { B = [0, 0, 0.4] }
"""

BODY = "mass = 2.0\ninertia = { xx = 0.1, yy = 0.1, zz = 0.1 }\n"
TRACK = 'kind = "prismatic"\nbetween = ["ground", "wagonN"]\naxis = [1, 0, 0]\n'
TRAIN = f"""
[bodies.box]
{BODY}points = {{ breech = [0, 0, 0.4] }}
[bodies.rocket]
{BODY}points = {{ shoe = [0, 0, 0] }}
[bodies.wagon1]
{BODY}points = {{ hook = [1, 0, 0] }}
[bodies.wagon2]
{BODY}points = {{ hook = [-1, 0, 0] }}
[joints.track1]
{TRACK.replace("N", "1")}
[joints.track2]
{TRACK.replace("N", "2")}
"""


def test_examples_read():
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) > 3
    around = {"joint:elbow": ELBOW, "rolling": ROAD, "frames.flange": FLANGE, "wagon1": TRAIN}
    for block in blocks:
        rest = "".join(machine for word, machine in around.items() if word in block)
        assert check(toml.parse(block + rest)) == ()


def test_functions_and_units_are_those_there_are():
    functions = re.search(r"`(sin cos [a-z0-9 ]*)`", PAGE)[1].split()
    assert set(functions) == set(expressions.FUNCTIONS)
    listed = re.search(r"Known are (.*?)\.", PAGE, re.DOTALL)[1].split()
    assert set(listed) <= set(units.symbols())


def test_the_page_of_parts_is_as_its_script_makes_it():
    place = DOCS / "make_parts.py"
    spec = importlib.util.spec_from_file_location("make_parts", place)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.page() == PARTS, "run python docs/make_parts.py"


def keys_in(part: type) -> set[str]:
    """Keys of a part, and of its sub-tables with a dot."""
    found = set()
    for name, field in declared(part).items():
        found.add(name)
        found |= {f"{name}.{key}" for key in keys_in(field.of)} if field.of is not None else set()
    return found


def test_every_key_of_the_catalogue_is_in_the_page_of_parts_and_no_other():
    sections = re.split(r"^## \[(\w+)\.NAME\]$", PARTS, flags=re.MULTILINE)
    documented = {}
    for table, text in zip(sections[1::2], sections[2::2], strict=True):
        kinds = re.split(r"^### (\S+)$", text, flags=re.MULTILINE)
        for kind, body in zip(kinds[1::2], kinds[2::2], strict=True):
            documented[table, kind] = set(re.findall(r"^\| `([\w.]+)` \|", body, re.MULTILINE))
    declared_keys = {
        (table, kind): keys_in(part)
        for table, kinds in catalogue().items()
        for kind, part in kinds.items()
    }
    assert documented == declared_keys


def test_the_page_of_the_model_file_has_every_key_outside_of_parts():
    """Keys in the tables of the page, first column, and the keys there are."""
    words = set(re.findall(r"[a-z_]\w*", PAGE))
    solids = {name for solid in SOLIDS.values() for name in solid.sizes} | {*SOLIDS, "density"}
    for keys in (
        declared(Body),
        declared(Simulate),
        declared(Outputs),
        (*solids, *TOP_LEVEL, *INERTIA_KEYS, *REFERENCE_NODES.values()),
        ("value", "unit", "note", "body", "at", "euler", "sequence", "quaternion"),
    ):
        assert not set(keys) - words
    column = re.findall(r"^\| (`[^|]*`) \|", PAGE, re.MULTILINE)
    listed = {key for cell in column for key in re.findall(r"`(\w+)`", cell)}
    known = {*declared(Body), *declared(Simulate), *declared(Outputs), *KEYS, *TOP_LEVEL}
    assert listed <= known, f"documented, but there is no such key: {listed - known}"


def test_the_page_of_the_command_line_lists_every_verb():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([a-z]+)`", page.split("## Files")[0]))
    folder = Path(vbg.cli.verbs.__file__).parent
    verbs = {file.stem.removesuffix("_model") for file in folder.glob("[!_]*.py")}
    assert verbs <= listed
    endings = set(re.findall(r"^\| `(\.\w+)` \|", page, re.MULTILINE))
    assert endings == set(SAVED_ENDINGS) - {".hdf5"}


TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_every_snippet_of_a_tutorial_runs(page, tmp_path, monkeypatch):
    """From top to bottom: files are written, commands end well, Python asserts what it says."""
    monkeypatch.chdir(tmp_path)
    example = DOCS.parent / "examples" / "slider-crank.toml"
    (tmp_path / "crank.toml").write_text(example.read_text("utf-8"), encoding="utf-8")
    names: dict[str, object] = {}
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    assert found
    for language, title, body in found:
        if title:
            (tmp_path / title).write_text(body, encoding="utf-8")
        elif language == "python":
            exec(compile(body, page.name, "exec"), names)
        else:
            for line in body.splitlines():
                program, *words = shlex.split(line.removeprefix("$ "))
                assert (program, main(words)) == ("vbg", 0), line
