"""`vbg parts`: what a model file can be made of."""

from __future__ import annotations

import argparse
import inspect
import json
from typing import Any

from vbg.cli.parser import add, add_json
from vbg.cli.text import count, table
from vbg.errors import UsageError

PLACE = 20
EXERTED = "force, torque: what the first body exerts on the second there, in world axes"
TAKEN = "power: what it takes, negative where it supplies"
GIVEN = "power: what it gives the {}, negative where it takes"
GETS_OIL = {"pump": "oil"}
HEAD = ("key", "what", "unit", "default", "meaning")
WORDS = {  # what is written for a form of field
    "quantity": "number",
    "direction": "[x, y, z] or FRAME.z",
    "points": "table",
    "inertia": "table",
    "shape": "solid(s)",
    "ends": "[end, end]",
    "end": "end",
    "end or coordinate": "end or coordinate",
    "coordinates": "coordinates",
    "table": "rows",
    "group": "table",
    "count": "whole number",
    "flag": "true or false",
    "outputs": "names",
}


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "parts",
        act=act,
        summary="list the parts a model is made of, or the fields of one",
        detail="NAME is a kind (revolute), a table (joints), a key (initial), what is always\n"
        "there (ground, gnd, tank, frame), or a topic: attachment, signal, numbers, shape,\n"
        "rotation, inertia, points, nodes, parameters, include, ports, simulate, outputs,\n"
        "measures, head, gravity, bonds.",
        examples="""vbg parts
            vbg parts revolute
            vbg parts joints
            vbg parts initial
            vbg parts ground
            vbg parts electric.dc_motor --example > try.toml
            vbg parts spring --json""",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a kind, a table, a key or a topic")
    parser.add_argument(
        "--example", action="store_true", help="print a whole small model file with the part"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.model import catalogue

    everything = {name: kinds for name, kinds in catalogue().items() if kinds}
    wanted = arguments.name
    if arguments.example:
        print(_example(wanted, everything), end="")
    elif wanted is None or wanted in everything:
        chosen = everything if wanted is None else {wanted: everything[wanted]}
        _list(chosen, as_json=arguments.json, whole=wanted is None)
    else:
        _explain(wanted, everything, as_json=arguments.json)
    return 0


def parts_named(wanted: str, everything: dict[str, Any]) -> list[type]:
    """The kinds of this name, in one table (``hydraulic.tank``) or in all."""
    chosen, dot, kind = wanted.partition(".")
    tables = {chosen: everything.get(chosen, {})} if dot else everything
    return [kinds[kind or wanted] for kinds in tables.values() if (kind or wanted) in kinds]


def _explain(wanted: str, everything: dict[str, Any], *, as_json: bool) -> None:
    """Everything of that name: kinds, a topic, and parts that have it as a key."""
    from vbg.model.topics import ALIASES, TOPICS

    parts = parts_named(wanted, everything)
    topic = TOPICS.get(ALIASES.get(wanted, wanted))
    users = _with_key(wanted, everything)
    if not (parts or topic or users):
        _refuse(wanted, everything, [*TOPICS, *ALIASES])
    if as_json:
        facts = [_facts(part) for part in parts]
        facts += [_topic_facts(wanted, topic)] if topic else []
        facts += [{"key": wanted, "of": users}] if users and not facts else []
        print("\n".join(json.dumps(fact) for fact in facts))
        return
    blocks = [part_text(part) for part in parts]
    blocks += [_topic_text(wanted, topic)] if topic else []
    if users and (not blocks or wanted in ("stop", "friction")):
        blocks.append(_key_text(wanted, users))
    print("\n\n\n".join(blocks))


def _refuse(wanted: str, everything: dict[str, Any], topics: list[str]) -> None:
    from vbg.model.text.everyday import UNSPOKEN
    from vbg.model.text.names import everyday, nearest

    kinds = [kind for kinds in everything.values() for kind in kinds]
    keys = {f["name"] for kinds in everything.values() for p in kinds.values() for f in keys_of(p)}
    named = [*everything, *kinds, *topics, *keys]
    near = everyday(wanted, kinds) or everyday(wanted, named)
    if not near and wanted in UNSPOKEN:
        raise UsageError(f"There is no part '{wanted}'. {UNSPOKEN[wanted]}")
    near = near or nearest(wanted, named)
    remedy = f"Did you mean '{near}'?" if near else "`vbg parts` lists all."
    raise UsageError(f"There is no part '{wanted}'. {remedy}")


def _example(wanted: str | None, everything: dict[str, Any]) -> str:
    from vbg.model.samples import machine

    parts: list[Any] = parts_named(wanted or "", everything)
    if not parts:
        raise UsageError("--example needs a kind: vbg parts revolute --example")
    if len(parts) > 1:
        named = ", ".join(f"{part.table}.{part.kind}" for part in parts)
        raise UsageError(f"there are {named}: name one of them with its table")
    return machine(parts[0].table, parts[0].kind)


# -- lists ---------------------------------------------------------------------------------


def _list(chosen: dict[str, Any], *, as_json: bool, whole: bool) -> None:
    if as_json:
        print(
            json.dumps({name: [_facts(part) for part in k.values()] for name, k in chosen.items()})
        )
        return
    for name, kinds in chosen.items():
        print(f"[{name}.NAME]")
        rows = [(kind, first_line(part)) for kind, part in kinds.items()]
        width = max(len(kind) for kind, _ in rows)
        print("\n".join(f"  {kind:{width}}  {line}" for kind, line in rows), end="\n\n")
    if whole:
        _list_topics()
    print("More of one: vbg parts NAME   (revolute, joints, initial, ground, shape, ...)")


def _list_topics() -> None:
    from vbg.model.topics import TOPICS

    print("always there, tables of settings, and what values look like")
    width = max(map(len, TOPICS))
    for name, topic in TOPICS.items():
        print(f"  {name:{width}}  {topic.title.removeprefix(f'{name}: ')}")
    print()


def first_line(part: type) -> str:
    """What a part is: the first line of its file, or of its class where a file has several."""
    module = inspect.getmodule(part)
    neighbours = [value for value in vars(module).values() if hasattr(value, "kind")]
    described = module if len(neighbours) == 1 else part
    return (inspect.getdoc(described) or "").splitlines()[0]


# -- one part, one key, one topic ------------------------------------------------------------


def part_text(part: Any) -> str:
    from vbg.model.samples import sample

    lines = [f'[{part.table}.NAME]  kind = "{part.kind}"', "", first_line(part)]
    doc = inspect.getdoc(part) or ""
    if doc.splitlines()[0] != lines[-1]:
        lines += ["", doc]
    lines += ["", table([HEAD, *rows_of(keys_of(part))], "<<<<<")]
    signals = _signals(part)
    if signals:
        rows = [(name, unit, _width(width)) for name, unit, width in signals]
        lines += ["", "signals it gives, NAME.QUANTITY [unit]", table(rows, "<<<", "  ")]
        if part.table == "joints":
            lines.append(f"  {EXERTED}")
        lines += [f"  {_power(part)}"] if any(n.endswith(".power") for n, _, _ in signals) else []
    lines += ["", "for example", "", _indented(sample(part.table, part.kind)), ""]
    lines += [
        f"A whole file around it: vbg parts {part.table}.{part.kind} --example > try.toml",
        f"Source: {_source(part)}",
    ]
    return "\n".join(lines)


def _power(part: Any) -> str:
    """The sign of its power in a sentence."""
    from vbg.model.catalogue import takes_its_power

    return TAKEN if takes_its_power(part) else GIVEN.format(GETS_OIL.get(part.kind, "motion"))


def _topic_text(name: str, topic: Any) -> str:
    lines = [topic.title] + ([topic.text] if topic.text else [])
    if topic.settings is not None:
        lines += ["", table([HEAD, *rows_of(keys_of(topic.settings))], "<<<<<")]
    return "\n".join([*lines, "", "for example", "", _indented(topic.sample)])


def _key_text(key: str, users: list[dict[str, Any]]) -> str:
    """The parts that have a key of this name, alike ones together."""
    alike: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for user in users:
        alike.setdefault(tuple(rows_of([user["field"]])), []).append(user["part"])
    lines = [f"{key}: a key of {count(len(users), 'part')}."]
    for rows, parts in alike.items():
        lines += ["", f"of {', '.join(parts)}", table([HEAD, *rows], "<<<<<", "  ")]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def rows_of(keys: list[dict[str, Any]], prefix: str = "") -> list[tuple[str, ...]]:
    """A row for each key; those of a sub-table follow it, with a dot."""
    rows: list[tuple[str, ...]] = []
    for fact in keys:
        name = f"{prefix}{fact['name']}"
        unit = {"1": "", "": "any"}.get(fact["unit"], fact["unit"])
        rows.append((name, _words(fact), unit, _default(fact), _meaning(fact)))
        rows += rows_of(fact.get("fields", []), f"{name}.")
    return rows


def _words(fact: dict[str, Any]) -> str:
    form, size = fact["form"], fact["size"]
    if form == "vector":
        return f"[{size} numbers]" if size else "[numbers]"
    if form == "matrix":
        return f"{size} x {size}" if size else "matrix"
    if form == "nodes":
        return f"[{size} node{'' if size == 1 else 's'}]" if size else "[1 or 2 nodes]"
    if form == "condition":
        return "a > b, or signal"
    if form == "signals":
        return f"[{size} signals]" if size else "[signals]"
    return WORDS.get(form, form)


def _meaning(fact: dict[str, Any]) -> str:
    choices = f" ({' | '.join(fact['choices'])})" if fact["choices"] else ""
    bounds = [f"{words} {fact[key]:g}" for key, words in BOUNDS if fact[key] is not None]
    return fact["doc"] + choices + (f"; {', '.join(bounds)}" if bounds else "")


BOUNDS = (("above", ">"), ("minimum", ">="), ("below", "<"), ("maximum", "<="))


def _default(fact: dict[str, Any]) -> str:
    if fact["required"]:
        return "required"
    if fact["instead_of"]:
        return f"instead of {fact['instead_of']}"
    default = fact["default"]
    if isinstance(default, float):
        return f"{default:g}"
    return "" if default in (None, {}, []) else str(default)


def _width(width: int) -> str:
    return "" if width == 1 else f"{width} components"


def _signals(part: Any) -> list[tuple[str, str, int]]:
    """Name, unit and components of the signals that the sample's part gives."""
    from vbg.graph import expand
    from vbg.io import toml
    from vbg.model.samples import machine

    if part.table == "fmu":
        return []  # the outputs of its file
    graph = expand(toml.parse(machine(part.table, part.kind)))
    of_kind = getattr(graph.model, part.table).items()
    names = [name for name, one in of_kind if type(one) is part]
    return [
        (output.name, f"[{output.unit}]", output.value.rows)
        for output in graph.outputs
        if output.name.partition(".")[0] in names
    ]


def _source(part: type) -> str:
    """The file that defines the part, from the folder of the package."""
    return f"{part.__module__.replace('.', '/')}.py"


# -- as data ---------------------------------------------------------------------------------


def _with_key(wanted: str, everything: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"part": f"{name}.{kind}", "field": fact}
        for name, kinds in everything.items()
        for kind, part in kinds.items()
        for fact in keys_of(part)
        if fact["name"] == wanted
    ]


def _facts(part: Any) -> dict[str, Any]:
    """All that is declared of a part, as plain data; sub-tables in `fields`, nested."""
    return {
        "table": getattr(part, "table", ""),
        "kind": getattr(part, "kind", ""),
        "doc": inspect.getdoc(part),
        "fields": keys_of(part),
    }


def _topic_facts(name: str, topic: Any) -> dict[str, Any]:
    return {
        "topic": name,
        "title": topic.title,
        "text": topic.text,
        "sample": topic.sample,
        "fields": keys_of(topic.settings) if topic.settings is not None else [],
    }


def keys_of(part: type) -> list[dict[str, Any]]:
    from dataclasses import fields

    return [_field_facts(field) for field in fields(part) if "field" in field.metadata]


def _field_facts(field: Any) -> dict[str, Any]:
    from dataclasses import MISSING

    declared = field.metadata["field"]
    missing = field.default is MISSING and field.default_factory is MISSING
    default = None if field.default is MISSING else field.default
    plain = isinstance(default, (bool, int, float, str, type(None)))
    facts = {
        "name": field.name,
        "form": declared.form,
        "unit": declared.unit,
        "size": declared.size,
        "required": missing,
        "default": default if plain else None,
        "doc": declared.doc,
        "choices": list(declared.choices),
        "instead_of": declared.instead_of,
    }
    facts |= {key: getattr(declared, key) for key, _ in BOUNDS}
    if declared.of is not None:
        facts["fields"] = keys_of(declared.of)
    return facts
