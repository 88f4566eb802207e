"""Beams against published digits: large deflection, buckling in and out of the plane, curved."""

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.tmm_bridge.modes.modal import vibration
from vbg.tmm_bridge.modes.passing import count_below, without_dampers

SECTION = {"EA": 1e7, "GJ": 1.0, "EI_y": 1.0, "EI_z": 1.0, "mass_per_length": 1.0}


def cantilever(n, force, **more):
    """Of the length 1 along x, or along a `line`, with a dead force at its end."""
    way = {} if "line" in more else {"length": 1.0, "elements": n}
    beam = {"between": ["ground", "free"]} | way | SECTION | more
    load = {"kind": "force", "on": "boom.B", "force": force}
    return vbg.Model(gravity=[0, 0, 0], beams={"boom": beam}, forces={"load": load})


def tip(n, force, **more):
    """Where the end rests, found from the unloaded shape by the second solver."""
    model = cantilever(n, force, **more)
    found = vibration(model)
    place = found.small.mechanism.bodies[f"boom_{n}"]
    work = found.small.scratch.work[place.node]
    node = np.array(model.bodies[f"boom_{n}"].points["N"])
    return work[9:12] + work[:9].reshape(3, 3) @ (place.p_NB + place.R_NB @ node)


def critical(n, direction, between, **more):
    """The force from which on one w^2 about rest is negative, by counting; to 1e-5."""
    low, high = between
    while high - low > 1e-5:
        force = [0.5 * (low + high) * d for d in direction]
        falls = count_below(without_dampers(vibration(cantilever(n, force, **more)).small), 0.0)
        low, high = (low, 0.5 * (low + high)) if falls else (0.5 * (low + high), high)
    return low


def extrapolated(n, compute):
    """From n and 2n elements to none: errors go with the square of the element."""
    coarse, fine = compute(n), compute(2 * n)
    return fine + (fine - coarse) / 3.0


@pytest.mark.parametrize(
    ("load", "shortening", "deflection"),
    tail(
        [
            (1.0, 0.05643, 0.30172),
            (2.0, 0.16064, 0.49346),
            (5.0, 0.38763, 0.71379),
            (10.0, 0.55500, 0.81061),
        ],
        1,
    ),
)
def test_elastica_of_mattiasson(load, shortening, deflection):
    """P L^2 / EI at the end of a cantilever, by elliptic integrals: K. Mattiasson, Int. J. Num.
    Meth. Eng. 17 (1981) 145.  What shear of the rigid halves and stretch add is below 1e-6."""
    end = extrapolated(8, lambda n: tip(n, [0, load, 0]))
    np.testing.assert_allclose([1.0 - end[0], end[1]], [shortening, deflection], atol=1e-4)


def test_column_of_euler():
    """pi^2 EI / (4 L^2) of a clamped-free column."""
    found = extrapolated(4, lambda n: critical(n, [-1, 0, 0], (2.3, 2.5)))
    assert found == pytest.approx(np.pi**2 / 4.0, rel=5e-4)


@pytest.mark.slow
def test_strip_buckles_out_of_its_plane():
    """4.0126 sqrt(EI GJ) / L^2 at the end of a cantilever of a deep section: S. P. Timoshenko,
    J. M. Gere, Theory of Elastic Stability, 1961, 6.3."""
    found = extrapolated(8, lambda n: critical(n, [0, 0, -1], (3.55, 3.7), EI_y=1e4, GJ=0.81))
    assert found == pytest.approx(4.0126 * 0.9, rel=5e-4)


def test_quarter_of_a_circle_out_of_its_plane():
    """P R^3 (pi/4 / EI + (3 pi/4 - 2) / GJ) by Castigliano, chords in the place of the arc."""

    def sag(n):
        a = np.linspace(0.0, np.pi / 2.0, n + 1)
        line = np.column_stack([np.sin(a), 1.0 - np.cos(a), 0.0 * a]).tolist()
        return tip(n, [0, 0, 1e-4], line=line, GJ=0.7)[2]

    exact = 1e-4 * (np.pi / 4.0 + (0.75 * np.pi - 2.0) / 0.7)
    assert extrapolated(8, sag) == pytest.approx(exact, rel=1e-4)
