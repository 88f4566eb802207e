"""Plots of results: the right curves, in the terminal and in files."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vbg.cli.main import main
from vbg.draw.chart import draw_curves
from vbg.draw.series import MOST, Series, by_unit, choose, errors_against_first, paths_of, series_of
from vbg.draw.study import StudyPicture, draw_study
from vbg.errors import UsageError
from vbg.io.runs import csv, hdf5
from vbg.solution import Solution


def run(n=50, shift=0.0):
    time = np.linspace(0.0, 2.0, n)
    force = np.column_stack([np.sin(time), 0 * time, np.cos(time) + shift])
    return Solution(
        time, {"A.force": force, "A.angle": time + shift}, units={"A.force": "N", "A.angle": "rad"}
    )


def test_a_signal_gives_its_components_and_a_pattern_all_that_match():
    found = run()
    assert [name for name, _ in choose(found, "A.force")] == [f"A.force.{i}" for i in "xyz"]
    assert [name for name, _ in choose(found, "A.force.z")] == ["A.force.z"]
    assert [name for name, _ in choose(found, "A.force[2]")] == ["A.force.z"]
    assert len(choose(found, "A.*")) == 4
    with pytest.raises(UsageError, match=r"A\.force"):
        choose(found, "A.forse")


def test_panels_by_unit():
    curves = series_of([("one", run())], ["A.angle", "A.force"])
    assert [(unit, len(group)) for unit, group in by_unit(curves)] == [("rad", 1), ("N", 3)]


def test_difference_of_runs_with_other_instants():
    """Linear signals are interpolated exactly; the second is 0.25 above the first."""
    curves = errors_against_first([("one", run()), ("two", run(33, 0.25))], ["A.angle"])
    assert_allclose(curves[0].values, 0.25, atol=1e-14)
    with pytest.raises(UsageError, match="second run"):
        errors_against_first([("one", run())], ["A.angle"])


@pytest.fixture
def result(tmp_path):
    path = tmp_path / "one.h5"
    hdf5.write(run(), path)
    return str(path)


def test_terminal(result, capsys):
    assert main(["plot", result, "A.angle", "A.force.x"]) == 0
    text = capsys.readouterr().out
    assert "A.angle [rad]" in text and "A.force.x [N]" in text
    assert "\x1b" not in text  # colours are for terminals only
    assert main(["plot", result, "A.angle", "--marks", "ascii"]) == 0
    assert capsys.readouterr().out.isascii()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files(result, tmp_path, ending):
    pytest.importorskip("matplotlib")
    target = tmp_path / f"x.{ending}"
    assert main(["plot", result, "A.force", "--with", result, "-o", str(target)]) == 0
    assert target.stat().st_size > 1000


def test_other_ending_is_misuse(result, tmp_path, capsys):
    assert main(["plot", result, "A.force", "-o", str(tmp_path / "x.jpg")]) == 2
    assert ".png" in capsys.readouterr().err
    assert main(["plot", "none.toml", "A.force"]) == 2


def test_one_signal_over_another(result, tmp_path, capsys):
    curves = paths_of([("one", run())], "A.angle", ["A.force"])
    assert [(c.across, c.across_unit, c.unit) for c in curves] == [("A.angle", "rad", "N")] * 3
    assert_allclose(curves[2].values, np.cos(curves[2].x))
    with pytest.raises(UsageError, match="3 components"):
        paths_of([("one", run())], "A.force", ["A.angle"])
    assert main(["plot", result, "A.force.x", "--across", "A.force.z"]) == 0
    assert "over A.force.z [N]" in capsys.readouterr().out
    target = tmp_path / "phase.svg"
    assert main(["plot", result, "A.force.x", "--across", "A.angle", "-o", str(target)]) == 0
    assert main(["plot", result, "A.angle", "--across", "A.force.x", "--error"]) == 2
    assert "--across" in capsys.readouterr().err


def test_a_table_keeps_its_units_on_the_axes(tmp_path, capsys):
    csv.write(run(), tmp_path / "one.csv")
    assert main(["plot", str(tmp_path / "one.csv"), "A.angle", "A.force.x"]) == 0
    text = capsys.readouterr().out
    assert "A.angle [rad]" in text and "A.force.x [N]" in text


def wide(path, count, units=("m",)):
    """A result of so many signals."""
    names = [f"s{i}" for i in range(count)]
    time = np.linspace(0.0, 1.0, 3)
    known = {name: units[i % len(units)] for i, name in enumerate(names)}
    hdf5.write(Solution(time, dict.fromkeys(names, time), units=known), path)
    return str(path)


@pytest.mark.parametrize("beside", [[], ["--log"], ["--across", "s7"], ["-o", "x.svg"]])
def test_more_curves_than_a_picture_has_are_refused(tmp_path, capsys, beside, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = wide("wide.h5", MOST + 1)
    assert main(["plot", result, "*", *beside]) == 2
    assert f"{MOST + 1} curves are asked for; a picture has at most" in capsys.readouterr().err
    assert not (tmp_path / "x.svg").exists()
    assert main(["plot", result, "s1?", *beside]) == 0


def test_curves_of_all_runs_are_counted(tmp_path, capsys):
    result = wide(tmp_path / "half.h5", MOST // 2 + 1)
    assert main(["plot", result, "*", "--with", result]) == 2
    assert "curves are asked for" in capsys.readouterr().err
    assert main(["plot", result, "*", "--with", result, "--error"]) == 0


def test_more_panels_than_a_picture_has_are_refused(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    result = wide(tmp_path / "units.h5", 50, [f"m^{i}" for i in range(50)])
    assert main(["plot", result, "*", "-o", str(tmp_path / "x.svg")]) == 2
    assert "50 panels are asked for" in capsys.readouterr().err
    many = StudyPicture({"a": np.arange(3.0)}, {f"m{i}": np.arange(3.0) for i in range(41)})
    with pytest.raises(UsageError, match="Name some of the measures"):
        draw_study(many, tmp_path / "x.svg")


@pytest.mark.slow
def test_a_long_legend_leaves_the_axes_their_room(tmp_path):
    """matplotlib gives up on the layout, with a warning, where a legend is too high."""
    pytest.importorskip("matplotlib")
    time = np.linspace(0.0, 1.0, 3)
    curves = [Series(f"body{i}.x", "one", "m", time, i * time) for i in range(MOST)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_curves(curves, tmp_path / "x.svg")
