"""One pass root to tips: the motion of every node at a state, and the bodies' own balances."""

from __future__ import annotations

from vbg.tmm_bridge.kernels.laws.bending import bend_balance, carried_node
from vbg.tmm_bridge.kernels.motion.kinematics import (
    ball_node,
    body_balance,
    elastic_node,
    hinge_frame,
    revolute_node,
    screw_node,
    to_world,
)
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_BENDS,
    LINK_KIND,
    LINK_LEAD,
    LINK_PARENT,
    LINK_POSITION,
    LINK_Q,
    LINK_SHAPE,
    LINK_V,
    PRISMATIC,
    REVOLUTE,
    RIGID,
    SCREW,
)
from vbg.tmm_bridge.kernels.sources import compiled


@compiled
def move(t, s, y):
    """Posture, speeds, velocity products and the bodies' own balances, for the state y."""
    links, link, work, n_q = t.links, t.link, s.work, t.sizes[0]
    for i in range(links.shape[0]):
        p = links[i, LINK_PARENT]
        frame = hinge_frame(work, link, i, p)
        arm = to_world(
            work, p, link[i, LINK_POSITION], link[i, LINK_POSITION + 1], link[i, LINK_POSITION + 2]
        )
        kind = links[i, LINK_KIND]
        q = links[i, LINK_Q]
        v = n_q + links[i, LINK_V]
        if kind == REVOLUTE:
            revolute_node(work, i, p, frame, arm, y[q], y[v])
        elif kind == PRISMATIC:
            screw_node(work, i, p, frame, arm, 0.0, 0.0, y[q], y[v])
        elif kind == SCREW:
            lead = link[i, LINK_LEAD]
            screw_node(work, i, p, frame, arm, y[q], y[v], lead * y[q], lead * y[v])
        elif kind == BALL:
            ball_node(
                work,
                i,
                p,
                frame,
                arm,
                (y[q], y[q + 1], y[q + 2], y[q + 3]),
                (y[v], y[v + 1], y[v + 2]),
            )
        elif kind == ELASTIC:
            elastic_node(
                work,
                i,
                p,
                frame,
                arm,
                (y[q], y[q + 1], y[q + 2]),
                (y[q + 3], y[q + 4], y[q + 5], y[q + 6]),
                (y[v], y[v + 1], y[v + 2], y[v + 3], y[v + 4], y[v + 5]),
            )
        elif links[i, LINK_SHAPE] >= 0:
            carried_node(t, s, i, y)
        elif kind == RIGID:
            screw_node(work, i, p, frame, arm, 0.0, 0.0, 0.0, 0.0)
        body_balance(work, link, i, t.gravity)
        if links[i, LINK_BENDS] >= 0:
            bend_balance(t, s, i, y)
