"""`vbg results`: the runs and studies of a folder, listed, found, compared, tagged."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vbg.cli.parser import add, add_json, count_of, names
from vbg.cli.text import count, figure, table
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.io.runs.folder import Entry
    from vbg.io.runs.search import Difference

PLACE = 66
SHOWN = 10  # signals that differ most


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "results",
        act=None,
        summary="the runs and studies of a folder: list, find, compare, tag",
        detail="`vbg results` is `vbg results list .`.  An index is kept in .vbg-results.sqlite\n"
        "beside the files and follows them; tags stand in vbg-tags.toml.",
        examples="""vbg results
            vbg results find model=crank 'r>0.04' status=finished
            vbg results compare a.h5 b.h5
            vbg results tag a.h5 baseline""",
    )
    parser.implied = "list"
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    _register_list(verbs)
    _register_find(verbs)
    _register_compare(verbs)
    _register_tag(verbs)


def _register_list(verbs: Any) -> None:
    listed = add(
        verbs,
        "list",
        act=_list,
        summary="all runs and studies of a folder",
        examples="vbg results list\nvbg results list studies --sort modified\n"
        "vbg results list --rebuild --json",
    )
    listed.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="usual: this one")
    _add_order(listed)


def _register_find(verbs: Any) -> None:
    found = add(
        verbs,
        "find",
        act=_find,
        summary="runs and studies that fulfil all conditions",
        detail="A condition is NAME=VALUE; also !=, <, <=, >, >=, and ~ for a pattern.  Names are\n"
        "file, kind, model, status, solver, method, tag, rows, t_end, energy (of the audit), and\n"
        "parameters (SI) and measures (in their units) of the models.",
        examples="vbg results find tag=baseline\nvbg results find 'model~slider*' 'r>=0.04'\n"
        "vbg results find status!=finished --folder studies",
    )
    found.add_argument("conditions", metavar="CONDITION", nargs="+", help="as r>0.04")
    found.add_argument("--folder", metavar="FOLDER", default=".", help="usual: this one")
    _add_order(found)


def _add_order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sort", metavar="NAME", default="file", help="file, modified, or a number's name"
    )
    parser.add_argument(
        "--show",
        metavar="NAMES",
        type=names,
        default="",
        help="parameters and measures as columns: r,life",
    )
    parser.add_argument("--rebuild", action="store_true", help="make the index anew")
    add_json(parser)


def _register_compare(verbs: Any) -> None:
    compared = add(
        verbs,
        "compare",
        act=_compare,
        summary="what differs between runs: parameters, measures, signals",
        detail="Signals are compared with those of the first file, over the time that both reach;\n"
        "measures of studies with those of the runs that both have.",
        examples="vbg results compare a.h5 b.h5\nvbg results compare a.h5 b.h5 c.h5 --json",
    )
    compared.add_argument("files", metavar="RESULT", nargs="+", help="two runs or more, or studies")
    compared.add_argument(
        "--signals", metavar="N", type=count_of(1), default=SHOWN, help="how many; 10"
    )
    add_json(compared)


def _register_tag(verbs: Any) -> None:
    tag = add(
        verbs,
        "tag",
        act=_tag,
        summary="give a result words to find it by",
        examples="vbg results tag a.h5 baseline reviewed\nvbg results tag a.h5 --remove baseline\n"
        "vbg results tag a.h5",
    )
    tag.add_argument("file", metavar="FILE", help="result or table of a study")
    tag.add_argument("tags", metavar="TAG", nargs="*", help="words to add; none: tell those it has")
    tag.add_argument("--remove", metavar="TAG", action="append", default=[], help="take one away")
    add_json(tag)


def _list(arguments: argparse.Namespace) -> int:
    from vbg.io.runs.folder import entries

    return _tell(entries(arguments.folder, rebuild=arguments.rebuild), arguments)


def _find(arguments: argparse.Namespace) -> int:
    from vbg.io.runs.folder import entries
    from vbg.io.runs.search import find, parse_condition, what_there_is

    conditions = [parse_condition(text) for text in arguments.conditions]
    there = entries(arguments.folder, rebuild=arguments.rebuild)
    found = find(there, conditions)
    ended = _tell(found, arguments)
    if there and not found and not arguments.json:
        for line in what_there_is(there, conditions):
            print(line)
    return ended


def _tell(found: Sequence[Entry], arguments: argparse.Namespace) -> int:
    from vbg.io.runs.search import alike

    found = alike(found, (arguments.sort, *arguments.show))
    ordered = sorted(found, key=_order(found, arguments.sort))
    if arguments.json:
        print(json.dumps([_plain(asdict(entry)) for entry in ordered]))
        return 0
    if ordered:
        print(_table(ordered, arguments.show))
    runs = sum(entry.kind == "run" for entry in ordered)
    studies = len(ordered) - runs
    print(f"{count(runs, 'run')}, {count(studies, 'study')}")
    return 0


def _order(found: Sequence[Entry], name: str) -> Any:
    from vbg.io.runs.search import number

    if name in ("file", "modified", "model", "status"):
        return lambda entry: getattr(entry, name)
    if found and all(number(entry, name) is None for entry in found):
        raise UsageError(f"--sort {name}: none of these has it.")

    def key(entry: Entry) -> tuple[bool, float]:
        value = number(entry, name)
        return (value is None, value or 0.0)

    return key


def _table(found: Sequence[Entry], names: Sequence[str]) -> str:
    from vbg.io.runs.search import number

    titles = (_titled(found, name) for name in names)
    head = ("file", "kind", "model", "status", "rows", "t_end", *titles, "modified", "tags")
    rows = [
        (
            entry.file,
            entry.kind,
            entry.model,
            entry.status,
            str(entry.rows),
            "" if math.isnan(entry.t_end) else figure(entry.t_end),
            *("" if (v := number(entry, name)) is None else figure(v) for name in names),
            datetime.fromtimestamp(entry.modified).strftime("%Y-%m-%d %H:%M"),
            ", ".join(entry.tags),
        )
        for entry in found
    ]
    return table([head, *rows], "<<<<>>" + ">" * len(names) + "<<")


def _titled(found: Sequence[Entry], name: str) -> str:
    """A parameter, or a measure with the unit that all of them have it in."""
    unit = next((one.units[name] for one in found if one.units.get(name)), "")
    return f"{name} [{unit}]" if unit else name


def _plain(value: Any) -> Any:
    """NaN as null, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _compare(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from vbg.cli.results import read_result
    from vbg.io.runs.folder import describe
    from vbg.io.runs.search import alike, differences, differing

    if len(arguments.files) < 2:
        raise UsageError("name two result files or more to compare.")
    found = [describe(Path(file), file) for file in arguments.files]
    kinds = {entry.kind for entry in found}
    if kinds == {"study"}:
        return _compare_studies(alike(found, _measures(found)), arguments)
    if "study" in kinds:
        studies = ", ".join(entry.file for entry in found if entry.kind == "study")
        raise UsageError(f"{studies}: a study; compare runs with runs, studies with studies.")
    solutions = [read_result(file) for file in arguments.files]
    apart = [differences(solutions[0], other) for other in solutions[1:]]
    if arguments.json:
        print(json.dumps(_together(arguments, found) | {"signals": _each_plain(apart)}))
        return 0
    print(_settings(found, differing(found)))
    for file, those in zip(arguments.files[1:], apart, strict=True):
        print("\n" + _signals(arguments.files[0], file, those, arguments.signals))
    return 0


def _compare_studies(found: Sequence[Entry], arguments: argparse.Namespace) -> int:
    """Of the runs that studies have in common, by measure."""
    from vbg.analysis.studies.table import read_table
    from vbg.io.runs.search import differing, shifts

    first, *others = [read_table(file) for file in arguments.files]
    apart = [shifts(first, other) for other in others]
    if arguments.json:
        print(json.dumps(_together(arguments, found) | {"shifts": _each_plain(apart)}))
        return 0
    print(_settings(found, differing(found)))
    for file, those in zip(arguments.files[1:], apart, strict=True):
        rows = [("measure", "largest difference", "of its span", "runs in common", "at")]
        for one in those:
            at = ", ".join(f"{name} = {figure(value)}" for name, value in one.point.items())
            largest = f"{figure(one.largest)} {one.unit}".rstrip()
            rows.append((one.measure, largest, f"{one.relative:.2g}", str(one.runs), at))
        print(f"\n{file} against {arguments.files[0]}:\n" + table(rows, "<>>><", "  "))
    return 0


def _together(arguments: argparse.Namespace, found: Sequence[Entry]) -> dict[str, Any]:
    from vbg.io.runs.search import differing

    return {
        "files": arguments.files,
        "parameters": {n: [e.parameters.get(n) for e in found] for n in differing(found)},
        "measures": {n: [e.measures.get(n) for e in found] for n in _measures(found)},
        "units": {n: [e.units.get(n, "") for e in found] for n in _measures(found)},
    }


def _each_plain(apart: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [[_plain(asdict(one)) for one in those] for those in apart]


def _measures(found: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(name for entry in found for name in entry.measures))


def _settings(found: Sequence[Entry], parameters: Sequence[str]) -> str:
    """A column for each file: how it was made, parameters that differ, measures."""
    head = ("", *(entry.file for entry in found))
    rows = [
        ("model", *(entry.model for entry in found)),
        ("status", *(entry.status for entry in found)),
        ("solver", *(f"{entry.solver}, {entry.method}".strip(", ") for entry in found)),
        ("t_end", *("" if math.isnan(e.t_end) else figure(e.t_end) for e in found)),
        ("energy audit", *("" if math.isnan(e.energy) else figure(e.energy, 2) for e in found)),
    ]
    for name in parameters:
        rows.append((name, *(_figure(entry.parameters.get(name)) for entry in found)))
    for name in _measures(found):
        told = (f"{_figure(e.measures.get(name))} {e.units.get(name, '')}" for e in found)
        rows.append((name, *(one.rstrip() for one in told)))
    return table([head, *rows], "<" + ">" * len(found))


def _figure(value: float | None) -> str:
    return "-" if value is None else figure(value, 7)


def _signals(first: str, other: str, those: Sequence[Difference], most: int) -> str:
    apart = [one for one in those if one.largest > 0.0]
    if not apart:
        return f"{other} and {first}: all {count(len(those), 'signal')} in common are equal"
    rows = [("signal", "largest difference", "of its span", "at t")]
    for one in apart[:most]:
        rows.append((one.signal, figure(one.largest), f"{one.relative:.2g}", figure(one.time)))
    hidden = len(apart) - most
    more = f"\n{hidden} more differ less" if hidden > 0 else ""
    return f"{other} against {first}:\n" + table(rows, "<>>>", "  ") + more


def _tag(arguments: argparse.Namespace) -> int:
    from vbg.io.runs.folder import change_tags, read_tags

    if arguments.tags or arguments.remove:
        tags = change_tags(arguments.file, arguments.tags, arguments.remove)
    else:
        from pathlib import Path

        path = Path(arguments.file)
        if not path.is_file():
            raise UsageError(f"{path}: no such file.")
        tags = read_tags(path.parent).get(path.name, ())
    print(json.dumps(list(tags)) if arguments.json else ", ".join(tags) or "no tags")
    return 0
