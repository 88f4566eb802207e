"""How far a loop is from instability, and how fast a response is.

Of a loop's transfer function L with the sign that it has in the machine (`linearise(...,
loop=...)`: closed, the poles are where L = 1) the margins are those of G = -L, which negative
feedback closes as G / (1 + G):

    gain margin   1/|G| where G is real and negative (-180 deg)
    phase margin  pi + arg G where |G| = 1; over its frequency the dead time that uses it up
    peak of the sensitivity   max |1/(1 + G)|, one over the least distance of G to -1

(K. Astrom, R. Murray, Feedback Systems, 2008, section 9.3.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.analysis.linear.linear import Linearisation
from vbg.analysis.linear.response import automatic_range, frequency_response

Array = NDArray[np.float64]
Response = Callable[[float], complex]

SHARP = 1e-12  # of the logarithm of a crossing's frequency
FAR = 1e-4  # of the lowest frequency of the automatic range: there a gain is the static one
SQRT2 = 0.5 * float(np.log(2.0))  # logarithm of the factor that ends the band
FLAT = 1e-3  # relative change over a decade there of a gain that is finite


@dataclass(frozen=True, slots=True)
class Crossing:
    """`frequency` [rad/s] and the margin there: a factor, or an angle [rad]."""

    frequency: float
    margin: float


@dataclass(frozen=True, slots=True)
class Margins:
    """All crossings of -L, lowest frequency first; `sensitivity` is the peak with its place."""

    gain: tuple[Crossing, ...]
    phase: tuple[Crossing, ...]
    sensitivity: Crossing

    @property
    def least_gain(self) -> Crossing | None:
        """The gain margin nearest to 1, upwards or downwards."""
        return min(self.gain, key=lambda c: abs(np.log(c.margin)), default=None)

    @property
    def least_phase(self) -> Crossing | None:
        return min(self.phase, key=lambda c: abs(c.margin), default=None)


@dataclass(frozen=True, slots=True)
class Band:
    """`static` gain (None: not finite), the `bandwidth` [rad/s] at which the magnitude first
    falls below it by a factor of sqrt 2 (None: it does not, or there is no static gain), and
    the largest magnitude with its frequency."""

    static: float | None
    bandwidth: float | None
    peak: Crossing


def margins(linear: Linearisation, frequency: ArrayLike | None = None) -> Margins:
    """Margins of the loop that `linear` was opened at, its one input and output.

    `frequency`: the grid [rad/s] on which crossings are looked for, default around all poles.
    """

    def G(w: float) -> complex:
        return -_at(linear, None, None, w)

    w = _grid(linear, frequency)
    value = -frequency_response(linear, frequency=w).value
    real = [at for at in _crossings(lambda at: G(at).imag, w, value.imag) if G(at).real < 0.0]
    unit = _crossings(lambda at: float(np.log(abs(G(at)))), w, np.log(np.abs(value)))
    least = _least(lambda at: abs(1.0 + G(at)), w, np.abs(1.0 + value))
    return Margins(
        gain=tuple(Crossing(at, 1.0 / abs(G(at))) for at in real if _continuous(G, at)),
        phase=tuple(Crossing(at, float(np.angle(-G(at)))) for at in unit if _continuous(G, at)),
        sensitivity=Crossing(least, 1.0 / abs(1.0 + G(least))),
    )


def band(
    linear: Linearisation,
    input_name: str | None = None,
    output_name: str | None = None,
    frequency: ArrayLike | None = None,
) -> Band:
    """Static gain, bandwidth and peak from one input to one output."""
    w = _grid(linear, frequency)
    size = np.abs(frequency_response(linear, input_name, output_name, w).value)
    top = _least(lambda at: -abs(_at(linear, input_name, output_name, at)), w, -size)
    peak = Crossing(top, abs(_at(linear, input_name, output_name, top)))
    static = static_gain(linear, input_name, output_name)
    if not static:
        return Band(static, None, peak)

    def above(at: float) -> float:
        return float(np.log(abs(_at(linear, input_name, output_name, at)) / abs(static)) + SQRT2)

    falls = _crossings(above, w, np.log(size / abs(static)) + SQRT2)
    return Band(static, falls[0] if falls and size[0] > 0.5 * abs(static) else None, peak)


def static_gain(
    linear: Linearisation, input_name: str | None, output_name: str | None
) -> float | None:
    """The gain at frequency zero; None where it is not finite."""
    low = FAR * float(automatic_range(linear)[0])
    near, far = (_at(linear, input_name, output_name, w) for w in (low, 0.1 * low))
    if abs(far) < 0.5 * abs(near):
        return 0.0
    return float(far.real) if abs(near - far) <= FLAT * abs(near) else None


def closed(linear: Linearisation) -> Array:
    """A of the machine whose loop `linear` was opened at: its input is C z + D u again."""
    return np.asarray(linear.A + linear.B @ linear.C / (1.0 - linear.D[0, 0]))


def _at(linear: Linearisation, p: str | None, q: str | None, w: float) -> complex:
    return complex(frequency_response(linear, p, q, [w]).value[0])


def _grid(linear: Linearisation, frequency: ArrayLike | None) -> Array:
    if frequency is None:
        return automatic_range(linear)
    return np.asarray(frequency, dtype=float)


def _crossings(f: Callable[[float], float], w: Array, values: Array) -> list[float]:
    """Frequencies at which f changes its sign, each found in its interval of the grid."""
    from scipy.optimize import brentq

    sign = np.sign(values)
    places = np.flatnonzero((sign[:-1] * sign[1:] < 0.0) & np.isfinite(values[:-1] * values[1:]))
    found = []
    for k in places:
        low, high = np.log(w[k]), np.log(w[k + 1])
        found.append(float(np.exp(brentq(lambda x: f(float(np.exp(x))), low, high, xtol=SHARP))))
    return found


def _least(f: Callable[[float], float], w: Array, values: Array) -> float:
    """The frequency at which f is least, found between the neighbours of the grid's least."""
    from scipy.optimize import minimize_scalar

    k = int(np.argmin(values))
    low, high = np.log(w[max(k - 1, 0)]), np.log(w[min(k + 1, len(w) - 1)])
    found = minimize_scalar(lambda x: f(float(np.exp(x))), bounds=(low, high), method="bounded")
    inside = float(np.exp(found.x))
    return inside if found.fun < values[k] else float(w[k])


def _continuous(G: Response, w: float) -> bool:
    """Whether G passes through its value at w: at a pole on the axis it does not."""
    beside = G(w * (1.0 + 1e-6))
    return abs(beside - G(w)) < 0.5 * abs(beside)
