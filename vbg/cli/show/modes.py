"""`vbg show modes`: operating point, poles, damping, mode shapes, stability."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.point import add_point, beyond_at, place_of, remarks_on
from vbg.cli.text import figure, table

if TYPE_CHECKING:
    from vbg.analysis import Linearisation, Mode
    from vbg.analysis.probe.held import Sampling
    from vbg.analysis.rest.idle import Place
    from vbg.analysis.rest.place import Held, Value

PLACE = 50
SHOWN = 1e-3  # of the largest state of a shape: smaller ones are left out
FORCES = (".force[", ".torque[", ".drive")
TOLD = 1e-6  # of a pole: an error that is told
DROWNS = 1e-2  # of the slowest pole: the same of a pole at zero
MOST_SIDES = 4  # linear forms that are shown at kinks: of two kinks
MOST_VALUES = 12  # of the operating point in text
WIDTH = 100


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "modes",
        act=act,
        summary="natural frequencies, damping, mode shapes, stability",
        detail="About rest (the machine is let go and comes to rest), a steady motion next to\n"
        "the start, or the start as it stands.  auto: a start from which the machine moves\n"
        "steadily on, else the first that there is of rest, steady motion, rest with its motors\n"
        "switched off, start.  --at: an instant of the motion.\n"
        "A shape is complex: size and phase.  With sampled signals the poles are those from\n"
        "sample to sample, without shapes.  Where a law has a kink at the point (a valve that\n"
        "just opens) each side has its own poles, and none decides stability.\n"
        "Exit code 1 if the point asked for was not found, or has no linear form.",
        examples="""vbg show modes crank.toml
            vbg show modes bicycle.toml --about rest
            vbg show modes valve.toml --at '0.1 s'
            vbg show modes crank.toml --forces --json""",
    )
    add_model(parser)
    add_point(parser)
    parser.add_argument("--forces", action="store_true", help="joint forces of each mode, too")
    add_json(parser)


@dataclass(frozen=True)
class _Shown:
    """What is found at a point: `sides`, and where dry friction sticks the form that
    `slipping` has."""

    place: Place
    sides: tuple[Linearisation, ...]
    slipping: Linearisation | None
    coordinates: tuple[Value, ...]
    inputs: tuple[Value, ...]
    held: tuple[Held, ...]

    @property
    def without_form(self) -> str:
        """Why there are no poles; empty if there are."""
        hard = [k.sentence for k in self.sides[0].kinks if k.what != "kink"]
        if hard:
            return f"{'; '.join(hard)}: no linear form there."
        if len(self.sides) > MOST_SIDES:
            return "too many kinks meet here for one linear form on each side."
        return ""


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble

    system = assemble(read_checked(arguments))
    place = place_of(system, arguments.about, arguments.at)
    shown = _look(place)
    if arguments.json:
        print(json.dumps(as_plain(shown, arguments.forces)))
    else:
        remarks = remarks_on(place, arguments.about, arguments.at)
        print("\n".join([*remarks, *as_text(shown, arguments.forces)]))
    return 1 if shown.without_form else 0


def _look(place: Place) -> _Shown:
    from vbg.analysis.linear.linear import linearise_sides, linearise_slipping
    from vbg.analysis.rest.place import coordinates, held, inputs

    system, point = place.system, place.point
    sides = linearise_sides(system, point, inputs=[], most=MOST_SIDES + 1)
    at = (system, point.t, point.x)
    stuck = held(*at)
    slipping = linearise_slipping(system, point) if stuck else None
    return _Shown(place, sides, slipping, coordinates(*at), inputs(*at), stuck)


def as_plain(shown: _Shown, forces: bool) -> dict[str, Any]:
    first = shown.sides[0]
    sides = () if shown.without_form else shown.sides
    plain: dict[str, Any] = {
        "point": first.point.kind,
        "sentence": first.point.sentence,
        "stability": first.stability,
        "time": first.point.t,
        "coordinates": _plain_values(shown.coordinates),
        "inputs": _plain_values(shown.inputs),
        "sticking": [{"name": h.name, "load": h.load, "most": h.most} for h in shown.held],
        "kinks": [
            {"part": k.part, "what": k.what, "signal": k.signal, "value": k.value}
            for k in first.kinks
        ],
        "states": first.state_names,
        "modes": [] if first.kinks or first.sampling else _plain_modes(first, forces),
        "switched_off": shown.place.off,
        "warnings": beyond_at(shown.place),
    }
    if first.kinks:
        plain["sides"] = [
            {"where": side.side, "modes": _plain_modes(side, forces)} for side in sides
        ]
    if first.sampling is not None:
        plain["sampling"] = _plain_sampling(first.sampling)
    if shown.slipping is not None:
        plain["slipping"] = _plain_modes(shown.slipping, forces)
    return plain


def _plain_values(values: Sequence[Value]) -> list[dict[str, Any]]:
    return [{"name": v.name, "value": v.value, "unit": v.unit} for v in values]


def _plain_sampling(sampling: Sampling) -> dict[str, Any]:
    return {
        "signals": sampling.names,
        "period": sampling.period,
        "multipliers": [[value.real, value.imag] for value in sampling.multipliers.tolist()],
        "poles": [[value.real, value.imag] for value in sampling.poles.tolist()],
    }


def _plain_modes(linear: Linearisation, forces: bool) -> list[dict[str, Any]]:
    return [
        {
            "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
            "frequency": mode.frequency,
            "hertz": mode.hertz,
            "damping": mode.damping,
            "error": mode.error,
            "shape": {name: [v.real, v.imag] for name, v in _rows(mode, forces)},
        }
        for mode in linear.modes
    ]


def _rows(mode: Mode, forces: bool) -> list[tuple[str, complex]]:
    rows = [(name, value) for name, value in mode.states.items() if abs(value) > SHOWN]
    if forces:
        reactions = [(n, v) for n, v in mode.shape.items() if any(f in n for f in FORCES)]
        largest = max((abs(v) for _, v in reactions), default=0.0)
        rows += [(n, v) for n, v in reactions if abs(v) > SHOWN * largest]
    return rows


def as_text(shown: _Shown, forces: bool) -> list[str]:
    first = shown.sides[0]
    lines = [first.point.sentence, *_values("at", shown.coordinates)]
    lines += _values("inputs", shown.inputs)
    lines += [
        f"{h.name} sticks: it holds {figure(h.load, 4)} of at most {figure(h.most, 4)}."
        for h in shown.held
    ]
    if shown.held:
        lines.append("While it sticks:" if len(shown.held) == 1 else "While they stick:")
    lines.append(first.stability)
    if shown.without_form:
        return [*lines, _remedy(shown)]
    for side in shown.sides:
        if side.side:
            lines += ["", f"Where {', '.join(side.side)}: {_decay(side)}"]
        lines += _table(side, forces)
    if first.kinks:
        lines += ["", _REMEDY]
    if shown.slipping is not None and not shown.slipping.kinks:
        lines += ["", "Slipping, with constant dry friction:", *_table(shown.slipping, forces)]
    return lines


_REMEDY = (
    "What a small deviation does shows a run that starts beside the point; "
    "--at TIME linearises at an instant of the motion."
)


def _remedy(shown: _Shown) -> str:
    return f"Not shown: {shown.without_form}\n{_REMEDY}"


def _decay(side: Linearisation) -> str:
    """What poles of one side say, which is not stability."""
    growing = sum(1 for mode in side.modes if mode.eigenvalue.real > 0.0)
    return f"{growing} of its modes grow." if growing else "none of its modes grows."


def _values(head: str, values: Sequence[Value]) -> list[str]:
    if not values:
        return []
    shown = [f"{v.name} {figure(v.value, 6)} {v.unit}".rstrip() for v in values[:MOST_VALUES]]
    more = len(values) - len(shown)
    rest = f", and {more} more (--json)" if more else ""
    return wrap(f"{head}: {', '.join(shown)}{rest}", WIDTH, subsequent_indent="  ")


def _sampled(sampling: Sampling) -> list[str]:
    """Poles of the map from sample to sample, one line for each conjugate pair."""
    rows = [("pole [1/s]", "[Hz]", "damping")]
    for pole in sorted(sampling.poles.tolist(), key=abs):
        if pole.imag < 0.0:
            continue
        turns = f" +- {figure(pole.imag, 9)} i" if pole.imag else ""
        hertz = figure(pole.imag / (2.0 * pi)) if pole.imag else ""
        damping = figure(-pole.real / abs(pole), 4) if pole else "1"
        rows.append((figure(pole.real) + turns, hertz, damping))
    return ["", table(rows, "<>>")] if len(rows) > 1 else []


def _table(linear: Linearisation, forces: bool) -> list[str]:
    if linear.sampling is not None:
        return _sampled(linear.sampling)
    if not linear.modes:
        return []
    rows = [("mode", "pole [1/s]", "[Hz]", "damping", "shape")]
    for number, mode in enumerate(linear.modes, 1):
        pole = figure(mode.eigenvalue.real)
        if mode.oscillates:
            pole += f" +- {figure(mode.eigenvalue.imag, 9)} i"
        hertz = figure(mode.hertz) if mode.oscillates else ""
        shape = [f"{name} {_polar(value)}" for name, value in _rows(mode, forces)]
        rows.append((str(number), pole, hertz, figure(mode.damping, 4), shape[0]))
        rows += [("", "", "", "", line) for line in shape[1:]]
    return ["", table(rows, "><>><"), *_known(linear.modes)]


def _known(modes: Sequence[Mode]) -> list[str]:
    """Of poles with fewer digits than are shown."""
    slowest = min((mode.frequency for mode in modes if mode.frequency), default=float("inf"))
    short = [
        (number, mode.error)
        for number, mode in enumerate(modes, 1)
        if mode.error > (TOLD * mode.frequency or DROWNS * slowest)
    ]
    if not short:
        return []
    which = ", ".join(f"{number} to {figure(error, 2)} 1/s" for number, error in short)
    why = "much stiffer or lighter parts beside leave no more digits"
    return ["", *wrap(f"Known only: mode {which}; {why}.", WIDTH, subsequent_indent="  ")]


def _polar(value: complex) -> str:
    """Size and phase in degrees; plain numbers for what is in or against phase."""
    if abs(value.imag) <= 1e-6 * abs(value):
        return figure(value.real, 4)
    from cmath import phase
    from math import degrees

    return f"{figure(abs(value), 4)} at {degrees(phase(value)):.1f} deg"
