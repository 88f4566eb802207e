"""From a document to resolved parts: every rule of the language that concerns one
document alone is checked here, and every breach noted before anything is refused."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from vbg.errors import Problem
from vbg.expressions import RESERVED, shown
from vbg.model.catalogue import JOINT_NODE, ONLY_KIND, REFERENCE_NODES, TABLES, catalogue
from vbg.model.forms.parts import coordinates_of, read_part
from vbg.model.resolve.beams import read_beams
from vbg.model.resolve.bonds import read_bonds
from vbg.model.resolve.flexible import carried_points
from vbg.model.resolve.frames import read_frames, stands_on_beam
from vbg.model.resolve.included import Including, Within
from vbg.model.resolve.leakage import with_leakage
from vbg.model.resolve.measures import read_measures
from vbg.model.resolve.permitted import excess
from vbg.model.resolve.ports import PortReferences, read_ports
from vbg.model.resolve.resolved import STANDARD_GRAVITY, Home, Resolved
from vbg.model.resolve.settings import Outputs, Simulate, balancing
from vbg.model.resolve.shown import read_display
from vbg.model.resolve.unit_ports import with_sources
from vbg.model.text.names import everyday, is_name
from vbg.model.text.places import Path, Places
from vbg.model.values.functions import read_functions, with_values
from vbg.model.values.parameters import read_parameters
from vbg.model.values.reading import Reading, Scope, described
from vbg.model.values.values import read_vector, unknown_keys
from vbg.platform.text import escaped

FORMAT = 1
TOP_LEVEL = (
    "vbg",
    "name",
    "description",
    "gravity",
    "parameters",
    "functions",
    "include",
    "ports",
    "bonds",
    "simulate",
    "outputs",
    "measures",
    "display",
)
NODE_TABLES = tuple(REFERENCE_NODES)  # TABLE.NODE.speed
RESERVED_NAMES = frozenset(
    (*NODE_TABLES, *REFERENCE_NODES.values(), "ground", "energy", "residual")
)


def resolve(
    document: Mapping[str, Any],
    file: str = "",
    places: Places | None = None,
    within: Within | None = None,
) -> Resolved:
    """The resolved parts of `document` and of the files it includes, and every problem they
    have, in the order of the file.  `within` are the files around, outermost first."""
    reading = Reading(file, places or Places())
    if isinstance(signals := document.get("signals"), Mapping):
        reading.signals = frozenset(signals)
    result = Resolved()
    _unknown_tables(reading, document)
    _read_head(reading, document, result)
    _read_formulas(reading, document)
    _read_gravity(reading, document, result)
    around = (os.path.realpath(file),) if within is None else within
    including = Including(reading, around, resolve)
    too_much = excess(document, file) if within is None and "include" in document else ""
    if too_much:
        reading.fail_key(("include",), too_much, "Leave out what is included more than needed.")
        including.unread.append("")
    included = {} if too_much else including.read(document.get("include", {}))
    if including.unread:  # what refers to them would all seem wrong
        result.problems, result.complete = _in_order(reading), False
        return result
    ports = {name: sub.ports for name, sub in included.items()}
    document, sources = with_sources(reading, PortReferences(reading, ports)(document))
    tables = {name: _named_tables(reading, name, document) for name in TABLES}
    _check_names(reading, tables, included)
    scope = _names_of(reading, tables)
    for sub in included.values():
        scope.take(sub.scope)
    made = _read_tables(reading, scope, result, tables, included)
    result.simulate = _read_settings(reading, scope, "simulate", Simulate, document) or Simulate()
    of_subs = (value for sub in included.values() for value in sub.balanced)
    result.balanced = (*of_subs, *reading.balanced)
    result.simulate = balancing(result.simulate, result.balanced)
    result.outputs = _read_settings(reading, scope, "outputs", Outputs, document) or Outputs()
    result.measures = read_measures(reading, document.get("measures", {}))
    result.display = read_display(reading, scope, document.get("display", {}))
    own = read_bonds(reading, scope, document.get("bonds", ()))
    result.bonds = (*(bond for sub in included.values() for bond in sub.bonds), *own)
    if within is None:  # what is included may be tied by what is around it
        result.parts["electric"] = with_leakage(result.parts["electric"], result.bonds)
    result.ports = read_ports(reading, scope, document.get("ports", {}))
    result.homes = {path: home for sub in included.values() for path, home in sub.homes.items()}
    result.homes |= {
        (table, name): Home(reading.file, reading.places, ("beams", name.rpartition("_")[0]))
        for table, parts in made.items()
        for name in parts
    }
    if within is not None:
        result.homes |= _homes(reading, tables)
    result.homes |= sources
    result.scope = scope
    result.parameters, result.parameter_units = reading.parameters, reading.parameter_units
    result.problems = _in_order(reading)
    return result


def _read_tables(
    reading: Reading,
    scope: Scope,
    result: Resolved,
    tables: Mapping[str, Mapping[str, Any]],
    included: Mapping[str, Resolved],
) -> dict[str, dict[str, Any]]:
    """The parts of all tables, those of included files first, into `result`; returns those that
    beams are made of, by table.  Frames are read before what stands on them."""
    made: dict[str, dict[str, Any]] = {}
    later: Mapping[str, Any] = {}
    for table, entries in tables.items():
        subs = (sub.parts[table].items() for sub in included.values())
        result.parts[table] = {name: part for of_sub in subs for name, part in of_sub}
        if table == "frames":  # what comes after may stand on them
            beams = tables["beams"]
            later = {n: e for n, e in entries.items() if stands_on_beam(n, entries, beams)}
            first = {n: e for n, e in entries.items() if n not in later}
            result.parts[table] |= read_frames(reading, scope, first)
            continue
        if table == "beams":  # what comes after may be held by them, the next beam too
            parts: dict[str, Any] = {}
            for name, entry in entries.items():
                parts |= (beam := _read_parts(reading, scope, table, {name: entry}))
                for of, own in read_beams(reading, scope, beam).items():
                    made.setdefault(of, {}).update(own)
            result.parts["frames"] |= read_frames(reading, scope, later)
        else:
            parts = _read_parts(reading, scope, table, entries)
        if table == "bodies":
            parts |= carried_points(reading, scope, parts)
        result.parts[table] |= parts
    for table, parts in made.items():
        result.parts[table] |= parts
    return made


def _in_order(reading: Reading) -> tuple[Problem, ...]:
    """The problems as they stand in the file; those of included files, which may be the
    cause of others, before them."""

    def place(problem: Problem) -> tuple[bool, int, int]:
        own = problem.file == reading.file
        return own, problem.line * own, problem.column * own

    return tuple(sorted(reading.problems, key=place))


def _homes(reading: Reading, tables: Mapping[str, Mapping[str, Any]]) -> dict[Path, Home]:
    """Where each part of this file is written, for a file that includes it."""
    return {
        (table, name): Home(reading.file, reading.places, (table, name))
        for table, entries in tables.items()
        for name in entries
    }


def _read_head(reading: Reading, document: Mapping[str, Any], result: Resolved) -> None:
    version = document.get("vbg", FORMAT)
    if type(version) is not int or version < 1:
        told = f"the format version is a whole number, found {described(version)}."
        reading.fail(("vbg",), told, f"Write vbg = {FORMAT}.")
    elif version > FORMAT:
        reading.fail(
            ("vbg",),
            f"the file has format {version}, this program reads up to {FORMAT}.",
            "Install a newer vbg.",
        )
    for key in ("name", "description"):
        if key in document and reading.text((key,), document[key]) is not None:
            setattr(result, key, escaped(document[key]))


def _read_gravity(reading: Reading, document: Mapping[str, Any], result: Resolved) -> None:
    """Behind the parameters, which its components may name."""
    if "gravity" in document:
        gravity = read_vector(reading, ("gravity",), document["gravity"], "m/s^2")
        result.gravity = gravity or STANDARD_GRAVITY  # type: ignore[assignment]


def _read_formulas(reading: Reading, document: Mapping[str, Any]) -> None:
    """Functions, parameters, which may call them, and the functions with their values."""
    parameters = document.get("parameters", {})
    reading.defined = read_functions(reading, document.get("functions", {}), parameters)
    read_parameters(reading, parameters)
    reading.defined = with_values(reading.defined, reading.parameters)


def _named_tables(
    reading: Reading, table: str, document: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    """The entries of one table of parts; an entry that is no table itself is noted and left out."""
    if table not in document:
        return {}
    entries = reading.table((table,), document[table])
    if entries is None:
        return {}
    found = {}
    for name, entry in entries.items():
        if not is_name(name):
            reading.fail_key(
                (table, name),
                f"{shown(name)} cannot name a part.",
                "Use letters, digits, _ and -, a letter first, at most 100 of them.",
            )
        if isinstance(entry, Mapping):
            found[name] = entry
        else:
            remedy = f"Write [{table}.NAME] above the keys of one part."
            reading.fail((table, name), f"expected a table, found {described(entry)}.", remedy)
    return found


def _check_names(
    reading: Reading,
    tables: Mapping[str, Mapping[str, Any]],
    included: Mapping[str, Resolved],
) -> None:
    """One name, one thing: outputs are called NAME.quantity whatever NAME is."""
    owner = {
        name: f"include.{sub}"
        for sub, resolved in included.items()
        for name, table in resolved.scope.objects.items()
        if table
    }
    for table, entries in {"include": included, **tables}.items():
        for name in entries:
            path = (table, name)
            if name in RESERVED_NAMES:
                reading.fail_key(
                    path, f"the name {name!r} has a meaning of its own.", "Choose another name."
                )
            elif name in owner:
                reading.fail_key(
                    path,
                    f"the name {name!r} is taken by {owner[name]}.{name}: outputs such as "
                    f"{name}.speed would be ambiguous.",
                    "Choose another name.",
                )
            elif table == "signals" and name in RESERVED | reading.parameters.keys():
                what = "a parameter" if name in reading.parameters else "a function, pi or the time"
                reading.fail_key(
                    path, f"the name {name!r} is also that of {what}.", "Choose another name."
                )
            owner.setdefault(name, table)


def _names_of(reading: Reading, tables: Mapping[str, Mapping[str, Any]]) -> Scope:
    """The scope of references, from names alone: a part with a mistake of its own
    still exists for those that refer to it."""
    kinds = catalogue()["joints"]
    joints = {}
    for name, entry in tables["joints"].items():
        part = kinds.get(entry.get("kind")) if isinstance(entry.get("kind"), str) else None
        joints[name] = ("angle",) if part is None else coordinates_of(part)
    return Scope(
        points={name: {} for name in tables["bodies"]},
        joints=joints,
        signals=tables["signals"],
        objects={name: table for table, entries in tables.items() for name in entries}
        | {"energy": "", "residual": ""}
        | {table: "" for table in NODE_TABLES if tables[table]},
        nodes={table: _nodes_of(table, tables) for table in ("rotational", "translational")},
        terminals={table: _nodes_of(table, tables) for table in NODE_TABLES},
    )


def _nodes_of(table: str, tables: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The nodes of one table, in the order of the file: those that its parts join, and those
    that parts of any table are `on`, where there are two of them or no other node that one
    alone could have meant."""
    written = (entry.get("nodes") for entry in tables[table].values())
    own = [
        node
        for nodes in written
        if isinstance(nodes, (list, tuple))
        for node in nodes
        if isinstance(node, str) and not node.startswith(JOINT_NODE)
    ]
    on = (entry.get("on") for entries in tables.values() for entry in entries.values())
    texts = (text.partition(".") for text in on if isinstance(text, str))
    made = [node for first, _, node in texts if first == table]
    shared = [node for node in made if made.count(node) > 1 or not own]
    return tuple(dict.fromkeys([*own, *shared]))


def _read_parts(
    reading: Reading, scope: Scope, table: str, entries: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    kinds = catalogue()[table]
    parts = {}
    for name, entry in entries.items():
        path = (table, name)
        part = _class_of(reading, path, entry, kinds)
        if part is None:
            continue
        instance = read_part(reading, scope, path, part, entry)
        if instance is not None:
            parts[name] = instance
    return parts


def _class_of(
    reading: Reading, path: Path, entry: Mapping[str, Any], kinds: Mapping[str, type]
) -> type | None:
    if "kind" not in entry:
        if path[0] in ONLY_KIND:
            return kinds[ONLY_KIND[str(path[0])]]
        known = f"There are: {', '.join(kinds)}." if kinds else ""
        reading.fail_key(path, "the part has no kind.", known)
        return None
    kind = reading.text((*path, "kind"), entry["kind"])
    if kind is None or kind in kinds:
        return kinds[kind] if kind else None
    elsewhere = [table for table, others in catalogue().items() if kind in others]
    if elsewhere and not everyday(kind, kinds):
        what = f"{kind} is a kind of {elsewhere[0]}, not of {path[0]}."
        reading.fail((*path, "kind"), what, f"Write [{elsewhere[0]}.{path[1]}].")
    else:
        reading.unknown((*path, "kind"), f"unknown kind of {path[0]}", kind, kinds, "kinds")
    return None


def _unknown_tables(reading: Reading, document: Mapping[str, Any]) -> None:
    """Note every key at the top that is none; one that is called as a kind of part is
    ([motors.x], [springs.s]), with the tables of that kind."""
    known = (*TOP_LEVEL, *TABLES)
    others = {}
    for key, entry in document.items():
        remedy = "" if key in known or everyday(key, known) else _table_meant(key, entry)
        if remedy:
            reading.fail_key((key,), f"unknown key {key!r} of a model file.", remedy)
        else:
            others[key] = entry
    unknown_keys(reading, (), others, known, "a model file")


def _table_meant(name: str, entry: Any) -> str:
    """Where the parts of an unknown table stand by their kind, or by what it is called."""
    if not isinstance(entry, Mapping):
        return ""
    told = {str(part["kind"]) for part in entry.values() if _has_kind(part)}
    tables = [(table, kinds) for table, kinds in catalogue().items() if table not in ONLY_KIND]
    for word in (*sorted(told)[:3], name, name.removesuffix("s"), name.removesuffix("es")):
        meant = [(t, word if word in kinds else everyday(word, kinds)) for t, kinds in tables]
        if written := [f'[{t}.NAME] with kind = "{kind}"' for t, kind in meant if kind]:
            return f"Write {' or '.join(written)}."
    return ""


def _has_kind(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("kind"), str)


def _read_settings(
    reading: Reading, scope: Scope, table: str, settings: type, document: Mapping[str, Any]
) -> Any:
    """The table [simulate] or [outputs]; None where it is wrong or not there."""
    if table not in document:
        return None
    entry = reading.table((table,), document[table])
    return None if entry is None else read_part(reading, scope, (table,), settings, entry)
