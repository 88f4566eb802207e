"""The transfer equation of a mechanism linear about rest: eliminated, counted, solved.

Eliminating the hinges of a `Small` from the tips to the root at a complex frequency s leaves
their pivots, whose product is the determinant of the overall transfer equation and whose negative
ones count natural frequencies; couplings between two moving nodes are further right-hand sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.modes.posture.modal_element import Bound, bound, without_laws
from vbg.tmm_bridge.modes.posture.small import Coupling, Small

REDUNDANT = 1e-10  # of the largest: efforts of loops that nothing tells apart
LOPSIDED = 1e-12  # of a coupling's stiffness: more than rounding is not symmetric


@dataclass(frozen=True)
class Passed:
    """The elimination at one s: what remains of each hinge's pivot, (f, f), and the gains
    to go back to the tips; compliance (3k, 3k) of the couplings' points and its factor; the modes
    of flexible bodies by the node of their frame."""

    s: complex
    S: Array
    pivots: tuple[Array, ...]
    couple: Array
    modes: Mapping[int, Bound] = field(default_factory=dict)


def eliminate(small: Small, s: complex) -> Passed:
    """Pivots of all hinges at s, tips to root, and the compliance between couplings."""
    S: Array = (s * s) * small.M + s * small.C + small.K
    if not np.any(np.imag(S)):
        S = np.real(S).copy()
    pivots, modes = [], {}
    for hinge in reversed(small.hinges):
        if (modal := small.modal.get(hinge.node)) is not None:
            modes[hinge.node] = bound(modal, S, small.arms_of(modal), s)
            S = _added(S, hinge.node, modes[hinge.node].through)
        T = S[hinge.node]
        d = hinge.h.T @ T @ hinge.h + hinge.law(s)
        pivots.append(d)
        if hinge.parent >= 0:
            left = hinge.X.T @ T @ hinge.h + hinge.v
            right = hinge.h.T @ T @ hinge.X + hinge.g
            through = hinge.X.T @ T @ hinge.X + hinge.G
            if len(d):
                through = through - left @ np.linalg.solve(d, right)
            S = _added(S, hinge.parent, through)
    passed = Passed(s, S, tuple(reversed(pivots)), np.zeros((0, 0)), modes)
    count = pulls_of(small)
    if not count:
        return passed
    u, e = np.zeros((small.n_v, count)), np.zeros((len(small.M), 6, count), dtype=S.dtype)
    hinges, nodes, _ = _swept(small, passed, *pulled(small, np.eye(count), u, e))
    return replace(passed, couple=seen(small, nodes, hinges))


def _added(S: Array, node: int, block: Array) -> Array:
    if np.iscomplexobj(block) and not np.iscomplexobj(S):
        S = S.astype(complex)
    S[node] += block
    return S


def _placed(small: Small) -> Iterator[tuple[Coupling, slice]]:
    """The couplings with their rows among all of them."""
    at = 0
    for one in small.couplings:
        yield one, slice(at, at + len(one.K))
        at += len(one.K)


def pulls_of(small: Small) -> int:
    """How many efforts there are beside the tree: of couplings, of what acts, of closed loops."""
    count = sum(len(one.K) for one in small.couplings)
    if small.acting is not None:
        count += len(small.acting.acts.hinges)
    return count + (0 if small.closing is None else len(small.closing.hinges))


def seen(small: Small, nodes: Array, hinges: Array) -> Array:
    """Displacements (., m) that those efforts answer to: across the couplings, of what is read,
    and those that closed loops do not allow, for (n, 6, m) of the nodes, (n_v, m)."""
    rows = [one.W_b @ nodes[one.b] - one.W_a @ nodes[one.a] for one in small.couplings]
    if small.acting is not None:
        rows.append(small.acting.reads.of(nodes, hinges))
    if small.closing is not None:
        rows.append(small.closing.of(nodes, hinges))
    return np.concatenate(rows)


def pulled(small: Small, pull: Array, u: Array, e: Array) -> tuple[Array, Array]:
    """Efforts u on the hinges and loads -e on the nodes, with `pull` (., m) beside the tree."""
    e = e.astype(np.result_type(e, pull))
    at = 0
    for one, place in _placed(small):
        e[one.b] -= one.W_b.T @ pull[place]
        e[one.a] += one.W_a.T @ pull[place]
        at = place.stop
    acts = None if small.acting is None else small.acting.acts
    for rows in (acts, small.closing):
        if rows is not None:
            u, e = rows.exert(pull[at : at + len(rows.hinges)], u, e)
            at += len(rows.hinges)
    return u, e


def _answers(small: Small, s: complex) -> tuple[Array, Array]:
    """L, N with L pull + N seen = 0: pull = -K apart, pull = Z(s) read, 0 = closed."""
    blocks = [one.K + s * one.C for one in small.couplings]
    if small.acting is not None:
        blocks.append(-small.acting.gain(s))
    closed = 0 if small.closing is None else len(small.closing.hinges)
    N = _block_diagonal([*blocks, np.eye(closed)])
    L = np.eye(len(N))
    L[len(N) - closed :] = 0.0
    return L, N


def _pull(small: Small, passed: Passed, free: Array) -> Array:
    """The efforts beside the tree if without them `free` (., m) is seen; of least size where
    loops leave them open."""
    L, N = _answers(small, passed.s)
    whole, right = L + N @ passed.couple, -N @ free
    if small.closing is None:
        return np.asarray(np.linalg.solve(whole, right))
    rows = np.abs(whole).max(axis=1)
    scaled = whole / np.where(rows > 0.0, rows, 1.0)[:, None]
    right = right / np.where(rows > 0.0, rows, 1.0)[:, None]
    columns = np.abs(scaled).max(axis=0)
    columns = np.where(columns > 0.0, columns, 1.0)
    found = np.linalg.lstsq(scaled / columns, right, rcond=REDUNDANT)[0]
    return np.asarray(found / columns[:, None])


def _swept(small: Small, passed: Passed, u: Array, e: Array) -> tuple[Array, Array, Array]:
    """Tips to root with the loads, back with the displacements: hinges (n_v, m), nodes
    (n, 6, m) and forces across the hinges (n, 6, m), without the couplings."""
    kind = np.result_type(passed.S, u, e, *passed.pivots)
    e = e.astype(kind)
    offsets: list[Array] = [np.zeros((0, u.shape[1]))] * len(small.hinges)
    bent: dict[int, Array] = {}
    for hinge, d in zip(reversed(small.hinges), reversed(passed.pivots), strict=True):
        if (modal := small.modal.get(hinge.node)) is not None:
            one = passed.modes[hinge.node]
            left = u[modal.places] - sum(p.h.T @ e[p.node] for p in modal.points)
            bent[hinge.node] = np.linalg.solve(one.D, left)
            e[hinge.node] += one.left @ bent[hinge.node]
        own, f = e[hinge.node], hinge.h.shape[1]
        left = u[hinge.place : hinge.place + f] - hinge.h.T @ own
        offsets[hinge.node] = np.linalg.solve(d, left) if f else left
        if hinge.parent >= 0:
            T = passed.S[hinge.node]
            through = hinge.X.T @ T @ hinge.h + hinge.v
            e[hinge.parent] += hinge.X.T @ own + through @ offsets[hinge.node]
    hinges = np.zeros(u.shape, dtype=kind)
    nodes, force = np.zeros(e.shape, dtype=kind), np.zeros(e.shape, dtype=kind)
    for hinge, d in zip(small.hinges, passed.pivots, strict=True):
        i, f, T = hinge.node, hinge.h.shape[1], passed.S[hinge.node]
        before = nodes[hinge.parent] if hinge.parent >= 0 else np.zeros(e.shape[1:], dtype=kind)
        nodes[i] = hinge.X @ before
        if f:
            dq = offsets[i] - np.linalg.solve(d, (hinge.h.T @ T @ hinge.X + hinge.g) @ before)
            hinges[hinge.place : hinge.place + f] = dq
            nodes[i] = nodes[i] + hinge.h @ dq
        if (modal := small.modal.get(i)) is not None:
            one = passed.modes[i]
            hinges[modal.places] = bent[i] - np.linalg.solve(one.D, one.right @ nodes[i])
        nodes[i] += _by_modes(small, i, hinges)
        force[i] = T @ nodes[i] + e[i]
    return hinges, nodes, force


def _by_modes(small: Small, node: int, hinges: Array) -> Array | float:
    """How far the modes move the node, if a flexible body carries it."""
    if node not in small.borne:
        return 0.0
    modal, point = small.borne[node]
    return np.asarray(point.h @ hinges[modal.places])


@dataclass(frozen=True)
class Response:
    """Displacements of hinges (n_v, m) and of nodes (n, 6, m), forces that cross hinges
    (n, 6, m), in world axes."""

    hinges: Array
    nodes: Array
    force: Array


def respond(small: Small, passed: Passed, u: Array, e: Array) -> Response:
    """Displacements under efforts u (n_v, m) on the hinges and loads -e (n, 6, m) on the nodes."""
    free = Response(*_swept(small, passed, u, e))
    if not pulls_of(small):
        return free
    pull = _pull(small, passed, seen(small, free.nodes, free.hinges))
    return Response(*_swept(small, passed, *pulled(small, pull, u, e)))


def _block_diagonal(blocks: list[Array]) -> Array:
    from scipy.linalg import block_diag

    whole: Array = block_diag(*blocks)
    return whole


def count_below(small: Small, square: float) -> int:
    """Number of natural frequencies w with w^2 < `square`, dampers left out: negative pivots.

    `square` may be negative: growing motions of an unstable posture are below zero.
    """
    undamped = without_dampers(small)
    if any(map(_is_lopsided, small.couplings)):
        return _counted_at_once(undamped, square)
    passed = eliminate_beside(undamped, square)
    found = 0
    for d in (*passed.pivots, *(one.D for one in passed.modes.values())):
        if len(d):
            found += int(np.count_nonzero(np.linalg.eigvalsh(0.5 * (d + d.T)) < 0.0))
    if small.couplings:
        found += _changed_by_couplings(undamped, passed)
    return found


def _is_lopsided(one: Coupling) -> bool:
    return bool(np.abs(one.K - one.K.T).max() > LOPSIDED * np.abs(one.K).max())


def _counted_at_once(small: Small, square: float) -> int:
    """The count where a loaded elastic hinge closes a loop: each part of the stiffness alone
    turns with a body's axes, only their sum is symmetric."""
    unit = np.zeros((small.n_v, len(small.free)))
    unit[small.free, np.arange(len(small.free))] = 1.0
    s = 1j * np.sqrt(square) if square >= 0.0 else complex(np.sqrt(-square))
    whole = np.real(needed(small, s, unit))[small.free]
    size = np.sqrt(np.abs(np.diag(whole))) + 1e-300
    scaled = whole / np.outer(size, size)
    return int(np.count_nonzero(np.linalg.eigvalsh(0.5 * (scaled + scaled.T)) < 0.0))


def eliminate_beside(small: Small, square: float) -> Passed:
    """Pivots at s^2 = -`square`, or next to it where a pivot is exactly zero."""
    for nudge in (0.0, 1e-13, 1e-12, 1e-11):
        at = square + nudge * max(abs(square), 1e-30)
        s = 1j * np.sqrt(at) if at >= 0.0 else complex(np.sqrt(-at))
        try:
            return eliminate(small, s)
        except np.linalg.LinAlgError:
            continue
    raise UsageError(
        f"{small.mechanism.model.name}: a hinge resists neither by inertia nor by a spring at"
        f" w^2 = {square:.6g}. Give the body behind it a moment of inertia."
    )


def _changed_by_couplings(small: Small, passed: Passed) -> int:
    """neg(-1/kappa - H) - neg(-1/kappa) over the stiff directions of the couplings
    (Sylvester's law for the bordered matrix)."""
    values, directions = np.linalg.eigh(_block_diagonal([one.K for one in small.couplings]))
    stiff = np.abs(values) > 1e-12 * max(float(np.abs(values).max()), 1e-300)
    kappa, V = values[stiff], directions[:, stiff]
    H = V.T @ np.real(passed.couple) @ V
    border = -np.diag(1.0 / kappa) - 0.5 * (H + H.T)
    return int(np.count_nonzero(np.linalg.eigvalsh(border) < 0.0) - np.count_nonzero(kappa > 0.0))


def without_dampers(small: Small) -> Small:
    """The same mechanism, its dampers left out."""
    return replace(
        small,
        C=np.zeros_like(small.C),
        hinges=tuple(replace(h, c=0.0 * h.c) for h in small.hinges),
        modal={i: replace(one, damping=0.0 * one.damping) for i, one in small.modal.items()},
        couplings=tuple(replace(one, C=0.0 * one.C) for one in small.couplings),
    )


def needed(small: Small, s: complex, hinges: Array) -> Array:
    """Efforts u (n_v, m) that the displacements `hinges` (n_v, m) need at s: the transfer
    equation read the other way; what closes loops is left to the caller."""
    blocks = (s * s) * small.M + s * small.C + small.K
    kind = np.result_type(blocks, hinges)
    nodes = nodes_of(small, hinges.astype(kind))
    force = np.einsum("nij,njm->nim", blocks, nodes)
    exerted = np.zeros(hinges.shape)
    open_loops = replace(small, closing=None)
    if pulls_of(open_loops):
        pull = -_answers(open_loops, s)[1] @ seen(open_loops, nodes, hinges)
        exerted, force = pulled(open_loops, pull, exerted, force)
    kind = np.result_type(kind, force, exerted)
    force = force.astype(kind)
    efforts = np.zeros(hinges.shape, dtype=kind)
    for hinge in reversed(small.hinges):
        f = hinge.h.shape[1]
        if (modal := small.modal.get(hinge.node)) is not None:
            dq, frame = hinges[modal.places], nodes[hinge.node]
            shared = modal.shared(s)
            efforts[modal.places] = modal.impedance(s) @ dq + shared.T @ frame
            force[hinge.node] += shared @ dq
            for p in modal.points:
                efforts[modal.places] += p.h.T @ force[p.node] + p.g @ frame + p.k @ dq
                force[hinge.node] += p.v @ dq
        before = nodes[hinge.parent] if hinge.parent >= 0 else np.zeros_like(nodes[0])
        own = hinges[hinge.place : hinge.place + f]
        efforts[hinge.place : hinge.place + f] = (
            hinge.h.T @ force[hinge.node] + hinge.g @ before + hinge.law(s) @ own
        )
        if hinge.parent >= 0:
            force[hinge.parent] += hinge.X.T @ force[hinge.node] + hinge.G @ before + hinge.v @ own
    return np.asarray(efforts - exerted)


def inertia_of(small: Small, x: Array) -> Array:
    """M x, the efforts that accelerations x need."""
    massive = replace(
        small,
        K=np.zeros_like(small.K),
        C=np.zeros_like(small.C),
        couplings=(),
        acting=None,
        closing=None,
        modal={i: without_laws(one) for i, one in small.modal.items()},
        hinges=tuple(
            replace(h, k=0.0 * h.k, c=0.0 * h.c, g=0.0 * h.g, v=0.0 * h.v, G=0.0 * h.G)
            for h in small.hinges
        ),
    )
    return np.real(needed(massive, 1.0, x))


def nodes_of(small: Small, hinges: Array) -> Array:
    """Displacements (n, 6, m) of the nodes for those of the hinges, (n_v, m)."""
    nodes = np.zeros((len(small.M), 6, hinges.shape[1]), dtype=hinges.dtype)
    for hinge in small.hinges:
        if hinge.parent >= 0:
            nodes[hinge.node] = hinge.X @ nodes[hinge.parent]
        f = hinge.h.shape[1]
        nodes[hinge.node] += hinge.h @ hinges[hinge.place : hinge.place + f]
        nodes[hinge.node] += _by_modes(small, hinge.node, hinges)
    return nodes
