"""What a study tells of a named measure is what a run tells of it: in its unit, with the unit
beside it, in the terminal, in tables, pictures, JSON and among the results of a folder."""

import csv
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg import units
from vbg.analysis.studies.optimise import optimise
from vbg.analysis.studies.sampling import grid, parse_range
from vbg.analysis.studies.sweep import Study, run_point, sweep, table_of, units_of
from vbg.analysis.studies.table import read_table
from vbg.cli.main import main
from vbg.errors import AssemblyError, UsageError
from vbg.io import toml
from vbg.io.runs.folder import entries
from vbg.io.runs.search import alike, find, parse_condition
from vbg.measures import measured

MODEL = """\
vbg = 1
name = "arm"
[parameters]
a = { value = 10, unit = "deg" }
l = { value = 400, unit = "mm" }
[bodies.rod]
mass = 1.3
inertia = { xx = 1e-4, yy = 0.02, zz = 0.02 }
[joints.h]
kind = "revolute"
between = ["ground", { body = "rod", at = ["-l/2", 0, 0] }]
axis = [0, 1, 0]
drive = "a*(1 + t)"
[simulate]
t_end = 0.2
output_step = 0.05
[measures]
hold = { expression = "final(h.torque.y)", unit = "N*cm" }
angle = { expression = "final(h.angle)", unit = "deg" }
life = { expression = "bearing_life(norm(h.force), h.speed, 1 kN)", unit = "h" }
work = "final(energy.supplied)"
heat = { expression = "200 + 150*final(h.angle)/final(h.angle)", unit = "degC" }
share = { expression = "final(h.angle)/(90 deg)", unit = "%" }
plain = "final(h.torque.y)*final(h.angle)/3"
"""
NAMED = ("hold", "angle", "life", "work", "heat", "share", "plain")
SPELLED = "mean(norm(h.force))"
UNITS = ("N*cm", "deg", "h", "J", "degC", "%", "", "N")
VARY = "a=10 deg:80 deg:3"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(MODEL)
    return path


@pytest.fixture
def study(file):
    return Study(vbg.read(file), {}, (*NAMED, SPELLED))


def of_a_run(study, point):
    """What `vbg run` tells at the point: {measure: (value, unit)}."""
    model = study.model.with_parameters(**dict(point))
    solution = vbg.simulate(model)
    known = model.parameters, model.functions, study.model.parameter_units
    asked = {text: study.measure(text) for text in study.measures}
    found = [measured(name, measure, solution, *known) for name, measure in asked.items()]
    return {one.name: (one.value, one.unit) for one in found}


def points():
    return grid([parse_range(VARY, {"a": "deg"})])


def test_a_point_of_a_study_is_a_run(study):
    assert units_of(study) == UNITS
    for point in points():
        told = of_a_run(study, point)
        row = run_point(study, point)
        assert_allclose(row.measures, [value for value, _ in told.values()], rtol=1e-12)
        assert units_of(study) == tuple(unit for _, unit in told.values())


def test_a_table_keeps_the_unit_of_each_measure(study, tmp_path):
    """Read again by its names, whether they are functions or not; taken up again as it was."""
    path = tmp_path / "t.csv"
    sweep(study, points()[:2], table_of(study, path, ["a"]))
    sweep(study, points(), table := table_of(study, path, ["a"]))
    assert len(table.rows) == 3 and table.missing(points()) == []
    with open(path, encoding="utf-8") as text:
        head, *lines = csv.reader(text)
    titles = [f"{name} [{unit or '1'}]" for name, unit in zip(study.measures, UNITS)]
    assert head == ["study", "a", *titles, "status", "reason"]
    found = read_table(path)
    assert list(found.parameters) == ["a"] and found.units == dict(zip(study.measures, UNITS))
    for k, (name, values) in enumerate(found.measures.items()):
        assert name == study.measures[k]
        assert values == [float(line[2 + k]) for line in lines]


def test_the_optimum_is_at_the_same_place_in_any_unit(file):
    """And its value is in that unit; one that falls as the other rises would be none."""
    found = {}
    for unit in ("N*m", "N*cm", "kN*m"):
        text = MODEL.replace('unit = "N*cm"', f'unit = "{unit}"')
        one = Study(toml.parse(text), {}, ("hold",))
        table = table_of(one, file.parent / f"{unit.replace('*', '')}.csv", ["a"])
        ranges = [parse_range("a=10 deg:170 deg", {"a": "deg"})]
        best = optimise(one, ranges, table, evaluations=12)
        found[unit] = dict(best.point)["a"], best.measures[0] * units.coherent_factor(unit)
    assert len({place for place, _ in found.values()}) == 1
    values = [value for _, value in found.values()]
    assert_allclose(values, values[0], rtol=1e-12)


def test_quantities_that_do_not_go_together_are_refused_before_the_first_run(file):
    for wrong in ("max(norm(h.force)) + 1 m", "final(h.angle) - final(h.speed)"):
        with pytest.raises(UsageError, match=r"is an? "):
            units_of(Study(vbg.read(file), {}, (wrong,)))


def test_where_the_model_as_it_is_written_is_impossible_measures_have_their_own_units(
    study, monkeypatch
):
    """No signal has a unit to follow from; points of it may be possible."""

    def impossible(model):
        raise AssemblyError("it cannot be put together.")

    monkeypatch.setattr("vbg.assemble.assemble", impossible)
    assert units_of(study) == ("N*cm", "deg", "h", "", "degC", "%", "", "")


def words(capsys, *command):
    assert main([str(word) for word in command]) == 0
    return capsys.readouterr().out


def test_the_terminal_shows_each_number_under_its_unit(file, capsys):
    ask = [word for name in ("hold", "life", SPELLED) for word in ("--measure", name)]
    out = words(capsys, "sweep", file, "--vary", VARY, *ask)
    head, first = (line.split("  ") for line in out.splitlines()[:2])
    titles = [cell.strip() for cell in head if cell.strip()]
    assert titles == ["a [deg]", "hold [N*cm]", "life [h]", f"{SPELLED} [N]", "status"]
    told = of_a_run(Study(vbg.read(file), {}, ("hold", "life", SPELLED)), points()[0])
    shown = [float(cell) for cell in first if cell.strip() and cell.strip() != "finished"]
    assert_allclose(shown, [10.0, *(value for value, _ in told.values())], rtol=1e-5)
    out = words(capsys, "optimise", file, "--vary", VARY, "--measure", "hold", "--evaluations", "3")
    place, value, *_ = out.splitlines()
    assert place.startswith("a = ") and place.endswith(" deg")
    assert 10.0 <= float(place.split()[2]) <= 80.0
    assert value.startswith("hold = ") and value.endswith(" N*cm")


def test_effects_and_json_say_the_unit(file, capsys):
    command = ("sweep", file, "--vary", VARY, "--measure", "hold", "--measure", SPELLED)
    out = words(capsys, *command, "--effects")
    assert "effects on hold [N*cm]," in out and f"effects on {SPELLED} [N]," in out
    told = json.loads(words(capsys, *command, "--effects", "--json"))
    assert [one["unit"] for one in told["effects"]] == ["N*cm", "N"]
    rows = json.loads(words(capsys, *command, "--json"))
    assert rows == told["rows"]
    assert all(row["units"] == {"hold": "N*cm", SPELLED: "N"} for row in rows)
    best = json.loads(words(capsys, "optimise", *command[1:], "--evaluations", "2", "--json"))
    assert best["units"] == {"hold": "N*cm", SPELLED: "N"}


def test_pictures_of_named_measures(file, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    table, picture, effects = (tmp_path / name for name in ("t.csv", "t.svg", "e.svg"))
    command = ("sweep", file, "--vary", VARY, "--measure", "hold", "-o", table)
    words(capsys, *command, "--plot", picture, "--effects-plot", effects)
    again = tmp_path / "again.svg"
    words(capsys, "plot", table, "hold", "-o", again)
    from vbg.draw.study import StudyPicture

    one = StudyPicture({"a": np.ones(1)}, {"a": np.ones(1)}, None, {"a": "deg"}, {"a": "N*cm"})
    assert (one.label("a"), one.title("a")) == ("a [deg]", "a [N*cm]")


@pytest.mark.slow
def test_the_results_of_a_folder_are_compared_in_one_unit(file, capsys, monkeypatch):
    """A run in h, a study in min; what is another quantity in another file is refused."""
    monkeypatch.chdir(file.parent)
    words(capsys, "run", file, "-o", "run.h5")
    short = file.parent / "short.toml"
    short.write_text(MODEL.replace('unit = "h"', 'unit = "min"').replace("0.2", "0.1"))
    words(capsys, "sweep", short, "--vary", VARY, "--measure", "life", "-o", "s.csv")
    found = {one.file: one for one in entries(".")}
    assert (found["run.h5"].units["life"], found["s.csv"].units["life"]) == ("h", "min")
    for entry, one in zip(found.values(), alike(tuple(found.values()), ["life"]), strict=True):
        assert one.units["life"] == "h"
        factor = 60.0 if entry.units["life"] == "min" else 1.0
        assert one.measures["life"] == pytest.approx(entry.measures["life"] / factor)
    middle = sum(one.measures["life"] for one in alike(tuple(found.values()), ["life"])) / 2
    below = find(tuple(found.values()), [parse_condition(f"life<{middle!r}")])
    assert len(below) == 1
    out = words(capsys, "results", "list", ".", "--show", "life", "--sort", "life")
    assert "life [h]" in out.splitlines()[0]
    assert out.splitlines()[1].split()[0] == below[0].file
    other = MODEL.replace('"final(h.angle)", unit = "deg"', '"final(h.speed)", unit = "rpm"')
    short.write_text(other)
    words(capsys, "sweep", short, "--vary", VARY, "--measure", "angle", "-o", "other.csv")
    with pytest.raises(UsageError, match=r"angle is in rpm in other\.csv and in deg in run\.h5"):
        find(entries("."), [parse_condition("angle>3")])


def test_studies_are_compared_by_the_runs_that_both_have(file, capsys, monkeypatch):
    """Of one point moved and one in another unit; what has no value there is left out."""
    monkeypatch.chdir(file.parent)
    other = file.parent / "other.toml"
    other.write_text(MODEL.replace("mass = 1.3", "mass = 1.7").replace('"N*cm"', '"kN*m"'))
    ask = ("--measure", "hold", "--measure", SPELLED)
    words(capsys, "sweep", file, "--vary", "a=10 deg:80 deg:3", *ask, "-o", "one.csv")
    words(capsys, "sweep", other, "--vary", "a=10 deg:45 deg:2", *ask, "-o", "two.csv")
    assert [entry.model for entry in entries(".") if entry.kind == "study"] == ["arm", "arm"]
    found = json.loads(words(capsys, "results", "compare", "one.csv", "two.csv", "--json"))
    one, two = (read_table(name) for name in ("one.csv", "two.csv"))
    both = [a for a in one.parameters["a"] if a in two.parameters["a"]]
    assert len(both) == 2
    (shifts,) = found["shifts"]
    for shift in shifts:
        name, factor = shift["measure"], {"hold": 1e5, SPELLED: 1.0}[shift["measure"]]
        a, b = (
            np.array([t.measures[name][t.parameters["a"].index(at)] for at in both])
            for t in (one, two)
        )
        assert shift["unit"] == {"hold": "N*cm", SPELLED: "N"}[name] and shift["runs"] == 2
        assert_allclose(shift["largest"], np.abs(factor * b - a).max(), rtol=1e-9)
        assert shift["point"]["a"] == both[int(np.argmax(np.abs(factor * b - a)))]
    out = words(capsys, "results", "compare", "one.csv", "two.csv")
    assert "two.csv against one.csv:" in out and " N*cm" in out
    words(capsys, "run", file, "-o", "run.h5")
    assert main(["results", "compare", "one.csv", "run.h5"]) != 0
    assert "compare runs with runs" in capsys.readouterr().err
