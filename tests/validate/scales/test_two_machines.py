"""Machines in one file that have nothing to do with each other are judged as each is alone."""

from dataclasses import replace

import numpy as np
import pytest

from vbg.model import Model
from vbg.validate import validate
from vbg.validate.compare import compare

RUN = {"t_end": 1.0, "output_step": 0.05}


@pytest.mark.parametrize("seed", range(2))
def test_a_slow_shaft_beside_a_fast_rotor_is_evidence_and_a_tenth_too_much_of_it_a_fault(seed):
    # it turns as speed exp(-c t / J); in the file it comes behind a joint at 1000 rad/s
    random = np.random.default_rng(seed)
    speed, J, c = 10.0 ** random.uniform((-6.5, -4, -1), (-5.0, 0, 0.5))
    shaft = {
        "J": {"kind": "inertia", "nodes": ["n"], "J": J, "speed": speed},
        "d": {"kind": "damper", "nodes": ["n", "frame"], "c": c * J},
    }
    rotor = {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    axle = {"kind": "revolute", "between": ["ground", "rotor"], "axis": [0, 0, 1]}
    both = Model(
        gravity=[0, 0, 0],
        bodies={"rotor": rotor},
        joints={"axle": axle | {"initial": {"speed": 1000.0}}},
        rotational=shaft | {"disk": {"kind": "inertia", "on": "joints.axle", "J": 0.5}},
        simulate=RUN,
    )
    alone = validate(Model(rotational=shaft, simulate=RUN), in_children=False)
    report = validate(both, in_children=False)
    assert alone.result == report.result == "PASS"
    marks = {c.name: c.result for c in report.channels}
    for channel in alone.channels:
        if not channel.name.startswith("energy."):
            assert marks[channel.name] == channel.result
    first, second = report.solutions["vbg"], report.solutions["mstmm"]
    wrong = dict(second.signals) | {"J.speed": 1.1 * second["J.speed"]}
    verdict = compare(first, replace(second, signals=wrong), model=both)
    assert verdict.result == "FAIL" and verdict.sentence.count("J.speed") == 1
