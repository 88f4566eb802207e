"""The linear form about an instant of a motion, which is no rest: small deviations from it."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.analysis import linearise, operating_point

CRANK, ROD, SPEED = 0.04, 0.15, 31.0


def slider_crank(angle):
    slope = np.arcsin(CRANK * np.sin(angle) / ROD)
    return vbg.Model(
        name="slider-crank",
        gravity=[0, 0, -9.81],
        bodies={
            "crank": {"mass": 0.8, "inertia": {"xx": 2e-4, "yy": 1.5e-3, "zz": 1.5e-3}},
            "rod": {"mass": 0.24, "inertia": {"xx": 1e-5, "yy": 4.5e-4, "zz": 4.5e-4}},
            "piston": {"mass": 0.2, "inertia": {"xx": 1e-4, "yy": 1e-4, "zz": 1e-4}},
        },
        joints={
            "A": {
                "kind": "revolute",
                "between": ["ground", {"body": "crank", "at": [-CRANK / 2, 0, 0]}],
                "axis": [0, -1, 0],
                "initial": {"angle": angle, "speed": SPEED},
            },
            "B": {
                "kind": "revolute",
                "between": [
                    {"body": "crank", "at": [CRANK / 2, 0, 0]},
                    {"body": "rod", "at": [-ROD / 2, 0, 0]},
                ],
                "axis": [0, -1, 0],
                "initial": {"angle": -angle - slope},
            },
            "slide": {
                "kind": "prismatic",
                "between": ["ground", "piston"],
                "axis": [1, 0, 0],
                "initial": {"slide": CRANK * np.cos(angle) + ROD * np.cos(slope)},
                "friction": {"viscous": 8.0},
            },
            "C": {
                "kind": "point_on_line",
                "between": ["piston", {"body": "rod", "at": [ROD / 2, 0, 0]}],
                "axis": [0, 1, 0],
            },
        },
    )


def acceleration(angle, speed):
    """J a + J' w^2 / 2 + V' + c x'^2 w = 0, derivatives by the angle from complex polynomials."""

    def along(what):
        h = 0.05 * np.exp(2j * np.pi * np.arange(16) / 16)  # Cauchy's integral
        values = np.array([what(angle + step) for step in h])
        return np.real(np.tensordot(1.0 / h, values, 1) / 16)

    def places(at):
        slope = np.arcsin(CRANK * np.sin(at) / ROD)
        rod = [
            CRANK * np.cos(at) + ROD / 2 * np.cos(slope),
            CRANK * np.sin(at) - ROD / 2 * np.sin(slope),
        ]
        return np.array([*rod, slope, CRANK * np.cos(at) + ROD * np.cos(slope)])

    def inertia(at):
        h = 0.02 * np.exp(2j * np.pi * np.arange(16) / 16)
        x, z, turn, s = np.tensordot(1.0 / h, np.array([places(at + d) for d in h]), 1) / 16
        crank = 0.8 * (CRANK / 2) ** 2 + 1.5e-3
        return crank + 0.24 * (x * x + z * z) + 4.5e-4 * turn**2 + 0.2 * s * s

    def height(at):
        return 9.81 * (0.8 * CRANK / 2 * np.sin(at) + 0.24 * places(at)[1])

    pump = along(places)[3]
    forces = -0.5 * along(inertia) * speed**2 - along(height) - 8.0 * pump**2 * speed
    return float(np.real(forces / inertia(angle)))


@pytest.mark.parametrize("angle", [0.52, 1.9, -2.4])
def test_a_slider_crank_on_its_way(angle):
    """angle' is the speed, and speed' has the slopes of the closed form."""
    system = vbg.assemble(slider_crank(angle))
    found = linearise(system, operating_point(system, "instant"), [], ["A.speed"])
    assert found.state_names == ("A.angle", "A.speed")
    h = 1e-4
    slopes = [
        (acceleration(angle + h, SPEED) - acceleration(angle - h, SPEED)) / (2 * h),
        (acceleration(angle, SPEED * (1 + h)) - acceleration(angle, SPEED * (1 - h)))
        / (2 * h * SPEED),
    ]
    np.testing.assert_allclose(found.A[0], [0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(found.A[1], slopes, rtol=1e-6)
    np.testing.assert_allclose(found.C, [[0.0, 1.0]], atol=1e-12)
