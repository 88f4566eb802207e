"""Nodes, and the ends of joints on them.

A node is a frame N: p_WN [m] and R_WN.  A dynamic one carries a body whose mass centre B
is `relativecentermass` away in N's axes; the body's axes are N's.  A static one stands
still: what is joined to it is joined to the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vbg.io.mstmmsim.tree import Element, refused
from vbg.io.mstmmsim.values import Scope, Vector, added, combined, orientation_of, vector_of
from vbg.spatial import Array

GROUND = "ground"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """`p_WN`, `v_WN_W`, `w_WN_W` : entries in W;  `R_WN` : (3, 3);  `body` and `p_NB_N`:
    the body that it carries and its mass centre; GROUND for a static node."""

    element: Element
    p_WN: Vector
    R_WN: Array
    v_WN_W: Vector
    w_WN_W: Vector
    body: str = ""
    p_NB_N: Vector = (0.0, 0.0, 0.0)

    @property
    def fixed(self) -> bool:
        """Whether it belongs to the ground."""
        return self.body == GROUND

    @property
    def p_WB(self) -> Vector:
        """Where the mass centre stands."""
        return added(self.p_WN, combined(self.R_WN, self.p_NB_N))

    def v_WB(self, scope: Scope) -> Vector:
        """Velocity of the mass centre, v_N + w x R p_NB."""
        arm = self.R_WN @ scope.values(self.p_NB_N, self.element)
        w = scope.values(self.w_WN_W, self.element)
        across = np.cross(w, arm)
        return added(self.v_WN_W, tuple(map(float, across))) if across.any() else self.v_WN_W


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """One side of a joint: the point in the axes of `body` from its mass centre (in W for
    the ground), and the joint's frame in the same axes, None where not written."""

    body: str
    at: Vector
    R: Array | None
    element: Element


def nodes_of(scope: Scope, root: Element) -> dict[str, Node]:
    """The nodes by name, not yet with their bodies."""
    nodes: dict[str, Node] = {}
    group = root.find("nodes")
    for element in group.children if group is not None else ():
        name = element.said("name")
        if name in nodes:
            raise refused(scope.file, element, f"nodes.{name}", "a second node of this name.")
        kind = element.said("type") or "dynamic"
        if kind not in ("dynamic", "static"):
            raise refused(
                scope.file,
                element,
                f"nodes.{name}",
                f"type {kind!r} is neither dynamic nor static.",
            )
        R_WN = orientation_of(scope, element, "absoluteorientation")
        nodes[name] = Node(
            element,
            vector_of(scope, element, "absoluteposition"),
            np.eye(3) if R_WN is None else R_WN,
            vector_of(scope, element, "absolutevelocity"),
            vector_of(scope, element, "absoluteangularvelocity"),
            GROUND if kind == "static" else "",
        )
    return nodes


def node_named(scope: Scope, nodes: Mapping[str, Node], element: Element, tag: str) -> Node:
    """The node that the text of `tag` names; it has to carry a body or stand still."""
    name = element.said(tag)
    node = nodes.get(name)
    place = element.find(tag) or element
    if node is None:
        raise refused(scope.file, place, f"<{tag}>", f"there is no node {name!r}.", _known(nodes))
    return node


def _known(nodes: Mapping[str, Node]) -> str:
    names = list(nodes)
    return f"There are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}."


def end_on(scope: Scope, nodes: Mapping[str, Node], element: Element, tag: str) -> End:
    """The side of a joint that `element` describes: node, offset and axes in the node's."""
    node = node_named(scope, nodes, element, tag)
    offset = vector_of(scope, element, "relativeoffset")
    R_NF = orientation_of(scope, element, "relativeaxisorientation")
    if node.fixed:
        at = added(node.p_WN, combined(node.R_WN, offset))
        return End(GROUND, at, None if R_NF is None else node.R_WN @ R_NF, element)
    if not node.body:
        raise refused(
            scope.file, element, f"<{tag}>", f"the node {element.said(tag)!r} carries no body."
        )
    return End(node.body, added(offset, node.p_NB_N, -1.0), R_NF, element)


def ends_with_ground(
    scope: Scope, nodes: Mapping[str, Node], element: Element
) -> tuple[End, End] | None:
    """Ground and body of a joint of one node: its absolute offset and axes, or those on the
    node where it stands.  None for a static node, which the ground holds already."""
    node = node_named(scope, nodes, element, "node")
    if node.fixed:
        return None
    end = end_on(scope, nodes, element, "node")
    R_WF = orientation_of(scope, element, "absoluteaxisorientation")
    R_BF = end.R
    if R_BF is None and R_WF is not None:
        R_BF = node.R_WN.T @ R_WF
    elif R_WF is None and R_BF is not None:
        R_WF = node.R_WN @ R_BF
    if element.said("absoluteoffset"):
        at = vector_of(scope, element, "absoluteoffset")
    else:
        offset = vector_of(scope, element, "relativeoffset")
        at = added(node.p_WN, combined(node.R_WN, offset))
    return End(GROUND, at, R_WF, element), End(end.body, end.at, R_BF, element)
