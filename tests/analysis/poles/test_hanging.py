"""Bodies that hang: poles in closed form, from a rest that is known but for 1e-9, whatever way the
world's axes lie, in any units.

A body of mass m hangs with its centre a below its pin, J_x, J_y about its principal axes across.
"""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import only, tail
from vbg.analysis import linearise
from vbg.spatial import quaternion_from_matrix

G = 9.81
SEEDS = range(6)
KINDS = ("distance", "point_on_plane", "point_on_line", "spherical", "revolute")


def turned(rng, about=None):
    """A rotation matrix: any, or by less than a quarter turn about `about`."""
    if about is None:
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        return Q * np.sign(np.linalg.det(Q))
    w = np.asarray(about) / np.linalg.norm(about)
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    angle = rng.uniform(0.2, 1.2)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def hanging(kind, seed, straight, decades=(-3, 2)):
    """The model of a body that begins aside, its frequencies [rad/s], its poles at zero; its time
    [s] lies in the `decades`."""
    rng = np.random.default_rng(seed)
    length, time = 10 ** rng.uniform(-4, 2), 10 ** rng.uniform(*decades)
    m, g, a = 10 ** rng.uniform(-6, 4), G * length / time**2, length * rng.uniform(0.3, 1.0)
    J = m * length**2 * rng.uniform(0.05, 0.1, 3)
    if kind == "point_on_line":  # else its poles depend on how it is turned about the vertical
        J[1] = J[0]
    J[2] = abs(J[0] - J[1]) + rng.uniform(0.01, 1.0) * J[:2].min()
    Q = np.eye(3) if straight else turned(rng)  # of the world and of the body's axes
    tilt = turned(rng, [0, 1, 0] if kind in ("revolute", "point_on_line") or straight else None)
    inertia = Q @ np.diag(J) @ Q.T
    axes = ("xx", "yy", "zz", "xy", "yz", "zx")
    entries = {name: float(inertia["xyz".index(name[0]), "xyz".index(name[1])]) for name in axes}
    body = {"mass": m, "inertia": entries}
    centre = Q @ tilt @ np.array([0, 0, -a])
    if kind in ("point_on_plane", "point_on_line"):
        centre = centre + Q @ np.array([rng.uniform(-1, 1) * length, 0.0, 0.0])
    lever, turn = (0.0, np.eye(3)) if kind == "distance" else (a, Q @ tilt @ Q.T)
    body["position"] = list(centre)
    body["rotation"] = {"quaternion": list(quaternion_from_matrix(turn))}
    joint = {
        "kind": kind,
        "between": ["ground", {"body": "b", "at": list(Q @ np.array([0, 0, lever]))}],
    }
    axis = {"point_on_plane": [0, 0, 1], "point_on_line": [1, 0, 0], "revolute": [0, 1, 0]}
    if kind in axis:
        joint["axis"] = list(Q @ np.array(axis[kind], dtype=float))
    made = vbg.Model(gravity=list(Q @ [0, 0, -g]), bodies={"b": body}, joints={"j": joint})
    pinned, free = (
        np.sqrt(m * g * a / (J[:2] + m * a**2)),
        np.sqrt(m * g * a / J[:2]),
    )
    return made, *{
        "distance": (np.array([np.sqrt(g / a)] * 2), 6),
        "point_on_plane": (free, 6),
        "point_on_line": (np.array([pinned[0], free[1]]), 4),
        "spherical": (pinned, 2),
        "revolute": (pinned[1:], 0),
    }[kind]


def require_poles(kind, seed, straight, decades=(-3, 2), told=1e-5):
    model, frequencies, zeros = hanging(kind, seed, straight, decades)
    start = vbg.start(model, "equilibrium")
    modes = linearise(start.system, start.state, inputs=()).modes
    swings = [mode for mode in modes if mode.oscillates]
    found = sorted(mode.frequency for mode in swings)
    assert found == pytest.approx(sorted(frequencies), rel=1e-6), seed
    assert sum(mode.eigenvalue == 0.0 for mode in modes) == zeros, seed
    assert len(modes) == zeros + len(swings), seed
    # and what they are known to is told, also of equal ones
    assert all(mode.error < told * mode.frequency for mode in swings), seed


@pytest.mark.parametrize("straight", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_poles_of_what_hangs(kind, straight):
    for seed in SEEDS:
        require_poles(kind, seed, straight)


@pytest.mark.parametrize(("from_", "to"), tail([(8, 9), (-8, -6), (2, 8), (-6, -3)], 2))
@pytest.mark.parametrize("kind", only(["point_on_plane"], KINDS))
def test_poles_of_what_hangs_in_any_time(kind, from_, to):
    for seed in range(1, 4):
        require_poles(kind, seed, False, (from_, to), told=1e-4)
