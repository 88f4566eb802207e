"""What is said of a start that cannot be, or whose constraints are not independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.closing import (
    Mask,
)
from vbg.assemble.start.constraints.determined import Projection
from vbg.assemble.start.constraints.nearby import LostGrip
from vbg.assemble.start.remarks import (
    by_part,
    with_unit,
)
from vbg.assemble.system import System
from vbg.errors import Problem, counted

Array = NDArray[np.float64]

DRIVE = "drive"  # label of the rows of prescribed coordinates
SHOWN = 6  # determined projections that a note names
_TIED = "has the pressure, voltage or speed of what it is tied to"
_LEVEL = (
    "Oil has no pressure below vacuum, a gas none below zero: change the source, or tie it softly."
)


def worst_gap(system: System, residual: Array) -> tuple[str, str, float]:
    """Part, direction and value of the largest residual."""
    worst = int(np.argmax(np.abs(residual)))
    for c in system.equations.constraints:
        if c.first <= worst < c.first + len(c.labels):
            return c.part, c.labels[worst - c.first], float(residual[worst])
    raise AssertionError("residual outside of all constraints")


def drives_of(system: System) -> list[str]:
    return [c.part for c in system.equations.constraints if c.labels == (DRIVE,)]


def does_not_close(system: System, position: Array) -> Problem:
    """The gap of the mechanism by joint."""
    part, label, value = worst_gap(system, position)
    if label == "drive" or ((drives := drives_of(system)) and len(drives) > 1 and part in drives):
        return Problem(
            "error",
            part,
            "its drive cannot be followed at t = 0: "
            f"{with_unit(system, part, label, value)} is left after assembly.",
            f"Drives here: {', '.join(drives_of(system))}; two of them contradict each other, or "
            "one asks for a posture that the mechanism cannot reach. Remove or change one.",
        )
    return Problem(
        "error",
        part,
        "the loop through this joint cannot be closed: "
        f"{with_unit(system, part, label, value)} is left in direction '{label}' at this "
        "joint in the nearest posture that was found.",
        "Check the lengths around the loop and the written positions; start nearer to a "
        "posture that closes.",
    )


def contradiction(system: System, velocity: Array) -> Problem:
    part, label, value = worst_gap(system, velocity)
    if label.startswith("dependent store"):
        return Problem("error", part, f"no state of it {_TIED}: {value:.4g} (SI) is left.", _LEVEL)
    drives = drives_of(system)
    return Problem(
        "error",
        part,
        "no velocities satisfy all joints and drives at the start: "
        f"{with_unit(system, part, label, value, rate='/s')} is left in direction '{label}'.",
        f"Drives that contradict each other: {', '.join(drives)}. Remove one of them."
        if drives
        else "Check the written speeds.",
    )


def redundancy(
    system: System, dependent: int, redundant: tuple[str, ...], projections: Sequence[Projection]
) -> Problem:
    what = (
        f"{counted(dependent, 'constraint direction')} {_is(dependent)} redundant;"
        f" efforts not unique: {by_part(redundant, system.constraint_names)}."
    )
    if projections:
        shown = ", ".join(str(projection) for projection in projections[:SHOWN])
        more = len(projections) - SHOWN
        what += f" Determined all the same, in the axes of the first body: {shown}"
        what += f" and {more} more." if more > 0 else "."
    return Problem(
        "warning",
        "joints",
        what,
        "The motion is unique; the forces shown are the smallest in the least-squares "
        "sense. Free a direction (a spherical or universal joint) to make them unique.",
    )


def directions(system: System, rows: Mask) -> tuple[str, ...]:
    return tuple(n for n, here in zip(system.constraint_names, rows, strict=True) if here)


def _first_part(system: System, rows: Mask) -> str:
    """The part of the first of the rows."""
    constraints = system.equations.constraints
    return next(c.part for c in constraints if rows[c.first : c.first + len(c.labels)].any())


def singular(system: System, lost: LostGrip) -> Problem:
    """A posture beside which the mechanism has fewer freedoms."""
    names = by_part(directions(system, lost.rows), system.constraint_names)
    return Problem(
        "error",
        _first_part(system, lost.rows),
        f"the start is a singular posture: {counted(lost.count, 'constraint direction')} without"
        f" grip there, combinations of {names}; the mechanism may go on along different branches,"
        " or not at all.",
        "Start a little away from it (links not all on one line).",
    )


def without_inertia(system: System, lost: Mask) -> Problem:
    """Constraints that hold well, on inertias of which one is rounding beside another."""
    names = by_part(directions(system, lost), system.constraint_names)
    return Problem(
        "error",
        _first_part(system, lost),
        f"an inertia here is lost in the digits of numbers beside another, at {names}: a body of "
        "mass m that its joint, a away, leaves free to spin needs a moment of inertia above about "
        "1e-13 m a^2, and joined bodies masses within 1e13 of each other.",
        "Give the light body a larger moment of inertia or mass, or weld it to its neighbour.",
    )


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
