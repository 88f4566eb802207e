"""What a linear state space does: frequency and step response, transfer function, root locus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.analysis.linear.linear import Linearisation

Array = NDArray[np.float64]

SEEN = 1e-6  # of the largest part of a response: less cannot be seen
WELL_APART = 1e10  # condition of the axes of modes: beyond it two of them are one
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
    w = automatic_range(linear) if frequency is None else np.asarray(frequency, dtype=float)
    unit = np.eye(len(linear.A))

    def response(at: float) -> complex:
        try:
            z = np.linalg.solve(1j * at * unit - linear.A, linear.B[:, p])
        except np.linalg.LinAlgError:
            return complex(np.inf)
        return complex(linear.C[q] @ z + linear.D[q, p])

    return FrequencyResponse(w, np.array([response(at) for at in w]))


def automatic_range(linear: Linearisation, count: int = 400) -> Array:
    """Frequencies [rad/s] around all poles, denser near lightly damped ones, at none."""
    sizes = np.abs(linear.eigenvalues)
    sizes = sizes[sizes > 1e-6 * max(float(sizes.max(initial=0.0)), 1e-300)]
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)
    w = np.logspace(np.log10(low) - DECADES_AROUND, np.log10(high) + DECADES_AROUND, count)
    near = [
        abs(pole.imag) * (1.0 + max(abs(pole.real / pole.imag), 1e-3) * np.linspace(-4, 4, 40))
        for pole in linear.eigenvalues
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

    Exact at the instants: x(t + h) = exp([A B; 0 0] h) (x, u).
    """
    from scipy.linalg import expm

    p, q = linear.input_index(input_name), linear.output_index(output_name)
    n = len(linear.A)
    end = _settling(linear, p, q) if t_end is None else t_end
    time = np.linspace(0.0, end, count)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = linear.A, linear.B[:, p]
    advance = expm(whole * time[1])
    z = np.zeros(n + 1)
    z[n] = 1.0
    values = np.empty(count)
    for i in range(count):
        values[i] = linear.C[q] @ z[:n] + linear.D[q, p]
        z = advance @ z
    return time, values


def impulse_response(
    linear: Linearisation,
    input_name: str | None = None,
    output_name: str | None = None,
    t_end: float | None = None,
    count: int = 500,
) -> tuple[Array, Array]:
    """Time [s] and the output after a unit impulse of the input at t = 0: C exp(A t) B, without
    the impulse D itself."""
    from scipy.linalg import expm

    p, q = linear.input_index(input_name), linear.output_index(output_name)
    time = np.linspace(0.0, _settling(linear, p, q) if t_end is None else t_end, count)
    advance, x = expm(linear.A * time[1]), linear.B[:, p].copy()
    values = np.empty(count)
    for i in range(count):
        values[i] = linear.C[q] @ x
        x = advance @ x
    return time, values


def final_value(
    linear: Linearisation, input_name: str | None = None, output_name: str | None = None
) -> float | None:
    """Where the step response settles, D - C A^-1 B; None where it does not.

    The angle of a shaft whose speed is controlled moves on: a pole at zero, whose share in the
    speed, c b in the axes of the modes, is rounding.  Without such modes what remains of
    sum c_i b_i (exp(p_i t) - 1)/p_i is -sum c_i b_i/p_i.
    """
    p, q = linear.input_index(input_name), linear.output_index(output_name)
    poles, modes = np.linalg.eig(linear.A)
    slack = 1e-9 * float(np.abs(poles).max(initial=0.0))
    stays = poles.real >= -slack
    if not stays.any():
        moved = np.linalg.solve(linear.A, linear.B[:, p]) if len(poles) else np.zeros(0)
        return float(linear.D[q, p] - linear.C[q] @ moved)
    if poles.real.max() > slack or stays.all() or np.linalg.cond(modes) > WELL_APART:
        return None
    shares = (linear.C[q] @ modes) * np.linalg.solve(modes, linear.B[:, p].astype(complex))
    parts = -shares[~stays] / poles[~stays]
    slowest = float(np.abs(poles[~stays].real).min())
    if np.abs(shares[stays]).max() > 1e-9 * slowest * np.abs(parts).max():
        return None
    return float(linear.D[q, p] + np.real(parts.sum()))


def _settling(linear: Linearisation, p: int, q: int) -> float:
    """Five slowest time constants, or three periods of what does not decay [s], of the modes that
    the input p moves and the output q sees: a slow pendulum beside a fast circuit would leave one
    row for the circuit."""
    poles = _answering(linear, p, q)
    decays = [-5.0 / v.real for v in poles if v.real < -1e-9 * max(abs(v), 1e-300)]
    periods = [6.0 * np.pi / abs(v.imag) for v in poles if abs(v.imag) > 0.0]
    return float(max(decays or periods or [1.0]))


def _answering(linear: Linearisation, p: int, q: int) -> NDArray[np.complex128]:
    """Poles whose part c_i b_i / |pole| of the step response from p to q can be seen."""
    poles, modes = np.linalg.eig(linear.A)
    size = np.abs(poles)
    lasting = size <= 1e-9 * size.max(initial=0.0)  # integrators have no part of their own
    try:
        entered = np.linalg.solve(modes, linear.B[:, p].astype(complex))
    except np.linalg.LinAlgError:
        return poles
    part = np.abs((linear.C[q] @ modes) * entered)
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
