"""Plans of experiments: which points of the ranges of several parameters are run.

    factorial   all combinations of evenly spaced levels
    lhs         Latin hypercube: one point in each slice of every parameter (McKay, 1979)
    sobol       a scrambled Sobol sequence: 2^m points that fill the box evenly (Owen, 1998)
    ccd         central composite, inscribed: corners of a cube, two points on every axis, the
                middle; the axes reach 2^(k/4) times as far as the corners, so that a fit is as
                sure in all directions (rotatable), scaled into the ranges (Box, Hunter, 1957)
    ccf         central composite with the points of the axes on the faces of the cube

An evaluation has no scatter, so that the middle is run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.studies.sampling import Point, Range, grid, latin_hypercube
from vbg.errors import UsageError

Array = NDArray[np.float64]

PLANS = "factorial[:LEVELS], lhs:N[:SEED], sobol:N[:SEED], ccd, ccf"
MOST = 100_000  # points of a plan that is not a grid written out by --vary
MOST_OF_GRID = 1_000_000
LONGEST = 18  # digits of a number in a plan


def points_of(ranges: Sequence[Range], plan: str | None) -> list[Point]:
    """The points of `plan`, as "lhs:200:7"; None is the grid that the ranges themselves say.

    Raises UsageError for a plan that there is not.
    """
    if plan is None or plan == "factorial":
        points = prod(one.count for one in ranges)
        if points > MOST_OF_GRID:
            counts = " x ".join(f"{one.count} of {one.name}" for one in ranges)
            what = f"--vary: {counts} are {points} points; a grid has {MOST_OF_GRID} at most."
            raise UsageError(f"{what} Take fewer, or draw some of them: --samples lhs:N.")
        return grid(ranges)
    kind, *texts = plan.split(":")
    if not all(text.isdecimal() and len(text) <= LONGEST for text in texts):
        raise _unknown(plan)
    numbers = [int(text) for text in texts]
    if kind == "factorial" and len(numbers) == 1 and numbers[0] >= 1:
        _limit(plan, numbers[0] ** len(ranges))
        shares = np.linspace(0.0, 1.0, numbers[0]) if numbers[0] > 1 else np.array([0.5])
        return _at(ranges, np.array(list(product(shares, repeat=len(ranges)))))
    if kind in ("lhs", "sobol") and len(numbers) in (1, 2) and numbers[0] >= 1:
        _limit(plan, numbers[0])
        draw = latin_hypercube if kind == "lhs" else sobol
        return draw(ranges, *numbers)
    if kind in ("ccd", "ccf") and not numbers:
        _limit(plan, 2 ** len(ranges))
        return central_composite(ranges, on_faces=kind == "ccf")
    raise _unknown(plan)


def sobol(ranges: Sequence[Range], count: int, seed: int = 1) -> list[Point]:
    """`count` = 2^m points of a Sobol sequence, scrambled by `seed`.

    Raises UsageError for another number: its points would not be balanced.
    """
    from scipy.stats import qmc

    power = count.bit_length() - 1
    if count != 1 << power:
        raise UsageError(
            f"--samples sobol:{count}: a Sobol plan has 2^m points, as {1 << power} or"
            f" {2 << power}; others would not fill the ranges evenly."
        )
    generator = np.random.default_rng(seed)
    return _at(ranges, qmc.Sobol(len(ranges), rng=generator).random_base2(power))


def central_composite(ranges: Sequence[Range], *, on_faces: bool = False) -> list[Point]:
    """2^k corners, 2 k points on the axes, the middle; coded -1 ... 1, in that order."""
    k = len(ranges)
    corners = np.array(list(product((-1.0, 1.0), repeat=k)))
    axes = np.array([sign * row for row in np.eye(k) for sign in (-1.0, 1.0)])
    scale = 1.0 if on_faces else 2.0 ** (-k / 4.0)
    coded = np.vstack([scale * corners, axes, np.zeros((1, k))])
    _, first = np.unique(np.round(coded, 12), axis=0, return_index=True)
    return _at(ranges, 0.5 + 0.5 * coded[np.sort(first)])


def coded(ranges: Sequence[Range], points: Sequence[Point]) -> Array:
    """(n, k) the points as -1 (low) ... 1 (high) of every range, logarithmic where it is."""
    values = np.array([[dict(point)[r.name] for r in ranges] for point in points], dtype=float)
    columns: list[Array] = []
    for values_of, r in zip(values.reshape(-1, len(ranges)).T, ranges, strict=True):
        low, high = r.low, r.high
        if r.log:
            values_of, low, high = np.log(values_of), np.log(low), np.log(high)
        columns.append(2.0 * (values_of - low) / (high - low) - 1.0)
    return np.array(columns).T.reshape(-1, len(ranges))


def _at(ranges: Sequence[Range], shares: Array) -> list[Point]:
    """The points at shares (n, k), 0 ... 1, of the ranges."""
    return [
        tuple((r.name, r.at(float(share))) for r, share in zip(ranges, row, strict=True))
        for row in shares
    ]


def _limit(plan: str, points: int) -> None:
    if points > MOST:
        raise UsageError(f"--samples {plan}: {points} points; a plan has {MOST} at most.")


def _unknown(plan: str) -> UsageError:
    return UsageError(f"--samples {plan}: there is no such plan; write one of {PLANS}.")
