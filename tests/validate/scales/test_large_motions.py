"""Beams in large motion under a whole verdict: both solvers, their own errors, end forces."""

import numpy as np
import pytest

import vbg
from tests.laws.flexible.test_beams import SPAGHETTI, bathe, model
from tests.laws.flexible.test_flexible_machines import crank, held_and_carried, released, spun

RAMP = "(if(t < 2, t/4 - sin(pi*t/2)/(2*pi), 0.5) + if(t < 2, t/4 - sin(pi*t/2)/(2*pi), 0.5))"


def rolled():
    """Seven elements that an end moment rolls up to a full circle within 2 s."""
    n, length, EI = 7, 2.0, 30.0
    beam = {
        "between": ["ground", "free"],
        "length": length,
        "elements": n,
        "EA": 1e4,
        "GA_y": 4e3,
        "GA_z": 4e3,
        "GJ": 20.0,
        "EI_y": EI,
        "EI_z": EI,
        "mass_per_length": 1.0,
        "damping": 0.02,
    }
    torque = [0, 0, f"{2 * np.pi * EI / length}*{RAMP}"]
    return model(beam, forces={"end": {"kind": "torque", "on": f"boom.{n}", "torque": torque}})


def bent():
    """Bathe's bend under a load that grows to 600 within 2 s."""
    beam = bathe(8, 0.0).document["beams"]["boom"]
    load = {"kind": "force", "on": "boom.B", "force": [0, 0, f"600*{RAMP}"]}
    return model(dict(beam), forces={"load": load})


def flying():
    """The spaghetti of Simo and Vu-Quoc with their pulse."""
    pulse = "20*max(0, 1 - abs(t - 2.5)/2.5)"
    push = {"kind": "force", "on": "boom.A", "force": [pulse, 0, 0]}
    turn = {"kind": "torque", "on": "boom.0", "torque": [0, f"-10*{pulse}", f"-5*{pulse}"]}
    return model(SPAGHETTI, forces={"push": push, "turn": turn})


MACHINES = {
    "circle": (rolled, 7, "boom", 2.5),
    "bend": (bent, 8, "boom", 2.5),
    "spin-up": (lambda: spun(2), 2, "boom", 2.0),
    "crank": (lambda: crank(2, 0.01, 2e-5), 2, "rod", 0.02),
    "spaghetti": (flying, 5, "boom", 7.0),
    "released": (released, 4, "boom", 0.05),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_verdict_on_a_large_motion(name):
    """PASS, with what every element and clamp carries among the channels."""
    made, elements, beam, t_end = MACHINES[name]
    machine = made()
    report = vbg.validate.validate(machine, t_end=t_end, output_step=t_end / 100, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    judged = {c.name.rsplit(".", 1)[0] for c in report.channels if c.result == "PASS"}
    free = {f"{beam}_A.force", f"{beam}_A.torque"} if name == "spaghetti" else set()
    assert set(held_and_carried(elements, beam)) - free <= judged
