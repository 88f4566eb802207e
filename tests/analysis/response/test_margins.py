"""Margins, bandwidth and closed poles against loops whose margins are known in closed form."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vbg.analysis import linearise
from vbg.analysis.linear.crossings import band, closed, margins, static_gain
from vbg.assemble import assemble
from vbg.cli.main import main
from vbg.model import Model


def loop_of(numerator, denominator, **more):
    """A feedback loop of a transfer function beside a mass that has nothing to do with it."""
    signals = {
        "error": {"kind": "expression", "expression": "demand - answer"},
        "demand": {"kind": "step", "height": 1.0, "start": 0.5},
        "answer": {
            "kind": "transfer_function",
            "input": "error",
            "numerator": numerator,
            "denominator": denominator,
        },
        **more,
    }
    load = {"kind": "mass", "nodes": ["slide"], "m": 2.0}
    push = {"kind": "force", "nodes": ["slide"], "force": "answer"}
    hold = {"kind": "damper", "nodes": ["slide"], "c": 3.0}
    back = {"kind": "spring", "nodes": ["slide"], "k": 7.0}
    parts = {"load": load, "push": push, "hold": hold, "back": back}
    return Model(name="loop", translational=parts, signals=signals)


def closed_poles(linear):
    return np.linalg.eigvals(closed(linear))


def opened(*args, **more):
    return linearise(assemble(loop_of(*args, **more)), loop="error")


def test_three_lags():
    """G = k / (s + 1)^3: -180 deg at w = sqrt 3, gain margin 8 / k; unity where
    (1 + w^2)^3 = k^2, phase margin pi - 3 atan w."""
    k = 3.0
    found = margins(opened([k], [1.0, 3.0, 3.0, 1.0]))
    assert len(found.gain) == len(found.phase) == 1
    assert found.gain[0].frequency == pytest.approx(np.sqrt(3.0), rel=1e-9)
    assert found.gain[0].margin == pytest.approx(8.0 / k, rel=1e-9)
    w = np.sqrt(k ** (2 / 3) - 1.0)
    assert found.phase[0].frequency == pytest.approx(w, rel=1e-9)
    assert found.phase[0].margin == pytest.approx(np.pi - 3.0 * np.arctan(w), rel=1e-9)
    s = 1j * np.linspace(0.5, 3.0, 20001)
    peak = np.abs(1.0 / (1.0 + k / (s + 1.0) ** 3)).max()
    assert found.sensitivity.margin == pytest.approx(peak, rel=1e-7)


@pytest.mark.parametrize("k", [7.5, 8.0 - 1e-6, 8.0 + 1e-6, 20.0])
def test_closed_loop_is_stable_as_long_as_the_gain_margin_is_above_one(k):
    linear = opened([k], [1.0, 3.0, 3.0, 1.0])
    (crossing,) = margins(linear).gain
    assert (closed_poles(linear).real.max() < 0.0) == (crossing.margin > 1.0) == (k < 8.0)


def test_closed_poles_of_the_opened_loop_are_those_of_the_machine():
    model = assemble(loop_of([2.0, 5.0], [1.0, 0.7, 4.0]))
    whole = np.sort_complex(linearise(model, inputs=[]).eigenvalues)
    for cut in ("error", "answer"):
        found = np.sort_complex(closed_poles(linearise(model, loop=cut)))
        assert_allclose(found, whole, atol=1e-9)


def test_dead_time_uses_the_phase_margin_up():
    """With a delay of margin / frequency in the loop it is at the edge of stability."""
    k = 3.0
    (crossing,) = margins(opened([k], [1.0, 3.0, 3.0, 1.0])).phase
    limit = crossing.margin / crossing.frequency
    for factor, stable in ((0.98, True), (1.02, False)):
        late = {"kind": "delay", "input": "answer", "time": factor * limit, "order": 8}
        error = {"kind": "expression", "expression": "demand - late"}
        linear = opened([k], [1.0, 3.0, 3.0, 1.0], late=late, error=error)
        assert (closed_poles(linear).real.max() < 0.0) == stable


def test_an_integrator_has_no_static_gain_and_ninety_degrees():
    found = opened([4.0], [1.0, 0.0])
    assert static_gain(found, None, None) is None
    (crossing,) = margins(found).phase
    assert crossing.frequency == pytest.approx(4.0, rel=1e-9)
    assert crossing.margin == pytest.approx(np.pi / 2, rel=1e-9)
    assert margins(found).gain == ()


def test_a_pole_on_the_axis_is_no_crossing():
    """1 / (s^2 + 1) jumps from 0 to -180 deg at w = 1, where it is infinite; |G| = 1 at sqrt 2."""
    found = margins(opened([1.0], [1.0, 0.0, 1.0]))
    assert found.gain == ()
    assert [c.frequency for c in found.phase] == [pytest.approx(np.sqrt(2.0), rel=1e-9)]


def test_band_of_an_oscillator():
    """w0^2 / (s^2 + 2 d w0 s + w0^2): peak 1 / (2 d sqrt(1 - d^2)) at w0 sqrt(1 - 2 d^2)."""
    w0, d = 7.0, 0.2
    alone = {"kind": "expression", "expression": "demand"}
    model = loop_of([3 * w0**2], [1.0, 2 * d * w0, w0**2], error=alone)
    found = band(linearise(assemble(model), inputs=["demand"], outputs=["answer"]))
    assert found.static == pytest.approx(3.0, rel=1e-6)
    assert found.peak.frequency == pytest.approx(w0 * np.sqrt(1 - 2 * d**2), rel=1e-5)
    assert found.peak.margin == pytest.approx(3 / (2 * d * np.sqrt(1 - d**2)), rel=1e-9)
    wide = w0 * np.sqrt(1 - 2 * d**2 + np.sqrt((1 - 2 * d**2) ** 2 + 1))
    assert found.bandwidth == pytest.approx(wide, rel=1e-6)


FILE = """
vbg = 1
[translational.load]
kind = "mass"
nodes = ["slide"]
m = 2.0
[translational.push]
kind = "force"
nodes = ["slide"]
force = "answer"
[translational.hold]
kind = "damper"
nodes = ["slide"]
c = 3.0
[translational.back]
kind = "spring"
nodes = ["slide"]
k = 7.0
[signals.demand]
kind = "step"
[signals.error]
kind = "expression"
expression = "demand - answer"
[signals.answer]
kind = "transfer_function"
input = "error"
numerator = [3]
denominator = [1, 3, 3, 1]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "loop.toml"
    path.write_text(FILE)
    return str(path)


def test_show_bode_tells_the_margins_and_draws(file, capsys):
    assert main(["show", "bode", file, "--break", "error"]) == 0
    text = capsys.readouterr().out
    assert "gain margin   8.519 dB at 1.7321 rad/s" in text  # 8 / 3
    assert "closed loop   Stable: deviations die out" in text
    assert "[dB]" in text and "[deg]" in text and "-180 deg" in text
    assert main(["show", "bode", file, "--break", "error", "--json"]) == 0
    (plain,) = json.loads(capsys.readouterr().out)["responses"]
    assert plain["gain_margins"][0]["factor"] == pytest.approx(8 / 3)
    assert plain["degrees"][0] == pytest.approx(0.0, abs=20.0)
    assert plain["degrees"][-1] == pytest.approx(-270.0, abs=20.0)


def test_show_bode_writes_tables_and_pictures(file, tmp_path, capsys):
    table = tmp_path / "out.csv"
    ends = ["--from", "demand", "--to", "answer", "slide", "--range", "0.1 Hz:10 Hz"]
    ends[4] = "translational.slide.speed"
    assert main(["show", "bode", file, *ends, "--points", "7", "-o", str(table)]) == 0
    lines = table.read_text().splitlines()
    assert lines[0].split(",")[:2] == ["frequency [rad/s]", "answer [dB]"] and len(lines) == 8
    values = np.loadtxt(table, delimiter=",", skiprows=1)
    assert_allclose(values[[0, -1], 0], 2 * np.pi * np.array([0.1, 10.0]))
    s = 1j * values[:, 0]
    answer = 3.0 / ((s + 1.0) ** 3 + 3.0)
    for column, expected in ((1, answer), (3, s * answer / (2.0 * s**2 + 3.0 * s + 7.0))):
        assert_allclose(values[:, column], 20 * np.log10(np.abs(expected)), atol=1e-7)
        turns = (values[:, column + 1] - np.degrees(np.angle(expected))) / 360.0
        assert_allclose(turns, np.round(turns), atol=1e-9)
    assert "bandwidth (-3 dB)" in capsys.readouterr().out
    picture = tmp_path / "out.svg"
    assert main(["show", "bode", file, "--break", "error", "-o", str(picture)]) == 0
    assert picture.read_text().count("<svg") == 1


@pytest.mark.parametrize("k", [0.5, 3.0, 8.0, 40.0])
def test_a_picture_of_an_opened_loop_has_its_margins(k, tmp_path, monkeypatch, capsys):
    """k / (s + 1)^3: stretches end on the curves k / (1 + w^2)^1.5 and -3 atan w, at the crossings
    sqrt 3 and sqrt(k^(2/3) - 1), and begin at 0 dB and -180 deg."""
    import vbg.draw.chart

    path: Path = tmp_path / "loop.toml"
    drawn: dict = {}
    path.write_text(FILE.replace("[3]", f"[{k}]"))

    def drawing(_, to, marks):
        drawn["marks"] = marks
        Path(to).touch()

    monkeypatch.setattr(vbg.draw.chart, "draw_curves", drawing)
    picture = str(tmp_path / "a.png")
    assert main(["show", "bode", str(path), "--break", "error", "-o", picture]) == 0
    capsys.readouterr()
    lines = {(m.unit, m.level) for m in drawn["marks"] if m.x is None}
    assert lines == {("dB", 0.0), ("deg", -180.0)}
    found = {m.unit: m for m in drawn["marks"] if m.x is not None}
    assert found["dB"].x == pytest.approx(np.sqrt(3.0), rel=1e-7)
    assert found["dB"].value == pytest.approx(20.0 * np.log10(k / 8.0), abs=1e-6)
    assert found["dB"].text == f"gain margin {20.0 * np.log10(8.0 / k):.3g} dB" or k == 8.0
    assert ("deg" in found) == (k > 1.0)
    if k > 1.0:
        w = np.sqrt(k ** (2 / 3) - 1.0)
        assert found["deg"].x == pytest.approx(w, rel=1e-7)
        assert (found["deg"].level, found["deg"].value) == pytest.approx(
            (-180.0, -3.0 * np.degrees(np.arctan(w))), abs=1e-4
        )


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (["--from", "demand"], "--from SIGNAL --to SIGNAL"),
        (["--break", "nothing"], "there is no input 'nothing'"),
        (["--break", "error", "--range", "5:1"], "0 < LOW < HIGH"),
        (["--break", "error", "--points", "1"], "at least 2"),
    ],
)
def test_show_bode_refuses(file, ends, said, capsys):
    try:
        code = main(["show", "bode", file, *ends])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert said in capsys.readouterr().err


def test_ticks_of_a_logarithmic_axis():
    from vbg.draw.text.axes import powers

    values, labels = powers(-1.2, 4.3, 6)
    assert labels == ("0.1", "1", "10", "100", "1000", "10000")
    assert_allclose(values, np.arange(-1.0, 5.0))
    values, labels = powers(0.25, 1.05, 6)
    assert labels == ("2", "5", "10")
    assert_allclose(values, np.log10([2.0, 5.0, 10.0]))
