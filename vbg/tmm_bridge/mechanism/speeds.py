"""Start speeds in joint coordinates: what is written first, guesses for the rest.

The velocities of all bodies and rotors are an affine function of the hinge speeds v,
T v + T0, each row weighted by the root of its inertia, so that |.|^2 is twice a kinetic
energy.  With the rows of the loops and of held speeds G v = g,

    v = v0 + N a,   N a basis of G's null space,

a makes the written rows miss least and, as far as that leaves it open, all rows: one start,
whichever v0 it is sought from.  Dense on purpose: singular values decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vbg.tmm_bridge.kernels.entries import closure
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import W_R, W_V, W_W
from vbg.tmm_bridge.kernels.tables import IDLE, Scratch, Tables, scratch_for
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.scales import hinge_units, row_units
from vbg.tmm_bridge.onedim.laws.mechanical import JOINT
from vbg.tmm_bridge.tree.forest import GROUND

RANK = 1e-10  # of the largest singular value, or a cosine: directions below are none
MISSED = 1e-12  # of the largest that is wanted: a written one missed by less is kept


class Moving(Protocol):
    """Velocity of the mass centre (W) and angular velocity (body axes) at the start."""

    @property
    def v_WB(self) -> Array: ...
    @property
    def w_WB_B(self) -> Array: ...


@dataclass(frozen=True)
class _Wanted:
    """Weighted speeds of bodies and rotors that the start should have; `written` marks rows
    that the engineer wrote."""

    target: Array
    written: Array


def has_speeds(
    mechanism: Mechanism, t: Tables, poses: Mapping[str, Moving], y: Array, drive: Array
) -> bool:
    """Whether y moves all bodies and rotors as the poses do: what joints leave of such speeds by
    a change of least kinetic energy is nearest to them."""
    wanted = _wanted(mechanism, t, poses)
    miss = wanted.target - _velocities(mechanism, t, scratch_for(t), y, drive)[1]
    return bool(np.abs(miss).max(initial=0.0) <= MISSED * np.abs(wanted.target).max(initial=0.0))


def keep_written(
    mechanism: Mechanism,
    t: Tables,
    poses: Mapping[str, Moving],
    y: Array,
    drive: Array,
    *,
    held: tuple[int, ...] = (),
    nearest: bool = False,
) -> None:
    """Change the consistent speeds in y to those that keep what is written, in place.

    The hinge speeds `held`, by their number, stay; `nearest` says that y is the nearest to what
    all rows want, as it is where it keeps the written ones."""
    wanted = _wanted(mechanism, t, poses)
    n_q, n_v = int(t.sizes[0]), int(t.sizes[1])
    speeds, s = slice(n_q, n_q + n_v), scratch_for(t)
    miss = wanted.target - _velocities(mechanism, t, s, y, drive)[1]
    some = wanted.written.any() and not wanted.written.all()
    rows = wanted.written if some else np.ones(len(miss), dtype=bool)
    kept = np.abs(miss[rows]).max(initial=0.0) <= MISSED * np.abs(wanted.target).max(initial=0.0)
    if nearest and (kept or not some):
        return
    G, T, units = _linear(mechanism, t, y, drive)
    driven = np.flatnonzero(np.linalg.norm(T, axis=0) == 0.0)
    N = _null_space(np.vstack([G, np.eye(n_v)[[*held, *driven]]]))
    y[speeds] += units * (N @ _nearest(T @ N, miss, rows))


def change_by(mechanism: Mechanism, t: Tables, y: Array, drive: Array, pushed: Array) -> Array:
    """What impulses `pushed` (n_v,) on the hinges change of their speeds while joints hold:
    of all dv with G dv = 0 that of least |T dv|^2 / 2 - pushed dv.  Driven hinges keep theirs."""
    G, T, units = _linear(mechanism, t, y, drive)
    fixed = np.flatnonzero(np.linalg.norm(T, axis=0) == 0.0)
    N = _null_space(np.vstack([G, np.eye(len(pushed))[fixed]]))
    _, sizes, right = np.linalg.svd(T @ N, full_matrices=False)
    some = sizes > RANK * sizes.max(initial=0.0)
    a = right[some].T @ (right[some] @ (N.T @ (units * pushed)) / sizes[some] ** 2)
    change: Array = units * (N @ a)
    return change


def _linear(mechanism: Mechanism, t: Tables, y: Array, drive: Array) -> tuple[Array, Array, Array]:
    """G and T over the hinges' speeds in units in which motions and rows count alike, and these
    units; rows that hold nothing for now are left out."""
    n_q, n_v = int(t.sizes[0]), int(t.sizes[1])
    s, still = scratch_for(t), y.copy()
    still[n_q : n_q + n_v] = 0.0
    G0, T0 = _velocities(mechanism, t, s, still, drive)
    G, T = np.zeros((len(G0), n_v)), np.zeros((len(T0), n_v))
    for i in range(n_v):
        unit = still.copy()
        unit[n_q + i] = 1.0
        rates, told = _velocities(mechanism, t, s, unit, drive)
        G[:, i], T[:, i] = rates - G0, told - T0
    units, holds = hinge_units(t, float(t.length[0])), t.rows[:, 4] != IDLE
    return (G * units / row_units(t)[:, None])[holds], T * units, units


def _nearest(motions: Array, miss: Array, written: Array) -> Array:
    """a for which `motions` a is nearest to `miss` in the written rows, then in all.

    In an orthonormal basis of the motions what written rows see of them are cosines of angles:
    where a written value contradicts joints no more than rounding is left of it."""
    Q, sizes, right = np.linalg.svd(motions, full_matrices=False)
    some = sizes > RANK * sizes.max(initial=0.0)
    Q = Q[:, some]
    left, cosines, across = np.linalg.svd(Q[written], full_matrices=True)
    r = int(np.count_nonzero(cosines > RANK))
    u = across[:r].T @ (left[:, :r].T @ miss[written] / cosines[:r])
    u += across[r:].T @ (across[r:] @ (Q.T @ miss - u))
    a: Array = right[some].T @ (u / sizes[some])
    return a


def kinetic_energy(mechanism: Mechanism, y: Array, drive: Array) -> float:
    """Of all bodies and of what turns with joints, in the state y [J]."""
    t = mechanism.tables
    told = _velocities(mechanism, t, scratch_for(t), y, drive)[1]
    return 0.5 * float(told @ told)


def work_of_drives(
    mechanism: Mechanism, t: Tables, y: Array, after: Array, drive: Array, impulses: Array
) -> float:
    """What all drives bring in while `impulses` (rows,) take the speeds from those of the state y
    to those of `after`, at one posture [J].

    Virtual work of what the drives alone move, the free hinges at rest: there bodies have the
    velocities V0 and rows the rates g0, so that sum m V0 (V+ - V-) = g0 L + the drives' work."""
    n_q, n_v = int(t.sizes[0]), int(t.sizes[1])
    still, s = y.copy(), scratch_for(t)
    still[n_q : n_q + n_v] = 0.0
    g0, V0 = _velocities(mechanism, t, s, still, drive)
    was, now = (_velocities(mechanism, t, s, at, drive)[1] for at in (y, after))
    return float(V0 @ (now - was) - g0 @ impulses)


def _null_space(A: Array) -> Array:
    """Columns that A, with rows near 1 where they say something, takes to zero; orthonormal."""
    _, values, right = np.linalg.svd(A, full_matrices=True)
    rank = int(np.count_nonzero(values > RANK * values.max(initial=1.0)))
    basis: Array = right[rank:].T
    return basis


def _wanted(mechanism: Mechanism, t: Tables, poses: Mapping[str, Moving]) -> _Wanted:
    target, written = [], []
    for name in mechanism.bodies:
        if name == GROUND:
            continue
        body = mechanism.model.bodies[name]
        mass, root = _roots(body.mass, body.inertia)
        target += [*(mass * np.asarray(poses[name].v_WB)), *(root @ poses[name].w_WB_B)]
        written += [body.velocity is not None] * 3 + [body.angular_velocity is not None] * 3
    for name in mechanism.bends:
        rates = mechanism.model.bodies[name].flexible.start_speed
        target += (math.sqrt(t.flex_M[0]) * np.array(rates)).tolist()
        written += [False] * len(rates)  # weight keeps them, not a rank
    for _, _, m, speed, told in _rotors(mechanism):
        target.append(math.sqrt(m) * speed)
        written.append(told)
    return _Wanted(np.array(target), np.array(written, dtype=bool))


def _roots(mass: float, inertia: tuple[float, ...]) -> tuple[float, Array]:
    """r and R with r^2 = m and R^T R = J."""
    xx, yy, zz, xy, yz, zx = inertia
    J = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    values, axes = np.linalg.eigh(J)
    return math.sqrt(mass), np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T


def _rotors(mechanism: Mechanism) -> list[tuple[int, float, float, float, bool]]:
    """(coordinate, speed over its, inertia, start speed, whether that is written) of what turns
    with joints."""
    found: list[tuple[int, float, float, float, bool]] = []
    if mechanism.network is None:
        return found
    shafts = mechanism.network.shafts
    for k, mass in mechanism.network.masses.items():
        here = [s for s in shafts if s.kind == JOINT and s.place == k]
        known = [(c, m, speed, True) for s in here for c, m, speed in s.written]
        known += [(1.0, m, speed, False) for s in here for m, speed in s.guessed]
        found += [(k, *one) for one in known]
        rest = mass - sum(m * c * c for c, m, _, _ in known)
        if rest > 1e-12 * mass:
            found.append((k, 1.0, rest, 0.0, False))
    return found


def _velocities(
    mechanism: Mechanism, t: Tables, s: Scratch, y: Array, drive: Array
) -> tuple[Array, Array]:
    """Rates of the rows and weighted speeds of bodies and rotors at the state y."""
    closure(t, s, y.copy(), drive)
    told: list[float] = []
    for name, place in mechanism.bodies.items():
        if name == GROUND:
            continue
        body, work = mechanism.model.bodies[name], s.work[place.node]
        mass, root = _roots(body.mass, body.inertia)
        R_WN = work[W_R : W_R + 9].reshape(3, 3)
        w = work[W_W : W_W + 3]
        v = work[W_V : W_V + 3] + np.cross(w, R_WN @ place.p_NB)
        told += [*(mass * v), *(root @ (R_WN @ place.R_NB).T @ w)]
    for _, _, v, n in t.flexes:  # what couples modes with turns is left out
        told += (math.sqrt(t.flex_M[0]) * y[t.sizes[0] + v : t.sizes[0] + v + n]).tolist()
    told += [math.sqrt(m) * c * s.coordinate[k, 1] for k, c, m, _, _ in _rotors(mechanism)]
    return s.row_state[:, 1].copy(), np.array(told)
