"""Files of strangers: everything that is not what vbg writes is refused in one sentence.

Each attack is read under a limit of memory that one of them would have to break to be
dangerous (200 MB of new allocations), and nothing it names outside its folder is opened.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vbg
from tests.io.refusals import BODY, refused
from vbg import runner
from vbg.errors import ModelError, VbgError
from vbg.io import mstmmsim, toml
from vbg.io.runs import csv, hdf5
from vbg.io.runs import json as json_file
from vbg.io.runs.results import read
from vbg.solution import Solution


def small() -> Solution:
    time = np.linspace(0.0, 1.0, 7)
    signals = {"a.x": time**2, "A.force": np.outer(time, [1.0, 2.0, 3.0])}
    return Solution(time, signals, units={"a.x": "m", "A.force": "N"})


# --- forged HDF5: each change is made to a sound file


def _replace(file, name, **how):
    del file[name]
    file.create_dataset(name, **how)


def _external(file, outside):
    del file["rows"]
    file.create_dataset("rows", (7, 5), "f8", external=[(str(outside), 0, 8 * 35)])


def _external_link(file, outside):
    del file["rows"]
    file["rows"] = h5py.ExternalLink(str(outside), "/rows")


def _soft_link(file, outside):
    del file["layout"]
    file["layout"] = h5py.SoftLink("/model")


def _virtual(file, outside):
    del file["rows"]
    layout = h5py.VirtualLayout((7, 5), "f8")
    layout[:] = h5py.VirtualSource(str(outside), "rows", (7, 5))
    file.create_virtual_dataset("rows", layout)


def _huge(file, outside):
    _replace(file, "rows", shape=(10**12, 5), dtype="f8", chunks=(1000, 5))


def _huge_compressed(file, outside):
    _replace(file, "rows", shape=(10**9, 5), dtype="f8", chunks=(1000, 5), compression="gzip")


def _strange_filter(file, outside):
    # LZF comes with h5py, not with HDF5: a stand-in for every plug-in
    _replace(file, "rows", data=np.zeros((7, 5)), chunks=(7, 5), compression="lzf")


def _layout_of(plain):
    def forge(file, outside):
        _replace(file, "layout", data=json.dumps(plain))

    return forge


def _ending_of(change):
    def forge(file, outside):
        plain = json.loads(file["ending"][:].tobytes())
        change(plain)
        mark = np.frombuffer(json.dumps(plain).encode(), np.uint8)
        _replace(file, "ending", data=mark)

    return forge


def _raw_ending(content: bytes):
    def forge(file, outside):
        _replace(file, "ending", data=np.frombuffer(content, np.uint8))

    return forge


def _set(file, name, **how):
    _replace(file, name, **how)


def _without(name):
    def forge(file, outside):
        del file[name]

    return forge


SOUND = [["a.x", 0, "m"], ["A.force", 3, "N"]]
FORGED = {
    "rows in another file": _external,
    "rows by a link to another file": _external_link,
    "a soft link": _soft_link,
    "a virtual dataset": _virtual,
    "a terabyte of nothing": _huge,
    "forty gigabytes of nothing, compressed": _huge_compressed,
    "a filter of others": _strange_filter,
    "no rows": _without("rows"),
    "no layout": _without("layout"),
    "rows that are a group": lambda f, o: (f.__delitem__("rows"), f.create_group("rows")),
    "rows of text": lambda f, o: _set(f, "rows", data=np.array([[b"a"] * 5] * 7)),
    "rows of whole numbers": lambda f, o: _set(f, "rows", data=np.zeros((7, 5), int)),
    "rows of complex numbers": lambda f, o: _set(f, "rows", data=np.zeros((7, 5), complex)),
    "rows in one dimension": lambda f, o: _set(f, "rows", data=np.zeros(35)),
    "rows in three dimensions": lambda f, o: _set(f, "rows", data=np.zeros((7, 5, 1))),
    "rows without a dimension": lambda f, o: _set(f, "rows", data=1.0),
    "rows of pairs": lambda f, o: _set(
        f, "rows", data=np.zeros((7, 5), [("a", "f8"), ("b", "f8")])
    ),
    "a layout that is a number": lambda f, o: _set(f, "layout", data=7.0),
    "a layout of many texts": lambda f, o: _set(f, "layout", data=["[]", "[]"]),
    "a layout that is no JSON": lambda f, o: _set(f, "layout", data="[["),
    "a layout nested deeply": lambda f, o: _set(f, "layout", data="[" * 100_000),
    "a layout that is an object": _layout_of({"a": 1}),
    "a layout of numbers": _layout_of([1, 2]),
    "a signal without unit": _layout_of([["a.x", 0], ["A.force", 3]]),
    "a name that is a number": _layout_of([[1, 0, "m"], ["A.force", 3, "N"]]),
    "a width that is a text": _layout_of([["a.x", "0", "m"], ["A.force", 3, "N"]]),
    "a width that is true": _layout_of([["a.x", True, "m"], ["A.force", 3, "N"]]),
    "a negative width": _layout_of([["a.x", -1, "m"], ["A.force", 4, "N"]]),
    "a width that is too large": _layout_of([["a.x", 0, "m"], ["A.force", 10**9, "N"]]),
    "too many columns": _layout_of([*SOUND, ["b", 0, ""]]),
    "too few columns": _layout_of(SOUND[:1]),
    "a signal twice": _layout_of([["a.x", 0, "m"], ["a.x", 3, "N"]]),
    "half a million signals": _layout_of([["a", 0, ""]] * 500_000),
    "an ending of text": lambda f, o: _set(f, "ending", data="{}"),
    "an ending that is no JSON": _raw_ending(b"{"),
    "an ending nested deeply": _raw_ending(b"[" * 100_000),
    "an ending that is a list": _raw_ending(b"[]"),
    "an ending that is no text": _raw_ending(b"\xff\xfe"),
    "an ending of nothing": _raw_ending(b"{}"),
    "an ending of a terabyte": lambda f, o: _set(
        f, "ending", shape=(10**12,), dtype="u1", chunks=(1000,)
    ),
    "a status that is unknown": _ending_of(lambda p: p["status"].update(code="fine")),
    "a status that is a number": _ending_of(lambda p: p.update(status=1)),
    "a status without a code": _ending_of(lambda p: p["status"].pop("code")),
    "a status with more": _ending_of(lambda p: p["status"].update(run="rm")),
    "a sentence that is a list": _ending_of(lambda p: p["status"].update(sentence=[])),
    "a residual that is a text": _ending_of(lambda p: p["audit"].update(energy_residual="0")),
    "events that are a number": _ending_of(lambda p: p["audit"].update(events=3)),
    "an event without a time": _ending_of(lambda p: p["audit"].update(events=[{"where": "a"}])),
    "units that are a list": _ending_of(lambda p: p.update(units=["m"])),
    "a unit that is a number": _ending_of(lambda p: p.update(units={"a.x": 1})),
    "notes that are a text": _ending_of(lambda p: p.update(notes="all fine")),
    "a note without severity": _ending_of(lambda p: p.update(notes=[{"where": "a", "what": "b"}])),
    "a version that is a list": _ending_of(lambda p: p["made_by"].update(versions=[1])),
    "a format of tomorrow": lambda f, o: f.attrs.__setitem__("vbg", 99),
    "a format that is a text": lambda f, o: f.attrs.__setitem__("vbg", "1"),
    "a format that is many": lambda f, o: f.attrs.__setitem__("vbg", [1, 2]),
    "no format": lambda f, o: f.attrs.__delitem__("vbg"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_result_is_refused(what, tmp_path):
    path, outside = tmp_path / "run.h5", tmp_path / "outside.bin"
    outside.write_bytes(b"\0" * 400)
    hdf5.write(small(), path)
    with h5py.File(path, "r+", libver="latest") as file:
        FORGED[what](file, outside)
    told = refused(read, path)
    assert str(path) in told


def test_controls_in_a_result_are_escaped(tmp_path):
    path = tmp_path / "run.h5"
    hdf5.write(small(), path)
    with h5py.File(path, "r+", libver="latest") as file:
        _layout_of([["a\x1b[2J", 0, "m\x07"], ["A\u202e", 3, "N"]])(file, None)
        _ending_of(lambda p: p["status"].update(code="failed", sentence="\x1b]0;pwned\x07"))(
            file, None
        )
    solution = hdf5.read(path)
    said = [*solution.signals, *solution.units.values(), solution.status.sentence]
    assert all(text.isprintable() for text in said)
    assert r"\x1b[2J" in said[0]


# --- tables and JSON

TABLES = {
    "nothing": b"",
    "another table": b"x,y\n1,2\n",
    "text in a cell": b"time,a\n0,red\n",
    "a short row": b"time,a\n0,1\n1\n",
    "a long row": b"time,a\n0,1,2\n",
    "bytes": b"time,a\n\xff\xfe,1\n",
    "NUL": b"time,a\n\0,1\n",
    "escape codes": b"time,a\n\x1b[2J\x1b]0;x\x07,1\n",
    "a hundred thousand columns and no row that fits": b"time" + b",a" * 100_000 + b"\n1,2\n",
    "half a vector": b"time,a[0],a[0]\n0,1\n",
}


@pytest.mark.parametrize("what", TABLES)
def test_a_broken_table_is_refused(what, tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes(TABLES[what])
    assert str(path) in refused(read, path)


ENDINGS = {
    "no JSON": b"{",
    "nothing": b"{}",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "bytes": b"\xff",
    "a status of another kind": (
        b'{"table": "HASH", "status": 1, "audit": {}, "made_by": {}, "notes": []}'
    ),
}


@pytest.mark.parametrize("what", ENDINGS)
def test_a_broken_ending_of_a_table_is_refused(what, tmp_path):
    path = tmp_path / "run.csv"
    csv.write(small(), path)
    digest = json.loads(csv.ending_of(path).read_text())["table"]
    csv.ending_of(path).write_bytes(ENDINGS[what].replace(b"HASH", digest.encode()))
    assert "run.csv.ending" in refused(read, path)


OBJECTS = {
    "nothing": b"",
    "null": b"null",
    "a number": b"7",
    "a list": b"[]",
    "an object without anything": b"{}",
    "deep": b"[" * 100_000,
    "a number of a million digits": b'{"vbg": ' + b"9" * 1_000_000 + b"}",
    "bytes": b"\xff\xfe",
    "a format of tomorrow": b'{"vbg": 99}',
    "a format that is a text": b'{"vbg": "1"}',
    "signals that are a list": b'{"vbg": 1, "time": [0], "signals": [1], "units": {}}',
    "a signal of text": b'{"vbg": 1, "time": [0], "signals": {"a": ["x"]}, "units": {}}',
    "a signal of rows of different length": (
        b'{"vbg": 1, "time": [0, 1], "signals": {"a": [[1], [1, 2]]}, "units": {}}'
    ),
    "a signal longer than time": b'{"vbg": 1, "time": [0], "signals": {"a": [1, 2]}, "units": {}}',
    "a time that is an object": b'{"vbg": 1, "time": {}, "signals": {}, "units": {}}',
    "a time in two dimensions": b'{"vbg": 1, "time": [[0]], "signals": {}, "units": {}}',
    "no ending": b'{"vbg": 1, "time": [0], "signals": {"a": [1]}, "units": {}}',
    "units of numbers": b'{"vbg": 1, "time": [0], "signals": {"a": [1]}, "units": {"a": 1}}',
}


@pytest.mark.parametrize("what", OBJECTS)
def test_a_broken_object_is_refused(what, tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(OBJECTS[what])
    assert str(path) in refused(read, path)


@pytest.mark.parametrize("ending", [".h5", ".csv", ".json"])
def test_what_is_no_file_is_not_opened(ending, tmp_path):
    os.mkfifo(tmp_path / f"pipe{ending}")
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / f"device{ending}").symlink_to("/dev/zero")
    for name in ("pipe", "folder", "device"):
        for reader in (read, hdf5.read if ending == ".h5" else read):
            refused(reader, tmp_path / f"{name}{ending}")


READERS = {"run.h5": hdf5.read, "run.csv": csv.read, "run.json": json_file.read}
WRITERS = {"run.h5": hdf5.write, "run.csv": csv.write, "run.json": json_file.write}


@pytest.mark.parametrize("name", READERS)
@settings(
    max_examples=120,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_damaged_results_are_read_or_refused(name, tmp_path, data):
    """Bytes replaced, cut out or doubled anywhere: a Solution or a sentence, nothing else."""
    path = tmp_path / name
    WRITERS[name](small(), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        new = data.draw(st.binary(max_size=4))
        content[at : at + data.draw(st.integers(0, 4))] = new
    path.write_bytes(content)
    try:
        solution = READERS[name](path)
    except VbgError as error:
        assert str(error).replace("\n", "").isprintable()
    else:
        assert all(text.isprintable() for text in solution.signals)


# --- includes


def include(file: str, name: str = "a") -> str:
    return f'[include.{name}]\nfile = "{file}"\n'


@pytest.fixture
def house(tmp_path):
    """The model's folder, beside one that is not its business."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret.toml").write_text(BODY)
    (tmp_path / "mine" / "part.toml").write_text(BODY)
    return tmp_path / "mine"


INCLUDES = {
    "above": "../private/secret.toml",
    "above by a detour": "sub/../../private/secret.toml",
    "from the root": "ROOT/private/secret.toml",
    "a password file": "/etc/passwd",
    "a device that never ends": "/dev/zero",
    "the memory of this process": "/proc/self/mem",
    "a link out": "link.toml",
    "a folder link out": "out/secret.toml",
    "a pipe": "pipe.toml",
    "a folder": "sub",
    "NUL": "a\\u0000b.toml",
    "itself": "machine.toml",
    "nothing": "none.toml",
    "a long name": "a" * 5000,
    "a result": "run.h5",
    "bytes": "bytes.toml",
}


@pytest.mark.parametrize("what", INCLUDES)
def test_includes_stay_in_the_models_folder(what, house):
    (house / "sub").mkdir()
    (house / "link.toml").symlink_to(house.parent / "private" / "secret.toml")
    (house / "out").symlink_to(house.parent / "private")
    (house / "bytes.toml").write_bytes(b"\xff\xfe\0")
    (house / "run.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
    os.mkfifo(house / "pipe.toml")
    machine = house / "machine.toml"
    machine.write_text(include(INCLUDES[what].replace("ROOT", str(house.parent))))
    told = refused(toml.read, machine)
    assert "machine.toml" in told or "bytes.toml" in told
    assert "mass" not in told  # nothing of the other file


def test_folders_that_are_allowed_are_read(house, monkeypatch):
    (house / "machine.toml").write_text(
        include("../private/secret.toml") + include("part.toml", "p")
    )
    monkeypatch.setenv("VBG_ALLOW_INCLUDE", str(house.parent / "private"))
    assert list(toml.read(house / "machine.toml").bodies) == ["a_b", "p_b"]


@pytest.mark.parametrize("levels", [20, 25, 39, 400])
def test_files_that_double_are_counted_before_they_are_read(levels, house):
    for level in range(levels):
        other = f"{level + 1}.toml" if level < levels - 1 else "part.toml"
        (house / f"{level}.toml").write_text(include(other, "a") + include(other, "b"))
    told = refused(toml.read, house / "0.toml")
    assert "at most" in told or "deep" in told


# --- XML

XML = {
    "a document type": "<!DOCTYPE model><model/>",
    "an entity": '<!DOCTYPE model [<!ENTITY a "ha">]><model>&a;</model>',
    "a billion laughs": (
        '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
        + "]><model>&j;</model>"
    ),
    "a file of the system": '<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><model>&x;</model>',
    "raw data": "<model><![CDATA[ hi ]]></model>",
    "comments that never end": "<!--" * 20_000,
    "headings that never end": "<?" * 40_000,
    "tags that never end": "<" * 80_000,
    "names that never end": "<" + "a" * 80_000,
    "nesting": "<model>" * 20_000,
    "other nesting": "<a>" * 20_000 + "</a>" * 20_000,
    "closings": "</a>" * 20_000,
    "controls in a tag": "<mod\x1b[2Jel>",
    "controls in a text": "<model>\x1b]0;x\x07</model>",
    "nothing": "",
    "text": "hello",
    "two": "<model></model><model></model>",
    "attributes": "<model a='1'></model>",
    "attributes that never end": "<model " + "a='1' " * 10_000,
}


@pytest.mark.parametrize("what", XML)
def test_hostile_xml_is_refused(what, tmp_path):
    path = tmp_path / "machine.xml"
    path.write_text(XML[what])
    refused(mstmmsim.read, path)


# --- links that a stranger's folder holds at names which vbg makes by itself


def test_names_that_vbg_makes_do_not_lead_out_of_the_folder(tmp_path):
    """`run -o out.csv` writes out.csv and what belongs to it, not what links there lead to."""
    treasure = tmp_path / "treasure"
    treasure.write_text("mine")
    folder = tmp_path / "strange"
    folder.mkdir()
    made = ("out.csv.ending", "out.csv.part.h5", ".out.csv.lock", ".out.csv.writer")
    for name in (*made, ".out.csv.part.h5.writer", f".out.{os.getpid()}.vbg-part.csv"):
        (folder / name).symlink_to(treasure)
    body = "[bodies.rod]\nmass = 1\ninertia = { xx = 1, yy = 1, zz = 1 }\n"
    text, result = "vbg = 1\n" + body, str(folder / "out.csv")
    job = runner.Job("rod.toml", text, settings={"t_end": 0.02}, result=result)
    said = io.StringIO()
    teller = runner._OfProcess(said, runner._Cancel())
    assert runner.run(job, teller) == 1, "a lock is no link"
    assert "cannot be written" in said.getvalue()
    (folder / ".out.csv.lock").unlink()
    assert runner.run(job, teller) == 0
    assert treasure.read_text() == "mine"
    plain = {file.name for file in folder.iterdir() if not file.is_symlink()}
    assert plain == {"out.csv", "out.csv.ending"}
    assert read(folder / "out.csv").status.code == "finished"


@pytest.mark.parametrize(
    "words", ["*/ int x; /*", "*\\ int x;", "*\\\n/ int x;", "*??/\n/ int x;", "**//", "\x1b[2J"]
)
def test_words_of_a_model_stay_in_their_comment(words):
    from vbg.export.tables import remark

    told = remark(words)
    assert "*/" not in told and "/*" not in told and told.isprintable()


def test_a_raw_bond_to_no_end_is_told_with_its_place():
    file = Path(__file__).parents[3] / "examples" / "half-car.toml"
    text = file.read_text(encoding="utf-8").replace('"link -> wr"', '"link.-> wr"')
    with pytest.raises(ModelError) as told:
        vbg.assemble(toml.parse(text, "raw.toml"))
    assert told.value.problems and all(p.where and p.remedy for p in told.value.problems)
