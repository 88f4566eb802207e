"""What acts on the bodies besides joints and gravity: springs, dampers, bushings, forces and
torques, friction and stops of joints; and efforts that another run recorded.

Points of two bodies attract with effort e(length, rate); coordinates of a tree's joints carry an
effort on the second body.  Everything is written from the laws in docs/parts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vbg.engines.machine import COUPLINGS, written_axes
from vbg.engines.pose import Array
from vbg.engines.rotors import rotors_of
from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction, function_of

Law = Callable[[float, float, float], float]  # of value, rate, t
KNOWN = ("spring", "damper", "torsion_spring", "stop", "bushing", "force", "torque")


@dataclass(frozen=True, slots=True, eq=False)
class Moving:
    """A body as an engine sees it now: place and velocity of its mass centre in W, its angular
    velocity in W, the Jacobian of both, (6, nv), and their rates without any acceleration of
    the coordinates."""

    p: Array
    R: Array
    v: Array
    w: Array
    jacobian: Array
    drift: Array

    def point(self, at: Array) -> tuple[Array, Array, Array]:
        """A point's place and velocity in W, and its Jacobian, (3, nv)."""
        arm = self.R @ at
        spread = self.jacobian[:3] - _skew(arm) @ self.jacobian[3:]
        return self.p + arm, self.v + np.cross(self.w, arm), spread


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass(slots=True)
class Acting:
    """Sums at one instant: force and moment about the mass centre of every body, in W; efforts
    on coordinates by their place among the speeds; signals of the parts."""

    wrenches: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    efforts: dict[int, float] = field(default_factory=dict)
    signals: dict[str, Any] = field(default_factory=dict)

    def push(self, body: str, now: Moving, at: Array, force: Array, torque: Array) -> None:
        """A force at a point of the body and a torque, W."""
        f, n = self.wrenches.get(body, (np.zeros(3), np.zeros(3)))
        self.wrenches[body] = f + force, n + torque + np.cross(now.R @ at, force)

    def turn(self, place: int, effort: float) -> None:
        """An effort on a coordinate."""
        self.efforts[place] = self.efforts.get(place, 0.0) + effort


Act = Callable[[float, Mapping[str, Moving], Array, Array, Acting], None]
"""(t, bodies, coordinates, speeds, sums)"""
Coordinates = Mapping[str, int]  # "joint.angle" -> place among coordinates and speeds


def acts_of(
    model: Model,
    places: Coordinates,
    replays: Mapping[str, TimeFunction],
    opened: frozenset[str] = frozenset(),
) -> tuple[Act, ...]:
    """Everything that acts; nothing in the joints `opened`.  `replays`: recorded efforts, by a
    joint's name or a part's "TABLE.NAME", in the place of the parts themselves; dry friction by
    "joints.NAME.friction"."""
    acts: list[Act] = []
    for name, part in model.forces.items():
        recorded = {k: f for k, f in replays.items() if k.split("[")[0] == f"forces.{name}"}
        acts.append(_force_act(model, places, name, part, recorded))
    for name, part in model.joints.items():
        if name in replays:
            acts.append(_replay(_place(model, places, name), replays[name]))
        if name in opened:
            continue
        acts += _in_joint(model, places, name, part, replays.get(f"joints.{name}.friction"))
    for key, function in replays.items():
        table, _, name = key.partition(".")
        if table in ("hydraulic", "rotational", "translational", "electric") and name:
            acts.append(_pair(getattr(model, table)[name], "", _by_time(function)))
    return tuple(acts)


def require_known(model: Model, replays: Mapping[str, TimeFunction]) -> None:
    """Raises UsageError for what acts and is neither known here nor recorded, by name."""
    strange = [
        f"forces.{name} ({part.kind})"
        for name, part in model.forces.items()
        if part.kind not in KNOWN
    ]
    rotors = {f"rotational.{part}" for rotor in rotors_of(model) for part in rotor.parts}
    others = _on_joint_nodes(model)
    if not replays:
        tables = ("electric", "hydraulic", "rotational", "translational", "bondgraph", "beams")
        others = [f"{t}.{n}" for t in tables for n in getattr(model, t)]
    strange += [part for part in others if part not in rotors]
    if strange:
        more = f" and {len(strange) - 8} more" if len(strange) > 8 else ""
        raise UsageError(f"the engines have no {', '.join(strange[:8])}{more}.")


def _on_joint_nodes(model: Model) -> list[str]:
    """Parts wired to a joint as a shaft: no record tells what they exert on it."""
    return [
        f"{table}.{name}"
        for table in ("rotational", "translational")
        for name, part in getattr(model, table).items()
        if any(str(node).startswith("joint:") for node in getattr(part, "nodes", None) or ())
    ]


def _by_time(function: TimeFunction) -> Law:
    return lambda value, rate, t: function.value(t)


def _replay(place: int, function: TimeFunction, name: str = "") -> Act:
    def act(t: float, bodies: Any, q: Array, v: Array, sums: Acting) -> None:
        effort = function.value(t)
        sums.turn(place, effort)
        if name:
            sums.signals[f"{name}.torque"] = effort
            sums.signals[f"{name}.power"] = effort * float(v[place])

    return act


def _place(model: Model, places: Coordinates, on: str) -> int:
    """Of "joints.NAME", NAME, or "joints.NAME.angle" among the speeds."""
    name, _, coordinate = on.removeprefix("joints.").partition(".")
    found = [k for k in places if k.rpartition(".")[0] == name]
    if coordinate:
        found = [f"{name}.{coordinate}"]
    if model.joints[name].kind == "helical":
        found = [f"{name}.angle"]
    if len(found) != 1 or found[0] not in places:
        raise UsageError(f"joints.{name} has no single coordinate that the engines know.")
    return places[found[0]]


def _in_joint(
    model: Model, places: Coordinates, name: str, part: Any, recorded: TimeFunction | None
) -> Iterator[Act]:
    law, stop = getattr(part, "friction", None), getattr(part, "stop", None)
    if recorded is not None:
        yield _on(f"{name}.friction", _place(model, places, name), _by_time(recorded))
    elif law is not None:
        if law.coulomb:
            raise UsageError(f"the engines have no dry friction: joints.{name}.")
        viscous = law.viscous
        yield _on(f"{name}.friction", _place(model, places, name), lambda q, v, t: -viscous * v)
    if stop is not None:
        yield _on(f"{name}.stop", _place(model, places, name), _stop(stop))


def _stop(stop: Any) -> Law:
    """k depth + c depth', never pulling, back from either end."""

    def law(q: float, v: float, t: float) -> float:
        total = 0.0
        for end, sign in ((stop.lower, -1.0), (stop.upper, 1.0)):
            if end is not None and sign * (q - end) > 0.0:
                total -= sign * max(0.0, stop.k * sign * (q - end) + stop.c * sign * v)
        return total

    return law


def _on(signal: str, place: int, law: Law, length: str = "") -> Act:
    def act(t: float, bodies: Any, q: Array, v: Array, sums: Acting) -> None:
        effort = law(float(q[place]), float(v[place]), t)
        sums.turn(place, effort)
        sums.signals[signal] = effort
        if length:
            sums.signals[length] = float(q[place])

    return act


def _force_act(
    model: Model,
    places: Coordinates,
    name: str,
    part: Any,
    recorded: Mapping[str, TimeFunction],
) -> Act:
    if part.kind in ("spring", "damper", "torsion_spring", "stop"):
        if isinstance(getattr(part, "on", None), str):
            place = _place(model, places, part.on)
            turns = next(k for k, at in places.items() if at == place).endswith(("angle", "angle2"))
            signal = f"{name}.{'torque' if turns else 'force'}"
            return _on(signal, place, _law(part, sign=-1.0), "" if turns else f"{name}.length")
        return _pair(part, name, _law(part, sign=1.0))
    if part.kind == "bushing":
        return _bushing(model, part, name)
    return _given(model, places, name, part, recorded)


def _law(part: Any, *, sign: float) -> Law:
    """Effort that draws together (`sign` 1), or on the second body of a joint (-1)."""
    if part.kind == "spring":
        return lambda x, v, t: sign * part.k * (x - part.length)
    if part.kind == "damper":
        return lambda x, v, t: sign * part.c * v
    if part.kind == "torsion_spring":
        return lambda x, v, t: sign * (part.k * (x - part.rest) + part.c * v)
    return lambda x, v, t: -max(0.0, part.k * (part.gap - x) - part.c * v) if x < part.gap else 0.0


def _pair(part: Any, name: str, law: Law) -> Act:
    first, second = part.between

    def act(t: float, bodies: Mapping[str, Moving], q: Array, v: Array, sums: Acting) -> None:
        (p, u, _), (r, w, _) = (bodies[e.body].point(np.array(e.at)) for e in (first, second))
        length = float(np.linalg.norm(r - p))
        along = (r - p) / length
        pull = law(length, float(along @ (w - u)), t)
        if name:
            sums.signals[f"{name}.force"], sums.signals[f"{name}.length"] = -pull, length
        for end, sign in ((first, 1.0), (second, -1.0)):
            push = sign * pull * along
            sums.push(end.body, bodies[end.body], np.array(end.at), push, np.zeros(3))

    return act


def _given(
    model: Model,
    places: Coordinates,
    name: str,
    part: Any,
    recorded: Mapping[str, TimeFunction],
) -> Act:
    given = getattr(part, part.kind)
    if isinstance(part.on, str):
        function = recorded.get(f"forces.{name}") or function_of(model, given[0])
        return _replay(_place(model, places, part.on), function, name)
    functions = [
        recorded.get(f"forces.{name}[{k}]") or function_of(model, g) for k, g in enumerate(given)
    ]
    on: Attachment = part.on
    R = None if part.axes == "world" else np.eye(3)  # of the components' axes to the body's
    if part.axes == "frame":
        R = _axes_of(on)

    def act(t: float, bodies: Mapping[str, Moving], q: Array, v: Array, sums: Acting) -> None:
        now = bodies[on.body]
        value = np.array([f.value(t) for f in functions])
        value = value if R is None else now.R @ R @ value
        force, torque = (value, np.zeros(3)) if part.kind == "force" else (np.zeros(3), value)
        sums.push(on.body, now, np.array(on.at), force, torque)
        speed = now.point(np.array(on.at))[1] if part.kind == "force" else now.w
        sums.signals[f"{name}.{part.kind}"] = value
        sums.signals[f"{name}.power"] = float(value @ speed)

    return act


def _bushing(model: Model, part: Any, name: str) -> Act:
    """Force and moment on the second body at its point, and back on the first at that point:
    power = force . (velocity of the point seen from the first body) + moment . (w_B - w_A).  The
    spring's moment belongs to the rotation vector u of the turn since the written posture:
    u' = D(u) w, so it is D(u)ᵀ K u."""
    first, second = part.between
    written = [written_axes(model, end.body) for end in (first, second)]
    if written[0] is None or written[1] is None:
        raise UsageError(f"forces.{name}: the engines need both bodies' rotation written.")
    start = Rotation.from_matrix(written[0].T @ written[1])
    E = np.kron(np.eye(2), _axes_of(first))  # from the axes of the first end's frame to its body's
    K = E @ np.array(part.stiffness) @ E.T
    C = np.zeros((6, 6)) if part.damping is None else E @ np.array(part.damping) @ E.T

    def act(t: float, bodies: Mapping[str, Moving], q: Array, v: Array, sums: Acting) -> None:
        A, B = bodies[first.body], bodies[second.body]
        p, vp, _ = A.point(np.array(first.at))
        r, vr, _ = B.point(np.array(second.at))
        u = (Rotation.from_matrix(A.R.T @ B.R) * start.inv()).as_rotvec()
        spring = K @ np.concatenate((A.R.T @ (r - p), u))
        spring[3:] = _rate_of_vector(u).T @ spring[3:]
        w = A.R.T @ (B.w - A.w)
        damping = C @ np.concatenate((A.R.T @ (vr - vp - np.cross(A.w, r - p)), w))
        load = -(spring + damping)
        force, torque = A.R @ load[:3], A.R @ load[3:]
        sums.push(second.body, B, np.array(second.at), force, torque)
        sums.push(first.body, A, A.R.T @ (r - A.p), -force, -torque)
        sums.signals[f"{name}.force"], sums.signals[f"{name}.torque"] = force, torque

    return act


def _axes_of(end: Attachment) -> Array:
    """(3, 3) axes of the frame at an end, in its body's; the body's own without one."""
    w, x, y, z = end.rotation or (1.0, 0.0, 0.0, 0.0)
    return Rotation.from_quat([x, y, z, w]).as_matrix()


def _rate_of_vector(u: Array) -> Array:
    """D(u) with u' = D(u) w, w in the axes that u counts from:
    D = 1 - skew(u)/2 + (1/t^2 - (1 + cos t)/(2 t sin t)) skew(u)^2."""
    angle = float(np.linalg.norm(u))
    S = _skew(u)
    if angle < 1e-4:
        factor = 1.0 / 12.0 + angle**2 / 720.0
    else:
        factor = 1.0 / angle**2 - (1.0 + np.cos(angle)) / (2.0 * angle * np.sin(angle))
    return np.asarray(np.eye(3) - 0.5 * S + factor * S @ S)


def couplings_of(model: Model, places: Coordinates) -> list[tuple[str, int, int, float]]:
    """(name, first place, second place, ratio) of gears, belts and racks between joints."""
    found = []
    for name, part in model.joints.items():
        if part.kind in COUPLINGS:
            if not all(end.startswith("joints.") for end in part.between):
                raise UsageError(f"the engines couple joints only: joints.{name}.")
            a, b = (_place(model, places, end) for end in part.between)
            found.append((name, a, b, part.ratio))
    return found
