"""What engineers write first for a key is answered with the key that it is here."""

from __future__ import annotations

import tomllib

import pytest

import vbg
from vbg.errors import ModelError
from vbg.fields import declared
from vbg.model import catalogue
from vbg.model.text.names import suggestion

# table, kind, words and the keys that they mean there
SAID = """
hydraulic cylinder: piston_diameter bore, area bore, rod_diameter rod, damping friction
hydraulic relief_valve: pressure setting, opening_pressure setting
hydraulic check_valve: opening_pressure cracking
hydraulic accumulator: V0 volume, p0 precharge
hydraulic pump: D displacement, rpm speed
hydraulic volume: V volume, bulk_modulus bulk
hydraulic pipe: d diameter, L length
hydraulic proportional_valve: signal opening, flow qn, deadband overlap
hydraulic flow_source: value flow
electric dc_motor: resistance R, inductance L, Kt K, inertia J, friction B
electric capacitor: capacitance C, value C, initial voltage
electric voltage_source: value voltage
electric switch: control closed
electric diode: saturation Is, emission Vt
rotational inertia: inertia J, I J, omega speed
rotational gear: i ratio, teeth ratio
rotational belt: r1 radius1, d2 radius2
rotational clutch: torque capacity, signal engaged
rotational friction: torque coulomb, stiction static
translational mass: mass m, x0 position, v speed
translational ball_screw: pitch lead
joints revolute: limits stop, parent between, direction axis, speed initial, damping friction
joints rack_pinion: radius ratio
forces torsion_spring: angle rest, damping c
forces bushing: k stiffness, c damping
forces force: body on, value force
bodies body: m mass, I inertia, cog com, material shape, speed velocity
signals step: time start, amplitude height
signals pid: setpoint demand, feedback measured, max upper
signals curve: points rows, x input
signals motion: positions stops, velocity speed
"""


@pytest.mark.parametrize("line", SAID.split("\n")[1:-1])
def test_what_engineers_write_first_is_answered_with_the_key(line):
    part, _, said = line.partition(": ")
    table, kind = part.split()
    keys = [*declared(catalogue()[table][kind]), "kind"]
    for word, key in (pair.split() for pair in said.split(", ")):
        assert suggestion(word, keys, "keys") == f"Did you mean {key!r}?", word


@pytest.mark.parametrize(
    "table, kind, said",
    [
        ("electric", "motor", "'dc_motor'"),  # not "write [hydraulic.X]", where it is a kind
        ("hydraulic", "valve", "'proportional_valve'"),
        ("rotational", "backlash", "curve"),
        ("rotational", "planetary", "carrier"),
        ("hydraulic", "counterbalance_valve", "flow_source"),
    ],
)
def test_a_kind_that_is_none_is_answered_with_how_a_machine_says_it(table, kind, said):
    with pytest.raises(ModelError, match=said):
        vbg.Model(**{table: {"X": {"kind": kind, "nodes": ["a", "b"]}}})


@pytest.mark.parametrize(
    "table, said",
    [
        ("motors.x", '[electric.NAME] with kind = "dc_motor"'),
        ("gears.g", '[joints.NAME] with kind = "gear"'),
        ("hinges.A", '[joints.NAME] with kind = "revolute"'),
        ("springs.s", '[forces.NAME] with kind = "spring"'),
        ("leaves.s]\nkind = 'orifice'\n[leaves.t", '[hydraulic.NAME] with kind = "orifice"'),
        ("circuit.r", "Did you mean 'electric'?"),
        ("sim", "Did you mean 'simulate'?"),
    ],
)
def test_a_table_that_is_none_is_answered_with_the_one_that_is_meant(table, said):
    with pytest.raises(ModelError) as told:
        vbg.Model(**tomllib.loads(f"vbg = 1\n[{table}]\n[bodies.b]\nmass = 1\n"))
    assert said in str(told.value)


@pytest.mark.parametrize("name", ["joints.hinge.angle", "parameters.L"])
def test_a_name_with_its_table_is_answered_with_the_name(name):
    signal = f"[signals.a]\nkind = 'gain'\nk = 2\ninput = '{name}'\n"
    with pytest.raises(ModelError) as told:
        vbg.Model(**tomllib.loads(f"vbg = 1\n[parameters]\nL = 1\n{signal}"))
    assert f"Names stand without their table: {name.partition('.')[2]!r}." in str(told.value)


def test_damping_of_a_spring_is_a_part_of_its_own():
    spring = {"kind": "spring", "between": ["ground", "b"], "k": 5, "damping": 1}
    with pytest.raises(ModelError, match=r'damping.*kind = "damper"'):
        vbg.Model(bodies={"b": {"mass": 1}}, forces={"s": spring})


def test_an_inertia_written_as_a_list_is_shown_as_it_is_written():
    with pytest.raises(ModelError, match=r"Write { xx = 1, yy = 2.5, zz = 3 }"):
        vbg.Model(bodies={"b": {"mass": 1, "inertia": [1, 2.5, 3]}})
