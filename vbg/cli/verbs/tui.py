"""`vbg tui`: start the terminal interface."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from vbg.cli.parser import add

PLACE = 110


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "tui",
        act=act,
        summary="edit, run, plot and compare in the terminal",
        examples="vbg tui\nvbg tui crank.toml\nvbg tui crank.toml --marks ascii --no-mouse",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="model file; none: a new model")
    parser.add_argument(
        "--marks",
        choices=("unicode", "block", "ascii"),
        default="",
        help="what curves and graphs are drawn with; default: what the terminal can show",
    )
    parser.add_argument("--theme", default="", help="name of a colour theme")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def act(arguments: argparse.Namespace) -> int:
    # By name: command line and terminal interface are siblings, and this starts the other.
    interface = import_module("vbg.tui")
    return interface.run(
        arguments.file,
        marks=arguments.marks,
        theme=arguments.theme,
        mouse=not arguments.no_mouse,
    )
