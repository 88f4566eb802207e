"""`vbg export`: a model as another program's file."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from vbg.cli.models import read_checked
from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_model

PLACE = 72


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "export",
        act=act,
        summary="write a model as another program's file",
        detail="What the format has no element for is refused by name: without it the file would\n"
        "be another machine.",
        examples="vbg export pendulum.toml --mstmm-xml -o pendulum.xml",
    )
    add_model(parser)
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument("--mstmm-xml", action="store_true", help="MSTMMSim's parameter file, .xml")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="file to write")


def act(arguments: argparse.Namespace) -> int:
    from vbg.io import mstmmsim

    require_output(arguments.output, (".xml",))
    for left_out in mstmmsim.write(read_checked(arguments), arguments.output):
        print(f"vbg: not in the file: {left_out}", file=sys.stderr)
    wrote(arguments.output, "parameter file of MSTMMSim")
    return 0
