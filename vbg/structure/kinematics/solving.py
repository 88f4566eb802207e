"""The compiled sweep over the groups of a program."""

from __future__ import annotations

import numpy as np

from vbg.structure.kinematics.dyads import DRIVEN, NEWTON, solve_dyad
from vbg.structure.kinematics.kernels import (
    AT_F,
    AT_M,
    AXES_F,
    AXES_M,
    BODY_A,
    CLOSED,
    KERNELS,
    KIND,
    OPEN,
    ORIENT,
    PART,
    WIDTH,
    angles,
    compiled,
    dot,
    fixed_in,
    minus,
    newton,
    plus,
    product,
    rates,
    rotation,
    turned,
)

MOST_STEPS = 60


@compiled
def pose_driven(tables, g, body, p, R, drive):
    """Pose of a one-body group: carrier's pose, F, drives, and back from M."""
    data, k = tables.terms.data, tables.pair_of[g]
    A, slots = tables.terms.codes[k, BODY_A], tables.drive_of[g]
    F = product(R[A], data[k, AXES_F:AXES_M].copy().reshape(3, 3))
    shift, turn = np.zeros(3), np.zeros(3)
    if slots[0] >= 0:
        turn[2] = drive[slots[0]]
    if slots[1] >= 0:
        shift[2] = drive[slots[1]]
    for i in range(3):
        if slots[2 + i] >= 0:
            shift[i] = drive[slots[2 + i]]
        if slots[5] >= 0:
            turn[i] = drive[slots[5] + i]
    M = product(F, rotation(turn))
    R[body] = product(M, data[k, AXES_M:WIDTH].copy().reshape(3, 3).T)
    joint = plus(fixed_in(R, A, data, k, AT_F), turned(F, shift))
    joint = minus(joint, fixed_in(R, body, data, k, AT_M))
    for i in range(3):
        p[body, i] = p[A, i] + joint[i]


@compiled
def flat(plane, p, R, p_0, R_0, body, z, u):
    """Complex pose of `body` from its spatial one."""
    x, y = plane[0], plane[1]
    z[body] = complex(dot(x, p[body]), dot(y, p[body]))
    # a direction of the plane, taken with the body from its reference posture
    now = turned(R[body], turned(R_0[body].T, x))
    u[body] = complex(dot(x, now), dot(y, now))


@compiled
def spatial(plane, p, R, p_0, R_0, body, z, u):
    """Spatial pose of `body` from its complex one."""
    out_of_plane = dot(plane[2], p[body])
    p[body] = plane[0] * z[body].real + plane[1] * z[body].imag + plane[2] * out_of_plane
    angle = np.arctan2(u[body].imag, u[body].real)
    R[body] = product(rotation(plane[2] * angle), R_0[body])


@compiled
def position(tables, g, p, R, near, target, drive, basis, columns, z, u):
    """Positions of group g; how it ended."""
    bodies = tables.bodies[tables.body_start[g] : tables.body_start[g + 1]]
    equations = tables.equations[tables.equation_start[g] : tables.equation_start[g + 1]]
    kind = tables.dyads.kind[g]
    if kind == NEWTON:
        ending = newton(
            tables.terms, equations, bodies, p, R, near, target, drive, basis, columns, MOST_STEPS
        )[1]
    elif kind == DRIVEN:
        pose_driven(tables, g, bodies[0], p, R, drive)
        ending = CLOSED
    else:
        ending = CLOSED if solve_dyad(tables.dyads, g, z, u) else OPEN
        for body in bodies:
            spatial(tables.plane, p, R, tables.p_0, tables.R_0, body, z, u)
    if basis.shape[0] == 3 and (kind == NEWTON or kind == DRIVEN):  # noqa: SIM109
        for body in bodies:
            flat(tables.plane, p, R, tables.p_0, tables.R_0, body, z, u)
    return ending


@compiled
def solve_at(tables, p, R, near, drive, rate, V, Acc, basis):
    """One instant: poses from the last ones, velocities, accelerations, all in place.

    Returns (-1, CLOSED), or the group that failed and how.
    """
    terms = tables.terms
    target = targets(terms, drive)
    columns = np.full(len(p), -1, dtype=np.int64)
    z, u = np.zeros(len(p), dtype=np.complex128), np.ones(len(p), dtype=np.complex128)
    if basis.shape[0] == 3:
        for body in range(len(p)):
            flat(tables.plane, p, R, tables.p_0, tables.R_0, body, z, u)
    for g in range(len(tables.body_start) - 1):
        ending = position(tables, g, p, R, near, target, drive, basis, columns, z, u)
        if ending != CLOSED:
            return g, ending
        bodies = tables.bodies[tables.body_start[g] : tables.body_start[g + 1]]
        equations = tables.equations[tables.equation_start[g] : tables.equation_start[g + 1]]
        regular = rates(
            terms, equations, bodies, p, R, near, target, drive, rate, V, Acc, basis, columns
        )
        if not regular:
            return g, 1
    near[:] = angles(terms, p, R, near, target)
    return -1, CLOSED


@compiled
def targets(terms, drive):
    """(k, 3, 3) the driven rotation R_FM of ORIENT terms, the identity for others."""
    out = np.zeros((len(terms.codes), 3, 3))
    for k in range(len(out)):
        for i in range(3):
            out[k, i, i] = 1.0
    for e in range(len(terms.slot)):
        k = terms.start[e]
        if terms.slot[e] >= 0 and terms.codes[k, KIND] == ORIENT:
            first = terms.slot[e] - terms.codes[k, PART]
            out[k] = rotation(drive[first : first + 3])
    return out


@compiled
def solve_all(tables, p, R, near, drives, basis, p_all, R_all, V_all, A_all):
    """Every instant in turn, each from the posture before; results go to the last four.

    `drives` : (instants, 3, drives) values, rates, second rates.  Returns the
    number of instants solved, then the group that failed or -1, and how.
    """
    for i in range(len(drives)):
        V, Acc = np.zeros((len(p), 6)), np.zeros((len(p), 6))
        failed, ending = solve_at(tables, p, R, near, drives[i, 0], drives[i, 1:], V, Acc, basis)
        if failed >= 0:
            return i, failed, ending
        p_all[i], R_all[i], V_all[i], A_all[i] = p, R, V, Acc
    return len(drives), -1, CLOSED


def sweep(tables, p, R, near, drives, basis, p_all, R_all, V_all, A_all):
    """`solve_all`, compiled once by whichever process needs it first."""
    results = (p_all, R_all, V_all, A_all)
    KERNELS.ensure("sweep", lambda: solve_all(tables, p, R, near, drives[:0], basis, *results))
    return solve_all(tables, p, R, near, drives, basis, *results)
