"""`vbg animate`: the motion of a result as GIF, MP4 or one HTML file."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_allow_include, assignment, count_of, names
from vbg.cli.results import read_result
from vbg.cli.text import count
from vbg.errors import ModelError, UsageError

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.solution import Solution

PLACE = 62
FORMATS = (".html", ".gif", ".mp4")
HTML_FRAMES, MOVIE_FRAMES = 600, 120


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "animate",
        act=act,
        summary="the motion of a result as a film",
        detail="Bodies from their shapes (or as sticks), joint axes, joint forces as arrows.\n"
        "The .html is one file that opens offline: drag to turn, wheel to zoom, slide in time.\n"
        "The model is the one kept in the result; --model names another file.",
        examples="""vbg animate crank.h5 -o crank.html
            vbg animate crank.h5 -o crank.gif --trace conrod.C --frames 60
            vbg animate crank.csv --model crank.toml --set r=0.05 -o crank.html
            vbg animate other.csv --poses --model crank.toml --map crank=Body1 -o other.html""",
    )
    parser.add_argument("file", metavar="RESULT", help="result file: .h5 or .csv")
    add_allow_include(parser)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help=".html, .gif or .mp4")
    parser.add_argument("--model", metavar="FILE", help="model file, if not the one in the result")
    parser.add_argument(
        "--set",
        dest="parameters",
        metavar="NAME=VALUE",
        type=assignment,
        action="append",
        default=[],
        help="with --model: a parameter that the run had replaced; may be repeated",
    )
    parser.add_argument(
        "--trace",
        metavar="POINT",
        type=names,
        action="extend",
        default=[],
        help="draw the paths of these, BODY.POINT,BODY; may be repeated",
    )
    parser.add_argument(
        "--poses",
        action="store_true",
        help="the file is another program's table of poses: NAME.x, .y, .z, .qw, .qx, .qy, .qz "
        "(or .roll, .pitch, .yaw; .r11 ... .r33), units in brackets",
    )
    parser.add_argument(
        "--map",
        dest="names",
        metavar="BODY=NAME",
        action="append",
        default=[],
        help="of --poses: what the table calls a body of the model; may be repeated",
    )
    parser.add_argument(
        "--origin",
        choices=("com", "axes"),
        default="com",
        help="of --poses: places are of mass centres, or of the axes in which points are written",
    )
    parser.add_argument("--frames", type=count_of(1), help="pictures at most")
    parser.add_argument("--fps", type=count_of(1), default=25, help="pictures a second (GIF, MP4)")


def act(arguments: argparse.Namespace) -> int:
    from vbg.draw.film import film_of

    require_output(arguments.output, FORMATS)
    output = Path(arguments.output)
    if arguments.frames is not None and arguments.frames < 1:
        raise UsageError(f"--frames {arguments.frames}: at least one picture is needed.")
    html = output.suffix == ".html"
    frames = arguments.frames or (HTML_FRAMES if html else MOVIE_FRAMES)
    recorded = None if arguments.poses else read_result(arguments.file)
    model = kept_model(arguments)
    result = _poses(arguments, model) if recorded is None else recorded
    film = film_of(model, result, frames=frames, traces=arguments.trace)
    if html:
        from vbg.draw.page import write_page

        write_page(film, output)
    else:
        from vbg.draw.movie import write_movie

        try:
            write_movie(film, output, fps=arguments.fps)
        except KeyboardInterrupt:
            kept = f"The pictures drawn so far are in {output}." if output.is_file() else ""
            raise KeyboardInterrupt(kept) from None
    wrote(output, f"film of {count(len(film.time), 'picture')}")
    return 0


def _poses(arguments: argparse.Namespace, model: Model) -> Solution:
    """The motion in another program's table."""
    from vbg.io.poses import read_poses

    names = dict(text.partition("=")[::2] for text in arguments.names)
    unknown = [body for body, name in names.items() if body not in model.bodies or not name]
    if unknown:
        there = ", ".join(model.bodies)
        raise UsageError(f"--map {unknown[0]}: write BODY=NAME; the bodies are {there}.")
    return read_poses(arguments.file, model, names, origin=arguments.origin)


def kept_model(arguments: argparse.Namespace) -> Model:
    """The model kept in the result, or the one that `--model` names."""
    from vbg.io import toml

    if arguments.model is not None:
        model = toml.read(arguments.model)
    else:
        text = ""
        if arguments.file.endswith((".h5", ".hdf5")):
            from vbg.io.runs.hdf5 import read_model

            text = read_model(arguments.file)
        if not text:
            raise UsageError(f"{arguments.file} does not hold its model: give --model FILE.toml.")
        try:
            model = toml.parse(text, arguments.file)
        except ModelError as error:  # it was sound when it ran: what it reads is not here
            remedy = "The model kept in the result reads it: give --model FILE.toml beside it."
            raise ModelError.of([replace(one, remedy=remedy) for one in error.problems]) from None
    return model.with_parameters(**dict(arguments.parameters)) if arguments.parameters else model
