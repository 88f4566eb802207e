"""Group-by-group kinematics of a Model whose drives are functions of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg import expressions
from vbg.errors import UsageError
from vbg.model import Model
from vbg.structure.analysis import common_normal
from vbg.structure.kinematics.kinematics import Drives, Motion, solve_by_groups, solve_whole
from vbg.structure.topology.linkage import Linkage
from vbg.structure.topology.models import linkage_of
from vbg.structure.topology.pairs import PLANAR

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Drive:
    """A drive's value and its first and second derivative, functions of t."""

    value: expressions.Expression
    rate: expressions.Expression
    second: expressions.Expression


def kinematics(
    model: Model, times: Sequence[float], *, by_groups: bool = True, workers: int = 1
) -> Motion:
    """The motion of a driven machine at `times`, by its structural groups, those that do not wait
    for one another by `workers` threads at the same time, or as a whole.

    Bodies in the order of the model, the ground before them.  A machine that
    moves in one plane is solved in it.  Raises `UsageError` where a drive is
    not a function of t alone, and where the drives do not determine the motion.
    """
    linkage, drives = driven_linkage(model), drives_of(model)
    if not by_groups:
        return solve_whole(linkage, times, drives)
    return solve_by_groups(linkage, times, drives, workers=workers)


def driven_linkage(model: Model) -> Linkage:
    """The linkage of `model`, in its plane where all its joints lie in one."""
    from dataclasses import replace

    linkage = linkage_of(model)
    normal = common_normal(linkage)
    if normal is None or {pair.code for pair in linkage.topology.pairs} - set("RPW"):
        return linkage
    topology = replace(linkage.topology, dimension=PLANAR)
    return replace(linkage, topology=topology, normal=normal)


def drives_of(model: Model) -> Drives:
    """Values, rates and accelerations of the driven coordinates, joint by joint."""
    found = [
        _drive(name, part.drive)
        for name, part in model.joints.items()
        if getattr(part, "drive", None) is not None
    ]

    def drives(t: float) -> tuple[Array, Array, Array]:
        rows = [(drive.value, drive.rate, drive.second) for drive in found]
        numbers = [[expressions.evaluate(node, {"t": t}) for node in row] for row in rows]
        columns = np.array(numbers, dtype=float).reshape(-1, 3).T
        return columns[0], columns[1], columns[2]

    return drives


def _drive(name: str, drive: float | str) -> _Drive:
    value = expressions.parse(str(drive))
    unknown = expressions.names(value) - {"t"}
    if unknown:
        raise UsageError(
            f"joints.{name}.drive: {drive!r} names {', '.join(sorted(unknown))}; kinematics "
            "alone needs a function of t"
        )
    rate = expressions.derivative(value, "t")
    return _Drive(value, rate, expressions.derivative(rate, "t"))
