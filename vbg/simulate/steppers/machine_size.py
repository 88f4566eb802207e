"""The size of a machine, by which its positions and speeds are measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.plumbing.once import once

Array = NDArray[np.float64]

LINE = "scalar"  # frame of bonds of shafts, slides, circuits, oil
SMALLEST = 1e-9  # size of a machine [m]


@once
def machine_size(system: System) -> float:
    """How far the bodies lie apart [m], or the size of a lone one, in its radius of gyration, at
    most 1 m; 1 m where there is none."""
    starts: Mapping[str, Array] = {
        s.state.name: s.state.initial.data[:, 0]
        for s in system.slices
        if s.state.kind == "position"
    }
    if not starts:
        return 1.0
    places = np.stack(list(starts.values()))
    spread = float(np.linalg.norm(np.ptp(places, axis=0)))
    return max(spread, min(1.0, gyration(system)), SMALLEST)


def extent(system: System) -> float:
    """The same [m], but of a lone body its size however large it is."""
    size = machine_size(system)
    return max(size, gyration(system)) if system.causal.graph.bodies else size


@once
def gyration(system: System) -> float:
    """The largest radius of gyration of a body [m]: sqrt(largest J / m)."""
    vertices = system.causal.graph.vertices.values()
    bodies = [
        (v, v.inverse.data)
        for v in vertices
        if v.kind == "I" and v.frame != LINE and v.inverse is not None and v.inverse.is_const
    ]
    inertias: dict[str, dict[bool, float]] = {}
    for size in {len(inverse) for _, inverse in bodies}:
        alike = [(v, inverse) for v, inverse in bodies if len(inverse) == size]
        found = least_eigenvalues(np.stack([inverse for _, inverse in alike]))
        for (v, _), least in zip(alike, found.tolist(), strict=True):
            inertias.setdefault(v.part, {})[v.domain == "translation"] = 1.0 / least
    return max(
        (np.sqrt(body[False] / body[True]) for body in inertias.values() if len(body) == 2),
        default=1.0,
    )


def least_eigenvalues(matrices: Array) -> Array:
    """The magnitude of the least of each of symmetric matrices (k, n, n)."""
    alone = matrices.shape[1] == 1
    values = matrices[:, :, 0] if alone else np.linalg.eigvalsh(matrices)
    return np.abs(values).min(axis=1)
