"""MS-DT-TMM: the discrete-time transfer matrix method, state vectors in positions.

At t_(n+1) the displacements dx and small rotations dtheta from a predicted
posture are unknown, z = [dx, dtheta, m, q, 1].  Houbolt's step makes every
acceleration affine in them (x'' = A x + B),

    x''  = (2 x_(n+1) - 5 x_n + 4 x_(n-1) - x_(n-2)) / h^2,
    x'   = (11 x_(n+1) - 18 x_n + 9 x_(n-1) - 2 x_(n-2)) / (6 h),

for a mass centre directly, for a rotation through psi = log(R^T R_k), the past
seen from the predicted posture: there w = psi', alpha = psi''.  The elements so
linearised are passed through the same Riccati transform as the accelerations
are, with the cut efforts as further right-hand sides.  Second order in h; the
linearisation is about a third-order prediction.

J. C. Houbolt, J. Aeronaut. Sci. 17 (1950) 540; Rui et al., mstmmsim.txt.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from vbg.model import Model
from vbg.solution import Audit, MadeBy, Solution, Status
from vbg.tmm_bridge.channels import Record, signals
from vbg.tmm_bridge.layout import lay_out
from vbg.tmm_bridge.mechanism import Mechanism
from vbg.tmm_bridge.motion import integrate, output_grid
from vbg.tmm_bridge.overall import cross_matrix, hinge_column, loads_of_bodies
from vbg.tmm_bridge.rotation import Array, symmetric_matrix
from vbg.tmm_bridge.rows import (
    BALL,
    LINK_COM,
    LINK_DRIVEN,
    LINK_J,
    LINK_KIND,
    LINK_MASS,
    LINK_PARENT,
    LINK_Q,
    LINK_V,
    RIGID,
    W_ACC,
    W_ALPHA,
    W_ARM,
    W_FORCE,
    W_MOMENT,
    W_P,
    W_R,
)
from vbg.tmm_bridge.start import Pose, displace, drive_rates, start
from vbg.tmm_bridge.tables import ROW_ROLL, Scratch, Tables

STEP = 1e-3  # [s], unless the output step is shorter
SECOND = np.array([2.0, -5.0, 4.0, -1.0])
FIRST = np.array([11.0, -18.0, 9.0, -2.0]) / 6.0
PREDICTION = np.array([3.0, -3.0, 1.0])


def rotation_log(R: Array) -> Array:
    """Rotation vector of R, less than half a turn."""
    skew = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = float(np.linalg.norm(skew))
    angle = float(np.arctan2(sine, 0.5 * (np.trace(R) - 1.0)))
    logarithm: Array = skew * (1.0 + angle**2 / 6.0 if sine < 1e-8 else angle / sine)
    return logarithm


@dataclass
class _Past:
    """The last three steps, newest first: states, mass centres (n, 3), rotations (n, 3, 3)."""

    states: list[Array] = field(default_factory=list)
    centres: list[Array] = field(default_factory=list)
    rotations: list[Array] = field(default_factory=list)

    def add(self, t: Tables, s: Scratch, y: Array) -> None:
        """Remember a posture that is in the workspace."""
        R = s.work[:, W_R : W_R + 9].reshape(-1, 3, 3).copy()
        c = np.einsum("nij,nj->ni", R, t.link[:, LINK_COM : LINK_COM + 3])
        for series, value in (
            (self.states, y.copy()),
            (self.centres, s.work[:, W_P : W_P + 3] + c),
            (self.rotations, R),
        ):
            series.insert(0, value)
            del series[3:]


@dataclass(frozen=True)
class _Step:
    """What one step found: state, motion and forces of every node, cut efforts."""

    y: Array
    acceleration: Array
    alpha: Array
    force: Array
    moment: Array
    effort: Array


def predicted(mechanism: Mechanism, past: _Past, h: float) -> Array:
    """State at the next step by extrapolation of the last three, third order."""
    t = mechanism.tables
    n_q = int(t.sizes[0])
    y = past.states[0].copy()
    for kind, q, v in t.links[:, [LINK_KIND, LINK_Q, LINK_V]]:
        if kind == BALL:
            new, old = (
                _turn(past.states[k + 1][q : q + 4], past.states[k][q : q + 4]) for k in (0, 1)
            )
            step = np.zeros(int(t.sizes[1]))
            step[v : v + 3] = 2.0 * new - old
            y[q : q + 4] = displace(t, past.states[0], step)[q : q + 4]
        elif kind != RIGID:
            y[q] = PREDICTION @ [state[q] for state in past.states]
    y[n_q : n_q + int(t.sizes[1])] = speeds_at(mechanism, past, y, h)
    return y


def speeds_at(mechanism: Mechanism, past: _Past, y: Array, h: float) -> Array:
    """Hinge speeds at y by Houbolt's formula; a ball's in its node's axes."""
    t = mechanism.tables
    speeds = np.zeros(int(t.sizes[1]))
    for kind, q, v in t.links[:, [LINK_KIND, LINK_Q, LINK_V]]:
        if kind == BALL:
            turns = [_turn(y[q : q + 4], state[q : q + 4]) for state in past.states]
            speeds[v : v + 3] = FIRST[1:] @ np.array(turns) / h
        elif kind != RIGID:
            speeds[v] = FIRST @ [y[q], *(state[q] for state in past.states)] / h
    return speeds


def _turn(a: Array, b: Array) -> Array:
    """Rotation vector of quaternion b seen from quaternion a, in a's axes."""
    w = a @ b
    xyz = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    if w < 0.0:
        w, xyz = -w, -xyz
    sine = float(np.linalg.norm(xyz))
    turn: Array = xyz * (2.0 if sine < 1e-9 else 2.0 * np.arctan2(sine, w) / sine)
    return turn


def body_block(t: Tables, s: Scratch, past: _Past, i: int, h: float) -> tuple[Array, Array]:
    """S (6, 6) and e (6,) of [q; m] = S [dx; dtheta] + e of the body on node i alone."""
    mass = t.link[i, LINK_MASS]
    if mass == 0.0:
        return np.zeros((6, 6)), np.zeros(6)
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    J = symmetric_matrix(t.link[i, LINK_J : LINK_J + 6])
    c = R @ t.link[i, LINK_COM : LINK_COM + 3]
    a, alpha, w = body_motion(t, s, past, i, h)
    torque = J @ alpha + np.cross(w, J @ w)
    gyro = cross_matrix(w) @ J - cross_matrix(J @ w)
    on_theta = R @ (SECOND[0] / h**2 * J + FIRST[0] / h * gyro) @ R.T - cross_matrix(R @ torque)
    com = np.hstack([np.eye(3), -cross_matrix(c)])
    S = np.zeros((6, 6))
    S[:3] = mass * SECOND[0] / h**2 * com
    S[3:] = cross_matrix(c) @ S[:3]
    S[3:, 3:] += on_theta
    return S, np.concatenate([mass * a, mass * np.cross(c, a) + R @ torque])


def body_motion(t: Tables, s: Scratch, past: _Past, i: int, h: float) -> tuple[Array, Array, Array]:
    """Acceleration of the mass centre (W), alpha and w (node's axes) at the posture in s."""
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    x = s.work[i, W_P : W_P + 3] + R @ t.link[i, LINK_COM : LINK_COM + 3]
    a = SECOND @ np.array([x, *(centre[i] for centre in past.centres)]) / h**2
    psi = np.array([rotation_log(R.T @ rotation[i]) for rotation in past.rotations])
    return a, SECOND[1:] @ psi / h**2, FIRST[1:] @ psi / h


@dataclass
class _Pass:
    """Riccati transform of one step: S (n, 6, 6), e (n, 6, 1 + m), hinge solutions."""

    S: Array
    e: Array
    gain: list[Array]
    offset: list[Array]


def take_step(mechanism: Mechanism, past: _Past, time: float, h: float) -> _Step:
    """One step from the last three postures to `time`."""
    t = mechanism.tables
    y = predicted(mechanism, past, h)
    drive = drive_rates(mechanism, time)
    for (v, q), rates in zip(t.drives, drive, strict=True):
        if v >= 0:
            y[q] = rates[0]
    s, loads = loads_of_bodies(mechanism, y, time)
    n, m = len(t.links), len(t.rows)
    work = _Pass(np.zeros((n, 6, 6)), np.zeros((n, 6, 1 + m)), [TIPLESS] * n, [TIPLESS] * n)
    for i in range(n):
        work.S[i], work.e[i, :, 0] = body_block(t, s, past, i, h)
        work.e[i, :, 0] += loads[i]
    for r in range(m):
        for place in range(4):
            if s.row_nodes[r, place] >= 0:
                work.e[s.row_nodes[r, place], :, 1 + r] -= s.row_wrench[r, place]
    carried_S, carried_e = work.S.copy(), work.e.copy()
    _towards_root(t, s, carried_S, carried_e, work)
    delta, hinges = _towards_tips(t, s, work)
    effort = _closing(t, s, delta, hinges, h) if m else np.zeros(0)
    one = np.concatenate([[1.0], effort])
    force = np.einsum("nij,njk,k->ni", carried_S, delta, one) + carried_e @ one
    new = displace(t, y, hinges @ one)
    return _finished(mechanism, past, new, force, effort, time, h)


TIPLESS = np.zeros((0, 0))


def _hinge_loads(t: Tables, s: Scratch, i: int, m: int) -> Array:
    """Efforts along the hinge's columns, (f, 1 + m): of parts, and per unit cut effort."""
    v = int(t.links[i, LINK_V])
    f = {BALL: 3, RIGID: 0}.get(int(t.links[i, LINK_KIND]), 1)
    loads = np.zeros((f, 1 + m))
    if f == 0 or t.links[i, LINK_DRIVEN] == 1:
        return loads[:0]
    loads[:, 0] = s.tau[v : v + f]
    for r in range(m):
        for place in range(2):
            if s.row_v[r, place] == v:
                loads[0, 1 + r] += s.row_gain[r, place]
    return loads


def _towards_root(t: Tables, s: Scratch, S: Array, e: Array, work: _Pass) -> None:
    """Eliminate every hinge; S and e accumulate, node by node, what hangs on it."""
    m = e.shape[2] - 1
    for i in range(len(t.links) - 1, -1, -1):
        loads = _hinge_loads(t, s, i, m)
        passed_S, passed_e = S[i], e[i]
        if len(loads):
            h = hinge_column(t, s, i)
            inverse = np.linalg.inv(h.T @ S[i] @ h)
            # dq = offset - gain @ [dx; dtheta] of the parent, brought here.
            work.gain[i] = inverse @ h.T @ S[i]
            work.offset[i] = inverse @ (loads - h.T @ e[i])
            passed_S = S[i] - S[i] @ h @ work.gain[i]
            passed_e = e[i] + S[i] @ h @ work.offset[i]
        else:
            work.gain[i], work.offset[i] = np.zeros((0, 6)), np.zeros((0, 1 + m))
        p = t.links[i, LINK_PARENT]
        if p >= 0:
            X = shift(s.work[i, W_ARM : W_ARM + 3])
            S[p] += X.T @ passed_S @ X
            e[p] += X.T @ passed_e


def shift(r: Array) -> Array:
    """[dx; dtheta] at the parent's origin to the same rigid motion at the arm r."""
    X = np.eye(6)
    X[:3, 3:] = -cross_matrix(r)
    return X


def _towards_tips(t: Tables, s: Scratch, work: _Pass) -> tuple[Array, Array]:
    """Displacements (n, 6, 1 + m) of the nodes and (n_v, 1 + m) of the hinges."""
    n, m = len(t.links), work.e.shape[2] - 1
    delta = np.zeros((n, 6, 1 + m))
    hinges = np.zeros((int(t.sizes[1]), 1 + m))
    for i in range(n):
        p, v = t.links[i, LINK_PARENT], int(t.links[i, LINK_V])
        if p >= 0:
            delta[i] = shift(s.work[i, W_ARM : W_ARM + 3]) @ delta[p]
        if len(work.offset[i]):
            dq = work.offset[i] - work.gain[i] @ delta[i]
            hinges[v : v + len(dq)] = dq
            delta[i] = delta[i] + hinge_column(t, s, i) @ dq
    return delta, hinges


def _closing(t: Tables, s: Scratch, delta: Array, hinges: Array, h: float) -> Array:
    """Cut efforts that close the loops: gap + G [dx; dtheta] = 0.

    Rows without a position (rolling) close in speed, u + 11/(6 h) G d = 0.
    """
    m = len(t.rows)
    G = np.zeros((m, 1 + m))
    for r in range(m):
        for place in range(4):
            if s.row_nodes[r, place] >= 0:
                G[r] += s.row_wrench[r, place] @ delta[s.row_nodes[r, place]]
        for place in range(2):
            if s.row_v[r, place] >= 0:
                G[r] += s.row_gain[r, place] * hinges[s.row_v[r, place]]
        rolls = t.rows[r, 0] == ROW_ROLL
        G[r, 0] += s.row_state[r, 1] * h / FIRST[0] if rolls else s.row_state[r, 0]
    K = G[:, 1:]
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(K)), 1e-300))
    scaled = scale[:, None] * K * scale[None, :]
    found: Array = scale * np.linalg.lstsq(scaled, -scale * G[:, 0], rcond=1e-10)[0]
    return found


def _finished(
    mechanism: Mechanism,
    past: _Past,
    y: Array,
    force: Array,
    effort: Array,
    time: float,
    h: float,
) -> _Step:
    """The corrected posture with its speeds and accelerations by the same formulas."""
    t = mechanism.tables
    n_q, n_v = int(t.sizes[0]), int(t.sizes[1])
    y[n_q : n_q + n_v] = speeds_at(mechanism, past, y, h)
    s, _ = loads_of_bodies(mechanism, y, time)
    a, alpha = np.zeros((len(t.links), 3)), np.zeros((len(t.links), 3))
    for i in range(len(t.links)):
        R = s.work[i, W_R : W_R + 9].reshape(3, 3)
        a_com, alpha_N, w_N = body_motion(t, s, past, i, h)
        c, w = R @ t.link[i, LINK_COM : LINK_COM + 3], R @ w_N
        alpha[i] = R @ alpha_N
        a[i] = a_com - np.cross(alpha[i], c) - np.cross(w, np.cross(w, c))
    past.add(t, s, y)
    return _Step(y, a, alpha, force[:, :3], force[:, 3:], effort)


def simulate(
    model: Model,
    *,
    t_end: float | None = None,
    output_step: float | None = None,
    step: float | None = None,
    progress: Callable[[float, float], bool | None] | None = None,
    poses: Mapping[str, Pose] | None = None,
) -> Solution:
    """Motion and joint forces by the discrete-time method at a fixed step [s].

    The step is the largest part of the output step that is not above `step`
    (default 1e-3 s).  The first two steps come from the Riccati solver.
    """
    begun = clock.process_time()
    grid = output_grid(
        model.simulate.t_end if t_end is None else t_end,
        model.simulate.output_step if output_step is None else output_step,
    )
    spacing = float(grid[1] - grid[0])
    every = int(np.ceil(spacing / (STEP if step is None else step) - 1e-9))
    h = spacing / every
    mechanism = lay_out(model)
    first = integrate(mechanism, start(mechanism, poses).y, np.arange(3) * h, 1e-12, 1e-14)
    records, status = _march(mechanism, first.states, grid, every, h, progress)
    named, units = {}, {}
    record = _stacked(mechanism, records)
    for name, values, unit in signals(mechanism, record):
        if not name.startswith("energy."):
            named[name], units[name] = values, unit
    made_by = MadeBy(
        solver="tmm_bridge.discrete",
        model=model.name,
        model_hash=model.hash,
        method=f"ms-dt-tmm, houbolt, h = {h:.6g} s",
        n_steps=(len(records) - 1) * every,
        cpu=clock.process_time() - begun,
    )
    audit = Audit(position_residual=float(named["residual.position"].max(initial=0.0)))
    return Solution(record.time, named, audit, made_by, status, units)


def _march(
    mechanism: Mechanism,
    states: Array,
    grid: Array,
    every: int,
    h: float,
    progress: Callable[[float, float], bool | None] | None,
) -> tuple[list[tuple[float, _Step | Array]], Status]:
    """Steps to the end of the grid; keeps those at output times (states before the first)."""
    past = _Past()
    kept: list[tuple[float, _Step | Array]] = []
    total = round(float(grid[-1] - grid[0]) / h)
    for k in range(total + 1):
        time = k * h
        found: _Step | Array
        if k < 3:
            found = states[k]
            s, _ = loads_of_bodies(mechanism, states[k], time)
            past.add(mechanism.tables, s, states[k])
        else:
            found = take_step(mechanism, past, time, h)
            if not np.isfinite(found.y).all():
                why = f"The discrete-time method diverged at t = {time:.6g} s."
                return kept, Status("failed", why, "Take a shorter step.")
        if k % every == 0:
            kept.append((time, found))
        if progress is not None and progress(k / total, time) is False:
            return kept, Status("cancelled", f"The run was cancelled at {time:.6g} s.")
    return kept, Status("finished", "The simulation reached its end.")


def _stacked(mechanism: Mechanism, records: list[tuple[float, _Step | Array]]) -> Record:
    """Workspaces at the output times with the step's own motion and forces in them."""
    from vbg.tmm_bridge.channels import replay
    from vbg.tmm_bridge.motion import Trajectory

    states = np.array([r if isinstance(r, np.ndarray) else r.y for _, r in records])
    times = np.array([time for time, _ in records])
    trajectory = Trajectory(times, states, (), 0, 0, Status("finished", ""))
    record = replay(mechanism, trajectory)
    work, effort = record.work.copy(), record.effort.copy()
    for k, (_, found) in enumerate(records):
        if isinstance(found, np.ndarray):
            continue
        work[k, :, W_ACC : W_ACC + 3] = found.acceleration
        work[k, :, W_ALPHA : W_ALPHA + 3] = found.alpha
        work[k, :, W_FORCE : W_FORCE + 3] = found.force
        work[k, :, W_MOMENT : W_MOMENT + 3] = found.moment
        effort[k] = found.effort
    values = {name: getattr(record, name) for name in Record.__dataclass_fields__}
    return Record(**{**values, "work": work, "effort": effort})
