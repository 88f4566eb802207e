"""`vbg plot`: curves of results, in the terminal or as a picture."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.cli.output import PICTURES, require_output, wrote
from vbg.cli.parser import add, add_units
from vbg.cli.results import model_display, read_result
from vbg.cli.text import count, takes_colour
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.solution import Solution

PLACE = 60
HEIGHT = 14  # cells of one panel
_OF_EVERY_MODEL = ("residual.", "energy.")
INKS = {1: "34", 2: "33", 3: "32", 4: "35", 5: "36", 6: "31"}  # of the terminal, by ink


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "plot",
        act=act,
        summary="plot signals of a result",
        detail="Curves of one unit share a panel.  Without -o they are drawn in the terminal.\n"
        "A signal is a name (A.force), a component (A.force.z, A.force[2]) or a\n"
        "pattern ('*.angle').  The table of a sweep is drawn over its parameters: curves,\n"
        "a map, or samples; its signals are measures, all of them if none is named.",
        examples="""vbg plot crank.h5 A.angle A.force
            vbg plot crank.h5 A.force.z -o force.svg
            vbg plot crank.h5 A.speed --across A.angle -o phase.svg
            vbg plot crank.h5 crank.B conrod --space -o paths.svg
            vbg plot crank.h5 A.angle --with other.h5
            vbg plot crank.h5 A.angle --with other.h5 --error --log -o error.png
            vbg plot sweep.csv -o sweep.svg""",
    )
    parser.add_argument("file", metavar="RESULT", help="result file, or a table of vbg sweep")
    parser.add_argument("signals", metavar="SIGNAL", nargs="*", help="what to plot")
    parser.add_argument("-o", "--output", metavar="OUT", help="picture: .png, .svg or .pdf")
    parser.add_argument(
        "--with",
        dest="others",
        metavar="RESULT",
        action="append",
        default=[],
        help="a further run to lay over; may be repeated",
    )
    parser.add_argument(
        "--error", action="store_true", help="plot the difference of further runs to the first"
    )
    parser.add_argument(
        "--across", metavar="SIGNAL", help="horizontal axis (phase curves); default: time"
    )
    parser.add_argument(
        "--space", action="store_true", help="the paths of points and bodies in space"
    )
    add_units(parser)
    parser.add_argument("--log", action="store_true", help="logarithm of the magnitudes")
    parser.add_argument("--title", default="", help="headline of the picture")
    parser.add_argument(
        "--marks",
        choices=("unicode", "block", "ascii"),
        default="unicode",
        help="characters of the terminal's plot",
    )


def act(arguments: argparse.Namespace) -> int:
    from vbg.analysis.studies.table import is_study

    require_output(arguments.output, PICTURES)
    if is_study(arguments.file):
        return _study(arguments)
    if not arguments.signals:
        raise UsageError(_unnamed(arguments.file))
    if arguments.space:
        return _space(arguments)
    curves = _curves(arguments)
    if arguments.output is not None:
        from vbg.draw.chart import draw_curves

        scale = "log" if arguments.log else "linear"
        draw_curves(curves, arguments.output, title=arguments.title, scale=scale)
        wrote(arguments.output, f"plot of {count(len(curves), 'curve')}")
        return 0
    print(in_terminal(curves, arguments.marks, log=arguments.log, colour=takes_colour(sys.stdout)))
    return 0


def _space(arguments: argparse.Namespace) -> int:
    """Paths in space; in the terminal seen from the front (x, z) and from above (x, y)."""
    from vbg.draw.series import Series
    from vbg.draw.space import draw_paths, point_of

    if arguments.error or arguments.across is not None or arguments.log:
        raise UsageError("--space draws paths as they are: without --error, --across, --log.")
    runs = [(label, read_result(file)) for label, file in _labels(arguments)]
    if arguments.output is not None:
        draw_paths(runs, arguments.signals, arguments.output, title=arguments.title)
        wrote(arguments.output, f"paths of {count(len(arguments.signals), 'point')}")
        return 0
    for axis in (2, 1):
        curves = []
        for label, run in runs:
            for name in arguments.signals:
                points = point_of(run, name)
                up = f"{name} {'xyz'[axis]}"
                curves.append(Series(up, label, "m", points[:, 0], points[:, axis], "x", "m"))
        print(in_terminal(curves, arguments.marks, log=False, colour=takes_colour(sys.stdout)))
    return 0


def _unnamed(file: str) -> str:
    """What to say where no signal is named: some that there are."""
    signals = list(read_result(file).signals)
    some = ", ".join(signals[:8]) + (", ..." if len(signals) > 8 else "")
    return f"{file}: name the signals to plot ('*.angle' takes all angles); there are {some}."


def _study(arguments: argparse.Namespace) -> int:
    """The table of a sweep or an optimisation."""
    from vbg.cli.study_plot import draw_table

    if arguments.output is None:
        raise UsageError(f"{arguments.file} is the table of a study: draw it with -o OUT.svg.")
    draw_table(arguments.file, arguments.output, wanted=arguments.signals, title=arguments.title)
    wrote(arguments.output, "plot of a study")
    return 0


def _curves(arguments: argparse.Namespace) -> list[Any]:
    from vbg.display import rules_of
    from vbg.draw.series import errors_against_first, paths_of, series_of
    from vbg.solution import in_display

    display = (*model_display(arguments.file), *rules_of(arguments.units))
    runs = [(label, in_display(read_result(file), display)) for label, file in _labels(arguments)]
    _require_signals(arguments, [solution for _, solution in runs])
    if arguments.error and arguments.across is not None:
        raise UsageError("--error compares runs at equal times; it goes without --across.")
    if arguments.across is not None:
        return paths_of(runs, arguments.across, arguments.signals)
    make = errors_against_first if arguments.error else series_of
    return make(runs, arguments.signals)


def _require_signals(arguments: argparse.Namespace, runs: list[Solution]) -> None:
    """Raises UsageError naming the file that lacks a signal, and whether it is of another
    model than the first; and where there are too many curves for a picture."""
    from vbg.draw.series import choose, require_few

    wanted = [*arguments.signals, *filter(None, [arguments.across])]
    counts = []
    for file, solution in zip((arguments.file, *arguments.others), runs, strict=True):
        here, there = (
            {name for name in run.signals if not name.startswith(_OF_EVERY_MODEL)}
            for run in (runs[0], solution)
        )
        other = here.isdisjoint(there)
        whose = f" {file} is a run of another model than {arguments.file}." if other else ""
        counts.append(0)
        for name in wanted:
            try:
                counts[-1] += len(choose(solution, name)) if name != arguments.across else 0
            except UsageError as error:
                said = str(error).replace("the result", file, 1)
                raise UsageError(f"{said}{whose}") from None
    if not arguments.error:  # the first run is no curve then
        require_few(sum(counts))
    require_few(sum(counts[1:]))


def _labels(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """The files by their stems; by their paths where stems are alike."""
    files = (arguments.file, *arguments.others)
    stems = [Path(file).stem for file in files]
    return [(s if stems.count(s) == 1 else f, f) for s, f in zip(stems, files, strict=True)]


def in_terminal(curves: list[Any], marks_name: str, *, log: bool, colour: bool) -> str:
    """The panels as text, as wide as the terminal, with a legend above each."""
    from vbg.draw.series import by_unit, require_few
    from vbg.draw.text.curves import DASHES, Curve, Frame, plot
    from vbg.draw.text.marks import choose

    require_few(len(curves))
    marks = choose(marks_name)
    width = max(shutil.get_terminal_size((80, 24)).columns, 40)
    patterns = list(DASHES)
    lines = []
    for unit, group in by_unit(curves):
        names = list(dict.fromkeys(curve.name for curve in group))
        runs = list(dict.fromkeys(curve.run for curve in group))
        drawn = tuple(
            Curve(
                c.x,
                c.values,
                c.name,
                ink=names.index(c.name) % len(INKS) + 1,
                pattern=patterns[(runs.index(c.run) if colour else i) % len(patterns)],
            )
            for i, c in enumerate(group)
        )
        for one, curve in zip(drawn, group, strict=True):
            run = f"  ({curve.run})" if len(runs) > 1 else ""
            sample = marks.across * 3 if one.pattern == "solid" else f"{one.pattern}"
            lines.append(_painted(f"{sample} {curve.name}{run} [{unit or '1'}]", one.ink, colour))
        over = group[0]
        log_x = over.scale == "log"
        path = over.across != "time" and not log_x
        frame = Frame(
            unit=(unit, ""), log=log, log_x=log_x, path=path, x_unit=over.across_unit or "1"
        )
        rows = plot(drawn, width, HEIGHT, frame, marks)
        if path:
            lines.append(f"over {over.across} [{over.across_unit or '1'}]")
        for row in rows:
            line = "".join(_painted(text, _ink(style), colour) for text, style in row)
            lines.append(line.rstrip())
    return "\n".join(lines)


def _ink(style: str) -> int:
    return int(style[3:]) if style.startswith("ink") else 0


def _painted(text: str, ink: int, colour: bool) -> str:
    return f"\x1b[{INKS[ink]}m{text}\x1b[0m" if colour and ink in INKS else text
