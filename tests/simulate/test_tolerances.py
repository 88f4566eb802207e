"""Absolute tolerances: a machine and its large and heavy copy take the same steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.simulate.steppers.tolerances import tolerances

G = 9.81


def pendulum(length: float, mass: float) -> vbg.Model:
    """Two links, the second axis oblique: the motion is spatial, and the same for all sizes
    in t / sqrt(length / g)."""
    J = mass * length**2
    link = {"mass": mass, "inertia": {"xx": 0.01 * J, "yy": 0.08 * J, "zz": 0.08 * J}}
    ends = {"A": [-length / 2, 0, 0], "B": [length / 2, 0, 0]}
    return vbg.Model(
        name="pendulum",
        gravity=[0, 0, -G],
        bodies={"a": {**link, "points": ends}, "b": {**link, "points": ends}},
        joints={
            "h": {
                "kind": "revolute",
                "between": ["ground", "a.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": 0.3},
            },
            "k": {
                "kind": "revolute",
                "between": ["a.B", "b.A"],
                "axis": [0.3, 1, 0.2],
                "initial": {"angle": 1.0},
            },
        },
    )


def run(length: float, mass: float, **options: Any) -> tuple[int, vbg.Solution]:
    unit = np.sqrt(length / G)
    steps: list[float] = []
    system = vbg.assemble(pendulum(length, mass))
    solution = vbg.simulate(
        system,
        t_end=5 * unit,
        output_step=0.25 * unit,
        progress=lambda _fraction, t: steps.append(t),
        **options,
    )
    return len(steps), solution


@pytest.mark.parametrize("formulation", ["constraint", "minimal"])
def test_a_ship_takes_the_steps_of_a_pendulum(formulation: str) -> None:
    """Forces of 1e10 N leave rounding in the momenta that stay zero (about x and z of the
    first link); it was above an absolute tolerance of 1e-10 N s and asked for 200 times the
    steps."""
    few, small = run(1.0, 1.0, formulation=formulation)
    many, large = run(100.0, 1e6, formulation=formulation)
    assert many < 1.5 * few
    assert_allclose(large["k.angle"], small["k.angle"], atol=1e-6)
    assert_allclose(large["h.force"] / 1e6, small["h.force"], atol=1e-5)


def test_momenta_are_held_as_speeds() -> None:
    """atol * mass for m v, atol * largest moment of inertia for h; no smaller than atol."""
    for mass in (1e-3, 50.0):
        system = vbg.assemble(pendulum(2.0, mass))
        values = tolerances(system, 1e-10)
        for s in system.slices:
            factor = {"momentum": mass, "angular_momentum": 0.32 * mass}.get(
                s.state.name.split(".")[-1], 1.0
            )
            assert_allclose(values[s.first : s.last], 1e-10 * max(1.0, factor), rtol=1e-12)
