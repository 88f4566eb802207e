"""Published problems of circuits, drives and hydraulics; data in tests/data/NAME.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.io.toml import parse

ROOT = Path(__file__).resolve().parents[2]


# One digit of the data file differs from its source (DCPM_Start.csv, row 0.845): printed -> source
MISPRINTS = {119.376237036743: 119.378237036743}


def data(name: str) -> dict:
    return json.loads((ROOT / "tests/data" / f"{name}.json").read_text("utf-8"))


def test_dc_motor_start():
    problem = data("msl_dcpm_start")
    solution = vbg.simulate(vbg.assemble(vbg.read(ROOT / "examples/dc-motor-start.toml")))
    assert solution.status.code == "finished"
    reference, tolerance = problem["reference"], problem["tolerance"]
    for t, (current, angle, speed) in reference["own"].items():
        row = int(np.argmin(np.abs(solution.time - float(t))))
        assert solution["rotational.shaft.angle"][row] == pytest.approx(angle, rel=tolerance)
        assert solution["M.speed"][row] == pytest.approx(speed, rel=tolerance)
        assert solution["M.current"][row] == pytest.approx(current, rel=tolerance, abs=2e-7)
    assert solution.audit.energy_residual < 1e-7
    assert reference["columns"] == ["ia", "phi", "w"]
    for t, row in reference["rows"].items():
        at = int(np.argmin(np.abs(solution.time - float(t))))
        found = [solution[name][at] for name in ("M.current", "rotational.shaft.angle", "M.speed")]
        for value, printed in zip(found, row, strict=True):
            assert value == pytest.approx(MISPRINTS.get(printed, printed), rel=tolerance)


def test_transistor_amplifier():
    problem = data("transistor_amplifier")
    model = vbg.read(ROOT / "examples/transistor-amplifier.toml")
    system = vbg.assemble(model)
    assert sorted(loop.linear for loop in system.equations.loops) == [False, False, True]
    solution = vbg.simulate(system, output_step=0.2)
    found = [solution[f"electric.n{k}.voltage"][-1] for k in range(1, 9)]
    assert found == pytest.approx(problem["reference"], abs=problem["tolerance"])
    assert solution.audit.energy_residual < 1e-7


ARM = ROOT / "examples/hydraulic-arm.toml"


def arm_results(model: vbg.Model) -> dict[str, float]:
    """At the end of the run; `scalar` as the reference's test suite defines it."""
    solution = vbg.simulate(vbg.assemble(model), output_step=0.1)
    assert solution.audit.energy_residual < 1e-7
    pressures = [solution[f"cylinder.pressure_{chamber}"][-1] for chamber in "ab"]
    moved = solution["arm.position"][-1, :2] - [0.5, 0.0]
    angle, speed = solution["pin.angle"][-1], solution["pin.speed"][-1]
    return {
        "phi": angle,
        "w": speed,
        "p0": pressures[0],
        "p1": pressures[1],
        "scalar": np.hypot(np.linalg.norm(moved), angle) + 1e-6 * np.linalg.norm(pressures),
        "vx": -0.25 * speed * np.sin(angle),
        "vy": 0.25 * speed * np.cos(angle),
    }


@pytest.mark.parametrize(("variant", "speed"), [("A", 0.0), ("B", 2.0)])
def test_hydraulic_arm(variant, speed):
    """Own values of the data file to 1e-5; the scalar of the published test suite, whose program
    holds the valve over each step of 1 ms, at the stated 2 %."""
    problem = data("hydraulic_arm_exudyn")
    reference, tolerance = problem["reference"][variant], problem["tolerance"]
    found = arm_results(vbg.read(ARM).with_parameters(speed=speed))
    for name, expected in reference["own"].items():
        assert found[name] == pytest.approx(expected, rel=tolerance["own"]), name
    if "suite_scalar" in reference:
        expected = reference["suite_scalar"]
        assert found["scalar"] == pytest.approx(expected, rel=tolerance["published"])


def test_hydraulic_arm_as_published():
    """The published run of variant B writes the velocities (0, 0) of the mass centre and 2 rad/s.

    These contradict the pin: its impulse leaves J w0 = (J + m (L/2)^2) w, that is 0.5 rad/s and
    not the 2 rad/s about the pin that the data file's own values take (which is why their p1 is
    3.6 % off).  Assembly projects written velocities in the mass metric, which is the same
    impulse, and all published values are met to 5e-5 where 2 % are asked (its author:
    "error about 1e-5").
    """
    published = data("hydraulic_arm_exudyn")["reference"]["B"]["published"]
    text = ARM.read_text("utf-8")
    for before, after in (
        ('initial = { angle = 0, speed = "speed" }', "initial = { angle = 0 }"),
        ("[bodies.arm]", "[bodies.arm]\nvelocity = [0, 0, 0]\nangular_velocity = [0, 0, 2]"),
    ):
        assert before in text
        text = text.replace(before, after)
    model = parse(text)
    system = vbg.assemble(model)
    start = vbg.start(system).outputs(0.0, vbg.start(system).state)["pin.speed"][0]
    assert start == pytest.approx(10 * 2.0 / (10 + 120 * 0.5**2))
    found = arm_results(model)
    expected = {"p0": published["p0"], "p1": published["p1"]}
    expected |= dict(zip(("vx", "vy"), published["v_point"], strict=True))
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=5e-5), name
