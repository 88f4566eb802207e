"""The constraint manifold at a state: its tangent space and names for coordinates on it.

The state x of a System is redundant: positions and momenta of bodies tied by
joints, unit quaternions, joint coordinates that the posture also gives, and
energy quadratures.  Its motion stays on the manifold

    Phi(p, quat, t) = 0,  r(X, t) = 0,  quat . quat = 1,  coordinate = measured(posture),
    sum of constant * displacement = its start value, where its rate is none

and a small deviation is x - x0 = T z with a basis T of the null space of the
Jacobian of these.  No zero pole of the full Jacobian that only belongs to the
redundancy survives in z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.pace import bending_of, body_units, quickness
from vbg.analysis.probe.probe import Probe
from vbg.assemble.system import System
from vbg.plumbing.components import component_names
from vbg.simulate.steppers.machine_size import extent

Array = NDArray[np.float64]

RANK_TOL = 1e-9  # singular values below this part of the largest: a dependent constraint
ROUNDING = 1e-11  # of the largest column of the constraints: a smaller one is zero
TIED = 1e-10  # the same for speeds that depend on one another by constants
DISTINCT = 0.05  # a coordinate is taken if this part of its row is not yet covered
DENSE = 300  # unknowns up to which one singular value decomposition is as fast
BEHIND = 1e-6  # size of random rows beside those of the constraints
LOOKS, FAR = 4, 1e7  # at right sides of length 1; a solution of this length: rows nearly dependent
WORSE = 10.0  # times as far as at the space before: other coordinates are chosen
CLOSED = 1e-12  # what a basis may leave of rows of length 1
MOVES = 1e-8  # a coordinate that keeps less than this part of its freedom does not move
# not part of the deviations: energies, and discrete states that stay as they are
CONSTANT = ("quadrature", "discrete")
DRIFT = 1e-5  # of a turn or of the machine's size, over which rows of coordinates are compared
STORES = 2  # tier of the states of one-dimensional stores and controllers
SPEEDS = (".speed", ".slide_speed", ".speed2")


@dataclass(frozen=True, slots=True)
class Tangent:
    """x - x0 = basis @ z, z = chosen @ (x - x0), names of z; `reduce` takes rates of
    the independent rows of x (`rows`) into those of z.  `stores` marks the z that are a
    content, charge or flux."""

    basis: Array
    rows: NDArray[np.intp]
    reduce: Array
    names: tuple[str, ...]
    chosen: Array
    stores: NDArray[np.bool_]

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which z are unknowns of their own, that no constraint ties to others."""
        return np.asarray(np.count_nonzero(self.basis, axis=0) == 1)


def constraint_jacobian(probe: Probe, jacobian: Array, x: Array) -> Array:
    """Rows of the manifold's equations, derived by x."""
    n = probe.size
    blocks = [jacobian[probe.spans["position"], :n], jacobian[probe.spans["velocity"], :n]]
    unit, extra = np.eye(n), []
    for s in probe.system.slices:
        span = slice(s.first, s.last)
        if s.state.kind == "quaternion":
            extra.append((x[span] @ unit[span])[None, :])
        elif s.state.kind in CONSTANT:
            extra.append(unit[span])
        elif s.state.measured is not None:
            extra.append(unit[span] - jacobian[probe.spans[f"measured {s.state.name}"], :n])
    return np.vstack([*blocks, *extra, displacement_ties(probe, jacobian, x)])


def displacement_ties(probe: Probe, jacobian: Array, x: Array) -> Array:
    """Rows on x of couplings that tie the speeds s of displacements by constant ratios (a ball
    screw between a shaft and a slide; a spring between two shafts, whose twist is the difference
    of their angles): C s = E r, so that C d is constant.

    C and E are the left null space of [ds; dr] side by side at several states, so that a
    rolling contact, whose row depends on the posture, is none.
    """
    n, system = probe.size, probe.system
    places = displacements(system)
    rolling = [
        np.arange(c.first, c.first + c.unknown.rows)
        for c in system.equations.constraints
        if c.position is None and c.active is None
    ]
    rows = np.concatenate([np.zeros(0, dtype=int), *rolling]).astype(int)

    def speeds(of: Array) -> Array:
        return np.vstack([of[probe.spans["rate"]][places], of[probe.spans["velocity"]][rows]])

    if len(places) < 2:
        return np.zeros((0, n))
    if _is_free(speeds(jacobian)):  # what is tied is so in every state
        return np.zeros((0, n))
    rng = np.random.default_rng(3)
    # no content is driven to where its law has no value
    span = ~system.discrete * (np.abs(x) + ~contents(system))
    others = [x + 0.1 * span * rng.standard_normal(n) for _ in range(2)]
    moved = np.hstack([speeds(jacobian), *(speeds(probe.jacobian(0.3, at)) for at in others)])
    size = np.linalg.norm(moved, axis=1)
    free = np.flatnonzero(size > 0.0)  # a prescribed speed ties nothing
    if not np.all(np.isfinite(size)) or not len(free):
        return np.zeros((0, n))
    left, values, _ = np.linalg.svd(moved[free] / size[free, None], full_matrices=False)
    rank = int(np.count_nonzero(values > TIED * values[0]))
    # what is less than counts as tied is rounding, and names no content in a tie of angles
    combinations = np.where(np.abs(left) < TIED, 0.0, left)[:, rank:].T / size[free]
    result = np.zeros((len(combinations), n))
    for column, i in enumerate(free):
        if i < len(places):
            result[:, places[i]] = combinations[:, column]
    # sums of contents alone, of which no coordinate is part, are states of their own
    along, sizes, _ = np.linalg.svd(np.where(contents(system), 0.0, result), full_matrices=False)
    result = along[:, sizes > TIED * sizes.max(initial=0.0)].T @ result
    return result[np.linalg.norm(result, axis=1) > 0.0]


def _is_free(speeds: Array) -> bool:
    """Whether none of these rows depends on the others."""
    size = np.linalg.norm(speeds, axis=1)
    if not np.all(np.isfinite(size)) or np.any(size == 0.0) or len(speeds) > speeds.shape[1]:
        return False
    values = np.linalg.svd(speeds / size[:, None], compute_uv=False)
    return bool(values[-1] > TIED * values[0])


def contents(system: System) -> NDArray[np.bool_]:
    """Which components of x are what compliances hold: twists, charges, contents."""
    vertices = system.causal.graph.vertices.values()
    names = {v.state.data for v in vertices if v.kind == "C" and v.state is not None}
    found = np.zeros(system.size, dtype=bool)
    for s in system.slices:
        found[s.first : s.last] = s.state.name in names
    return found


def displacements(system: System) -> NDArray[np.intp]:
    """Places in x of the integrals of flows: joint coordinates, shafts, contents."""
    found = contents(system)
    for s in system.slices:
        found[s.first : s.last] |= s.state.kind == "displacement"
    return np.flatnonzero(found)


def _natural(probe: Probe, jacobian: Array, x: Array) -> tuple[Array, Array]:
    """What poses and momenta of bodies are divided by: what moves the machine by its size l, or by
    a radian, and what does so in its unit of time (`quickness`); 0 of all other unknowns.  Second,
    the same for momenta that move it as fast as it goes.

    These do not depend on the posture.  Columns of the constraints do: those of a pendulum's link
    that is upright but for 1e-8 hold momentum along it 1e8 times as much as across, and a rod below
    a pin on a plane has turning speeds that its constraint sees as little.
    """
    found, moving = body_units(probe, jacobian)
    rest = quickness(probe.system)
    fastest = np.abs(x[moving] / found[moving]).max(initial=rest)
    return np.where(moving, found * rest, found), np.where(moving, found * fastest, found)


def _signals(system: System) -> NDArray[np.bool_]:
    """Which components of x are states of blocks."""
    found = np.zeros(system.size, dtype=bool)
    for s in system.slices:
        found[s.first : s.last] = s.state.kind == "signal"
    return found


def _scale(
    C: Array, natural: Array, bending: NDArray[np.bool_], signals: NDArray[np.bool_]
) -> Array:
    """What the unknowns are divided by: `natural` sizes where they have one, elsewhere what their
    columns say (momenta may differ by orders of magnitude): beside the natural ones in their rows,
    but those of flexible bodies, which stand together in theirs, beside each other."""
    height = np.linalg.norm(C * natural, axis=1)
    height[(C[:, bending] != 0.0).any(axis=1)] = 0.0
    size = np.linalg.norm(C / np.where(height > 0.0, height, 1.0)[:, None], axis=0)
    # A free direction has a column of rounding: scaled up, that would constrain it.  Those of
    # coordinates and rotors are exact, however light or heavy what stands beside them is.
    least = np.where(bending, ROUNDING * size[bending].max(initial=0.0), ROUNDING * signals)
    felt = size > least
    own = np.where(felt, 1.0 / np.where(felt, size, 1.0), 1.0)
    return np.where(natural > 0.0, natural, own)


def _unit_rows(C: Array) -> Array:
    height = np.linalg.norm(C, axis=1)
    return C[height > 0.0] / height[height > 0.0][:, None]


def null_space(C: Array, scale: Array | None = None) -> Array:
    """T with C T = 0, orthonormal in unknowns divided by `scale`, by default that of C."""
    if scale is None:
        every = np.ones(C.shape[1], dtype=bool)
        scale = _scale(C, np.zeros(C.shape[1]), every, ~every)
    scaled = _unit_rows(C * scale)
    if len(scaled) == 0:
        return np.diag(scale)
    found = _of_independent_rows(scaled) if len(scale) > DENSE else None
    if found is None:
        _, singular, right = np.linalg.svd(scaled, full_matrices=True)
        rank = int(np.count_nonzero(singular > RANK_TOL * singular[0]))
        found = right[rank:].T
    return scale[:, None] * found


def _along(C: Array, scale: Array, chosen: Array, before: Array) -> Array | None:
    """A null space as `null_space`, of C B = 0, `chosen` B = I, by elimination in matrices with few
    entries; None where rows of C may depend on one another, or the chosen coordinates serve worse
    than in the basis `before`."""
    rows, size = _unit_rows(C * scale), np.linalg.norm(chosen * scale, axis=1)
    if len(rows) + len(chosen) != len(scale) or not np.all(size > 0.0):
        return None
    eliminated = _eliminated(rows, chosen * scale / size[:, None])
    if eliminated is None:
        return None
    right = np.vstack([np.zeros((len(rows), len(chosen))), np.eye(len(chosen))])
    B = eliminated.solve(right)
    reach = np.linalg.norm(before / scale[:, None] * size, axis=0).max(initial=0.0)
    if not np.linalg.norm(B, axis=0).max(initial=0.0) <= WORSE * reach:
        return None
    return np.asarray(scale[:, None] * np.linalg.qr(B)[0])


def _eliminated(C: Array, others: Array) -> Any:
    """[C; others], square and with few entries, ready to be solved for right sides; None where
    rows of C (of length 1) are near to dependent, which C+ of random right sides tells."""
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    try:
        found = splu(csc_matrix(np.vstack([C, others])))
    except RuntimeError:  # a pivot of zero
        return None
    sides = np.zeros((C.shape[1], LOOKS))
    sides[: len(C)] = np.random.default_rng(7).standard_normal((len(C), LOOKS)) / np.sqrt(len(C))
    reached = np.linalg.norm(found.solve(sides), axis=0).max()
    return found if reached < FAR else None


def _of_independent_rows(C: Array) -> Array | None:
    """An orthonormal basis of the null space of C (m, n) with few entries and m independent rows;
    None where some may depend on others, which a singular value decomposition is to tell.

    [C; R] B = [0; I] with n - m random rows R, by elimination: with pivots in C first, which the
    small size of R makes, it fills in no more than C alone.
    """
    m, n = C.shape
    if not m < n:
        return None
    rows = BEHIND * np.random.default_rng(11).standard_normal((n - m, n))
    eliminated = _eliminated(C, rows)
    if eliminated is None:
        return None
    right = np.vstack([np.zeros((m, n - m)), BEHIND * np.eye(n - m)])
    B = eliminated.solve(right)
    T = np.linalg.qr(B - eliminated.solve(np.vstack([C @ B, rows @ B - right[m:]])))[0]
    return np.asarray(T) if float(np.abs(C @ T).max()) < CLOSED else None


def tangent(probe: Probe, jacobian: Array, x: Array, like: Tangent | None = None) -> Tangent:
    """The tangent space at x with coordinates that the engineer knows: joint
    coordinates and speeds first, then states of one-dimensional stores, positions,
    velocities, momenta; of many unknowns those of `like`, a space near x, if they serve here, too.
    """
    C = constraint_jacobian(probe, jacobian, x)
    rest, going = _natural(probe, jacobian, x)
    # momenta that change with the posture of what goes fast do not hide the posture itself
    told = bending_of(probe.system), _signals(probe.system)
    scale, weights = _scale(C, going, *told), _scale(C, rest, *told)
    names, candidates, tiers = _candidates(probe, jacobian)
    T: Array | None = None
    if like is not None and len(x) > DENSE:
        chosen = [names.index(name) for name in like.names]
        T = _along(C, scale, candidates[chosen], like.basis)
    if T is None:
        T = null_space(C, scale)
        natural = np.linalg.norm(candidates * scale, axis=1)
        chosen = _choose(candidates @ T, natural, tiers)
    selection, rows = candidates[chosen] @ T, _moving(probe)
    # what the other unknowns follow from takes no direction away
    Q, R = np.linalg.qr(T[rows] / weights[rows, None])
    basis: Array = np.array(np.linalg.solve(selection.T, T.T).T if T.shape[1] else T, dtype=float)
    reduce: Array = np.array(selection @ (np.linalg.solve(R, Q.T) / weights[rows]), dtype=float)
    for j, k in _displacements(probe.system, candidates[chosen], rows):
        reduce[j], reduce[j, rows == k] = 0.0, candidates[chosen[j], k]
    basis[probe.system.discrete] = 0.0  # no direction: a mode is another for its last digit
    for j, k in _alone(C, candidates[chosen]):
        basis[k], basis[:, j], reduce[j], reduce[:, rows == k] = 0.0, 0.0, 0.0, 0.0
        factor = candidates[chosen[j], k]
        basis[k, j], reduce[j, rows == k] = 1.0 / factor, factor
    return Tangent(
        basis,
        rows,
        reduce,
        tuple(names[i] for i in chosen),
        candidates[chosen],
        np.array([tiers[i] == STORES for i in chosen], dtype=bool),
    )


def _displacements(system: System, chosen: Array, rows: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Coordinates that are an independent displacement, and these: their rate is that of the
    displacement, a speed.  Least squares of all rates say so at rest only: slopes of forces
    leave the tangent space elsewhere, and where a speed tilts it they would bend a clamped beam."""
    places = np.zeros(system.size, dtype=bool)
    for s in system.slices:
        places[s.first : s.last] = s.state.kind == "displacement"
    places[np.setdiff1d(np.arange(system.size), rows)] = False
    found = [(j, np.flatnonzero(row)) for j, row in enumerate(chosen)]
    return [(j, int(at[0])) for j, at in found if len(at) == 1 and places[at[0]]]


def _alone(C: Array, chosen: Array) -> list[tuple[int, int]]:
    """Coordinates that are unknowns of their own, and these: in no constraint and in no other
    coordinate.  A content of 1e-6 m^3 is itself, not that and 1e-16 of a momentum of 1000 kg m/s,
    whose rates would fill it."""
    pairs = []
    for j, row in enumerate(chosen):
        at = np.flatnonzero(row)
        if len(at) == 1:
            k = int(at[0])
            if np.count_nonzero(chosen[:, k]) == 1 and not C[:, k].any():
                pairs.append((j, k))
    return pairs


def _moving(probe: Probe) -> NDArray[np.intp]:
    """The unknowns from which the others follow."""
    independent = np.ones(probe.size, dtype=bool)
    for s in probe.system.slices:
        if s.state.measured is not None or s.state.kind in CONSTANT:
            independent[s.first : s.last] = False
    return np.flatnonzero(independent)


def turning(probe: Probe, space: Tangent, t: float, x: Array, sides: Array) -> Array:
    """How the rows N of z = N (x - x0) change along the motion: z' = N f, so that small deviations
    d of x on the constraints have z' = (N df/dx + N') d, N' by central differences.

    At rest f is zero, and so is this.  Elsewhere df/dx d leaves the tangent space at x.
    """
    f, fastest = probe.values(t, x, sides)[probe.spans["rate"]], 0.0
    for s in probe.system.slices:
        if s.state.kind in ("position", "quaternion"):
            size = extent(probe.system) if s.state.kind == "position" else 1.0
            fastest = max(fastest, float(np.abs(f[s.first : s.last]).max()) / size)
    if fastest == 0.0:  # rows of one-dimensional parts do not depend on the state
        return np.zeros_like(space.chosen)
    h = DRIFT / fastest
    ahead, behind = (
        named_rows(probe, probe.jacobian(t + way, x + way * f, sides), space.names)
        for way in (h, -h)
    )
    return np.asarray((ahead - behind) / (2.0 * h))


def named_rows(probe: Probe, jacobian: Array, names: tuple[str, ...]) -> Array:
    """Rows (on x) of the coordinates `names` of a tangent space, at another state."""
    every, candidates, _ = _candidates(probe, jacobian)
    return candidates[[every.index(name) for name in names]]


def _candidates(probe: Probe, jacobian: Array) -> tuple[list[str], Array, list[int]]:
    """Names and rows (on x) of coordinates, and the order of preference."""
    n, system = probe.size, probe.system
    unit = np.eye(n)
    bodies = set(system.causal.graph.bodies)
    tiers: list[list[tuple[str, Array]]] = [[], [], [], [], [], []]
    for s in system.slices:
        name, owner = s.state.name, s.state.name.rpartition(".")[0]
        rows = [*zip(component_names(name, s.last - s.first), unit[s.first : s.last])]
        if s.state.kind == "displacement":
            tiers[0] += rows
        elif s.state.kind in ("store", "signal"):
            tiers[5 if owner in bodies else STORES] += rows
        elif s.state.kind in ("position", "quaternion"):
            tiers[3] += rows
    for name, span in probe.spans.items():
        signal = name.removeprefix("signal ")
        if signal == name:
            continue
        values = jacobian[span, :n]
        if signal.endswith(SPEEDS):
            tiers[1].append((signal, values[0]))
        elif signal.endswith((".velocity", ".angular_velocity")) and signal.count(".") == 1:
            tiers[4] += zip(component_names(signal, len(values)), values)
    flat = [(name, row, place) for place, tier in enumerate(tiers) for name, row in tier]
    matrix = np.array([row for _, row, _ in flat]).reshape(len(flat), n)
    return [name for name, _, _ in flat], matrix, [place for _, _, place in flat]


def _choose(rows: Array, natural: Array, tiers: list[int]) -> list[int]:
    """Indices of independent rows, earlier tiers first and the freest of a tier first,
    as many as there are columns; `natural` is the size that a row has where nothing
    constrains it: those that keep little of it (the first part of a quaternion near no
    rotation) only where nothing else is left."""
    count = rows.shape[1]
    size = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(size > 0.0, size, 1.0)[:, None]
    unit[size <= MOVES * natural] = 0.0
    chosen: list[int] = []
    found = np.zeros((count, count))  # orthonormal directions of the rows that are chosen
    for threshold, freedom in ((DISTINCT, DISTINCT), (1e-6, 0.0)):
        for tier in sorted(set(tiers)):
            members = np.flatnonzero((np.array(tiers) == tier) & (size >= freedom * natural))
            if len(chosen) == count or not members.size:
                continue
            before = found[: len(chosen)]
            rest = unit[members] - (unit[members] @ before.T) @ before
            while len(chosen) < count:
                lengths = np.sqrt(np.einsum("ij,ij->i", rest, rest))
                # of equally free ones the first: order of the model
                best = int(np.argmax(lengths > 0.9 * lengths.max()))
                if lengths[best] <= threshold:
                    break
                direction = found[len(chosen)] = rest[best] / lengths[best]
                chosen.append(int(members[best]))
                rest = rest - np.outer(rest @ direction, direction)
    if len(chosen) < count:
        raise AssertionError("the states themselves span the tangent space")
    return sorted(chosen, key=lambda i: (tiers[i], i))
