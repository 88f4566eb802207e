"""Rates and their slopes beside a state, and where by these the rates vanish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.held import Samples
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import Tangent, tangent
from vbg.analysis.rest.manifold import Places

Array = NDArray[np.float64]

ROUNDING = 1e-12  # of the largest term of a row: a smaller sum of them is zero but for rounding
FIXED = 3e-14  # the same where no deviation changes the sum: rounding of the terms alone
DEPENDENT = 1e-11  # of the largest slope: directions below have none
NOTHING = 1e-12  # a rate smaller than this [1/s times a unit] is none
UNMOVED = 1e-12  # a part of a deviation that is rounding


def largest(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


def reduced_slopes(probe: Probe, space: Tangent, jacobian: Array) -> Array:
    """Slopes of the rates in coordinates of the tangent space."""
    full = jacobian[probe.spans["rate"], : probe.size]
    return np.asarray(space.reduce @ full[space.rows] @ space.basis)


def sizes_of(space: Tangent, x: Array) -> Array:
    """What a large deviation of each coordinate is: 1, of a store what it holds."""
    size = np.abs(space.chosen @ x)
    return np.where(space.stores & (size > 0.0), size, np.maximum(size, 1.0))


def imbalance(residual: Array, reduced: Array, size: Array) -> float:
    """The largest rate, in rounding of the terms that it is the sum of."""
    terms = (np.abs(reduced) * size).max(axis=1, initial=0.0)
    return float((np.abs(residual) / (ROUNDING * terms + NOTHING)).max(initial=0.0))


def divided(reduced: Array, residual: Array, size: Array) -> tuple[Array, int, float, float]:
    """The right singular vectors of scaled slopes and their rank; the largest way to where the
    rates vanish that deviations change; the largest rate that none changes, over its rounding."""
    terms = (np.abs(reduced) * size).max(axis=1, initial=0.0)
    height = np.where(terms > 0.0, terms, 1.0)
    left, values, right = np.linalg.svd(reduced * size / height[:, None])
    rank = int(np.count_nonzero(values > DEPENDENT * values[0]))
    parts = left.T @ (residual / height)
    way = right[:rank].T @ (parts[:rank] / values[:rank])
    nothing = FIXED + NOTHING * np.abs(left[:, rank:].T) @ (1.0 / height)
    stays = float((np.abs(parts[rank:]) / nothing).max(initial=0.0))
    return right, rank, float(np.abs(way).max(initial=0.0)), stays


def newton_step(reduced: Array, columns: Array, residual: Array, size: Array) -> Array:
    """The least (dz, ds) with reduced dz - columns ds = -residual.

    Contents of volumes are 1e-5 m^3 where pressures are 1e7 Pa: unscaled, directions that
    matter would count as dependent.
    """
    sizes = np.concatenate([size, np.ones(columns.shape[1])])
    whole = np.hstack([reduced, -columns]) * sizes
    height = np.abs(whole).max(axis=1, initial=0.0)
    height[height == 0.0] = 1.0
    step = np.linalg.lstsq(whole / height[:, None], -residual / height, rcond=DEPENDENT)[0]
    return np.asarray(sizes * step)


@dataclass(frozen=True, slots=True)
class Local:
    """Rates f and their slopes `full` by x, and the tangent space at x."""

    x: Array
    space: Tangent
    f: Array
    full: Array

    def reduced(self, full: Array) -> Array:
        return np.asarray(self.space.reduce @ full[self.space.rows] @ self.space.basis)

    def along(self, rates: Array) -> Array:
        return np.asarray(self.space.reduce @ rates[self.space.rows])

    def driven(self, places: Places, columns: Array) -> Places:
        """Those of the states at `places` that no deviation moves and some of the `columns` does:
        drives say how fast."""
        moved, still = (
            np.abs(m[places]).max(axis=1, initial=0.0) for m in (columns, self.space.basis)
        )
        return np.asarray(places[(still < UNMOVED) & (moved > UNMOVED * largest(columns))])


def local_at(
    probe: Probe, t: float, states: tuple[Array, ...], like: Tangent | None = None
) -> Local:
    """Their mean where there are several states of one place; what samplers hold follows what
    they read.  `like`: a tangent space near them."""
    samples = Samples(probe.system)
    states = tuple(samples.updated(t, one) for one in states)
    x = states[0]
    jacobian = probe.jacobian(t, x)
    for other in states[1:]:
        jacobian = jacobian + probe.jacobian(t, other)
    jacobian = jacobian / len(states) if len(states) > 1 else jacobian
    f = np.mean([probe.values(t, one) for one in states], axis=0)[probe.spans["rate"]]
    full = jacobian[probe.spans["rate"], : probe.size]
    if samples.sampled:
        full = full @ samples.following(t, x)
    return Local(x, tangent(probe, jacobian, x, like), f, full)
