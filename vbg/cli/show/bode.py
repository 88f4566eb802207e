"""`vbg show bode`: frequency responses, closed or with a loop opened, and margins."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import degrees, log10
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import PICTURES, require_output, wrote
from vbg.cli.parser import add, add_json, add_model, count_of
from vbg.cli.point import add_point, beyond_at, place_of, remarks_on
from vbg.cli.text import count, figure, table, takes_colour
from vbg.errors import ModelError, UsageError
from vbg.platform.files import replacing

if TYPE_CHECKING:
    import numpy as np

    from vbg.analysis import Linearisation
    from vbg.analysis.linear.crossings import Band, Crossing, Margins
    from vbg.analysis.rest.idle import Place
    from vbg.draw.series import Mark, Series

PLACE = 54
MOST_SIDES = 4  # curves that are shown at kinks: of two kinks
ROWS = 9  # of the table, about
STEPS = (1.0, 2.0, 5.0)  # of a decade that the table has
MARKED = 4  # margins of a kind in a picture, the smallest ones
CRITICAL = -180.0  # degrees: with 0 dB where the closed loop is about to be unstable
FURTHEST_PHASE = 90.0  # degrees that a curve begins at most with; by turns below


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "bode",
        act=act,
        summary="frequency response, open loop, gain and phase margins",
        detail="The response to a small harmonic input at --from: a source of the model, or a\n"
        "signal or measured quantity, where the input is added to what its readers get.\n"
        "--break SIGNAL opens the loop there: without --from and --to from what its readers get\n"
        "to what it becomes, L.  Shown is -L, which has the margins of negative feedback: the\n"
        "closed loop is critical where -L is 1 at -180 deg.\n"
        "The operating point is that of `vbg show modes`; frequencies are in rad/s, or carry Hz.",
        examples="""vbg show bode axis.toml --from demand --to rotational.motor.angle
            vbg show bode axis.toml --break position
            vbg show bode axis.toml --break M.current --range '1 Hz:2 kHz' -o loop.svg
            vbg show bode axis.toml --from U --to M.current --about start -o response.csv""",
    )
    add_model(parser)
    parser.add_argument("--from", dest="source", metavar="SIGNAL", help="where the input acts")
    parser.add_argument("--to", dest="to", metavar="SIGNAL", nargs="+", help="what answers")
    parser.add_argument("--break", dest="loop", metavar="SIGNAL", help="open the loop there")
    add_point(parser)
    parser.add_argument(
        "--range", dest="span", metavar="LOW:HIGH", type=frequencies, help="0.1:1e4, '1 Hz:2 kHz'"
    )
    parser.add_argument(
        "--points", metavar="N", type=count_of(2), help="frequencies, evenly in log"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help=".png, .svg, .pdf or .csv")
    add_json(parser)


def frequencies(text: str) -> tuple[float, float]:
    """LOW:HIGH in rad/s."""
    from vbg import units

    wrong = f"'{text}' is not LOW:HIGH with 0 < LOW < HIGH, as in 0.1:1e4 or '1 Hz:2 kHz'"
    try:
        low, high = (units.convert(part.strip(), "rad/s") for part in text.split(":"))
    except (ModelError, ValueError) as error:
        more = f": {error}" if isinstance(error, ModelError) else ""
        raise argparse.ArgumentTypeError(wrong + more) from None
    if not 0.0 < low < high < float("inf"):
        raise argparse.ArgumentTypeError(wrong)
    return low, high


@dataclass(frozen=True, eq=False)
class Curve:
    """One response, `value` over `frequency` [rad/s]: with the loop alone opened -L and its
    `margins` and what becomes of deviations when it is closed, else a `band`."""

    name: str
    side: str
    linear: Linearisation
    frequency: np.ndarray
    value: np.ndarray
    band: Band | None
    margins: Margins | None
    closed_loop: str

    @property
    def sign(self) -> float:
        return 1.0 if self.margins is None else -1.0

    def at(self, w: np.ndarray) -> np.ndarray:
        from vbg.analysis import frequency_response

        output = self.linear.output_names[0] if self.margins is not None else self.name
        return self.sign * frequency_response(self.linear, None, output, w).value


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble

    require_output(arguments.output, (*PICTURES, ".csv"))
    _require_ends(arguments)
    system = assemble(read_checked(arguments))
    place = place_of(system, arguments.about, arguments.at)
    sides, remarks = linear_sides(place, arguments)
    curves = [curve for side in sides for curve in _curves(side, arguments)]
    if arguments.output is not None:
        _write(curves, arguments.output)
    if arguments.json:
        print(json.dumps(as_plain(place, curves)))
        return 0
    head = [*remarks_on(place, arguments.about, arguments.at), place.point.sentence, *remarks]
    drawn = [] if arguments.output is not None else [_drawn(curves), ""]
    print("\n".join([*head, *_what(arguments), "", *drawn, *as_text(curves)]))
    return 0


def _require_ends(arguments: argparse.Namespace) -> None:
    both = arguments.source is not None and arguments.to is not None
    neither = arguments.source is None and arguments.to is None
    if not both and not (neither and arguments.loop is not None):
        raise UsageError(
            "name where the input acts and what answers, --from SIGNAL --to SIGNAL, or the signal "
            "at which a loop is opened, --break SIGNAL."
        )


def linear_sides(
    place: Place, arguments: argparse.Namespace
) -> tuple[Sequence[Linearisation], list[str]]:
    """The machine on each side of the kinks at the point, and what to say about it."""
    from vbg.analysis.linear.linear import linearise_sides, linearise_slipping
    from vbg.analysis.rest.resting import stuck

    inputs = None if arguments.source is None else [arguments.source]
    what = (place.system, place.point, inputs, arguments.to)
    if names := stuck(place.system, place.point.x):
        linear = linearise_slipping(*what, loop=arguments.loop)
        sticks = f"{', '.join(names)} sticks here; shown is slipping with constant dry friction."
        return (replace(linear, side=()),), [sticks]
    sides = linearise_sides(*what, loop=arguments.loop, most=MOST_SIDES + 1)
    hard = [kink.sentence for kink in sides[0].kinks if kink.what != "kink"]
    if hard or len(sides) > MOST_SIDES:
        raise UsageError(
            f"{'; '.join(hard) or 'too many kinks meet here'}: there is no linear form at this "
            "point; --at TIME takes an instant of the motion."
        )
    kinks = [kink.sentence for kink in sides[0].kinks]
    return sides, [f"{'; '.join(kinks)}: a response on each side."] if kinks else []


def _curves(linear: Linearisation, arguments: argparse.Namespace) -> list[Curve]:
    from vbg.analysis import frequency_response
    from vbg.analysis.linear.crossings import band, closed, margins
    from vbg.analysis.linear.modes import stability

    if len(linear.input_names) != 1:
        names = ", ".join(linear.input_names)
        raise UsageError(f"{arguments.source} has several components; name one: {names}.")
    w = _grid(linear, arguments.span, arguments.points)
    side = ", ".join(linear.side)
    if arguments.source is None:
        value = -frequency_response(linear, frequency=w).value
        found, ends = margins(linear, w), stability(closed(linear), linear.known)
        return [Curve(f"-L of {arguments.loop}", side, linear, w, value, None, found, ends)]
    curves = []
    for name in linear.output_names:
        value = frequency_response(linear, None, name, w).value
        curves.append(Curve(name, side, linear, w, value, band(linear, None, name, w), None, ""))
    return curves


def _grid(
    linear: Linearisation, span: tuple[float, float] | None, points: int | None
) -> np.ndarray:
    """Around all poles; in a span evenly in the logarithm, and denser at poles unless the
    number of points is given."""
    import numpy as np

    from vbg.analysis.linear.response import automatic_range

    natural = automatic_range(linear)
    if span is None and points is None:
        return natural
    low, high = span or (float(natural[0]), float(natural[-1]))
    even = np.geomspace(low, high, points or 400)
    if points is not None:
        return even
    return np.unique(np.concatenate([even, natural[(natural > low) & (natural < high)]]))


def phase(value: np.ndarray) -> np.ndarray:
    """Phase [deg] without jumps, from a start in (-270, 90]."""
    import numpy as np

    found = np.degrees(np.unwrap(np.angle(value)))
    turns = np.ceil((found[0] - FURTHEST_PHASE) / 360.0) if len(found) else 0.0
    return np.asarray(found - 360.0 * turns)


def _decibel(value: Any) -> Any:
    import numpy as np

    with np.errstate(divide="ignore"):
        return 20.0 * np.log10(np.abs(value))


def _series(curves: Sequence[Curve]) -> list[Series]:
    from vbg.draw.series import Series

    return [
        Series(c.name, c.side, unit, c.frequency, of(c.value), "frequency", "rad/s", "log")
        for unit, of in (("dB", _decibel), ("deg", phase))
        for c in curves
    ]


def _drawn(curves: Sequence[Curve]) -> str:
    from vbg.cli.verbs.plot import in_terminal

    return in_terminal(_series(curves), "unicode", log=False, colour=takes_colour(sys.stdout))


def _marks(curves: Sequence[Curve]) -> list[Mark]:
    """The critical lines of an opened loop, 0 dB and -180 deg, and the margins against them."""
    from vbg.draw.series import Mark

    marks: list[Mark] = []
    for curve in curves:
        if curve.margins is None:
            continue
        gain, angle = curve.margins.gain, curve.margins.phase
        marks += [Mark("dB", 0.0), Mark("deg", CRITICAL)]
        for c in sorted(gain, key=lambda c: abs(log10(c.margin)))[:MARKED]:
            size = float(_decibel(c.margin))
            marks.append(Mark("dB", 0.0, c.frequency, -size, f"gain margin {size:.3g} dB"))
        for c in sorted(angle, key=lambda c: abs(c.margin))[:MARKED]:
            left, at = degrees(c.margin), _phase_at(curve, c.frequency)
            critical = CRITICAL + 360.0 * round((at - left - CRITICAL) / 360.0)
            marks.append(Mark("deg", critical))
            text = f"phase margin {left:.3g} deg"
            marks.append(Mark("deg", critical, c.frequency, critical + left, text))
    return list(dict.fromkeys(marks))


def _phase_at(curve: Curve, w: float) -> float:
    """Phase [deg] of the branch that is drawn."""
    import numpy as np

    return float(np.interp(w, curve.frequency, phase(curve.value)))


def _write(curves: Sequence[Curve], path: str) -> None:
    """A picture, or a table with a row for each frequency."""
    if not path.endswith(".csv"):
        from vbg.draw.chart import draw_curves

        draw_curves(_series(curves), path, marks=_marks(curves))
    else:
        import numpy as np

        columns, titles = [curves[0].frequency], ["frequency [rad/s]"]
        for c in curves:
            columns += [
                np.interp(columns[0], c.frequency, v) for v in (_decibel(c.value), phase(c.value))
            ]
            where = f" ({c.side})" if c.side else ""
            titles += [f"{c.name}{where} [{unit}]" for unit in ("dB", "deg")]
        header = ",".join(titles)
        with replacing(path) as temporary:
            np.savetxt(
                temporary, np.column_stack(columns), "%.17g", ",", header=header, comments=""
            )
    wrote(path, f"Bode plot of {count(len(curves), 'response')}")


def _what(arguments: argparse.Namespace) -> list[str]:
    lines = []
    if arguments.loop is not None:
        lines.append(f"The loop is opened at {arguments.loop}.")
    if arguments.source is None:
        return [
            f"{lines[0]} L: from what its readers get to what it becomes; shown is -L, critical "
            "at 0 dB and -180 deg."
        ]
    return [*lines, f"From {arguments.source} to {', '.join(arguments.to)}, in SI units."]


def as_text(curves: Sequence[Curve]) -> list[str]:
    lines = []
    for curve in curves:
        lines.append(curve.name + (f", where {curve.side}" if curve.side else ""))
        rows = [("[rad/s]", "[Hz]", "[dB]", "[deg]")]
        for w, hertz, size, angle in _rows(curve):
            rows.append((figure(w, 4), figure(hertz, 4), figure(size, 4), figure(angle, 4)))
        lines += [table(rows, ">>>>", "  "), *_summary(curve), ""]
    return lines[:-1]


def _rows(curve: Curve) -> list[tuple[float, float, float, float]]:
    """Round frequencies with magnitude [dB] and phase [deg]."""
    import numpy as np

    w = np.array(round_frequencies(float(curve.frequency[0]), float(curve.frequency[-1])))
    both = np.unique(np.concatenate([curve.frequency, w]))
    value = curve.at(both)
    angle = phase(value)
    places = np.searchsorted(both, w)
    return [
        (float(at), float(at) / (2 * np.pi), float(_decibel(value[k])), float(angle[k]))
        for at, k in zip(w, places, strict=True)
    ]


def round_frequencies(low: float, high: float) -> list[float]:
    """Powers of ten in [low, high], with 2 and 5 times them where they are few."""
    first, last = int(log10(low)) - 1, int(log10(high)) + 1
    every = [m * 10.0**e for e in range(first, last + 1) for m in STEPS]
    inside = [w for w in every if low * (1 - 1e-9) <= w <= high * (1 + 1e-9)]
    powers = [w for w in inside if abs(log10(w) - round(log10(w))) < 1e-9]
    chosen = powers if len(inside) > 2 * ROWS else inside
    return chosen or [low, high]


def _summary(curve: Curve) -> list[str]:
    if curve.margins is not None:
        return [f"  {line}" for line in _margin_lines(curve.margins, curve.closed_loop)]
    assert curve.band is not None
    static, width, peak = curve.band.static, curve.band.bandwidth, curve.band.peak
    lines = ["no static gain" if static is None else f"static gain {figure(static)}"]
    if width is not None:
        lines.append(f"bandwidth (-3 dB) {_where(width)}")
    lines.append(
        f"largest {figure(float(_decibel(peak.margin)), 4)} dB at {_where(peak.frequency)}"
    )
    return [f"  {line}" for line in lines]


def _where(w: float) -> str:
    return f"{figure(w)} rad/s ({figure(w / 6.283185307179586, 4)} Hz)"


def _margin_lines(found: Margins, closed_loop: str) -> list[str]:
    gain = [f"{figure(_decibel(c.margin), 4)} dB at {_where(c.frequency)}" for c in found.gain]
    angle = [
        f"{figure(degrees(c.margin), 4)} deg at {_where(c.frequency)}{_dead_time(c)}"
        for c in found.phase
    ]
    peak = found.sensitivity
    return [
        *_listed("gain margin", gain or ["none: -L does not cross -180 deg here"]),
        *_listed("phase margin", angle or ["none: -L does not cross 0 dB here"]),
        *_listed("sensitivity", [f"at most {figure(peak.margin, 4)}, at {_where(peak.frequency)}"]),
        *_listed("closed loop", [closed_loop]),
    ]


def _listed(head: str, lines: list[str]) -> list[str]:
    """The head beside the first of the lines."""
    return [f"{head if k == 0 else '':14}{line}" for k, line in enumerate(lines)]


def _dead_time(c: Crossing) -> str:
    return (
        f": a dead time of {figure(1e3 * c.margin / c.frequency, 4)} ms" if c.margin > 0.0 else ""
    )


def as_plain(place: Place, curves: Sequence[Curve]) -> dict[str, Any]:
    return {
        "point": place.point.kind,
        "sentence": place.point.sentence,
        "switched_off": place.off,
        "warnings": beyond_at(place),
        "responses": [_plain(curve) for curve in curves],
    }


def _plain(curve: Curve) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": curve.name,
        "where": curve.side,
        "frequency": curve.frequency.tolist(),
        "decibel": [v if v > -float("inf") else None for v in _decibel(curve.value).tolist()],
        "degrees": phase(curve.value).tolist(),
    }
    if curve.band is not None:
        plain |= {
            "static_gain": curve.band.static,
            "bandwidth": curve.band.bandwidth,
            "peak": _crossing(curve.band.peak),
        }
    if curve.margins is not None:
        plain |= {
            "gain_margins": [_crossing(c) for c in curve.margins.gain],
            "phase_margins": [
                {"frequency": c.frequency, "degrees": degrees(c.margin)}
                for c in curve.margins.phase
            ],
            "sensitivity": _crossing(curve.margins.sensitivity),
            "closed_loop": curve.closed_loop,
        }
    return plain


def _crossing(c: Crossing) -> dict[str, float]:
    return {"frequency": c.frequency, "factor": c.margin}
