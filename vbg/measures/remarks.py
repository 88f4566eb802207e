"""What a measure may not have meant: the extremes of a vector are over its components.

`max(A.force)` of a bearing that hangs in its load is 0 or less, the largest of the three signed
components; what a bearing is sized by is the length, `max(norm(A.force))`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from vbg.expressions import NONE, Defined
from vbg.measures.language import names_in, spelled, value_of
from vbg.measures.series import Series
from vbg.solution import Solution

EXTREMES = ("max", "min", "range")
DIRECTED = ("N", "N*m", "m", "m/s", "m/s^2", "rad/s", "rad/s^2", "N*s", "N*m*s", "kg*m/s")


def remarks(
    measure: ast.expr,
    solution: Solution,
    parameters: Mapping[str, float],
    functions: Mapping[str, Defined] = NONE,
) -> tuple[str, ...]:
    """A sentence on each extreme over the components x, y, z of a force, torque, place or speed,
    with what its length gives.  Who writes abs() in it counts components on purpose."""
    return tuple(
        f"{spelled(call)} is over the components x, y, z; of the length, "
        f"{name}(norm({spelled(of)})) is {_extreme(name, value):.6g} {unit}"
        for call, name, of in _extremes(measure)
        for unit in {solution.unit(signal) for signal in names_in(of)} & {*DIRECTED}
        for value in [value_of(of, solution, parameters, functions)]
        if isinstance(value, Series) and value.values.ndim == 2 and value.values.shape[1] == 3
    )


def _extremes(measure: ast.expr) -> list[tuple[ast.Call, str, ast.expr]]:
    """The calls of max, min and range without abs() or norm() inside: (call, name, of what)."""
    return [
        (node, node.func.id, node.args[0])
        for node in ast.walk(measure)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in EXTREMES
        and not _calls(node.args[0]) & {"abs", "norm"}
    ]


def _calls(of: ast.expr) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(of)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _extreme(name: str, course: Series) -> float:
    """Of the length."""
    lengths = np.linalg.norm(course.values, axis=1)
    return float(np.ptp(lengths) if name == "range" else getattr(np, name)(lengths))
