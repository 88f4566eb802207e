"""What happens between output rows is told, with its value: contacts, swings, at every scale."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import tail
from vbg.analysis.studies.sweep import Study, run_point
from vbg.io import toml
from vbg.simulate.record.peaks import WHERE, Peak, between_rows, hidden
from vbg.simulate.settings import MOST_ROWS

ASKED = re.compile(r"output_step = (\S+) s ")
TOLD = re.compile(r"(\S+) reaches (\S+) \S+ at t = (\S+) s, (\S+) in the rows")


def ball(mass=1.0, height=1.0, g=9.81, stiff=1e7):
    """Falls from `height` on a stop."""
    return vbg.Model(
        name="ball",
        gravity=[0, 0, -g],
        bodies={"ball": {"mass": mass, "inertia": {"xx": mass, "yy": mass, "zz": mass}}},
        joints={
            "rail": {
                "kind": "prismatic",
                "between": ["ground", "ball"],
                "axis": [0, 0, 1],
                "initial": {"slide": height},
                "stop": {"lower": 0.0, "k": stiff},
            }
        },
    )


def told(solution):
    """Signals and values of the warning, if there is one."""
    (*found,) = (n for n in solution.notes if n.where == WHERE)
    assert len(found) <= 1
    peaks = TOLD.findall(found[0].what) if found else []
    return {name: (float(value), float(t), float(rows)) for name, value, t, rows in peaks}


def asked_step(notes):
    """The output step [s] that the warning asks for, if it does."""
    found = [ASKED.search(note.remedy) for note in notes if note.where == WHERE]
    return next((float(one[1]) for one in found if one), None)


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_a_contact_between_two_rows_is_told_with_its_force(seed, method):
    """m g + sqrt((m g)^2 + 2 k m g h) at t = sqrt(2 h / g) and a quarter of a swing."""
    rng = np.random.default_rng(seed)
    mass, height, g = 10.0 ** rng.uniform([-6, -6, 0], [3, 2, 2])
    share = 10.0 ** rng.uniform(-6, -3)  # of the height that the stop gives way
    stiff = 2.0 * mass * g / height / share**2
    fall = np.sqrt(2.0 * height / g)
    begin = vbg.start(vbg.assemble(ball(mass, height, g, stiff)))
    plan = {"t_end": 1.5 * fall, "output_step": 0.31 * fall, "method": method}
    for start in shaken(begin, 10 if seed == 0 else 1):
        solution = vbg.simulate(start, **plan)
        assert not np.any(solution["rail.stop"])
        value, t, rows = told(solution)["rail.stop"]
        force = mass * g + np.sqrt((mass * g) ** 2 + 2.0 * stiff * mass * g * height)
        assert value == pytest.approx(force, rel=5e-3) and rows == 0.0
        assert t == pytest.approx(fall, rel=3.0 * share)


def test_the_step_that_is_asked_for_shows_the_peak():
    start = vbg.start(vbg.assemble(ball()))
    coarse = vbg.simulate(start, t_end=0.6, output_step=0.1)
    step = asked_step(coarse.notes)
    fine = vbg.simulate(start, t_end=0.6, output_step=step)
    assert not told(fine) and asked_step(fine.notes) is None
    value, t, _ = told(coarse)["rail.stop"]
    assert fine["rail.stop"].max() == pytest.approx(value, rel=0.05)
    assert fine.time[np.argmax(fine["rail.stop"])] == pytest.approx(t, abs=step)


def test_no_step_is_asked_for_that_no_run_keeps(rng):
    """A peak inside a step that is a rounding of the time: a run at half of that was advised, which
    is refused."""
    for share in (1e-310, *10.0 ** rng.uniform(-15, -1, 100)):
        t_end = float(10.0 ** rng.uniform(-9, 9))
        length = t_end * float(share)
        peak = Peak("rail.stop", "N", 2.0, 0.0, 0.5 * t_end, length, 1.0)
        (note,) = between_rows([peak], 0.3 * t_end, t_end)
        step = asked_step([note])
        if step is None:
            assert t_end / length > 0.05 * MOST_ROWS
            assert "no output step shows" in note.remedy
        else:
            assert t_end / step <= 1.001 * MOST_ROWS
            assert 0.05 * length <= step <= 0.5 * length
        assert hidden([note]) == [f"{note.what} {note.remedy}"]


@pytest.mark.parametrize("formulation", ["constraint", "minimal"])
def test_peaks_of_swinging_links_are_those_of_fine_rows(formulation):
    system = vbg.assemble(vbg.read("examples/triple-pendulum.toml"))
    plan = {"t_end": 1.5, "formulation": formulation}
    coarse = vbg.simulate(system, output_step=0.1, **plan)
    fine = vbg.simulate(system, output_step=2.5e-4, **plan)
    assert not told(fine)
    peaks = told(coarse)
    assert len(peaks) == 3
    for name, (value, t, rows) in peaks.items():
        base, component = name.rsplit(".", 1)
        values = fine[base][:, "xyz".index(component)] * np.sign(value - rows)
        assert np.sign(value - rows) * value == pytest.approx(values.max(), rel=2e-3)
        assert fine.time[np.argmax(values)] == pytest.approx(t, abs=2e-3)


def test_rounding_between_rows_is_no_peak():
    """Forces that are zero but for rounding, and a machine at rest."""
    still = ball()
    still = vbg.Model(
        name="still",
        gravity=still.gravity,
        bodies={"ball": {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}},
        joints={"weld": {"kind": "fixed", "between": ["ground", "ball"]}},
    )
    for model, step in ((still, 0.5), (vbg.read("examples/slider-crank.toml"), 1e-3)):
        for start in shaken(vbg.start(vbg.assemble(model)), 4):
            assert not told(vbg.simulate(start, t_end=1.0, output_step=step))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_stays_as_it_is_has_no_peaks(scale):
    """A diode and a capacitor at their rest: what moves are last digits, of currents that others
    carry a million million times."""
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["in", "gnd"], "voltage": 5.0},
        "R": {"kind": "resistor", "nodes": ["in", "a"], "R": 1e3 / scale},
        "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 1e-6 * scale, "voltage": 0.0},
        "D": {"kind": "diode", "nodes": ["a", "gnd"], "Is": 1e-14 * scale},
    }
    model = vbg.Model(electric=parts)
    system = vbg.assemble(model)
    solution = vbg.simulate(system, t_end=1e-3, output_step=1e-3, start="equilibrium")
    assert solution.status.code == "finished" and not told(solution)


def test_a_verdict_says_what_no_row_shows():
    """Rows that miss every contact call the stop's force zero; finer ones compare it."""
    coarse = vbg.validate(ball(), t_end=0.6, output_step=0.2, in_children=False).verdict
    assert coarse.result == "PASS"
    (note,) = (n for n in coarse.notes if n.startswith("Compared at the output rows only"))
    assert "rail.stop reaches 1.402e+04 N" in note
    fine = vbg.validate(ball(), t_end=0.6, output_step=2e-4, in_children=False).verdict
    (stop,) = (c for c in fine.channels if c.name == "rail.stop")
    assert fine.result == "PASS" and stop.peak == pytest.approx(1.4e4, rel=0.02)
    assert not any(n.startswith("Compared at the output rows only") for n in fine.notes)


def test_a_sweep_tells_the_points_whose_rows_miss_a_peak():
    """The largest force of a stop between rows would be nought at every point."""
    study = Study(ball(), {"t_end": 0.6, "output_step": 0.1}, ("max(rail.stop)",))
    coarse = run_point(study, ())
    assert coarse.status == "finished" and coarse.measures == (0.0,)
    assert "rail.stop reaches" in coarse.reason and "output_step" in coarse.reason
    fine = run_point(replace(study, settings={"t_end": 0.6, "output_step": 1e-5}), ())
    assert fine.reason == "" and fine.measures[0] == pytest.approx(1.4017e4, rel=1e-3)


@pytest.mark.parametrize("seed", tail(range(8), 3))
def test_no_peak_leads_over_a_jump_of_a_law(seed):
    """A push of constant size within a part of the way only: the parabola through its last value
    and the one behind its edge has a top an eighth higher."""
    rng = np.random.default_rng(seed)
    mass, push, k, reach = 10.0 ** rng.uniform(-3, 3, 4)
    swing = 10.0 ** rng.uniform(0.5, 2) * reach
    period = 2.0 * np.pi * np.sqrt(mass / k)
    push = min(push, 0.01 * k * swing)
    law = f"if(abs(s.length) < {float(reach)!r}, {float(push)!r}*sign(m.speed), 0)"
    model = vbg.Model(
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": mass, "position": swing},
            "s": {"kind": "spring", "nodes": ["x"], "k": k},
            "f": {"kind": "force", "nodes": ["x"], "force": "push"},
        },
        signals={"push": {"kind": "expression", "expression": law}},
    )
    for rtol in (1e-6, 1e-8, 1e-9):
        solution = vbg.simulate(model, t_end=3.3 * period, output_step=period / 30, rtol=rtol)
        assert np.abs(solution["push"]).max() <= push
        reached, *_ = told(solution).get("push", (0.0,))
        assert abs(reached) <= push * (1.0 + 1e-3)  # as it is printed


def held(mass, length, g, posture, turning):
    """A link that a drive holds in a posture."""
    inertia = mass * length**2 / 12.0
    return vbg.Model(
        name="held",
        gravity=[0, 0, -g],
        bodies={"rod": {"mass": mass, "inertia": dict.fromkeys(("xx", "yy", "zz"), inertia)}},
        joints={
            "h": {
                "kind": "revolute" if turning else "prismatic",
                "between": ["ground", {"body": "rod", "at": [-0.5 * length, 0, 0]}],
                "axis": [0, 1, 0] if turning else [0.6, 0, 0.8],
                "drive": posture if turning else posture * length,
            }
        },
    )


@pytest.mark.parametrize("turning", [True, False])
@pytest.mark.parametrize("seed", tail([75, *range(40)], 2))
def test_what_a_drive_holds_has_no_peaks(seed, turning):
    """Its accelerations are last digits of weight over mass, in steps as long as the run: of an
    hour they are 1e-5 m of a place (seed 75). (What is moved is the posture: 1e-13 of a
    momentum is a speed of what is small.)"""
    rng = np.random.default_rng(seed)
    size = [float(one) for one in 10.0 ** rng.uniform([-6, -4, -1], [4, 2, 2])]
    posture, t_end = float(rng.uniform(0.05, 1.5)), float(10.0 ** rng.uniform(-3, 4))
    for moved in (0.0, *rng.uniform(-1e-13, 1e-13, 10)):
        start = vbg.start(vbg.assemble(held(*size, posture * (1.0 + float(moved)), turning)))
        rows = float(rng.choice([1.0, 2.0, 2.9, 13.0]))
        assert not told(vbg.simulate(start, t_end=t_end, output_step=t_end / rows))


BENT = """vbg = 1
gravity = [0, 0, 0]
[beams.b]
between = ["ground", "free"]
length = {length!r}
axis = [1, 0, 0]
up = [0, 1, 0]
section = {{ rectangle = {{ y = {height!r}, z = {width!r} }} }}
material = {{ E = "70 GPa", nu = 0.3, density = "2.7 g/cm^3" }}
elements = 4
damping = {damping!r}
[forces.f]
kind = "force"
on = "b.B"
force = [0, {force!r}, {force!r}]
[simulate]
t_end = {end!r}
start = "equilibrium"
"""


@pytest.mark.parametrize("seed", tail(range(8), 3))
def test_a_loaded_beam_at_rest_has_no_peaks(seed):
    """Its last digits are forces of its stiffness, by which it bends and turns."""
    rng = np.random.default_rng(seed)
    length = float(10.0 ** rng.uniform(-2, 1))
    height, width = (float(part) * length for part in rng.uniform(0.01, 0.05, 2))
    slow = length / np.sqrt(70e9 / 2700.0)  # a wave over its length
    force = 0.01 * 3.0 * 70e9 * min(height, width) ** 4 / 12.0 / length**2
    text = BENT.format(
        length=length,
        height=height,
        width=width,
        damping=float(slow),
        force=float(force),
        end=float(100.0 * slow),
    )
    assert not told(vbg.simulate(toml.parse(text)))


def test_the_step_that_is_advised_is_finer_than_the_rows(rng):
    """And has three rows in the step of the peak, as many as looks: rows that a step has so many
    of miss nothing in it, so that it has less than three of those that miss a peak."""
    for _ in range(200):
        rows = float(10.0 ** rng.uniform(-9, 3))
        length = rows * float(rng.uniform(1e-3, 3.0))
        peak = Peak("rail.stop", "N", 2.0, 0.0, 0.5 * rows, length, 1.0)
        (note,) = between_rows([peak], rows, 50.0 * rows)
        step = asked_step([note])
        assert step < rows and 3.0 * step <= length * (1.0 + 1e-12)
