"""Newton and Euler for every body, from the reported joint forces and the machine's own data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import Machine
from vbg.spatial import rotation_matrix


class Body:
    """Motion of a body at one instant, world axes; `moment` is h' about the mass centre."""

    def __init__(self, machine: Machine, values: dict[str, np.ndarray], name: str):
        self.p = self.v = self.a = self.w = self.moment = np.zeros(3)
        self.R = np.eye(3)
        if name == "ground":
            return
        self.p, self.v = values[f"{name}.position"], values[f"{name}.velocity"]
        self.a = values[f"{name}.acceleration"]
        self.R = rotation_matrix(values[f"{name}.rotation"])
        w_B, h_B_rate = values[f"{name}.angular_velocity"], values[f"{name}.h_rate"]
        J = machine.bodies[name]["inertia"]
        J_B = np.array(
            [
                [J["xx"], J["xy"], J["zx"]],
                [J["xy"], J["yy"], J["yz"]],
                [J["zx"], J["yz"], J["zz"]],
            ]
        )
        self.w = self.R @ w_B
        self.moment = self.R @ (h_B_rate + np.cross(w_B, J_B @ w_B))

    def point(self, at: list[float]) -> np.ndarray:
        return self.p + self.R @ np.array(at)

    def velocity_at(self, point: np.ndarray) -> np.ndarray:
        return self.v + np.cross(self.w, point - self.p)


def values_at(machine: Machine, system: vbg.System, t: float, x: np.ndarray) -> dict[str, Any]:
    """Signals at (t, x), and the rate of every body's angular momentum, body axes."""
    values = dict(vbg.start(system).outputs(t, x))
    rate = dict(zip(system.state_names, vbg.start(system).rate(t, x), strict=True))
    for name in machine.bodies:
        h_rate = [rate[f"{name}.angular_momentum.{k}"] for k in "xyz"]
        values[f"{name}.h_rate"] = np.array(h_rate)
    return values


class Loads:
    """Force and moment about the mass centre on every body, (2, 3), world axes."""

    def __init__(self, machine: Machine, values: dict[str, Any], t: float):
        self.machine, self.values, self.t = machine, values, t
        self.bodies = {name: Body(machine, values, name) for name in (*machine.bodies, "ground")}
        self.total = {name: np.zeros((2, 3)) for name in self.bodies}
        for name, entry in machine.bodies.items():
            self.push(name, entry["mass"] * machine.gravity, np.zeros(3), self.bodies[name].p)
        for name, joint in machine.joints.items():
            self._joint(name, joint)
        for name, part in machine.forces.items():
            getattr(self, f"_{part['kind']}")(name, part)

    def push(self, name: str, force: np.ndarray, torque: np.ndarray, point: np.ndarray) -> None:
        arm = point - self.bodies[name].p
        self.total[name] += [force, torque + np.cross(arm, force)]

    def pair(self, part: dict[str, Any]) -> tuple[Body, Body, np.ndarray, np.ndarray]:
        first, second = part["between"]
        a, b = self.bodies[first["body"]], self.bodies[second["body"]]
        return a, b, a.point(first["at"]), b.point(second["at"])

    def _opposed(
        self, part: dict[str, Any], force: np.ndarray, torque: np.ndarray, where: np.ndarray
    ) -> None:
        """`force` and `torque` on the second body at `where`, their opposites on the first."""
        first, second = (end["body"] for end in part["between"])
        self.push(second, force, torque, where)
        self.push(first, -force, -torque, where)

    def _joint(self, name: str, joint: dict[str, Any]) -> None:
        if isinstance(joint["between"][0], str):
            effort = float(np.squeeze(self.values[f"{name}.effort"]))
            self._along(joint["between"][1], effort)
            self._along(joint["between"][0], -joint["ratio"] * effort)
            return
        where = self.pair(joint)[3]
        self._opposed(joint, self.values[f"{name}.force"], self.values[f"{name}.torque"], where)
        if "friction" in joint:
            speed = float(np.squeeze(self.values[f"{name}.speed"]))
            self._along(f"joints.{name}", -joint["friction"]["viscous"] * speed)

    def _along(self, on: str, effort: float) -> None:
        """`effort` on the second body of a joint about or along its axis."""
        joint = self.machine.joints[on.removeprefix("joints.")]
        first, _, _, where = self.pair(joint)
        axis = first.R @ np.array(joint["axis"])
        if joint["kind"] in ("prismatic", "point_on_line"):
            self._opposed(joint, effort * axis, np.zeros(3), where)
        else:
            self._opposed(joint, np.zeros(3), effort * axis, where)

    def _line(self, part: dict[str, Any]) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Length, its rate, unit vector to the second point, that point."""
        a, b, p_a, p_b = self.pair(part)
        length = float(np.linalg.norm(p_b - p_a))
        direction = (p_b - p_a) / length
        rate = float(direction @ (b.velocity_at(p_b) - a.velocity_at(p_a)))
        return length, rate, direction, p_b

    def _coordinate(self, on: str) -> tuple[float, float]:
        name = on.removeprefix("joints.")
        slides = self.machine.joints[name]["kind"] in ("prismatic", "point_on_line")
        value = self.values[f"{name}.{'slide' if slides else 'angle'}"]
        return float(np.squeeze(value)), float(np.squeeze(self.values[f"{name}.speed"]))

    def _spring(self, name: str, part: dict[str, Any]) -> None:
        if "on" in part:
            value, _ = self._coordinate(part["on"])
            self._along(part["on"], -part["k"] * (value - part["length"]))
            return
        length, _, direction, where = self._line(part)
        pull = -part["k"] * (length - part["length"])
        self._opposed(part, pull * direction, np.zeros(3), where)

    def _damper(self, name: str, part: dict[str, Any]) -> None:
        if "on" in part:
            _, speed = self._coordinate(part["on"])
            self._along(part["on"], -part["c"] * speed)
            return
        _, rate, direction, where = self._line(part)
        self._opposed(part, -part["c"] * rate * direction, np.zeros(3), where)

    def _torsion_spring(self, name: str, part: dict[str, Any]) -> None:
        angle, speed = self._coordinate(part["on"])
        self._along(part["on"], -part["k"] * (angle - part["rest"]) - part["c"] * speed)

    def _stop(self, name: str, part: dict[str, Any]) -> None:
        length, rate, direction, where = self._line(part)
        depth = part["gap"] - length
        push = max(0.0, part["k"] * depth - part["c"] * rate) if depth > 0.0 else 0.0
        self._opposed(part, push * direction, np.zeros(3), where)

    def _bushing(self, name: str, part: dict[str, Any]) -> None:
        """As reported; what it should be is tested where its energy is known."""
        where = self.pair(part)[3]
        self._opposed(part, self.values[f"{name}.force"], self.values[f"{name}.torque"], where)

    def _components(self, body: Body, part: dict[str, Any], key: str) -> np.ndarray:
        written = part[key]
        values = [eval_at(entry, self.t) for entry in written]
        return np.array(values) if part["axes"] == "world" else body.R @ np.array(values)

    def _force(self, name: str, part: dict[str, Any]) -> None:
        body = self.bodies[part["on"]["body"]]
        force = self._components(body, part, "force")
        self.push(part["on"]["body"], force, np.zeros(3), body.point(part["on"]["at"]))

    def _torque(self, name: str, part: dict[str, Any]) -> None:
        if isinstance(part["on"], str):
            self._along(part["on"], part["torque"][0])
            return
        body = self.bodies[part["on"]["body"]]
        torque = self._components(body, part, "torque")
        self.push(part["on"]["body"], np.zeros(3), torque, body.p)


def eval_at(entry: float | str, t: float) -> float:
    """A component written as a number or as an expression of t."""
    from vbg.expressions import evaluate, parse

    return evaluate(parse(entry), {"t": t}) if isinstance(entry, str) else entry


def assert_balance(machine: Machine, system: vbg.System, t: float, x: np.ndarray) -> Loads:
    """m a = sum of forces and h' = sum of moments for every body."""
    values = values_at(machine, system, t, x)
    loads = Loads(machine, values, t)
    size = 1.0 + max(
        np.linalg.norm(total) for name, total in loads.total.items() if name != "ground"
    )
    size += max(
        (np.linalg.norm(v) for k, v in values.items() if k.endswith((".force", ".torque"))),
        default=0.0,
    )
    for name, entry in machine.bodies.items():
        force, moment = loads.total[name]
        body = loads.bodies[name]
        assert_allclose(entry["mass"] * body.a, force, atol=1e-11 * size, err_msg=name)
        assert_allclose(body.moment, moment, atol=1e-11 * size, err_msg=name)
    return loads
