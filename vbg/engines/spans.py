"""Coordinates of engines that have them alike: MuJoCo's own, and those chosen for Exudyn
and Drake.

An element that is free has a place p and a quaternion, scalar first, in q; in v its velocity in the
axes before it and its angular velocity w in its own.  A ball has the quaternion and w, any other
element one coordinate and its rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vbg.engines.machine import BALL, FREE
from vbg.engines.pose import Array, to_quaternions
from vbg.engines.trees import Start


@dataclass(frozen=True, slots=True)
class Span:
    """Element number `element` of the branch of `body`: its kind, its first place in q and in v."""

    body: str
    element: int
    kind: str
    i: int
    j: int


Spans = tuple[Span, ...]


def begun(
    spans: Spans, starts: Mapping[str, tuple[Start, ...]], nq: int, nv: int
) -> tuple[Array, Array]:
    """q and v from the starts of the elements of every body's branch."""
    q, v = np.zeros(nq), np.zeros(nv)
    for span in spans:
        start, i, j = starts[span.body][span.element], span.i, span.j
        quaternion = to_quaternions(start.place.R[None])[0]
        if span.kind == FREE:
            q[i : i + 7] = *start.place.p, *quaternion
            v[j : j + 6] = *start.velocity, *start.turning
        elif span.kind == BALL:
            q[i : i + 4], v[j : j + 3] = quaternion, start.turning
        else:
            q[i], v[j] = start.value, start.speed
    return q, v


def rate_of(spans: Spans, q: Array, v: Array) -> Array:
    """q'."""
    change = np.zeros_like(q)
    for span in spans:
        i, j = span.i, span.j
        if span.kind == FREE:
            change[i : i + 3] = v[j : j + 3]
            change[i + 3 : i + 7] = _spun(q[i + 3 : i + 7], v[j + 3 : j + 6])
        elif span.kind == BALL:
            change[i : i + 4] = _spun(q[i : i + 4], v[j : j + 3])
        else:
            change[i] = v[j]
    return change


def values_of(spans: Spans, q: Array, nv: int) -> Array:
    """(nv,) coordinates of the elements that have one, 0 for the others."""
    found = np.zeros(nv)
    for span in spans:
        if span.kind not in (FREE, BALL):
            found[span.j] = q[span.i]
    return found


def _spun(quaternion: Array, w: Array) -> Array:
    """Rate of a quaternion, scalar first, from the angular velocity in its own axes."""
    s, v = quaternion[0], quaternion[1:]
    return 0.5 * np.concatenate(([-(v @ w)], s * w + np.cross(v, w)))
