"""`vbg results`: what a folder holds, by an index that follows its files."""

import json
import os
import sqlite3

import numpy as np
import pytest

from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.io.runs import hdf5
from vbg.io.runs.folder import INDEX, TAGS, change_tags, entries, read_tags
from vbg.io.runs.search import differences, find, parse_condition, what_there_is
from vbg.solution import MadeBy, Solution, Status

MODEL = """\
vbg = 1
name = "swing"
[parameters]
l = "{length} m"
[bodies.rod]
mass = 1.0
inertia = {{ xx = 0.01, yy = 0.01, zz = 0.01 }}
[measures]
top = "max(rod.x)"
"""


def solution(amplitude, code="finished"):
    t = np.linspace(0.0, 1.0, 11)
    return Solution(
        t,
        {"rod.x": amplitude * np.sin(t), "rod.v": np.column_stack([amplitude * np.cos(t), 0 * t])},
        units={"rod.x": "m", "rod.v": "m/s"},
        made_by=MadeBy(solver="vbg", model="swing", method="dop853"),
        status=Status(code, "It ended."),
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    hdf5.write(solution(1.0), tmp_path / "a.h5", MODEL.format(length=0.5))
    hdf5.write(solution(2.0, "failed"), tmp_path / "sub" / "b.h5", MODEL.format(length=0.7))
    header = "study,k,max(rod.x),status,reason\n"
    (tmp_path / "s.csv").write_text(header + "x,1.0,3.0,finished,\nx,2.0,,failed,why\n")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "broken.h5").write_bytes(b"no HDF5")
    (tmp_path / "running.csv.part.h5").write_bytes(b"")
    return tmp_path


def test_a_folder_is_read_once_and_followed(folder, monkeypatch):
    first = entries(folder)
    assert [(e.file, e.kind, e.status) for e in first] == [
        ("a.h5", "run", "finished"),
        ("s.csv", "study", "1 of 2 failed"),
        ("sub/b.h5", "run", "failed"),
    ]
    assert first[0].parameters == {"l": 0.5}
    assert first[0].measures == {"top": pytest.approx(np.sin(1.0))}
    assert first[1].measures == {"max(rod.x)": 3.0}
    import vbg.io.runs.folder as module

    read = []
    describe = module.describe
    monkeypatch.setattr(module, "describe", lambda p, n: read.append(n) or describe(p, n))
    assert str(entries(folder)) == str(first)
    assert read == []
    hdf5.write(solution(4.0), folder / "a.h5", MODEL.format(length=0.9))
    (folder / "s.csv").unlink()
    again = entries(folder)
    assert read == ["a.h5"]
    assert [e.file for e in again] == ["a.h5", "sub/b.h5"]
    assert again[0].parameters == {"l": 0.9}
    assert str(entries(folder, rebuild=True)) == str(again)


@pytest.mark.parametrize("damage", ["bytes", "version", "row", "gone"])
def test_the_index_is_only_an_index(folder, damage):
    first = entries(folder)
    index = folder / INDEX
    if damage == "bytes":
        index.write_bytes(b"not a database, by any means " * 50)
    elif damage == "gone":
        index.unlink()
    else:
        base = sqlite3.connect(index)
        base.execute("PRAGMA user_version = 99" if damage == "version" else "SELECT 1")
        if damage == "row":
            base.execute("UPDATE entry SET data = '{\"file\": 3}'")
        base.commit()
        base.close()
    assert str(entries(folder)) == str(first)


def test_a_link_in_place_of_the_index_is_not_followed(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "precious"
    other.write_text("keep me")
    os.symlink(other, folder / INDEX)
    assert len(entries(folder)) == 3
    assert other.read_text() == "keep me"


def test_tags_stand_beside_the_files(folder):
    assert change_tags(folder / "a.h5", ["base", "ok", "base"]) == ("base", "ok")
    assert change_tags(folder / "sub" / "b.h5", ["base"]) == ("base",)
    assert change_tags(folder / "a.h5", [], ["ok"]) == ("base",)
    assert (folder / TAGS).read_text() == '"a.h5" = ["base"]\n'
    (folder / INDEX).unlink(missing_ok=True)
    assert {e.file: e.tags for e in entries(folder)} == {
        "a.h5": ("base",),
        "s.csv": (),
        "sub/b.h5": ("base",),
    }
    assert change_tags(folder / "a.h5", [], ["base"]) == ()
    assert read_tags(folder) == {}
    (folder / TAGS).write_text("a.h5 = 3")
    with pytest.raises(UsageError, match="no file of tags"):
        entries(folder)


@pytest.mark.parametrize(
    ("conditions", "files"),
    [
        (["model=swing"], ["a.h5", "sub/b.h5"]),
        (["kind=study"], ["s.csv"]),
        (["l>0.6"], ["sub/b.h5"]),
        (["l<=0.5", "status=finished"], ["a.h5"]),
        (["status!=finished"], ["s.csv", "sub/b.h5"]),
        (["file~sub/*"], ["sub/b.h5"]),
        (["tag=base"], ["a.h5"]),
        (["tag!=base", "kind=run"], ["sub/b.h5"]),
        (["max(rod.x)=3"], ["s.csv"]),
        (["t_end>=1"], ["a.h5", "sub/b.h5"]),
    ],
)
def test_find(folder, conditions, files):
    change_tags(folder / "a.h5", ["base"])
    found = find(entries(folder), [parse_condition(text) for text in conditions])
    assert [e.file for e in found] == files


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("model", "is no condition"),
        ("model>3", "model is a text"),
        ("l=abc", "'abc' is no number"),
        ("l~0*", "~ is for texts"),
        ("ll=3", "did you mean 'l'"),
    ],
)
def test_wrong_conditions(folder, condition, words):
    with pytest.raises(UsageError, match=words):
        find(entries(folder), [parse_condition(condition)])


def test_differences_of_two_runs():
    first, second = solution(1.0), solution(1.5)
    told = {one.signal: one for one in differences(first, second)}
    assert told["rod.x"].largest == pytest.approx(0.5 * np.sin(1.0))
    assert told["rod.x"].relative == pytest.approx(0.5)
    assert told["rod.x"].time == 1.0
    assert told["rod.v"].relative == pytest.approx(0.5 / (1.0 - np.cos(1.0)))
    assert all(one.largest == 0.0 for one in differences(first, first))


def test_rounding_of_what_stands_beside_something_constant_is_not_told_as_large():
    """A torque of 1e-13 N m beside a motor's constant 0.6 N m; residuals are no signals of a
    machine, and lengths count from anywhere: 1 um of a part 1 km away is not small."""

    def run(noise, at):
        t = np.linspace(0.0, 1.0, 11)
        signals = {
            "slide.torque": noise * np.sin(9 * t),
            "motor.torque": 0.6 + 0 * t,
            "rod.x": 1e3 + 1e-6 * at * t,
            "residual.velocity": noise * np.cos(t),
        }
        units = dict(zip(signals, ("N*m", "N*m", "m", "m/s or rad/s"), strict=True))
        return Solution(t, signals, units=units, made_by=MadeBy(), status=Status("finished", ""))

    told = {one.signal: one.relative for one in differences(run(1e-13, 1.0), run(3e-13, 2.0))}
    assert list(told) == ["rod.x", "slide.torque", "motor.torque"]
    assert told["rod.x"] == pytest.approx(1.0, rel=1e-6) and told["slide.torque"] < 1e-6


def test_what_there_is_where_nothing_is_found(folder):
    there = entries(folder)
    conditions = [parse_condition(text) for text in ("model=win", "tag=base", "l>9", "kind!=film")]
    assert what_there_is(there, conditions) == (
        "no model here is 'win'; there is 'swing'; model~*win* finds a part",
        "no tag here is 'base'; there is none at all",
    )


def test_on_the_command_line(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["results"]) == 0
    out = capsys.readouterr().out
    assert "sub/b.h5" in out
    assert out.endswith("2 runs, 1 study\n")
    assert main(["results", "tag", "a.h5", "base"]) == 0
    assert main(["results", "find", "tag=base", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(e["file"], e["tags"], e["parameters"]) for e in told] == [
        ("a.h5", ["base"], {"l": 0.5})
    ]
    assert main(["results", "compare", "a.h5", "sub/b.h5"]) == 0
    out = capsys.readouterr().out
    assert "l        " in out and "0.5" in out and "0.7" in out
    assert "top" in out and "rod.x" in out
    assert main(["results", "nowhere"]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main(["results", "--sort", "l"]) == 0
