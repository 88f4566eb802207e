"""The flexible body: a floating frame at its mass centre and modal coordinates about it.

With the mean axes as its frame (`vbg.physics.craig_bampton`) and V = T_v v + (T_w + W q) w + phi q'
the velocities of the mesh, W_j = e_j x phi the modes carried by a turn,

    1/2 V^T M V = 1/2 m v^2 + 1/2 w^T J(q) w + w^T G(q) q' + 1/2 q'^2,
    J_ab = (T_a + W_a q)^T M (T_b + W_b q),   G_j = q^T W_j^T M phi.

(For masses that weigh the same along all axes, as those of solids and lumped ones, this is all.)
In the bond graph (w, q') is one flow with an I field of the momenta (h, pi), whose inverse

    A^-1 = [J - G G^T]^-1,   w = A^-1 (h - G pi),   q' = pi - G^T w

needs three rows only; dH/dq of its energy is a C port on q', next to K and the modal damping.

A start that does not fit is assembled with modes STIFF times as heavy as they are: a body keeps
the deflections and rates that it is written with, 0 by default, wherever joints can move instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import (
    Block,
    call,
    const,
    dot,
    identity,
    leaf,
    linear,
    linear_solve,
    mul,
    rows,
    skew,
    stack,
    times,
    transpose,
)
from vbg.builder import Assembling, BodyNode, Builder, Node
from vbg.fields import declare, quantity
from vbg.physics.craig_bampton import Modes
from vbg.spatial import quaternion_product

Array = NDArray[np.float64]
STIFF = 1e6  # mass of the modes while a start is assembled: what bends then is 1e-6 of a gap
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))  # of J, as an inertia is written


@dataclass(frozen=True, slots=True)
class Flexible:
    """What makes a body flexible: matrices of any finite-element program, in SI and free of
    supports, freedoms node by node (x, y, z, and rotations where there are any)."""

    M: Array = declare("array", "mass matrix, a .npy file or rows")
    K: Array = declare("array", "stiffness matrix, likewise")
    nodes: Array = declare("array", "places of the nodes [m], rows of x, y, z", size=3)
    points: Mapping[str, Any] = declare(
        "values", "NAME = node, or a list of nodes that move as a rigid spider: what parts hold"
    )
    modes: int | None = declare("count", "fixed-interface modes to keep", minimum=0, default=None)
    frequency: float | None = quantity(
        "rad/s", "in the place of modes: the highest that matters", above=0.0, default=None
    )
    damping: float = quantity("1", "of each mode, of the critical", default=0.0, minimum=0.0)
    start: tuple[float, ...] | None = declare(
        "vector", "modal coordinates at the start; default: 0, without load", default=None
    )
    start_speed: tuple[float, ...] | None = declare(
        "vector", "their rates at the start; default: 0", default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Neither or both of two ways to say a thing."""
        if (self.modes is None) == (self.frequency is None):
            found = "neither" if self.modes is None else "both"
            yield "modes", f"needs either modes or frequency, found {found}.", ""
        if not self.points:
            yield "points", "names no point where parts could hold it.", "Write { tip = 17 }."


@dataclass(frozen=True, slots=True)
class Elastic:
    """Modes, their damping ratio, coordinates and rates at the start: `flexible` of a body that
    has been read."""

    modes: Modes
    damping: float
    start: tuple[float, ...]
    start_speed: tuple[float, ...]

    @property
    def stiffness(self) -> Array:
        """w^2, (n,)."""
        return self.modes.frequencies**2

    @property
    def resistance(self) -> Array:
        """2 zeta w, (n,)."""
        return 2.0 * self.damping * self.modes.frequencies


def modal_node(body: str, count: int) -> Node:
    """1-junction of the modal speeds q'."""
    return Node(f"{body}.modal_speed", count, body, "mechanical")


def modal_coordinates(body: str, count: int) -> Block:
    """q, a state."""
    return leaf(f"{body}.modal", count)


@dataclass(frozen=True, slots=True)
class _Coupling:
    """J(q) and G(q) as blocks, and the constants they are made of: first[p] (n,),
    second[p] (n, n) for the PAIRS, g (3, n, n)."""

    J: Block
    G: Block
    first: tuple[Array, ...]
    second: tuple[Array, ...]
    g: Array


def _coupling(modes: Modes, q: Block) -> _Coupling:
    """See the module."""
    mesh, phi = modes.elements, modes.shapes
    T = mesh.rigid(np.zeros(3))[:, 3:]
    by_node = phi.reshape(len(mesh.X), mesh.per_node, -1)
    W = []
    for e in np.eye(3):
        turned = np.zeros_like(by_node)
        turned[:, :3] = np.cross(e, by_node[:, :3], axisb=1, axisc=1)
        W.append(turned.reshape(phi.shape))
    MW = [mesh.M @ w for w in W]
    first = tuple(T[:, a] @ MW[b] + T[:, b] @ MW[a] for a, b in PAIRS)
    second = tuple(0.5 * (W[a].T @ MW[b] + W[b].T @ MW[a]) for a, b in PAIRS)
    g = np.array([mw.T @ phi for mw in MW])
    xx, yy, zz, xy, yz, zx = modes.inertia
    still = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    terms = [(1.0, const(still))]
    for (a, b), linear_part, square in zip(PAIRS, first, second, strict=True):
        unit = np.zeros((3, 3))
        unit[a, b] = unit[b, a] = 1.0
        grown = dot(const(linear_part), q) + dot(q, mul(const(square), q))
        terms.append((1.0, times(grown, const(unit))))
    G = stack(*(transpose(mul(const(gj.T), q)) for gj in g))
    return _Coupling(linear(*terms), G, first, second, g)


def write_elastic(
    elastic: Elastic, name: str, angular: Node, builder: Builder, w_0: Array, *, written: bool
) -> Block:
    """Junctions, stores and resistors of the turning and bending of body `name`, whose speeds the
    1-junction `angular` shows; w_0 its angular velocity at the start, `written` or a guess.
    Returns the angular momentum."""
    n = elastic.modes.count
    both = builder.one(f"{name}.elastic", 3 + n, name, "mechanical")
    modal = modal_node(name, n)
    builder.one(modal.name, n, name, "mechanical")
    pick = np.eye(3 + n)
    for node, part, label in ((angular, pick[:3], "turn"), (modal, pick[3:], "bend")):
        builder.transformer(f"{name}.{label}", both, node, const(part), toward="flow_side")
    q_0, speed_0 = np.array(elastic.start), np.array(elastic.start_speed)
    q = builder.displacement(f"{name}.modal", modal, initial=const(q_0), unit="1")
    c = _coupling(elastic.modes, q)
    L, A, inverse = _inverse(c, n, 1.0)
    stiff = _inverse(c, n, STIFF)[2]
    heavier = np.diag(np.r_[np.zeros(3), np.full(n, STIFF - 1.0)])
    momenta = builder.inertia(
        name,
        both,
        inverse=inverse,
        initial=_momenta(c, w_0, speed_0),
        state="angular_momentum",
        written=written,
        assembling=Assembling(stiff, identity(3 + n) - mul(const(heavier), stiff)),
    )
    w = linear_solve(A, mul(transpose(L), momenta))
    speeds = rows(momenta, 3, 3 + n) - mul(transpose(c.G), w)
    builder.potential(f"{name}.carried", modal, effort=_carried(c, q, w, speeds), energy=const(0.0))
    K = const(np.diag(elastic.stiffness))
    builder.potential(name, modal, effort=mul(K, q), energy=0.5 * dot(q, mul(K, q)))
    if elastic.damping > 0.0:
        D = const(np.diag(elastic.resistance))
        builder.resistor(name, modal, effort=lambda flow: mul(D, flow))
    builder.output(f"{name}.modal", q, "1")
    builder.output(f"{name}.modal_speed", builder.flow(modal), "1/s")
    return rows(momenta, 0, 3)


def _inverse(c: _Coupling, n: int, mass: float) -> tuple[Block, Block, Block]:
    """L, A and the inverse of [J G; G^T m], m the `mass` of each mode:  w = A^-1 L^T (h, pi),
    (w, q') = L w + (0, pi) / m,  L = (1; -G^T / m),  A = J - G G^T / m."""
    L = stack(identity(3), (-1.0 / mass) * transpose(c.G))
    A = c.J - (1.0 / mass) * mul(c.G, transpose(c.G))
    rest = np.diag(np.r_[np.zeros(3), np.full(n, 1.0 / mass)])
    return L, A, mul(L, linear_solve(A, transpose(L))) + const(rest)


def _momenta(c: _Coupling, w: Array, speeds: Array) -> Block:
    """(h, pi) = (J(q) w + G(q) q', G^T w + q'), of the deflection of the assembled start."""
    turning, bending = const(w), const(speeds)
    h = mul(c.J, turning) + mul(c.G, bending)
    return stack(h, mul(transpose(c.G), turning) + bending)


def _carried(c: _Coupling, q: Block, w: Block, speeds: Block) -> Block:
    """dH/dq at constant momenta = -(1/2 w^T dJ/dq w + w^T dG/dq q'): centrifugal and Coriolis."""
    terms = []
    for (a, b), linear_part, square in zip(PAIRS, c.first, c.second, strict=True):
        product = times(rows(w, a, a + 1), rows(w, b, b + 1))
        slope = const(linear_part) + mul(const(2.0 * square), q)
        terms.append((-0.5 if a == b else -1.0, times(product, slope)))
    for j, gj in enumerate(c.g):
        terms.append((-1.0, times(rows(w, j, j + 1), mul(const(gj), speeds))))
    return linear(*terms)


@dataclass(frozen=True, slots=True)
class FlexiblePoint:
    """A named place of a flexible body as a body of its own, without mass: displaced by S_t q and
    turned by the rotation whose Gibbs vector is half the small turn S_r q,

      p_WN = p_WB + R_WB (r + S_t q),   R_BN = 1 + 2/(1 + c^2) (c^ + c^ c^),   c = S_r q / 2,
      w_N = R_BN^T w + (1 - c^) S_r q' / (1 + c^2)        (axes of N).
    """

    table: ClassVar[str] = "bodies"
    kind: ClassVar[str] = "flexible_point"
    written: ClassVar[bool] = False

    on: Any = declare("end", "the flexible body")
    modes: Modes = field(kw_only=True)
    name: str = field(kw_only=True)
    mass: float = 0.0
    inertia: tuple[float, ...] = (0.0,) * 6
    shape: tuple[Any, ...] = ()
    allow_unphysical_inertia: bool = True
    com: None = None
    position: None = None
    rotation: None = None
    velocity: None = None
    angular_velocity: None = None
    flexible: None = None

    @property
    def points(self) -> Mapping[str, Any]:
        """None of its own."""
        return {}

    @property
    def place(self) -> Array:
        """(3,) r, from the mass centre of the body, in its axes [m]."""
        return self.modes.interfaces[self.name][0]

    @property
    def shapes(self) -> Array:
        """(6, n) S_t, S_r."""
        return self.modes.interfaces[self.name][1]

    def expand(self, name: str, builder: Builder) -> None:
        base, n = builder.body(self.on.body), self.modes.count
        assert base.linear is not None and base.angular is not None
        q, modal = modal_coordinates(base.name, n), modal_node(base.name, n)
        S_t, S_r = const(self.shapes[:3]), const(self.shapes[3:])
        bent = mul(S_t, q)
        arm, c = const(self.place) + bent, 0.5 * mul(S_r, q)
        g = call("reciprocal", const(1.0) + dot(c, c))
        across = skew(c)
        R_BN = identity(3) + times(2.0 * g, across + mul(across, across))
        p_WN, R_WN = base.p_WB + mul(base.R_WB, arm), mul(base.R_WB, R_BN)
        linear_node = builder.one(f"{name}.v", 3, "W", "translation")
        angular_node = builder.one(f"{name}.w", 3, name, "rotation")
        dv = builder.zero(f"{name}.dv", 3, "W", "translation")
        dw = builder.zero(f"{name}.dw", 3, name, "rotation")
        builder.bond(base.linear, dv)
        lever = mul(base.R_WB, -1.0 * skew(arm))
        builder.transformer(f"{name}.arm", base.angular, dv, lever, toward="effort_side")
        shift = mul(base.R_WB, S_t)
        builder.transformer(f"{name}.shift", modal, dv, shift, toward="effort_side")
        back = transpose(R_BN)
        builder.transformer(f"{name}.turn", base.angular, dw, back, toward="effort_side")
        tilt = times(g, mul(identity(3) - across, S_r))
        builder.transformer(f"{name}.tilt", modal, dw, tilt, toward="effort_side")
        force = builder.effort(builder.bond(dv, linear_node))
        torque = builder.effort(builder.bond(dw, angular_node))
        quat_WN = _after_gibbs(base.quat_WB, c, g)
        builder.register_body(BodyNode(name, linear_node, angular_node, p_WN, R_WN, quat_WN))
        builder.output(f"{name}.position", p_WN, "m")
        builder.output(f"{name}.velocity", builder.flow(linear_node), "m/s")
        builder.output(f"{name}.rotation", quat_WN, "1")
        builder.output(f"{name}.angular_velocity", builder.flow(angular_node), "rad/s")
        builder.output(f"{name}.displacement", bent, "m")
        builder.output(f"{name}.force", force, "N")
        builder.output(f"{name}.torque", mul(R_WN, torque), "N*m")


def _after_gibbs(quat: Block, c: Block, g: Block) -> Block:
    """quat o (1, c) / sqrt(1 + c^2), g = 1 / (1 + c^2)."""
    terms = [(1.0, quat)]
    for k in range(3):
        unit = np.eye(4)[1 + k]
        Q = np.column_stack([quaternion_product(e, unit) for e in np.eye(4)])
        terms.append((1.0, times(rows(c, k, k + 1), mul(const(Q), quat))))
    return times(call("sqrt", g), linear(*terms))
