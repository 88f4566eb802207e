"""What acts on the bodies besides joints and gravity: springs, dampers, elastic hinges, forces and
torques, friction and stops of joints; and efforts that another run recorded.

Points of two bodies attract with effort e(length, rate); coordinates of a tree's joints carry an
effort on the second body.  Everything is written from the laws in docs/parts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from vbg.engines.acting.elastic import axes_of, beam_element, bushing
from vbg.engines.acting.sums import Act, Acting, Moving
from vbg.engines.machine import COUPLINGS
from vbg.engines.pose import Array
from vbg.engines.rotors import rotors_of
from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.formulas.written import function_of

Law = Callable[[float, float, float], float]  # of value, rate, t
KNOWN = (
    "spring",
    "damper",
    "torsion_spring",
    "stop",
    "bushing",
    "beam_element",
    "force",
    "torque",
)


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
        tables = ("electric", "hydraulic", "rotational", "translational", "bondgraph")
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
        return bushing(model, part, name)
    if part.kind == "beam_element":
        return beam_element(model, part, name)
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
        R = axes_of(on)

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
