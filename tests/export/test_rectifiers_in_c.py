"""Ideal diodes behind chokes in exported programs: they stop where those of a run do.

A choke's current is zero there but for its rounding, of which the conductance of a diode that
blocks makes as many volts: one that turned back at their sign would do so without end.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.domains.circuits.test_line_chokes import bridge
from tests.export.comparing import compiled, table
from tests.tail import tail
from vbg.export import exported
from vbg.solution import components


def motor(seed):
    """A motor behind a diode: the ratios of a usual one, within ten times, and L/R a share of the
    period."""
    random = np.random.default_rng(seed)
    volts, amperes, second = (10.0 ** random.uniform([1, 0, -2.5], [3, 2, -1])).tolist()
    ohms, near = volts / amperes, 10.0 ** random.uniform(-0.5, 0.5, 5)
    speed = near[0] / second
    heat = {"R": float(near[1] * ohms * 0.1), "L": float(0.05 * near[2] * ohms * second)}
    K = 0.5 * volts / speed
    inertia = float(near[3] * K * amperes * second / speed)
    law = {"law": "ideal", "Ron": 1e-4 * ohms, "Goff": 1e-6 / ohms}
    return vbg.Model(
        electric={
            "line": {
                "kind": "voltage_source",
                "nodes": ["a", "gnd"],
                "voltage": f"{volts!r}*sin({2.0 * np.pi / second!r}*t)",
            },
            "valve": {"kind": "diode", "nodes": ["a", "b"]} | law,
            "motor": {"kind": "dc_motor", "nodes": ["b", "gnd"], "on": "rotational.shaft", "K": K}
            | heat,
        },
        rotational={
            "rotor": {"kind": "inertia", "nodes": ["shaft"], "J": inertia},
            "fan": {"kind": "damper", "nodes": ["shaft"], "c": float(0.2 * inertia / second)},
        },
        simulate={"t_end": 5.3 * second, "output_step": 0.1 * second},
    )


def floating(seed):
    """Three phases with chokes on a load that a resistor alone holds to gnd; it begins where one
    of the voltages is zero, and all currents are."""
    random = np.random.default_rng(seed)
    volts, amperes, hertz = (10.0 ** random.uniform([1, 0, 1], [3, 2, 2.5])).tolist()
    ohms = volts / amperes
    law = {"law": "ideal", "Ron": 1e-5 * ohms, "Goff": 1e-6 / ohms}
    henry = float(random.uniform(0.5, 5.0)) * ohms / (2.0 * np.pi * hertz)
    parts = {
        "load": {"kind": "resistor", "nodes": ["x", "m"], "R": ohms},
        "choke": {"kind": "inductor", "nodes": ["p", "x"], "L": henry},
        "earth": {"kind": "resistor", "nodes": ["m", "gnd"], "R": 1e5 * ohms},
    }
    for k, name in enumerate("abc"):
        wave = f"{volts!r}*sin({2.0 * np.pi * hertz!r}*t - {2.0 * np.pi * k / 3.0!r})"
        parts |= {
            f"V{name}": {"kind": "voltage_source", "nodes": [f"s{name}", "gnd"], "voltage": wave},
            f"L{name}": {"kind": "inductor", "nodes": [f"s{name}", name], "L": 0.1 * henry},
            f"D{name}": {"kind": "diode", "nodes": [name, "p"]} | law,
            f"E{name}": {"kind": "diode", "nodes": ["m", name]} | law,
        }
    run = {"t_end": 1.37 / hertz, "output_step": 0.05 / hertz}
    return vbg.Model(electric=parts, simulate=run)


MACHINES = {
    **{f"motor {seed}": lambda seed=seed: motor(seed) for seed in range(6)},
    **{f"floating {seed}": lambda seed=seed: floating(seed) for seed in range(4)},
    "constant current": lambda: bridge(325.0, 20.0, 50.0, 1e-5),
}
FIRST = ["motor 0", "floating 0", "constant current"]


@pytest.mark.parametrize("name", [*FIRST, *tail([n for n in MACHINES if n not in FIRST], 0)])
def test_a_program_switches_where_the_run_does(name, tmp_path):
    start = vbg.start(vbg.assemble(MACHINES[name]()))
    run = vbg.simulate(start)
    assert run.status.code == "finished", run.status
    found = table(compiled(start, tmp_path, "-O1"))
    own, machine = dict(components(run)), exported(start)
    for unit in ("A", "V"):
        those = [one.name for one in machine.signals if one.unit == unit]
        size = max(np.abs(own[one]).max() for one in those)
        for one in those:
            assert_allclose(found[one], own[one], rtol=0, atol=1e-4 * size, err_msg=one)
