"""Pairs and triples of masses that all collide at one instant, each for itself in one machine.

A stop k without damping gives back what it takes: of a pair with the reduced mass mu the relative
speed is reversed after pi sqrt(mu / k); of two alike that meet a third at rest between them from
both sides each goes back as from a wall, after pi sqrt(m / k).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.io import toml
from vbg.tmm_bridge import simulate as second

MASS = """
[bodies.{name}]
mass = {mass}
inertia = {{ xx = 1, yy = 1, zz = 1 }}
[joints.on_{name}]
kind = "prismatic"
between = ["ground", "{name}"]
axis = [1, 0, 0]
initial = {{ slide = {at}, speed = {speed} }}
"""
STOP = """
[forces.{name}]
kind = "stop"
between = ["{first}", "{other}"]
gap = {gap}
k = {k}
"""
HEAD = "vbg = 1\ngravity = [0, 0, 0]\n"
MEETS, END = 0.5, 1.1


def masses(
    seed: int, apart: float = 0.0, draw: int = 0
) -> tuple[vbg.Model, dict[str, float], dict[str, float]]:
    """One to three groups, each mass moved by up to so much of its way, another `draw` by another
    part of that; the speeds behind the contacts, and how long each stop touches [s]."""
    random, text, moved = np.random.default_rng(seed), HEAD, np.random.default_rng([seed, draw])
    speeds: dict[str, float] = {}
    lasting: dict[str, float] = {}
    size = 10.0 ** random.uniform(-2, 2)
    for group in range(random.integers(1, 4)):
        k, gap = 10.0 ** random.uniform(7, 9), size * random.uniform(0.2, 0.8)
        if random.random() < 0.5:
            m, v = random.uniform(0.5, 3), size * random.uniform(0.5, 2)
            way = gap + v * MEETS
            bodies = [("a", m, -way, v, -v), ("b", random.uniform(0.5, 3), 0.0, 0.0, 0.0)]
            bodies += [("c", m, way, -v, v)]
            pairs, time = ("ab", "bc"), math.pi * math.sqrt(m / k)
        else:
            m, n, v, w = random.uniform(0.5, 3, 4) * (1, 1, size, -size)
            common, mu = (m * v + n * w) / (m + n), m * n / (m + n)
            bodies = [("a", m, -v * MEETS, v, 2 * common - v)]
            bodies += [("b", n, gap - w * MEETS, w, 2 * common - w)]
            pairs, time = ("ab",), math.pi * math.sqrt(mu / k)
        for name, mass, at, speed, behind in bodies:
            name, at = f"{name}{group}", at * (1.0 + apart * moved.uniform(-1.0, 1.0))
            text += MASS.format(name=name, mass=mass, at=at, speed=speed)
            speeds[f"on_{name}.speed"] = behind
        for first, other in pairs:
            stop = f"{first}{other}{group}"
            ends = {"first": f"{first}{group}", "other": f"{other}{group}"}
            text += STOP.format(name=stop, gap=gap, k=k, **ends)
            lasting[stop] = time
    text += f"[simulate]\nt_end = {END}\noutput_step = 0.1\n"
    return toml.parse(text), speeds, lasting


def holds(solution: vbg.Solution, speeds: dict[str, float], lasting: dict[str, float]) -> None:
    """The times of the closed form, every stop touches once and leaves once, and its speeds but for
    what the audit of the energy tells."""
    assert solution.status.code == "finished"
    largest, told = max(map(abs, speeds.values())), float(solution.audit.energy_residual)
    for name, speed in speeds.items():
        assert solution[name][-1] == pytest.approx(speed, abs=(1e-6 + 10 * told) * largest)
    found: dict[str, list[float]] = {}
    for event in solution.audit.events:
        found.setdefault(event.where.removeprefix("forces."), []).append(event.time)
    for stop, time in lasting.items():
        touched, left = found[stop]
        assert touched == pytest.approx(MEETS, abs=1e-12)
        assert left - touched == pytest.approx(time, rel=1e-3)


@pytest.mark.parametrize("seed", tail(range(16), 8))
def test_contacts_of_one_instant_exchange_the_speeds_of_each(seed):
    model, *expected = masses(seed)
    holds(second(model), *expected)


@pytest.mark.parametrize("seed", tail(range(16), 8))
def test_the_first_solver_runs_them_or_tells_what_makes_it(seed):
    """Where rounding turns one over with the other, a billionth apart they touch each by itself."""
    model, speeds, _ = masses(seed)
    run = vbg.simulate(model)
    if run.status.code == "failed":
        assert "switches endlessly" in run.status.sentence
        assert "Stops that touch at one instant" in run.status.remedy
        run = vbg.simulate(masses(seed, apart=1e-9)[0])
    assert run.status.code == "finished" and not run.audit.failures
    largest = max(map(abs, speeds.values()))
    for name, speed in speeds.items():
        assert run[name][-1] == pytest.approx(speed, abs=1e-5 * largest)


def test_three_masses_of_which_both_outer_ones_meet_the_middle_at_once():
    """A step whose stages are thrown out of the contact by the first of them ends behind it."""
    text = HEAD + MASS.format(name="a", mass=1, at=-1, speed=1)
    text += MASS.format(name="b", mass=2, at=0, speed=0) + MASS.format(
        name="c", mass=1, at=1, speed=-1
    )
    for first, other in ("ab", "bc"):
        text += STOP.format(name=first + other, first=first, other=other, gap=0.5, k=1e8)
    model = toml.parse(text + "[simulate]\nt_end = 1.2\n")
    speeds = {"on_a.speed": -1.0, "on_b.speed": 0.0, "on_c.speed": 1.0}
    solution = second(model)
    assert not solution.audit.failures
    holds(solution, speeds, dict.fromkeys(("ab", "bc"), math.pi * 1e-4))


@pytest.mark.parametrize("seed", tail(range(16), 3))
def test_no_tolerance_takes_a_step_over_a_contact_or_stands_still_behind_it(seed):
    """A step whose stages behind the contact are thrown far away has passed it by; implicit ones
    with the stop's stiffness long behind it find no way on and lose the speed."""
    model, *expected = masses(seed)
    for rtol in 10.0 ** np.random.default_rng([seed, 1]).uniform(-12.0, -7.0, 4):
        solution = second(model, rtol=rtol, atol=1e-3 * rtol)
        assert not solution.audit.failures
        holds(solution, *expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_no_last_digit_decides_what_is_behind_a_contact(seed):
    """Of implicit steps whose Jacobian is that of the stop they have left, the states that it holds
    have to close their equations all the same."""
    tolerances = 10.0 ** np.random.default_rng([seed, 2]).uniform(-12.0, -7.0, 10)
    for draw, rtol in enumerate(tolerances):
        model, *expected = masses(seed, 1e-13, draw)
        solution = second(model, rtol=rtol, atol=1e-3 * rtol)
        assert not solution.audit.failures
        holds(solution, *expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_stops_that_touch_within_a_few_roundings_are_all_told(seed):
    """The projection behind the touch of one may bring another to touch."""
    tolerances = 10.0 ** np.random.default_rng([seed, 7]).uniform(-12.0, -7.0, 12)
    for draw, rtol in enumerate(tolerances):
        model, *expected = masses(seed, (0.0, 1e-16, 3e-16, 1e-15)[draw % 4], draw)
        solution = second(model, rtol=rtol, atol=1e-3 * rtol)
        assert not solution.audit.failures
        holds(solution, *expected)
