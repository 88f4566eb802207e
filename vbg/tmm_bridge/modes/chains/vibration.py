"""Linear vibration by transfer matrices: frequencies, mode shapes, responses.

Chains and trees of springs, discs, masses, bodies, shafts, beams of Euler and
Bernoulli or of Timoshenko, and turning blades.  State vectors at the angular frequency w:

    torsion or stretch   z = [x, N]          displacement, force (angle, torque)
    bending              z = [y, theta, M, Q],  M = EI theta',  y' = theta - Q / GA

with N' = -m w^2 x, Q' = m w^2 y, M' = Q - J w^2 theta along an element.  From
each tip the states that its boundary allows, a basis Z of half the size, are
carried to the root in units of the wave length; continuous elements go in pieces
over which no wave grows by more than e^2, Z is made orthonormal after each and the
factors are kept, so that the characteristic function

    f(w) = det(boundary . Z_root) * product of the factors

is smooth in w, equals the determinant of the overall transfer matrix, and does
not lose digits with length.  How many natural frequencies lie below w is counted
(`counting`), so that none is missed and none found twice.

E. C. Pestel, F. A. Leckie, Matrix Methods in Elastomechanics (1963); H. Holzer,
Die Berechnung der Drehschwingungen (1921); Rui et al., mstmmsim.txt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.modes.chains.counting import (
    at_root,
    near_stiffness,
    on_first_piece,
    on_piece,
    on_springs,
)
from vbg.tmm_bridge.modes.chains.elements import (
    Body,
    Element,
    wave_units,
)

Boundary = Literal["free", "clamped", "pinned", "guided"]
LOWEST = 1e-6  # of the highest frequency asked for: below it motions are those of rigid bodies
SHARP = 1e-13  # relative width of an interval in which counting leaves them


@dataclass(frozen=True)
class Branch:
    """Elements from a tip to the root side; `start` is the tip's boundary, or the branches
    that meet at the start of this one."""

    elements: tuple[Element, ...]
    start: Boundary | tuple[Branch, ...] = "free"


@dataclass(frozen=True)
class System:
    """A chain (one branch) or tree, and the boundary at its root."""

    trunk: Branch
    root: Boundary = "clamped"


@dataclass(frozen=True)
class Characteristic:
    """f(w) as sign and logarithm of its size."""

    sign: float
    log: float


# Rows of z that vanish at a boundary, for chains of 2 and of 4 states.
_ZERO: dict[tuple[int, str], tuple[int, ...]] = {
    (2, "free"): (1,),
    (2, "clamped"): (0,),
    (4, "free"): (2, 3),
    (4, "clamped"): (0, 1),
    (4, "pinned"): (0, 2),
    (4, "guided"): (1, 3),
}


def states_of(branch: Branch) -> int:
    """2 for torsion and stretch, 4 for bending.

    Raises UsageError if elements of both kinds are mixed or there is none.
    """
    sizes = {len(e.parts(max(e.pieces(1.0), 1))[0].matrix(1.0)) for e in branch.elements}
    if isinstance(branch.start, tuple):
        sizes |= {states_of(further) for further in branch.start}
    if len(sizes) != 1:
        raise UsageError(
            "A vibrating chain needs elements of one kind, torsion and stretch (Spring, Disc,"
            " Shaft) or bending (Beam, Body, ElasticHinge, Support)."
        )
    return sizes.pop()


def _zero_rows(size: int, boundary: str) -> tuple[int, ...]:
    if (size, boundary) not in _ZERO:
        raise UsageError(f"The boundary {boundary!r} does not exist for a chain of {size} states.")
    return _ZERO[size, boundary]


def _basis(size: int, boundary: str) -> Array:
    """States that a boundary allows, (size, size / 2)."""
    rows = _zero_rows(size, boundary)
    return np.eye(size)[:, [j for j in range(size) if j not in rows]]


@dataclass(frozen=True)
class Carried:
    """Orthonormal states (nw, n, half) at a branch's end, in `units` (nw, n); sign and logarithm
    (nw,) of the factors taken out; negative pivots (nw,) on the way, where they were counted."""

    Z: Array
    sign: Array
    log: Array
    count: Array


def _elements(branch: Branch) -> Iterator[Element]:
    yield from branch.elements
    for further in branch.start if isinstance(branch.start, tuple) else ():
        yield from _elements(further)


def units_of(system: System, w: Array) -> Array:
    """(nw, n): units in which states at the frequencies w are of the size 1."""
    size, elements = states_of(system.trunk), list(_elements(system.trunk))
    told = [one for element in elements if (one := element.scale(w)) is not None]
    if told:
        return wave_units(size, *told[0])
    lengths = [e.length for e in elements if isinstance(e, Body)]
    along = np.full_like(w, max([*lengths, 0.0]) or 1.0)
    bodies = [e.mass * along + e.J / along for e in elements if isinstance(e, Body)]
    force = w**2 * np.max(bodies, axis=0) if bodies else np.ones_like(w)
    return wave_units(size, along, force)


def _orthonormal(Z: Array) -> tuple[Array, Array, Array]:
    """Z = Q R with a positive diagonal (Gram and Schmidt, twice): Q, R, logarithm of det R."""
    m = Z.shape[2]
    Q, R = np.empty_like(Z), np.zeros((len(Z), m, m))
    for j in range(m):
        z = Z[:, :, j]
        for k in (*range(j), *range(j)):
            part = np.einsum("wi,wi->w", Q[:, :, k], z)
            z = z - part[:, None] * Q[:, :, k]
            R[:, k, j] += part
        R[:, j, j] = np.sqrt(np.einsum("wi,wi->w", z, z))
        Q[:, :, j] = z / R[:, j, j, None]
    return Q, R, np.log(np.einsum("wjj->wj", R)).sum(axis=1)


@dataclass(frozen=True)
class Step:
    """An element at the frequencies w: of each piece the scaled transfer matrix (nw, n, n) and,
    if it is continuous, the stiffness at its near end; of a spring its scaled stiffness
    (nw, half)."""

    pieces: tuple[tuple[Array, Array | None], ...]
    springs: Array | None


def _step(element: Element, w: Array, units: Array) -> Step:
    size = units.shape[1]
    count = element.pieces(float(w.max()))
    parts, passes = element.parts(max(count, 1)), {}
    for part in set(parts):
        U = part.matrix(w) * (units[:, :, None] / units[:, None, :])
        passes[part] = (U, near_stiffness(U) if count else None)
    soft = element.springs()
    if soft is not None:
        soft = soft * units[:, list(_WORKING_ROWS[size])] / units[:, : size // 2]
    return Step(tuple(passes[part] for part in parts), soft)


# rows of z with the force on each displacement
_WORKING_ROWS = {2: (1,), 4: (3, 2)}


def carry(branch: Branch, w: Array, units: Array, *, counting: bool = True) -> Carried:
    """The states that a branch allows at its end."""
    size, boundary = units.shape[1], True
    sign, log = np.ones(len(w)), np.zeros(len(w))
    count = np.zeros(len(w), dtype=int)
    if isinstance(branch.start, tuple):
        met, boundary = _meeting(branch.start, w, units, counting=counting), False
        Z, sign, log, count = met.Z, met.sign, met.log, met.count
    else:
        Z = np.broadcast_to(_basis(size, branch.start), (len(w), size, size // 2))
    steps = {element: _step(element, w, units) for element in set(branch.elements)}
    for element in branch.elements:
        step = steps[element]
        if counting and step.springs is not None:
            count = count + on_springs(Z, step.springs, boundary=boundary)
        for U, near in step.pieces:
            if counting and near is not None:
                count = count + (on_first_piece if boundary else on_piece)(Z, near)
                boundary = False
            Z, _, more = _orthonormal(U @ Z)
            log = log + more
        boundary = boundary and step.springs is None
    return Carried(Z, sign, log, count)


def _meeting(branches: tuple[Branch, ...], w: Array, units: Array, *, counting: bool) -> Carried:
    """Branches meet: one displacement, forces add: [1; sum F_k D_k^-1]."""
    half = units.shape[1] // 2
    total, sign, log = np.zeros((len(w), half, half)), np.ones(len(w)), np.zeros(len(w))
    count = np.zeros(len(w), dtype=int)
    for branch in branches:
        one = carry(branch, w, units, counting=counting)
        sign_D, log_D = np.linalg.slogdet(one.Z[:, :half])
        total = total + one.Z[:, half:] @ np.linalg.inv(one.Z[:, :half])
        sign, log = sign * one.sign * sign_D, log + one.log + log_D
        count = count + one.count
    unit = np.broadcast_to(np.eye(half), total.shape)
    return Carried(np.concatenate([unit, total], axis=1), sign, log, count)


def characteristics(system: System, w: Array) -> tuple[Array, Array]:
    """f(w) as signs and logarithms (nw,)."""
    units = units_of(system, w)
    end = carry(system.trunk, w, units, counting=False)
    rows = list(_zero_rows(units.shape[1], system.root))
    sign, log = np.linalg.slogdet(end.Z[:, rows])
    return sign * end.sign, log + end.log


def characteristic(system: System, w: float) -> Characteristic:
    """f(w): it vanishes at the natural frequencies and nowhere else."""
    sign, log = characteristics(system, np.array([w], dtype=float))
    return Characteristic(float(sign[0]), float(log[0]))


def count_below(system: System, w: Array) -> Array:
    """Number (nw,) of natural frequencies below each w, motions of rigid bodies included."""
    w = np.asarray(w, dtype=float)
    units = units_of(system, w)
    end = carry(system.trunk, w, units)
    held = _zero_rows(units.shape[1], system.root)
    return end.count + at_root(end.Z, [i for i in range(units.shape[1] // 2) if i not in held])


def natural_frequencies(system: System, upper: float) -> Array:
    """Angular frequencies [rad/s] in (0, upper], each as often as it is there.

    Counted, parted until each is alone in its interval, then found to rounding as roots of the
    characteristic function; what does not part counts as a multiple frequency.
    """
    from scipy.optimize.elementwise import find_root

    lower, width = _isolated(system, upper)
    above = lower + width
    (sign_a, log_a), (sign_b, log_b) = (characteristics(system, w) for w in (lower, above))
    level = np.maximum(log_a, log_b)
    alone = sign_a * sign_b < 0.0
    found = 0.5 * (lower + above)

    def f(w: Array, level: Array) -> Array:
        if not len(w):
            return w
        sign, log = characteristics(system, w)
        return np.asarray(sign * np.exp(np.maximum(log - level, -600.0)))

    if alone.any():
        ends = (lower[alone], above[alone])
        roots = find_root(f, ends, args=(level[alone],), tolerances={"xrtol": 1e-15, "xatol": 0.0})
        found[alone] = roots.x
    return np.sort(found)


def _isolated(system: System, upper: float) -> tuple[Array, Array]:
    """Lower ends and widths of intervals with one frequency each; a multiple one's are narrow
    and as many as it has."""
    low, high = np.array([LOWEST * upper]), np.array([upper])
    below = count_below(system, np.concatenate([low, high]))
    first, last = below[:1], below[1:]
    lowers: list[float] = []
    widths: list[float] = []
    while len(low):
        several, wide = last - first, high - low
        sharp = np.where(several > 1, SHARP, np.inf) * high
        done = wide <= sharp
        for a, size, n in zip(low[done], wide[done], several[done], strict=True):
            lowers += [a] * int(n)
            widths += [size] * int(n)
        low, high, first, last = low[~done], high[~done], first[~done], last[~done]
        if not len(low):
            break
        middle = 0.5 * (low + high)
        inside = np.clip(count_below(system, middle), first, last)
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        first, last = np.concatenate([first, inside]), np.concatenate([inside, last])
        some = last > first
        low, high, first, last = low[some], high[some], first[some], last[some]
    return np.array(lowers), np.array(widths)


def _passed(system: System, w: float) -> tuple[list[Array], list[Array], list[int], Array]:
    """Bases of a chain at w, one before and one behind each piece, and the factors; where each
    element ends; the units.  Raises UsageError for a tree."""
    if isinstance(system.trunk.start, tuple):
        raise UsageError("Mode shapes are given for chains; ask for each branch of a tree alone.")
    at = np.array([w], dtype=float)
    units = units_of(system, at)
    Z = _basis(units.shape[1], system.trunk.start)[None]
    bases, factors, ends = [Z[0]], [], [0]
    for element in system.trunk.elements:
        step = _step(element, at, units)
        for U, _ in step.pieces:
            Z, R, _ = _orthonormal(U @ Z)
            bases.append(Z[0])
            factors.append(R[0])
        ends.append(len(factors))
    return bases, factors, ends, units[0]


def mode_shape(system: System, w: float) -> list[Array]:
    """States (size,) along the trunk of a chain at a natural frequency, tip first: one before
    the first element and one behind each; largest displacement 1.

    Raises UsageError for a tree.
    """
    bases, factors, ends, units = _passed(system, w)
    size = len(units)
    x = np.linalg.svd(bases[-1][list(_zero_rows(size, system.root))])[2][-1]
    states = [bases[-1] @ x]
    for basis, R in zip(reversed(bases[:-1]), reversed(factors), strict=True):
        # z_out = Q x = U Z x', Q R = U Z: x' = R^-1 x
        x = np.linalg.solve(R, x)
        states.append(basis @ x)
    states.reverse()
    along = [states[k] / units for k in ends]
    displacements = np.array([state[: max(size // 4, 1)] for state in along])
    peak = displacements.flat[np.argmax(np.abs(displacements))]
    return [state / peak for state in along]


def frequency_response(
    system: System, frequencies: Sequence[float], load: Sequence[float]
) -> Array:
    """Displacement (n, size / 2), real as nothing damps, of the free tip of a chain under a
    harmonic load [N or N*m] there: the state at the tip is [x; -load] in each force.

    The loaded state is carried beside those of the free tip and kept orthogonal to them, so that
    no digits go with the length.  Raises UsageError for a tree or a tip that is not free.
    """
    if system.trunk.start != "free":
        raise UsageError("The response is that of the free tip of a chain.")
    size = states_of(system.trunk)
    half, w = size // 2, np.array(frequencies, dtype=float)
    units = units_of(system, w)
    Z = np.broadcast_to(_basis(size, "free"), (len(w), size, half))
    z = units * np.concatenate([np.zeros(half), np.array(load, dtype=float)])
    back: list[tuple[Array, Array]] = []
    for element in system.trunk.elements:
        step = _step(element, w, units)
        for U, _ in step.pieces:
            Z, R, _ = _orthonormal(U @ Z)
            z = (U @ z[:, :, None])[:, :, 0]
            part = np.einsum("wij,wi->wj", Z, z)
            z = z - (Z @ part[:, :, None])[:, :, 0]
            back.append((R, part))
    rows = list(_zero_rows(size, system.root))
    x = -np.linalg.solve(Z[:, rows], z[:, rows, None])[:, :, 0]
    for R, part in reversed(back):
        x = np.linalg.solve(R, (x - part)[:, :, None])[:, :, 0]
    return np.asarray(x / units[:, :half])
