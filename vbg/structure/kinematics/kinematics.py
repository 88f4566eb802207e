"""Kinematics of driven mechanisms, group by group or as a whole.

Positions of a group by a closed form where there is one (planar dyads,
one-body groups whose freedoms are all driven) and by Newton's method
otherwise; velocities and accelerations are linear.  Groups are solved in the
order of the structural analysis, each with the bodies before it as frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.structure.count.report import Structure, analyse_topology
from vbg.structure.kinematics.kernels import FIRST, KIND, SECOND, SINGULAR, TURN
from vbg.structure.kinematics.program import Program, make_program, velocity_basis
from vbg.structure.kinematics.spans import Ended, Rows, solve_all
from vbg.structure.topology.linkage import Linkage

Array = NDArray[np.float64]
Drives = Callable[[float], tuple[Array, Array, Array]]
Status = Literal["solved", "singular", "not assembled"]


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """The motion of all bodies; body 0 is the frame.

    time : (k,); p_WB : (k, n, 3) [m]; R_WB : (k, n, 3, 3); V_WB_W, A_WB_W :
    (k, n, 6) angular before linear velocity and acceleration, world axes.
    Where `status` is not "solved", the arrays end before the time `stopped`
    and `where` names the bodies that could not be solved.
    """

    time: Array
    p_WB: Array
    R_WB: Array
    V_WB_W: Array
    A_WB_W: Array
    status: Status = "solved"
    stopped: float = float("nan")
    where: tuple[str, ...] = ()


def solve_by_groups(
    linkage: Linkage, times: Sequence[float], drives: Drives, *, workers: int = 1
) -> Motion:
    """The motion at `times`, group by group, by `workers` threads: groups that do not wait for one
    another are solved at the same time, to the same bits.

    `drives(t)` gives values, rates and accelerations of the driven
    coordinates, each (drives,), pair by pair as in `linkage.drives`; of the
    rotation of a free body (F) the value is a rotation vector of M in F, its
    rates are the angular velocity and acceleration, axes of F.  The posture of
    `linkage` chooses the branch.

    Raises `UsageError` where the mechanism is not determined.
    """
    structure = analyse_topology(linkage.topology)
    if not structure.determined:
        raise UsageError(" ".join(f"{one.what} {one.remedy}" for one in structure.problems))
    return run(make_program(linkage, structure), linkage, times, drives, workers=workers)


def solve_whole(linkage: Linkage, times: Sequence[float], drives: Drives) -> Motion:
    """The motion at `times`, all equations at once by Newton's method."""
    return run(whole_program(linkage), linkage, times, drives)


def whole_program(linkage: Linkage) -> Program:
    """All bodies as one group."""
    return make_program(linkage, None)


def group_program(linkage: Linkage, structure: Structure) -> Program:
    """The groups of a determined `structure` in their order."""
    return make_program(linkage, structure)


def run(
    program: Program,
    linkage: Linkage,
    times: Sequence[float],
    drives: Drives,
    *,
    workers: int = 1,
) -> Motion:
    """The motion that `program` computes at `times`, in order, by `workers` threads."""
    return solved_rows(program, linkage, times, drives, workers=workers)[0]


def solved_rows(
    program: Program, linkage: Linkage, times: Sequence[float], drives: Drives, *, workers: int
) -> tuple[Motion, Ended]:
    """The motion, and how its tasks ended with what threads spent on them."""
    if workers < 1:
        raise UsageError(f"a motion needs one worker at least, not {workers}")
    when = np.array(times, dtype=float)
    given = np.array([np.stack([np.asarray(v, float) for v in drives(t)]) for t in when.tolist()])
    moves = given.reshape(len(when), 3, -1)
    many = (len(when) + 1, len(linkage.p_WB))
    rows = Rows(
        np.zeros((*many, 3)), np.zeros((*many, 3, 3)), np.zeros((*many, 6)), np.zeros((*many, 6))
    )
    rows.p[0], rows.R[0] = linkage.p_WB, linkage.R_WB
    rows.p[:, 0], rows.R[:, 0] = linkage.p_WB[0], linkage.R_WB[0]
    near = start_angles(program, moves[0, 0]) if len(when) else program.near.copy()
    ended = solve_all(program, near, moves, velocity_basis(linkage), rows, workers)
    k = ended.done
    found = (rows.p[1 : k + 1], rows.R[1 : k + 1], rows.V[1 : k + 1], rows.A[1 : k + 1])
    if ended.group < 0:
        return Motion(when, *found), ended
    why: Status = "singular" if ended.ending == SINGULAR else "not assembled"
    where = tuple(linkage.topology.bodies[body] for body in program.bodies_of(ended.group))
    return Motion(when[:k], *found, why, float(when[k]), where), ended


def start_angles(program: Program, values: Array) -> Array:
    """(k,) what angles are near to at first: driven ones to their drives, turns kept."""
    near = program.near.copy()
    terms = program.tables.terms
    for e, slot in enumerate(terms.slot):
        k = terms.start[e]
        if slot >= 0 and terms.codes[k, KIND] in (TURN, FIRST, SECOND):
            near[k] = values[slot]
    return near
