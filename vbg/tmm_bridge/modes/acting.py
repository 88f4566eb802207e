"""One-dimensional parts and control as elements of the transfer equation at a frequency s.

A network (circuits, oil, shafts, controllers) reads motions m = R [dx; dtheta; dq] of the
mechanism and acts on it with efforts u along rows of the same kind.  About rest it is

    x' = A x + B m + B1 m',   u = C x + D m + D1 m',   u = Z(s) m,

    Z(s) = C (s - A)^-1 (B + s B1) + D + s D1,

whatever is inside: a motor with armature R, L on a hinge is Z = -s k^2 / (R + s L) (its rotor is
inertia of the hinge), oil of the stiffness K behind a leak G is Z = -s area^2 K / (s + G K), a
PID is -(kp + ki / s + kd s) between the place where it measures and the one where it acts: Z is
complex and not symmetric.  The slopes of all laws are exact: they are taken along
the tape (`formulas.tangent`), unknowns of its balance eliminated.

K. Ogata, Modern Control Engineering, on state space; Rui et al., mstmmsim.txt, on control elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.rotation import Array


@dataclass(frozen=True)
class Rows:
    """Scalar motions, nodes (r, n, 6) . [dx; dtheta] + hinges (r, n_v) . dq; an effort along one
    acts on nodes and hinges by the same factors."""

    nodes: Array
    hinges: Array

    def of(self, nodes: Array, hinges: Array) -> Array:
        """(r, m) of the displacements (n, 6, m) and (n_v, m)."""
        return np.asarray(np.einsum("rni,nim->rm", self.nodes, nodes) + self.hinges @ hinges)

    def exert(self, efforts: Array, u: Array, e: Array) -> tuple[Array, Array]:
        """Efforts u (n_v, m) on hinges and loads -e (n, 6, m) on nodes, with `efforts` (r, m)."""
        return u + self.hinges.T @ efforts, e - np.einsum("rni,rm->nim", self.nodes, efforts)


@dataclass(frozen=True)
class Acting:
    """The network about rest: see the module.  `names` of the states are not known: they are
    numbered as the network has them, `states` their places."""

    reads: Rows
    acts: Rows
    A: Array
    B: Array
    B1: Array
    C: Array
    D: Array
    D1: Array
    states: Array

    def gain(self, s: complex) -> Array:
        """Z(s), (acts, reads)."""
        direct = self.D + s * self.D1
        if not len(self.A):
            return np.asarray(direct)
        inside = np.linalg.solve(s * np.eye(len(self.A)) - self.A, self.B + s * self.B1)
        return np.asarray(direct + self.C @ inside)
