"""Vectors as triples, and blocks of the Riccati transform's S in the work table times them."""

from __future__ import annotations

from vbg.tmm_bridge.kernels.rows import W_B
from vbg.tmm_bridge.kernels.sources import compiled


@compiled
def symmetric_times(work, i, at, v):
    """Symmetric block of the work table times a vector."""
    s = work[i]
    return (
        s[at] * v[0] + s[at + 3] * v[1] + s[at + 5] * v[2],
        s[at + 3] * v[0] + s[at + 1] * v[1] + s[at + 4] * v[2],
        s[at + 5] * v[0] + s[at + 4] * v[1] + s[at + 2] * v[2],
    )


@compiled
def block_times(work, i, v):
    """B v: force caused by an angular acceleration."""
    s = work[i]
    return (
        s[W_B] * v[0] + s[W_B + 1] * v[1] + s[W_B + 2] * v[2],
        s[W_B + 3] * v[0] + s[W_B + 4] * v[1] + s[W_B + 5] * v[2],
        s[W_B + 6] * v[0] + s[W_B + 7] * v[1] + s[W_B + 8] * v[2],
    )


@compiled
def transposed_times(work, i, v):
    """B^T v: moment caused by an acceleration."""
    s = work[i]
    return (
        s[W_B] * v[0] + s[W_B + 3] * v[1] + s[W_B + 6] * v[2],
        s[W_B + 1] * v[0] + s[W_B + 4] * v[1] + s[W_B + 7] * v[2],
        s[W_B + 2] * v[0] + s[W_B + 5] * v[1] + s[W_B + 8] * v[2],
    )


@compiled
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def sum_of(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def plus(a, k, b):
    """a + k b."""
    return a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]
