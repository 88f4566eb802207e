"""Flexible bodies on film: the nodes of their meshes where they are displaced to,

  p_W = p_WB + R_WB (x + phi q),

and lines between nodes that the stiffness matrix couples.  Where a mesh has too many nodes to be
looked at, or the result no modal coordinates, lines go from point to point of the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.physics.craig_bampton import Modes
from vbg.spatial import rotation_matrix

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.solution import Solution

Array = NDArray[np.float64]
Edge = tuple[str, str]

MOST_NODES = 400
MOST_LINES = 1200
COUPLED = 1e-9  # of the largest entry of the stiffness matrix: less is no line


def bent_nodes(model: Model, solution: Solution, picked: NDArray[np.intp]) -> dict[str, Array]:
    """BODY.mesh.NODE -> its poses (n, 7), not turned, of every mesh that is shown."""
    found = {}
    for name, modes in _meshes(model, solution):
        q = solution[f"{name}.modal"][picked]
        places = modes.elements.X + _displaced(modes, q)  # (n, nodes, 3)
        R = np.array([rotation_matrix(each) for each in solution[f"{name}.rotation"][picked]])
        p = solution[f"{name}.position"][picked][:, None] + np.einsum("nij,nkj->nki", R, places)
        upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(picked), 1))
        for k in range(p.shape[1]):
            found[f"{name}.mesh.{k}"] = np.hstack([p[:, k], upright])
    return found


def members(model: Model, solution: Solution) -> Iterator[Edge]:
    """Pairs of nodes, or of points, between which lines of flexible bodies are drawn."""
    shown = dict(_meshes(model, solution))
    for name, modes in shown.items():
        yield from ((f"{name}.mesh.{a}", f"{name}.mesh.{b}") for a, b in _coupled(modes))
    points: dict[str, list[str]] = {}
    for name, body in model.bodies.items():
        if body.kind == "flexible_point" and body.on.body not in shown:
            points.setdefault(body.on.body, []).append(name)
    for own in points.values():
        yield from pairwise(own)


def _meshes(model: Model, solution: Solution) -> Iterator[tuple[str, Modes]]:
    for name, body in model.bodies.items():
        flexible = body.flexible
        if flexible is None or f"{name}.modal" not in solution:
            continue
        modes = flexible.modes
        if len(modes.elements.X) <= MOST_NODES and len(_coupled(modes)) <= MOST_LINES:
            yield name, modes


def _displaced(modes: Modes, q: Array) -> Array:
    """(n, nodes, 3) of modal coordinates (n, m)."""
    mesh = modes.elements
    u = (q @ modes.shapes.T).reshape(len(q), len(mesh.X), mesh.per_node)
    return np.asarray(u[:, :, :3])


def _coupled(modes: Modes) -> list[tuple[int, int]]:
    """Nodes a < b with stiffness between their displacements."""
    mesh, n = modes.elements, len(modes.elements.X)
    blocks = np.abs(mesh.K.reshape(n, mesh.per_node, n, mesh.per_node)[:, :3, :, :3])
    sizes = blocks.max(axis=(1, 3))
    first, second = np.nonzero(np.triu(sizes > COUPLED * sizes.max(initial=0.0), 1))
    return list(zip(first.tolist(), second.tolist(), strict=True))
