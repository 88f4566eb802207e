"""One-dimensional parts and control as elements of the transfer equation at a frequency s.

A network (circuits, oil, shafts, controllers) reads motions m = R [dx; dtheta; dq] of the
mechanism and acts on it with efforts u along rows of the same kind.  About rest it is

    x' = A x + B m + B1 m' + B2 r,   u = C x + D m + D1 m' + D2 r,   u = Z(s) m + Y(s) r,

    Z(s) = C (s - A)^-1 (B + s B1) + D + s D1,   Y(s) = C (s - A)^-1 B2 + D2,

with inputs r at signals and sources, whatever is inside: a motor with armature R, L on a hinge is
Z = -s k^2 / (R + s L) (its rotor is inertia of the hinge), oil of the stiffness K behind a leak G
is Z = -s area^2 K / (s + G K), a PID is -(kp + ki / s + kd s) between the place where it measures
and the one where it acts: Z is complex and not symmetric.  The slopes of all laws are exact: they
are taken along the tape (`formulas.tangent`), unknowns of its balance eliminated.

K. Ogata, Modern Control Engineering, on state space; Rui et al., mstmmsim.txt, on control elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.modes.roots.decimal_form import Chain


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
    """The network about rest: see the module.  `states` are the places of x in the network;
    `inputs` are names of r; `chain` is the same along the tape; what it tells, by name, is
    T0 x + T1 m + T2 m' + T3 r."""

    reads: Rows
    acts: Rows
    A: Array
    B: Array
    B1: Array
    C: Array
    D: Array
    D1: Array
    states: Array
    inputs: tuple[str, ...]
    B2: Array
    D2: Array
    chain: Chain
    told: tuple[str, ...]
    T: tuple[Array, Array, Array, Array]

    def gain(self, s: complex) -> Array:
        """Z(s), (acts, reads)."""
        return np.asarray(self.D + s * self.D1 + self.C @ self._inside(s, self.B + s * self.B1))

    def entry(self, s: complex, name: str) -> Array:
        """Y(s), (acts, 1), of the input `name`."""
        k = [self.inputs.index(name)]
        return np.asarray(self.D2[:, k] + self.C @ self._inside(s, self.B2[:, k]))

    def tells(self, s: complex, m: Array, r: Array) -> dict[str, complex]:
        """What the network tells of motions m (reads, 1) and inputs r (inputs, 1)."""
        x = self._inside(s, (self.B + s * self.B1) @ m + self.B2 @ r)
        by_x, by_m, by_rate, by_r = self.T
        values = by_x @ x + (by_m + s * by_rate) @ m + by_r @ r
        return dict(zip(self.told, values[:, 0].tolist(), strict=True))

    def _inside(self, s: complex, into: Array) -> Array:
        """(s - A)^-1 into."""
        return np.linalg.solve(s * np.eye(len(self.A)) - self.A, into) if len(self.A) else into
