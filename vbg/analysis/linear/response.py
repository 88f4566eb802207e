"""What a linear state space does: frequency and step response, transfer function, root locus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.analysis.linear.linear import Linearisation
from vbg.analysis.linear.modes import Axes, axes, balanced

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SEEN = 1e-6  # of the largest part of a response: less cannot be seen
REFINEMENTS = 5
WELL_APART = 1e10  # condition of the axes of modes: beyond it two of them are one
COUNT, PER_DECADE = 400, 40  # frequencies at least
DECADES_AROUND = 1.0  # of the automatic frequency range, beyond the slowest and fastest pole


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """G(i w) from one input to one output: `frequency` [rad/s], `value` complex."""

    frequency: Array
    value: NDArray[np.complex128]

    @property
    def decibel(self) -> Array:
        return 20.0 * np.log10(np.abs(self.value))

    @property
    def phase(self) -> Array:
        """Phase [rad], without jumps."""
        return np.unwrap(np.angle(self.value))


@dataclass(frozen=True, eq=False)
class TransferFunction:
    """gain * product(s - zeros) / product(s - poles)."""

    zeros: NDArray[np.complex128]
    poles: NDArray[np.complex128]
    gain: float

    def at(self, s: complex) -> complex:
        return complex(self.gain * np.prod(s - self.zeros) / np.prod(s - self.poles))


def frequency_response(
    linear: Linearisation,
    input_name: str | None = None,
    output_name: str | None = None,
    frequency: ArrayLike | None = None,
) -> FrequencyResponse:
    """C (i w - A)^-1 B + D for one input and output (None: the only one); infinite at a pole."""
    p, q = linear.input_index(input_name), linear.output_index(output_name)
    w = _range(_answering(linear, p, q)) if frequency is None else np.asarray(frequency, float)
    A, scale = balanced(linear.A)
    b, c, unit = linear.B[:, p] / scale, linear.C[q] * scale, np.eye(len(A))

    def response(at: float) -> complex:
        try:
            z = np.linalg.solve(1j * at * unit - A, b)
        except np.linalg.LinAlgError:
            return complex(np.inf)
        return complex(c @ z + linear.D[q, p])

    return FrequencyResponse(w, np.array([response(at) for at in w]))


def automatic_range(linear: Linearisation) -> Array:
    """Frequencies [rad/s] around all poles, denser near lightly damped ones, at none."""
    return _range(axes(linear.A, linear.known).poles)


def _range(poles: Complex) -> Array:
    sizes = np.abs(poles)
    sizes = sizes[sizes > 0.0]
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)
    first, last = np.log10(low) - DECADES_AROUND, np.log10(high) + DECADES_AROUND
    w = np.logspace(first, last, max(COUNT, int(PER_DECADE * (last - first))))
    near = [
        abs(pole.imag) * (1.0 + max(abs(pole.real / pole.imag), 1e-3) * np.linspace(-4, 4, 40))
        for pole in poles
        if pole.imag > 0.0
    ]
    return np.unique(np.abs(np.concatenate([w, *near])))


def step_response(
    linear: Linearisation,
    input_name: str | None = None,
    output_name: str | None = None,
    t_end: float | None = None,
    count: int = 500,
) -> tuple[Array, Array]:
    """Time [s] and the output after a unit step of the input at t = 0.

    Exact at the instants: in the axes of the modes sum c_i b_i (exp(p_i t) - 1) / p_i, or by
    x(t + h) = exp([A B; 0 0] h) (x, u), whichever rounds less.
    """
    p, q = linear.input_index(input_name), linear.output_index(output_name)
    n, found = len(linear.A), axes(linear.A, linear.known)
    time = np.linspace(0.0, _settling(linear, p, q) if t_end is None else t_end, count)
    A, scale = balanced(linear.A)
    if _is_modal(A, found, time[1]):
        shares = _shares(linear, found, p, q)
        return time, linear.D[q, p] + np.real(_integrals(found.poles, time) @ shares)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = A, linear.B[:, p] / scale
    begun = np.append(np.zeros(n), 1.0)
    return time, _advanced(whole, begun, np.append(linear.C[q] * scale, linear.D[q, p]), time)


def impulse_response(
    linear: Linearisation,
    input_name: str | None = None,
    output_name: str | None = None,
    t_end: float | None = None,
    count: int = 500,
) -> tuple[Array, Array]:
    """Time [s] and the output after a unit impulse of the input at t = 0: C exp(A t) B, without
    the impulse D itself."""
    p, q = linear.input_index(input_name), linear.output_index(output_name)
    found = axes(linear.A, linear.known)
    time = np.linspace(0.0, _settling(linear, p, q) if t_end is None else t_end, count)
    A, scale = balanced(linear.A)
    if _is_modal(A, found, time[1]):
        shares = _shares(linear, found, p, q)
        return time, np.real(np.exp(np.outer(time, found.poles)) @ shares)
    return time, _advanced(A, linear.B[:, p] / scale, linear.C[q] * scale, time)


def _is_modal(A: Array, found: Axes, step: float) -> bool:
    """Whether the axes of the modes are the better ones: they round by eps times their condition,
    exp(A h) by squaring by eps |A| h, which is all that there is of a slow mode beside a fast."""
    if not len(A):
        return True
    condition = float(np.linalg.cond(found.modes))
    return condition < min(WELL_APART, max(1.0, float(np.abs(A).sum(axis=1).max()) * step))


def _integrals(poles: Complex, time: Array) -> Complex:
    """(exp(p t) - 1) / p, t where p is zero: row by row for the times."""
    turned = np.outer(time, poles)
    safe = np.where(poles == 0.0, 1.0, poles)
    return np.where(poles == 0.0, time[:, None], np.expm1(turned) / safe)


def _shares(linear: Linearisation, found: Axes, p: int, q: int) -> Complex:
    """c_i b_i of each mode, from the input p to the output q."""
    b = (linear.B[:, p] / found.scale).astype(complex)
    return np.asarray(((linear.C[q] * found.scale) @ found.modes) * np.linalg.solve(found.modes, b))


def _advanced(A: Array, x: Array, c: Array, time: Array) -> Array:
    """c exp(A t) x at equal intervals."""
    from scipy.linalg import expm

    advance, values = expm(A * time[1]), np.empty(len(time))
    for i in range(len(time)):
        values[i] = c @ x
        x = advance @ x
    return values


def final_value(
    linear: Linearisation, input_name: str | None = None, output_name: str | None = None
) -> float | None:
    """Where the step response settles, D - C A^-1 B; None where it does not.

    The angle of a shaft whose speed is controlled moves on: a pole at zero, whose share in the
    speed, c b in the axes of the modes, is rounding.  Without such modes what remains of
    sum c_i b_i (exp(p_i t) - 1)/p_i is -sum c_i b_i/p_i.
    """
    p, q = linear.input_index(input_name), linear.output_index(output_name)
    found = axes(linear.A, linear.known)
    poles, stays = found.poles, found.poles.real >= 0.0
    if not stays.any():
        return float(linear.D[q, p] - _solved(linear, p, q))
    if poles.real.max() > 0.0 or stays.all() or np.linalg.cond(found.modes) > WELL_APART:
        return None
    shares = _shares(linear, found, p, q)
    parts = -shares[~stays] / poles[~stays]
    slowest = float(np.abs(poles[~stays].real).min())
    if np.abs(shares[stays]).max() > 1e-9 * slowest * np.abs(parts).max():
        return None
    return float(linear.D[q, p] + np.real(parts.sum()))


def _solved(linear: Linearisation, p: int, q: int) -> float:
    """C A^-1 B, refined by residuals in more digits than A has."""
    if not len(linear.A):
        return 0.0
    A, scale = balanced(linear.A)
    b, inverse, exact = linear.B[:, p] / scale, np.linalg.inv(A), A.astype(np.longdouble)
    z = np.zeros(len(b), dtype=np.longdouble)
    for _ in range(REFINEMENTS):
        z = z + inverse @ (b - exact @ z).astype(float)
    return float((linear.C[q] * scale) @ z)


def _settling(linear: Linearisation, p: int, q: int) -> float:
    """Five slowest time constants, or three periods of what does not decay [s], of the modes that
    the input p moves and the output q sees: a slow pendulum beside a fast circuit would leave one
    row for the circuit."""
    poles = _answering(linear, p, q)
    decays = [-5.0 / v.real for v in poles if v.real < -1e-9 * abs(v)]
    periods = [6.0 * np.pi / abs(v.imag) for v in poles if abs(v.imag) > 0.0]
    return float(max(decays or periods or [1.0]))


def _answering(linear: Linearisation, p: int, q: int) -> Complex:
    """Poles whose part c_i b_i / |pole| of the step response from p to q can be seen."""
    found = axes(linear.A, linear.known)
    poles, size = found.poles, np.abs(found.poles)
    lasting = size == 0.0  # integrators have no part of their own
    try:
        part = np.abs(_shares(linear, found, p, q))
    except np.linalg.LinAlgError:
        return poles
    part = np.where(lasting, 0.0, part / np.where(lasting, 1.0, size))
    return poles[part > SEEN * part.max(initial=0.0)]


def transfer_function(
    linear: Linearisation, input_name: str | None = None, output_name: str | None = None
) -> TransferFunction:
    """Zeros, poles and gain from one input to one output; factors that every state
    space of the machine shares stay in (no cancellation)."""
    from scipy.linalg import eig

    p, q = linear.input_index(input_name), linear.output_index(output_name)
    n = len(linear.A)
    system = np.block([[linear.A, linear.B[:, [p]]], [linear.C[[q]], linear.D[[q]][:, [p]]]])
    mass = np.zeros((n + 1, n + 1))
    mass[:n, :n] = np.eye(n)
    finite = eig(system, mass, right=False)
    bound = 1e6 * max(1.0, float(np.abs(linear.eigenvalues).max(initial=1.0)))
    zeros = finite[np.isfinite(finite) & (np.abs(finite) < bound)]
    poles = linear.eigenvalues
    # gain from the value at a point that is neither a pole nor a zero
    s = 1.7 * max(1.0, float(np.abs(poles).max(initial=1.0))) * np.exp(0.3j)
    value = linear.C[q] @ np.linalg.solve(s * np.eye(n) - linear.A, linear.B[:, p])
    gain = (value + linear.D[q, p]) * np.prod(s - poles) / np.prod(s - zeros)
    return TransferFunction(zeros, poles, float(np.real(gain)))


def root_locus(
    linearised: Callable[[float], Linearisation], values: Sequence[float]
) -> NDArray[np.complex128]:
    """Poles over a parameter, shape (len(values), r): `linearised(value)` gives the
    state space at each value; poles are sorted so that every column is one branch."""
    rows: list[NDArray[np.complex128]] = []
    for value in values:
        poles = linearised(value).eigenvalues
        rows.append(poles if not rows else _matched(rows[-1], poles))
    return np.array(rows)


def _matched(before: NDArray[np.complex128], now: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """`now` in the order of `before`: the assignment with the least total distance."""
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(np.abs(before[:, None] - now[None, :]))
    return now[order]
