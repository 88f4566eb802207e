"""How bushings and elements of beams are turned, for exported programs that end at half a turn.

The ends A and B of a part are turned against their written posture q_0 by

    q = conj(q_A) o q_B o conj(q_0) = (cos(a/2), n sin(a/2)),   n in axes of A,

as `vbg.simulate.events.half_turns` has it of a run; `vbg/export/c/vbg_turns.c` looks at it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.blocks import Block, const, cross, dot, mul, rows, stack, times
from vbg.elements.flexible import FlexiblePoint
from vbg.fields import Attachment
from vbg.simulate.events.half_turns import GROUND, Watched, watched
from vbg.spatial import quaternion_product

CONJUGATE = np.diag([1.0, -1.0, -1.0, -1.0])


def half_turns(system: System) -> dict[str, Block]:
    """By part cos(a/2), n sin(a/2) in axes of the attachment, and what efforts follow a rotation
    vector there: a matrix (6, 3), one row behind the other."""
    return {part.name: _turn_of(system, part) for part in watched(system)}


def _turn_of(system: System, part: Watched) -> Block:
    first, second = (_quaternion(system, end) for end in part.between)
    back = [quaternion_product(unit, CONJUGATE @ part.written) for unit in np.eye(4)]
    turned = mul(_matrix(np.column_stack(back)), _product(mul(_matrix(CONJUGATE), first), second))
    n = mul(_matrix(part.R_AF.T), rows(turned, 1, 4))
    return stack(rows(turned, 0, 1), n, const(part.stiffness.reshape(-1, 1)))


def _quaternion(system: System, end: Attachment) -> Block:
    """Of a body, of the ground, or along that of a point of a flexible body, which is turned by
    the small rotation S_r q of its shapes."""
    body = system.model.bodies.get(end.body)
    if body is None:
        return const(GROUND.reshape(4, 1))
    if not isinstance(body, FlexiblePoint):
        return _state(system, f"{end.body}.quaternion")
    modal = _state(system, f"{body.on.body}.modal")
    bent = stack(const(1.0), mul(const(0.5 * body.shapes[3:]), modal))
    return _product(_state(system, f"{body.on.body}.quaternion"), bent)


def _product(p: Block, q: Block) -> Block:
    """(w_p w_q - u_p . u_q, w_p u_q + w_q u_p + u_p x u_q)."""
    (w_p, u_p), (w_q, u_q) = ((rows(one, 0, 1), rows(one, 1, 4)) for one in (p, q))
    return stack(
        times(w_p, w_q) - dot(u_p, u_q), times(w_p, u_q) + times(w_q, u_p) + cross(u_p, u_q)
    )


def _matrix(values: NDArray[np.float64]) -> Block:
    return const(np.asarray(values, dtype=float))


def _state(system: System, name: str) -> Block:
    return next(s.state.leaf for s in system.slices if s.state.name == name)
