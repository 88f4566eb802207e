"""A run by an engine: the tree's dynamics are the engine's, loops are closed by multipliers.

    M a + h = efforts + Jᵀ l,    J a = -drift,    drives: a = f''(t),    gears: a2 = ratio a1

with the smallest l where joints are redundant.  The wrench in a joint of the tree is what the
bodies beyond it need, by Newton and Euler from the engine's accelerations, less what acts on
the joint's coordinate besides its drive.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from vbg.engines.acting.loads import acts_of, couplings_of, require_known
from vbg.engines.acting.sums import Acting
from vbg.engines.drake import DrakeTree
from vbg.engines.exudyn import ExudynTree
from vbg.engines.machine import COORDINATES, GROUND, Branch, Ends, Machine, machine_of
from vbg.engines.mujoco import MuJoCoTree
from vbg.engines.pinocchio import PinocchioTree
from vbg.engines.pose import Array, of_quaternion, to_quaternions
from vbg.engines.releases import next_release, opened_at_start, pressed, releases_of
from vbg.engines.rotors import rotors_of
from vbg.engines.rows import Row, coordinates_of, rows_of, thread_of
from vbg.engines.trees import Begin, Seen, Tree, starts_of
from vbg.errors import UsageError
from vbg.junctions.latch import opens
from vbg.model import Model
from vbg.solution import FINISHED, Audit, Event, MadeBy, Solution, Status, with_values
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.formulas.written import function_of

TREES: Mapping[str, Callable[[Machine], Tree]] = {
    "pinocchio": PinocchioTree,
    "mujoco": MuJoCoTree,
    "exudyn": ExudynTree,
    "drake": DrakeTree,
}
Progress = Callable[[float, float], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The motion at one instant: accelerations, row efforts, and what acts."""

    seen: Seen
    a: Array
    rows: tuple[Row, ...]
    efforts: Array  # of the rows, then drives, then couplings
    sums: Acting


class Plant:
    """A machine in an engine, with everything that acts on it."""

    def __init__(
        self,
        model: Model,
        engine: str,
        replays: Mapping[str, TimeFunction],
        lost: Mapping[str, float] = MappingProxyType({}),
    ):
        require_known(model, replays)
        opened = frozenset(lost)  # joints that are open, and what was lost in them [J]
        self.model, self.machine = model, machine_of(model, opened)
        self.releases, self.lost = releases_of(model, opened), dict(lost)
        self.tree = TREES[engine](self.machine)
        self.places = dict(self._places())
        self.felt = np.zeros(self.tree.nv)  # inertia of rotors behind gears, at the joints
        for rotor in rotors_of(model):
            self.felt[self.places[f"{rotor.joint}.angle"]] += rotor.felt
        self.acts = acts_of(model, self.places, replays, opened)
        self.couplings = couplings_of(model, self.places)
        self.drives = [
            (name, self._place_of_drive(name), function_of(model, part.drive))
            for name, part in model.joints.items()
            if getattr(part, "drive", None) is not None
        ]
        self.screws = [
            self.machine.joints[b.joint]
            for b in self.machine.branches
            if b.joint and self.machine.joints[b.joint].kind == "helical"
        ]

    def _place_of_drive(self, name: str) -> int:
        kind = self.machine.joints[name].kind
        return self.places[f"{name}.{'slide' if kind == 'prismatic' else 'angle'}"]

    def _places(self) -> Any:
        for branch in self.machine.branches:
            ends = self.machine.joints.get(branch.joint)
            if ends is None or ends.kind not in COORDINATES:
                continue
            names = [value for value, _ in COORDINATES[ends.kind]]
            if ends.kind == "universal" and branch.parent == ends.second:
                names.reverse()
            for k, name in enumerate(names):
                yield f"{ends.name}.{name}", self.tree.place_of(branch.body, k)

    def at(self, t: float, q: Array, v: Array) -> Found:
        """Accelerations and efforts there."""
        seen, values, sums = self.tree.see(q, v), self.tree.values(q), Acting()
        for act in self.acts:
            act(t, seen.bodies, values, v, sums)
        tau, M = -seen.h, seen.M + np.diag(self.felt)
        for body, (force, torque) in sums.wrenches.items():
            tau = tau + seen.bodies[body].jacobian.T @ np.concatenate((force, torque))
        for place, effort in sums.efforts.items():
            tau[place] += effort
        rows = [row for ends in self.machine.cuts for row in rows_of(ends, seen.bodies)]
        rows += [thread_of(ends, seen.bodies) for ends in self.screws]
        jacobian = [row.jacobian for row in rows]
        wanted = [-row.drift for row in rows]
        for _, place, function in self.drives:
            jacobian.append(np.eye(len(v))[place])
            wanted.append(function.rates(t)[2])
        for _, first, second, ratio in self.couplings:
            jacobian.append(np.eye(len(v))[second] - ratio * np.eye(len(v))[first])
            wanted.append(0.0)
        if not jacobian:
            return self._found(seen, np.linalg.solve(M, tau), (), np.zeros(0), sums)
        J = np.array(jacobian)
        free, spread = np.split(np.linalg.solve(M, np.column_stack((tau, J.T))), [1], axis=1)
        missing = np.array(wanted) - J @ free[:, 0]
        efforts = np.linalg.lstsq(J @ spread, missing, rcond=1e-11)[0]
        return self._found(seen, free[:, 0] + spread @ efforts, tuple(rows), efforts, sums)

    def _found(
        self, seen: Seen, a: Array, rows: tuple[Row, ...], efforts: Array, sums: Acting
    ) -> Found:
        """With what rotors ask of their joints."""
        for place in np.flatnonzero(self.felt):
            sums.turn(int(place), -float(self.felt[place] * a[place]))
        return Found(seen, a, rows, efforts, sums)


def simulate(
    model: Model,
    begin: Begin,
    *,
    engine: str,
    t_end: float | None = None,
    output_step: float | None = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    progress: Progress | None = None,
    replays: Mapping[str, TimeFunction] | None = None,
) -> Solution:
    """Motion and joint forces of a mechanism by `engine`, from `begin`: the signals of the first
    instant by name, as a Solution has them (joint coordinates, where there are some).

    Raises UsageError for an engine that is not installed and for parts that it cannot express.
    """
    if engine not in TREES:
        raise UsageError(f"there is no engine {engine!r} among {', '.join(TREES)}.")
    begun, lost, s = clock.process_time(), opened_at_start(model, begin), model.simulate
    t_end = s.t_end if t_end is None else t_end
    step = s.output_step if output_step is None else output_step
    grid = np.append(np.arange(0.0, t_end * (1 - 1e-12), step), t_end)
    pieces: list[Piece] = []
    t = 0.0
    while not pieces or pieces[-1].trajectory.opens:
        plant = Plant(model, engine, replays or {}, lost)
        if not plant.tree.nv:
            raise UsageError("nothing can move: the engines have no motion to find.")
        left = grid[sum(len(piece.trajectory.times) for piece in pieces) :]
        pieces.append(_piece(plant, begin, t, left, (rtol, atol), progress))
        t, begin, joint = pieces[-1].trajectory.end, pieces[-1].last, pieces[-1].trajectory.opens
        lost |= {joint: pressed(model, joint, begin)} if joint else {}
    trajectories = [piece.trajectory for piece in pieces]
    signals, units = _joined(pieces)
    made_by = MadeBy(
        solver=engine,
        model=model.name,
        model_hash=model.hash,
        method=f"{engine} {plant.tree.version}, multipliers, dop853",
        rtol=rtol,
        atol=atol,
        versions={engine: plant.tree.version, "numpy": np.__version__},
        n_steps=sum(one.n_steps for one in trajectories),
        n_rates=sum(one.n_rates for one in trajectories),
        cpu=clock.process_time() - begun,
    )
    events = tuple(Event(one.end, one.opens, "opens") for one in trajectories if one.opens)
    audit = Audit(position_residual=max(piece.gap for piece in pieces), events=events)
    times, status = np.concatenate([one.times for one in trajectories]), trajectories[-1].status
    return with_values(Solution(times, signals, audit, made_by, status, units))


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """States at the output times that were reached, how the run ended and where, and the joint
    that opens there, "" for none."""

    times: Array
    states: Array
    n_steps: int
    n_rates: int
    status: Status
    end: float
    last: Array
    opens: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The run between two releases: its signals, the largest gap, the signals at its end."""

    trajectory: Trajectory
    signals: Mapping[str, Array]
    units: Mapping[str, str]
    gap: float
    last: Begin


def _piece(
    plant: Plant,
    begin: Begin,
    t: float,
    grid: Array,
    tolerances: tuple[float, float],
    progress: Progress | None,
) -> Piece:
    q, v = plant.tree.begin(starts_of(plant.machine, begin))
    found = _integrated(plant, t, np.concatenate((q, v)), grid, tolerances, progress)
    signals, units, gap = _signals(plant, found.times, found.states, len(q), begin)
    end = _signals(plant, np.array([found.end]), found.last[None], len(q), begin)[0]
    return Piece(found, signals, units, gap, {name: value[0] for name, value in end.items()})


def _joined(pieces: list[Piece]) -> tuple[dict[str, Array], dict[str, str]]:
    """Signals one behind the other."""
    first, told = pieces[0], [piece for piece in pieces if len(piece.trajectory.times)]
    signals = {name: np.concatenate([p.signals[name] for p in told]) for name in told[0].signals}
    return signals, dict(first.units)


def _integrated(
    plant: Plant,
    t: float,
    x: Array,
    grid: Array,
    tolerances: tuple[float, float],
    progress: Progress | None,
) -> Trajectory:
    n, (rtol, atol) = plant.tree.nq, tolerances

    def rate(t: float, x: Array) -> Array:
        q, v = x[:n], x[n:]
        return np.concatenate((plant.tree.rate(q, v), plant.at(t, q, v).a))

    run = DOP853(rate, t, x, float(grid[-1]), rtol=rtol, atol=atol)
    states: list[Array] = [x] if grid[0] <= t else []
    steps, status, opens = 0, FINISHED, ""
    while run.status == "running" and not opens:
        message = run.step()
        if run.status == "failed":
            status = Status("failed", f"{message} at t = {run.t:.6g} s.", "Loosen rtol.")
            break
        steps += 1
        between = run.dense_output()

        def row(at: float, between: Any = between) -> dict[str, Any]:
            x = between(at)
            return _row(plant, plant.at(at, x[:n], x[n:]), x[:n], x[n:])

        t, opens = next_release(plant.releases, run.t_old, run.t, row)
        behind = grid[len(states) :]
        due = behind[behind < t] if opens else behind[behind <= t]
        states += [between(at) for at in due]
        x = between(t)
        if progress is not None and not progress(run.t / grid[-1], run.t):
            status = Status("cancelled", f"The run was ended at t = {run.t:.6g} s.")
            break
    count = len(states)
    states_found = np.array(states).reshape(count, len(x))
    return Trajectory(grid[:count], states_found, steps, run.nfev, status, t, x, opens)


def _unwound(angle: Array, first: Array | None) -> Array:
    """An angle that was measured within half a turn, over whole turns from its first value."""
    found = np.unwrap(angle)
    if first is None or not len(found):
        return found
    turns = np.round((float(np.ravel(first)[0]) - found[0]) / (2.0 * np.pi))
    return np.asarray(found + 2.0 * np.pi * turns)


def _signals(
    plant: Plant, times: Array, states: Array, n: int, begin: Begin
) -> tuple[dict[str, Array], dict[str, str], float]:
    """Signals over time, their units, and the largest gap of a loop."""
    columns: dict[str, list[Any]] = {}
    gap = 0.0
    for t, x in zip(times, states, strict=True):
        found = plant.at(t, x[:n], x[n:])
        gap = max([gap, *(abs(row.gap) for row in found.rows)])
        for name, value in _row(plant, found, x[:n], x[n:]).items():
            columns.setdefault(name, []).append(value)
    signals = {name: np.array(values) for name, values in columns.items()}
    for ends in (*plant.machine.cuts, *plant.machine.opened):
        for value in (f"{ends.name}.angle", f"{ends.name}.angle2"):
            if value in signals:
                signals[value] = _unwound(signals[value], begin.get(value))
    turning = (*plant.model.bodies, *plant.model.frames)
    for name in [name for name in turning if f"{name}.rotation" in signals]:
        signals[f"{name}.rotation"] = to_quaternions(signals[f"{name}.rotation"])
    return signals, {name: _unit(plant, name) for name in signals}, gap


UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s^2",
    "angular_velocity": "rad/s",
    "force": "N",
    "torque": "N*m",
    "angle": "rad",
    "angle2": "rad",
    "slide": "m",
    "kinetic": "J",
    "lost": "J",
    "impulse": "N*s",
    "moment": "N*m*s",
    "length": "m",
    "power": "W",
}


def _unit(plant: Plant, name: str) -> str:
    owner, _, what = name.rpartition(".")
    joint = plant.machine.joints.get(owner)
    if what in ("drive", "effort", "friction", "stop", "speed", "speed2"):
        slides = joint is not None and joint.kind == "prismatic"
        if what.startswith("speed"):
            return "m/s" if slides else "rad/s"
        return "N" if slides else "N*m"
    return "m/s" if what == "slide_speed" else UNITS.get(what, "1")


def _row(plant: Plant, found: Found, q: Array, v: Array) -> dict[str, Any]:
    """Signals of one instant."""
    row: dict[str, Any] = {}
    loads, kinetic = _inertia_loads(plant, found, row)
    values = plant.tree.values(q)
    for name, place in plant.places.items():
        joint, _, value = name.rpartition(".")
        row[name] = values[place]
        rate = dict(COORDINATES[plant.machine.joints[joint].kind])[value]
        if rate:
            row[f"{joint}.{rate}"] = v[place]
    k = len(found.rows)
    for name, _, _ in plant.drives:
        row[f"{name}.drive"], k = found.efforts[k], k + 1
    for name, *_ in plant.couplings:
        row[f"{name}.effort"], k = found.efforts[k], k + 1
    for ends in plant.machine.cuts:
        if ends.kind in COORDINATES:
            measured = coordinates_of(ends, found.seen.bodies)
            for value, rate in COORDINATES[ends.kind]:
                row[f"{ends.name}.{value}"] = measured[value][0]
                if rate:
                    row[f"{ends.name}.{rate}"] = measured[value][1]
    for ends in plant.machine.opened:
        row |= _apart(ends, found)
    for name, joint in plant.machine.joints.items():
        if opens(joint.part):
            row |= {
                f"{name}.lost": plant.lost.get(name, 0.0),
                f"{name}.open": float(name in plant.lost),
            }
            row |= {f"{name}.impulse": np.zeros(3), f"{name}.moment": np.zeros(3)}
    row |= _in_cuts(plant, found, loads)
    row |= _in_tree(plant, found, loads)
    row |= found.sums.signals
    row["energy.kinetic"] = kinetic + 0.5 * float(plant.felt @ v**2)
    return row


def _apart(ends: Ends, found: Found) -> dict[str, Any]:
    """Signals of a joint that is open."""
    none = {key: 0.0 for key in ("friction", "stop") if getattr(ends.part, key, None) is not None}
    row: dict[str, Any] = {"force": np.zeros(3), "torque": np.zeros(3), **none}
    if ends.kind in COORDINATES:
        measured = coordinates_of(ends, found.seen.bodies)
        for value, rate in COORDINATES[ends.kind]:
            row |= {value: measured[value][0]} | ({rate: measured[value][1]} if rate else {})
    return {f"{ends.name}.{what}": value for what, value in row.items()}


Wrench = tuple[Array, Array]


def _inertia_loads(
    plant: Plant, found: Found, row: dict[str, Any]
) -> tuple[dict[str, Wrench], float]:
    """What every body needs of its joints: force and moment about its mass centre, W."""
    loads: dict[str, Wrench] = {}
    gravity, kinetic = np.array(plant.model.gravity), 0.0
    for name, (mass, inertia) in plant.machine.masses.items():
        now = found.seen.bodies[name]
        rate = now.jacobian @ found.a + now.drift
        J = now.R @ inertia @ now.R.T
        force, torque = found.sums.wrenches.get(name, (np.zeros(3), np.zeros(3)))
        moment = J @ rate[3:] + np.cross(now.w, J @ now.w)
        loads[name] = mass * (rate[:3] - gravity) - force, moment - torque
        kinetic += 0.5 * (mass * now.v @ now.v + now.w @ J @ now.w)
        row[f"{name}.position"], row[f"{name}.velocity"] = now.p, now.v
        row[f"{name}.acceleration"], row[f"{name}.rotation"] = rate[:3], now.R
        row[f"{name}.angular_velocity"] = now.R.T @ now.w
        for point, at in plant.model.bodies[name].points.items():
            p, v, _ = now.point(np.array(at))
            row[f"{name}.{point}.position"], row[f"{name}.{point}.velocity"] = p, v
    for name, frame in plant.model.frames.items():
        end = frame.end(name)
        if end.body != GROUND:
            now = found.seen.bodies[end.body]
            R = now.R @ of_quaternion(end.rotation)
            row[f"{name}.position"], row[f"{name}.velocity"], _ = now.point(np.array(end.at))
            row[f"{name}.rotation"], row[f"{name}.angular_velocity"] = R, R.T @ now.w
    return loads, float(kinetic)


def _in_cuts(plant: Plant, found: Found, loads: dict[str, Wrench]) -> dict[str, Array]:
    """Wrenches in the joints that close loops, taken off what their bodies need."""
    row: dict[str, Array] = {}
    for ends in plant.machine.cuts:
        own = [(r, e) for r, e in zip(found.rows, found.efforts, strict=False) if r.joint is ends]
        force = sum((e * r.force for r, e in own), np.zeros(3))
        torque = sum((e * r.moment for r, e in own), np.zeros(3))
        row[f"{ends.name}.force"], row[f"{ends.name}.torque"] = force, torque
        second = found.seen.bodies[ends.second]
        at = second.p + second.R @ ends.X_BM.p
        for body, sign in ((ends.first, -1.0), (ends.second, 1.0)):
            if body != GROUND:
                f, n = loads[body]
                arm = at - found.seen.bodies[body].p
                loads[body] = f - sign * force, n - sign * (torque + np.cross(arm, force))
    return row


def _in_tree(plant: Plant, found: Found, loads: dict[str, Wrench]) -> dict[str, Array]:
    """Wrenches in the joints of the tree: what is beyond them, from the tips to the ground."""
    row: dict[str, Array] = {}
    bodies = found.seen.bodies
    for branch in reversed(plant.machine.branches):
        force, moment = loads[branch.body]
        if branch.parent != GROUND:
            f, n = loads[branch.parent]
            arm = bodies[branch.body].p - bodies[branch.parent].p
            loads[branch.parent] = f + force, n + moment + np.cross(arm, force)
        if branch.joint:
            own_f, own_n = _on_coordinates(plant, found, branch)
            ends = plant.machine.joints[branch.joint]
            second = bodies[ends.second]
            at = second.p + second.R @ ends.X_BM.p
            sign = 1.0 if branch.body == ends.second else -1.0
            torque = moment + np.cross(bodies[branch.body].p - at, force)
            row[f"{ends.name}.force"] = sign * force - own_f
            row[f"{ends.name}.torque"] = sign * torque - own_n
    return row


def _on_coordinates(plant: Plant, found: Found, branch: Branch) -> Wrench:
    """What acts on the joint's coordinates besides its drive, on its second body at M."""
    ends, force, torque = plant.machine.joints[branch.joint], np.zeros(3), np.zeros(3)
    if ends.kind not in COORDINATES:
        return force, torque
    first, second = found.seen.bodies[ends.first], found.seen.bodies[ends.second]
    efforts = dict(found.sums.efforts)
    behind = len(found.rows) + len(plant.drives)
    for (_, a, b, ratio), effort in zip(plant.couplings, found.efforts[behind:], strict=True):
        efforts[b] = efforts.get(b, 0.0) + effort
        efforts[a] = efforts.get(a, 0.0) - ratio * effort
    for name, _ in COORDINATES[ends.kind]:
        effort = efforts.get(plant.places[f"{ends.name}.{name}"], 0.0)
        z = (second.R @ ends.X_BM.R if name == "angle2" else first.R @ ends.X_AF.R)[:, 2]
        if name == "slide":
            force = force + effort * z
        else:
            torque = torque + effort * z
    return force, torque


__all__ = ["Plant", "simulate"]
