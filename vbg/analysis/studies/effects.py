"""Main effects and interactions: how a measure changes with the parameters of a study.

With every parameter coded x_i = -1 at the low and 1 at the high end of its range, the
measure is fitted by least squares,

    y = b_0 + sum b_i x_i + sum_(i<j) b_ij x_i x_j + sum b_ii (x_i^2 - mean of x_i^2)

The main effect 2 b_i is the change of y from low to high; the interaction 2 b_ij half the
difference between the effect of i at the high and at the low end of j; the curvature b_ii
what y at both ends lies above the middle (Box, Hunter, Hunter, "Statistics for Experimenters").
On a two-level factorial these are the differences of means.  Terms that the points do not tell
apart from others are left out: all interactions, or all curvatures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.studies.plans import coded
from vbg.analysis.studies.sampling import Range
from vbg.analysis.studies.table import Row
from vbg.errors import UsageError

Array = NDArray[np.float64]

CONDITION = 1e8  # of the columns of the fit, above which terms are not told apart


@dataclass(frozen=True, slots=True)
class Effect:
    """Of one parameter (main effect), of two (interaction), of one named twice (curvature).

    `error` is its standard error from what the fit leaves; NaN where nothing is left over.
    """

    parameters: tuple[str, ...]
    value: float
    error: float

    @property
    def name(self) -> str:
        """r, r x M, or r^2."""
        if _kind(self.parameters) == "curvatures":
            return f"{self.parameters[0]}^2"
        return " x ".join(self.parameters)


@dataclass(frozen=True, slots=True)
class Effects:
    """What was fitted to one measure, all in its `unit`.

    `mean` is y in the middle of the ranges by the fit, `explained` R^2 the part of the variance
    that it explains, `left` the largest residual; `without` what the points do not tell.
    """

    measure: str
    runs: int
    mean: float
    effects: tuple[Effect, ...]
    explained: float
    left: float
    without: tuple[str, ...]
    unit: str = ""

    @property
    def title(self) -> str:
        """The measure with its unit."""
        return f"{self.measure} [{self.unit}]" if self.unit else self.measure

    def coefficient(self, *parameters: str) -> float:
        """b_i, b_ij or b_ii of the fit; 0 where it was left out."""
        for effect in self.effects:
            if effect.parameters == parameters:
                return effect.value * _SCALE[_kind(effect.parameters)]
        return 0.0


_SCALE = {"main effects": 0.5, "interactions": 0.5, "curvatures": 1.0}  # b over effect


def _kind(parameters: tuple[str, ...]) -> str:
    if len(parameters) == 1:
        return "main effects"
    return "curvatures" if parameters[0] == parameters[1] else "interactions"


def effects_of(measure: str, names: Sequence[str], x: Array, y: Array, unit: str = "") -> Effects:
    """The effects of the parameters `names` on `measure`.

    x : (n, k) coded parameters;  y : (n,) the measure in `unit`, NaN where a run failed (left out).
    Raises UsageError where the runs do not tell the main effects apart.
    """
    done = ~np.isnan(y)
    x, y = x[done], y[done]
    terms: list[tuple[str, ...]] = [(name,) for name in names]
    columns = _columns(x, names, terms)
    if not _told_apart(columns):
        raise UsageError(
            f"effects on {measure}: {len(y)} runs do not tell {len(names)} parameters apart;"
            " vary each over a range, and run more points than there are parameters."
        )
    without = []
    for kind, further in (
        ("interactions", list(combinations(names, 2))),
        ("curvatures", [(name, name) for name in names]),
    ):
        more = _columns(x, names, [*terms, *further])
        if further and _told_apart(more):
            terms, columns = [*terms, *further], more
        elif further:
            without.append(kind)
    b, *_ = np.linalg.lstsq(columns, y, rcond=None)
    residual = y - columns @ b
    spare = len(y) - columns.shape[1]
    spread = float(residual @ residual) / spare if spare else np.nan
    errors = np.sqrt(spread * np.diag(np.linalg.inv(columns.T @ columns)))
    scale = np.array([1.0 / _SCALE[_kind(term)] for term in terms])
    found = zip(terms, (scale * b[1:]).tolist(), (scale * errors[1:]).tolist(), strict=True)
    total = float(np.sum((y - y.mean()) ** 2))
    middle = _columns(np.zeros((1, len(names))), names, terms, squares=(x**2).mean(axis=0))
    return Effects(
        measure,
        len(y),
        float((middle @ b)[0]),
        tuple(Effect(term, value, error) for term, value, error in found),
        1.0 - float(residual @ residual) / total if total else 1.0,
        float(np.abs(residual).max()),
        tuple(without),
        unit,
    )


def varied_of(ranges: Sequence[Range]) -> list[Range]:
    """The ranges that are none of one value; raises UsageError where all are."""
    varied = [r for r in ranges if r.low != r.high]
    if not varied:
        raise UsageError("effects: no parameter varies, each range is one value; widen one.")
    return varied


def effects_of_rows(
    ranges: Sequence[Range], rows: Sequence[Row], measures: Sequence[str], units: Sequence[str]
) -> tuple[Effects, ...]:
    """The effects on every measure of a table's rows, each in its unit, of the parameters that
    vary."""
    varied = varied_of(ranges)
    names, x = [r.name for r in varied], coded(varied, [row.point for row in rows])
    found = []
    for i, (measure, unit) in enumerate(zip(measures, units, strict=True)):
        y = np.array([row.measures[i] if row.measures else np.nan for row in rows])
        found.append(effects_of(measure, names, x, y, unit))
    return tuple(found)


def _columns(
    x: Array,
    names: Sequence[str],
    terms: Sequence[tuple[str, ...]],
    squares: Array | None = None,
) -> Array:
    """(n, 1 + terms) what each term is at the points; `squares` (k,) are taken off of squares."""
    place = {name: i for i, name in enumerate(names)}
    means = (x**2).mean(axis=0) if squares is None else squares
    rows = [np.ones(len(x))]
    for term in terms:
        i = place[term[0]]
        column = x[:, i] if len(term) == 1 else x[:, i] * x[:, place[term[1]]]
        rows.append(column - means[i] if _kind(term) == "curvatures" else column)
    return np.array(rows).T


def _told_apart(columns: Array) -> bool:
    runs, terms = columns.shape
    if runs < terms:
        return False
    lengths = np.linalg.norm(columns, axis=0)
    if not lengths.all():
        return False
    return bool(np.linalg.cond(columns / lengths) < CONDITION)
