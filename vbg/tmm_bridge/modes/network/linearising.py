"""The network of a mechanism at an instant as an element of the transfer equation (`acting`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.formulas.tangent import computed_along
from vbg.tmm_bridge.kernels.entries import section
from vbg.tmm_bridge.kernels.motion.cuts import C_F, C_M, C_PM
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.program import (
    PLAY_BALANCE,
    PLAY_CHANGES,
    PLAY_FEEDS,
    PLAY_OUTPUTS,
    Program,
)
from vbg.tmm_bridge.kernels.rows import TURNING, VELOCITY, W_P, W_R
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_SECOND,
    COORDINATE_SLIDE,
    COORDINATE_TREE,
    LAW_INPUT,
    LOAD_FORCE,
    PAIR_INPUT,
    Scratch,
    Tables,
)
from vbg.tmm_bridge.modes.network.acting import Acting, Rows
from vbg.tmm_bridge.modes.posture.loads import load_axes
from vbg.tmm_bridge.modes.roots.decimal_form import Chain
from vbg.tmm_bridge.motion.rate.plant import Plant


@dataclass(frozen=True)
class Snapshot:
    """A network at an instant: its element, the values that it gives to inputs of the mechanism,
    rates of its states, what it tells by name and the slopes of that by the states."""

    acting: Acting
    fed: dict[int, float]
    rates: Array
    told: dict[str, float]
    told_by: Array


def snapshot(plant: Plant, y: Array, x: Array) -> Snapshot:
    """The network of the plant at the mechanism's state y and its own, x.

    Raises UsageError where a law has no slope, the balance decides no unknowns, states follow
    the turn of a body, or stores the accelerations of joints.
    """
    network, p, t = plant.mechanism.network, plant.program, plant.tables
    assert network is not None
    if len(p.asked):
        raise UsageError(
            f"{plant.mechanism.model.name}: what a raw store exerts follows accelerations of"
            " joints; vibration by transfer matrices reads positions and velocities."
        )
    plant.evaluate(0.0, np.concatenate([y, x]))
    section(p, PLAY_CHANGES)
    section(p, PLAY_OUTPUTS)
    left_out = {*network.discrete, network.works, network.works + 1}
    turned = {first + k for first, _ in network.attitudes for k in range(4)}
    states = np.array([k for k in range(len(x)) if k not in left_out | turned], dtype=np.int64)
    readings = list(_readings(plant.scratch, t, p))
    by = [*p.x[states], *p.z, *(place for place, _, _ in readings)]
    by += [int(p.x[k]) for k in sorted(turned)]
    by += [int(p.x[k]) for k in network.taps.values()]
    of = [*p.rates[states], *p.fed[:, 1], *p.outputs, *p.residual]
    J = _slopes(p, by, of)
    n, z, r = len(states), len(p.z), len(readings)
    rows = n + len(p.fed)
    J, balance = J[: len(J) - len(p.residual)], J[len(J) - len(p.residual) :]
    _require_slopes(plant, J[:rows], balance)
    if z:
        J = J - J[:, n : n + z] @ _unknowns(plant, balance[:, n : n + z], balance)
    last = n + z + r + len(turned)
    _require_no_turns(plant, J[:rows, n + z + r : last])
    reads, on = _gathered(readings), J[:, n + z : n + z + r]
    orders = np.array([order for _, _, order in readings], dtype=np.int64).reshape(-1)
    m, m1 = on * (orders == 0), on * (orders == 1)
    acts = _acts(plant.scratch, t, [int(k) for k in p.fed[:, 0]])
    names = [name for name, _, _ in network.outputs]
    told = slice(rows, rows + len(names))
    follows = np.abs(J[told, n + z + r : last]).max(axis=1, initial=0.0) == 0.0  # no body's turn
    firm = rows + np.flatnonzero(follows & np.isfinite(J[told]).all(axis=1))
    acting = Acting(
        reads=reads or _none(t),
        acts=acts,
        A=J[:n, :n],
        B=m[:n],
        B1=m1[:n],
        C=J[n:rows, :n],
        D=m[n:rows],
        D1=m1[n:rows],
        states=states,
        inputs=tuple(network.taps),
        B2=J[:n, last:],
        D2=J[n:rows, last:],
        chain=_chain(p, states, [int(place) for place, _, _ in readings], orders),
        told=tuple(names[k - rows] for k in firm),
        T=(J[firm, :n], m[firm], m1[firm], J[firm, last:]),
    )
    fed = {int(k): float(p.memory[place]) for k, place in p.fed}
    values = dict(zip(names, p.memory[p.outputs].tolist(), strict=False))
    return Snapshot(acting, fed, p.memory[p.rates[states]], values, J[told, :n])


def _require_slopes(plant: Plant, *of: Array) -> None:
    if not all(np.isfinite(slopes).all() for slopes in of):
        raise UsageError(
            f"{plant.mechanism.model.name}: a law of its one-dimensional parts has no slope at"
            " rest (a root at zero, a quotient by zero): there is no linear vibration."
        )


def _chain(p: Program, states: Array, reads: list[int], orders: Array) -> Chain:
    first, last = p.ends[PLAY_BALANCE], p.ends[PLAY_CHANGES + 1]
    assert PLAY_BALANCE < PLAY_FEEDS < PLAY_CHANGES
    return Chain(
        code=[tuple(map(int, row)) for row in p.code[first:last]],  # type: ignore[misc]
        memory=p.memory.copy(),
        curves=p.curves,
        states=p.x[states].tolist(),
        unknowns=p.z.tolist(),
        reads=reads,
        orders=orders,
        rates=p.rates[states].tolist(),
        fed=p.fed[:, 1].tolist(),
        residual=p.residual.tolist(),
    )


def _require_no_turns(plant: Plant, by_turns: Array) -> None:
    if np.abs(by_turns).max(initial=0.0) > 0.0:
        raise UsageError(
            f"{plant.mechanism.model.name}: a signal reads the rotation of a body; vibration by"
            " transfer matrices reads positions, velocities and angular velocities."
        )


def _unknowns(plant: Plant, by_unknowns: Array, balance: Array) -> Array:
    """How the unknowns of the balance follow what else it depends on, with the opposite sign."""
    try:
        return np.asarray(np.linalg.solve(by_unknowns, balance))
    except np.linalg.LinAlgError:
        raise UsageError(
            f"{plant.mechanism.model.name}: at rest nothing decides an unknown of its"
            " one-dimensional parts (a shut valve beside another, a diode that blocks): there is"
            " no linear vibration. Give them leakage, or the node a volume or a capacitor."
        ) from None


def _slopes(p: Program, by: list[int], of: list[int]) -> Array:
    """(of, by) along the balance and what follows from it, where they were just played; twice, as
    what is read before it is written settles in a second pass."""
    first, last = p.ends[PLAY_BALANCE], p.ends[PLAY_OUTPUTS + 1]
    once = [tuple(map(int, row)) for row in p.code[first:last]]
    assert PLAY_BALANCE < PLAY_FEEDS < PLAY_OUTPUTS
    seeds = {int(place): row for place, row in zip(by, np.eye(len(by)), strict=True)}
    found = computed_along([*once, *once], p.memory, p.curves, seeds)  # type: ignore[list-item]
    rows = [np.zeros(len(by)) + found.get(int(place), 0.0) for place in of]
    return np.array(rows).reshape(len(of), len(by))


Reading = tuple[int, Rows, int]  # place on the tape, the row, 1 for its rate


def _none(t: Tables) -> Rows:
    n, n_v = len(t.links), int(t.sizes[1])
    return Rows(np.zeros((0, n, 6)), np.zeros((0, n_v)))


def _row(t: Tables, on: dict[int, Array], gains: dict[int, float]) -> Rows:
    nodes, hinges = np.zeros((1, len(t.links), 6)), np.zeros((1, int(t.sizes[1])))
    for node, six in on.items():
        if node >= 0:
            nodes[0, node] += six
    for place, gain in gains.items():
        hinges[0, place] = gain
    return Rows(nodes, hinges)


def _gathered(readings: list[Reading]) -> Rows | None:
    if not readings:
        return None
    rows = [row for _, row, _ in readings]
    return Rows(
        np.concatenate([row.nodes for row in rows]), np.concatenate([row.hinges for row in rows])
    )


def _readings(s: Scratch, t: Tables, p: Program) -> Iterator[Reading]:
    """What the network reads, in the order of its motions."""
    for k, position, speed in p.joints:
        row = coordinate_row(s, t, int(k))
        yield int(position), row, 0
        yield int(speed), row, 1
    for (a, b, position, speed), points in zip(p.pairs, p.points, strict=True):
        row = _along(s, t, int(a), int(b), points)
        yield int(position), row, 0
        yield int(speed), row, 1
    for (node, what, first), frame in zip(p.sensors, p.frames, strict=True):
        R_WN = s.work[node, W_R : W_R + 9].reshape(3, 3) if node >= 0 else np.eye(3)
        for j in range(3):
            if what == TURNING:
                axis = R_WN @ frame[3:12].reshape(3, 3)[:, j]
                six = np.concatenate([np.zeros(3), axis])
            else:
                six = _at_point(s, int(node), frame[:3], np.eye(3)[j])
            yield int(first) + j, _row(t, {int(node): six}, {}), int(what in (TURNING, VELOCITY))


def _at_point(s: Scratch, node: int, point: Array, direction: Array) -> Array:
    """(6,): motion of a point of the node along a direction, W."""
    R_WN = s.work[node, W_R : W_R + 9].reshape(3, 3) if node >= 0 else np.eye(3)
    return np.concatenate([direction, np.cross(R_WN @ point, direction)])


def coordinate_row(s: Scratch, t: Tables, k: int) -> Rows:
    """Motion of a joint coordinate, in the tree or measured across a cut joint."""
    kind, cut, _, v = (int(one) for one in t.coordinates[k])
    if kind == COORDINATE_TREE:
        return _row(t, {}, {v: 1.0})
    c, on = s.cut[cut], {}
    axis = c[C_M + 6 : C_M + 9] if kind == COORDINATE_SECOND else c[C_F + 6 : C_F + 9]
    for node, sign in zip((int(i) for i in t.cuts[cut]), (-1.0, 1.0), strict=True):
        if node < 0:
            continue
        if kind == COORDINATE_SLIDE:
            arm = c[C_PM : C_PM + 3] - s.work[node, W_P : W_P + 3]
            on[node] = sign * np.concatenate([axis, np.cross(arm, axis)])
        else:
            on[node] = sign * np.concatenate([np.zeros(3), axis])
    return _row(t, on, {})


def _along(s: Scratch, t: Tables, a: int, b: int, points: Array) -> Rows:
    """Growth of the distance of two points."""
    ends = []
    for node, point in ((a, points[:3]), (b, points[3:6])):
        origin = s.work[node, W_P : W_P + 3] if node >= 0 else np.zeros(3)
        R_WN = s.work[node, W_R : W_R + 9].reshape(3, 3) if node >= 0 else np.eye(3)
        ends.append(origin + R_WN @ point)
    across = ends[1] - ends[0]
    u = across / np.linalg.norm(across)
    on: dict[int, Array] = {}
    for node, point, sign in ((a, points[:3], -1.0), (b, points[3:6], 1.0)):
        if node >= 0:
            on[node] = on.get(node, np.zeros(6)) + sign * _at_point(s, node, point, u)
    return _row(t, on, {})


def _acts(s: Scratch, t: Tables, fed: list[int]) -> Rows:
    """Along which motions the inputs of the mechanism that the network gives do work."""
    rows = []
    for place in fed:
        nodes, hinges = np.zeros((1, len(t.links), 6)), np.zeros((1, int(t.sizes[1])))
        for row, sign in _moved_by(s, t, place):
            nodes, hinges = nodes + sign * row.nodes, hinges + sign * row.hinges
        rows.append((place, Rows(nodes, hinges), 0))
    return _gathered(rows) or _none(t)


def _moved_by(s: Scratch, t: Tables, place: int) -> Iterator[tuple[Rows, float]]:
    """Of one input: what it acts along."""
    for law, coordinate, given in t.laws:
        if law == LAW_INPUT and given == place:
            yield coordinate_row(s, t, int(coordinate)), 1.0
    for (law, a, b, given), points in zip(t.pairs, t.pair, strict=True):
        if law == PAIR_INPUT and given == place:
            yield _along(s, t, int(a), int(b), points[:6]), -1.0
    for n, (kind, node, *given) in enumerate(t.loads):
        for j, one in enumerate(given):
            if one != place or node < 0:
                continue
            axis = load_axes(t, s, n)[:, j]
            six = _at_point(s, int(node), t.load[n, :3], axis)
            if kind != LOAD_FORCE:
                six = np.concatenate([np.zeros(3), axis])
            yield _row(t, {int(node): six}, {}), 1.0
