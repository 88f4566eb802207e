"""`vbg structure analyse`: structural analysis of a bare topology, and other choices of drives."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vbg.cli.models import model_in, require_model
from vbg.cli.output import wrote
from vbg.cli.parser import INTERRUPTED, add, add_allow_include, count_of, names
from vbg.cli.progress import CLEAR
from vbg.cli.show.structure import add_report, library_of, report, require_pictures
from vbg.cli.text import bar, count
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.structure import Topology
    from vbg.structure.routes.transform import Progress, Transformations

PLACE = 10


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "analyse",
        act=act,
        summary="structural groups of a bare topology; the best drives",
        detail="FILE is a text file with ProblemType, M and KnownInputs, or a model file.\n"
        "Exit code 1 if the mechanism is not determined.  Ctrl-C stops a search and\n"
        "keeps what it found (exit code 130).",
        examples="""vbg structure rotor.m
            vbg structure rotor.m --transform --library 1P3D,1R3D --order library,groups
            vbg structure rotor.m --transform --store structures.sqlite
            vbg structure rotor.m --query --store structures.sqlite --keep 5
            vbg structure stewart.m --routes 5 --workers 6 --tree routes.svg
            vbg structure sixbar.m --joint 3,4,5""",
    )
    parser.add_argument("file", metavar="FILE", help="topology or model file")
    add_allow_include(parser)
    add_report(parser)
    parser.add_argument("--transform", action="store_true", help="search other choices of drives")
    parser.add_argument("--query", action="store_true", help="rank stored choices, search nothing")
    parser.add_argument("--store", metavar="SQLITE", help="file that keeps the choices found")
    parser.add_argument(
        "--order",
        metavar="CRITERIA",
        type=names,
        default="groups,largest,library,depth",
        help="what counts most: groups, largest, library, depth",
    )
    parser.add_argument("--keep", metavar="N", type=count_of(1), help="only the N best choices")
    parser.add_argument(
        "--allow",
        metavar="PAIRS",
        type=names,
        default="",
        help="pairs that may be driven, by name; all",
    )
    parser.add_argument(
        "--require",
        metavar="PAIRS",
        type=names,
        default="",
        help="pairs that must be driven, by name; none",
    )
    parser.add_argument(
        "--paper",
        action="store_true",
        help="number groups as the tables of the paper are printed, not as its Algorithm 3 says",
    )
    parser.add_argument(
        "--joint",
        metavar="BODIES",
        action="append",
        default=[],
        help="a multiple joint, bodies by name as 3,4,5; may be repeated: every way to write it\n"
        "as pairs is analysed (all its pairs stand in M)",
    )


def act(arguments: argparse.Namespace) -> int:
    require_pictures(arguments)
    topology = topology_in(arguments.file)
    if arguments.joint:
        return _expand(topology, arguments)
    if arguments.transform or arguments.query:
        return _transform(topology, arguments)
    from vbg.structure import analyse_topology

    structure = analyse_topology(topology, as_printed=arguments.paper)
    report(structure, arguments)
    return int(not structure.determined)


def _expand(topology: Topology, arguments: argparse.Namespace) -> int:
    from vbg.structure.geometry.multijoints import all_expansions, expansions_data, expansions_text

    joints = [[name.strip() for name in joint.split(",")] for joint in arguments.joint]
    found = all_expansions(topology, joints)
    if arguments.json:
        print(json.dumps(expansions_data(found)))
    else:
        print(expansions_text(found, joints))
    return int(not any(one.score for one in found))


def topology_in(file: str) -> Topology:
    """The topology of a text file, or of a model file by its ending."""
    require_model(file)
    if file.endswith(".toml"):
        from vbg.structure import analyse

        return analyse(model_in(file)).topology
    from vbg.io.runs.names import RESULT_ENDINGS
    from vbg.structure import read_topology

    if file.endswith(RESULT_ENDINGS):
        raise UsageError(f"{file} is a result; give the model file or a topology.")
    return read_topology(file)


def _transform(topology: Topology, arguments: argparse.Namespace) -> int:
    from vbg.structure.show import transformations_text

    found, stopped = _choices(topology, arguments)
    if arguments.json:
        rows = [
            {"driven": choice.driven, "types": choice.group_types, **_score(choice.score)}
            for choice in found.choices
        ]
        print(json.dumps({"complete": found.complete, "choices": rows}))
    else:
        print(transformations_text(found))
    return INTERRUPTED if stopped else 0


def _score(score: Any) -> dict[str, int]:
    return {
        "groups": score.groups,
        "largest": score.largest,
        "in_library": score.in_library,
        "depth": score.depth,
    }


def _choices(topology: Topology, arguments: argparse.Namespace) -> tuple[Transformations, bool]:
    """The choices of drives, and whether Ctrl-C ended the search for them."""
    from vbg.structure.routes.store import load, save
    from vbg.structure.routes.transform import search_drives

    order = arguments.order
    library = library_of(arguments)
    if arguments.query:
        if not arguments.store:
            raise UsageError("--query needs --store FILE")
        stored = load(arguments.store, topology, library=library, order=order, keep=arguments.keep)
        return stored, False
    with _stoppable() as progress:
        found = search_drives(
            topology,
            library=library,
            order=order,
            allowed=_numbers(topology, arguments.allow) if arguments.allow else None,
            required=_numbers(topology, arguments.require),
            keep=arguments.keep,
            progress=progress,
        )
        stopped = not progress(len(found.choices), 1.0)
    if arguments.store:
        save(arguments.store, found, arguments.file)
        wrote(arguments.store, f"store with {count(len(found.choices), 'choice')} of drives")
    return found, stopped


def _numbers(topology: Topology, wanted: tuple[str, ...]) -> list[int]:

    index = {pair.name: i for i, pair in enumerate(topology.pairs)}
    unknown = [name for name in wanted if name not in index]
    if unknown:
        raise UsageError(f"no pair {unknown[0]!r}; there are {', '.join(index)}")
    return [index[name] for name in wanted]


@contextmanager
def _stoppable() -> Iterator[Progress]:
    """A progress line; after Ctrl-C it answers that the search shall stop."""
    stopped: list[int] = []
    shown = sys.stderr.isatty()

    def progress(found: int, fraction: float) -> bool:
        if shown and found % 16 == 0:
            sys.stderr.write(f"{CLEAR}{bar(fraction)} {100.0 * fraction:3.0f} %  {found} choices")
            sys.stderr.flush()
        return not stopped

    before = signal.signal(signal.SIGINT, lambda number, frame: stopped.append(number))
    try:
        yield progress
    finally:
        signal.signal(signal.SIGINT, before)
        if shown:
            sys.stderr.write(CLEAR)
