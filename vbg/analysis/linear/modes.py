"""Eigenvalues of a linear state space as modes of motion.

An eigenvalue s of A, with right and left vectors v and w, is known to within

    e = |w|^T (d |A| + R) |v| / |w^H v|

where the entries are known to d of themselves, in whatever units they are, and to R, what
rounding of their terms left in them (J. Wilkinson, The Algebraic Eigenvalue Problem, 1965,
chapter 2): a real or imaginary part that is no larger is zero.  Which poles are zero A itself tells
(`free`).  Those left over are fast ones of A and slow ones of its inverse, since eigenvalues
computed together have the error of the largest, n eps ||A|| / |w^H v|, and are sharpened by
Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.linear.factors import Factors, within_vague
from vbg.analysis.linear.free import EPS, Places, Reduced, copies_of, without_free
from vbg.analysis.linear.known import SPREAD, Known
from vbg.analysis.linear.known import largest as largest_of

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

KNOWN = 1e-12  # d: what a steady motion is found to
STEPS, SHARPENS = 20, 0.1  # of Newton's method; of an eigenvalue, by how much it may move
DUST = 1e-100  # of the largest entry: far below products of what laws over 20 decades leave
AWAY = 10.0  # times its largest component: a vector that has left its pole
CLOSED = 1e-6  # of it: a last step so small has closed in
SMALL = 1e-7  # of a pole: a part that may be rounding is none where it is as small
VAGUE = 1e-6  # of a pole: one known to less is looked at with the elements apart
NOTHING = 1e-24  # of the largest pole: below, products of last digits
APART = 1e-3  # relative: poles of such sizes are not conjugate to one another
SLOW = 1e-4  # of the largest pole or entry: rounding makes no more of a pole at zero


@dataclass(frozen=True, eq=False)
class Mode:
    """One mode: exp(eigenvalue t), for a conjugate pair the one with positive frequency.

    `frequency` |eigenvalue| [rad/s] (undamped), `damped_frequency` its imaginary
    part, `damping` -real/|eigenvalue| (1: no oscillation; negative: grows).
    `states` (complex, by name of z) and `shape` (by name of signal, joint forces
    among them) are scaled so that the largest state is 1.  `error` [1/s]: what rounding of the
    entries of A makes of the eigenvalue.
    """

    eigenvalue: complex
    states: Mapping[str, complex]
    shape: Mapping[str, complex]
    error: float = 0.0

    @property
    def frequency(self) -> float:
        return abs(self.eigenvalue)

    @property
    def damped_frequency(self) -> float:
        return abs(self.eigenvalue.imag)

    @property
    def hertz(self) -> float:
        return self.damped_frequency / (2.0 * np.pi)

    @property
    def oscillates(self) -> bool:
        return self.eigenvalue.imag != 0.0

    @property
    def damping(self) -> float:
        size = abs(self.eigenvalue)
        return 1.0 if size == 0.0 else -self.eigenvalue.real / size + 0.0

    @property
    def time_constant(self) -> float:
        """-1/real part [s]: infinite for an undamped mode, negative if it grows."""
        real = self.eigenvalue.real
        return float("inf") if real == 0.0 else -1.0 / real


def find_modes(
    A: Array,
    state_names: tuple[str, ...],
    signals: Array,
    signal_names: tuple[str, ...],
    known: Known | None = None,
) -> tuple[Mode, ...]:
    """Modes of A, slowest first; `signals` are the rows of all signals by z, `known`
    what rounding left in the entries of A."""
    if len(A) == 0:
        return ()
    found = []
    for pole in _poles(A, known):
        if pole.value.imag < 0.0:
            continue
        scaled = pole.vector / pole.vector[int(np.argmax(np.abs(pole.vector)))]
        shape = signals @ scaled
        found.append(
            Mode(
                pole.value,
                dict(zip(state_names, scaled.tolist(), strict=True)),
                dict(zip(signal_names, shape.tolist(), strict=True)),
                pole.error,
            )
        )
    return tuple(sorted(found, key=lambda mode: (mode.frequency, mode.eigenvalue.real)))


@dataclass(frozen=True, eq=False)
class Axes:
    """Eigenvalues without rounding, and in the columns of `modes` their vectors v of the balanced
    matrix, in coordinates z / `scale`, in which no unit hides another."""

    poles: Complex
    modes: Complex
    scale: Array


def axes(A: Array, known: Known | None = None) -> Axes:
    """`known` as of `find_modes`."""
    if len(A) == 0:
        return Axes(np.zeros(0, complex), np.zeros((0, 0), complex), np.zeros(0))
    _, scale = balanced(A)
    found = list(_poles(A, known))
    modes = np.array([pole.vector / scale for pole in found]).T
    poles = np.array([pole.value for pole in found])
    return Axes(poles, modes / np.linalg.norm(modes, axis=0), scale)


def balanced(A: Array) -> tuple[Array, Array]:
    """S^-1 A S with powers of 2 in the diagonal matrix S, in which no unit hides another; S."""
    from scipy.linalg import matrix_balance

    if len(A) == 0:
        return A, np.zeros(0)
    with np.errstate(invalid="ignore"):  # it takes large scales for places, too, of no use here
        whole, scale = matrix_balance(_without_dust(A, A), permute=False)
    return whole, np.diag(scale)


def _without_dust(entries: Array, A: Array) -> Array:
    """`entries` beside A without numbers that are nothing: those of 1e-177 that Newton's method has
    left of a coordinate that is zero are none that balancing is to bring up to 1."""
    return np.where(np.abs(entries) < DUST * np.abs(A).max(initial=0.0), 0.0, entries)


def may_be_rounding(A: Array) -> bool:
    """Whether rounding of the entries of A may have made a pole, or the growth of one.  Of poles
    that are all free the largest entry tells, not the largest pole."""
    if len(A) == 0 or not np.all(np.isfinite(A)):
        return False
    poles = np.linalg.eigvals(A)
    sizes = np.abs(poles)
    slow = sizes.min() <= SLOW * max(sizes.max(), np.abs(A).max())
    least = np.minimum(np.abs(poles.real), np.abs(poles.imag))
    return bool(slow or np.any((least > KNOWN * sizes) & (least <= SMALL * sizes)))


@dataclass(frozen=True, eq=False)
class _Pole:
    """An eigenvalue, its vector, what it may be off by."""

    value: complex
    vector: Complex
    error: float


def _poles(A: Array, known: Known | None) -> Iterator[_Pole]:
    """All eigenvalues without rounding."""
    samples = np.zeros((0, *A.shape)) if known is None else _without_dust(known.samples, A)
    A = _without_dust(A, A)
    for part in _parts((A != 0.0) | samples.any(axis=0)):

        def factors(places: Places = part) -> tuple[Factors, ...]:
            return () if known is None else tuple(one.of(places) for one in known.factors)

        for pole in _of_part(A[np.ix_(part, part)], samples[:, part[:, None], part], factors):
            whole = np.zeros(len(A), dtype=complex)
            whole[part] = pole.vector
            yield replace(pole, vector=whole)


def _parts(linked: NDArray[np.bool_]) -> list[Places]:
    """Places of what does not depend on one another."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(linked, directed=True, connection="weak")
    return [np.flatnonzero(label == k) for k in range(count)]


def _of_part(
    A: Array, samples: Array, factors: Callable[[], Sequence[Factors]], again: bool = False
) -> Iterator[_Pole]:
    """Of a part that depends on itself only: what A tells, and where it does not, what its elements
    apart tell."""
    copies = copies_of(A, samples)
    reduced = without_free(copies)
    found = list(_nonzero(A, samples, reduced))
    vague = [one for one in found if one.pole.error > VAGUE * abs(one.pole.value)]
    free = len(A) - len(reduced.A)
    if not free + len(vague):
        yield from (one.pole for one in found)
        return
    # where elements apart tell none of these from the others, they are what they are
    apart = () if again and free + len(vague) == len(A) else factors()
    inner = within_vague(reduced, _vectors(vague, reduced), apart)
    if inner is None:
        yield from _zeros(copies, reduced)
        yield from (one.pole for one in found)
        return
    form, *others = (one.whole for one in inner.copies)
    for pole in _of_part(form, np.array(others) - form, lambda: inner.copies, again=True):
        yield replace(pole, vector=inner.right @ pole.vector)
    yield from (one.pole for one in found if one not in vague)


@dataclass(frozen=True, eq=False)
class _Regular:
    """A pole of the reduced form with its right and left vectors there."""

    pole: _Pole
    right: Complex
    left: Complex


def _nonzero(A: Array, samples: Array, reduced: Reduced) -> Iterator[_Regular]:
    sums, entries = largest_of(samples), np.abs(A)
    found = list(_regular(reduced.A))
    nothing = NOTHING * max((abs(value) for value, *_ in found), default=0.0)
    for value, w, v, apart in found:
        left, right = reduced.left(w), reduced.right(value or 1.0, v)
        if abs(value) <= nothing:
            yield _Regular(_Pole(0j, right, nothing), v, w)
            continue
        along = float(abs(np.vdot(left, right))) or 1e-300
        bound = np.abs(left) @ (KNOWN * entries + sums) @ np.abs(right) / along
        shift = np.abs(left.conj() @ samples @ right).max(initial=0.0) / along
        digits = EPS * float(np.abs(left) @ entries @ np.abs(right)) / along
        moved = np.abs(w.conj() @ (reduced.copies[1:] - reduced.A) @ v).max(initial=0.0)
        moved = max(shift, moved / (float(abs(np.vdot(w, v))) or 1e-300))
        cleaned = _cleaned(value, float(bound) + apart)
        # what was taken for zero with the free motions: A itself has the quotient w.A v / w.v, in
        # more digits than A, whose own terms would hide it
        told = np.vdot(left, A.astype(np.clongdouble) @ right)
        quotient = told / (np.vdot(left, right) or 1e-300)
        lost = float(abs(quotient - value))
        error = max(SPREAD * float(moved) + digits + apart + lost, abs(value - cleaned))
        yield _Regular(_Pole(cleaned, right, error), v, w)


def _vectors(vague: Sequence[_Regular], reduced: Reduced) -> tuple[Array, Array]:
    """Real bases of right vectors (r, m) there and of left ones of A (m, n)."""
    right, left = [np.zeros((len(reduced.A), 0))], [np.zeros((0, reduced.size))]
    for one in vague:
        if one.pole.value.imag < 0.0:
            continue
        v, w = one.right / np.abs(one.right).max(), reduced.left(one.left / np.abs(one.left).max())
        pair = bool(one.pole.value.imag)
        right.append(np.stack([v.real, v.imag][: 1 + pair], axis=1))
        left.append(np.stack([w.real, w.imag][: 1 + pair]))
    return np.hstack(right), np.vstack(left)


def _zeros(copies: Array, reduced: Reduced) -> Iterator[_Pole]:
    zeros = reduced.zeros.T
    if not len(zeros):
        return
    moved = (np.sort(np.abs(np.linalg.eigvals(copy)))[len(zeros) - 1] for copy in copies[1:])
    known_to = float(max(moved))
    for vector in zeros:
        yield _Pole(0j, vector.astype(complex), known_to)


def _regular(A: Array) -> Iterator[tuple[complex, Complex, Complex, float]]:
    """Eigenvalues of a matrix that has none at zero, left and right vectors, and what each is off
    by for being computed with the others: the fast ones of A, the slow ones of its inverse."""
    from scipy.linalg import eig

    if not len(A):
        return
    whole, size = balanced(A)
    values, left, right = eig(whole, left=True)
    times, left_slow, right_slow = eig(np.linalg.inv(whole), left=True)
    with np.errstate(all="ignore"):  # of fast ones nothing is left there
        slow = 1.0 / times
    slow[~np.isfinite(slow)] = np.inf
    middle = _gap(np.abs(slow), float(np.abs(values).max()))
    fast, below = np.abs(values) >= middle, np.abs(slow) < middle
    if np.count_nonzero(fast) + np.count_nonzero(below) == len(A):
        values = np.concatenate([values[fast], slow[below]])
        left = np.hstack([left[:, fast], left_slow[:, below]])
        right = np.hstack([right[:, fast], right_slow[:, below]])
    together = float(len(A) * np.finfo(float).eps * np.linalg.norm(whole))
    for first, w, vector in zip(values.astype(complex).tolist(), left.T, right.T, strict=True):
        value, v, apart = first, vector, together / (float(abs(np.vdot(w, vector))) or 1e-300)
        if sharp := _sharpened(whole, first, vector, max(SHARPENS * abs(first), apart)):
            (value, v), apart = sharp, 0.0
        yield value, w / size, size * v, apart


def _gap(sizes: Array, largest: float) -> float:
    """A size in the widest gap between those of poles, in the middle half of their decades; 0 if
    they have about one size."""
    sizes = np.sort(sizes[sizes < largest])
    if not len(sizes) or sizes[0] > SLOW * largest:
        return 0.0
    ends = np.log(np.append(sizes, largest))
    means, widths = 0.5 * (ends[1:] + ends[:-1]), np.diff(ends)
    middle = np.abs(means - 0.5 * (ends[0] + ends[-1])) <= 0.25 * (ends[-1] - ends[0])
    widths = np.where(middle, widths, 0.0)
    return float(np.exp(means[np.argmax(widths)])) if widths.max() > APART else 0.0


def _sharpened(
    A: Array, value: complex, vector: Complex, may_move: float
) -> tuple[complex, Complex] | None:
    """An eigenvalue and its vector by Newton's method, residuals in more digits than A has: what
    is computed with all the others at once has an error of the fastest one's size (J. Dongarra,
    C. Moler, J. Wilkinson, SIAM J. Numer. Anal. 20, 1983).  None where that does not close in on
    them."""
    place, exact = int(np.argmax(np.abs(vector))), A.astype(np.clongdouble)
    s, v = value, vector / vector[place]
    last, nothing = may_move, np.finfo(float).eps ** 2 * float(np.linalg.norm(A))
    for _ in range(STEPS):
        residual = (exact @ v - s * v.astype(np.clongdouble)).astype(complex)
        bordered = A - s * np.eye(len(A))
        bordered[:, place] = -v  # that component stays 1; its place is the eigenvalue's
        try:
            step = np.linalg.solve(bordered, -residual)
        except np.linalg.LinAlgError:
            return None
        change, step[place] = step[place], 0.0
        if not abs(change) <= last:
            break
        s, v, last = s + change, v + step, 0.5 * abs(change)
        if abs(s - value) > may_move or np.abs(v).max() > AWAY:
            return None  # to another pole, or along the vectors of one that is equal
    return (complex(s), v) if last <= max(CLOSED * abs(s), nothing) else None


def _cleaned(value: complex, error: float) -> complex:
    """`value` without a part that is rounding of it."""
    small = min(error, SMALL * abs(value))
    real = 0.0 if abs(value.real) <= small else value.real
    imag = 0.0 if abs(value.imag) <= small else value.imag
    return complex(real, imag)


def stability(A: Array, known: Known | None = None) -> str:
    """A sentence on what small deviations do; `known` as in `find_modes`."""
    if len(A) == 0:
        return "There is no freedom: every motion is prescribed."
    values = [pole.value for pole in _poles(A, known)]
    growing = [v for v in values if v.real > 0.0]
    neutral = [v for v in values if v == 0.0]
    undamped = [v for v in values if v.real == 0.0 and v.imag > 0.0]
    if growing:
        fastest = max(growing, key=lambda v: v.real)
        return (
            f"Unstable: {len(growing)} of {len(values)} poles grow, the fastest doubles a "
            f"deviation in {np.log(2.0) / fastest.real:.3g} s."
        )
    if neutral and undamped:
        return f"Not asymptotically stable: {len(neutral)} poles at zero, {len(undamped)} undamped."
    if neutral:
        return f"Neutral: {len(neutral)} of {len(values)} poles at zero (free to move on)."
    if undamped:
        which = "1 mode is" if len(undamped) == 1 else f"{len(undamped)} modes are"
        return f"Stable, not asymptotically: {which} undamped."
    slowest = max(v.real for v in values)
    return (
        f"Stable: deviations die out, the slowest with a time constant of {-1.0 / slowest:.3g} s."
    )
