"""A part that alone ties an island of a circuit to the ground carries nothing but rounding."""

import numpy as np
import pytest

from vbg.model import Model
from vbg.tmm_bridge import simulate
from vbg.validate import validate


def island(seed: int, tie: dict[str, object]) -> Model:
    """Currents up to 1e6 A flow around between three nodes behind a tie and a switch."""
    random = np.random.default_rng(seed)
    R, U = 10.0 ** random.uniform((-5.5, -1.0), (-3.0, 2.0))
    wires = {
        "U": {"kind": "voltage_source", "nodes": ["a", "b"], "voltage": f"{U}*sin(100*t)"},
        "R": {"kind": "resistor", "nodes": ["a", "c"], "R": R},
        "load": {"kind": "resistor", "nodes": ["c", "b"], "R": R * random.uniform(0.5, 3.0)},
        "tie": {"nodes": [str(random.choice(["a", "b", "c"])), "g"], **tie},
        "S": {"kind": "switch", "closed": "sin(200*t + 1)", "nodes": ["g", "gnd"]},
    }
    return Model(electric=wires, simulate={"t_end": 0.03, "output_step": 1e-3})


FIRST = 31  # steps behind a first one of 1e-12 of the run: a diode may switch there


@pytest.mark.parametrize("seed", range(4))
def test_its_voltage_is_no_evidence_and_a_diode_there_switches_no_more_than_a_resistor(seed):
    diode = island(seed, {"kind": "diode", "law": "ideal"})
    report = validate(diode, in_children=False)
    assert report.result == "PASS"
    marks = {c.name: c.result for c in report.channels}
    assert marks["electric.g.voltage"] == "VACUOUS" and marks["R.voltage"] == "PASS"
    resistor = island(seed, {"kind": "resistor", "R": 1e5})
    steps = [simulate(model, rtol=1e-9).made_by.n_steps for model in (diode, resistor)]
    assert steps[0] <= steps[1] + FIRST
