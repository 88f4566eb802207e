"""Whether an explicit method is held back by stability: the choice of method = "auto"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Jacobian = Callable[[float, NDArray[np.float64]], Any]

FIRST_LOOK = 50  # steps before the first look
WATCH = 400  # steps between two looks; before, as many as there were where they cost little
PATIENCE = 20_000  # steps ahead below which nothing is looked at,
SMALL, SOON = 60, 500  # or these for the circuits, oil and controllers of so few states: their
# eigenvalues cost a step or two, and no posture of joints makes them large
CRAWL = 1e-4  # of the longest mean step so far: where a rate is rough or ends, an explicit method
MANY = 1e6  # creeps up to it; with more steps than this ahead an implicit one is tried
LASTS = 5  # looks, each after WATCH steps, after which an explicit method alone gives up
BOUND = 1.5  # |eigenvalue| * step beyond which stability, not accuracy, sets the step
LARGEST = 1500  # states up to which all eigenvalues of a dense Jacobian are computed
POWERS = 24  # of a Jacobian for its largest eigenvalue
TINY = np.finfo(float).tiny
NO_STATES = np.zeros(0, dtype=np.int64)
FASTEST = 6  # eigenvalues of a sparse Jacobian that are looked for


class Creep:
    """Whether steps have become hopelessly short: the mean of the last WATCH of them is below
    CRAWL of the longest such mean, MANY lie ahead, and that LASTS."""

    def __init__(self, t_end: float):
        self._t_end = t_end
        self._steps, self._since, self._longest, self._looks = 0, 0.0, 0.0, 0

    def lasts(self, t: float) -> bool:
        """To be asked once after each step."""
        self._steps += 1
        if self._steps < WATCH:
            return False
        mean = (t - self._since) / self._steps
        self._steps, self._since = 0, t
        self._longest = max(self._longest, mean)
        creeps = mean < CRAWL * self._longest and self._t_end - t > MANY * mean
        self._looks = self._looks + 1 if creeps else 0
        return self._looks >= LASTS


class StiffnessWatch:
    """Counts steps and, where too many are needed, compares the mean step with the fastest
    decaying eigenvalue of the exact Jacobian."""

    def __init__(
        self, jacobian: Callable[[], Jacobian], t_end: float, line: NDArray[np.int64] = NO_STATES
    ):
        """`jacobian` gives that of the rate when it is first needed; `line`: places of the states
        that belong to no body and no joint."""
        self._jacobian, self._t_end, self._line = jacobian, t_end, line
        self._steps, self._since, self._next, self._all = 0, 0.0, FIRST_LOOK, 0
        self._longest = 0.0

    def go_on(self, t: float) -> None:
        """Steps are counted from t on, behind those of another method."""
        self._steps, self._since = 0, t

    def is_stiff(self, t: float, x: NDArray[np.float64]) -> bool:
        """To be asked once after each step."""
        self._steps += 1
        if self._steps < self._next:
            return False
        mean = (t - self._since) / self._steps
        self._all += self._steps
        self._steps, self._since = 0, t
        self._next = min(self._all, WATCH) if len(x) <= SMALL else WATCH
        self._longest = max(self._longest, mean)
        ahead = (self._t_end - t) / mean if mean > 0.0 else 0.0
        soon = ahead < PATIENCE
        if ahead < SOON or (soon and (len(self._line) == 0 or len(x) > SMALL)):
            return False
        if mean < CRAWL * self._longest and ahead > MANY:
            return True
        jacobian = self._jacobian()(t, x)
        if soon:
            jacobian = jacobian[np.ix_(self._line, self._line)]
        values = _decaying_eigenvalues(jacobian)
        decaying = values[(values.real < 0.0) & (np.abs(values.real) >= np.abs(values.imag))]
        return bool(decaying.size and np.abs(decaying).max() * mean > BOUND)


def _decaying_eigenvalues(jacobian: Any) -> NDArray[Any]:
    """All eigenvalues of a dense matrix, those with the most negative real part of a sparse one;
    none of a dense one that is too large, nor of one without a value."""
    entries = jacobian if isinstance(jacobian, np.ndarray) else jacobian.data
    if not np.isfinite(entries).all():
        return np.zeros(0)
    if isinstance(jacobian, np.ndarray):
        return np.linalg.eigvals(jacobian) if len(jacobian) <= LARGEST else np.zeros(0)
    from scipy.sparse.linalg import ArpackNoConvergence, eigs

    start = np.ones(jacobian.shape[0])  # the same vector in every run: the same choice
    try:
        return np.asarray(
            eigs(jacobian, FASTEST, which="SR", v0=start, tol=1e-2, return_eigenvectors=False)
        )
    except ArpackNoConvergence as partly:
        return np.asarray(partly.eigenvalues)


def fastest(jacobian: Any, scale: NDArray[np.float64]) -> float:
    """About the largest |eigenvalue| [1/s] of a dense or sparse matrix, or the smallest normal
    number where it is zero: mean growth of a vector, in units of `scale`, over powers of it."""
    v = np.ones(jacobian.shape[0]) / np.sqrt(jacobian.shape[0])
    growth = []
    for _ in range(POWERS):
        v = (jacobian @ (v * scale)) / scale
        size = float(np.linalg.norm(v))
        if not np.isfinite(size) or size == 0.0:
            break
        growth.append(np.log(size))
        v /= size
    return float(np.exp(np.mean(growth[POWERS // 2 :]))) if len(growth) == POWERS else TINY
