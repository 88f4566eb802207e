"""Adams-Bashforth-Moulton of variable step and order, on states that are retracted.

L. F. Shampine, M. K. Gordon, Computer Solution of Ordinary Differential Equations (1975),
chapter 10 (their code STEP and INTRP), in PECE mode with modified divided differences

    phi_i(n) of the rate F = X',      p = X + h sum_i g_i phi*_i,     X = p + h g_k+1 (F(p) - phi_1)

One thing is added.  X has more components than the motion has freedoms, and only the
linear image y = P X is integrated: after each formula X is replaced by the state on the
constraints that has the same y (`retract`).  The formulas are linear, so the differences
of y are P phi_i for any P: another P, even from one step to the next, finds its history
complete (neweul-newsim-cad.txt, section 5: the information on the polynomials is
transformed, the integration is not restarted).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vbg.simulate.steppers.beginning import NO_RATE, TOO_SMALL

Array = NDArray[np.float64]

ORDERS = 12
# error constants |gamma*_k| of the Adams-Moulton formulas, k = 0, 1, ... (Shampine, Gordon)
GAMMA = (
    1.0, 0.5, 0.0833, 0.0417, 0.0264, 0.0188, 0.0143, 0.0114, 0.00936, 0.00789, 0.00679,
    0.00592, 0.00524, 0.00468,
)  # fmt: skip
SMALLEST = 4.0 * np.finfo(float).eps  # step relative to t
TINY = np.finfo(float).tiny  # and at t = 0
FIRST = 1e-3  # of what lies ahead: the first step at most
LOST = "The state cannot be brought onto the constraints: a singular posture is near."


class NoStep(Exception):
    """A stage has no value: the state cannot be retracted, or what the exception says."""


class Adams:
    """The integration of X' = F(t, X).

    `rate(t, X)` and `retract(t, X)` (X on the constraints with the same P X) may raise
    NoStep; `error(difference, X)` is the size of a local error, to be 1 at most.  Indices of
    coefficients count from 1 as in the book.
    """

    def __init__(
        self,
        rate: Callable[[float, Array], Array],
        retract: Callable[[float, Array], Array],
        error: Callable[[Array, Array], float],
        t: float,
        X: Array,
    ):
        self._rate, self._retract, self._error = rate, retract, error
        self.steps, self.rejected = 0, 0
        self.begin(t, X)

    def begin(self, t: float, X: Array) -> None:
        """Starts anew with order 1 at (t, X)."""
        self.t, self.X, self.t_before = t, X, t
        self._phi = np.zeros((ORDERS + 3, len(X)))
        self._trouble: str | None = None
        try:
            self._phi[1] = self._rate(t, X)
        except NoStep:
            self._trouble = NO_RATE
        self._psi, self._alpha, self._beta = (np.zeros(ORDERS + 2) for _ in range(3))
        self._sig, self._v, self._w, self._g = (np.zeros(ORDERS + 2) for _ in range(4))
        self._g[1:3], self._sig[1] = (1.0, 0.5), 1.0
        speed = self._error(self._phi[1], X)
        self.h = 0.25 / np.sqrt(speed) if speed > 0.0 else np.inf
        self._h_last, self.order, self._order_last, self._same = 0.0, 1, 0, 0
        self._rising, self._no_value, self._reason = True, False, LOST
        self._next, self._err, self._of_k, self._of_less = 1, 0.0, 0.0, np.inf

    def step(self, limit: float) -> str | None:
        """One accepted step that ends at `limit` at the latest; a sentence if there is none."""
        failures = 0
        while self._trouble is None:
            rest = limit - self.t
            if self._order_last == 0:
                self.h = min(self.h, FIRST * rest)
            if self.h > 0.9 * rest:
                self.h = rest if self.h > 0.99 * rest or rest < 1e-12 else 0.5 * rest
            if self.h < max(SMALLEST * abs(self.t), TINY):
                return self._reason if failures and self._no_value else TOO_SMALL
            self._coefficients()
            if self._attempt(limit if self.h == rest else self.t + self.h):
                self.steps += 1
                return None
            failures += 1
            self.rejected += 1
            self._back(failures)
        return self._trouble

    def _coefficients(self) -> None:
        """alpha, beta, psi, sigma and g of this step; only what a change of h or of the
        order has changed."""
        h, k = self.h, self.order
        if h != self._h_last:
            self._same = 0
        if self._same <= self._order_last:
            self._same += 1
        ns = self._same
        if k < ns:
            return
        psi, alpha, beta, sig = self._psi, self._alpha, self._beta, self._sig
        beta[ns], alpha[ns], sig[ns + 1] = 1.0, 1.0 / ns, 1.0
        after = h * ns
        for i in range(ns + 1, k + 1):
            before = psi[i - 1]
            psi[i - 1] = after
            beta[i] = beta[i - 1] * psi[i - 1] / before
            after = before + h
            alpha[i] = h / after
            sig[i + 1] = i * alpha[i] * sig[i]
        psi[k] = after
        self._weights(ns, k)

    def _weights(self, ns: int, k: int) -> None:
        """g by the recursion of the integrals of the basis polynomials."""
        v, w, g, alpha = self._v, self._w, self._g, self._alpha
        if ns <= 1:
            count = np.arange(1, k + 1)
            v[1 : k + 1] = w[1 : k + 1] = 1.0 / (count * (count + 1.0))
        else:
            if k > self._order_last:
                v[k] = 1.0 / (k * (k + 1.0))
                for j in range(1, ns - 1):
                    v[k - j] -= alpha[j + 1] * v[k - j + 1]
            for q in range(1, k + 2 - ns):
                v[q] -= alpha[ns] * v[q + 1]
                w[q] = v[q]
            g[ns + 1] = w[1]
        for i in range(ns + 2, k + 2):
            for q in range(1, k + 3 - i):
                w[q] -= alpha[i - 1] * w[q + 1]
            g[i] = w[1]

    def _attempt(self, t: float) -> bool:
        """Predict, evaluate, estimate; correct and evaluate where the error allows."""
        k, h, phi, g = self.order, self.h, self._phi, self._g
        for i in range(self._same + 1, k + 1):
            phi[i] *= self._beta[i]
        phi[k + 2] = phi[k + 1]
        phi[k + 1] = 0.0
        p = self.X + h * (g[1 : k + 1] @ phi[1 : k + 1])
        phi[1 : k + 1] = np.cumsum(phi[k:0:-1], axis=0)[::-1]
        self._no_value = False
        try:
            p = self._retract(t, p)
            change = self._rate(t, p) - phi[1]
            self._estimate(change)
            if self._err > 1.0:
                return False
            X = self._retract(t, p + h * g[k + 1] * change)
            change = self._rate(t, X) - phi[1]
        except NoStep as no_step:
            self._no_value, self._reason = True, str(no_step) or LOST
            self._err = np.inf
            return False
        phi[k + 1] = change
        phi[k + 2] = change - phi[k + 2]
        phi[1 : k + 1] += change
        self.t_before, self.t, self.X = self.t, t, X
        self._choose()
        return True

    def _estimate(self, change: Array) -> None:
        """Errors of the formulas of orders k - 2, k - 1, k, and the order they speak for."""
        k, h, phi, sig = self.order, self.h, self._phi, self._sig
        size = self._error(change, self.X)
        self._err = h * size * abs(self._g[k] - self._g[k + 1])
        self._of_k = h * size * sig[k + 1] * GAMMA[k]
        self._of_less, self._next = np.inf, k
        if k >= 2:
            self._of_less = h * sig[k] * GAMMA[k - 1] * self._error(phi[k] + change, self.X)
            if k == 2 and self._of_less <= 0.5 * self._of_k:
                self._next = 1
        if k > 2:
            least = h * sig[k - 1] * GAMMA[k - 2] * self._error(phi[k - 1] + change, self.X)
            if max(self._of_less, least) <= self._of_k:
                self._next = k - 1

    def _back(self, failures: int) -> None:
        """Undoes the prediction and shortens the step."""
        k, phi = self.order, self._phi
        for i in range(1, k + 1):
            phi[i] = (phi[i] - (phi[i + 1] if i < k else 0.0)) / self._beta[i]
        phi[k + 1] = phi[k + 2]
        self._psi[1:k] = self._psi[2 : k + 1] - self.h
        self._rising = False
        factor = 0.5
        if failures > 3 and np.isfinite(self._err) and self._of_k > 2.0:
            factor = np.sqrt(0.5 / self._of_k)
        if failures >= 3:
            self._next = 1
        elif self._no_value:
            self._next = k
        self.h *= factor
        self.order, self._same = self._next, 0

    def _choose(self) -> None:
        """Order and length of the next step."""
        k, error = self.order, self._of_k
        self._order_last, self._h_last = k, self.h
        chosen = k
        if self._next == k - 1 or k == ORDERS:
            self._rising = False
        if self._rising:
            chosen = k + 1
        elif self._next == k - 1:
            chosen, error = k - 1, self._of_less
        elif k + 1 <= self._same:
            more = self.h * GAMMA[k + 1] * self._error(self._phi[k + 2], self.X)
            if k > 1 and self._of_less <= min(error, more):
                chosen, error = k - 1, self._of_less
            elif k < ORDERS and more < (0.5 * error if k == 1 else error):
                chosen, error = k + 1, more
        if self._rising:
            error = 0.0
        self.order = chosen
        if error * 2.0 ** (chosen + 1) <= 0.5:
            self.h *= 2.0
        elif error > 0.5:
            self.h *= max(0.5, min(0.9, (0.5 / error) ** (1.0 / (chosen + 1))))

    @property
    def rate(self) -> Array:
        """F at (t, X)."""
        return self._phi[1]

    def between(self, t: float) -> Array:
        """The interpolating polynomial at t, inside the last step; not retracted."""
        k, h, psi = self._order_last + 1, t - self.t, self._psi
        g = np.zeros(k + 1)
        w = np.zeros(k + 2)
        w[1 : k + 1] = 1.0 / np.arange(1, k + 1)
        g[1], term = 1.0, 0.0
        for j in range(2, k + 1):
            gamma, eta = (h + term) / psi[j - 1], h / psi[j - 1]
            count = k + 1 - j
            w[1 : count + 1] = gamma * w[1 : count + 1] - eta * w[2 : count + 2]
            g[j] = w[1]
            term = psi[j - 1]
        return np.asarray(self.X + h * (g[1:] @ self._phi[1 : k + 1]))
