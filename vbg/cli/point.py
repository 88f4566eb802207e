"""The operating point that linear views are about: --about and --at."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Literal

from vbg.cli.parser import seconds
from vbg.errors import VbgError

if TYPE_CHECKING:
    from vbg.analysis import OperatingPoint
    from vbg.analysis.rest.idle import Place
    from vbg.assemble import System

POINTS = ("auto", "rest", "steady", "start")


def add_point(parser: argparse.ArgumentParser) -> None:
    """--about and --at."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--about", choices=POINTS, default="auto", help="operating point (default: auto)"
    )
    where.add_argument("--at", metavar="TIME", type=seconds, help="an instant of the motion")


def place_of(system: System, about: str, at: float | None) -> Place:
    """The system and the point to linearise it about."""
    import vbg
    from vbg.analysis import operating_point
    from vbg.analysis.rest.idle import Place, instant, sensible_point, start_point

    if at is not None:
        return Place(system, instant(system, at, vbg.start(system)))
    if about == "auto":
        return sensible_point(system)
    if about == "start":
        return Place(system, start_point(system, vbg.start(system)))
    kind: Literal["equilibrium", "steady"] = "equilibrium" if about == "rest" else "steady"
    point = operating_point(system, kind)
    _require_found(system, point, about)
    return Place(system, point)


def remarks_on(place: Place, about: str, at: float | None) -> list[str]:
    """What was done to find the point, where it was not the plain rest, and where flexible bodies
    are beyond what their matrices hold for."""
    return [*_found(place, about, at), *beyond_at(place)]


def beyond_at(place: Place) -> list[str]:
    """What the model has not at the point, in words."""
    import numpy as np

    from vbg.assemble import assemble_start
    from vbg.simulate.record.bending import beyond_linear

    point, model = place.point, place.system.model
    if not any(body.flexible for body in model.bodies.values()):
        return []
    signals = assemble_start(place.system).outputs(point.t, point.x)
    rows = {name: np.asarray(value)[None] for name, value in signals.items()}
    found = beyond_linear(model, np.array([point.t]), rows)
    return [f"Warning: {each.where} {each.what} {each.remedy}" for each in found]


def _found(place: Place, about: str, at: float | None) -> list[str]:
    if at is not None:
        return []
    if place.off:
        names = ", ".join(place.off)
        return [
            f"With {names} acting the machine finds no rest: switched off here "
            "(--about start: the start as it stands)."
        ]
    if about == "auto" and place.point.kind == "instant":
        return ["No rest and no steady motion is found next to the start: this is the start."]
    return []


def _require_found(system: System, point: OperatingPoint, about: str) -> None:
    asked = "equilibrium" if about == "rest" else "steady motion"
    if point.kind != asked:
        other = "--about start"
        if about == "rest":
            other = "--about " + ("steady" if point.kind == "steady motion" else "auto or " + other)
        raise VbgError(
            f"{system.model.name} has no {'rest' if about == 'rest' else 'steady motion'} that "
            f"Newton finds from its start. {point.sentence} Try {other}."
        )
