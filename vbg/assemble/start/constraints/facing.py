"""By how much frames are turned that a joint holds together: the rotation, not its sine.

The position residual of rows that hold rotations is a sine, of which the rows are the rate at the
constraint; it vanishes half a turn off, too, and beyond a right angle it falls as the frames part.
The turn v that takes F to M, of M against F in the axes of the rows, tells all of them apart:

    all axes held:   v = a n of the rotation Q = R_FM by Euler's parameters (cos a/2, n sin a/2)
    z_M along z_F:   v = a (z_F x z_M) / |z_F x z_M|,   a = atan2(|z_F x z_M|, z_F . z_M)

Half a turn has two axes n and -n, and z_M against z_F any across z_F: there the first component of
n that counts is positive, and M turns about x_M, by which the angle about z_F stays what it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.spatial import quaternion_from_matrix

Array = NDArray[np.float64]

OPPOSITE = 1e-9  # [rad] from half a turn: rounding does not decide which way to turn
COUNTS = 0.1  # of a unit vector: a component that has a sign


class Facing:
    """The turns of one system's constraints; holds a workspace."""

    def __init__(self, system: System):
        self._evaluate = Evaluator(system.programs.facing)
        self._rows = {
            c.name: c.first + turning(c.labels)
            for c in system.equations.constraints
            if c.facing is not None
        }

    def turned(self, t: float, x: Array, position: Array) -> Array:
        """Position residuals with turns [rad] in place of their sines."""
        if not self._rows:
            return position
        self._evaluate(t, x)
        found = position.copy()
        for name, rows in self._rows.items():
            seen = self._evaluate.output(name)
            turn = turn_of(seen) if seen.shape[1] == 3 else tilt_of(seen[:, 0], seen[:, 1])
            found[rows] = turn * self._evaluate.output(f"{name} holds")[0]
        return found


def turning(labels: Sequence[str]) -> NDArray[np.intp]:
    """Which rows of a constraint hold turns."""
    return np.flatnonzero([label.startswith("torque") for label in labels])


def turn_of(Q: Array) -> Array:
    """(3,) rotation vector [rad] of the rotation Q, its angle up to pi."""
    quat = quaternion_from_matrix(Q)
    size = math.sqrt(float(quat[1:] @ quat[1:]))
    if size == 0.0:
        return np.zeros(3)
    n = quat[1:] / size
    if quat[0] < OPPOSITE:
        n = n * math.copysign(1.0, n[int(np.argmax(np.abs(n) > COUNTS))])
    return np.asarray(2.0 * math.atan2(size, quat[0]) * n)


def tilt_of(x_M: Array, z_M: Array) -> Array:
    """(2,) the turn [rad] about x_F and y_F of z_M against z_F, both axes in F."""
    across = np.array([-z_M[1], z_M[0]])
    sine = math.hypot(*across)
    if z_M[2] < 0.0 and sine < OPPOSITE:
        across, sine = x_M[:2], math.hypot(*x_M[:2])
        return np.asarray(math.pi / sine * across)
    return across if sine == 0.0 else np.asarray(math.atan2(sine, z_M[2]) / sine * across)
