"""What MuJoCo holds equal: points and bodies held together, joints that follow others.

MuJoCo holds them softly; here they are exact.  One that the posture of the file does not keep,
or that the model has no part for, is left out and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vbg.spatial import Array, rotation_matrix

SMALL = 1e-9  # [m, or 1 of a rotation] that a weld may be off in the posture of the file
End = Callable[[int, Array], dict[str, Any]]


def equalities(
    mj: Any, m: Any, d: Any, end: End, coordinate: Callable[[int], str], notes: list[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number, joint) of every equality that is one; `coordinate` is how the model calls that of
    a joint, "joints.NAME", "" where it has none of its own."""
    held = not m.opt.disableflags & mj.mjtDisableBit.mjDSBL_EQUALITY
    for e in range(m.neq):
        kind = mj.mjtEq(m.eq_type[e]).name.removeprefix("mjEQ_").lower()
        on_bodies = m.eq_objtype[e] == mj.mjtObj.mjOBJ_BODY
        made = None
        if not (held and m.eq_active0[e]):
            pass
        elif kind == "connect" and on_bodies:
            at = [_at(d, b, m.eq_data[e, k : k + 3]) for b, k in zip(_ids(m, e), (0, 3))]
            made = {"kind": "spherical", "between": [end(b, p) for b, p in zip(_ids(m, e), at)]}
        elif kind == "weld" and on_bodies:
            made = _weld(m, d, e, end)
        elif kind == "joint" and m.eq_obj2id[e] >= 0:
            made = _follower(m, e, coordinate)
        if made is None:
            named = f" {m.equality(e).name}" if m.equality(e).name else f" number {e + 1}"
            notes.append(f"the equality {kind}{named} was left out.")
        else:
            yield e, made


def _ids(m: Any, e: int) -> tuple[int, int]:
    return int(m.eq_obj1id[e]), int(m.eq_obj2id[e])


def _at(d: Any, b: int, at: Array) -> Array:
    """A point of the body b in W."""
    return np.asarray(d.xpos[b] + d.xmat[b].reshape(3, 3) @ at)


def _weld(m: Any, d: Any, e: int, end: End) -> dict[str, Any] | None:
    """R_2 = R_1 R_rel and p_1 + R_1 relpos = p_2 + R_2 anchor; None where that is not so now."""
    (first, second), data = _ids(m, e), m.eq_data[e]
    p, r = _at(d, first, data[3:6]), _at(d, second, data[0:3])
    R_1, R_2 = (d.xmat[b].reshape(3, 3) for b in (first, second))
    turned = R_1 @ rotation_matrix(data[6:10]) - R_2
    if max(np.abs(p - r).max(), np.abs(turned).max()) > SMALL:
        return None
    return {"kind": "fixed", "between": [end(first, p), end(second, r)]}


def _follower(m: Any, e: int, coordinate: Callable[[int], str]) -> dict[str, Any] | None:
    """q_1 - q0_1 = c_1 (q_2 - q0_2): a gear; None for what is more than this."""
    ends = [coordinate(j) for j in reversed(_ids(m, e))]
    constant, ratio, *curved = (float(c) for c in m.eq_data[e, :5])
    if constant or any(curved) or not ratio or not all(ends):
        return None
    return {"kind": "gear", "between": ends, "ratio": ratio}
