"""From a document to resolved parts: every rule of the language that concerns one
document alone is checked here, and every breach noted before anything is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg.errors import Problem
from vbg.expressions import RESERVED
from vbg.model.bonds import read_bonds
from vbg.model.catalogue import TABLES, catalogue
from vbg.model.names import is_name
from vbg.model.parameters import read_parameters
from vbg.model.parts import coordinates_of, read_part
from vbg.model.places import Path, Places
from vbg.model.reading import Reading, Scope, described
from vbg.model.settings import Outputs, Simulate
from vbg.model.values import read_vector, unknown_keys

FORMAT = 1
STANDARD_GRAVITY = (0.0, 0.0, -9.81)
TOP_LEVEL = ("vbg", "name", "description", "gravity", "parameters", "bonds", "simulate", "outputs")
NODE_TABLES = ("electric", "hydraulic", "rotational", "translational")  # TABLE.NODE.speed
RESERVED_NAMES = frozenset((*NODE_TABLES, "ground", "energy", "residual", "frame", "gnd", "tank"))


@dataclass(slots=True)
class Resolved:
    """What a document resolves to, and the problems met; parts that are wrong are left out."""

    name: str = ""
    description: str = ""
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    parameters: dict[str, float] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    bonds: tuple[str, ...] = ()
    simulate: Simulate = field(default_factory=Simulate)
    outputs: Outputs = field(default_factory=Outputs)
    problems: tuple[Problem, ...] = ()


def resolve(document: Mapping[str, Any], file: str = "", places: Places | None = None) -> Resolved:
    """The resolved parts of `document`, and every problem it has, in the order of the file."""
    reading = Reading(file, places or Places())
    result = Resolved()
    unknown_keys(reading, (), document, (*TOP_LEVEL, *TABLES), "a model file")
    _read_head(reading, document, result)
    read_parameters(reading, document.get("parameters", {}))
    tables = {name: _named_tables(reading, name, document) for name in TABLES}
    _check_names(reading, tables)
    scope = _names_of(reading, tables)
    for table, entries in tables.items():
        result.parts[table] = _read_parts(reading, scope, table, entries)
    result.simulate = _read_settings(reading, scope, "simulate", Simulate, document) or Simulate()
    result.outputs = _read_settings(reading, scope, "outputs", Outputs, document) or Outputs()
    result.bonds = read_bonds(reading, scope, document.get("bonds", ()))
    result.parameters = reading.parameters
    result.problems = tuple(sorted(reading.problems, key=lambda p: (p.line, p.column)))
    return result


def _read_head(reading: Reading, document: Mapping[str, Any], result: Resolved) -> None:
    version = document.get("vbg", FORMAT)
    if type(version) is not int or version < 1:
        reading.fail(("vbg",), f"the format version is a whole number, found {described(version)}.")
    elif version > FORMAT:
        reading.fail(
            ("vbg",),
            f"the file has format {version}, this program reads up to {FORMAT}.",
            "Install a newer vbg.",
        )
    for key in ("name", "description"):
        if key in document and reading.text((key,), document[key]) is not None:
            setattr(result, key, document[key])
    if "gravity" in document:
        gravity = read_vector(reading, ("gravity",), document["gravity"], "m/s^2")
        result.gravity = gravity or STANDARD_GRAVITY  # type: ignore[assignment]


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
                f"{name!r} cannot name a part.",
                "Use letters, digits, _ and -, a letter first.",
            )
        if isinstance(entry, Mapping):
            found[name] = entry
        else:
            remedy = f"Write [{table}.NAME] above the keys of one part."
            reading.fail((table, name), f"expected a table, found {described(entry)}.", remedy)
    return found


def _check_names(reading: Reading, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """One name, one thing: outputs are called NAME.quantity whatever NAME is."""
    owner: dict[str, str] = {}
    for table, entries in tables.items():
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
            elif table == "signals" and (name in reading.parameters or name in RESERVED):
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
        nodes={
            table: dict.fromkeys(
                node
                for entry in tables[table].values()
                if isinstance(entry.get("nodes"), (list, tuple))
                for node in entry["nodes"]
                if isinstance(node, str)
            )
            for table in ("rotational", "translational")
        },
    )


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
        if path[0] == "bodies":
            return kinds["body"]
        known = f"There are: {', '.join(kinds)}." if kinds else ""
        reading.fail_key(path, "the part has no kind.", known)
        return None
    kind = reading.text((*path, "kind"), entry["kind"])
    if kind is None or kind in kinds:
        return kinds[kind] if kind else None
    elsewhere = [table for table, others in catalogue().items() if kind in others]
    if elsewhere:
        what = f"{kind} is a kind of {elsewhere[0]}, not of {path[0]}."
        reading.fail((*path, "kind"), what, f"Write [{elsewhere[0]}.{path[1]}].")
    else:
        reading.unknown((*path, "kind"), f"unknown kind of {path[0]}", kind, kinds, "kinds")
    return None


def _read_settings(
    reading: Reading, scope: Scope, table: str, settings: type, document: Mapping[str, Any]
) -> Any:
    """The table [simulate] or [outputs]; None where it is wrong or not there."""
    if table not in document:
        return None
    entry = reading.table((table,), document[table])
    return None if entry is None else read_part(reading, scope, (table,), settings, entry)
