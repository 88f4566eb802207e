"""What the joints carry, by Newton and Euler from the ends of the tree to the ground.

A body needs of its joints m a - F and J alpha + w x J w - T; joints further out pass theirs on,
and the efforts of joints that close loops are known.  Each wrench is named, so that the next one
inwards is written by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg.analysis.symbolic.loops.closures import DRIVE, FORCE, Row
from vbg.analysis.symbolic.loops.kinematics import Kinematics
from vbg.analysis.symbolic.loops.tree import GROUND, Tree
from vbg.assemble.matrices.products import product
from vbg.plumbing.components import component_names

Of = Callable[[str, str], Any]
SHORT = 2  # operations of a component that needs no name


@dataclass(frozen=True, eq=False)
class Needs:
    """Mass, inertia (body axes), and what parts, weight and spin exert: force (world axes),
    torque (body axes)."""

    mass: Any
    inertia: Any
    force: Any
    torque: Any


@dataclass(slots=True)
class _Passing:
    """Forces and moments about the mass centres, world axes, that bodies still need."""

    model: Any
    k: Kinematics
    of: Of
    force: dict[str, Any] = field(default_factory=dict)
    moment: dict[str, Any] = field(default_factory=dict)

    def point(self, joint: str) -> Any:
        """The joint's point M, world axes."""
        second = self.model.joints[joint].between[1].body
        return self.k.p[second] + product(self.k.R[second], self.of(joint, "p_BM_B"))

    def take(self, joint: str, force: Any, torque: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """The wrench at M on the second body, named, and off the needs of both bodies."""
        import sympy

        told, tidy = [], self.k.algebra.tidy
        for what, three in (("force", force), ("torque", torque)):
            name, values = f"{joint}.{what}", tuple(tidy(c) for c in three)
            yield name, values
            told.append(
                sympy.Matrix(
                    [
                        v if tidy.operations(v) <= SHORT else sympy.Symbol(one, real=True)
                        for one, v in zip(component_names(name, 3), values, strict=True)
                    ]
                )
            )
        at = self.point(joint)
        first, second = (end.body for end in self.model.joints[joint].between)
        for body, sign in ((second, 1), (first, -1)):
            if body != GROUND:
                arm = (at - self.k.p[body]).applyfunc(tidy)
                self.force[body] -= sign * told[0]
                self.moment[body] -= sign * (told[1] + arm.cross(told[0]))


def wrenches_of(
    model: Any,
    tree: Tree,
    k: Kinematics,
    rows: list[Row],
    needs: Mapping[str, Needs],
    accelerations: tuple[Any, ...],
    of: Of,
) -> dict[str, tuple[Any, ...]]:
    """JOINT.force and JOINT.torque on the second body at M, world axes, each by those before it;
    JOINT.drive."""
    import sympy

    passing, d, tidy = _Passing(model, k, of), sympy.Matrix(accelerations), k.algebra.tidy
    for name, need in needs.items():
        a = product(k.V[name], d).applyfunc(tidy) + k.a0[name]
        alpha = product(k.W[name], d).applyfunc(tidy) + k.alpha0[name]
        passing.force[name] = (need.mass * a - need.force).applyfunc(tidy)
        about = (product(need.inertia, alpha) - need.torque).applyfunc(tidy)
        passing.moment[name] = product(k.R[name], about)
    found: dict[str, tuple[Any, ...]] = {}
    for joint in tree.cuts:
        sums = {what: sympy.zeros(3, 1) for what in ("force", "torque")}
        for row in rows:
            if row.joint == joint and row.kind != DRIVE:
                sums["force" if row.kind == FORCE else "torque"] += row.effort * row.direction
        found |= passing.take(joint, sums["force"], sums["torque"])
    drives = {row.joint: row.effort for row in rows if row.kind == DRIVE}
    for carrier in reversed(tree.carriers):
        if carrier.joint:
            force, moment = passing.force[carrier.body], passing.moment[carrier.body]
            arm = (passing.point(carrier.joint) - k.p[carrier.body]).applyfunc(tidy)
            sign = 1 if carrier.forward else -1
            wrench = [sign * force, sign * (moment - arm.cross(force))]
            _along_freedom(model, k, of, carrier.joint, wrench, drives)
            found |= passing.take(carrier.joint, *wrench)
    return found | {f"{joint}.drive": (effort,) for joint, effort in drives.items()}


def _along_freedom(
    model: Any, k: Kinematics, of: Of, joint: str, wrench: list[Any], drives: Mapping[str, Any]
) -> None:
    """The component along the freedom of a joint with one is the drive's effort, or nothing: put
    in place where the axis is one of the world's."""
    part = model.joints[joint]
    which = {"revolute": 1, "prismatic": 0}.get(part.kind)
    if which is None:
        return
    axes = product(k.R[part.between[0].body], of(joint, "R_AF"))
    axis = axes[:, 2].applyfunc(k.algebra.tidy)
    places = [i for i in range(3) if axis[i] in (1, -1)]
    if len(places) == 1:
        wrench[which][places[0]] = axis[places[0]] * drives.get(joint, 0)
