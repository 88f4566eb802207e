"""What signals read of bodies and of springs, dampers and stops between them.

Positions and velocities of mass centres and points are those of the posture that was just found.
A rotation is read as a quaternion, and a quaternion and its negative are one rotation: its sign
is kept by integrating it beside the body,

    q' = 1/2 q o (0, w),    w in the body's axes,

from the body's rotation at the start, scalar not negative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.tmm_bridge.kernels.rows import POSITION, TURNING, VELOCITY
from vbg.tmm_bridge.onedim.draft import Draft
from vbg.tmm_bridge.onedim.laws.working import Output, Port, Value, Working
from vbg.tmm_bridge.onedim.network import Sensor
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key

_COMPONENT = re.compile(r"(?P<of>.+)\.(?P<what>\w+)(?:\[(?P<index>\d)\]|\.(?P<letter>[wxyz]))")
_TRIPLES = {"position": POSITION, "velocity": VELOCITY, "angular_velocity": TURNING}


@dataclass(frozen=True)
class Attitude:
    """The quaternion of a body, states from `state` on; `seen` is its angular velocity."""

    state: int
    seen: int

    def act(self, w: Working) -> None:
        a, b, c, d = (w.x[self.state + k] for k in range(4))
        x, y, z = w.seen[self.seen]
        w.rates[self.state] = -0.5 * (b * x + c * y + d * z)
        w.rates[self.state + 1] = 0.5 * (a * x + c * z - d * y)
        w.rates[self.state + 2] = 0.5 * (a * y + d * x - b * z)
        w.rates[self.state + 3] = 0.5 * (a * z + b * y - c * x)

    def outputs(self) -> Iterator[Output]:
        return iter(())


def reading(draft: Draft, name: str) -> Value | None:
    """The value of an output of a body, or of a spring, damper or stop; None for others."""
    found = _COMPONENT.fullmatch(name)
    if found is not None:
        body, _, point = found["of"].partition(".")
        part = draft.model.bodies.get(body)
        if part is not None and (not point or point in part.points):
            return _component(draft, body, point, found)
    force, _, what = name.rpartition(".")
    law = draft.model.forces.get(force)
    return None if law is None else _of_law(draft, law, what)


def _component(draft: Draft, body: str, point: str, found: re.Match[str]) -> Value | None:
    """A component of a triple or of a quaternion."""
    what, index = found["what"], found["index"]
    letters = "wxyz" if what == "rotation" else "xyz"
    k = int(index) if index else letters.find(found["letter"])
    if not 0 <= k < len(letters) or (point and what not in ("position", "velocity")):
        return None
    if what == "rotation":
        state = _attitude(draft, body)
        return lambda w: w.x[state + k]
    if what not in _TRIPLES:
        return None
    seen = _sensor(draft, _TRIPLES[what], body, point)
    return lambda w: w.seen[seen][k]


def _sensor(draft: Draft, what: int, body: str, point: str = "") -> int:
    """The place of a triple among what is seen; one for all who read it."""
    place = draft.bodies[body]
    at = np.array(draft.model.bodies[body].points[point]) if point else np.zeros(3)
    p = place.p_NB + place.R_NB @ at
    sensor = Sensor(what, place.node, tuple(p.tolist()), tuple(place.R_NB.ravel().tolist()))
    if sensor not in draft.sensors:
        draft.sensors.append(sensor)
    return draft.sensors.index(sensor)


def _attitude(draft: Draft, body: str) -> int:
    """The first state of a body's quaternion; one for all who read it."""
    seen = _sensor(draft, TURNING, body)
    for state, sensor in draft.attitudes:
        if sensor == draft.sensors[seen]:
            return state
    state = draft.state(1.0, 0.0, 0.0, 0.0)
    draft.attitudes.append((state, draft.sensors[seen]))
    draft.parts.append(Attitude(state, seen))
    return state


def _of_law(draft: Draft, law: Any, what: str) -> Value | None:
    """Length of a line, gap of a stop, effort of a spring or damper."""
    between = getattr(law, "between", None)
    if law.kind in ("spring", "damper", "stop") and between is not None:
        port = draft.line(between)
    elif law.kind in ("spring", "damper", "torsion_spring") and law.on is not None:
        port = draft.joint_port(coordinate_joint(law.on), coordinate_key(draft.model, law.on))
    else:
        return None
    if what == "length" and not port.turns and law.kind != "stop":
        return port.value
    if what == "gap" and law.kind == "stop":
        return lambda w: port.value(w) - law.gap
    if what == ("torque" if port.turns else "force") and law.kind != "stop":
        return _effort(port, law)
    return None


def _effort(port: Port, law: Any) -> Value:
    """-k (value - rest) - c speed."""
    k, c = getattr(law, "k", 0.0), getattr(law, "c", 0.0)
    rest = getattr(law, "rest", 0.0) or getattr(law, "length", 0.0)
    return lambda w: -k * (port.value(w) - rest) - c * port.speed(w)
