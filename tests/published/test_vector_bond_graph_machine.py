"""The machine of the vector bond graph paper (its figures 6 to 9) by Lagrange's equations.

Coordinates th of the shaft about z, ph of the arm about y, s of the slider along the arm, with

    T = 1/2 [Iz + 2 I + m a^2 + m (a + s cos ph)^2] th'^2 + 1/2 (m s^2 + 2 I) ph'^2 + 1/2 m s'^2
    V = -m g s sin ph + 1/2 K (s - c)^2,   work of the torque M on th

written down here from the paper's figure 4 and data; nothing of it is taken from vbg.
"""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import vbg

FILE = Path(__file__).parent.parent.parent / "examples" / "shaft-arm-slider.toml"
M, K, A, B, C, MASS, G = 0.1, 500.0, 0.3, 0.1, 0.15, 1.0, 9.8
I, SHAFT = 0.05**2 / 6.0, 1e-4
GRAVITY = np.array([0.0, 0.0, -G])


def accelerations(y):
    _, ph, s, w, u, v = y
    reach, sine, cosine = A + s * np.cos(ph), np.sin(ph), np.cos(ph)
    inertia = SHAFT + 2 * I + MASS * A**2 + MASS * reach**2
    inertia_rate = 2 * MASS * reach * (v * cosine - s * sine * u)
    th_2 = (M - inertia_rate * w) / inertia
    turning = MASS * G * s * cosine - MASS * reach * s * sine * w**2 - 2 * MASS * s * v * u
    ph_2 = turning / (MASS * s**2 + 2 * I)
    s_2 = s * u**2 + reach * cosine * w**2 + G * sine - K / MASS * (s - C)
    return th_2, ph_2, s_2


def slider(y):
    """Position, acceleration and the arm's direction, world axes."""
    th, ph, s, w, u, v = y
    th_2, ph_2, s_2 = accelerations(y)
    radial, up = np.array([np.cos(th), np.sin(th), 0.0]), np.array([0.0, 0.0, 1.0])
    across = np.cross(up, radial)
    r, z = A + s * np.cos(ph), -s * np.sin(ph)
    r_1 = v * np.cos(ph) - s * np.sin(ph) * u
    twice = v * u
    r_2 = s_2 * np.cos(ph) - 2 * twice * np.sin(ph) - s * (np.cos(ph) * u**2 + np.sin(ph) * ph_2)
    z_2 = -s_2 * np.sin(ph) - 2 * twice * np.cos(ph) + s * (np.sin(ph) * u**2 - np.cos(ph) * ph_2)
    acceleration = (r_2 - r * w**2) * radial + (2 * r_1 * w + r * th_2) * across + z_2 * up
    return r * radial + z * up, acceleration, np.cos(ph) * radial - np.sin(ph) * up


def test_responses_and_the_force_of_the_prismatic_joint():
    solution = vbg.simulate(vbg.read(FILE), rtol=1e-10, atol=1e-12)
    own = solve_ivp(
        lambda t, y: [*y[3:], *accelerations(y)],
        (0.0, solution.time[-1]),
        [0.0, 0.0, B, 0.0, 0.0, 0.0],
        method="DOP853",
        t_eval=solution.time,
        rtol=1e-11,
        atol=1e-12,
    )
    for signal, row in (("J1.angle", 0), ("J2.angle", 1), ("J3.slide", 2), ("J1.speed", 3)):
        assert_allclose(solution[signal], own.y[row], atol=1e-6 * np.abs(own.y[row]).max())
    found = [slider(y) for y in own.y.T]
    assert_allclose(solution["slider.position"], [p for p, _, _ in found], atol=1e-6)
    stretch = own.y[2] - C
    forces = np.array(
        [
            MASS * (acceleration - GRAVITY) + K * one * along
            for (_, acceleration, along), one in zip(found, stretch, strict=True)
        ]
    )
    assert_allclose(solution["J3.force"], forces, atol=1e-5 * np.abs(forces).max())
    assert_allclose(np.sum(forces * [e for _, _, e in found], axis=1), 0.0, atol=1e-9 * K)
