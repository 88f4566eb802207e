"""What is told of a mechanism that has no consistent start, or not the written one."""

from __future__ import annotations

import math

import numpy as np

from vbg.errors import AssemblyError, Problem
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.mechanism import Mechanism

TURNED = 1e-8  # [rad] a body that turns less has not turned


def node_name(mechanism: Mechanism, node: int) -> str:
    """Path of the joint, or of the floating body, that a node belongs to."""
    for name, carried in mechanism.tree.items():
        if node in carried.nodes:
            return f"joints.{name}"
    for body, nodes in mechanism.floating.items():
        if node in nodes:
            return f"bodies.{body}"
    for name, carried in mechanism.elastic.items():
        if node in carried.nodes:
            return f"forces.{name}"
    points = [body for body, place in mechanism.bodies.items() if place.node == node]
    return f"bodies.{points[0]}" if points else f"node {node}"


def no_inertia(mechanism: Mechanism, node: int) -> Problem:
    """The problem of a hinge behind which nothing resists its motion."""
    return Problem(
        "error",
        node_name(mechanism, node),
        "nothing behind it resists its free motion: the inertia about it is zero.",
        "Give the body it carries a moment of inertia about the free axis, or fix that freedom.",
    )


def row_name(mechanism: Mechanism, row: int) -> str:
    """The joint or coupling that a constraint row belongs to."""
    for name, joint in mechanism.cut.items():
        if row in joint.rows:
            return name
    for name, coupled in mechanism.couplings.items():
        if coupled == row:
            return name
    return "a coordinate held by `initial`"


def without_rate(mechanism: Mechanism, rates: Array) -> list[Problem]:
    """A problem for each drive that has no place, speed or acceleration at the start by its `rates`
    f, f', f'' (d, 3)."""
    return [
        Problem(
            "error",
            f"joints.{joint}",
            f"its drive begins where a function in it ends: it is {rates[d, 0]:.4g} there, has the"
            f" speed {rates[d, 1]:.4g} and the acceleration {rates[d, 2]:.4g}.",
            "Start it where it has these, or write it without the root, power, asin, acos or"
            " division that ends there.",
        )
        for joint, d in mechanism.driven.items()
        if not np.isfinite(rates[d]).all()
    ]


def not_closed(joint: str, left: float, steps: int) -> AssemblyError:
    """The gap that is `left` [m or rad] at a joint after all Newton steps."""
    return AssemblyError.of(
        [
            Problem(
                "error",
                f"joints.{joint}",
                f"the loop does not close here: {left:.3g} m (or rad) are left after"
                f" {steps} steps.",
                "Check lengths and joint points, write a posture nearer to a closed one, or"
                " give fewer coordinates in `initial`.",
            )
        ]
    )


def contradicting(joint: str, left: float) -> AssemblyError:
    """The speed that is `left` [m/s or rad/s] at a joint."""
    return AssemblyError.of(
        [
            Problem(
                "error",
                f"joints.{joint}",
                "no speeds satisfy all joints and drives at the start:"
                f" {left:.3g} m/s (or rad/s) are left.",
                "Two drives contradict each other here: remove or change one.",
            )
        ]
    )


def problems_of(moved: float, turned: float, size: float, *, let_go: bool) -> tuple[Problem, ...]:
    """What the engineer should know of a start: a body that was `moved` [m] in a mechanism of
    that `size`, or `turned` [rad], speeds that were let go."""
    problems: tuple[Problem, ...] = ()
    found = [f"moved by up to {moved:.3g} m"] if moved > 1e-9 * size else []
    found += [f"turned by {math.degrees(turned):.4g} deg"] if turned > TURNED else []
    if found:
        what = f"the assembly found bodies elsewhere than written: {' and '.join(found)}."
        problems = (Problem("note", "bodies", what),)
    if not let_go:
        return problems
    return (
        *problems,
        Problem(
            "warning",
            "joints",
            "the start speeds in `initial` contradict joints or each other: none of them is held.",
            "Write only as many as the mechanism has freedoms.",
        ),
    )
