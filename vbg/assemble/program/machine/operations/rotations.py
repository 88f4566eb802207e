"""Kernels of rotations: matrix of a quaternion, skew matrix, quaternion rate."""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, compiled, put


@compiled
def rotations(work, operands, first, count, dr, dc, ar):
    """R_WB of quat_WB = (w, x, y, z)."""
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        w, x, y, z = at(work, a), at(work, a + ar), at(work, a + 2 * ar), at(work, a + 3 * ar)
        xx, yy, zz = x * x, y * y, z * z
        xy, yz, zx = x * y, y * z, z * x
        wx, wy, wz = w * x, w * y, w * z
        put(work, d, 1.0 - 2.0 * (yy + zz))
        put(work, d + dc, 2.0 * (xy - wz))
        put(work, d + 2 * dc, 2.0 * (zx + wy))
        d += dr
        put(work, d, 2.0 * (xy + wz))
        put(work, d + dc, 1.0 - 2.0 * (xx + zz))
        put(work, d + 2 * dc, 2.0 * (yz - wx))
        d += dr
        put(work, d, 2.0 * (zx - wy))
        put(work, d + dc, 2.0 * (yz + wx))
        put(work, d + 2 * dc, 1.0 - 2.0 * (xx + yy))


@compiled
def skews(work, operands, first, count, dr, dc, ar):
    for i in range(first, first + count):
        d, a = at(operands, 4 * i), at(operands, 4 * i + 1)
        x, y, z = at(work, a), at(work, a + ar), at(work, a + 2 * ar)
        put(work, d, 0.0 * x)
        put(work, d + dc, -z)
        put(work, d + 2 * dc, y)
        put(work, d + dr, z)
        put(work, d + dr + dc, 0.0 * x)
        put(work, d + dr + 2 * dc, -x)
        put(work, d + 2 * dr, -y)
        put(work, d + 2 * dr + dc, x)
        put(work, d + 2 * dr + 2 * dc, 0.0 * x)


@compiled
def quaternion_rates(work, operands, first, count, dr, ar, br):
    """1/2 quat o (0, w_B)."""
    for i in range(first, first + count):
        d, a, b = at(operands, 4 * i), at(operands, 4 * i + 1), at(operands, 4 * i + 2)
        w, x, y, z = at(work, a), at(work, a + ar), at(work, a + 2 * ar), at(work, a + 3 * ar)
        p, q, r = 0.5 * at(work, b), 0.5 * at(work, b + br), 0.5 * at(work, b + 2 * br)
        put(work, d, -x * p - y * q - z * r)
        put(work, d + dr, w * p + y * r - z * q)
        put(work, d + 2 * dr, w * q + z * p - x * r)
        put(work, d + 3 * dr, w * r + x * q - y * p)
