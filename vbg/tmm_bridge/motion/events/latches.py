"""Joints that open and close at events, and the impulse that closing costs.

Behind the closing the rows of the joint hold with all others.  Impulses alone count within no
time, and friction that sticks has none: its rows are idle.  With K the mobility of the rows that
hold, K L = -r makes their rates r vanish, and the hinges' motion of least kinetic energy for
that is what L leaves behind.  The impulse grows from nothing to L while the rates fall from r to
nothing, so that the rows take up -L r / 2 = r K^-1 r / 2, which is lost; and drives, whose hinges
keep their speeds, bring in what the impulse asks of them.  Joints that close at one instant do so
in one impact: each after the other would make the speeds depend on rounding, which says which is
the first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vbg.solution import Event
from vbg.tmm_bridge.kernels.entries import closure, correction, row_impulses, section
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.program import PLAY_CHANGES
from vbg.tmm_bridge.kernels.rows import W_P
from vbg.tmm_bridge.mechanism.facing import turn_apart, way_apart
from vbg.tmm_bridge.mechanism.speeds import work_of_drives
from vbg.tmm_bridge.mechanism.start import model_size
from vbg.tmm_bridge.motion.events.read_impulses import together
from vbg.tmm_bridge.motion.events.sticking import frictions_switched
from vbg.tmm_bridge.motion.rate.instants import ALIKE, drives_from
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.witnesses import Closing, Witnesses
from vbg.tmm_bridge.onedim.laws.latch import ARMED, GRAIN, IMPULSE, LOST, MOMENT, Latch

MET = 1e-6  # of the mechanism's size, or [rad]: a smaller gap is none
ROUNDING = 1e-10  # of the largest that a condition was
SOON = 1e-6  # of a run: what grows through zero within it was not at rest there
TWICE = 2.0 ** np.arange(4)
POWER = 0.01  # of the order of a power: alike by less it is one
TURNS = 3  # of one joint at an instant: it closes, opens, and may close again later


class Apart(ArithmeticError):
    """A joint is to close whose frames are not together, but a `gap` apart."""

    def __init__(self, t: float, joint: str, gap: str):
        self.t, self.joint, self.gap = t, joint, gap
        super().__init__(f"t = {t}")


def switched(plant: Plant, t: float, y: Array, seen: Witnesses, *, first: bool) -> Array:
    """The state with the modes that hold from here on: of joints that open and close, which are
    `seen` to close, then of frictions.  Raises Apart."""
    network = plant.mechanism.network
    for turn in range(TURNS * len(network.latches) if network is not None else 0):
        changing = _changing(plant, t, y)
        if turn == 0 and (changing or first or _comes_to_rest(plant, t, y)):
            blurred = ALIKE * (plant.duration if first else abs(t))
            changing += _right_ahead(plant, t, y, changing, blurred)
        if not changing:
            break
        y = _changed(plant, t, y, changing, seen)
    return frictions_switched(plant, t, together(plant, t, y, first=first), first=first)


def _comes_to_rest(plant: Plant, t: float, y: Array) -> bool:
    """Whether a dry friction that slips has come to the end of it: where it holds from here on a
    condition on its speed stays what it has become, zero but for rounding."""
    network, own = plant.mechanism.network, plant.mechanism.size
    assert network is not None
    if not network.frictions:
        return False
    modes = y[[own + friction.mode for friction in network.frictions]]
    return bool(((modes != 0.0) & (modes * plant.grips(t, y)[:, 0] <= 0.0)).any())


def turned_at_start(plant: Plant, t: float, before: Array, after: Array) -> tuple[Event, ...]:
    """The events of joints that open or close where the run begins."""
    own, network = plant.mechanism.size, plant.mechanism.network
    latches = network.latches if network is not None else ()
    turned = (one for one in latches if before[own + one.mode] != after[own + one.mode])
    return tuple(Event(t, f"joints.{one.name}", "switches") for one in turned)


def _changed(plant: Plant, t: float, y: Array, changing: Sequence[Latch], seen: Witnesses) -> Array:
    """The state with these turned over, or armed.  Lost is what stops of those that open held, each
    its own, and in the impact of those that close, in equal shares."""
    y, own = y.copy(), plant.mechanism.size
    turning = [latch for latch in changing if y[own + latch.mode + ARMED] > 0.5]
    y[[own + latch.mode + ARMED for latch in changing]] = 1.0
    for latch in turning:
        held = _held(plant, t, y)
        y[own + latch.mode] = 1.0 - y[own + latch.mode]
        y[own + latch.mode + ARMED] = 1.0 - y[own + latch.mode]
        _lose(plant, y, [latch], held - _held(plant, t, y))
    closing = [latch for latch in turning if y[own + latch.mode] < 0.5]
    if not closing:
        return y
    network = plant.mechanism.network
    latches = network.latches if network is not None else ()
    opened = tuple(latch.name for latch in latches if y[own + latch.mode] > 0.5)
    closed = Closing(tuple(latch.name for latch in closing), opened)
    seen.close(closed, plant.inside(t), plant.loosened(y))
    return _struck(plant, t, y, closing)


def _held(plant: Plant, t: float, y: Array) -> float:
    """What springs and stops on coordinates hold [J]."""
    plant.evaluate(t, y)
    return float(plant.scratch.law[:, 2].sum())


def _lose(plant: Plant, y: Array, latches: Sequence[Latch], lost: float) -> None:
    """What these lose together, in place."""
    own = plant.mechanism.size
    y[own - 1] += lost
    y[[own + latch.mode + LOST for latch in latches]] += lost / len(latches)


def _changing(plant: Plant, t: float, y: Array) -> list[Latch]:
    """Those whose condition is beyond rounding; how large it was is kept in y."""
    own, changing = plant.mechanism.size, []
    for latch, value in _conditions(plant, t, y):
        grain = y[own + latch.mode + GRAIN]
        if value > 0.0:
            changing.append(latch)
        if not latch.timed:
            y[own + latch.mode + GRAIN] = max(grain, ROUNDING * abs(value + grain))
    return changing


def _right_ahead(
    plant: Plant, t: float, y: Array, changing: Sequence[Latch], blurred: float
) -> list[Latch]:
    """Others whose condition comes true at the same instant but for rounding, its own or that of
    the time, `blurred` [s]: it grows through zero within the next SOON of the run, by its rate,
    or where that leaves it what it is, by the change of the rate (a way from rest), or like a
    power of the time (the cube of a speed)."""
    later, rate = SOON * plant.duration, plant.rate(t, y)
    ahead = y + later * rate
    now, then = dict(_conditions(plant, t, y)), dict(_conditions(plant, t + later, ahead))
    if any(then[latch] == value for latch, value in now.items()):
        ahead = y + 0.5 * later * (rate + plant.rate(t + later, ahead))
        bent = dict(_conditions(plant, t + later, ahead))
        then |= {latch: bent[latch] for latch, value in now.items() if then[latch] == value}
    raw, found = y.copy(), []
    raw[[plant.mechanism.size + latch.mode + GRAIN for latch in now]] = 0.0
    further = [dict(_conditions(plant, t + k * later, raw + k * later * rate)) for k in TWICE]
    for latch, value in now.items():
        room = 2.0 * float(y[plant.mechanism.size + latch.mode + GRAIN])
        room += blurred * max(then[latch] - value, 0.0) / later
        grows = then[latch] > 0.0 or _is_power([one[latch] for one in further])
        if latch not in changing and -room <= value <= 0.0 and grows:
            found.append(latch)
    return found


def _is_power(values: Sequence[float]) -> bool:
    """Whether something grows like a power of the time in times each twice the one before: v^3
    or |v|^2.5 behind the end of v stays below what was rounding of it, but no rounding grows so."""
    if not min(values) > 0.0:
        return False
    order = np.diff(np.log2(values))
    return bool(order[0] > 0.5 and np.all(np.abs(order - order.mean()) < POWER))


def _conditions(plant: Plant, t: float, y: Array) -> list[tuple[Latch, float]]:
    """What of each joint grows through zero where its mode changes."""
    network = plant.mechanism.network
    assert network is not None
    plant.evaluate(t, y)
    section(plant.program, PLAY_CHANGES)
    told: Array = plant.program.memory[plant.program.changes]
    ends = np.cumsum([n for _, n, _ in network.changes])
    found = {name: told[end - 1] for (name, _, _), end in zip(network.changes, ends, strict=True)}
    return [(latch, float(found[f"joints.{latch.name}"])) for latch in network.latches]


def _struck(plant: Plant, t: float, y: Array, closing: Sequence[Latch]) -> Array:
    """The state behind the impact, the impulses among the states of the joints, in place."""
    mechanism, s, modes = plant.mechanism, plant.scratch, y
    y = plant.loosened(y)
    plant.evaluate(t, y)  # with the rows that hold now
    drive = drives_from(mechanism, plant.inside(t), t)
    closure(plant.tables, s, y, drive)
    for latch in closing:
        _require_met(plant, t, latch)
    s.limit[0] = -1
    change, lam = -s.row_state[:, 1].copy(), np.zeros(len(s.row_state))
    row_impulses(plant.tables, s, change, lam)
    _lose(plant, y, closing, 0.5 * float(change @ lam))
    own, n_q = mechanism.size, int(plant.tables.sizes[0])
    for latch in closing:
        force, moment = _of_joint(plant, latch, lam)
        y[own + latch.mode + IMPULSE :][:3] += force
        y[own + latch.mode + MOMENT :][:3] += moment
    step = np.zeros(int(plant.tables.sizes[1]))
    correction(plant.tables, s, change, step)
    before = y.copy()
    y[n_q : n_q + len(step)] += step
    y[own - 2] += work_of_drives(mechanism, plant.tables, before, y, drive, lam)
    return plant.restored(plant.project(t, y, jerk=np.inf), modes)


def _require_met(plant: Plant, t: float, latch: Latch) -> None:
    joint = plant.mechanism.cut[latch.name]
    way, turn = (apart(plant.tables, plant.scratch, joint) for apart in (way_apart, turn_apart))
    told = [f"{way:.3g} m"] if not way <= MET * model_size(plant.mechanism) else []
    told += [f"{turn:.3g} rad"] if not turn <= MET else []
    if told:
        raise Apart(t, latch.name, " and ".join(told))


def _of_joint(plant: Plant, latch: Latch, lam: Array) -> tuple[Array, Array]:
    """Impulse and its moment about M that the first body exerts on the second, W."""
    s, joint = plant.scratch, plant.mechanism.cut[latch.name]
    total, node, sign = np.zeros(6), -1, 1.0
    for row in joint.rows:
        place, sign = (0, 1.0) if s.row_nodes[row, 0] >= 0 else (1, -1.0)
        node = int(s.row_nodes[row, place])
        total += sign * lam[row] * s.row_wrench[row, place]
    arm = s.work[node, W_P : W_P + 3] - s.cut[joint.index, 21:24]
    return total[:3], total[3:] + np.cross(arm, total[:3])
