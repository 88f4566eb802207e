"""Plans of experiments and the effects that they tell."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vbg.analysis.studies.effects import effects_of, effects_of_rows
from vbg.analysis.studies.plans import coded, points_of
from vbg.analysis.studies.sampling import Range
from vbg.analysis.studies.table import Row
from vbg.cli.main import main
from vbg.errors import UsageError

EXAMPLES = Path(__file__).parents[2] / "examples"

AB = [Range("a", 2.0, 6.0, 3), Range("b", 1.0, 100.0, 3, log=True)]
ABC = [*AB, Range("c", -1.0, 3.0, 3)]

MODEL = """\
vbg = 1
name = "oscillator"
gravity = [0, 0, 0]
[parameters]
k = 100.0
m = 1.0
[bodies.mass]
mass = "m"
inertia = { xx = 0.01, yy = 0.01, zz = 0.01 }
[joints.guide]
kind = "prismatic"
between = ["ground", "mass"]
axis = [1, 0, 0]
initial = { slide = 0.1 }
[forces.spring]
kind = "spring"
on = "joints.guide"
k = "k"
"""


def test_plans_fill_the_ranges():
    assert len(points_of(ABC, "factorial:2")) == 8
    assert_allclose(np.abs(coded(ABC, points_of(ABC, "factorial:2"))), 1.0)
    x = coded(ABC, points_of(ABC, "sobol:64:5"))
    assert x.shape == (64, 3)
    for column in x.T:  # one point in each of 64 slices: a net of strength m in one dimension
        assert sorted(((column + 1.0) * 32.0).astype(int)) == list(range(64))
    assert points_of(AB, "sobol:8") != points_of(AB, "sobol:8:2")
    assert points_of(AB, None) == points_of(AB, "factorial:3")


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_central_composite_plans(k):
    """Rotatable: the variance of a quadratic fit depends on the distance from the middle only,
    which holds where sum x_i^4 = 3 sum x_i^2 x_j^2 (Box and Hunter, 1957)."""
    ranges = [Range(f"p{i}", -1.0, 1.0, 2) for i in range(k)]
    x = coded(ranges, points_of(ranges, "ccd"))
    assert len(x) == 2**k + 2 * k + 1
    assert np.abs(x).max() == pytest.approx(1.0)
    if k > 1:
        assert np.sum(x[:, 0] ** 4) == pytest.approx(3.0 * np.sum(x[:, 0] ** 2 * x[:, 1] ** 2))
    faces = coded(ranges, points_of(ranges, "ccf"))
    assert set(np.unique(faces)) == {-1.0, 0.0, 1.0}
    assert len(np.unique(faces, axis=0)) == len(faces)


def quadratic(x):
    return 5.0 + 3.0 * x[:, 0] - 2.0 * x[:, 1] + 0.5 * x[:, 0] * x[:, 1] + 0.25 * x[:, 2] ** 2


@pytest.mark.parametrize("plan", ["factorial:3", "ccd", "ccf", "sobol:32", "lhs:40"])
def test_effects_of_a_polynomial(plan):
    points = points_of(ABC, plan)
    y = quadratic(coded(ABC, points))
    rows = [Row(point, (value,), "finished", "") for point, value in zip(points, y.tolist())]
    (found,) = effects_of_rows(ABC, [*rows, Row(points[0], (), "failed", "why")], ["y"], ["kN"])
    assert found.title == "y [kN]"
    told = {effect.name: effect.value for effect in found.effects}
    assert told["a"] == pytest.approx(6.0)
    assert told["b"] == pytest.approx(-4.0)
    assert told["a x b"] == pytest.approx(1.0)
    assert told["c^2"] == pytest.approx(0.25)
    assert told["a^2"] == pytest.approx(0.0, abs=1e-12)
    assert found.mean == pytest.approx(5.0)
    assert found.explained == pytest.approx(1.0)
    assert found.runs == len(points)


def test_a_two_level_factorial_gives_differences_of_means():
    x = coded(ABC, points_of(ABC, "factorial:2"))
    y = np.random.default_rng(2).normal(size=8)
    found = effects_of("y", ["a", "b", "c"], x, y)
    for i, name in enumerate("abc"):
        high, low = y[x[:, i] > 0].mean(), y[x[:, i] < 0].mean()
        assert found.coefficient(name) == pytest.approx(0.5 * (high - low))
    at_high = y[(x[:, 0] > 0) & (x[:, 1] > 0)].mean() - y[(x[:, 0] < 0) & (x[:, 1] > 0)].mean()
    at_low = y[(x[:, 0] > 0) & (x[:, 1] < 0)].mean() - y[(x[:, 0] < 0) & (x[:, 1] < 0)].mean()
    told = {effect.parameters: effect.value for effect in found.effects}
    assert told["a", "b"] == pytest.approx(0.5 * (at_high - at_low))
    assert found.without == ("curvatures",)


def test_what_the_runs_do_not_tell_is_said():
    x = coded(ABC, points_of(ABC, "lhs:5"))
    assert effects_of("y", ["a", "b", "c"], x, x[:, 0]).without == ("interactions", "curvatures")
    with pytest.raises(UsageError, match="3 runs do not tell 3 parameters apart"):
        effects_of("y", ["a", "b", "c"], x[:3], x[:3, 0])


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("sobol:10", "2\\^m points, as 8 or 16"),
        ("grid", "there is no such plan"),
        ("lhs:x", "there is no such plan"),
        ("ccd:3", "there is no such plan"),
        ("factorial:999", "at most"),
    ],
)
def test_wrong_plans(plan, words):
    with pytest.raises(UsageError, match=words):
        points_of(ABC, plan)


def test_effects_of_ranges_of_one_value(tmp_path, capsys):
    """Refused before a run is made where all are; where one is, the others have their effects."""
    model, table = str(EXAMPLES / "pendulum.toml"), str(tmp_path / "s.csv")
    picture = tmp_path / "e.svg"
    words = ["sweep", model, "--measure", "max(norm(hinge.force))", "--t-end", "0.02"]
    words += ["-o", table, "-j", "1", "--effects", "--effects-plot", str(picture)]
    assert main([*words, "--vary", "L=1:1"]) == 2
    assert "no parameter varies" in capsys.readouterr().err
    ranges = ["--vary", "L=1:1", "--vary", "d=0.01:0.02"]
    assert main([*words, *ranges, "--samples", "factorial:2"]) == 0
    assert "\n  d " in capsys.readouterr().out and picture.exists()


def test_effects_on_the_command_line(tmp_path, capsys):
    """Period 2 pi sqrt(m / k): in logarithms m and k act alike, against each other."""
    model, table = tmp_path / "m.toml", str(tmp_path / "t.csv")
    model.write_text(MODEL)
    asked = ["sweep", str(model), "--vary", "k=log:90:110", "--vary", "m=log:0.9:1.1"]
    asked += ["--samples", "ccf", "--measure", "max(guide.speed)", "--t-end", "1", "-o", table]
    picture = tmp_path / "e.svg"
    assert main([*asked, "--effects", "--effects-plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "effects on max(guide.speed) [m/s], low to high of each parameter: 9 runs" in out
    assert "k x m" in out
    assert b"<svg" in picture.read_bytes()
    assert main([*asked, "--effects", "--json"]) == 0
    effects = json.loads(capsys.readouterr().out)["effects"][0]["effects"]
    told = {tuple(effect["parameters"]): effect["value"] for effect in effects}
    speed = 0.1 * np.sqrt(100.0)  # x0 sqrt(k / m)
    assert told["k",] == pytest.approx(speed * 0.5 * np.log(110 / 90), rel=1e-2)
    assert told["m",] == pytest.approx(-speed * 0.5 * np.log(1.1 / 0.9), rel=1e-2)
