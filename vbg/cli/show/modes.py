"""`vbg show modes`: operating point, poles, damping, mode shapes, stability."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Literal

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.text import figure, table
from vbg.errors import VbgError

if TYPE_CHECKING:
    from vbg.analysis import Linearisation, Mode, OperatingPoint
    from vbg.analysis.idle import Place
    from vbg.assemble import System

PLACE = 50
POINTS = ("auto", "rest", "steady", "start")
SHOWN = 1e-3  # of the largest state of a shape: smaller ones are left out
FORCES = (".force[", ".torque[", ".drive")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "modes",
        act=act,
        summary="natural frequencies, damping, mode shapes, stability",
        detail="About rest (the machine is let go and comes to rest), a steady motion next to\n"
        "the start, or the start as it stands; auto takes the first that there is, a rest with\n"
        "its motors switched off before the start.  A shape is complex: size and phase.\n"
        "Exit code 1 if the point asked for was not found.",
        examples="""vbg show modes crank.toml
            vbg show modes top.toml --about start
            vbg show modes crank.toml --forces --json""",
    )
    add_model(parser)
    parser.add_argument(
        "--about", choices=POINTS, default="auto", help="operating point (default: auto)"
    )
    parser.add_argument("--forces", action="store_true", help="joint forces of each mode, too")
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.analysis import linearise
    from vbg.assemble import assemble

    place = _place(assemble(read_checked(arguments)), arguments.about)
    linear = linearise(place.system, place.point, inputs=[])
    if arguments.json:
        print(json.dumps({**as_plain(linear, arguments.forces), "switched_off": place.off}))
    else:
        print("\n".join([*_remarks(place, arguments.about), as_text(linear, arguments.forces)]))
    return 0


def _place(system: System, about: str) -> Place:
    """The system and the point to linearise it about."""
    from vbg.analysis import operating_point
    from vbg.analysis.idle import Place, sensible_point, start_point

    if about == "auto":
        return sensible_point(system)
    if about == "start":
        return Place(system, start_point(system))
    kind: Literal["equilibrium", "steady"] = "equilibrium" if about == "rest" else "steady"
    point = operating_point(system, kind)
    _require_found(system, point, about)
    return Place(system, point)


def _remarks(place: Place, about: str) -> list[str]:
    """What was done to find the point, where it was not the plain rest."""
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
    if point.kind == "instant":
        other = "--about auto or --about start" if about == "rest" else "--about start"
        raise VbgError(
            f"{system.model.name} has no {'rest' if about == 'rest' else 'steady motion'} that "
            f"Newton finds from its start (rates of {point.misfit:.2g} remain); try {other}."
        )


def as_plain(linear: Linearisation, forces: bool) -> dict[str, Any]:
    return {
        "point": linear.point.kind,
        "sentence": linear.point.sentence,
        "stability": linear.stability,
        "states": linear.state_names,
        "modes": [
            {
                "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "frequency": mode.frequency,
                "hertz": mode.hertz,
                "damping": mode.damping,
                "shape": {name: [v.real, v.imag] for name, v in _rows(mode, forces)},
            }
            for mode in linear.modes
        ],
    }


def _rows(mode: Mode, forces: bool) -> list[tuple[str, complex]]:
    rows = [(name, value) for name, value in mode.states.items() if abs(value) > SHOWN]
    if forces:
        reactions = [(n, v) for n, v in mode.shape.items() if any(f in n for f in FORCES)]
        largest = max((abs(v) for _, v in reactions), default=0.0)
        rows += [(n, v) for n, v in reactions if abs(v) > SHOWN * largest]
    return rows


def as_text(linear: Linearisation, forces: bool) -> str:
    head = [linear.point.sentence, linear.stability]
    if not linear.modes:
        return "\n".join(head)
    rows = [("mode", "pole [1/s]", "[Hz]", "damping", "shape")]
    for number, mode in enumerate(linear.modes, 1):
        pole = figure(mode.eigenvalue.real)
        if mode.oscillates:
            pole += f" +- {figure(mode.eigenvalue.imag, 9)} i"
        hertz = figure(mode.hertz) if mode.oscillates else ""
        shape = [f"{name} {_polar(value)}" for name, value in _rows(mode, forces)]
        rows.append((str(number), pole, hertz, figure(mode.damping, 4), shape[0]))
        rows += [("", "", "", "", line) for line in shape[1:]]
    return "\n".join([*head, "", table(rows, "><>><")])


def _polar(value: complex) -> str:
    """Size and phase in degrees; plain numbers for what is in or against phase."""
    if abs(value.imag) <= 1e-6 * abs(value):
        return figure(value.real, 4)
    from cmath import phase
    from math import degrees

    return f"{figure(abs(value), 4)} at {degrees(phase(value)):.1f} deg"
