"""A blade on a turning hub: bending under the tension of its own centrifugal force."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.modes.chains.elements import GROWTH

TERMS = 60  # of the power series over one piece, whose last are below rounding


@dataclass(frozen=True)
class Blade:
    """Slender uniform beam that turns with `spin` [rad/s] about an axis across it: EI [N m^2],
    mass per length [kg/m], length [m], `radius` of its outer end, which is its tip side, and the
    tension there [N], of what it carries.

    At the distance s from the outer end the tension is N(s) = tension + m spin^2 (r s - s^2/2), and

        y' = theta,   theta' = M / EI,   M' = Q + N theta,   Q' = m (w^2 + e) y,

    Q the force along y; e = 0 in "flap", along the axis, and spin^2 in "lag", in the plane in
    which it turns (R. V. Southwell, B. S. Gough, Aeron. Res. Counc. R&M 766 (1921); A. D. Wright
    et al., J. Appl. Mech. 49 (1982) 197).
    """

    EI: float
    density: float
    length: float
    spin: float
    radius: float
    tension: float = 0.0
    plane: Literal["flap", "lag"] = "flap"

    @property
    def root_tension(self) -> float:
        """N at its inner end [N]."""
        r, l = self.radius, self.length
        return self.tension + self.density * self.spin**2 * (r * l - 0.5 * l**2)

    def _pull(self, w: Array | float) -> Array:
        """m (w^2 + e) [N/m^2]."""
        turning = self.spin**2 if self.plane == "lag" else 0.0
        return np.asarray(self.density * (np.asarray(w, dtype=float) ** 2 + turning))

    def matrix(self, w: Array | float) -> Array:
        """z(l) = U z(0) by its power series in s over parts of it, states in units of the part."""
        pull = self._pull(w)
        U = np.broadcast_to(np.eye(4), (*pull.shape, 4, 4))
        for part in self.parts(max(self.pieces(float(np.max(w))), 1)):
            U = part._series(pull) @ U
        return np.asarray(U)

    def _series(self, pull: Array) -> Array:
        """(k + 1) C_k+1 = A_0 C_k + A_1 C_k-1 + A_2 C_k-2 for z' = (A_0 + A_1 s + A_2 s^2) z,
        s over the length."""
        l, m = self.length, self.density * self.spin**2
        units = np.array([1.0 / l, 1.0, l / self.EI, l**2 / self.EI])
        A = np.zeros((3, *pull.shape, 4, 4))
        A[0][..., 0, 1], A[0][..., 1, 2], A[0][..., 2, 3] = 1.0, 1.0, 1.0
        A[0][..., 3, 0] = pull * l**4 / self.EI
        tensions = (self.tension, m * self.radius * l, -0.5 * m * l**2)
        for slope, tension in zip(A, tensions, strict=True):
            slope[..., 2, 1] = tension * l**2 / self.EI
        terms = [np.zeros_like(A[0]), np.zeros_like(A[0]), np.zeros_like(A[0]) + np.eye(4)]
        total = terms[-1].copy()
        for k in range(TERMS):
            following = sum(a @ terms[-1 - j] for j, a in enumerate(A)) / (k + 1)
            terms = [*terms[1:], np.asarray(following)]
            total += following
        return np.asarray(total * units / units[:, None])

    def pieces(self, w: float) -> int:
        """See Element: by the faster of both waves, EI k^4 = N k^2 + m (w^2 + e)."""
        pull = float(self._pull(w))
        growth = self.root_tension + math.sqrt(self.root_tension**2 + 4.0 * self.EI * pull)
        return math.ceil(math.sqrt(0.5 * growth / self.EI) * self.length / GROWTH) or 1

    def parts(self, count: int) -> tuple[Self, ...]:
        """See Element."""
        l = self.length / count
        found = [replace(self, length=l)]
        while len(found) < count:
            last = found[-1]
            found.append(replace(last, radius=last.radius - l, tension=last.root_tension))
        return tuple(found)

    def springs(self) -> None:
        """See Element."""
        return

    def scale(self, w: Array) -> tuple[Array, Array]:
        """See Element."""
        along = 1.0 / np.sqrt(w * math.sqrt(self.density / self.EI))
        return along, self.EI / along**2
