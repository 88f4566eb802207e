"""The four machines answer their questions: against closed forms and sums by hand."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.measures import evaluate, measured, parse

FOLDER = Path(__file__).resolve().parents[2] / "examples"


@cache
def solved(name):
    model = vbg.read(FOLDER / f"{name}.toml")
    return model, vbg.simulate(model)


def answer(name, measure):
    model, solution = solved(name)
    found = measured(measure, model.measures[measure], solution, model.parameters)
    assert found.value is not None, found.why
    return found.value


ANSWERING = (
    *("pwm-drive", "crane-load-drop", "wishbone-corner"),
    *("robot-arm", "geared-robot", "rocket-launcher"),
)


@pytest.mark.parametrize("name", ANSWERING)
def test_every_measure_has_a_value(name):
    for measure in solved(name)[0].measures:
        assert math.isfinite(answer(name, measure))


def test_ripple_and_efficiency_of_the_drive():
    """Exponentials from edge to edge; power of the load over that of the bridge."""
    p = solved("pwm-drive")[0].parameters
    on, tau = p["duty"] * p["period"], p["L"] / p["R"]
    off = p["period"] - on
    rises, falls, both = (1 - math.exp(-t / tau) for t in (on, off, p["period"]))
    grown = rises * falls / both
    assert answer("pwm-drive", "ripple") == pytest.approx(p["U"] / p["R"] * grown, rel=2e-3)
    assert answer("pwm-drive", "mean_current") == pytest.approx(p["current"], rel=2e-3)
    heat = p["R"] * (p["current"] ** 2 + (p["swing"] ** 2) / 12)  # of a triangle about its mean
    useful = p["load"] * p["speed"]
    share = useful / (useful + p["loss"] * p["speed"] ** 2 + heat)
    assert answer("pwm-drive", "efficiency") == pytest.approx(100 * share, rel=5e-3)


def test_the_crane_rests_on_its_oil_until_the_load_drops():
    model, solution = solved("crane-load-drop")
    assert answer("crane-load-drop", "ringing_at_start") < 1e-9
    a, lug = math.radians(30), np.array([1.2, -0.1])
    turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    foot, at = np.array([0.2, -0.8]), turn @ lug
    along = (at - foot) / np.linalg.norm(at - foot)
    lever = at[0] * along[1] - at[1] * along[0]
    moment = 9.81 * math.cos(a) * (350 * 2.0 + 800 * 4.0)
    push = moment / lever
    assert solution["cylinder.force"][0] == pytest.approx(push, rel=1e-8)
    pin = np.linalg.norm(push * along - np.array([0.0, 9.81 * 1150]))
    assert answer("crane-load-drop", "pin_before") == pytest.approx(pin / 1e3, rel=1e-8)
    area = model.hydraulic["cylinder"].area_a
    bar = push / area / 1e5
    assert answer("crane-load-drop", "pressure_before") == pytest.approx(bar, rel=1e-6)


def test_the_corner_starts_at_rest():
    assert answer("wishbone-corner", "ringing_at_start") < 1e-6
    model, solution = solved("wishbone-corner")
    weight = 9.81 * sum(model.bodies[b].mass for b in ("lower", "upper", "upright"))
    assert solution["lift.slide"].max() == pytest.approx(0.04, abs=1e-6)
    assert answer("wishbone-corner", "wheel_load") * 1e3 > weight


@pytest.mark.slow
def test_a_damper_between_soft_and_hard_is_the_best_of_the_corner():
    """The optimum of the documented question lies within its range, 300 to 6000 N s/m."""
    model, _ = solved("wishbone-corner")
    changes = {}
    for c in (300.0, 2000.0, 3700.0, 6000.0):
        found = vbg.simulate(model.with_parameters(c=c))
        change = found["tyre.force"] - found["tyre.force"][0]
        changes[c] = np.sqrt(np.trapezoid(change[found.time > 0.0999] ** 2))
    assert min(changes, key=changes.__getitem__) == 3700.0


def test_the_robot_gets_back_what_it_gave():
    """There and back: the drives' work is zero in sum, none is lost."""
    model, solution = solved("robot-arm")
    text = " + ".join(f"integral(j{k}.drive*j{k}.speed)" for k in range(1, 7))
    total = evaluate(parse(text), solution, model.parameters)
    turned = sum(answer("robot-arm", f"energy_{k}") for k in range(1, 7))
    assert abs(total) < 1e-3 * turned
    assert answer("robot-arm", "rest") == pytest.approx(0.0, abs=1e-4)


def test_the_launcher_rests_on_its_tyres_and_the_rocket_on_its_catch():
    model, solution = solved("rocket-launcher")
    tyres = sum(solution[f"tyre_{corner}.force"][0] for corner in ("fl", "fr", "rl", "rr"))
    weight = 9.81 * sum(body.mass for body in model.bodies.values())
    np.testing.assert_allclose(tyres, [0, 0, weight], atol=1e-6 * weight)
    w, x, y, z = solution["rocket.rotation"][0]
    along = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    held = solution["rail.force"][0] + solution["rail.stop"][0] * along
    np.testing.assert_allclose(held, [0, 0, 9.81 * 70], atol=1e-4)


def test_the_rocket_leaves_with_the_work_of_its_motor():
    """On a rail that stands still: m v' = thrust - m g sin(elevation) - c v, thrust after its
    build-up of 10 ms.  The launcher gives way a little."""
    model, solution = solved("rocket-launcher")
    p = model.parameters
    m, c = p["m_rocket"], 40.0
    late = (solution.time > 0.031) & (solution["rail.open"] < 0.5)
    t = solution.time[late] - solution.time[late][0]
    steady = (p["thrust"] - m * 9.81 * math.sin(-p["aim"])) / c
    v = steady + (solution["rail.speed"][late][0] - steady) * np.exp(-c / m * t)
    np.testing.assert_allclose(solution["rail.speed"][late], v, rtol=5e-3)
    assert answer("rocket-launcher", "muzzle_speed") == pytest.approx(v[-1], rel=5e-3)


def test_the_rocket_flies_once_it_has_left_its_rail():
    model, solution = solved("rocket-launcher")
    flying = solution["rail.open"] > 0.5
    assert not solution["rail.force"][flying].any() and not solution["rail.friction"][flying].any()
    w, x, y, z = solution["rocket.rotation"][flying].T
    along = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]).T
    p = model.parameters
    pushed = p["thrust"] / p["m_rocket"] * along + [0, 0, -9.81]
    np.testing.assert_allclose(solution["rocket.acceleration"][flying], pushed, rtol=1e-9)
    assert np.ptp(np.linalg.norm(solution["rocket.angular_velocity"][flying], axis=1)) < 1e-6


def test_the_geared_robot_rests_in_its_gears_and_its_motors_give_what_it_draws():
    """Weights beside axis 2 in its gear; electric energy is heat of the windings and what the
    shafts take, by axis."""
    model, solution = solved("geared-robot")
    assert answer("geared-robot", "ringing_at_start") < 1e-8
    beside = ("forearm", "wrist", "hand", "load")
    x = {name: solution[f"{name}.position.x"][0] - 0.15 for name in ("arm", *beside)}
    moment = sum(model.bodies[name].mass * 9.81 * x[name] for name in x)
    assert solution["gear2.torque"][0] == pytest.approx(-moment, rel=2e-3)
    for k in range(1, 7):
        drawn = np.clip(-solution[f"axis{k}_amplifier.power"], 0.0, None)
        expected = np.trapezoid(drawn, solution.time)
        assert answer("geared-robot", f"energy_{k}") == pytest.approx(expected, rel=1e-9)
        R, K = (0.5, 0.3) if k < 4 else (1.0, 0.12)
        i, speed = solution[f"axis{k}_M.current"], solution[f"rotational.axis{k}_motor.speed"]
        taken = np.trapezoid(-solution[f"axis{k}_amplifier.power"], solution.time)
        turned = np.trapezoid(R * i**2 + K * i * speed, solution.time)
        assert taken == pytest.approx(turned, rel=2e-2, abs=0.5)
