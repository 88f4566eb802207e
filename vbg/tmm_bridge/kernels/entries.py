"""The kernels that Python calls, each with arguments as it takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbg.plumbing.kernels.native import Family, read_only
from vbg.tmm_bridge.kernels.motion.kinematics import Array
from vbg.tmm_bridge.kernels.program import Program
from vbg.tmm_bridge.kernels.sources import KERNELS
from vbg.tmm_bridge.kernels.stages import standstill
from vbg.tmm_bridge.kernels.tables import Tables, scratch_for


def _none(kind: type, **axes: int) -> dict[str, Array]:
    """Arrays without entries, by name and number of axes."""
    return {name: np.zeros((0,) * n, dtype=kind) for name, n in axes.items()}


_TABLES = Tables(
    **_none(int, links=2, cuts=2, rows=2, coordinates=2, laws=2, pairs=2, loads=2, bushes=2),
    **_none(int, elastics=2, flexes=2, points=1, drives=2),
    **_none(float, link=2, cut=2, row=2, law=2, pair=2, load=2, bush=2, elastic=2, flex=3),
    **_none(float, flex_J=3, flex_JJ=4, flex_G=4, flex_M=1, shape=3, gravity=1, length=1),
    sizes=np.zeros(3, dtype=np.int64),
)
_SCRATCH = scratch_for(_TABLES)
_PROGRAM = Program(
    **_none(int, code=2, ends=1, drives=2, inputs=2, fed=2, x=1, rates=1, z=1, residual=1),
    **_none(int, slopes=2, valid=1, joints=2, pairs=2, sensors=2, changes=1, outputs=1, grip=2),
    **_none(int, held=1, accelerations=2, reactions=1, asked=2, given=1, yields=2, shafts=1),
    **_none(float, memory=1, curves=2, scales=1, inverse=2, slope=2, grain=1, root=1, away=1),
    **_none(float, points=2, frames=2, jacobian=2, room=2),
)
_RULES = standstill(0)
_VALUES, _ROWS, _CODE = np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int64)
_READ, _READ_ROWS = read_only(_VALUES), read_only(_ROWS)
_FAMILY = Family(KERNELS, "mechanism")


def _entry(module: str, name: str, *example: Any) -> Any:
    return _FAMILY.kernel(f"vbg.tmm_bridge.kernels.{module}:{name}", *example)


_POSTURE = _TABLES, _SCRATCH, _VALUES, _READ_ROWS

play = _entry("play", "play", read_only(_CODE), _VALUES, _READ_ROWS, 0, 0)
section = _entry("program", "section", _PROGRAM, 0)
take_motion = _entry("program", "take_motion", _PROGRAM, _SCRATCH)
measured = _entry("motion.cuts", "measured", 0, _READ, _VALUES)
posture = _entry("evaluate", "posture", *_POSTURE)
closure = _entry("evaluate", "closure", *_POSTURE)
evaluate = _entry("evaluate", "evaluate", *_POSTURE[:3], _READ, _READ_ROWS)
impulse = _entry("evaluate", "impulse", *_POSTURE)
exert = _entry("evaluate", "exert", _TABLES, _SCRATCH, _READ)
all_rows = _entry("closing.constraints", "all_rows", _TABLES, _SCRATCH, _READ_ROWS)
measure_rows = _entry("closing.independence", "measure_rows", _TABLES, _SCRATCH)
correction = _entry("closing.loops", "correction", _TABLES, _SCRATCH, _READ, _VALUES)
row_impulses = _entry("closing.loops", "row_impulses", _TABLES, _SCRATCH, _READ, _VALUES)
stages = _entry(
    "stages",
    "stages",
    *(_TABLES, _SCRATCH, _PROGRAM, 0.0, 0.0, _READ, _ROWS, _RULES, 0, 0),
    *(_READ, _VALUES, _ROWS),
)
errors = _entry("stages", "errors", _READ_ROWS, _RULES, 0.0, _READ, _READ, 0.0, _READ)
