"""Oil locked in between chambers: a spring between what these move, with no path to the tank."""

from __future__ import annotations

from math import cos, sqrt

import pytest

import vbg
from vbg.model import Model

AREA, VOLUME, BULK, PRESSURE = 1e-3, 2e-4, 1.4e9, 1e6


def levelling(mass: float, speed: float, end: float) -> Model:
    """Two cylinders on one line of oil, as where one levels what the other one tilts."""
    chamber = {"kind": "cylinder", "nodes": ["p", "tank"], "area_a": AREA, "stroke": 1.0}
    chamber |= {"volume": VOLUME, "bulk": BULK, "pressure_a": PRESSURE, "length": -0.5}
    pushed = {"kind": "force", "force": -AREA * PRESSURE}
    return Model.from_document(
        {
            "hydraulic": {
                "A": chamber | {"on": "translational.x"},
                "B": chamber | {"on": "translational.y"},
            },
            "translational": {
                "M": {"kind": "mass", "nodes": ["x"], "m": mass, "speed": speed},
                "N": {"kind": "mass", "nodes": ["y"], "m": 3.0 * mass},
                "F": pushed | {"nodes": ["x"]},
                "G": pushed | {"nodes": ["y"]},
            },
            "simulate": {"t_end": end, "output_step": end / 10},
        }
    )


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e5])
def test_locked_oil_is_a_spring_between_two_pistons(mass):
    """(x + y)'' = -(bulk area^2 / volume of both) (1/m + 1/(3 m)) (x + y), to the strain of the
    oil, 1e-5; what the same force does to both cancels in x - 3 y."""
    rate = sqrt(BULK * AREA**2 / (2.0 * VOLUME) * 4.0 / (3.0 * mass))
    speed = 1e-5 * rate * 2.0 * VOLUME / AREA
    end = 2.5 / rate
    solution = vbg.simulate(levelling(mass, speed, end))
    assert solution.status.code == "finished"
    both = solution["M.speed"][-1] + solution["N.speed"][-1]
    assert both == pytest.approx(speed * cos(rate * end), abs=1e-4 * speed)
    drift = solution["M.speed"][-1] - 3.0 * solution["N.speed"][-1]
    assert drift == pytest.approx(speed, abs=1e-8 * speed)


def test_both_solvers_agree_and_locked_oil_is_told():
    model = levelling(1.0, 0.01, 0.01)
    assert vbg.validate(model).result == "PASS"
    (told,) = vbg.check(model)
    assert told.severity == "warning" and "their oil is locked in" in told.what
