"""Poles and rest of a mechanism with one-dimensional parts, controllers or loops.

The transfer equation D(s) q = R_a^T Z(s) R_r q, Z rational in s (`acting`), is that of the linear
eigenvalue problem in the hinges' displacements, their rates and the network's states,

    q' = v,   M v' = -K q - C v + R_a^T (D R_r q + D1 R_r v + C_x x),
    x' = A x + B R_r q + B1 R_r v,

whose columns M, C, K come out of the transfer equation itself, read the other way; where loops
are closed q lies in what their rows G leave open, q = N p, G N = 0, and N^T takes the rows.
Rest is where the efforts and the rates of all states vanish, found by Newton's method with
the same slopes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.formulas.timefunctions import constant
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import IDLE
from vbg.tmm_bridge.mechanism.contradictions import node_name
from vbg.tmm_bridge.mechanism.mechanism import Mechanism, NoInertia
from vbg.tmm_bridge.mechanism.scales import hinge_units
from vbg.tmm_bridge.mechanism.start import displace, model_size
from vbg.tmm_bridge.modes.network.acting import Rows
from vbg.tmm_bridge.modes.network.linearising import Snapshot, snapshot
from vbg.tmm_bridge.modes.passing import inertia_of, needed, nodes_of
from vbg.tmm_bridge.modes.posture.small import Small, check, small_motion
from vbg.tmm_bridge.modes.roots.decimal_form import Decimals, Mechanical
from vbg.tmm_bridge.modes.roots.poles import (
    COPIES,
    EPS,
    SPREAD,
    Poles,
    may_be_rounding,
    poles_of,
)
from vbg.tmm_bridge.motion.rate.plant import Plant

STEPS = 60
LONGEST = 0.3  # of any hinge in one Newton step [rad, or the model's size]
RESTS = 1e-11  # of the largest term: what is left of a balance at rest
STILL = 1e-12  # relative step at which the search ends
BESIDE = (
    1e-10  # a step of the hinges [rad, or the model's size] and of the states, relative, off a kink
)
OFF_ZERO = 1e-12  # of states that are zero at rest, far above their rounding
KINK = 1e-7  # relative change of poles by it that no smooth law makes
NEW = 1e-6  # of a row of slopes: what others before it do not tell
NOT_MOVED = 1e-11  # of a mode, in the units of a balanced matrix
RANK = 1e-11  # of the largest singular value: a direction that no balance tells
LAST = 2.3e-16  # of 1 rad, the model's size, a state: their last digit
SAMPLES = 4


@dataclass(frozen=True)
class States:
    """z' = S z, z = (p, v, x): `open` (n_v, n) takes p to displacements of all hinges; S may be off
    by what one of the `samples` (k, ...) is; the same in `decimals`."""

    S: Array
    open: Array
    samples: Array | None = None
    decimals: Decimals | None = None

    @cached_property
    def poles(self) -> Poles:
        """Eigenvalues [1/s], one of each conjugate pair, by size."""
        found = poles_of(self.S, self.samples, self.decimals)
        upper = found.values.imag >= 0.0
        return Poles(found.values[upper], found.known[upper])

    def shape(self, pole: complex) -> Array:
        """Displacements (n_v, 1) of the hinges in the motion of the pole, beside which S - pole is
        inverted; they are zero where nothing but the network moves."""
        from scipy.linalg import matrix_balance

        balanced, T = matrix_balance(self.S, permute=False)
        n, moving = len(self.S), self.open.shape[1]
        near = pole * (1.0 + 1e-9) if pole else 1e-9 * np.abs(balanced).max()
        z = np.random.default_rng(n).standard_normal(n).astype(complex)
        for _ in range(4):
            z = np.linalg.solve(balanced - near * np.eye(n), z)
            z /= np.linalg.norm(z)
        if np.linalg.norm(z[: 2 * moving]) <= NOT_MOVED:
            return np.zeros((len(self.open), 1))
        return np.asarray(self.open @ (T @ z)[:moving, None])


def states_of(small: Small) -> States:
    """The linear equations of everything that moves.  Raises UsageError where nothing resists a
    hinge by inertia."""
    still, M, C, K = _open_matrices(small)
    return States(_matrix(small, still, M, C, K), still)


def natural(small: Small) -> tuple[Array, Array]:
    """w^2 (m,) [1/s^2], lowest first, and displacements (n_v, m) of all hinges of the modes of a
    mechanism without dampers whose loops are closed: N^T K N p = w^2 N^T M N p, q = N p, with the
    stiffness that the efforts of the loops at rest give in K; 0 where p.K p is no more than what
    rest leaves of the terms that it is added up of.  Raises UsageError where nothing resists a
    hinge by inertia."""
    from scipy.linalg import eigh

    still, M, _, K = _open_matrices(small)
    if not still.shape[1]:
        return np.zeros(0), still
    try:
        squares, p = eigh(0.5 * (K + K.T), 0.5 * (M + M.T))
    except np.linalg.LinAlgError:
        raise _without_inertia(small) from None
    terms = np.einsum("ik,ij,jk->k", np.abs(p), np.abs(K), np.abs(p))
    return np.where(np.abs(squares) > RESTS * terms, squares, 0.0), still @ p


def _open_matrices(small: Small) -> tuple[Array, Array, Array, Array]:
    """N (n_v, m), the motions that loops leave open, and M, C, K in them."""
    free, unit = small.free, np.zeros((small.n_v, len(small.free)))
    unit[free, np.arange(len(free))] = 1.0
    plain = replace(small, acting=None, closing=None)
    M = inertia_of(plain, unit)[free]
    K = np.real(needed(plain, 0.0, unit))[free]
    C = np.imag(needed(plain, 1j, unit))[free]
    size = np.sqrt(np.abs(np.diag(M)))
    size = np.where(size > 0.0, size, 1.0)
    still = unit / size
    if small.closing is not None:
        still = still @ _null_space(_of(small.closing, small, unit / size))
    N = still[free]
    return still, N.T @ M @ N, N.T @ C @ N, N.T @ K @ N


def known_states(small: Small, plant: Plant, y: Array, x: Array, *, beside: bool = False) -> States:
    """The same, and samples of what entries of S are off by: their changes where hinges and states
    move in their last digits, hinges of trees by what is left of the way to rest; `beside` a kink
    those by as large a step as leads there from it.  Taken only where poles are as small as that
    may make them."""
    found = states_of(small)
    if not may_be_rounding(found.S):
        return found
    here = _linear(plant, y, x)
    held = np.zeros(0, dtype=int) if here.states is None else here.states
    states = LAST * np.abs(here.sizes)
    hinges, units = np.zeros(small.n_v), _units(small)
    left = np.abs(_step(here)[0].hinges) if here.states is None else hinges
    hinges[small.free] = np.clip(left[small.free], LAST * units, STILL * units)
    rng, places = np.random.default_rng(2), [_stepped(plant, here, y, x)] if beside else []
    for _ in range(SAMPLES):
        moved = x.copy()
        step = hinges * rng.standard_normal(small.n_v)
        moved[held] += states * rng.standard_normal(len(states))
        places.append((displace(plant.mechanism.tables, y, step), moved))
    others = (states_of(_linear(plant, *place).small) for place in places)
    samples = [_alike(other, found) - found.S for other in others]
    return replace(found, samples=np.array(samples), decimals=_in_decimals(here.small))


def _in_decimals(small: Small) -> Decimals:
    still, M, C, K = _open_matrices(small)
    n, a = still.shape[1], small.acting
    read = acted = np.zeros((0, n))
    if a is not None:
        read, acted = _of(a.reads, small, still), _of(a.acts, small, still)
    parts = Mechanical(M, C, K, read, acted)
    S = _matrix(small, still, M, C, K)
    return Decimals(S, parts, None if a is None else a.chain, SPREAD * EPS, COPIES)


def _alike(other: States, to: States) -> Array:
    """S of `other` in the coordinates p of `to`, where both move the hinges alike."""
    turned = np.linalg.lstsq(to.open, other.open, rcond=None)[0]
    n, T = len(turned), np.eye(len(to.S))
    T[:n, :n] = T[n : 2 * n, n : 2 * n] = turned
    return np.asarray(T @ np.linalg.solve(T.T, other.S.T).T)


def _matrix(small: Small, still: Array, M: Array, C: Array, K: Array) -> Array:
    n, a = still.shape[1], small.acting
    x = 0 if a is None else len(a.A)
    S = np.zeros((2 * n + x, 2 * n + x))
    S[:n, n : 2 * n] = np.eye(n)
    on = np.zeros((n, x))
    if a is not None:
        read, acted = _of(a.reads, small, still), _of(a.acts, small, still)
        K, C, on = K - acted.T @ a.D @ read, C - acted.T @ a.D1 @ read, acted.T @ a.C
        S[2 * n :, :n], S[2 * n :, n : 2 * n] = a.B @ read, a.B1 @ read
        S[2 * n :, 2 * n :] = a.A
    right = np.hstack([-K, -C, on])
    try:
        S[n : 2 * n] = np.linalg.solve(M, right) if n else right
    except np.linalg.LinAlgError:
        raise _without_inertia(small) from None
    return S


def _without_inertia(small: Small) -> UsageError:
    return UsageError(
        f"{small.mechanism.model.name}: a hinge resists by no inertia. Give the body behind"
        " it a moment of inertia."
    )


def _of(rows: Rows, small: Small, hinges: Array) -> Array:
    return rows.of(nodes_of(small, hinges), hinges)


def _null_space(G: Array) -> Array:
    """Columns that G takes to zero, orthonormal; rows of any size count alike."""
    sizes = np.linalg.norm(G, axis=1)
    _, values, right = np.linalg.svd(G / np.where(sizes > 0.0, sizes, 1.0)[:, None])
    rank = int(np.count_nonzero(values > RANK * values.max(initial=0.0)))
    return np.asarray(right[rank:].T)


@dataclass(frozen=True)
class Rest:
    """Where the machine rests: its linear form there, the mechanism's state, the network's; `at`
    both beside a kink, where the form is that of one side."""

    small: Small
    y: Array
    x: Array
    at: tuple[Array, Array]


def resting(mechanism: Mechanism, y: Array, told: Mapping[str, float]) -> Rest:
    """The rest next to y, the network as it starts, or as what it says is `told`.

    Raises UsageError if none is found.
    """
    check(mechanism)
    plant = Plant(mechanism)
    x = np.array(() if mechanism.network is None else mechanism.network.start)
    y = y.copy()
    y[int(mechanism.tables.sizes[0]) :] = 0.0
    for _ in range(5 if told else 0):
        x = _as_told(plant, y, x, told)
    for tried in range(STEPS):
        now = _linear(plant, y, x)
        step, change, left = _step(now)
        if change <= STILL or (left <= RESTS and tried > 2):
            small, *at = _on_one_side(plant, now, y, x)
            return Rest(small, y, x, (at[0], at[1]))
        y = displace(mechanism.tables, y, step.hinges)
        if now.states is not None:
            x = x.copy()
            x[now.states] += step.states
    raise UsageError(
        f"{mechanism.model.name}: no rest was found next to the start; a share {left:.2g} of the"
        " efforts and rates is left. Start nearer to one, or switch off what drives it on."
    )


def _on_one_side(plant: Plant, now: _Linear, y: Array, x: Array) -> tuple[Small, Array, Array]:
    """The linear form of one side where rest lies at the kink of a law (a valve that just opens,
    of whose edges each would take its own): the one that a small common step leads to."""
    small, a = now.small, now.small.acting
    if a is None or now.states is None:
        return small, y, x
    beside, moved = _stepped(plant, now, y, x)
    b = _linear(plant, beside, moved).small.acting
    other = replace(small, acting=b)
    here, there = states_of(small).poles.values, states_of(other).poles.values
    alike = len(here) == len(there) and np.allclose(there, here, rtol=KINK, atol=0.0)
    return (small, y, x) if alike else (other, beside, moved)


def _stepped(plant: Plant, now: _Linear, y: Array, x: Array) -> tuple[Array, Array]:
    """The small common step from a kink."""
    step, moved = np.zeros(now.small.n_v), x.copy()
    step[now.small.free] = BESIDE * _units(now.small)
    if now.states is not None:
        moved[now.states] += BESIDE * np.abs(now.sizes) + OFF_ZERO
    return displace(plant.mechanism.tables, y, step), moved


def _seen(plant: Plant, y: Array, x: Array) -> Snapshot | None:
    if plant.mechanism.network is None:
        return None
    try:
        return snapshot(plant, y, x)
    except NoInertia as error:
        name = node_name(plant.mechanism, error.node)
        raise UsageError(f"{name}: nothing behind it resists its free motion.") from None


def _as_told(plant: Plant, y: Array, x: Array, told: Mapping[str, float]) -> Array:
    """The network's states moved to where it says what is told, by as many outputs as tell them
    apart, those first that depend on one state alone (a pressure, a current)."""
    now = _seen(plant, y, x)
    if now is None:
        return x
    names = list(now.told)
    J = now.told_by / _sizes(now.told_by, axis=1)[:, None]
    chosen: list[int] = []
    held = np.zeros((0, J.shape[1]))
    for k in np.argsort(np.count_nonzero(J, axis=1), kind="stable"):
        if names[k] not in told or not np.isfinite(J[k]).all():
            continue
        rest = J[k] - held.T @ (held @ J[k])
        if np.linalg.norm(rest) > NEW:
            held = np.vstack([held, rest / np.linalg.norm(rest)])
            chosen.append(int(k))
    short = np.array([told[names[k]] - now.told[names[k]] for k in chosen])
    x = x.copy()
    x[now.acting.states] += _least(now.told_by[chosen], short)
    return x


def _sizes(J: Array, axis: int) -> Array:
    """Largest entries of rows or columns, 1 where all are zero."""
    largest = np.abs(J).max(axis=axis, initial=0.0)
    return np.where(largest > 0.0, largest, 1.0)


def _least(J: Array, right: Array) -> Array:
    """The least step that solves J step = right best, rows and columns taken alike."""
    if not J.size:
        return np.zeros(J.shape[1])
    columns = _sizes(J, axis=0)
    scaled = J / columns
    rows = _sizes(scaled, axis=1)
    found = np.linalg.lstsq(scaled / rows[:, None], right / rows, rcond=RANK)[0]
    return np.asarray(found / columns)


@dataclass(frozen=True)
class _Linear:
    small: Small
    states: Array | None
    rates: Array
    sizes: Array


@dataclass(frozen=True)
class _Step:
    hinges: Array
    states: Array


def _linear(plant: Plant, y: Array, x: Array) -> _Linear:
    """The linear form at (y, x), with what is left of rest there."""
    mechanism, now = plant.mechanism, _seen(plant, y, x)
    if now is None:
        return _Linear(small_motion(mechanism, y), None, np.zeros(0), np.zeros(0))
    inputs = list(mechanism.inputs)
    for place, value in now.fed.items():
        inputs[place] = constant(value)
    frozen = replace(mechanism, inputs=tuple(inputs), network=None)
    small = replace(small_motion(frozen, y), acting=now.acting)
    return _Linear(small, now.acting.states, now.rates, x[now.acting.states])


def _units(small: Small) -> Array:
    """Of the free hinges: 1 rad, or the model's size for those that slide."""
    tables = small.mechanism.tables
    return hinge_units(tables, model_size(small.mechanism))[small.free]


def _step(now: _Linear) -> tuple[_Step, float, float]:
    """Newton's step, its size relative to the states, and the share of the balances that is left
    of their terms."""
    small, a, free = now.small, now.small.acting, now.small.free
    unit = np.zeros((small.n_v, len(free)))
    unit[free, np.arange(len(free))] = 1.0
    K = np.real(needed(replace(small, acting=None, closing=None), 0.0, unit))[free]
    n, x = len(free), len(now.rates)
    G = np.zeros((0, n)) if small.closing is None else _of(small.closing, small, unit)
    J = np.zeros((n + x + len(G), n + x + len(G)))
    J[:n, :n] = K
    if a is not None:
        read, acted = _of(a.reads, small, unit), _of(a.acts, small, unit)
        J[:n, :n] -= acted.T @ a.D @ read
        J[:n, n : n + x] = -acted.T @ a.C
        J[n : n + x, :n], J[n : n + x, n : n + x] = -a.B @ read, -a.A
    J[:n, n + x :], J[n + x :, :n] = -G.T, G
    open_by = small.scratch.row_state[small.mechanism.tables.rows[:, 4] != IDLE, 0]
    right = np.concatenate([small.unbalanced[free], now.rates, -open_by])
    units = _units(small)
    terms = np.abs(J) @ np.concatenate([units, np.abs(now.sizes), np.zeros(len(G))])
    step = _least(J, right)
    longest = np.abs(step[:n] / units).max(initial=0.0)
    step *= min(1.0, LONGEST / max(longest, 1e-300))
    sizes = np.concatenate([units, np.maximum(np.abs(now.sizes), 1e-12)])
    hinges = np.zeros(small.n_v)
    hinges[free] = step[:n]
    left = float((np.abs(right) / np.where(terms > 0.0, terms, 1.0)).max(initial=0.0))
    change = float(np.abs(step[: n + x] / sizes).max(initial=0.0))
    return _Step(hinges, step[n : n + x]), change, left
