"""Rates and their slopes beside a state, and where by these the rates vanish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.held import Samples
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import Tangent, tangent
from vbg.analysis.rest.manifold import Places
from vbg.analysis.rest.sizes import Sizes, sizes_of

Array = NDArray[np.float64]

ROUNDING = 1e-12  # of the largest term of a row: a smaller sum of them is zero but for rounding
FIXED = 3e-14  # the same of a network, and where no deviation changes the sum
DEPENDENT = 1e-11  # of the largest slope: directions below have none
EPSILON = float(np.finfo(float).eps)
CANCELS = 1e-13  # of the terms of a slope: a smaller one is none
ROUNDS = 4.0 * EPSILON
EQUILIBRATIONS = 20
UNMOVED = 1e-12  # a part of a deviation that is rounding


def largest(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


def reduced_slopes(space: Tangent, full: Array, sizes: Sizes) -> Array:
    """Slopes `full` of the rates in coordinates of the tangent space, without those that are
    rounding: of the terms which they are sums of, or of the tangent space, of which a coordinate
    that is no unknown of its own is known to `ROUNDS` of what it moves most of each unknown; and
    those that make nothing."""
    full = full[space.rows]
    reduce, basis = np.abs(space.reduce), np.abs(space.basis)
    shared = ~space.alone
    width = basis[:, shared].max(axis=1, initial=0.0)
    height = reduce[shared].max(axis=0, initial=0.0)
    terms = CANCELS * reduce @ np.abs(full) @ basis
    terms += ROUNDS * np.outer(shared, height) @ np.abs(full) @ basis
    terms += ROUNDS * reduce @ np.abs(full) @ np.outer(width, shared)
    slopes = space.reduce @ full @ space.basis
    return sizes.felt(np.where(np.abs(slopes) <= terms, 0.0, slopes))


def equilibrated(matrix: Array, sizes: Sizes) -> tuple[Array, Array]:
    """Factors of the rows and columns of a matrix that make the largest of each nearly 1 (D. Ruiz,
    Rutherford Appleton Laboratory, RAL-TR-2001-034).

    In units of 1 m and 1 m/s a damper of 1e7 N s/m hides a spring of 1e-6 N/m: beside a unit of
    1e-13 m/s it does not.  Further columns begin with 1.
    """
    size = np.append(sizes.large, np.ones(matrix.shape[1] - len(sizes.large)))
    entries = np.abs(matrix) * size
    row, column = np.ones(len(entries)), size
    for _ in range(EQUILIBRATIONS):
        height, width = entries.max(axis=1, initial=0.0), entries.max(axis=0, initial=0.0)
        by_row = 1.0 / np.sqrt(np.where(height > 0.0, height, 1.0))
        by_column = 1.0 / np.sqrt(np.where(width > 0.0, width, 1.0))
        entries = entries * by_row[:, None] * by_column
        row, column = row * by_row, column * by_column
    return row, column


def imbalance(residual: Array, reduced: Array, sizes: Sizes) -> float:
    """The largest rate, in rounding of the terms that it is the sum of."""
    terms = (np.abs(reduced) * sizes.grain).max(axis=1, initial=0.0)
    part = np.where(sizes.measured, FIXED, ROUNDING)
    return float((np.abs(residual) / (part * terms + sizes.nothing)).max(initial=0.0))


def divided(reduced: Array, residual: Array, sizes: Sizes) -> tuple[Array, int, float, float]:
    """The right singular vectors of scaled slopes and their rank; the largest way to where the
    rates vanish that deviations change; the largest rate that none changes, over its rounding."""
    row, column = equilibrated(reduced, sizes)
    left, values, right = np.linalg.svd(reduced * row[:, None] * column)
    rank = int(np.count_nonzero(values > DEPENDENT * values[0]))
    parts = left.T @ (residual * row)
    way = right[:rank].T @ (parts[:rank] / values[:rank])
    way = _least(way, right[rank:], column / sizes.large)
    grains = (np.abs(reduced) * sizes.grain).max(axis=1, initial=0.0)
    fixed = np.abs(left[:, rank:].T) @ ((FIXED * grains + sizes.nothing) * row)
    fixed = fixed + FIXED * float(np.abs(residual * row).max(initial=0.0))
    stays = float((np.abs(parts[rank:]) / fixed).max(initial=0.0))
    return right, rank, float(np.abs(way).max(initial=0.0)), stays


def hidden(reduced: Array, sizes: Sizes) -> Array:
    """How far each coordinate may rest elsewhere, in large deviations of it, without a rate that
    is more than rounding: |A^-1| d, d rounding of the terms of the rates."""
    row, column = equilibrated(reduced, sizes)
    inverse = np.linalg.pinv(reduced * row[:, None] * column, rcond=DEPENDENT)
    rounding = EPSILON * (np.abs(reduced) @ sizes.grain)
    return np.asarray(column * (np.abs(inverse) @ (row * rounding)) / sizes.large)


def newton_step(reduced: Array, columns: Array, residual: Array, sizes: Sizes) -> Array:
    """The least (dz, ds) with reduced dz - columns ds = -residual.

    Contents of volumes are 1e-5 m^3 where pressures are 1e7 Pa: unscaled, directions that
    matter would count as dependent.
    """
    large = np.append(sizes.large, np.ones(columns.shape[1]))
    whole = np.hstack([reduced, -columns])
    row, column = equilibrated(whole, sizes)
    left, values, right = np.linalg.svd(whole * row[:, None] * column)
    rank = int(np.count_nonzero(values > DEPENDENT * values.max(initial=0.0)))
    parts = left[:, :rank].T @ (-residual * row)
    way = right[:rank].T @ (parts / values[:rank])
    return np.asarray(large * _least(way, right[rank:], column / large))


def _least(way: Array, free: Array, factors: Array) -> Array:
    """The shortest of factors * (way + what nothing changes, rows of `free`): of what is locked in
    as little moves as may be, in large deviations."""
    way = factors * way
    if not len(free):
        return way
    still = np.linalg.qr(factors[:, None] * free.T)[0]
    return np.asarray(way - still @ (still.T @ way))


@dataclass(frozen=True, slots=True)
class Local:
    """Rates f and their slopes `full` by x, the tangent space at x and what is large there."""

    x: Array
    space: Tangent
    f: Array
    full: Array
    sizes: Sizes

    def reduced(self, full: Array) -> Array:
        return reduced_slopes(self.space, full, self.sizes)

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
    space = tangent(probe, jacobian, x, like)
    return Local(x, space, f, full, sizes_of(probe.system, space, x))
