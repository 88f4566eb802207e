"""A portal frame of beams with a branch: one loop; frequencies against plane finite elements."""

from itertools import pairwise

import numpy as np
from scipy.linalg import eigh

import vbg
from vbg.tmm_bridge.modes.modal import vibration
from vbg.tmm_bridge.overall.deduction import topology_of

EI, EA, MASS = 900.0, 4e6, 3.0
H, W, ARM = 1.1, 1.6, 0.7
# members as (from, to) of joints in the x-z plane; joints 0 and 3 are the ground, 4 is free
PLACES = np.array([[0, 0], [0, H], [W, H], [W, 0], [W + ARM, H]], dtype=float)
MEMBERS = ((0, 1), (1, 2), (2, 3), (2, 4))


def frame(elements):
    """The same with beams between light corners; those out of the plane are stiff."""
    corner = {"mass": 1e-5, "inertia": {"xx": 1e-8, "yy": 1e-8, "zz": 1e-8}}
    names = ["ground", "left", "right", {"body": "ground", "at": [W, 0, 0]}, "free"]
    beams = {}
    for k, (a, b) in enumerate(MEMBERS):
        along = PLACES[b] - PLACES[a]
        beams[f"beam{k}"] = {
            "between": [names[a], names[b]],
            "length": float(np.linalg.norm(along)),
            "axis": [float(along[0]), 0.0, float(along[1])],
            "up": [0, 1, 0],
            "elements": elements,
            "EA": EA,
            "GJ": 1e3 * EI,
            "EI_y": 1e3 * EI,  # the section's z is the world's y: bending in the plane is EI_z
            "EI_z": EI,
            "mass_per_length": MASS,
        }
    bodies = {
        name: corner | {"position": [float(x), 0.0, float(z)]}
        for name, (x, z) in zip(("left", "right"), PLACES[1:3], strict=True)
    }
    return vbg.Model(name="frame", gravity=[0, 0, 0], bodies=bodies, beams=beams)


def plane_frame(pieces):
    """Frequencies [rad/s] by cubic elements with consistent mass, without rotary inertia."""
    inner = len(MEMBERS) * (pieces - 1)
    n = 3 * (len(PLACES) + inner)
    K, M, free = np.zeros((n, n)), np.zeros((n, n)), np.ones(n, dtype=bool)
    free[[*range(3), *range(9, 12)]] = False
    for k, (a, b) in enumerate(MEMBERS):
        along = PLACES[b] - PLACES[a]
        l = np.linalg.norm(along) / pieces
        c, s = along / (l * pieces)
        rotation = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        T = np.kron(np.eye(2), rotation)
        first = len(PLACES) + k * (pieces - 1)
        nodes = [a, *range(first, first + pieces - 1), b]
        mass = MASS * l / 420.0
        k_own, m_own = np.zeros((6, 6)), np.zeros((6, 6))
        k_own[np.ix_([0, 3], [0, 3])] = EA / l * np.array([[1, -1], [-1, 1]])
        m_own[np.ix_([0, 3], [0, 3])] = MASS * l / 6.0 * np.array([[2, 1], [1, 2]])
        rows = [1, 2, 4, 5]
        k_own[np.ix_(rows, rows)] = (EI / l**3) * np.array(
            [
                [12, 6 * l, -12, 6 * l],
                [6 * l, 4 * l**2, -6 * l, 2 * l**2],
                [-12, -6 * l, 12, -6 * l],
                [6 * l, 2 * l**2, -6 * l, 4 * l**2],
            ]
        )
        m_own[np.ix_(rows, rows)] = mass * np.array(
            [
                [156, 22 * l, 54, -13 * l],
                [22 * l, 4 * l**2, 13 * l, -3 * l**2],
                [54, 13 * l, 156, -22 * l],
                [-13 * l, -3 * l**2, -22 * l, 4 * l**2],
            ]
        )
        for i, j in pairwise(nodes):
            at = [*range(3 * i, 3 * i + 3), *range(3 * j, 3 * j + 3)]
            K[np.ix_(at, at)] += T.T @ k_own @ T
            M[np.ix_(at, at)] += T.T @ m_own @ T
    squares = eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], eigvals_only=True)
    return np.sqrt(squares)


def test_frame_with_a_branch_converges_to_finite_elements():
    """With the square of the element; the loop is closed by an element between two sections."""
    exact = plane_frame(12)[:3]
    errors = []
    for n in (3, 6):
        model = frame(n)
        found = np.sort(vibration(model).poles.imag)[:3]
        errors.append(np.abs(found / exact - 1.0))
    assert np.all(errors[1] < 0.01)
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.2)
    assert topology_of(frame(1)).endswith("one loop")
