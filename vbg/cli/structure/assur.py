"""`vbg structure assur`: the planar linkages of Table 16 of Celdran, Saura and Dopico (2022)."""

from __future__ import annotations

import argparse
import re
from typing import Any

from vbg.cli.output import require_output, wrote
from vbg.cli.parser import ANY, add, count_of
from vbg.cli.show.structure import add_report, report, require_pictures
from vbg.errors import UsageError
from vbg.platform.files import write_text

PLACE = 30
_NAME = re.compile(r"(?P<order>I{1,3}|[1-9]\d*)-(?P<groups>[1-9]\d*)(?P<moved>B?)")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "assur",
        act=act,
        summary="planar linkages of Assur groups, as the paper's Table 16 has them",
        detail="NAME is CLASS-GROUPS: a crank, and groups of that class, the first joined to the\n"
        "crank and the frame, the others at random.  With B the drive stands between the last two\n"
        "bodies.\n"
        "The paper does not print where groups are joined; for its names the usual seed gives\n"
        "as many structural groups as it prints.",
        examples="""vbg structure assur II-4
            vbg structure assur II-4B -o ii4b.m
            vbg structure assur I-20B --seed 7""",
    )
    parser.add_argument("name", metavar="NAME", help="as I-2, II-4B, III-4B, 5-3")
    parser.add_argument(
        "--seed", metavar="N", type=count_of(0, ANY), help="usual: that of Table 16, or 0"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the topology as a text file (.m)")
    add_report(parser)


def act(arguments: argparse.Namespace) -> int:
    import numpy as np

    from vbg.structure import analyse_topology, write_topology
    from vbg.structure.routes.synthesis import TABLE_16, assur_family, driven_at_the_end

    require_output(arguments.output, (".m",), "-o")
    require_pictures(arguments)
    told = _NAME.fullmatch(arguments.name)
    if told is None:
        raise UsageError(f"{arguments.name!r} is not CLASS-GROUPS, such as I-2 or II-4B.")
    word, groups = told["order"], int(told["groups"])
    order = len(word) if set(word) == {"I"} else int(word)
    seed = TABLE_16.get((order, groups), 0) if arguments.seed is None else arguments.seed
    topology = assur_family(order, groups, np.random.default_rng(seed))
    if told["moved"]:
        topology = driven_at_the_end(topology)
    structure = analyse_topology(topology)
    if arguments.output:
        write_text(arguments.output, write_topology(topology))
        wrote(arguments.output, "topology")
    report(structure, arguments)
    return int(not structure.determined)
