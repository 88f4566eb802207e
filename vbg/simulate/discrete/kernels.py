"""Compiled steps of the discrete-time method over flat arrays.

The bodies and the joints between them are done here, in one pass each; whatever else a
model has (springs, motors, gears, signals, further states) is read from its tape between
the two halves of a step.
"""

from __future__ import annotations

import math

from vbg.assemble.program.machine.memory import ALONE, at, put
from vbg.assemble.program.machine.series.running import evaluate
from vbg.simulate.discrete.tables import (
    ANGLE_ON_B,
    FREE,
    KERNELS,
    PER_BODY,
    PER_BUSH,
    PER_END,
    PER_POSE,
    SLIDE,
    SQUARE,
)

NEAR = 1e-12  # more than rounding makes of a sum of products of unit quaternions


def compiled(function):
    """Decorator of the kernels of this file, as those of the tape."""
    return KERNELS.compiled(function, fastmath={"contract", "nsz"}, error_model="numpy", **ALONE)


@compiled
def turned(a, m, x, y, z):
    """The 3 x 3 matrix at `m` times (x, y, z)."""
    return (
        at(a, m) * x + at(a, m + 1) * y + at(a, m + 2) * z,
        at(a, m + 3) * x + at(a, m + 4) * y + at(a, m + 5) * z,
        at(a, m + 6) * x + at(a, m + 7) * y + at(a, m + 8) * z,
    )


@compiled
def turned_back(a, m, x, y, z):
    """The transpose of the matrix at `m` times (x, y, z)."""
    return (
        at(a, m) * x + at(a, m + 3) * y + at(a, m + 6) * z,
        at(a, m + 1) * x + at(a, m + 4) * y + at(a, m + 7) * z,
        at(a, m + 2) * x + at(a, m + 5) * y + at(a, m + 8) * z,
    )


@compiled
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@compiled
def place(x, bodies, pose):
    """R_WB and p_WB of all bodies from their quaternions and positions (eq. 1)."""
    for i in range(bodies.shape[0] // PER_BODY):
        b, p, q = PER_POSE * i, at(bodies, 4 * i + 2), at(bodies, 4 * i + 3)
        s, i1, i2, i3 = at(x, q), at(x, q + 1), at(x, q + 2), at(x, q + 3)
        put(pose, b, 1.0 - 2.0 * (i2 * i2 + i3 * i3))
        put(pose, b + 1, 2.0 * (i1 * i2 - s * i3))
        put(pose, b + 2, 2.0 * (i3 * i1 + s * i2))
        put(pose, b + 3, 2.0 * (i1 * i2 + s * i3))
        put(pose, b + 4, 1.0 - 2.0 * (i1 * i1 + i3 * i3))
        put(pose, b + 5, 2.0 * (i2 * i3 - s * i1))
        put(pose, b + 6, 2.0 * (i3 * i1 - s * i2))
        put(pose, b + 7, 2.0 * (i2 * i3 + s * i1))
        put(pose, b + 8, 1.0 - 2.0 * (i1 * i1 + i2 * i2))
        for k in range(3):
            put(pose, b + 9 + k, at(x, p + k))


@compiled
def speed(x, bodies, inertia, pose):
    """v_WB and w_WB_W of all bodies from their momenta; inertia: 1/m and J^-1 of each."""
    for i in range(bodies.shape[0] // PER_BODY):
        b, v, h = PER_POSE * i, at(bodies, 4 * i), at(bodies, 4 * i + 1)
        per_mass = at(inertia, 10 * i)
        for k in range(3):
            put(pose, b + 12 + k, per_mass * at(x, v + k))
        wx, wy, wz = turned(inertia, 10 * i + 1, at(x, h), at(x, h + 1), at(x, h + 2))
        wx, wy, wz = turned(pose, b, wx, wy, wz)
        put(pose, b + 15, wx)
        put(pose, b + 16, wy)
        put(pose, b + 17, wz)


@compiled
def add(a, m, sign, x, y, z):
    put(a, m, at(a, m) + sign * x)
    put(a, m + 1, at(a, m + 1) + sign * y)
    put(a, m + 2, at(a, m + 2) + sign * z)


@compiled
def misalignment(bushes, pose, j, a, b):
    """Sum of a x R_AB b over the pairs of joint j (A's axes): the rotation that is
    constrained, as in `axes_parallel` and `no_rotation` of vbg.junctions.constrain."""
    ex, ey, ez = 0.0, 0.0, 0.0
    for k in range(3):
        m = j + 42 + 6 * k
        ux, uy, uz = at(bushes, m), at(bushes, m + 1), at(bushes, m + 2)
        if ux == 0.0 and uy == 0.0 and uz == 0.0:
            break
        x, y, z = turned(pose, b, at(bushes, m + 3), at(bushes, m + 4), at(bushes, m + 5))
        x, y, z = turned_back(pose, a, x, y, z)
        x, y, z = cross(ux, uy, uz, x, y, z)
        ex, ey, ez = ex + x, ey + y, ez + z
    return ex, ey, ez


@compiled
def opposed(bushes, k, ex, ey, ez, rx, ry, rz):
    """-K e - C r with K at `k` and C behind it."""
    x, y, z = turned(bushes, k, ex, ey, ez)
    u, v, w = turned(bushes, k + 9, rx, ry, rz)
    return -x - u, -y - v, -z - w


@compiled
def relative_speed(pose, a, b, lx, ly, lz, sx, sy, sz):
    """R_AW (v_M - v_F) with the levers l from A and s from B to their points (W)."""
    ux, uy, uz = cross(at(pose, b + 15), at(pose, b + 16), at(pose, b + 17), sx, sy, sz)
    vx, vy, vz = cross(at(pose, a + 15), at(pose, a + 16), at(pose, a + 17), lx, ly, lz)
    return turned_back(
        pose,
        a,
        at(pose, b + 12) + ux - at(pose, a + 12) - vx,
        at(pose, b + 13) + uy - at(pose, a + 13) - vy,
        at(pose, b + 14) + uz - at(pose, a + 14) - vz,
    )


@compiled
def relative_spin(pose, a, b):
    """w_B - w_A in A's axes."""
    return turned_back(
        pose,
        a,
        at(pose, b + 15) - at(pose, a + 15),
        at(pose, b + 16) - at(pose, a + 16),
        at(pose, b + 17) - at(pose, a + 17),
    )


@compiled
def squared(bushes, pose, j, a, b):
    """Moment (A's axes) that keeps z_F of A square to z_M of B: along n = z_M x z_F, of
    the angle z_F . z_M and its rate n . (w_B - w_A)."""
    m = j + 42
    zx, zy, zz = at(bushes, m), at(bushes, m + 1), at(bushes, m + 2)
    x, y, z = turned(pose, b, at(bushes, m + 3), at(bushes, m + 4), at(bushes, m + 5))
    x, y, z = turned_back(pose, a, x, y, z)
    nx, ny, nz = cross(x, y, z, zx, zy, zz)
    wx, wy, wz = relative_spin(pose, a, b)
    angle, rate = zx * x + zy * y + zz * z, nx * wx + ny * wy + nz * wz
    t = -at(bushes, j + 24) * angle - at(bushes, j + 33) * rate
    return t * nx, t * ny, t * nz


@compiled
def righted(bushes, pose, j, a, b):
    """Moment (A's axes) against the constrained rotations of joint j."""
    ex, ey, ez = misalignment(bushes, pose, j, a, b)
    rx, ry, rz = relative_spin(pose, a, b)
    return opposed(bushes, j + 24, ex, ey, ez, rx, ry, rz)


@compiled
def press(ends, bushes, pose, wrench):
    """Forces and moments of all joints' bushings on their bodies (eq. 2, 3)."""
    for i in range(ends.shape[0] // PER_END):
        j = PER_BUSH * i
        ia, ib = at(ends, 4 * i), at(ends, 4 * i + 1)
        coincide, turns = at(ends, 4 * i + 2), at(ends, 4 * i + 3)
        a, b = PER_POSE * ia, PER_POSE * ib
        px, py, pz = at(bushes, j), at(bushes, j + 1), at(bushes, j + 2)
        sx, sy, sz = turned(pose, b, at(bushes, j + 3), at(bushes, j + 4), at(bushes, j + 5))
        lx, ly, lz = (
            at(pose, b + 9) + sx - at(pose, a + 9),
            at(pose, b + 10) + sy - at(pose, a + 10),
            at(pose, b + 11) + sz - at(pose, a + 11),
        )
        gx, gy, gz = turned_back(pose, a, lx, ly, lz)
        if coincide != 0:
            lx, ly, lz = turned(pose, a, px, py, pz)
        rx, ry, rz = relative_speed(pose, a, b, lx, ly, lz, sx, sy, sz)
        fx, fy, fz = opposed(bushes, j + 6, gx - px, gy - py, gz - pz, rx, ry, rz)
        fx, fy, fz = turned(pose, a, fx, fy, fz)
        add(wrench, 6 * ib, 1.0, fx, fy, fz)
        add(wrench, 6 * ia, -1.0, fx, fy, fz)
        mx, my, mz = cross(sx, sy, sz, fx, fy, fz)
        nx, ny, nz = cross(lx, ly, lz, fx, fy, fz)
        if turns != FREE:
            if turns == SQUARE:
                tx, ty, tz = squared(bushes, pose, j, a, b)
            else:
                tx, ty, tz = righted(bushes, pose, j, a, b)
            tx, ty, tz = turned(pose, a, tx, ty, tz)
            mx, my, mz = mx + tx, my + ty, mz + tz
            nx, ny, nz = nx + tx, ny + ty, nz + tz
        add(wrench, 6 * ib + 3, 1.0, mx, my, mz)
        add(wrench, 6 * ia + 3, -1.0, nx, ny, nz)


@compiled
def kick(x, bodies, pose, wrench, dt):
    """Momenta by the wrenches, the moments in body axes; the wrenches become zero."""
    for i in range(bodies.shape[0] // PER_BODY):
        w, v, h = 6 * i, at(bodies, 4 * i), at(bodies, 4 * i + 1)
        add(x, v, dt, at(wrench, w), at(wrench, w + 1), at(wrench, w + 2))
        mx, my, mz = turned_back(
            pose, PER_POSE * i, at(wrench, w + 3), at(wrench, w + 4), at(wrench, w + 5)
        )
        add(x, h, dt, mx, my, mz)
    for k in range(wrench.shape[0]):
        put(wrench, k, 0.0)


@compiled
def drift_coordinates(x, coordinates, along, ends, bushes, pose, dt):
    """Angles and slides of joints: place in x, joint, what it is; direction (A or B)."""
    for i in range(coordinates.shape[0] // 3):
        to, j = at(coordinates, 3 * i), at(coordinates, 3 * i + 1)
        what = at(coordinates, 3 * i + 2)
        a, b = PER_POSE * at(ends, 4 * j), PER_POSE * at(ends, 4 * j + 1)
        zx, zy, zz = at(along, 3 * i), at(along, 3 * i + 1), at(along, 3 * i + 2)
        if what != SLIDE:
            ux, uy, uz = relative_spin(pose, a, b)
            if what == ANGLE_ON_B:
                zx, zy, zz = turned(pose, b, zx, zy, zz)
                zx, zy, zz = turned_back(pose, a, zx, zy, zz)
        else:
            q = PER_BUSH * j
            sx, sy, sz = turned(pose, b, at(bushes, q + 3), at(bushes, q + 4), at(bushes, q + 5))
            lx, ly, lz = (
                at(pose, b + 9) + sx - at(pose, a + 9),
                at(pose, b + 10) + sy - at(pose, a + 10),
                at(pose, b + 11) + sz - at(pose, a + 11),
            )
            ux, uy, uz = relative_speed(pose, a, b, lx, ly, lz, sx, sy, sz)
        put(x, to, at(x, to) + dt * (zx * ux + zy * uy + zz * uz))


@compiled
def drift(x, bodies, pose, dt):
    """Positions and quaternions by the new speeds (eq. 6, 9-11): quat <- exp(w dt / 2) o quat
    with w in world axes."""
    for i in range(bodies.shape[0] // PER_BODY):
        b, p, q = PER_POSE * i, at(bodies, 4 * i + 2), at(bodies, 4 * i + 3)
        add(x, p, dt, at(pose, b + 12), at(pose, b + 13), at(pose, b + 14))
        wx, wy, wz = at(pose, b + 15), at(pose, b + 16), at(pose, b + 17)
        half = 0.5 * dt * math.sqrt(wx * wx + wy * wy + wz * wz)
        c = math.cos(half)
        f = 0.5 * dt * (math.sin(half) / half if half > 0.0 else 1.0)
        ex, ey, ez = f * wx, f * wy, f * wz
        s, x1, x2, x3 = at(x, q), at(x, q + 1), at(x, q + 2), at(x, q + 3)
        put(x, q, c * s - ex * x1 - ey * x2 - ez * x3)
        put(x, q + 1, c * x1 + ex * s + ey * x3 - ez * x2)
        put(x, q + 2, c * x2 + ey * s + ez * x1 - ex * x3)
        put(x, q + 3, c * x3 + ez * s + ex * x2 - ey * x1)


@compiled
def turn(x, work, turning, dt):
    """Quaternions whose rate quat' = 1/2 quat o (0, w) stands in `work`; it is perpendicular
    to quat, so quat o exp(w dt / 2) = cos(|quat'| dt) quat + sin(|quat'| dt) quat' / |quat'|."""
    for k in range(turning.shape[0]):
        i, j = turning[k, 0], turning[k, 1]
        rate = math.sqrt(
            at(work, j) ** 2 + at(work, j + 1) ** 2 + at(work, j + 2) ** 2 + at(work, j + 3) ** 2
        )
        c = math.cos(rate * dt)
        s = math.sin(rate * dt) / rate if rate > 0.0 else dt
        for m in range(4):
            put(x, i + m, c * at(x, i + m) + s * at(work, j + m))


@compiled
def add_rates(x, address, program, straight, turning, t, dt):
    """x <- x + dt rate for the states of `straight` (place in x, place in the work space);
    those of `turning` are quaternions; `address` is that of the interpreter."""
    work = program.work
    evaluate(address, program, t, x)
    for k in range(straight.shape[0]):
        to = straight[k, 0]
        put(x, to, at(x, to) + dt * at(work, straight[k, 1]))
    turn(x, work, turning, dt)


@compiled
def quaternion(x, q):
    """That at q of the state; the ground's is behind them all."""
    if q == x.shape[0]:
        return 1.0, 0.0, 0.0, 0.0
    return at(x, q), at(x, q + 1), at(x, q + 2), at(x, q + 3)


@compiled
def at_half_a_turn(x, pairs, written, sides):
    """Whether a cosine of half an angle, q_B . (q_A o q_0), is not clearly on its side of zero:
    at zero, beyond it, or no number."""
    for k in range(sides.shape[0]):
        a, a1, a2, a3 = quaternion(x, at(pairs, 2 * k))
        b, b1, b2, b3 = quaternion(x, at(pairs, 2 * k + 1))
        q, q1, q2, q3 = quaternion(written, 4 * k)
        cosine = (
            b * (a * q - a1 * q1 - a2 * q2 - a3 * q3)
            + b1 * (a * q1 + a1 * q + a2 * q3 - a3 * q2)
            + b2 * (a * q2 + a2 * q + a3 * q1 - a1 * q3)
            + b3 * (a * q3 + a3 * q + a1 * q2 - a2 * q1)
        )
        if not at(sides, k) * cosine > NEAR:
            return True
    return False


@compiled
def steps_of(
    x,
    t,
    dt,
    steps,
    machine,
    address,
    forces,
    pushed,
    pushed_turning,
    motions,
    moved,
    moved_turning,
    pairs,
    written,
    sides,
):
    """`steps` steps: momenta by bushings and tape, then the posture by the new momenta.

    forces and motions: the tapes of what stands in no joint and no body, with their places;
    pairs, written, sides: what is watched for half turns, as `HalfTurns.rigid` has it.  Ends behind
    the first step that comes to one; returns which that is, from 1 on, 0 if none does.
    """
    bodies, inertia, ends, bushes, coordinates, along, pose, wrench = machine
    pushes = pushed.shape[0] > 0
    moves = moved.shape[0] + moved_turning.shape[0] > 0
    for step in range(steps):
        now = t + step * dt
        place(x, bodies, pose)
        speed(x, bodies, inertia, pose)
        press(ends, bushes, pose, wrench)
        if pushes:
            add_rates(x, address, forces, pushed, pushed_turning, now, dt)
        kick(x, bodies, pose, wrench, dt)
        speed(x, bodies, inertia, pose)
        if moves:
            add_rates(x, address, motions, moved, moved_turning, now, dt)
        drift_coordinates(x, coordinates, along, ends, bushes, pose, dt)
        drift(x, bodies, pose, dt)
        if at_half_a_turn(x, pairs, written, sides):
            return step + 1
    return 0
