"""The audit of what stands still and of what sets out: rounding is no error, an error is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import tail
from vbg.io import toml
from vbg.simulate.record.audit import audit, limits_of
from vbg.simulate.record.grain import grain_of_energy
from vbg.solution import Solution
from vbg.tmm_bridge import simulate as second

EPS = float(np.finfo(float).eps)
LIMITS = limits_of("dop853", 1e-8, 1e-12, 1e-9)

BATTERY = """
[electric.store]
kind = "capacitor"
nodes = ["a", "gnd"]
C = {store}
voltage = {held}
[electric.way]
kind = "resistor"
nodes = ["b", "a"]
R = {way}
[electric.source]
kind = "voltage_source"
nodes = ["b", "gnd"]
voltage = {level}
"""
COIL = """
[electric.store]
kind = "inductor"
nodes = ["a", "gnd"]
L = {store}
current = {held}
[electric.way]
kind = "resistor"
nodes = ["b", "a"]
R = {way}
[electric.source]
kind = "voltage_source"
nodes = ["b", "gnd"]
voltage = "{level}*{way}"
"""
TWO = """
[electric.store]
kind = "capacitor"
nodes = ["a", "gnd"]
C = {store}
voltage = {held}
[electric.other]
kind = "capacitor"
nodes = ["b", "gnd"]
C = "3.7*{store}"
voltage = {level}
[electric.way]
kind = "resistor"
nodes = ["b", "a"]
R = {way}
"""
OIL = """
[hydraulic.store]
kind = "volume"
nodes = ["a"]
volume = {store}
pressure = "1e5*{held}"
[hydraulic.way]
kind = "orifice"
nodes = ["b", "a"]
area = "1e-6*{way}"
[hydraulic.source]
kind = "pressure_source"
nodes = ["b", "tank"]
pressure = "1e5*{level}"
"""
HUNG = """
[translational.load]
kind = "mass"
nodes = ["a"]
m = {store}
[translational.store]
kind = "spring"
nodes = ["a"]
k = {way}
length = "-{held}*{store}/{way}"
[translational.weight]
kind = "force"
nodes = ["a"]
force = "{level}*{store}"
"""
MACHINES = {"battery": BATTERY, "coil": COIL, "two": TWO, "oil": OIL, "hung": HUNG}


def started(text: str, **numbers: float) -> vbg.Start:
    written = {name: repr(float(value)) for name, value in numbers.items()}
    return vbg.start(vbg.assemble(toml.parse("vbg = 1\n" + text.format(**written), "still.toml")))


def slowest(name: str, store: float, way: float) -> float:
    """A time in which something could happen [s]."""
    constant = {"coil": store / way, "hung": (store / way) ** 0.5, "oil": store / way}
    return constant.get(name, store * way)


@pytest.mark.parametrize("name", MACHINES)
def test_what_stands_still_has_lost_nothing(name):
    """At any size, over a part of what could be its motion and over a thousand times as much."""
    random = np.random.default_rng(7)
    for _ in range(8):
        store, way = 10 ** random.uniform(-9, 0), 10 ** random.uniform(-3, 6)
        held = 10 ** random.uniform(-2, 2.5)
        span = slowest(name, store, way) * 10 ** random.uniform(-2, 3.5)
        start = started(MACHINES[name], store=store, way=way, held=held, level=held)
        run = vbg.simulate(start, t_end=span, output_step=span / 5)
        assert run.status.code == "finished" and not run.audit.failures, (store, way, held, span)


def spoiled(start: vbg.Start, run: Solution, error: float) -> tuple[str, ...]:
    """What the audit says if the source has given `error` [J] that nobody has got."""
    last, span = run.signals["energy.residual"], float(run.time[-1])
    signals = dict(run.signals) | {"energy.residual": last + error}
    moments = ((0.0, start.state),)
    grain = grain_of_energy(start, moments, span, 100)
    largest = {name: float(np.abs(values).max()) for name, values in signals.items()}
    seen = np.zeros(2), largest
    return audit(start.system, signals, (), LIMITS, span, grain, *seen).failures


@pytest.mark.parametrize("store", [1e-12, 1e-6, 1.0])
@pytest.mark.parametrize("name", ["battery", "two", "oil"])
def test_what_is_wrong_is_told_at_any_size(name, store):
    """Of a machine that stands a hundred-millionth of what it holds, of one that moves twice what
    the limit allows of what it exchanges."""
    way = 1.0
    span = 3.0 * slowest(name, store, way)
    still = started(MACHINES[name], store=store, way=way, held=12.0, level=12.0)
    run = vbg.simulate(still, t_end=span, output_step=span / 5)
    assert not run.audit.failures and not spoiled(still, run, 0.0)
    held = float(np.abs(run.signals["energy.stored"]).max())
    assert spoiled(still, run, 1e-8 * held)

    moving = started(MACHINES[name], store=store, way=way, held=3.0, level=12.0)
    run = vbg.simulate(moving, t_end=span, output_step=span / 5)
    exchanged = max(
        np.abs(run.signals[f"energy.{one}"]).max() for one in ("supplied", "dissipated")
    )
    assert not run.audit.failures
    assert spoiled(moving, run, 2.0 * LIMITS.energy * max(exchanged, held))


def feeding(random: np.random.Generator, ringing: dict[str, dict]) -> vbg.Model:
    """Voltages in series and currents that have no other way than through them."""
    volts, amperes = 10.0 ** random.uniform(-3, 3, 2), 10.0 ** random.uniform(-6, 2)
    sources = {
        "U": {"kind": "voltage_source", "nodes": ["gnd", "a"], "voltage": volts[0]},
        "V": {"kind": "voltage_source", "nodes": ["b", "a"], "voltage": f"{volts[1]}*sin(100*t)"},
        "I": {"kind": "current_source", "nodes": ["b", "gnd"], "current": f"{amperes}*cos(30*t)"},
        "J": {"kind": "current_source", "nodes": ["gnd", "a"], "current": 0.7 * amperes},
    }
    settings = {"t_end": 0.03, "output_step": 0.001}
    return vbg.Model(electric=sources | ringing, simulate=settings)


@pytest.mark.parametrize("solve", [vbg.simulate, second], ids=["bond graph", "transfer"])
def test_what_sources_feed_one_another_is_no_loss(solve):
    """In sum they supply nothing but rounding; a circuit that rings beside them and is integrated
    with tolerances a million times looser is told."""
    random = np.random.default_rng(71039)
    for _ in range(3):
        assert solve(feeding(random, {})).audit.failures == ()
        C, L = 10.0 ** random.uniform(-4, -3), 10.0 ** random.uniform(-4, -3)
        ringing = {
            "C": {"kind": "capacitor", "nodes": ["x", "gnd"], "C": C, "voltage": 1.0},
            "L": {"kind": "inductor", "nodes": ["x", "gnd"], "L": L},
        }
        model = feeding(random, ringing)
        assert solve(model).audit.failures == ()
        assert solve(model, rtol=1e-2, atol=1e-4).audit.failures


def test_the_grain_is_that_of_closed_forms():
    """A capacitor: eps C U^2, sqrt(steps) times; its battery: eps U^2 / R in every second."""
    start = started(BATTERY, store=2e-6, way=50.0, held=24.0, level=24.0)
    moments = ((0.0, start.state),)
    stored = EPS * 2e-6 * 24.0**2
    once, often = (grain_of_energy(start, moments, 0.0, steps) for steps in (1, 100))
    assert often - once == pytest.approx(9.0 * stored, rel=1e-3)
    assert stored < once < 5.0 * stored  # and some roundings of C U^2 / 2 itself
    given = EPS * 24.0**2 / 50.0
    later = [grain_of_energy(start, moments, span, 1) for span in (7.0, 11.0)]
    assert later[1] - later[0] == pytest.approx(4.0 * given, rel=1e-3)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_grain_of_a_stiff_part_without_load_is_that_of_its_bend(size):
    """k (eps x)^2 / 2 in every step, of a spring between the ground and a body at x."""
    inertia = dict.fromkeys(("xx", "yy", "zz"), size**2)
    spring = {"kind": "spring", "between": ["ground", "a"], "k": 1e9, "length": 3.0 * size}
    body = {"mass": 2.0, "inertia": inertia, "position": [3.0 * size, 0.0, 0.0]}
    model = vbg.Model(bodies={"a": body}, forces={"s": spring}, gravity=[0, 0, 0])
    start = vbg.start(vbg.assemble(model))
    each = 0.5 * 1e9 * (EPS * 3.0 * size) ** 2
    one, many = (grain_of_energy(start, ((0.0, start.state),), 0.0, n) for n in (1, 1001))
    assert many - one == pytest.approx(1000 * each, rel=1e-2)


def test_energies_of_several_stores_add_up_as_independent_errors_do():
    start = started(TWO, store=1.0, way=1.0, held=5.0, level=5.0)
    found = grain_of_energy(start, ((0.0, start.state),), 0.0, 1)
    each = EPS * np.array([25.0, 3.7 * 25.0])
    assert each.max() <= found <= 5.0 * each.sum()


HELD = """
bonds = ["source -> line", "line -> mass", "line -> spring"]
[bondgraph.source]
kind = "Se"
effort = [{level}]
[bondgraph.line]
kind = "1"
[bondgraph.mass]
kind = "I"
value = {store}
[bondgraph.spring]
kind = "C"
energy = "{held}{more}"
initial = [0.02]
"""


@pytest.mark.parametrize("more", ["", " + 50*q^2", " + 50*q^2 - {held}"])
def test_energy_that_never_changes_hides_no_error_and_makes_none(more):
    """A store that holds up to 1e21 J, constant, beside what moves: its digits are the audit's
    grain; an error above them is told."""
    random = np.random.default_rng(11)
    for _ in range(8):
        held, store = 10 ** random.uniform(0, 21), 10 ** random.uniform(-3, 3)
        numbers = {"held": held, "store": store, "level": 10 ** random.uniform(-2, 2)}
        start = started(HELD.replace("{more}", more), **numbers)
        run = vbg.simulate(start, t_end=0.3, output_step=0.05)
        assert run.status.code == "finished" and not run.audit.failures, numbers
        exchanged = float(np.abs(run.signals["energy.supplied"]).max())
        assert spoiled(start, run, 1e-4 * exchanged + 1e3 * EPS * held), numbers


@pytest.mark.parametrize("n", [1.0, 1.4])
def test_the_port_of_an_accumulator_knows_no_precharge(n):
    """Below its precharge an accumulator is its port full of oil, whatever the gas behind is
    pressed to: the same pressures and energies, to rounding."""
    random, found = np.random.default_rng(3), []
    for precharge in (2e7, *(10 ** random.uniform(8, 22, 4)).tolist()):
        text = OIL.replace('kind = "volume"', f'kind = "accumulator"\nn = {n}')
        text = text.replace("[hydraulic.way]", f"precharge = {precharge!r}\n[hydraulic.way]")
        start = started(text, store=5e-3, way=2.0, held=80.0, level=100.0)
        run = vbg.simulate(start, t_end=0.01, output_step=1e-3)
        assert run.status.code == "finished" and not run.audit.failures, precharge
        found.append(np.stack([run.signals["store.pressure"], run.signals["energy.stored"]]))
    assert found[0][0].max() > 9e6
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-9)


@pytest.mark.parametrize("span", [1e-3, 1e-2, 0.3])
@pytest.mark.parametrize("power", [1, 3, 4, 6])
def test_the_work_of_a_start_from_rest_is_known_inside_the_first_step(power, span):
    """A torque M t^n on J: w = M t^(n + 1) / ((n + 1) J), all of it work, however short the run
    and however coarse or fine its rows are."""
    inertia = 0.02
    text = """
[rotational.rotor]
kind = "inertia"
nodes = ["shaft"]
J = {inertia}
[rotational.drive]
kind = "torque"
nodes = ["shaft"]
torque = "t**{power}"
""".replace("{power}", str(power))
    start = started(text, inertia=inertia)
    for one in shaken(start, 2):
        run = vbg.simulate(one, t_end=span, output_step=span / 17)
        assert not run.audit.failures
        begun = float(run.signals["energy.kinetic"][0])
        w = run.time ** (power + 1) / ((power + 1) * inertia)
        work = 0.5 * inertia * w**2
        if begun == 0.0:
            assert np.abs(run.signals["energy.supplied"] - work).max() < 1e-6 * work[-1]


WISHBONE = Path(__file__).parents[2] / "examples" / "wishbone-corner.toml"
ROD = "rod = [-0.12, -0.06, 0.02]"
AWAY = """
vbg = 1
[bodies.rod]
mass = 2
inertia = {{ xx = 0.2, yy = 0.2, zz = 0.01 }}
position = [{away}, 0, {height}]
points = {{ top = [0, 0, 0.5] }}
[joints.hinge]
kind = "revolute"
between = [{{ body = "ground", at = [{away}, 0, "{height} + 0.5"] }}, "rod.top"]
axis = [0, 1, 0]
initial = {{ speed = {speed} }}
"""


def at_the_end_of(arm: float, axis: int) -> vbg.Start:
    """A wheel suspension at rest, whose track rod ends that far from the upright."""
    at = [-0.12, -0.06, 0.02]
    at[axis] = arm
    text = WISHBONE.read_text(encoding="utf-8")
    assert ROD in text
    return vbg.start(vbg.assemble(toml.parse(text.replace(ROD, f"rod = {at}"), str(WISHBONE))))


@pytest.mark.parametrize("axis", [1, 2])
def test_the_end_of_a_long_arm_is_rounded_as_the_arm_is(axis):
    """What stands still there, on 10 m to 100 000 km, has lost nothing and is not open."""
    random = np.random.default_rng(axis)
    for _ in range(5):
        arm, span = 10 ** random.uniform(1, 8), 10 ** random.uniform(-3, -1.2)
        for start in shaken(at_the_end_of(arm, axis), 2):
            run = vbg.simulate(start, t_end=span, output_step=span / 7)
            assert run.status.code == "finished" and not run.audit.failures, (arm, span)


@pytest.mark.parametrize("arm", [1.0, 1e3, 1e6])
def test_what_is_wrong_at_the_end_of_a_long_arm_is_told(arm):
    """An error of a thousand roundings of the arm's end under the largest force."""
    start = at_the_end_of(arm, 2)
    run = vbg.simulate(start, t_end=0.01, output_step=0.0025)
    forces = [name for name, unit in start.system.signal_units.items() if unit == "N"]
    largest = max(float(np.abs(run.signals[name]).max()) for name in forces)
    assert not spoiled(start, run, 0.0)
    assert spoiled(start, run, 1e3 * EPS * arm * largest)


@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_a_machine_far_from_the_origin_is_not_open(speed):
    """Its gaps are differences of far places: of their rounding it says nothing."""
    for exponent in range(8):
        text = AWAY.format(away=10.0**exponent, height=3.0**exponent, speed=speed)
        start = vbg.start(vbg.assemble(toml.parse(text, "away.toml")))
        run = vbg.simulate(start, t_end=0.2, output_step=0.02)
        assert run.status.code == "finished", exponent
        assert run.audit.position_residual <= run.audit.position_limit, exponent


@pytest.mark.parametrize("simulate", [vbg.simulate, vbg.tmm_bridge.simulate])
@pytest.mark.parametrize("force", [0.0, 1.0])
@pytest.mark.parametrize("period", tail([1.0, 1e-3, 3600.0], 1))
def test_rows_on_the_turning_points_of_an_oscillation_hide_no_energy(period, force, simulate):
    """A mass on a spring, pulled or let go of: it stands still in every row."""
    stiffness = (2.0 * np.pi / period) ** 2
    spring = {"kind": "spring", "nodes": ["a", "frame"], "k": stiffness}
    spring["length"] = 0.0 if force else 0.1
    model = vbg.Model(
        translational={
            "m": {"kind": "mass", "nodes": ["a"], "m": 1.0},
            "k": spring,
            "f": {"kind": "force", "nodes": ["a"], "force": force},
        }
    )
    solution = simulate(model, t_end=10.0 * period, output_step=period)
    assert not solution.audit.failures, solution.audit
    assert 0.0 <= solution.audit.energy_residual < 1e-5
