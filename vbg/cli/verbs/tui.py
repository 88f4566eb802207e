"""`vbg tui`: start the terminal interface."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_allowed

PLACE = 110


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "tui",
        act=act,
        summary="edit, run, plot and compare in the terminal",
        examples="vbg tui\nvbg tui crank.toml\nvbg tui crank.toml --marks ascii --no-mouse\n"
        "vbg tui crank.toml --screenshot graph -o graph.svg --size 120x36",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="model file; none: a new model")
    add_allowed(parser)
    parser.add_argument(
        "--marks",
        choices=("unicode", "block", "ascii"),
        default="",
        help="what curves and graphs are drawn with; default: what the terminal can show",
    )
    parser.add_argument("--theme", default="", help="name of a colour theme")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    parser.add_argument(
        "--no-pictures", action="store_true", help="never ask the terminal for pictures in pixels"
    )
    parser.add_argument(
        "--screenshot",
        metavar="VIEW",
        help="no terminal: write a picture of edit, graph, run, plot, validate or space",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="of --screenshot: a .svg or .txt file"
    )
    parser.add_argument("--size", default="", metavar="WxH", help="of --screenshot: default 100x30")
    parser.add_argument("--keys", action="store_true", help="list all actions with their keys")


def act(arguments: argparse.Namespace) -> int:
    # By name: command line and terminal interface are siblings, and this starts the other.
    interface = import_module("vbg.tui")
    if arguments.keys:
        print(interface.key_list())
        return 0
    if arguments.screenshot is not None:
        output = arguments.output or f"{arguments.screenshot}.svg"
        require_output(output, (".svg", ".txt"))
        code: int = interface.screenshot(
            arguments.file,
            arguments.screenshot,
            output,
            size=arguments.size,
            marks=arguments.marks,
            theme=arguments.theme,
        )
        wrote(output, f"picture of the view {arguments.screenshot}")
        return code
    return interface.run(
        arguments.file,
        marks=arguments.marks,
        theme=arguments.theme,
        mouse=not arguments.no_mouse,
        pictures=not arguments.no_pictures,
    )
