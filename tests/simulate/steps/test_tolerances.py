"""Absolute tolerances: a machine and its large and heavy copy take the same steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import vbg
from benchmarks.accuracy import scales
from tests.tail import tail
from vbg.simulate.steppers.tolerances import Tolerances

G = 9.81


def pendulum(length: float, mass: float) -> vbg.Model:
    """Two links, the second axis oblique: the motion is spatial, and the same for all sizes
    in t / sqrt(length / g)."""
    J = mass * length**2
    link = {"mass": mass, "inertia": {"xx": 0.01 * J, "yy": 0.08 * J, "zz": 0.08 * J}}
    ends = {"A": [-length / 2, 0, 0], "B": [length / 2, 0, 0]}
    return vbg.Model(
        name="pendulum",
        gravity=[0, 0, -G],
        bodies={"a": {**link, "points": ends}, "b": {**link, "points": ends}},
        joints={
            "h": {
                "kind": "revolute",
                "between": ["ground", "a.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": 0.3},
            },
            "k": {
                "kind": "revolute",
                "between": ["a.B", "b.A"],
                "axis": [0.3, 1, 0.2],
                "initial": {"angle": 1.0},
            },
        },
    )


def run(length: float, mass: float, **options: Any) -> tuple[int, vbg.Solution]:
    unit = np.sqrt(length / G)
    steps: list[float] = []
    system = vbg.assemble(pendulum(length, mass))
    solution = vbg.simulate(
        system,
        t_end=5 * unit,
        output_step=0.25 * unit,
        progress=lambda _fraction, t: steps.append(t),
        **options,
    )
    return len(steps), solution


@pytest.mark.parametrize("formulation", ["constraint", "minimal"])
def test_a_ship_takes_the_steps_of_a_pendulum(formulation: str) -> None:
    """Forces of 1e10 N leave rounding in the momenta that stay zero (about x and z of the
    first link); it was above an absolute tolerance of 1e-10 N s and asked for 200 times the
    steps."""
    few, small = run(1.0, 1.0, formulation=formulation)
    many, large = run(100.0, 1e6, formulation=formulation)
    assert many < 1.5 * few
    assert_allclose(large["k.angle"], small["k.angle"], atol=1e-6)
    assert_allclose(large["h.force"] / 1e6, small["h.force"], atol=1e-5)


@pytest.mark.parametrize("mass", [1e-12, 1e-3, 50.0, 1e6])
def test_momenta_are_held_as_speeds(mass: float) -> None:
    """atol * mass for m v, atol * largest moment of inertia for h, whatever the mass."""
    system = vbg.assemble(pendulum(2.0, mass))
    values = Tolerances(system, 1e-10)(0.0, system.written_state)
    for s in system.slices:
        what = s.state.name.split(".")[-1]
        factor = {"momentum": mass, "angular_momentum": 0.32 * mass}.get(what)
        if factor is not None:
            assert_allclose(values[s.first : s.last], 1e-10 * factor, rtol=1e-12)


def test_a_light_link_between_heavy_ones_is_not_held_to_its_own_noise() -> None:
    """Forces on a link of 1e-9 kg leave rounding of those on its neighbours of 1 kg in it; one
    that no joint connects is held for itself."""
    document = {
        "vbg": 1,
        "bodies": {
            name: {"mass": mass, "inertia": {"xx": 0.1 * mass, "yy": 0.1 * mass, "zz": 0.1 * mass}}
            for name, mass in (("heavy", 1.0), ("link", 1e-9), ("free", 1e-9))
        },
        "joints": {
            "a": {"kind": "revolute", "between": ["ground", "heavy"], "axis": [0, 1, 0]},
            "b": {"kind": "revolute", "between": ["heavy", "link"], "axis": [0, 1, 0]},
        },
    }
    system = vbg.assemble(vbg.Model(**document))
    values = Tolerances(system, 1e-10)(0.0, system.written_state)
    of = {s.state.name: values[s.first] for s in system.slices}
    slow = of["heavy.momentum"]
    assert_allclose(of["link.momentum"], 1e-6 * slow)
    assert_allclose(of["free.momentum"], 1e-9 * slow)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("C", [1e-12, 1e-6, 1.0])
def test_stores_of_a_circuit_are_held_to_one_energy(C: float, scale: float) -> None:
    """The energy of 1e-10 V in C or of 1e-10 A in L, whichever is smaller, but no store to
    less than 1e-6 of its own."""
    L = 1e-3 * scale
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["in", "gnd"], "voltage": 1},
        "R": {"kind": "resistor", "nodes": ["in", "a"], "R": 50},
        "C": {"kind": "capacitor", "nodes": ["a", "b"], "C": C},
        "L": {"kind": "inductor", "nodes": ["b", "gnd"], "L": L},
    }
    system = vbg.assemble(vbg.Model(vbg=1, electric=parts))
    values = Tolerances(system, 1e-10)(0.0, system.written_state)
    of = {s.state.name: float(values[s.first]) for s in system.slices}
    energy = min(C, L) * 1e-20
    for name, size in (("C.charge", C), ("L.flux", L)):
        assert_allclose(of[name], max(np.sqrt(energy * size), 1e-16 * size), rtol=1e-9)


def test_the_slope_of_a_law_counts_where_it_stands() -> None:
    """An accumulator: dp/dV = n p / V_gas, 1e-10 of 1e5 Pa at every pressure (absolute)."""
    oil = {"kind": "accumulator", "nodes": ["a"], "volume": 1e-3, "precharge": 1e6, "n": 1.4}
    oil |= {"ambient": 0.0}
    for pressure in (1e6, 2e7):
        model = vbg.Model(vbg=1, hydraulic={"acc": {**oil, "pressure": pressure}})
        system = vbg.assemble(model)
        tolerances = Tolerances(system, 1e-10)
        gas = 1e-3 * (1e6 / pressure) ** (1 / 1.4)
        expected = 1e-5 * gas / (1.4 * pressure)
        assert tolerances.varies
        assert_allclose(tolerances(0.0, system.written_state)[0], expected, rtol=1e-9)


@pytest.mark.parametrize("pressure", [1e3, -2e4, 1e6, 3e7])
def test_of_a_content_what_makes_the_pressure_counts(pressure: float) -> None:
    """Z = K log(X / V): of X the part p / K; of oil with bubbles, and of X that a constant volume
    shares with the wall's travel, too; never less than rounding."""
    K, rtol = 1.4e9, 1e-9
    chamber = {"kind": "cylinder", "nodes": ["a", "tank"], "on": "translational.rod"}
    chamber |= {"area_a": 1e-3, "stroke": 1.0, "length": -0.3, "pressure_a": pressure}
    for more, expected in (({}, pressure / K), ({"volume": 1e-4}, pressure / K * 1e-4)):
        parts = {"cyl": chamber | more}
        mass = {"m": {"kind": "mass", "nodes": ["rod"], "m": 1.0}}
        system = vbg.assemble(vbg.Model(vbg=1, hydraulic=parts, translational=mass))
        x, tolerances = vbg.start(system).state, Tolerances(system, 1e-10)
        (at,) = (s.first for s in system.slices if s.state.name == "cyl.A.content")
        if more:
            expected /= x[at]
        found = tolerances.relative(0.0, x, rtol)
        assert found[at] == pytest.approx(max(rtol * abs(expected), 2.2e-14), rel=0.01)
        assert_allclose(np.delete(found, at), rtol, rtol=0.0)
        x[at] = 0.0 if more else x[at] * np.exp(-pressure / K)  # no pressure: rounding
        assert 0.0 < tolerances.relative(0.0, x, rtol)[at] <= (rtol if more else 1e-12)


@pytest.mark.parametrize("method", ["auto", "radau"])
@pytest.mark.parametrize("supply", [100.0, 1e6])
def test_a_chamber_is_filled_to_any_pressure(supply: float, method: str) -> None:
    """Through a laminar gap: V e^(p / K) p' = K G (P - p), by a slow twin; p is little beside K."""
    K, G, V = 1.4e9, 1e-13, 1e-4
    oil = {
        "P": {"kind": "pressure_source", "nodes": ["s", "tank"], "pressure": supply},
        "gap": {"kind": "laminar_resistance", "nodes": ["s", "a"], "conductance": G},
        "cyl": {"kind": "cylinder", "nodes": ["a", "tank"], "on": "translational.rod"}
        | {"area_a": 1e-3, "stroke": 1.0, "dead_a": V, "bulk": K, "k": 0.0},
    }
    rod = {"held": {"kind": "speed", "nodes": ["rod", "frame"], "speed": 0.0}}
    for n in range(3):
        oil["cyl"] |= {"pressure_a": supply * n * 1e-13}
        run = {"t_end": 1.0, "output_step": 0.02, "method": method}
        solution = vbg.simulate(vbg.Model(vbg=1, hydraulic=oil, translational=rod, simulate=run))
        twin = solve_ivp(
            lambda _t, p: K * G * (supply - p) / (V * np.exp(p / K)),
            (0.0, 1.0),
            [0.0],
            method="DOP853",
            rtol=1e-12,
            atol=1e-13 * supply,
            t_eval=solution.time,
        )
        assert_allclose(solution["cyl.pressure_a"], twin.y[0], rtol=0.0, atol=1e-6 * supply)
        assert solution.audit.failures == ()


OSCILLATORS = (
    scales.circuit(1e-12, 1.0),
    scales.circuit(1.0, 1e-6),
    scales.circuit(1e-12, 1e-6, R=1e3),
    scales.circuit(1e-9, 1e-6, R=1e9),
    scales.slide(1e-12, 1e3),
    scales.slide(1e3, 1e6),
    scales.guided(1e-12, 1e-9, 1e-6),
    scales.guided(1e3, 1e6),
    scales.oil(1e-12),
    scales.oil(1.0, 1e2),
)


@pytest.mark.parametrize("machine", OSCILLATORS, ids=lambda machine: machine.name)
def test_default_tolerances_hold_at_every_scale(machine: scales.Oscillator) -> None:
    """Closed form, every method; spoiled by a factor of 1e6 in both tolerances it is told."""
    for method in machine.methods():
        solution = machine.run(method)
        assert solution.status.code == "finished" and solution.audit.failures == ()
        assert machine.error(solution) < 1e-5
        spoiled = machine.run(method, rtol=1e-2, atol=1e-4)
        assert any("energy audit failed" in words for words in spoiled.audit.failures)
        assert "finished, but its energy audit failed by" in spoiled.status.sentence


UNNOTICED = 5e-4  # of the peak, that a spoiled run may err by and keep its energy


@pytest.mark.parametrize("seed", tail(range(60), 8))
def test_default_tolerances_hold_at_random_scales(seed: int) -> None:
    """Closed form over twelve decades of every store, each damping.  An audit of energy sees no
    error that keeps it: near critical damping, where explicit steps make errors while little has
    moved yet, a few spoiled runs are wrong by 1e-4 to 4e-4 and pass; none by more."""
    machine = scales.any_oscillator(seed)
    for method in machine.methods():
        solution = machine.run(method)
        assert solution.status.code == "finished" and solution.audit.failures == ()
        assert machine.error(solution) < 1e-6
        spoiled = machine.run(method, **scales.SPOILED)
        told = any("energy audit failed" in words for words in spoiled.audit.failures)
        assert told or machine.error(spoiled) < UNNOTICED


@pytest.mark.parametrize("force", tail((1e-3, 1.0, 1e-1, 1e2), 2))
def test_what_is_driven_slowly_is_known_to_as_many_digits(force: float) -> None:
    """A step of force on 1000 kg and 1e6 N/m: speeds of 3e-8 to 3e-3 m/s, atol is 1e-10 m/s."""
    machine = scales.slide(1e3, 1e6, force)
    solution = machine.run("dop853")
    assert machine.error(solution) < (1e-6 if force > 1e-2 else 5e-5)
    assert solution.audit.failures == ()


def test_tolerances_follow_the_fastest_so_far_and_never_widen() -> None:
    """In a run of 1 ms 1e-12 of a size adds up at 1e-9 m/s, but 1e-12 of the way that is made;
    what has slowed down is held as before; who does not look has the widest."""
    machine = scales.slide(2.0, 8.0)
    system = vbg.assemble(vbg.Model(vbg=1, **machine.document))
    tolerances = Tolerances(system, 1e-10, 1e-3)
    (at,) = (s.first for s in system.slices if s.state.name == "m.momentum")
    x = np.zeros(system.size)
    wide = tolerances(0.0, x)[at]
    held = []
    for speed in (0.0, 1e-4, 1e-2, 10.0, 1e6, 1e-3):
        x[at] = 2.0 * speed
        tolerances.look(x)
        held.append(tolerances(0.0, x)[at])
    assert np.all(np.diff(held) >= 0.0) and held[0] == pytest.approx(0.1 * wide)
    assert held[-1] == pytest.approx(wide)


def test_no_speed_is_held_to_less_than_rounding_of_a_posture_in_a_step() -> None:
    """Where little has moved yet: 100 eps of a size, a step of 1 ms long, make 2.2e-11 m/s."""
    machine = scales.slide(2.0, 8.0)
    system = vbg.assemble(vbg.Model(vbg=1, **machine.document))
    tolerances = Tolerances(system, 1e-10, supplied=True)
    (at,) = (s.first for s in system.slices if s.state.name == "m.momentum")
    x = np.zeros(system.size)
    held = []
    for step in (np.inf, 1e-8, 1e-3, 1.0):
        tolerances.look(x, step)
        held.append(tolerances(0.0, x)[at] / 2.0)
    rounding = 100.0 * np.finfo(float).eps
    assert held == pytest.approx([1e-13, 1e-10, rounding / 1e-3, 1e-13])
    assert Tolerances(system, 1e-10)(0.0, x)[at] == pytest.approx(2e-10)
