"""A tree in MuJoCo (https://mujoco.org, wheel `mujoco`).

Loops are closed by the multipliers of `vbg.engines.running`, not by MuJoCo's own constraints,
which are soft; so what it witnesses is the tree: places, inertia, gravity and speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vbg.engines.acting.sums import Moving
from vbg.engines.machine import BALL, FREE, GROUND, SLIDE, Branch, Machine
from vbg.engines.pose import Array, Place, to_quaternions
from vbg.engines.spans import Span, begun, rate_of, values_of
from vbg.engines.trees import Seen, Start
from vbg.errors import UsageError

KINDS = {FREE: "free", BALL: "ball", SLIDE: "slide"}


class MuJoCoTree:
    """Every branch is one body of MuJoCo, with the frame before its elements; the mass centre is
    where the branch's `after` says."""

    def __init__(self, machine: Machine):
        try:
            import mujoco
        except ImportError:
            raise UsageError("MuJoCo is not installed: pip install 'vbg[engines]'.") from None
        self._mj, self.version = mujoco, str(mujoco.__version__)
        try:
            self._model = mujoco.MjModel.from_xml_string(_mjcf(machine))
        except ValueError as error:
            raise UsageError(f"MuJoCo refuses the machine: {error}") from None
        self._data = mujoco.MjData(self._model)
        self.nq, self.nv = int(self._model.nq), int(self._model.nv)
        self._branches = {branch.body: branch for branch in machine.branches}
        self._ids = {
            body: mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, f"b.{body}")
            for body in self._branches
        }
        self._spans = tuple(self._joints())

    def _joints(self) -> Iterator[Span]:
        for body, branch in self._branches.items():
            for k, element in enumerate(branch.elements):
                joint = self._model.joint(f"{body}.{k}")
                yield Span(body, k, element.kind, int(joint.qposadr[0]), int(joint.dofadr[0]))

    def place_of(self, branch: str, element: int) -> int:
        return int(self._model.joint(f"{branch}.{element}").dofadr[0])

    def begin(self, starts: Mapping[str, tuple[Start, ...]]) -> tuple[Array, Array]:
        return begun(self._spans, starts, self.nq, self.nv)

    def rate(self, q: Array, v: Array) -> Array:
        return rate_of(self._spans, q, v)

    def values(self, q: Array) -> Array:
        return values_of(self._spans, q, self.nv)

    def see(self, q: Array, v: Array) -> Seen:
        mj, model, data = self._mj, self._model, self._data
        data.qpos[:], data.qvel[:] = q, v
        mj.mj_fwdPosition(model, data)
        mj.mj_fwdVelocity(model, data)
        M, column = np.zeros((self.nv, self.nv)), np.zeros(self.nv)
        for k in range(self.nv):
            mj.mj_mulM(model, data, column, np.eye(self.nv)[k])
            M[:, k] = column
        none, still = np.zeros(3), np.zeros((6, self.nv))
        bodies = {GROUND: Moving(none, np.eye(3), none, none, still, np.zeros(6))}
        for body, number in self._ids.items():
            before = Place(data.xmat[number].reshape(3, 3).copy(), data.xpos[number].copy())
            place = before @ self._branches[body].after
            J, J_rate = np.zeros((6, self.nv)), np.zeros((6, self.nv))
            mj.mj_jac(model, data, J[:3], J[3:], place.p, number)
            mj.mj_jacDot(model, data, J_rate[:3], J_rate[3:], place.p, number)
            twist = J @ v
            bodies[body] = Moving(place.p, place.R, twist[:3], twist[3:], J, J_rate @ v)
        return Seen(M, data.qfrc_bias.copy(), bodies)


def _mjcf(machine: Machine) -> str:
    """The tree as MuJoCo's XML."""
    gravity = _numbers(machine.model.gravity)
    below: dict[str, list[Branch]] = {}
    for branch in machine.branches:
        below.setdefault(branch.parent, []).append(branch)

    def nested(parent: str, seat: Place) -> Iterator[str]:
        for branch in below.get(parent, ()):
            at = seat @ branch.before
            yield f'<body name="b.{branch.body}" {_at(at)}>'
            for k, element in enumerate(branch.elements):
                kind = KINDS.get(element.kind, "hinge")
                axis = "" if kind in ("free", "ball") else f' axis="{_numbers(element.axis)}"'
                yield f'<joint name="{branch.body}.{k}" type="{kind}"{axis}/>'
            yield _inertial(machine, branch)
            yield from nested(branch.body, branch.after)
            yield "</body>"

    inside = "".join(nested(GROUND, Place()))
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option gravity="{gravity}"><flag contact="disable" constraint="disable"/></option>'
        f"<worldbody>{inside}</worldbody></mujoco>"
    )


def _inertial(machine: Machine, branch: Branch) -> str:
    mass, inertia = machine.masses[branch.body]
    J = branch.after.R @ inertia @ branch.after.R.T
    six = _numbers([J[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))])
    return f'<inertial pos="{_numbers(branch.after.p)}" mass="{mass!r}" fullinertia="{six}"/>'


def _at(place: Place) -> str:
    quaternion = to_quaternions(place.R[None])[0]
    return f'pos="{_numbers(place.p)}" quat="{_numbers(quaternion)}"'


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
