"""One group of a program over a span of instants, compiled."""

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
    FIRST,
    KIND,
    OPEN,
    ORIENT,
    PART,
    SECOND,
    SINGULAR,
    TURN,
    WIDTH,
    compiled,
    dot,
    fixed_in,
    minus,
    newton,
    plus,
    product,
    rates,
    released,
    rotation,
    term,
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
    return ending


@compiled
def aim(terms, equations, drive, target):
    """Set the driven rotations R_FM of some equations' ORIENT terms in `target`, (k, 3, 3)."""
    for i in range(len(equations)):
        e = equations[i]
        k = terms.start[e]
        if terms.slot[e] >= 0 and terms.codes[k, KIND] == ORIENT:
            first = terms.slot[e] - terms.codes[k, PART]
            target[k] = rotation(drive[first : first + 3])


@compiled
def keep_angles(terms, equations, p, R, near, target):
    """Set `near` to the values of the angular terms of some equations, whole turns kept."""
    for i in range(len(equations)):
        e = equations[i]
        for k in range(terms.start[e], terms.start[e + 1]):
            kind = terms.codes[k, KIND]
            if kind == TURN or kind == FIRST or kind == SECOND:  # noqa: SIM109
                near[k] = term(terms.codes, terms.data, k, p, R, near, target)[0]


@compiled
def identities(count):
    """(count, 3, 3)."""
    out = np.zeros((count, 3, 3))
    for k in range(count):
        for i in range(3):
            out[k, i, i] = 1.0
    return out


@compiled
def take(p_all, R_all, V_all, A_all, row, body, p, R, V, Acc):
    """Posture, velocity and acceleration of `body` from a row of the results."""
    for i in range(3):
        p[body, i] = p_all[row, body, i]
        for j in range(3):
            R[body, i, j] = R_all[row, body, i, j]
    for i in range(6):
        V[body, i], Acc[body, i] = V_all[row, body, i], A_all[row, body, i]


@compiled
def give(p, R, V, Acc, row, body, p_all, R_all, V_all, A_all):
    """The same into a row of the results."""
    for i in range(3):
        p_all[row, body, i] = p[body, i]
        for j in range(3):
            R_all[row, body, i, j] = R[body, i, j]
    for i in range(6):
        V_all[row, body, i], A_all[row, body, i] = V[body, i], Acc[body, i]


@released
def solve_span(tables, g, first, last, near, drives, basis, p_all, R_all, V_all, A_all):
    """Group g at the instants `first` to `last` - 1, each from its posture before.

    Instant i stands in row i + 1 of the results (k + 1, n, ...), row 0 holds the posture before
    all; the bodies that the group is carried by are known there.  `drives` : (k, 3, drives)
    values, rates, second rates.  What threads share is only read and written row by row: the
    rest is copied, since every call counts references to the arrays it passes on.

    Returns the first instant that is not solved, and how it ended.
    """
    terms, plane = tables.terms, basis.shape[0] == 3
    bodies = tables.bodies[tables.body_start[g] : tables.body_start[g + 1]]
    carriers = tables.carriers[tables.carrier_start[g] : tables.carrier_start[g + 1]]
    equations = tables.equations[tables.equation_start[g] : tables.equation_start[g + 1]]
    p, R = tables.p_0.copy(), tables.R_0.copy()
    V, Acc = np.zeros((len(p), 6)), np.zeros((len(p), 6))
    z, u = np.zeros(len(p), dtype=np.complex128), np.ones(len(p), dtype=np.complex128)
    columns = np.full(len(p), -1, dtype=np.int64)
    own, target = near.copy(), identities(len(near))
    flat(tables.plane, p, R, tables.p_0, tables.R_0, 0, z, u)
    for body in bodies:
        take(p_all, R_all, V_all, A_all, first, body, p, R, V, Acc)
    ending, i = CLOSED, first
    while i < last:
        drive, rate = drives[i, 0], drives[i, 1:]
        for body in carriers:
            take(p_all, R_all, V_all, A_all, i + 1, body, p, R, V, Acc)
        if plane:
            for body in carriers:
                flat(tables.plane, p, R, tables.p_0, tables.R_0, body, z, u)
            for body in bodies:
                flat(tables.plane, p, R, tables.p_0, tables.R_0, body, z, u)
        aim(terms, equations, drive, target)
        ending = position(tables, g, p, R, own, target, drive, basis, columns, z, u)
        if ending != CLOSED:
            break
        if not rates(
            terms, equations, bodies, p, R, own, target, drive, rate, V, Acc, basis, columns
        ):
            ending = SINGULAR
            break
        keep_angles(terms, equations, p, R, own, target)
        for body in bodies:
            give(p, R, V, Acc, i + 1, body, p_all, R_all, V_all, A_all)
        i += 1
    for e in equations:
        for k in range(terms.start[e], terms.start[e + 1]):
            near[k] = own[k]
    return i, ending
