"""Flexible bodies laid out: the inertia of a mesh that bends about its mean axes.

The velocity of a freedom of the mesh, in the axes of the body, is that of a rigid displaced mesh
and of the modes, V = w x (x + phi q) + phi q'.  With M the mass matrix,

    h_a = (e_a x (x + phi q)) . M V,

so that J_ab(q) = (e_a x (x + phi q)) . M (e_b x (x + phi q)) and G_a(q) = (e_a x phi q) . M phi,
the constant part of which, the angular momentum of the modes, vanishes for mean axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.mechanism import Mechanism

SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


@dataclass
class Bending:
    """Rows of `Tables` that flexible bodies have, while they grow; `rows` by body, `carried` the
    row of each point."""

    flexes: list[tuple[int, int, int, int]] = field(default_factory=list)
    laws: list[tuple[Array, Array, Array, Array]] = field(default_factory=list)
    points: list[int] = field(default_factory=list)
    shapes: list[Array] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)

    def add_body(self, name: str, body: Any, node: int, first: tuple[int, int]) -> int:
        """The modes of a body whose frame is `node`; returns how many there are."""
        modes = body.flexible.modes
        self.rows[name] = len(self.flexes)
        self.flexes.append((node, *first, modes.count))
        law = np.column_stack([body.flexible.stiffness, body.flexible.resistance])
        self.laws.append((law, *inertia_of(modes)))
        return int(modes.count)

    def add_point(self, body: str, shapes: Array) -> int:
        """A point that the body carries; returns its row."""
        self.points.append(self.rows[body])
        self.shapes.append(np.asarray(shapes, dtype=float))
        return len(self.points) - 1

    def tables(self) -> dict[str, Array]:
        """The arrays, as wide as the body of most modes needs."""
        n = max((row[3] for row in self.flexes), default=0)

        def wide(arrays: list[Array], *tail: int, square: bool = False) -> Array:
            found = np.zeros((len(arrays), *tail, *((n, n) if square else (n,))))
            for into, a in zip(found, arrays, strict=True):
                m = a.shape[-1]
                into[(..., slice(m), slice(m)) if square else (..., slice(m))] = a
            return found

        law = np.zeros((len(self.laws), n, 2))
        for into, (values, *_) in zip(law, self.laws, strict=True):
            into[: len(values)] = values
        return {
            "flexes": np.array(self.flexes, dtype=np.int64).reshape(-1, 4),
            "flex": law,
            "flex_J": wide([J for _, J, _, _ in self.laws], 6),
            "flex_JJ": wide([JJ for _, _, JJ, _ in self.laws], 6, square=True),
            "flex_M": np.ones(1),
            "flex_G": wide([G for _, _, _, G in self.laws], 3, square=True),
            "points": np.array(self.points, dtype=np.int64),
            "shape": wide(self.shapes, 6),
        }


def inertia_of(modes: Any) -> tuple[Array, Array, Array]:
    """(6, n), (6, n, n), (3, n, n): slopes of J(q), its squares, slopes of G(q)."""
    mesh, n = modes.elements, modes.count
    f = mesh.per_node
    M = mesh.M.reshape(len(mesh.X), f, len(mesh.X), f)
    phi = modes.shapes.reshape(len(mesh.X), f, n)
    # still[a], bent[a] : e_a x x and e_a x phi at every freedom; a turn turns rotations as such
    still = np.zeros((3, len(mesh.X), f))
    bent = np.zeros((3, len(mesh.X), f, n))
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        still[a, :, b], still[a, :, c] = -mesh.X[:, c], mesh.X[:, b]
        bent[a, :, b], bent[a, :, c] = -phi[:, c], phi[:, b]
        if f == 6:
            still[a, :, 3 + a] = 1.0
    pushed = np.einsum("ifjg,ajgn->aifn", M, bent, optimize=True)
    first = np.einsum("aif,bifn->abn", still, pushed)
    square = np.einsum("aifm,bifn->abmn", bent, pushed, optimize=True)
    J = np.array([first[a, b] + first[b, a] for a, b in SIX])
    both = [square[a, b] + square[b, a] for a, b in SIX]
    JJ = np.array([0.25 * (each + each.T) for each in both])
    G = np.einsum("aifm,ifn->amn", pushed, phi, optimize=True)
    return J, JJ, G


def refuse_flexible(model: Model, what: str) -> None:
    """UsageError where a body of the model is flexible: the method `what` names has no such."""
    for name, body in model.bodies.items():
        if body.flexible is not None:
            raise UsageError(
                f"bodies.{name} is flexible: the {what}. `vbg run`, `vbg validate` and"
                " `vbg show modes` take it."
            )


def read_modes(mechanism: Mechanism, y: Array) -> None:
    """Modal coordinates and speeds of flexible bodies as written."""
    t = mechanism.tables
    for body, row in mechanism.bends.items():
        _, q, v, n = t.flexes[row]
        flexible = mechanism.model.bodies[body].flexible
        y[q : q + n] = flexible.start
        y[t.sizes[0] + v : t.sizes[0] + v + n] = flexible.start_speed
