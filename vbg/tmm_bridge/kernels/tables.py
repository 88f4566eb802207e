"""The constant tables and the workspaces that the compiled kernels read and write."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vbg.plumbing.kernels.native import Table
from vbg.tmm_bridge.kernels.rows import WORK

Array = np.ndarray[Any, Any]

# Primitives of a constraint row of a cut joint; F on body A, M on body B.
ROW_SLIDE = 0  # i-th axis of F . (p_M - p_F) = target
ROW_DOT = 1  # i-th axis of F . j-th axis of M = 0
ROW_DISTANCE = 2  # |p_M - p_F| = length
ROW_SCREW = 3  # axis . (p_M - p_F) = lead * angle
ROW_TOUCH = 4  # rim of the disc touches the plane
ROW_ROLL = 5  # the touching point does not slip along the i-th axis of F
ROW_COUPLE = 6  # coordinate j - ratio * coordinate i = constant
ROW_TURN = 7  # angle about the axis = target

IDLE = -2  # in the place of a row's drive: the row holds nothing for now (a friction that slips)

# Kinds of coordinate: of a hinge of the tree, or measured across a cut joint.
COORDINATE_TREE = 0
COORDINATE_TURN = 1  # about the axis of F
COORDINATE_FIRST = 2  # first angle of a universal joint
COORDINATE_SECOND = 3  # its second angle
COORDINATE_SLIDE = 4  # along the axis of F

# Laws on a coordinate.
LAW_SPRING = 0  # -k (x - rest) - c x'
LAW_STOP = 1  # beyond `lower` or `upper`: k, c, never pulling
LAW_INPUT = 2  # the value of an input

# Laws between two points.
PAIR_SPRING = 0  # k (length - rest) + c rate, pulling together
PAIR_STOP = 1  # pushing apart below `gap`, never pulling
PAIR_INPUT = 2  # the value of an input, pulling together

# Applied loads.
LOAD_FORCE = 0
LOAD_TORQUE = 1

# Laws of six dimensions, of M on the second body seen in F on the first.
SIX_FIRST = 0  # displacement and torque in the axes of F
SIX_MIDDLE = 1  # in axes half way between F and M: the same from either end

NO_INPUT = -1


class _Tables(NamedTuple):
    """What stays constant during a run.

    links, link : nodes, columns LINK_* of `rows`.
    cuts (c, 2) : nodes of A and B, -1 for the ground;
    cut (c, 24) : R_AF, p_AF, R_BM, p_BM in the frames of these nodes.
    rows (m, 5) : primitive, cut, i, j, drive; row (m, 2) : parameter, constant.
    coordinates (k, 4) : kind, cut, q, v (kind COORDINATE_TREE) or place in the
        state's tail (others).
    laws (l, 3) : law, coordinate, input; law (l, 5) : k, rest, c, lower, upper.
    pairs (p, 4) : law, nodes, input; pair (p, 9) : points, k, rest or gap, c.
    loads (f, 5) : kind, node, three inputs; load (f, 13) : point, rotation to
        the node's frame, 1.0 if the axes turn with the body.
    bushes (b, 3) : nodes, law; bush (b, 96) : R_AF, p_AF, R_BM, p_BM, stiffness, damping.
    elastics (e, 3) : node, law, 1 if the node has F and its parent M; elastic (e, 72) :
        stiffness, damping, of the elastic hinges of the tree.
    flexes (f, 4) : node of a flexible body, first coordinate, first speed, modes n;
    flex (f, n, 2) : w^2, 2 zeta w;  flex_J (f, 6, n), flex_JJ (f, 6, n, n), flex_G (f, 3, n, n) :
        J(q) = J + flex_J q + q flex_JJ q, h = J(q) w + (flex_G q) q';  n the largest there is;
    flex_M (1,) : mass of every mode, 1 but while a start is assembled.
    points (k,) : body of each point that is carried;  shape (k, 6, n) : its displacement and
        small turn per modal coordinate.
    drives (d, 2) : v of the driven hinge (-1 if the joint is cut), q.
    gravity (3,); sizes : n_q, n_v, n_tail; length (1,) : of the mechanism, by which
        turning compares with sliding [m].
    """

    links: Array
    link: Array
    cuts: Array
    cut: Array
    rows: Array
    row: Array
    coordinates: Array
    laws: Array
    law: Array
    pairs: Array
    pair: Array
    loads: Array
    load: Array
    bushes: Array
    bush: Array
    elastics: Array
    elastic: Array
    flexes: Array
    flex: Array
    flex_J: Array
    flex_JJ: Array
    flex_G: Array
    flex_M: Array
    points: Array
    shape: Array
    drives: Array
    gravity: Array
    sizes: Array
    length: Array


class Tables(_Tables, Table):
    """As the kernels get them."""


class _Scratch(NamedTuple):
    """Workspaces of one run.

    work : nodes, columns W_* of `rows`.
    cut (c, 36) : world frames and speeds of the cut joints.
    row_nodes (m, 4), row_wrench (m, 4, 6) : loads of a unit effort, force and
        moment about the node's origin; row_v (m, 2), row_gain (m, 2) : its
        efforts on hinges; row_state (m, 3) : position residual, speed residual,
        velocity products of the acceleration (with the drive's terms).
    W (m, n_v), Y : unbalanced hinge efforts and their response; K = W Y^T.
    effort (m,) : cut efforts, spread (n, 6) : their e.
    limit (1,) : how many rows of `order` (m,) are independent, -1 to find out; G (m, n_v),
        scales, reach (m,), shares (m, m) : see `independence`;  rests (m, n_v), basis, parts
        (m, m) : rows that are being chosen from;  even (1, m, m), shared (m,) : least norm.
    rank (1,) : of the rows at the last evaluation;  rhs, impulses (m,) : of K x = b;  scale, z,
        place (m,), L (m, m) : its solution.
    efforts, left (n_v,) : loads on hinges and what they leave there;  six (4, 36) : of bushings.
    coordinate (k, 3) : value, rate, effort of the laws and couplings on it.
    law, pair, load (., 3) : effort, dissipated power, stored energy;
        for loads the supplied power is in column 1; `pair` also has the stretch.
    bush, elastic (., 8) : effort on the second body, F axes, its torque about M; the same;
        `bush` also has displacement, rotation vector and angular velocity of M in F.
    bend (f, 6, n), bend_M (f, n, n), bend_e, bend_f (f, n) : s, M, e_q and f of flexible bodies
        (see `bending`), M as its Cholesky factor once it is leaned on;  lever (f, 6, n) : s M^-1;
        column (k, 6, n) : H of the carried points, W;  room (f, 18) : see `bend_balance`.
    strain (e, 12) : displacement and rotation vector of M in F, and the speeds, F axes.
    tau, prescribed, acceleration (n_v,).
    """

    work: Array
    cut: Array
    row_nodes: Array
    row_wrench: Array
    row_v: Array
    row_gain: Array
    row_state: Array
    W: Array
    Y: Array
    K: Array
    effort: Array
    spread: Array
    limit: Array
    order: Array
    G: Array
    scales: Array
    reach: Array
    shares: Array
    rests: Array
    basis: Array
    parts: Array
    even: Array
    shared: Array
    rank: Array
    rhs: Array
    impulses: Array
    scale: Array
    z: Array
    place: Array
    L: Array
    efforts: Array
    left: Array
    six: Array
    coordinate: Array
    law: Array
    pair: Array
    load: Array
    bush: Array
    elastic: Array
    strain: Array
    bend: Array
    bend_M: Array
    bend_e: Array
    bend_f: Array
    lever: Array
    column: Array
    room: Array
    tau: Array
    prescribed: Array
    acceleration: Array


class Scratch(_Scratch, Table):
    """As the kernels get them."""


def scratch_for(tables: Tables) -> Scratch:
    """Workspaces of the sizes that `tables` needs, zeroed."""
    n, m, k = len(tables.links), len(tables.rows), len(tables.coordinates)
    n_v = int(tables.sizes[1])
    return Scratch(
        work=np.zeros((n, WORK)),
        cut=np.zeros((len(tables.cuts), 36)),
        row_nodes=np.full((m, 4), -1, dtype=np.int64),
        row_wrench=np.zeros((m, 4, 6)),
        row_v=np.full((m, 2), -1, dtype=np.int64),
        row_gain=np.zeros((m, 2)),
        row_state=np.zeros((m, 3)),
        W=np.zeros((m, n_v)),
        Y=np.zeros((m, n_v)),
        K=np.zeros((m, m)),
        effort=np.zeros(m),
        spread=np.zeros((n, 6)),
        limit=np.array([-1], dtype=np.int64),
        order=np.arange(m),
        G=np.zeros((m, n_v)),
        scales=np.zeros(m),
        reach=np.zeros(m),
        shares=np.zeros((m, m)),
        rests=np.zeros((m, n_v)),
        basis=np.zeros((min(m, n_v), n_v)),
        parts=np.zeros((m, min(m, n_v))),
        even=np.zeros((1, m, m)),
        shared=np.zeros(m),
        rank=np.zeros(1, dtype=np.int64),
        rhs=np.zeros(m),
        impulses=np.zeros(m),
        scale=np.zeros(m),
        z=np.zeros(m),
        place=np.zeros(m, dtype=np.int64),
        L=np.zeros((m, m)),
        efforts=np.zeros(n_v),
        left=np.zeros(n_v),
        six=np.zeros((4, 36)),
        coordinate=np.zeros((k, 3)),
        law=np.zeros((len(tables.laws), 3)),
        pair=np.zeros((len(tables.pairs), 5)),
        load=np.zeros((len(tables.loads), 3)),
        bush=np.zeros((len(tables.bushes), 17)),
        elastic=np.zeros((len(tables.elastics), 8)),
        strain=np.zeros((len(tables.elastics), 12)),
        **_bending(tables),
        tau=np.zeros(n_v),
        prescribed=np.zeros(n_v),
        acceleration=np.zeros(n_v),
    )


def _bending(tables: Tables) -> dict[str, Array]:
    """Workspaces of flexible bodies and of the points that they carry."""
    f, six, n = tables.flex_J.shape
    return {
        "bend": np.zeros((f, six, n)),
        "bend_M": np.zeros((f, n, n)),
        "bend_e": np.zeros((f, n)),
        "bend_f": np.zeros((f, n)),
        "lever": np.zeros((f, six, n)),
        "column": np.zeros((len(tables.points), six, n)),
        "room": np.zeros((f, 18)),
    }
