"""What joints that close loops, and drives, ask of the tree coordinates: Phi(q, t) = 0.

Every row has an effort that acts along it on the second body at its point M, its opposite on the
first: a force along, or a torque about, `direction` (world axes), so that its generalized force
is (dPhi/dq)^T effort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from vbg.analysis.symbolic.loops.kinematics import Kinematics
from vbg.assemble.matrices.products import product
from vbg.errors import VbgError
from vbg.plumbing.words import with_article

Of = Callable[[str, str], Any]
FORCE, TORQUE, DRIVE = "force", "torque", "drive"


@dataclass(frozen=True, eq=False)
class Row:
    """One closure: `value` vanishes; `effort` is its symbol; of a drive `direction` is None."""

    joint: str
    kind: str
    value: Any
    direction: Any
    effort: Any


@dataclass(frozen=True, eq=False)
class Cut:
    """Frames of a joint in world axes: origins p_WF, p_WM and axes R_WF, R_WM."""

    p_F: Any
    R_F: Any
    p_M: Any
    R_M: Any


def frames_of(k: Kinematics, joint: Any, name: str, of: Of) -> Cut:
    """The frames of a joint on its two bodies."""
    first, second = (end.body for end in joint.between)
    p_F = k.p[first] + product(k.R[first], of(name, "p_AF_A"))
    p_M = k.p[second] + product(k.R[second], of(name, "p_BM_B"))
    R_F, R_M = product(k.R[first], of(name, "R_AF")), product(k.R[second], of(name, "R_BM"))
    return Cut(p_F, R_F, p_M, R_M)


def rows_of(name: str, joint: Any, at: Cut, length: Any) -> Iterator[Row]:
    """The rows of one joint that closes a loop; `length` of a distance joint."""
    import sympy

    x, y, z = (at.R_F[:, i] for i in range(3))
    apart = at.p_M - at.p_F
    found: list[tuple[str, Any, Any]] = []
    kind = joint.kind
    if kind in ("revolute", "spherical", "fixed", "universal"):
        # world axes: shorter than those of F, and the same force
        found += [(FORCE, apart[i], sympy.eye(3)[:, i]) for i in range(3)]
    elif kind in ("prismatic", "cylindrical", "point_on_line"):
        found += [(FORCE, axis.dot(apart), axis) for axis in (x, y)]
    elif kind in ("planar", "point_on_plane"):
        found.append((FORCE, z.dot(apart), z))
    elif kind == "distance":
        found.append((FORCE, (apart.dot(apart) - length**2) / (2 * length), apart / length))
    else:
        raise VbgError(
            f"joint {name} closes a loop; {with_article(kind)} has no symbolic form there."
        )
    z_M = at.R_M[:, 2]
    if kind in ("revolute", "cylindrical", "planar"):
        found += [(TORQUE, -y.dot(z_M), x), (TORQUE, x.dot(z_M), y)]
    elif kind == "universal":
        found.append((TORQUE, z.dot(z_M), z_M.cross(z)))
    elif kind in ("fixed", "prismatic"):
        turned = sum((at.R_F[:, i].cross(at.R_M[:, i]) for i in range(3)), sympy.zeros(3, 1)) / 2
        found += [(TORQUE, axis.dot(turned), axis) for axis in (x, y, z)]
    for i, (what, value, direction) in enumerate(found):
        effort = sympy.Symbol(f"{name}.effort[{i}]", real=True)
        yield Row(name, what, value, direction, effort)
