"""`vbg structure synthesise`: all structures of a mobility, and machines made of them."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from vbg.cli.output import require_output, wrote
from vbg.cli.parser import ANY, INTERRUPTED, add, add_json, count_of
from vbg.cli.text import count
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.structure import Topology
    from vbg.structure.synthesis.structures import Wanted

PLACE = 20
WHAT = ("chains", "mechanisms", "driven")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "synthesise",
        act=act,
        summary="all structures of a mobility, none twice; machines made of them",
        detail="chains have no frame, mechanisms one (inversions), driven ones as many drives\n"
        "as freedoms.  With --mobility 0: what has none and no smaller part without\n"
        "(Baranov trusses; their inversions are the Assur groups).\n"
        "Ctrl-C keeps what it found (exit code 130).",
        examples="""vbg structure synthesise --planar --mobility 1 --bodies 8 --pairs R
            vbg structure synthesise --planar --mobility 1 --bodies 6 --pairs R,P:1 --as chains
            vbg structure synthesise --mobility 1 --bodies 4 --pairs R,S --as driven
            vbg structure synthesise --planar --mobility 1 --bodies 8 --pairs R -o eight.toml \
--number 5""",
    )
    parser.add_argument("--mobility", metavar="M", type=count_of(0), required=True, help="freedoms")
    parser.add_argument(
        "--bodies", metavar="N", type=count_of(2), required=True, help="bodies, the frame counted"
    )
    parser.add_argument(
        "--pairs",
        metavar="CODES",
        default="R",
        help="kinds of pairs, as R,P; at most two P: R,P:2; exactly two: R,P=2",
    )
    room = parser.add_mutually_exclusive_group()
    room.add_argument("--planar", action="store_true", help="in the plane: R, P")
    room.add_argument(
        "--spatial",
        action="store_true",
        help="in space: R, P, H, C, U, S, PL, SC, SP, SPSP (usual)",
    )
    parser.add_argument(
        "--as",
        dest="what",
        choices=WHAT,
        help="what to list; usual: mechanisms, with -o driven",
    )
    parser.add_argument("--anywhere", action="store_true", help="drives not at the frame, too")
    parser.add_argument("--keep", metavar="K", type=count_of(1), help="stop after K structures")
    parser.add_argument("--count", action="store_true", help="only how many there are")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write one as a model file (.toml) or a topology (.m)",
    )
    parser.add_argument(
        "--number", metavar="N", type=count_of(1), default=1, help="which one -o writes; 1"
    )
    parser.add_argument(
        "--seed", metavar="N", type=count_of(0, ANY), default=0, help="other dimensions; 0"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    require_output(arguments.output, (".toml", ".m"))
    wanted = wanted_of(arguments)
    if arguments.output:
        _write(wanted, arguments)
        return 0
    found, complete = _found(wanted, arguments)
    if arguments.json:
        print(json.dumps(_data(wanted, found, arguments, complete)))
    else:
        print("\n".join(_lines(wanted, found, arguments, complete)))
    return 0 if complete or len(found) == arguments.keep else INTERRUPTED


def _found(wanted: Wanted, arguments: argparse.Namespace) -> tuple[list[Topology], bool]:
    """The structures, and whether these are all: Ctrl-C keeps those found so far, as --keep."""
    found: list[Topology] = []
    try:
        for topology in islice(_listed(wanted, arguments), arguments.keep):
            found.append(topology)
    except KeyboardInterrupt:
        return found, False
    return found, arguments.keep is None or len(found) < arguments.keep


def wanted_of(arguments: argparse.Namespace) -> Wanted:
    """What the options ask for."""
    from vbg.structure.synthesis.structures import Wanted
    from vbg.structure.topology.pairs import PLANAR, SPATIAL

    codes: dict[str, tuple[str, int, int]] = {}
    for word in arguments.pairs.split(","):
        match = re.fullmatch(r"([A-Z]+)(?:([:=])(\d{1,3}))?", word.strip().upper())
        if match is None:
            raise UsageError(
                f"--pairs: '{word}' is no kind of pair, as in R,P:2 (at most two) or P=2"
            )
        code, sign, number = match.groups()
        most = int(number) if number else 999
        codes[code] = (code, most if sign == "=" else 0, most)
    dimension = PLANAR if arguments.planar else SPATIAL
    return Wanted(dimension, arguments.mobility, arguments.bodies, tuple(codes.values()))


def _what(arguments: argparse.Namespace) -> str:
    return arguments.what or ("driven" if arguments.output else "mechanisms")


def _listed(wanted: Wanted, arguments: argparse.Namespace) -> Iterator[Topology]:
    from vbg.structure.synthesis.structures import driven_mechanisms, labelled_chains, mechanisms

    what = _what(arguments)
    if what == "chains":
        return (labelled.topology() for labelled in labelled_chains(wanted))
    if what == "mechanisms":
        return mechanisms(wanted)
    return driven_mechanisms(wanted, anywhere=arguments.anywhere)


def _lines(
    wanted: Wanted, found: list[Topology], arguments: argparse.Namespace, complete: bool
) -> Iterator[str]:
    where = "in the plane" if wanted.dimension == 3 else "in space"
    yield (
        f"{count(len(found), _name(wanted, arguments))}{'' if complete else ' (stopped there)'}:"
        f" {wanted.bodies} bodies, mobility {wanted.mobility}, {where}"
    )
    if arguments.count:
        return
    links = Counter(_assortment(topology) for topology in found)
    for degrees, many in sorted(links.items()):
        told = ", ".join(f"{count(n, 'body')} of {k} pairs" for k, n in degrees)
        yield f"  {many:6}  {told}"
    for number, topology in enumerate(found, start=1):
        yield f"{number:5}  {'  '.join(_pairs(topology))}{_groups(topology)}"


def _name(wanted: Wanted, arguments: argparse.Namespace) -> str:
    what = _what(arguments)
    if wanted.mobility == 0 and wanted.dimension == 3 and what != "driven":
        return {"chains": "Baranov truss", "mechanisms": "Assur group"}[what]
    return {"chains": "chain", "mechanisms": "mechanism", "driven": "driven mechanism"}[what]


def _assortment(topology: Topology) -> tuple[tuple[int, int], ...]:
    """How many bodies have how many pairs: (pairs, bodies), rising."""
    own = [sum(b in pair.ends for pair in topology.pairs) for b in range(len(topology.bodies))]
    return tuple(sorted(Counter(own).items()))


def _pairs(topology: Topology) -> Iterator[str]:
    for pair in topology.pairs:
        a, b = (topology.bodies[body] for body in pair.ends)
        yield f"{pair.code} {a}-{b}{'*' if pair.driven else ''}"


def _group_types(topology: Topology) -> list[str] | None:
    """The structural groups of a driven mechanism in their order; None where there is no drive."""
    if not topology.driven:
        return None
    from vbg.structure import analyse_topology

    return [group.type_name for group in analyse_topology(topology).groups]


def _groups(topology: Topology) -> str:
    types = _group_types(topology)
    return "" if types is None else f"   groups {', '.join(types)}"


def _data(
    wanted: Wanted, found: list[Topology], arguments: argparse.Namespace, complete: bool
) -> dict[str, Any]:
    data: dict[str, Any] = {
        "what": _what(arguments),
        "bodies": wanted.bodies,
        "mobility": wanted.mobility,
        "dimension": wanted.dimension,
        "count": len(found),
        "complete": complete,
    }
    if not arguments.count:
        data["structures"] = [_structure(topology) for topology in found]
    return data


def _structure(topology: Topology) -> dict[str, Any]:
    rows = [
        {"bodies": [body + 1 for body in pair.ends], "code": pair.code, "driven": pair.driven}
        for pair in topology.pairs
    ]
    return {"pairs": rows, "groups": _group_types(topology)}


def _write(wanted: Wanted, arguments: argparse.Namespace) -> None:
    """The chosen structure as a model file or as a topology."""
    found = list(islice(_listed(wanted, arguments), arguments.number))
    if len(found) < arguments.number:
        raise UsageError(
            f"--number {arguments.number}: there are {count(len(found), _name(wanted, arguments))}"
            " of these bodies, pairs and mobility."
        )
    if arguments.output.endswith(".m"):
        from vbg.platform.files import write_text
        from vbg.structure import write_topology

        write_text(arguments.output, write_topology(found[-1]))
        wrote(arguments.output, "topology")
        return
    import vbg
    from vbg.structure.synthesis.machines import machine

    name = f"structure {arguments.number} of {wanted.bodies} bodies, mobility {wanted.mobility}"
    vbg.write(machine(found[-1], seed=arguments.seed, name=name), arguments.output)
    wrote(arguments.output, f"model of {name}")
