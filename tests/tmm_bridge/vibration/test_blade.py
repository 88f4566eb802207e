"""Turning blades: published frequencies, a Ritz twin, and beams of a model that turn steadily."""

import numpy as np
import pytest
from numpy.polynomial import Legendre
from scipy.linalg import eigh

import vbg
from vbg.analysis import linearise, operating_point
from vbg.errors import UsageError
from vbg.tmm_bridge.modes.chains.blade import Blade
from vbg.tmm_bridge.modes.chains.elements import Beam, Body, Disc
from vbg.tmm_bridge.modes.chains.vibration import Branch, System, count_below, natural_frequencies

# A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, J. Appl. Mech. 49 (1982) 197: flap of
# a uniform blade clamped on the axis, w and spin in units of sqrt(EI / m) / l^2
PUBLISHED = {
    0: (3.5160, 22.0345),
    1: (3.6817, 22.1810),
    2: (4.1373, 22.6149),
    3: (4.7973, 23.3203),
    4: (5.5850, 24.2733),
    6: (7.3604, 26.8091),
    8: (9.2568, 29.9954),
    10: (11.2023, 33.6404),
    12: (13.1702, 37.6031),
}
EI, MASS, LENGTH = 310.0, 2.4, 1.7
UNIT = np.sqrt(EI / MASS) / LENGTH**2


def blade(spin, hub=0.0, **more):
    return Blade(EI, MASS, LENGTH, spin * UNIT, hub + LENGTH, **more)


def frequencies(spin, upper, **more):
    return natural_frequencies(System(Branch((blade(spin, **more),))), upper * UNIT) / UNIT


@pytest.mark.parametrize("spin", list(PUBLISHED))
def test_published_frequencies(spin):
    found = frequencies(spin, 40.0)
    np.testing.assert_allclose(found[:2], PUBLISHED[spin], atol=6e-5)
    lag = frequencies(spin, 40.0, plane="lag")
    np.testing.assert_allclose(lag[:2] ** 2, found[:2] ** 2 - spin**2, rtol=1e-9)


def ritz(spin, hub, tip, size=22):
    """Flap of a clamped blade that carries a point mass, by polynomials x^2 P_k, length, EI and
    mass per length 1."""
    x, weight = np.polynomial.legendre.leggauss(2 * size)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    shapes = [
        Legendre.basis(k, domain=[0, 1]) * Legendre([0.5, 0.5], domain=[0, 1]) ** 2
        for k in range(size)
    ]
    f, d, dd = (np.array([s.deriv(n)(x) if n else s(x) for s in shapes]) for n in (0, 1, 2))
    end = np.array([s(1.0) for s in shapes])
    N = spin**2 * ((1 - x) * hub + 0.5 * (1 - x**2) + tip * (hub + 1.0))
    K = (dd * weight) @ dd.T + (d * weight * N) @ d.T
    M = (f * weight) @ f.T + tip * np.outer(end, end)
    return np.sqrt(eigh(K, M, eigvals_only=True))


@pytest.mark.parametrize(
    ("spin", "hub", "tip"), [(0.5, 0.0, 0.0), (7.0, 1.3, 0.0), (30.0, 0.2, 0.7)]
)
def test_against_ritz(spin, hub, tip):
    """To 1e-9, in one piece and in three, with a hub's radius and a mass at the tip."""
    exact = ritz(spin, hub, tip)[:5]
    mass = tip * MASS * LENGTH
    pull = mass * (spin * UNIT) ** 2 * (hub + 1.0) * LENGTH
    whole = blade(spin, hub * LENGTH, tension=pull)
    for count in (1, 3):
        system = System(Branch((Body(mass), *whole.parts(count)) if tip else whole.parts(count)))
        upper = 0.5 * (exact[-1] + ritz(spin, hub, tip)[5]) * UNIT
        np.testing.assert_allclose(natural_frequencies(system, upper) / UNIT, exact, rtol=1e-9)


def test_standing_blade_is_a_beam():
    """None missed and none twice."""
    beam = System(Branch((Beam(EI, MASS, LENGTH),)))
    upper = 1.2e3 * UNIT
    exact = natural_frequencies(beam, upper)
    assert len(exact) == 11
    np.testing.assert_allclose(frequencies(0.0, 1.2e3) * UNIT, exact, rtol=1e-9)
    turning = System(Branch((blade(50.0),)))
    found = natural_frequencies(turning, upper)
    assert len(found) == count_below(turning, np.array([upper]))[0]
    assert np.all(found > exact[: len(found)])


def rotor(elements, spin, **hinge):
    """The same blade as a beam of a model, clamped to a heavy hub that turns freely."""
    beam = {
        "between": ["hub", "free"],
        "length": LENGTH,
        "elements": elements,
        "EA": 1e6 * EI / LENGTH**2,
        "GJ": EI,
        "EI_y": EI,
        "EI_z": EI,
        "mass_per_length": MASS,
    }
    heavy = {"xx": 1e7, "yy": 1e7, "zz": 1e7}
    axle = {"kind": "revolute", "between": ["ground", "hub"], "axis": [0, 0, 1]}
    return vbg.Model(
        name="rotor",
        gravity=[0, 0, 0],
        bodies={"hub": {"mass": 1.0, "inertia": heavy}},
        joints={"axle": axle | (hinge or {"initial": {"speed": float(spin * UNIT)}})},
        beams={"blade": beam},
    )


def test_beams_that_turn_steadily_converge_to_it():
    """Poles about the steady motion, with the square of the element: flap and lag."""
    spin = 3.0
    exact = np.array([PUBLISHED[3][0], np.sqrt(PUBLISHED[3][0] ** 2 - spin**2)])
    errors = []
    for n in (3, 6):
        system = vbg.assemble(rotor(n, spin))
        point = operating_point(system, "steady")
        assert point.kind == "steady motion"
        poles = linearise(system, point, inputs=[]).eigenvalues
        assert np.abs(poles.real).max() < 1e-6 * np.abs(poles).max()
        found = np.unique(np.round(np.abs(poles.imag) / UNIT, 9))[1:3]
        errors.append(np.abs(found[::-1] / exact - 1.0))
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.3)
    assert np.all(errors[1] < 0.01)


def test_a_driven_rotor_turns_steadily_too():
    """Its poles are those of one on a heavy hub, but for the two of the hub's own turning."""
    found = []
    for hinge in ({}, {"drive": f"{3.0 * UNIT}*t"}):
        system = vbg.assemble(rotor(2, 3.0, **hinge))
        point = operating_point(system, "steady")
        assert point.kind == "steady motion"
        poles = np.sort(np.abs(linearise(system, point, inputs=[]).eigenvalues.imag))
        found.append(poles[poles > 0.1 * UNIT])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


def test_blade_is_no_part_of_a_torsional_chain():
    with pytest.raises(UsageError, match="one kind"):
        natural_frequencies(System(Branch((Disc(1.0), blade(1.0)))), 10.0)
