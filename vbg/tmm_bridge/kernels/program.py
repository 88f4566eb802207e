"""Everything of an instant that is a formula, on one tape: drives, inputs, the network.

Sections of the tape: functions of time; the balance of the network of one-dimensional
parts at given unknowns; what it exerts on the mechanism; what changes sign at kinks of
its laws; its outputs; slopes of the balance by the unknowns.  These come from Newton's method, rows
of J of equal size; those of the last instant start the next search, and its Jacobian
serves as long as it contracts.  Where that does not converge (diodes, whose currents grow by e
in 26 mV) the root is followed from the last one along r(z) = share r(z_last), the share going from
1 to 0 (continuation: J. M. Ortega, W. C. Rheinboldt, Iterative Solution of Nonlinear Equations in
Several Variables, 1970, 7.5).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from vbg.plumbing.kernels.native import Table
from vbg.tmm_bridge.kernels.algebra import dot, plus
from vbg.tmm_bridge.kernels.motion.cuts import point_motion
from vbg.tmm_bridge.kernels.motion.kinematics import clear, triple
from vbg.tmm_bridge.kernels.play import play
from vbg.tmm_bridge.kernels.rows import TURNING, VELOCITY, W_R, W_W
from vbg.tmm_bridge.kernels.sources import compiled

Array = np.ndarray[Any, Any]

PLAY_TIME, PLAY_BALANCE, PLAY_FEEDS, PLAY_CHANGES, PLAY_OUTPUTS, PLAY_SLOPES = range(
    6
)  # as SECTIONS
STEP = 1e-7  # of a forward difference where a slope has no value, of the unknown's size
EXACT = 1e-13  # relative change of the unknowns that counts as none
TINY = 1e-300  # of their sizes: unknowns that are nothing
SLOW = 0.1  # contraction of two steps above which the Jacobian is renewed
CONTRACTS = 1e-3  # relative change of the unknowns from which on the next step is looked at
NOISE = 1e-9  # relative change of the unknowns that may be of rounding
ROUNDING = 1e-14  # of the sizes of a balance's terms: a smaller rest is none
LONGEST = 300  # steps of a search, and of a way along which a root is followed
STRIDE = 60  # steps of a search on that way
SHORTEST = 1e-7  # of the way: no shorter stride is tried


class _Program(NamedTuple):
    """A tape whose first place is the time, and where things are in its memory.

    code, memory, curves, ends : the tape;
    drives (d, 3) : f, f', f'';  inputs, fed (., 2) : input of the mechanism, place of the value
    from the time alone or from the network;
    x, rates, z, residual : states, unknowns;  slopes (e, 3) : row, column, place of what J has;
    scales, inverse, valid : sizes of the unknowns, inverse of J, whether it still serves;
    grain : sizes of the terms of each residual;  root, away : unknowns that solved an instant
    last, the residuals to be reached (zero but on a way from there);
    joints (k, 3) : coordinate, places of position and speed;  pairs (p, 4) : nodes, these
    places;  points (p, 6) : in the nodes' frames;
    sensors (b, 3) : node, what is seen, first of three places;  frames (b, 12) : the point in the
    node's frame, R_NB;
    changes, outputs : what changes sign, what is told;  grip (f, 3) : speed of each dry
    friction, effort that it exerts, the most that it holds;  held : places for what rows of
    the mechanism hold in place of frictions;  accelerations (., 2) : coordinate, place;
    reactions : places for efforts of the network's rows;  asked (k, 2) : hinge's speed, place of
    accelerations that the network needs;  given (k,), yields (k, fed) : places of a_0 and Y in
    a = a_0 + Y u (`motion.dependent`);  shafts : places of their positions;
    slope (z, z) : of the residuals, whose `inverse` that is;  jacobian (z, z), room (4, z) : for a
    search.
    """

    code: Array
    memory: Array
    curves: Array
    ends: Array
    drives: Array
    inputs: Array
    fed: Array
    x: Array
    rates: Array
    z: Array
    residual: Array
    slopes: Array
    scales: Array
    inverse: Array
    slope: Array
    valid: Array
    grain: Array
    root: Array
    away: Array
    joints: Array
    pairs: Array
    points: Array
    sensors: Array
    frames: Array
    changes: Array
    outputs: Array
    grip: Array
    held: Array
    accelerations: Array
    reactions: Array
    asked: Array
    given: Array
    yields: Array
    shafts: Array
    jacobian: Array
    room: Array


class Program(_Program, Table):
    """As the kernels get it."""


BASE, STEPS, WHOLE, HELD = range(4)  # rows of the room


@compiled
def section(p, k):
    """Play the k-th of SECTIONS."""
    play(p.code, p.memory, p.curves, p.ends[k], p.ends[k + 1])


@compiled
def at_time(p, time, inputs, drive):
    """Inputs that are functions of time, and drives, at `time`."""
    p.memory[0] = time
    section(p, PLAY_TIME)
    for n in range(p.inputs.shape[0]):
        inputs[p.inputs[n, 0]] = p.memory[p.inputs[n, 1]]
    for d in range(p.drives.shape[0]):
        for order in range(3):
            drive[d, order] = p.memory[p.drives[d, order]]


@compiled
def turned_back(R, at, x):
    """R^T x of the rotation matrix whose nine entries stand from `at` on."""
    return (
        R[at] * x[0] + R[at + 3] * x[1] + R[at + 6] * x[2],
        R[at + 1] * x[0] + R[at + 4] * x[1] + R[at + 7] * x[2],
        R[at + 2] * x[0] + R[at + 5] * x[1] + R[at + 8] * x[2],
    )


@compiled
def take_sensors(p, s):
    """Motions of bodies that signals read."""
    for k in range(p.sensors.shape[0]):
        node, what, out = p.sensors[k, 0], p.sensors[k, 1], p.sensors[k, 2]
        c = p.frames[k]
        x, v = point_motion(s.work, node, c[0], c[1], c[2])
        if what == VELOCITY:
            x = v
        elif what == TURNING:
            w = triple(s.work, node, W_W)
            x = turned_back(c, 3, turned_back(s.work[node], W_R, w))
        p.memory[out], p.memory[out + 1], p.memory[out + 2] = x


@compiled
def take_motion(p, s):
    """Coordinates and distances from a mechanism whose posture was just found."""
    m = p.memory
    for k in range(p.joints.shape[0]):
        m[p.joints[k, 1]] = s.coordinate[p.joints[k, 0], 0]
        m[p.joints[k, 2]] = s.coordinate[p.joints[k, 0], 1]
    for k in range(p.pairs.shape[0]):
        c = p.points[k]
        pa, va = point_motion(s.work, p.pairs[k, 0], c[0], c[1], c[2])
        pb, vb = point_motion(s.work, p.pairs[k, 1], c[3], c[4], c[5])
        d = plus(pb, -1.0, pa)
        length = math.sqrt(dot(d, d))
        m[p.pairs[k, 2]] = length
        m[p.pairs[k, 3]] = dot(d, plus(vb, -1.0, va)) / length
    take_sensors(p, s)


@compiled
def inverted(A, out):
    """The inverse of A, which is lost; False if there is none.  Gauss and Jordan, with pivots."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 1.0 if i == j else 0.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        pivot = A[best, k]
        if not (abs(pivot) > 0.0 and abs(pivot) < np.inf):
            return False
        for j in range(n):
            A[k, j], A[best, j] = A[best, j], A[k, j]
            out[k, j], out[best, j] = out[best, j], out[k, j]
        for j in range(n):
            A[k, j] /= pivot
            out[k, j] /= pivot
        for i in range(n):
            factor = A[i, k]
            if i != k and factor != 0.0:
                for j in range(n):
                    A[i, j] -= factor * A[k, j]
                    out[i, j] -= factor * out[k, j]
    return True


@compiled
def gathered(memory, places, out):
    """Values at `places`."""
    for k in range(places.shape[0]):
        out[k] = memory[places[k]]


@compiled
def jacobian(p, J):
    """J (n, n) of the residuals by the unknowns over their scales, where the balance was played;
    by differences where a slope is infinite (a root at zero)."""
    m, n = p.memory, p.z.shape[0]
    section(p, PLAY_SLOPES)
    base = p.room[BASE]
    for k in range(n):
        clear(J[k])
    for e in range(p.slopes.shape[0]):
        J[p.slopes[e, 0], p.slopes[e, 1]] = m[p.slopes[e, 2]] * p.scales[p.slopes[e, 1]]
    gathered(m, p.residual, base)
    for k in range(n):
        finite = True
        for i in range(n):
            finite &= math.isfinite(J[i, k])
        if finite:
            continue
        z = m[p.z[k]]
        m[p.z[k]] = z + STEP * (abs(z) + p.scales[k])
        step = m[p.z[k]] - z
        section(p, PLAY_BALANCE)
        for i in range(n):
            J[i, k] = (m[p.residual[i]] - base[i]) / step * p.scales[k]
        m[p.z[k]] = z
        section(p, PLAY_BALANCE)


@compiled
def linearise(p):
    """The inverse of the Jacobian of the residuals at the unknowns; False if it has none."""
    n = p.z.shape[0]
    J, rows = p.jacobian, p.room[BASE]
    jacobian(p, J)
    clear(rows)
    for i in range(n):
        p.grain[i] = 0.0
        for k in range(n):
            rows[i] = max(rows[i], abs(J[i, k]))
            p.slope[i, k] = J[i, k] / p.scales[k]
            p.grain[i] += abs(p.slope[i, k] * p.memory[p.z[k]])
        for k in range(n):
            J[i, k] /= rows[i]
    if not inverted(J, p.inverse):
        return False
    for k in range(n):
        for i in range(n):
            p.inverse[k, i] *= p.scales[k] / rows[i]
    p.valid[0] = 1
    return True


@compiled
def ahead(p):
    """The step of the unknowns by what is left of their balances, in STEPS.

    A second round takes what rounding of the inverse leaves of the linear balances (iterative
    refinement): of two nodes that a closed switch joins the inverse knows the difference badly."""
    m, n = p.memory, p.z.shape[0]
    steps, left = p.room[STEPS], p.room[BASE]
    clear(steps)
    for _ in range(2):
        for i in range(n):
            left[i] = m[p.residual[i]] - p.away[i]
            for k in range(n):
                left[i] += p.slope[i, k] * steps[k]
        for k in range(n):
            for i in range(n):
                steps[k] -= p.inverse[k, i] * left[i]


@compiled
def share_held(p):
    """The largest of the unknowns, now and at the last root, of its size, at most 1: in a circuit
    of picovolts a picovolt is all that there is."""
    share = TINY
    for k in range(p.z.shape[0]):
        largest = max(abs(p.memory[p.z[k]]), abs(p.root[k])) / p.scales[k]
        if largest > share:
            share = largest
    return min(share, 1.0)


@compiled
def reach(p):
    """The size of the step in STEPS relative to the unknowns."""
    steps, size, share = p.room[STEPS], 0.0, share_held(p)
    for k in range(p.z.shape[0]):
        change = abs(steps[k]) / (abs(p.memory[p.z[k]]) + share * p.scales[k])
        if not change <= size:  # a NaN is larger
            size = change
    return size


@compiled
def newton_step(p):
    """A step of the unknowns and the balance behind it; its size relative to the unknowns."""
    ahead(p)
    for k in range(p.z.shape[0]):
        p.memory[p.z[k]] += p.room[STEPS][k]
    size = reach(p)
    section(p, PLAY_BALANCE)
    return size


@compiled
def at_root(p, size):
    """Whether a step of this size ended on the root: what the balances there ask for is no step
    any more.  Steps that got smaller do not tell: behind an ideal diode that has just let go a
    step of the slope in which it conducts is small, and the current it takes is not there."""
    if size <= EXACT:
        return True
    if not size <= CONTRACTS:
        return False
    ahead(p)
    return reach(p) <= EXACT


@compiled
def weigh(p):
    """The sizes of the terms of each residual, by the slopes where the balance was played: those
    of a diode that conducts would hide what 1e-12 S leave of a balance when it has blocked."""
    m = p.memory
    section(p, PLAY_SLOPES)
    clear(p.grain)
    for e in range(p.slopes.shape[0]):
        p.grain[p.slopes[e, 0]] += abs(m[p.slopes[e, 2]] * m[p.z[p.slopes[e, 1]]])


@compiled
def balanced(p):
    """Whether what is left of every balance is rounding of its terms (conductances of ideal
    switches beside one another: currents are as uncertain as their voltages make them), just
    behind `linearise` or `weigh`: terms of other unknowns say nothing."""
    for i in range(p.z.shape[0]):
        if not abs(p.memory[p.residual[i]] - p.away[i]) <= ROUNDING * p.grain[i]:
            return False
    return True


@compiled
def search(p, longest):
    """The unknowns at the instant in the memory; False where there is no solution."""
    section(p, PLAY_BALANCE)
    if p.z.shape[0] == 0:
        return True
    last, renewed, settled = np.inf, False, np.inf
    for _ in range(longest):
        fresh = p.valid[0] == 0
        if fresh:
            invertible, renewed = linearise(p), True
            if last < np.inf and balanced(p):
                return True
            if not invertible:
                return False
        size = newton_step(p)
        if not size < np.inf:
            return False
        # steps by slopes of their own places that are small and get no smaller: rounding of what
        # no unknown is in (1e-7 A of a diode that blocks, beside 1e-12 S)
        if fresh and SLOW * settled < size <= NOISE:
            return True
        settled = size if fresh and size <= NOISE else np.inf
        rooted = at_root(p, size)
        if rooted:
            if renewed:
                return True
            # slopes of an instant before say nothing of a way that a valve has shut since
            weigh(p)
            if balanced(p):
                return True
        if rooted or size > SLOW * min(last, 1.0):  # nor of an unknown as far as it is large
            p.valid[0] = 0
        last = size
    return False


@compiled
def followed(p):
    """The unknowns at the instant in the memory, followed from those that stand there."""
    m, n = p.memory, p.z.shape[0]
    section(p, PLAY_BALANCE)
    whole, held = p.room[WHOLE], p.room[HELD]
    share, stride, found = 1.0, 0.25, True
    for i in range(n):
        whole[i], held[i] = m[p.residual[i]], m[p.z[i]]
        found &= math.isfinite(whole[i])
    for _ in range(LONGEST):
        if not found or share == 0.0 or stride < SHORTEST:
            break
        ahead = max(share - stride, 0.0)
        for i in range(n):
            p.away[i] = ahead * whole[i]
        p.valid[0] = 0
        if search(p, STRIDE):
            share, stride = ahead, 2.0 * stride
            for i in range(n):
                held[i] = m[p.z[i]]
        else:
            stride *= 0.25
            for i in range(n):
                m[p.z[i]] = held[i]
    clear(p.away)
    return share == 0.0


@compiled
def found_unknowns(p):
    """The unknowns at the instant in the memory; False where there is no solution."""
    m, n = p.memory, p.z.shape[0]
    for k in range(n):
        if not math.isfinite(m[p.z[k]]):
            m[p.z[k]] = p.root[k]
    if search(p, LONGEST):
        gathered(m, p.z, p.root)
        return True
    # after a wild trial step the last unknowns may lead nowhere: then from rest
    for from_rest in (False, True):
        for k in range(n):
            m[p.z[k]] = 0.0 if from_rest else p.root[k]
        if followed(p):
            gathered(m, p.z, p.root)
            return True
    return False


@compiled
def solve_network(p, y, inputs):
    """The network at its states y: rates, and what it exerts, among the mechanism's inputs.

    Where a law has no value or the balance no solution, as in a step that is too long,
    these are NaN: error control shortens the step.
    """
    m = p.memory
    for k in range(p.x.shape[0]):
        m[p.x[k]] = y[k]
    found = found_unknowns(p)
    section(p, PLAY_FEEDS)
    for n in range(p.fed.shape[0]):
        inputs[p.fed[n, 0]] = m[p.fed[n, 1]] if found else np.nan
    if not found:  # nothing is told of an instant without a solution, and the next one begins anew
        p.valid[0] = 0
        for k in range(p.z.shape[0]):
            m[p.z[k]] = np.nan
        for k in range(p.rates.shape[0]):
            m[p.rates[k]] = np.nan
