"""Kinks that fall on one instant but for rounding: each is passed once."""

import math

import pytest

import vbg
from tests.tail import tail

K = 0.05  # V*s/rad, N*m/A


def brushless(inertia: float) -> vbg.Model:
    """Three windings whose voltages switch by the sign of their back-EMF, trapezoids of four pole
    pairs a third of a turn apart: where one of them changes its sign, the others reach or leave
    their flat tops."""
    shape, parts = {}, {}
    for k, phase in enumerate("abc"):
        at = f"(4*rotational.shaft.angle - {2.0 * math.pi * k / 3.0!r})"
        e = shape[phase] = f"max(-1, min(1, {2.0 / 3.0**0.5!r}*sin{at}))"
        volts = f"24*sign({e}) - {K}*rotational.shaft.speed*{e}"
        parts |= {
            f"V{phase}": {"kind": "voltage_source", "nodes": [f"p{phase}", "gnd"]}
            | {"voltage": volts},
            f"R{phase}": {"kind": "resistor", "nodes": [f"p{phase}", f"q{phase}"], "R": 0.5},
            f"L{phase}": {"kind": "inductor", "nodes": [f"q{phase}", "star"], "L": 1e-3},
        }
    parts["leak"] = {"kind": "resistor", "nodes": ["star", "gnd"], "R": 1e4}
    torque = " + ".join(f"L{phase}.current*{e}" for phase, e in shape.items())
    return vbg.Model(
        electric=parts,
        rotational={
            "J": {"kind": "inertia", "nodes": ["shaft"], "J": inertia},
            "T": {"kind": "torque", "nodes": ["shaft"], "torque": f"{K}*({torque})"},
        },
    )


@pytest.mark.parametrize("moved", tail([0.0, -1e-13, 1e-13], 1))
def test_a_brushless_motor_passes_the_instants_of_its_three_phases(moved):
    """Two kinks 1e-18 s apart took turns ("switches endlessly"), and a root on the near side of a
    jump let no step begin there."""
    model = brushless(1e-4 * (1.0 + moved))
    run = {"t_end": 0.012, "output_step": 1e-3}
    first = vbg.simulate(model, rtol=1e-8, **run)
    assert first.status.code == "finished", first.status.sentence
    assert not first.audit.failures
    second = vbg.tmm_bridge.simulate(model, rtol=1e-8, **run)
    speed = "rotational.shaft.speed"
    assert first[speed] == pytest.approx(second[speed], rel=1e-5)
