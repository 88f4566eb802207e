"""Closed chains of ideal gears, belts and screws.

With w_k+1 = ratio_k w_k around a chain that comes back to its first shaft, w_1 = product w_1:
unless the product of the ratios is 1 every shaft of it stands still, and where it is 1 one of the
parts says again what the others say, so that how they share a torque is not unique.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vbg.errors import Problem
from vbg.model.catalogue import JOINT_NODE
from vbg.model.model import Model

FRAME = "frame"
AGREES = 1e-9  # of 1: what rounding of written ratios leaves of their product
# of a shaft: to which, with which ratio of speeds, by which part
Ties = Mapping[str, list[tuple[str, float, str]]]


def closed_trains(model: Model) -> Iterator[Problem]:
    """An error for each part that closes a chain."""
    ties: dict[str, list[tuple[str, float, str]]] = {}
    for table, name, first, second, ratio in _ratios(model):
        if first == second or FRAME in (first.split(".")[-1], second.split(".")[-1]):
            continue
        way = _way(ties, second, first)
        if way is not None:
            yield _problem(model, table, name, ratio * way[0], way[1])
            continue
        ties.setdefault(first, []).append((second, ratio, name))
        ties.setdefault(second, []).append((first, 1.0 / ratio, name))


def _ratios(model: Model) -> Iterator[tuple[str, str, str, str, float]]:
    """(table, name, first shaft, second, speed of the second over that of the first)."""
    for name, part in model.rotational.items():
        if part.kind in ("gear", "belt"):
            ratio = part.ratio if part.kind == "gear" else part.radius1 / part.radius2
            first, second = (_path(f"rotational.{node}") for node in part.nodes)
            yield "rotational", name, first, second, ratio
    for name, part in model.translational.items():
        if part.kind == "ball_screw":
            yield "translational", name, _path(part.shaft), _path(part.slide), part.lead


def _path(node: str) -> str:
    """A shaft or slider by one name: that of a joint is "joints.NAME"."""
    name = node.partition(".")[2]
    return f"joints.{name.removeprefix(JOINT_NODE)}" if name.startswith(JOINT_NODE) else node


def _way(ties: Ties, start: str, end: str) -> tuple[float, list[str]] | None:
    """Speed of `end` over that of `start`, and the parts between them; None where nothing ties
    them."""
    found: dict[str, tuple[float, list[str]]] = {start: (1.0, [])}
    left = [start]
    while left:
        here = left.pop()
        ratio, names = found[here]
        for other, further, name in ties.get(here, ()):
            if other not in found:
                found[other] = ratio * further, [*names, name]
                left.append(other)
    return found.get(end)


def _problem(model: Model, table: str, name: str, product: float, others: list[str]) -> Problem:
    chain = f"with {', '.join(others)} it closes a chain of ratios"
    if abs(product - 1.0) <= AGREES:
        what = f"{chain} that agree: how these parts share a torque is not unique."
        remedy = "Leave one of them out, or put a stiff spring and a shaft between two of them."
    else:
        what = f"{chain} of the product {product:.10g}, not 1: nothing on it can move."
        remedy = (
            "(1) Is a ratio upside down, or its sign lost? It is the speed of the second shaft "
            "over that of the first; external teeth have a minus. (2) Write ratios as fractions "
            'of teeth, "20/61". (3) Take out the part that closes it.'
        )
    return Problem("error", f"{table}.{name}", what, remedy, *model.where((table, name)))
