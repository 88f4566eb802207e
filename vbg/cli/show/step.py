"""`vbg show step`: step and impulse responses of the machine made linear."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import PICTURES, require_output, wrote
from vbg.cli.parser import add, add_json, add_model, seconds
from vbg.cli.point import add_point, beyond_at, place_of, remarks_on
from vbg.cli.show.bode import linear_sides
from vbg.cli.text import count, figure, table, takes_colour
from vbg.errors import UsageError
from vbg.platform.files import replacing

if TYPE_CHECKING:
    import numpy as np

    from vbg.analysis import Linearisation
    from vbg.draw.series import Series

PLACE = 55


@dataclass(frozen=True, slots=True)
class Shape:
    """final: where the response settles, of a stable machine; rise from 10 % to 90 % [s],
    overshoot as part of the step, settling to 2 % [s], peak: the value farthest from zero."""

    final: float | None
    rise: float | None
    overshoot: float | None
    settling: float | None
    peak: float
    peak_time: float


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "step",
        act=act,
        summary="step and impulse response, rise, overshoot and settling",
        detail="The response of the machine made linear to a step of 1 (SI) at --from, or with\n"
        "--impulse to an impulse of 1: a source of the model, or a signal or measured quantity,\n"
        "where the input is added to what its readers get.  Deviations from the operating point,\n"
        "which is that of `vbg show modes`.  Without --t-end as long as the slowest pole asks for.",
        examples="""vbg show step axis.toml --from demand --to rotational.motor.angle
            vbg show step motor.toml --from U --to M.current rotor.speed --t-end '50 ms'
            vbg show step axis.toml --from load --to motor.speed --impulse -o impulse.svg""",
    )
    add_model(parser)
    parser.add_argument(
        "--from", dest="source", metavar="SIGNAL", required=True, help="where the step acts"
    )
    parser.add_argument(
        "--to", dest="to", metavar="SIGNAL", nargs="+", required=True, help="what answers"
    )
    parser.add_argument("--impulse", action="store_true", help="an impulse instead of a step")
    parser.add_argument("--t-end", metavar="T", type=seconds, help="end of the response")
    add_point(parser)
    parser.add_argument("-o", "--output", metavar="OUT", help=".png, .svg, .pdf or .csv")
    add_json(parser)
    parser.set_defaults(loop=None)


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble

    require_output(arguments.output, (*PICTURES, ".csv"))
    place = place_of(assemble(read_checked(arguments)), arguments.about, arguments.at)
    sides, remarks = linear_sides(place, arguments)
    found = [one for side in sides for one in _responses(side, arguments)]
    series = [one for one, _ in found]
    if arguments.output is not None:
        _write(series, arguments.output)
    if arguments.json:
        sys.stderr.writelines(f"{warning}\n" for warning in beyond_at(place))
        print(json.dumps([_plain(one, shape) for one, shape in found]))
        return 0
    head = [*remarks_on(place, arguments.about, arguments.at), place.point.sentence, *remarks]
    print("\n".join([*head, ""]))
    if arguments.output is None:
        from vbg.cli.verbs.plot import in_terminal

        print(in_terminal(series, "unicode", log=False, colour=takes_colour(sys.stdout)) + "\n")
    print(_text(found))
    return 0


def _responses(linear: Linearisation, arguments: argparse.Namespace) -> list[tuple[Series, Shape]]:
    from vbg.analysis.linear.response import final_value, impulse_response, step_response
    from vbg.draw.series import Series

    if len(linear.input_names) != 1:
        names = ", ".join(linear.input_names)
        raise UsageError(f"{arguments.source} has several components; name one: {names}.")
    respond = impulse_response if arguments.impulse else step_response
    side, found = ", ".join(linear.side), []
    for name in linear.output_names:
        time, values = respond(linear, None, name, arguments.t_end)
        final = None if arguments.impulse else final_value(linear, None, name)
        one = Series(name, side, "", time, values, "time", "s", "linear")
        found.append((one, shape_of(time, values, final)))
    return found


def shape_of(time: np.ndarray, values: np.ndarray, final: float | None) -> Shape:
    """Figures of a response over `time` that settles at `final`, None where it does not."""
    import numpy as np

    from vbg.measures import Series
    from vbg.measures.course import overshoot, rise, settle

    peak = int(np.argmax(np.abs(values)))
    if final is None:
        return Shape(None, None, None, None, float(values[peak]), float(time[peak]))
    course = Series(np.append(time, 2.0 * time[-1] - time[-2]), np.append(values, final))

    def known(figure: Callable[[Any], float]) -> float | None:
        try:
            value = figure(course)
        except UsageError:  # what the input does not move has no step
            return None
        return value if np.isfinite(value) else None

    return Shape(
        final,
        known(rise),
        known(overshoot),
        known(settle),
        float(values[peak]),
        float(time[peak]),
    )


def _plain(one: Series, shape: Shape) -> dict[str, Any]:
    named = {"name": one.name, "side": one.run, **asdict(shape)}
    return {**named, "time": one.x.tolist(), "value": one.values.tolist()}


def _text(found: Sequence[tuple[Series, Shape]]) -> str:
    rows = [("signal", "final", "rise [s]", "overshoot", "settles [s]", "peak", "at [s]")]
    for one, shape in found:
        name = f"{one.name} ({one.run})" if one.run else one.name
        part = shape.overshoot
        rows.append(
            (
                name,
                _figure(shape.final),
                _figure(shape.rise),
                "" if part is None else f"{100.0 * part:.3g} %",
                _figure(shape.settling),
                figure(shape.peak),
                figure(shape.peak_time),
            )
        )
    return table(rows, "<>>>>>>")


def _figure(value: float | None) -> str:
    return "" if value is None else figure(value)


def _write(series: Sequence[Series], path: str) -> None:
    """A picture, or a table with a row for each instant."""
    if not path.endswith(".csv"):
        from vbg.draw.chart import draw_curves

        draw_curves(series, path)
    else:
        import numpy as np

        titles = ",".join(
            ["time [s]", *(f"{s.name} ({s.run})" if s.run else s.name for s in series)]
        )
        columns = [series[0].x, *(np.interp(series[0].x, s.x, s.values) for s in series)]
        with replacing(path) as temporary:
            np.savetxt(
                temporary, np.column_stack(columns), "%.17g", ",", header=titles, comments=""
            )
    wrote(path, f"plot of {count(len(series), 'response')}")
