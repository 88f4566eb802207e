"""`vbg export`: a model as another program's file, or as C code."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import require_folder, require_folder_of, require_output, wrote
from vbg.cli.parser import add, add_model

if TYPE_CHECKING:
    from vbg.assemble.start.start import Start

PLACE = 72


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "export",
        act=act,
        summary="write a model as C99 code or as another program's file",
        detail="What the format has no element for is refused by name: without it the file would\n"
        "be another machine.",
        examples="""vbg export crank.toml --c -o crank_c && make -C crank_c
            vbg export pendulum.toml --mstmm-xml -o pendulum.xml""",
    )
    add_model(parser)
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument(
        "--c", action="store_true", help="C99 code into the folder OUT: equations, methods, a main"
    )
    formats.add_argument("--mstmm-xml", action="store_true", help="MSTMMSim's parameter file, .xml")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="file or folder to write"
    )


def act(arguments: argparse.Namespace) -> int:
    return _code(arguments) if arguments.c else _mstmm(arguments)


def _mstmm(arguments: argparse.Namespace) -> int:
    from vbg.io import mstmmsim

    require_output(arguments.output, (".xml",))
    for left_out in mstmmsim.write(read_checked(arguments), arguments.output):
        print(f"vbg: not in the file: {left_out}", file=sys.stderr)
    wrote(arguments.output, "parameter file of MSTMMSim")
    return 0


def _start(arguments: argparse.Namespace) -> Start:
    """The assembled start of the model, its notes on standard error."""
    import vbg

    start = vbg.start(vbg.assemble(read_checked(arguments)))
    for note in start.notes:
        print(note, file=sys.stderr)
    return start


def _code(arguments: argparse.Namespace) -> int:
    from vbg.export import write_code

    require_folder(arguments.output)
    require_folder_of(arguments.output)
    for path in write_code(_start(arguments), arguments.output):
        wrote(path, "C99")
    return 0
