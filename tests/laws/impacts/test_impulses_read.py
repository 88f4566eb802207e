"""What reads an impulse, in a product with what jumps with it or by another law: both solvers have
what a ramp gives that gets steeper and steeper, or end and say why."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken
from tests.laws.impacts.test_latches import WAGONS, read
from tests.tail import tail
from vbg.tmm_bridge import simulate as second

AT = 0.31


def sums(**inputs: str) -> dict:
    block = {"kind": "transfer_function", "numerator": [1.0], "denominator": [1.0, 0.0]}
    return {name: {**block, "input": read} for name, read in inputs.items()}


def model(**tables) -> vbg.Model:
    settings = {"t_end": 0.5, "output_step": 0.1, "rtol": 1e-9, "atol": 1e-11}
    return vbg.Model(simulate=settings, outputs={"energy": True}, **tables)


def jump(low: float, high: float) -> str:
    return f"if(t > {AT}, {high!r}, {low!r})"


def late(low: float, high: float) -> str:
    """The same, where a signal tells it: the motion's own event."""
    return f"if(clock > {AT}, {high!r}, {low!r})"


def ramp(low: float, high: float) -> str:
    return f"{low!r} + {high - low!r}*min(1, max(0, (t - {AT})/1e-5))"


@pytest.mark.parametrize("seed", range(3))
def test_a_product_of_force_and_speed_takes_its_work(seed):
    """J (v- + v+) / 2, of a mass that a share of the impulse J pushes; nothing jumps by itself."""
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.uniform(-1.0, 1.0, 2)).tolist()
    low, high, c, v = rng.uniform(-1.0, 1.0, 4).tolist()
    carts = model(
        translational={
            "S": {"kind": "speed", "nodes": ["frame", "a"], "speed": jump(low, high)},
            "A": {"kind": "mass", "nodes": ["a"], "m": a},
            "B": {"kind": "mass", "nodes": ["b"], "m": b, "speed": v},
            "P": {"kind": "force", "nodes": ["frame", "b"], "force": f"{c!r}*S.force"},
        },
        signals=sums(work="S.force*B.speed", cubed="S.force*B.speed^3"),
    )
    J = a * (high - low)
    behind = v + c * J / b
    for start in shaken(vbg.start(vbg.assemble(carts))):
        run = vbg.simulate(start)
        assert run.status.code == "finished" and not run.audit.failures
        assert_allclose(run["work"][-1], 0.5 * J * (v + behind), rtol=1e-9)
        assert_allclose(run["cubed"][-1], 0.25 * b / c * (behind**4 - v**4), rtol=1e-8)


@pytest.mark.parametrize("seed", range(2))
def test_what_reads_the_power_of_a_latch_has_the_energy_of_what_it_moves(seed):
    rng = np.random.default_rng(seed)
    size, more = float(rng.uniform(0.5, 2.0)), "[signals]\n"
    numbers = {"J": size**2, "h": 0.5 * size, "far": 2 * size, "v": 4 * size, "gap": size}
    for name, law in (("work", "hook.force.x*b.speed"), ("pushed", "abs(hook.force.x)")):
        more += f'[signals.{name}]\nkind = "transfer_function"\ninput = "{law}"\n'
        more += "numerator = [1.0]\ndenominator = [1.0, 0.0]\n"
    for start in shaken(vbg.start(vbg.assemble(read(WAGONS, kind="fixed", more=more, **numbers)))):
        run = vbg.simulate(start)
        v = run["b.speed"][-1]
        assert v == pytest.approx(0.4 * 4 * size, rel=1e-9)
        assert_allclose([run["work"][-1], run["pushed"][-1]], [1.5 * v**2, 3.0 * v], rtol=1e-9)


def test_a_source_that_reads_the_impulse_of_a_latch_supplies_at_the_mean_speed():
    """A force of c F, F of a speed source on a wagon, on a mass that it sets in motion."""
    more = """[translational.S]
kind = "speed"
nodes = ["joint:b", "f"]
speed = "0.3*sin(t)"
[translational.f]
kind = "mass"
nodes = ["f"]
m = 0.4
[translational.P]
kind = "force"
nodes = ["frame", "g"]
force = "0.1*S.force"
[translational.g]
kind = "mass"
nodes = ["g"]
m = 0.5
"""
    numbers = {"J": 1.0, "h": 0.5, "far": 2.0, "v": 4.0, "gap": 1.0}
    wagons = read(WAGONS, kind="fixed", more=more, **numbers)
    for start in shaken(vbg.start(vbg.assemble(wagons)), count=3):
        run = vbg.simulate(start)
        assert run["g.speed"][-1] > 0.1 and not run.audit.failures


def cart(speed: str, law: str) -> vbg.Model:
    parts = {
        "S": {"kind": "speed", "nodes": ["frame", "a"], "speed": speed},
        "A": {"kind": "mass", "nodes": ["a"], "m": 0.3},
    }
    named = law.format(F="S.force", v="A.speed", P="S.power")
    return model(translational=parts, signals=sums(found=named, clock="1", lag="S.force"))


def circuit(voltage: str, law: str) -> vbg.Model:
    parts = {
        "S": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": voltage},
        "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 0.3},
        "R": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 7.0},
    }
    named = law.format(F="C.current", v="C.voltage", P="S.power")
    return model(electric=parts, signals=sums(found=named, clock="1", lag="C.current"))


def coil(current: str, law: str) -> vbg.Model:
    parts = {
        "S": {"kind": "current_source", "nodes": ["gnd", "a"], "current": current},
        "L": {"kind": "inductor", "nodes": ["a", "gnd"], "L": 0.3},
    }
    named = law.format(F="L.voltage", v="L.current", P="S.power")
    return model(electric=parts, signals=sums(found=named, clock="1", lag="L.voltage"))


def oil(pressure: str, law: str) -> vbg.Model:
    parts = {
        "S": {"kind": "pressure_source", "nodes": ["a", "tank"], "pressure": f"1e5*({pressure})"},
        "C": {"kind": "volume", "nodes": ["a"], "volume": 4.5e-3, "bulk": 1.5e9},
    }
    named = law.format(F="(1e6*C.flow)", v="(1e-5*C.pressure)", P="(10*S.power)")
    return model(hydraulic=parts, signals=sums(found=named, clock="1", lag="1e6*C.flow"))


MACHINES = (cart, circuit, coil, oil)
LAWS = (
    "{F}",
    "abs({F})",
    "{F}*{v}",
    "{P}",
    "max({F}, 0)",
    "min({F}, 7)",
    "min(max({F}, -2), 2)",
    "{F}^2",
    "{F} + 0.1*abs({F})",
    "{F}*{v}^2",
    "{F}*lag",
    "{F}*sin(3*clock + 1)",
    "exp({F})",
)


@pytest.mark.parametrize("sign", tail((1.0, -1.0), 1))
@pytest.mark.parametrize("law", tail(LAWS, 4))
@pytest.mark.parametrize("machine", MACHINES)
def test_no_law_is_wrong_without_a_word(machine, law, sign):
    """Against a ramp of 1e-5 s; where that has no end either, a jump has none."""
    low, high = (0.2, 1.7) if sign > 0.0 else (1.7, 0.2)
    steep = vbg.simulate(machine(ramp(low, high), law))
    right = steep["found"][-1] if steep.status.code == "finished" else np.nan
    for way in (jump, late):
        for solve in (vbg.simulate, second):
            run = solve(machine(way(low, high), law))
            if "found" not in run.signals:  # a source that reads the motion has no twin
                continue
            told = run.status.code == "failed" and "impulse" in run.status.sentence
            assert told or abs(run["found"][-1] - right) <= 1e-3 * max(1.0, abs(right))


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_linear_runs_through(machine):
    """In the solver that steps it: the first always, the second but for what has no store."""
    for sign in (1.0, -1.0):
        for way in (jump, late):
            run = vbg.simulate(machine(way(sign, -sign), "{F}*(2 + sin(3*clock))"))
            assert run.status.code == "finished" and not run.audit.failures
            if machine in (circuit, coil):
                other = second(machine(way(sign, -sign), "{F} + sin(3*clock)"))
                assert other.status.code == "finished" and not other.audit.failures


def test_a_run_of_the_second_solver_that_ends_at_its_start_has_its_first_row():
    """A source by a square of the current that charges a capacitor at the first stroke of a
    sampler."""
    electric = {
        "S": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "u"},
        "A": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 0.3},
        "P": {"kind": "current_source", "nodes": ["gnd", "b"], "current": "A.current^2"},
        "B": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 0.7},
    }
    held = {"kind": "sample_and_hold", "input": "3 + t", "period": 0.2, "initial": 1.0}
    model = vbg.Model(
        name="stroke",
        electric=electric,
        signals={"u": held},
        simulate={"t_end": 1.0, "output_step": 0.1},
    )
    run = second(model)
    assert run.status.code == "failed" and "is an impulse" in run.status.sentence
    assert run.time.tolist() == [0.0]
