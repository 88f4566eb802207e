"""What the discrete-time method promises: stable, in balance from the first row, honest forces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from benchmarks.accuracy.mechanisms import (
    bennett,
    doubled,
    model_of,
    moving,
    planar,
    spatial,
    tree,
    windows,
)
from tests.anywhere import shaken
from tests.tail import tail
from vbg.cli.main import main
from vbg.errors import AssemblyError, UsageError
from vbg.simulate.discrete.bushings import Bushings
from vbg.simulate.events.events import Switches

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
OPENING = {"rocket-launcher"}  # its rail's joint opens, which bushings do not do
# 3000 rad/s^2; waves of 2e4, 4e4 rad/s along a beam: the expected error is told, and it is large
TOO_FAST = {"andrews-squeezer", "elastic-robot"}
BODY = {"mass": 2.0, "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04}}


def forces(solution, model):
    """Joint forces and torques, torques over 1 m."""
    return {
        name: values
        for name, values in solution.signals.items()
        if name.rpartition(".")[0] in model.joints and solution.unit(name) in ("N", "N*m")
    }


def off(found, exact, rows=slice(None)):
    """The largest difference of joint forces, of the largest of all."""
    model = exact[1]
    right = forces(exact[0], model)
    most = max((np.abs(v).max() for v in right.values()), default=0.0)
    differences = [np.abs(found[name][rows] - v[rows]).max() for name, v in right.items()]
    return max(differences, default=0.0) / most if most > 0.0 else 0.0


def expected_error(solution):
    told = [n.what for n in solution.notes if "forces up to" in n.what]
    return float(told[0].split("up to ")[1].split(" %")[0]) / 100.0 if told else 0.0


@pytest.mark.parametrize("name", OPENING)
def test_joints_that_open_are_refused_by_name(name):
    start = vbg.start(vbg.read(next(p for p in EXAMPLES if p.stem == name)))
    with pytest.raises((AssemblyError, UsageError), match=r"joints\.rail"):
        vbg.simulate(start, method="discrete-time", t_end=0.01)


STEADY = [p for p in EXAMPLES if p.stem not in OPENING]


@pytest.mark.parametrize("path", tail(STEADY, 16), ids=lambda p: p.stem)
def test_examples_are_stable_and_begin_in_balance(path):
    model = vbg.read(path)
    start = vbg.start(model)
    t_end = min(0.02, model.simulate.t_end)
    plan = {"t_end": t_end, "output_step": t_end / 4}
    exact = vbg.simulate(start, **plan), model
    found = vbg.simulate(start, method="discrete-time", **plan)
    assert found.status.code == "finished", found.status
    # gaps of Andrews' squeezer are a hundredth of its size
    assert off(found, exact, slice(0, 1)) < (0.02 if path.stem in TOO_FAST else 1e-4)
    error = off(found, exact)
    if path.stem not in TOO_FAST:
        assert error < 0.02
    assert error <= 2.0 * expected_error(found) + 1e-3


@pytest.mark.parametrize("hertz", [40.0, 300.0])
@pytest.mark.parametrize("name", ["spatial-four-bar", "slider-crank"])
def test_what_soft_bushings_keep_is_told_whole(name, hertz):
    """Neither energy nor speed is judged, but both are told; gaps are no excuse for energy."""
    path = next(p for p in EXAMPLES if p.stem == name)
    plan = {"t_end": 0.3, "output_step": 1e-3}
    found = vbg.simulate(
        vbg.read(path), method="discrete-time", bushing_frequency=hertz, step=1e-5, **plan
    )
    exact = vbg.simulate(vbg.read(path), **plan)
    sizes = [np.abs(found[f"energy.{n}"]).max() for n in ("kinetic", "supplied", "dissipated")]
    largest = max(*sizes, np.ptp(found["energy.potential"]))
    missing = np.abs(found["energy.residual"]).max() / largest
    assert found.audit.energy_residual == pytest.approx(missing, rel=1e-3)
    speeds = [n for n in exact.signals if n.endswith(".velocity")]
    peaks = [np.abs(exact[n]).max() for n in speeds]
    wrong = max(
        np.abs(found[n] - exact[n]).max() / peak
        for n, peak in zip(speeds, peaks, strict=True)
        if peak > 0.1 * max(peaks)
    )
    severity, told = next((n.severity, n.what) for n in found.notes if "may be off by" in n.what)
    error = float(told.split("off by ")[1].split(" %")[0]) / 100.0
    assert 0.2 * wrong < error
    assert severity == "warning" or max(error, wrong) < 0.11


def spinning(seed):
    """A top on a spherical joint, drawn in any size: a turn takes 200 to 2000 steps of 10 us."""
    random = np.random.default_rng(seed)
    mass, arm = 10.0 ** random.uniform([-3, -2], [2, 0])
    J = mass * arm**2 * np.array([0.3, 0.3, random.uniform(0.1, 0.5)])
    spin = 2.0 * np.pi / (1e-5 * 10.0 ** random.uniform(2.3, 3.3))
    body = {
        "mass": mass,
        "inertia": dict(zip(("xx", "yy", "zz"), J.tolist(), strict=True)),
        "points": {"A": [0, 0, -arm]},
        "rotation": {"axis": [0.6, 0.8, 0], "angle": random.uniform(0.5, 1.5)},
        "angular_velocity": [0.0, float(random.uniform(0.01, 0.1) * spin), spin],
    }
    joint = {"kind": "spherical", "between": ["ground", "top.A"]}
    return vbg.Model(vbg=1, bodies={"top": body}, joints={"tip": joint}), 6.0 * np.pi / spin


@pytest.mark.parametrize("seed", range(8))
def test_what_a_step_errs_by_is_told_too(seed):
    """Stiff bushings under a fast spin: the step, of first order, errs by far more than they do."""
    model, t_end = spinning(seed)
    plan = {"t_end": t_end, "output_step": t_end / 60}
    found = vbg.simulate(model, method="discrete-time", **plan)
    exact = vbg.simulate(model, rtol=1e-11, atol=1e-13, **plan)
    told = next(n.what for n in found.notes if "may be off by" in n.what)
    for name, words in (("tip.force", "forces up to "), ("top.velocity", "off by ")):
        wrong = np.abs(found[name] - exact[name]).max() / np.abs(exact[name]).max()
        share = float(told.split(words)[1].split(" %")[0]) / 100.0
        assert 1e-4 < wrong < 2.0 * share, (name, wrong, share)


@pytest.mark.parametrize("rows", [1, 7, 40])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_step_errs_by_without_joints_is_told(seed, rows):
    """x' = -x(0) w sin(w t) of a mass on a spring, `rows` steps from one row to the next."""
    random = np.random.default_rng(seed)
    mass, w = 10.0 ** random.uniform([-6, 0], [3, 3])
    step = 10.0 ** random.uniform(-2.5, -1.5) / w
    spring = {"kind": "spring", "nodes": ["a"], "k": mass * w**2, "length": 0.1}
    inertia = {"kind": "mass", "nodes": ["a"], "m": mass, "position": 0.3}
    model = vbg.Model(vbg=1, translational={"m": inertia, "k": spring})
    plan = {"t_end": 7.3 / w, "output_step": rows * step, "step": step}
    found = vbg.simulate(model, method="discrete-time", **plan)
    expected = -0.2 * w * np.sin(w * found.time)
    wrong = np.abs(found["m.speed"] - expected).max() / (0.2 * w)
    told = next(n.what for n in found.notes if "may be off by" in n.what)
    share = float(told.split("off by ")[1].split(" %")[0]) / 100.0
    assert 1e-7 < wrong < 1.5 * share < 10.0 * wrong


FAMILIES = (tree, spatial, doubled, planar, windows, bennett)


def scaled(made, mass, length):
    """As heavy and as large as that, in the same gravity: as fast by the root of the length."""
    slower = np.sqrt(length)
    bodies = [
        replace(
            b, mass=b.mass * mass, inertia=b.inertia * mass * length**2, p=b.p * length,
            v=b.v * slower, w=b.w / slower,
        )
        for b in made.bodies
    ]  # fmt: skip
    joints = [
        replace(
            j, at_first=j.at_first * length, at_second=j.at_second * length, lead=j.lead * length
        )
        for j in made.joints
    ]
    return replace(made, bodies=bodies, joints=joints)


@pytest.mark.parametrize(("mass", "length"), tail([(1e-6, 1e-3), (1e6, 1e3), (1.0, 1.0)], 1))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_random_machines_of_any_size_are_stable(family, mass, length):
    rng = np.random.default_rng(5)
    made = moving(rng, family(rng, 4))
    model = model_of(scaled(made, mass, length))
    try:
        start = vbg.start(model)
    except AssemblyError:  # a rigid one
        return
    second = np.sqrt(length)
    plan = {"t_end": 0.03 * second, "output_step": 0.01 * second}
    exact = vbg.simulate(start, **plan), model
    found = vbg.simulate(start, method="discrete-time", step=1e-5 * second, **plan)
    assert found.status.code == "finished", found.status
    assert off(found, exact, slice(0, 1)) < 1e-4
    assert off(found, exact) <= 2.0 * expected_error(found) + 1e-3


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 2.0])
def test_the_step_that_is_carried_is_that_of_the_amplification_matrix(ratio):
    """v <- v - dt (k x + c v), x <- x + dt v: its spectral radius is 1 at the limit."""
    frequency, growth = 300.0, 2.5
    bush = Bushings(np.ones(1), np.ones(1), frequency, ratio)
    limit = bush.carried(growth, 1.0)
    k, c = growth * frequency**2, growth * 2.0 * ratio * frequency
    for part, stable in ((0.999, True), (1.001, False)):
        dt = part * limit
        kick = np.array([[1.0, 0.0], [-dt * k, 1.0 - dt * c]])
        drift = np.array([[1.0, dt], [0.0, 1.0]])
        radius = np.abs(np.linalg.eigvals(drift @ kick)).max()
        assert (radius <= 1.0 + 1e-9) == stable


def flail(lightness):
    """A heavy rod on a light one: stretched out or folded, the bushings meet other masses."""
    rod = {"points": {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]}}
    light = {"xx": 1e-3 * lightness, "yy": 0.1 * lightness, "zz": 0.1 * lightness}
    return vbg.Model(
        name="flail",
        gravity=[0, 0, -9.81],
        bodies={
            "arm": {**rod, "mass": lightness, "inertia": light, "position": [0.5, 0, 0]},
            "bob": {
                **rod,
                "mass": 3.0,
                "inertia": {"xx": 0.001, "yy": 0.3, "zz": 0.3},
                "position": [1.5, 0, 0],
                "angular_velocity": [0, 25.0, 0],
            },
        },
        joints={
            "A": {"kind": "revolute", "between": ["ground", "arm.A"], "axis": [0, 1, 0]},
            "B": {"kind": "revolute", "between": ["arm.B", "bob.A"], "axis": [0, 1, 0]},
        },
    )


@pytest.mark.parametrize("lightness", [1.0, 1e-3])
def test_bushings_stay_stable_in_other_postures(lightness):
    """At the largest frequency that the step carries, of a damping that leaves no room."""
    start = vbg.start(flail(lightness))
    plan = {"t_end": 0.3, "output_step": 0.05, "step": 1e-4}
    limit = 1.2 / (2.0 * np.pi * 1e-4)
    for shaken_start in shaken(start, 3):
        found = vbg.simulate(shaken_start, method="discrete-time", bushing_frequency=limit, **plan)
        assert found.status.code == "finished", found.status
        assert found["energy.kinetic"].max() < 2.0 * found["energy.kinetic"][0]


def test_bushings_that_the_step_does_not_carry_are_refused():
    with pytest.raises(UsageError, match=r"bushings of 5000 Hz .* steps shorter than 3.9.*e-05 s"):
        vbg.simulate(flail(1.0), method="discrete-time", step=1e-4, bushing_frequency=5000.0)
    with pytest.raises(UsageError, match="step belongs to method 'discrete-time'"):
        vbg.simulate(flail(1.0), step=1e-4)
    with pytest.raises(UsageError, match="bushing_frequency must be a positive number"):
        vbg.simulate(flail(1.0), method="discrete-time", bushing_frequency=-1.0)


@pytest.mark.slow
def test_step_and_bushings_are_set_in_file_and_command_line(tmp_path, capsys):
    file = tmp_path / "swing.toml"
    file.write_text(
        """vbg = 1
name = "swing"
gravity = [0, 0, -9.81]
bodies.rod = { mass = 2, inertia = { xx = 0.02, yy = 0.03, zz = 0.04 }, position = [0.5, 0, 0] }
joints.pin = { kind = "revolute", between = ["ground", "rod"], axis = [0, 1, 0] }
[simulate]
method = "discrete-time"
t_end = 0.01
step = "20 us"
bushing_frequency = "1 kHz"
bushing_damping = 0.7
"""
    )
    assert main(["run", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "500 steps of 2e-05 s" in shown and "bushings of up to 1000 Hz" in shown
    assert "% of their peak" in shown
    assert main(["run", str(file), "--step", "50 us", "--bushing-frequency", "500"]) == 0
    shown = capsys.readouterr().out
    assert "200 steps of 5e-05 s" in shown and "bushings of up to 500 Hz" in shown


def on_a_slope(friction, **more):
    return vbg.Model(
        name="slope",
        gravity=[0, 0, -9.81],
        bodies={"block": BODY},
        joints={
            "slide": {
                "kind": "prismatic",
                "between": ["ground", "block"],
                "axis": [0.8, 0, -0.6],
                "friction": friction,
                **more,
            }
        },
    )


@pytest.mark.slow
def test_what_sticks_holds_and_what_is_pushed_too_hard_breaks_away():
    """2 kg, pulled by 11.77 N along the slope."""
    held = vbg.simulate(
        on_a_slope({"coulomb": 12.0}), method="discrete-time", t_end=0.04, output_step=0.01
    )
    assert np.ptp(held["slide.slide"]) < 1e-8
    assert_allclose(held["slide.friction"][1:], held["slide.friction"][1], rtol=1e-6)
    assert abs(held["slide.friction"][1]) == pytest.approx(2.0 * 9.81 * 0.6, rel=1e-3)
    stopping = on_a_slope({"coulomb": 14.0}, initial={"speed": 0.05})
    exact = vbg.simulate(stopping, t_end=0.06, output_step=0.02)
    found = vbg.simulate(stopping, method="discrete-time", t_end=0.06, output_step=0.02)
    assert_allclose(found["slide.slide"], exact["slide.slide"], atol=1e-6)
    assert [e.what for e in found.audit.events] == [e.what for e in exact.audit.events]
    assert found.audit.events[0].time == pytest.approx(exact.audit.events[0].time, abs=3e-5)
    free = vbg.simulate(
        on_a_slope({"coulomb": 6.0}), method="discrete-time", t_end=0.04, output_step=0.04
    )
    assert free["slide.slide"][-1] == pytest.approx(0.5 * 2.886 * 0.04**2, rel=1e-3)


def test_modes_are_chosen_where_something_changes_its_sign(monkeypatch):
    """A block slips for 2 ms, in 200 steps, and stops; with softer bushings once more."""
    chosen, jump = [], Switches.jump
    monkeypatch.setattr(
        Switches, "jump", lambda self, at, *more: chosen.append(at) or jump(self, at, *more)
    )
    stops = on_a_slope({"coulomb": 14.0}, initial={"speed": 0.0023})
    found = vbg.simulate(stops, method="discrete-time", t_end=4e-3, output_step=1e-3)
    assert found.made_by.n_steps >= 400
    assert [e.time for e in found.audit.events] == [pytest.approx(0.0023 * 2.0 / 2.228, abs=2e-5)]
    assert len(chosen) <= 24  # and once for each row
    assert found["slide.speed"][-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_stops_and_sampled_signals():
    """A block driven into a stop by a force that a sampled controller sets."""
    model = vbg.Model(
        name="sampled",
        gravity=[0, 0, 0],
        bodies={"block": BODY},
        joints={
            "slide": {
                "kind": "prismatic",
                "between": ["ground", "block"],
                "axis": [1, 0, 0],
                "stop": {"lower": -1.0, "upper": 0.02, "k": 2e4, "c": 50.0},
            }
        },
        signals={
            "wanted": {"kind": "sample_and_hold", "input": "20*cos(3*t)", "period": 0.03},
        },
        forces={"push": {"kind": "force", "on": "block", "force": ["wanted", 0, 0]}},
    )
    plan = {"t_end": 0.12, "output_step": 0.02}
    exact = vbg.simulate(model, **plan)
    found = vbg.simulate(model, method="discrete-time", **plan)
    assert found.status.code == "finished", found.status
    assert_allclose(found["wanted"], exact["wanted"], atol=1e-12)
    assert_allclose(found["slide.slide"], exact["slide.slide"], atol=2e-5)
