"""Exceptions to the count that geometry makes: found by rank, in motion and at rest.

For every block of loops the count is compared with the rank of the constraint
Jacobian where the bodies stand and at postures reached by finite steps.  What
the count does not see either moves on (a subgroup of displacements, a named
paradoxical linkage, parallel cranks) or is infinitesimal (tangent freedoms).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.errors import counted
from vbg.structure.count.loops import Block, blocks_of, order_around, sub_linkage
from vbg.structure.geometry.exceptions import contact_findings, multijoint_findings, spin_findings
from vbg.structure.geometry.manifold import (
    Posture,
    jacobian,
    null_space,
    obstruction,
    posture_of,
    projected,
    step_along,
)
from vbg.structure.geometry.named import loop_name, parallel_cranks
from vbg.structure.topology.findings import Finding, Kind
from vbg.structure.topology.linkage import Linkage
from vbg.structure.topology.pairs import COUPLING, SPATIAL

Array = NDArray[np.float64]

WALKS, STEPS = 3, 4
LARGE, TOO_LARGE = 900, 3000  # unknowns of a block: one walk of one step, then none at all
_SEED = 20260127


@dataclass(frozen=True, slots=True, eq=False)
class BlockMobility:
    """Freedoms of a block: by count, at its posture (B N - rank), and in finite motion.

    `generic` is the smallest number of freedoms at postures reached by finite
    steps, 0 where none is reached.  `visited` are those postures, the first
    the one described.  `obstructed` is the second-order test: the largest
    second-order residual over the tangent freedoms tried.  `redundant` : rows
    (pair of the block, label) that take part in a dependence.
    """

    block: Block
    count: int
    at_posture: int
    generic: int
    visited: tuple[Posture, ...]
    obstructed: float
    redundant: tuple[tuple[int, str], ...]
    surplus: int

    @property
    def moves(self) -> bool:
        """Whether a finite motion was found."""
        return len(self.visited) > 1


def block_mobility(block: Block) -> BlockMobility:
    """Count, rank and finite motion of a block."""
    linkage = block.linkage
    posture, _ = projected(posture_of(linkage))
    J, _, _ = jacobian(posture)
    free, _ = null_space(J)
    count = linkage.topology.mobility
    visited, test = [posture], 0.0
    rolls = any(frame.radius > 0.0 for frame in linkage.frames)
    if free.shape[1] and not rolls:
        rng = np.random.default_rng(_SEED)
        walks, steps = (WALKS, STEPS) if posture.unknowns <= LARGE else (1, 1)
        for _ in range(walks):
            direction = free @ rng.normal(size=free.shape[1])
            test = max(test, obstruction(posture, direction))
            visited += _walk(posture, direction, rng, steps)
    freedoms = [_freedoms(place) for place in visited[1:]]
    generic = min(freedoms) if freedoms else (free.shape[1] if rolls else 0)
    best = visited[1 + int(np.argmin(freedoms))] if freedoms else posture
    redundant, surplus = _dependences(best if freedoms else posture)
    return BlockMobility(
        block, count, free.shape[1], generic, tuple(visited), test, redundant, surplus
    )


def _freedoms(posture: Posture) -> int:
    return null_space(jacobian(posture)[0])[0].shape[1]


def _walk(
    posture: Posture, direction: Array, rng: np.random.Generator, steps: int
) -> list[Posture]:
    """Assembled postures one after the other along a tangent; empty where it does not go on."""
    path: list[Posture] = []
    for _ in range(steps):
        following = step_along(posture, direction)
        if following is None:
            return path
        free, _ = null_space(jacobian(following)[0])
        if free.shape[1] == 0:
            return path
        path.append(following)
        posture = following
        ahead = free @ (free.T @ direction)
        wide = np.linalg.norm(ahead) > 0.1 * np.linalg.norm(direction)
        direction = ahead if wide else free @ rng.normal(size=free.shape[1])
    return path


def _dependences(posture: Posture) -> tuple[tuple[tuple[int, str], ...], int]:
    """Rows in the left null space of the Jacobian, and its dimension."""
    _, left = null_space(jacobian(posture)[0])
    if left.shape[1] == 0:
        return (), 0
    rows = posture.rows[np.abs(left).max(axis=1) > 1e-6]
    found = [(int(posture.equations.pair[e]), posture.equations.labels[e]) for e in rows]
    return tuple(found), left.shape[1]


def droppable_rows(posture: Posture) -> tuple[int, ...]:
    """How many equations of each pair repeat others: a largest independent set is kept.

    Rows are taken pair by pair, those of driven pairs and of pairs at the frame first.
    """
    pairs = posture.linkage.topology.pairs
    J, _, _ = jacobian(posture)
    of_row = [int(posture.equations.pair[e]) for e in posture.rows]
    order = sorted(
        range(len(of_row)),
        key=lambda i: (not pairs[of_row[i]].driven, 0 not in pairs[of_row[i]].ends, of_row[i], i),
    )
    dropped = [0] * len(pairs)
    kept: list[Array] = []
    for i in order:
        row = J[i] / max(float(np.linalg.norm(J[i])), 1e-300)
        for _ in range(2):  # twice: Gram-Schmidt keeps its orthogonality only so
            for other in kept:
                row = row - (row @ other) * other
        length = float(np.linalg.norm(row))
        if length > 1e-6:
            kept.append(row / length)
        else:
            dropped[of_row[i]] += 1
    return tuple(dropped)


@dataclass(frozen=True, slots=True, eq=False)
class Subgroup:
    """The displacements in which a block moves: `twists` (6, lambda), orthonormal, scaled."""

    name: str
    twists: Array


def subgroup_of(found: BlockMobility) -> Subgroup:
    """The span of all velocities of the bodies, in the frame's axes about its origin."""
    rows = []
    for posture in found.visited:
        free, _ = null_space(jacobian(posture)[0])
        n, size = len(posture.p_WB), posture.size
        for k in range(free.shape[1]):
            V = free[:, k].reshape(n - 1, -1) @ posture.basis
            for body in range(1, n):
                w, v = V[body - 1, :3], V[body - 1, 3:]
                rows.append([*w, *(v - np.cross(w, posture.p_WB[body] / size))])
    matrix = np.array(rows).reshape(-1, 6)
    _, values, Vt = np.linalg.svd(matrix, full_matrices=False)
    rank = int((values > 1e-6 * max(1.0, values[0])).sum()) if len(values) else 0
    return Subgroup(_subgroup_name(Vt[:rank]), Vt[:rank].T)


def _subgroup_name(twists: Array) -> str:
    w, v = twists[:, :3], twists[:, 3:]
    turning = np.linalg.matrix_rank(w, tol=1e-6) if len(twists) else 0
    if turning == 0:
        return "translational"
    if len(twists) == 3 and turning == 1:
        axis = w[int(np.argmax(np.linalg.norm(w, axis=1)))]
        axis = axis / np.linalg.norm(axis)
        return "planar" if np.abs(v @ axis).max() < 1e-6 else ""
    if len(twists) == 3 and turning == 3:
        # v = c x w for all of them: one point stands still
        rows = np.vstack([-_skew(a) for a in w])
        c = np.linalg.lstsq(rows, v.ravel(), rcond=None)[0]
        return "spherical" if np.abs(rows @ c - v.ravel()).max() < 1e-6 else ""
    return "Schoenflies" if len(twists) == 4 and turning == 1 else ""


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def count_in(subgroup: Subgroup, found: BlockMobility) -> int:
    """The Kutzbach-Gruebler count with lambda in the place of 6, pairs reduced to the subgroup."""
    block = found.block.linkage
    dimension = subgroup.twists.shape[1]
    count = dimension * (len(block.topology.bodies) - 1)
    for index, pair in enumerate(block.topology.pairs):
        if pair.code == COUPLING.code:
            count -= 1
            continue
        screws = _screws_of(found.visited[0], index)
        both = np.hstack([subgroup.twists, screws])
        values = np.linalg.svd(both, compute_uv=False)
        together = int((values > 1e-6).sum())
        count -= dimension - (dimension + screws.shape[1] - together)
    return count


def _screws_of(posture: Posture, index: int) -> Array:
    """(6, k) orthonormal twists that pair `index` leaves, about the frame's origin, scaled."""
    rows = [i for i, e in enumerate(posture.rows) if posture.equations.pair[e] == index]
    ends = posture.linkage.topology.pairs[index].ends
    J = jacobian(posture)[0][rows]
    moving = ends[1] if ends[1] else ends[0]
    block = J[:, 6 * (moving - 1) : 6 * moving]
    shift = np.eye(6)
    shift[3:, :3] = -_skew(posture.p_WB[moving] / posture.size)  # v_Bo = v_O + w x p
    free, _ = null_space(block @ shift)
    return free


def geometric_findings(linkage: Linkage) -> tuple[Finding, ...]:
    """Findings of all blocks of loops."""
    found: list[Finding] = []
    for block in blocks_of(linkage):
        found += classify(block_mobility(block)) if examinable(block) else [_unexamined(block)]
    return tuple(found)


def examinable(block: Block) -> bool:
    """Whether dense factorisations of the block's Jacobian take seconds, not hours."""
    topology = block.linkage.topology
    return topology.dimension * (len(topology.bodies) - 1) <= TOO_LARGE


def _unexamined(block: Block) -> Finding:
    bodies = block.linkage.topology.bodies
    what = f"{len(bodies)} bodies in loops: too many to look for exceptions of geometry."
    action = "They are counted as if their geometry were general."
    return Finding("not examined", "large block", bodies, (), 0, what, action)


def classify(found: BlockMobility) -> tuple[Finding, ...]:
    """The name of every freedom of a block that the count does not see."""
    kept: list[Finding] = []
    if not found.moves:
        if found.at_posture > 0 and not any(f.radius for f in found.block.linkage.frames):
            kept.append(_tangent(found))
        elif found.surplus > 0:
            kept.append(_stiff(found))
        return tuple(kept)
    excess = found.generic - found.count
    if excess > 0:
        kept += _finite(found, excess)
    if found.at_posture > found.generic:
        kept.append(_singular(found))
    return tuple(kept)


def _finite(found: BlockMobility, excess: int) -> list[Finding]:
    """Freedoms that last: subgroups first, then linkages by name, then the rest."""
    kept: list[Finding] = []
    linkage = found.block.linkage
    subgroup = subgroup_of(found)
    if linkage.topology.dimension == SPATIAL and subgroup.name:
        count = count_in(subgroup, found)
        seen = min(count, found.generic) - found.count
        if seen > 0:
            what = f"all bodies move in the {subgroup.name} subgroup; counted with "
            what += f"{subgroup.twists.shape[1]} freedoms a body the mobility is {count}."
            name = f"{subgroup.name} mechanism in space"
            kept.append(_named(found, "subgroup", name, seen, what))
            excess -= seen
    if excess > 0:
        kept += _inside(found, excess) or [_paradox(found, excess)]
    return kept


def _inside(found: BlockMobility, excess: int) -> list[Finding]:
    """Findings of the smaller loops that hold all the redundant equations; [] if none do."""
    linkage = found.block.linkage
    pairs = sorted({pair for pair, _ in found.redundant})
    if not pairs or len(pairs) == len(linkage.topology.pairs):
        return []
    bodies = sorted({body for pair in pairs for body in linkage.topology.pairs[pair].ends})
    part = sub_linkage(linkage, bodies, pairs).linkage
    findings = [f for block in blocks_of(part) for f in classify(block_mobility(block))]
    return findings if sum(f.freedoms for f in findings) == excess else []


def _paradox(found: BlockMobility, excess: int) -> Finding:
    linkage = found.block.linkage
    cranks = parallel_cranks(linkage)
    if cranks:
        bodies = [linkage.topology.bodies[b] for b in cranks[0]]
        what = f"cranks {', '.join(bodies)} are equal and parallel and stay so."
        return _named(found, "parallel cranks", "double parallelogram", excess, what)
    name = loop_name(linkage) if found.block.is_single_loop else ""
    what = f"moves with {counted(found.generic, 'freedom')} where the count is {found.count}."
    if name:
        return _named(found, "named linkage", name, excess, what)
    codes = [linkage.topology.pairs[i].code for i in order_around(linkage)]
    general = f"paradoxical {''.join(codes)} loop" if found.block.is_single_loop else ""
    return _named(found, "geometric freedom", general or "geometric freedom", excess, what)


def _named(found: BlockMobility, kind: Kind, name: str, freedoms: int, what: str) -> Finding:
    topology = found.block.linkage.topology
    rows = sorted({pair for pair, _ in found.redundant})
    pairs = tuple(topology.pairs[pair].name for pair in rows)
    action = (
        f"{counted(freedoms, 'redundant equation')} left out; forces in "
        f"{', '.join(pairs) or 'its pairs'} are not unique and given with least norm."
    )
    return Finding(kind, name, topology.bodies, pairs, freedoms, what, action)


def _tangent(found: BlockMobility) -> Finding:
    what = (
        f"{counted(found.at_posture, 'freedom')} to first order only, no finite motion "
        f"(second-order residual {found.obstructed:.2g}); the count is {found.count}."
    )
    action = "Small play moves it far and forces grow without bound: change a length."
    return _plain(
        found, "tangent freedom", "tangent freedom (shaky)", found.at_posture, what, action
    )


def _singular(found: BlockMobility) -> Finding:
    more = found.at_posture - found.generic
    what = (
        f"{counted(found.at_posture, 'freedom')} where it stands, {found.generic} at postures"
        " nearby: a dead point or a branching."
    )
    action = "The solver reports the event and goes on along the direction of motion."
    return _plain(found, "singular posture", "singular posture", more, what, action)


def _stiff(found: BlockMobility) -> Finding:
    what = f"does not move; {found.surplus} equation(s) repeat others; the count is {found.count}."
    action = "Forces of its pairs are not unique and given with least norm."
    return _plain(found, "geometric freedom", "statically indeterminate frame", 0, what, action)


def _plain(
    found: BlockMobility, kind: Kind, name: str, freedoms: int, what: str, action: str
) -> Finding:
    topology = found.block.linkage.topology
    rows = sorted({pair for pair, _ in found.redundant})
    pairs = tuple(topology.pairs[pair].name for pair in rows)
    return Finding(kind, name, topology.bodies, pairs, freedoms, what, action)


def find_exceptions(linkage: Linkage) -> tuple[Finding, ...]:
    """Everything about `linkage` that makes the count of mobility lie, or that may change it."""
    return (
        *multijoint_findings(linkage),
        *spin_findings(linkage),
        *geometric_findings(linkage),
        *contact_findings(linkage),
    )
