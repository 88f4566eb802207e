"""Rotations of the transfer-matrix solver's own: nothing here is shared with the other solver.

Quaternions scalar first; R maps components of the turned frame to the fixed one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Half a turn about x: turns a hinge's axis round, so that a hinge met from behind is a hinge.
FLIP = np.diag([1.0, -1.0, -1.0])
# The third axis of F CYCLE is the first of F, and CYCLE^3 = 1.
CYCLE = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
# Between the two hinges of a universal joint: Rx(-90 deg).
CARDAN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def matrix_of(quaternion: Array) -> Array:
    """Rotation matrix of a quaternion, by the Rodrigues product form."""
    w, *xyz = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    x = np.array([[0.0, -xyz[2], xyz[1]], [xyz[2], 0.0, -xyz[0]], [-xyz[1], xyz[0], 0.0]])
    rotated: Array = np.eye(3) + 2.0 * w * x + 2.0 * x @ x
    return rotated


def quaternions_of(R: Array) -> Array:
    """Quaternions (..., 4) of rotation matrices (..., 3, 3), continuous along the first axis.

    The largest of the four squares 1 + tr, 1 + 2 R_ii - tr is the one divided by.
    """
    R = np.asarray(R, dtype=float)
    r = R.reshape(-1, 3, 3)
    trace = np.trace(r, axis1=1, axis2=2)
    four = np.empty((len(r), 4, 4))
    skew = np.stack(
        [r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]], axis=1
    )
    four[:, 0, 0] = 1.0 + trace
    four[:, 0, 1:] = skew
    four[:, 1:, 0] = skew
    for i in range(3):
        for j in range(3):
            four[:, 1 + i, 1 + j] = r[:, i, j] + r[:, j, i]
        four[:, 1 + i, 1 + i] += 1.0 - trace
    best = np.argmax(np.einsum("nii->ni", four), axis=1)
    chosen = four[np.arange(len(r)), best]
    chosen /= np.linalg.norm(chosen, axis=1, keepdims=True)
    signs = np.sign(np.einsum("ni,ni->n", chosen[1:], chosen[:-1]))
    signs[signs == 0.0] = 1.0
    start = 1.0 if chosen[0, 0] >= 0.0 else -1.0
    chosen *= start * np.concatenate([[1.0], np.cumprod(signs)])[:, None]
    return chosen.reshape((*R.shape[:-2], 4))


def quaternion_of(R: Array) -> Array:
    """Quaternion (4,) of one rotation matrix, scalar not negative."""
    one: Array = quaternions_of(np.asarray(R)[None])[0]
    return one


def quaternion_step(quaternion: Array, turn: Array) -> Array:
    """The quaternion after a turn given as a rotation vector in its own axes."""
    angle = float(np.linalg.norm(turn))
    half = 0.5 * np.asarray(turn) * np.sinc(0.5 * angle / np.pi)
    c = np.cos(0.5 * angle)
    w, v = quaternion[0], np.asarray(quaternion[1:])
    return np.concatenate([[w * c - v @ half], w * half + c * v + np.cross(v, half)])


def symmetric_matrix(six: Array) -> Array:
    """(xx, yy, zz, xy, yz, zx) as a matrix."""
    xx, yy, zz, xy, yz, zx = six
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def six_of(J: Array) -> Array:
    """A symmetric matrix as (xx, yy, zz, xy, yz, zx)."""
    return np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[1, 2], J[2, 0]])
