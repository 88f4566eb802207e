"""Overconstrained linkages with a name, told by the lengths and angles between axes.

For axes i, i + 1 around a loop: a is the length of their common normal, alpha
the angle between them (sine and cosine up to the sense of the axes), and R the
distance along axis i between the feet of the common normals before and after.

Conditions after J. E. Baker, "The Bennett, Goldberg and Myard linkages in
perspective" (1979) and "An analysis of the Bricard linkages" (1980).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.structure.count.loops import order_around, world_axis
from vbg.structure.topology.linkage import Linkage

Array = NDArray[np.float64]

SAME = 1e-6  # lengths per size of the loop, sines and cosines


@dataclass(frozen=True, slots=True, eq=False)
class LoopShape:
    """a (n,), sine and cosine of alpha (n,) without sense, R (n,), lengths per size."""

    a: Array
    sine: Array
    cosine: Array
    R: Array


def shape_of(linkage: Linkage) -> LoopShape:
    """The shape of a single loop of revolutes as it stands."""
    order = order_around(linkage)
    axes = [world_axis(linkage, pair) for pair in order]
    points = np.array([point for point, _ in axes])
    size = float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
    n = len(axes)
    rows = [_between(axes[i], axes[(i + 1) % n]) for i in range(n)]
    a = np.array([row[0] for row in rows]) / size
    cosine = np.array([row[1] for row in rows])
    offsets = []
    for i in range(n):
        before, after = rows[i - 1][3], rows[i][2]
        offsets.append(abs(float((after - before) @ axes[i][1])) / size)
    return LoopShape(a, np.sqrt(np.maximum(0.0, 1.0 - cosine**2)), cosine, np.array(offsets))


def _between(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple:
    """Length of the common normal, |cos|, and its feet on both axes."""
    (p, u), (q, v) = one, other
    cosine = float(u @ v)
    d = q - p
    if abs(cosine) > 1.0 - 1e-12:
        across = d - (d @ u) * u
        return float(np.linalg.norm(across)), 1.0, p, p + across
    square = 1.0 - cosine**2
    s = (d @ u - (d @ v) * cosine) / square
    t = ((d @ u) * cosine - d @ v) / square
    first, second = p + s * u, q + t * v
    return float(np.linalg.norm(second - first)), abs(cosine), first, second


def _equal(*pairs: tuple[float, float]) -> bool:
    return all(abs(x - y) < SAME for x, y in pairs)


def loop_name(linkage: Linkage) -> str:
    """The name of the overconstrained single loop `linkage`, or "" if it has none here."""
    if any(pair.code != "R" for pair in linkage.topology.pairs):
        return ""
    shape = shape_of(linkage)
    match len(shape.a):
        case 4:
            return "Bennett linkage" if is_bennett(shape) else ""
        case 6:
            if is_sarrus(linkage):
                return "Sarrus linkage"
            kind = bricard_kind(shape)
            return f"Bricard linkage ({kind})" if kind else ""
        case _:
            return ""


def is_bennett(shape: LoopShape) -> bool:
    """Opposite a and alpha equal, a / sin alpha the same for all, no offsets."""
    a, sine = shape.a, shape.sine
    opposite = _equal((a[0], a[2]), (a[1], a[3]), (sine[0], sine[2]), (sine[1], sine[3]))
    ratio = abs(a[0] * sine[1] - a[1] * sine[0]) < SAME
    return bool(opposite and ratio and (shape.R < SAME).all() and (sine > SAME).all())


def is_sarrus(linkage: Linkage) -> bool:
    """Six revolutes: three parallel axes in a row, then three of another direction."""
    directions = [world_axis(linkage, pair)[1] for pair in order_around(linkage)]
    for start in range(3):
        turned = directions[start:] + directions[:start]
        first, second = turned[:3], turned[3:]
        if _parallel(first) and _parallel(second) and not _parallel([first[0], second[0]]):
            return True
    return False


def _parallel(directions: list[Array]) -> bool:
    return all(np.linalg.norm(np.cross(directions[0], other)) < SAME for other in directions)


def bricard_kind(shape: LoopShape) -> str:
    """Trihedral, line-symmetric or plane-symmetric; "" if none."""
    a, sine, R = shape.a, shape.sine, shape.R
    square = a**2
    right = (shape.cosine < SAME).all() and (R < SAME).all()
    if right and abs(square[0::2].sum() - square[1::2].sum()) < SAME:
        return "trihedral"
    if all(_equal((x[i], x[i + 3])) for x in (a, sine, R) for i in range(3)):
        return "line-symmetric"
    for start in range(6):
        b, s, r = (np.roll(x, -start) for x in (a, sine, R))
        mirrored = [(b[0], b[5]), (b[1], b[4]), (b[2], b[3]), (s[0], s[5]), (s[1], s[4])]
        mirrored += [(s[2], s[3]), (r[1], r[5]), (r[2], r[4]), (r[0], 0.0), (r[3], 0.0)]
        if _equal(*mirrored):
            return "plane-symmetric"
    return ""


def parallel_cranks(linkage: Linkage) -> tuple[tuple[int, ...], ...]:
    """Sets of three or more bodies that join the same two bodies as equal parallel cranks."""
    topology = linkage.topology
    touching: dict[int, list[int]] = {}
    for index, pair in enumerate(topology.pairs):
        for body in pair.ends:
            touching.setdefault(body, []).append(index)
    sets: dict[frozenset[int], list[tuple[int, Array]]] = {}
    for body, pairs in touching.items():
        if len(pairs) != 2 or any(topology.pairs[i].code != "R" for i in pairs):
            continue
        others = [next(b for b in topology.pairs[i].ends if b != body) for i in pairs]
        ordered = sorted(zip(others, pairs, strict=True))
        ends = [world_axis(linkage, i)[0] for _, i in ordered]
        axis = world_axis(linkage, ordered[0][1])[1]
        arm = ends[1] - ends[0]
        sets.setdefault(frozenset(others), []).append((body, arm - (arm @ axis) * axis))
    found = []
    for cranks in sets.values():
        arm = cranks[0][1]
        equal = [
            b for b, other in cranks if np.linalg.norm(other - arm) < SAME * np.linalg.norm(arm)
        ]
        if len(equal) >= 3:
            found.append(tuple(equal))
    return tuple(found)
