"""Whether small deviations leave a rest: the growing motions of the linear form there.

With z' = A z of deviations, a pole s with a positive real part grows as exp(Re(s) t).  A pole is
known to within

    e = (d |w|^T T |v| + r eps |A| |w| |v|) / |w^H v|

v, w its right and left vectors, T the sums of absolute terms that A is made of and d = 1e-9 what
they are known to at a rest that is found to that; the second part is rounding of the eigenvalues
themselves (condition of eigenvalues: J. Wilkinson, The Algebraic Eigenvalue Problem, 1965,
chapter 2).  Of what is free to move on, a double pole at zero, w^H v vanishes with the rounding of
the pole, so that e is as large as what rounding makes of it: a wheel, a rotor, an integrator is
neutral however stiff or fast the rest of the machine is.

At kinks (a stop that is just touched) each side has a form of its own.  A real motion v exp(s t)
that stays on the side which it belongs to, s_k g_k v > 0, is one of the machine itself; so is one
that moves no kink.  Others cross it, and are not counted.  Dry friction that sticks holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.held import period_map
from vbg.analysis.probe.kinks import Kink, near_kinks, on_side
from vbg.analysis.probe.pace import pace
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import CONSTANT, Tangent, tangent
from vbg.errors import UsageError
from vbg.plumbing.components import component_names
from vbg.simulate.steppers.machine_size import machine_size
from vbg.simulate.steppers.tolerances import Tolerances

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

MOST_KINKS = 4  # whose sides are all looked at
CROSSES = 1e-9  # of a gradient: a motion that moves it less does not move it
# of a coordinate, to which a rest is found: so much of its terms a slope is known to, and a rate
RESTS = 1e-9
ROUNDING = 1e-13  # of natural sizes: what a basis of the constraints has of it
PART = 0.1  # of what moves most: a joint that moves as much is named before a body
POSTURES = ("displacement", "position", "quaternion")
COORDINATES = {"speed": "angle", "speed2": "angle2", "slide_speed": "slide"}


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """A deviation grows as exp(`rate` t) [1/s], most of it in `coordinate`, which has the `value`
    [SI] at the rest, None where nothing tells it; where `turns` is not zero it swings with that
    frequency [rad/s], too.  `way` (n,): the deviation of x, its largest part 1."""

    rate: float
    turns: float
    coordinate: str
    value: float | None
    way: Array

    @property
    def sentence(self) -> str:
        swinging = f", swinging at {self.turns:.3g} rad/s" if self.turns else ""
        here = "" if self.value is None else f", which is {self.value:.6g} here"
        return (
            f"This rest is unstable: deviations grow at {self.rate:.3g} /s{swinging}, "
            f"most in {self.coordinate}{here}."
        )


def growing(probe: Probe, t: float, x: Array, jacobian: Array, space: Tangent) -> Growth | None:
    """The fastest growth of deviations from the rest x, None where rounding may have made it."""
    found = [
        (pole, vector[: len(side.space.names)], side.space)
        for side in _sides(probe, t, x, jacobian, space)
        for pole, vector in _growths(probe, t, side)
        if side.has(pole, vector[: len(side.space.names)])
    ]
    if not found:
        return None
    pole, vector, there = max(found, key=lambda one: one[0].real)
    dx = there.basis @ vector
    name, value = _most_moved(probe, t, x, jacobian, pole, dx)
    shown = 0.0 if value is not None and abs(value) < RESTS else value
    way = (dx / dx[int(np.argmax(np.abs(dx)))]).real
    return Growth(pole.real, abs(pole.imag), name, shown, way)


def driven(probe: Probe, t: float, x: Array) -> str:
    """What drives move there, so that the slopes hold for an instant only; empty if nothing."""
    nothing = RESTS * pace(probe.system) * natural_sizes(probe, t, x)
    moves = np.abs(probe.values(t, x)[probe.spans["rate"]]) > nothing
    placed = [s for s in probe.system.slices if s.state.kind in POSTURES]
    names = [s.state.name for s in placed if moves[s.first : s.last].any()]
    bodies = [name.rpartition(".")[0] for name in names]
    return ", ".join(dict.fromkeys(bodies))


def natural_sizes(probe: Probe, t: float, x: Array) -> Array:
    """What is large for each state: a turn, a size of the machine, what makes 1 V or 1 m/s; of what
    makes nothing what it is."""
    size = Tolerances(probe.system, 1.0)(t, x)
    return np.where(np.isfinite(size), size, np.abs(x))


@dataclass(frozen=True, slots=True)
class _Side:
    """The machine on one side of all kinks that there are: `signs` beside their `gradients` by x,
    `sides` of its laws."""

    x: Array
    sides: Array
    full: Array
    space: Tangent
    gradients: Array
    signs: Array

    def has(self, pole: complex, vector: Complex) -> bool:
        """Whether the motion stays on this side: then it is one of the machine."""
        dx = self.space.basis @ vector
        way, size = self.gradients @ dx, np.abs(self.gradients) @ np.abs(dx)
        moved = np.abs(way) > CROSSES * size
        if not moved.any():
            return True
        ahead = self.signs[moved] * way[moved].real
        return pole.imag == 0.0 and bool(np.all(ahead > 0.0) or np.all(ahead < 0.0))


def _sides(probe: Probe, t: float, x: Array, jacobian: Array, space: Tangent) -> Iterator[_Side]:
    """The sides on which the machine is at rest; of very many kinks the one that the law takes."""
    rate, f = probe.spans["rate"], probe.values(t, x)
    here, kinks = jacobian[rate, : probe.size], list[Kink]()
    if probe.corners or probe.system.causal.graph.modes:
        kinks = near_kinks(probe, t, x, f, jacobian, space)
    gradients = np.array([k.gradient[: len(space.chosen)] @ space.chosen for k in kinks])
    gradients = gradients.reshape(len(kinks), probe.size)
    if not kinks or len(kinks) > MOST_KINKS:
        yield _Side(x, np.zeros(probe.sides), here, space, gradients, np.zeros(len(kinks)))
        return
    size = np.maximum(np.abs(x), natural_sizes(probe, t, x))
    for signs in product((1.0, -1.0), repeat=len(kinks)):
        at, sides = on_side(probe, x, kinks, signs)
        try:
            slopes, rates = probe.jacobian(t, at, sides), probe.values(t, at, sides)
        except UsageError:
            continue  # a law divides by zero there, so that it has no slope
        there, full = tangent(probe, slopes, at), slopes[rate, : probe.size]
        jump = np.abs(there.reduce @ (rates - f)[rate][there.rows])
        terms = np.abs(there.reduce) @ ((np.abs(full) + np.abs(here)) @ size)[there.rows]
        if np.all(jump <= RESTS * terms):
            yield _Side(at, sides, full, there, gradients, np.array(signs))


def _growths(probe: Probe, t: float, side: _Side) -> Iterator[tuple[complex, Complex]]:
    """Poles that grow, and their deviations z; of sampled machines from sample to sample."""
    space, places = side.space, probe.spans["rate"]
    matrix, period = _form(probe, t, side, side.full)
    terms = np.abs(matrix)
    if period == 0.0:
        natural = natural_sizes(probe, t, side.x)
        unit = np.abs(space.chosen) @ natural
        rounding = ROUNDING / RESTS * natural[:, None] / np.where(unit > 0.0, unit, np.inf)
        slopes = np.abs(side.full[space.rows]) @ (np.abs(space.basis) + rounding)
        terms = np.abs(space.reduce) @ slopes
    if not _may_grow(matrix, period) or not any(_growing(matrix, terms, period)):
        return
    # what terms inside the laws leave, as of a weight beside its axis, shows a state beside
    beside = _disturbed(probe, t, side.x)
    full = probe.jacobian(t, beside, side.sides)[places, : probe.size]
    terms = terms + np.abs(_form(probe, t, side, full)[0] - matrix) / RESTS
    yield from _growing(matrix, terms, period)


def _form(probe: Probe, t: float, side: _Side, full: Array) -> tuple[Array, float]:
    """A with the slopes `full` and a period of zero, of sampled machines the map over a period;
    of samplers with different clocks, which have no common map, nothing."""
    space = side.space
    mapped = period_map(probe.system, t, side.x, full, space)
    if mapped is None:
        return np.asarray(space.reduce @ full[space.rows] @ space.basis), 0.0
    return (np.zeros((0, 0)) if mapped.matrix is None else mapped.matrix), mapped.period


def _disturbed(probe: Probe, t: float, x: Array) -> Array:
    """x moved by as much as it may be off."""
    size = RESTS * np.maximum(np.abs(x), natural_sizes(probe, t, x))
    for s in probe.system.slices:
        if s.state.kind in CONSTANT:
            size[s.first : s.last] = 0.0
    return x + size * np.random.default_rng(1).standard_normal(len(x))


def _may_grow(matrix: Array, period: float) -> bool:
    """Whether any pole is beyond what e is at the least: d of itself, r eps of the largest one."""
    if not (len(matrix) and np.all(np.isfinite(matrix))):
        return False
    poles = np.linalg.eigvals(matrix)
    size = np.abs(poles)
    least = np.maximum(RESTS * size, len(matrix) * np.finfo(float).eps * size.max())
    return bool(np.any((size - 1.0 if period else poles.real) > least))


def _growing(matrix: Array, terms: Array, period: float) -> Iterator[tuple[complex, Complex]]:
    if not np.all(np.isfinite(terms)):
        return
    for pole, error, vector in _poles(matrix, terms):
        if period == 0.0 and pole.real > error:
            yield pole, vector
        elif period > 0.0 and abs(pole) > 1.0 + error:
            yield complex(np.log(pole)) / period, vector


def _poles(A: Array, terms: Array) -> Iterator[tuple[complex, float, Complex]]:
    """Poles of A, what each may be off by, and their vectors; `terms` as in the head."""
    from scipy.linalg import eig, matrix_balance

    with np.errstate(invalid="ignore"):  # it takes large scales for places, too, of no use here
        balanced, scale = matrix_balance(A, permute=False)
    size = np.diag(scale)
    terms = terms * size / size[:, None]
    poles, left, right = eig(balanced, left=True)
    own = len(A) * np.finfo(float).eps * float(np.linalg.norm(balanced))
    for pole, w, v in zip(poles, left.T, right.T, strict=True):
        along = abs(np.vdot(w, v))
        of_terms = float(np.abs(w) @ terms @ np.abs(v))
        error = (RESTS * of_terms + own) / along if along > 0.0 else np.inf
        swings = pole.imag if abs(pole.imag) > error else 0.0
        yield complex(pole.real, swings), error, size * v


def _most_moved(
    probe: Probe, t: float, x: Array, jacobian: Array, pole: complex, dx: Complex
) -> tuple[str, float | None]:
    """The coordinate that the deviation moves most, in turns and sizes of the machine, and its
    value where it has one; joints' before places of bodies, as they are what is written.  Of what
    moves nothing the state that changes most beside what is natural for it."""
    natural = natural_sizes(probe, t, x)
    written, others = _joints_moved(probe, t, x, jacobian, pole, dx), {}
    for s in probe.system.slices:
        names = component_names(s.state.name, s.last - s.first)
        for name, i in zip(names, range(s.first, s.last), strict=True):
            one = float(abs(dx[i]) / natural[i]) if natural[i] > 0.0 else 0.0, float(x[i])
            if s.state.kind == "displacement":
                written[name] = one
            elif s.state.kind in ("position", "quaternion"):
                others[name] = one
    most = max((way for way, _ in (*written.values(), *others.values())), default=0.0)
    if not most > 0.0:
        change = np.abs(dx) / np.where(natural > 0.0, natural, np.inf)
        place = int(np.argmax(change))
        return probe.system.state_names[place], float(x[place])
    large = {name: one for name, one in written.items() if one[0] >= PART * most} or others
    name = max(large, key=lambda one: large[one][0])
    return name, large[name][1]


def _joints_moved(
    probe: Probe, t: float, x: Array, jacobian: Array, pole: complex, dx: Complex
) -> dict[str, tuple[float, float | None]]:
    """Joint coordinates, which are no states where nothing reads them, by the speeds that they
    have: how far they move, and their values where there are any."""
    values, size = probe.values(t, x), machine_size(probe.system)
    moved: dict[str, tuple[float, float | None]] = {}
    for span, place in probe.spans.items():
        joint, _, speed = span.removeprefix("signal ").rpartition(".")
        if speed not in COORDINATES or joint not in probe.system.model.joints:
            continue
        unit = probe.system.signal_units[f"{joint}.{speed}"]
        name = f"{joint}.{'slide' if unit == 'm/s' else COORDINATES[speed]}"
        way = abs(complex(jacobian[place.start, : probe.size] @ dx) / pole)
        known = probe.spans.get(f"signal {name}")
        value = None if known is None else float(values[known.start])
        moved[name] = (float(way / (size if unit == "m/s" else 1.0)), value)
    return moved
