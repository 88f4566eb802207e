"""`vbg parts`: what a model file can be made of."""

from __future__ import annotations

import argparse
import inspect
import json
from dataclasses import MISSING, fields
from typing import Any

from vbg.cli.parser import add, add_json
from vbg.cli.text import table
from vbg.errors import UsageError

PLACE = 20


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "parts",
        act=act,
        summary="list the parts a model is made of, or the fields of one",
        examples="vbg parts\nvbg parts revolute\nvbg parts joints\nvbg parts spring --json",
    )
    parser.add_argument("name", nargs="?", help="a table (joints) or a kind (revolute)")
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.model import catalogue

    everything = {name: kinds for name, kinds in catalogue().items() if kinds}
    wanted = arguments.name
    if wanted is None or wanted in everything:
        chosen = everything if wanted is None else {wanted: everything[wanted]}
        _list(chosen, as_json=arguments.json)
        return 0
    parts = [kinds[wanted] for kinds in everything.values() if wanted in kinds]
    if not parts:
        _refuse(wanted, everything)
    for part in parts:
        _describe(part, as_json=arguments.json)
    return 0


def _refuse(wanted: str, everything: dict[str, Any]) -> None:
    from difflib import get_close_matches

    names = [*everything, *(kind for kinds in everything.values() for kind in kinds)]
    near = get_close_matches(wanted, names, n=1)
    remedy = f"Did you mean '{near[0]}'?" if near else "`vbg parts` lists all."
    raise UsageError(f"There is no part '{wanted}'. {remedy}")


def _list(chosen: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(
            json.dumps({name: [_facts(part) for part in k.values()] for name, k in chosen.items()})
        )
        return
    for name, kinds in chosen.items():
        print(f"[{name}.NAME]")
        rows = [(kind, _first_line(part)) for kind, part in kinds.items()]
        width = max(len(kind) for kind, _ in rows)
        print("\n".join(f"  {kind:{width}}  {line}" for kind, line in rows), end="\n\n")
    print("Fields of one: vbg parts KIND")


def _describe(part: type, *, as_json: bool) -> None:
    facts = _facts(part)
    if as_json:
        print(json.dumps(facts))
        return
    print(f'[{facts["table"]}.NAME]  kind = "{facts["kind"]}"\n\n{facts["doc"]}\n')
    rows = [
        (f["name"], f["form"], "" if f["unit"] == "1" else f["unit"], _default(f), f["doc"])
        for f in facts["fields"]
    ]
    print(table([("field", "form", "unit", "default", "meaning"), *rows], "<<<<<"))


def _default(fact: dict[str, Any]) -> str:
    if fact["required"]:
        return "required"
    return "" if fact["default"] in (None, {}, []) else str(fact["default"])


def _facts(part: Any) -> dict[str, Any]:
    """All that is declared of a part, as plain data; sub-tables in `fields`, nested."""
    return {
        "table": getattr(part, "table", ""),
        "kind": getattr(part, "kind", ""),
        "doc": inspect.getdoc(part),
        "fields": [_field_facts(f) for f in fields(part) if "field" in f.metadata],
    }


def _field_facts(field: Any) -> dict[str, Any]:
    declared = field.metadata["field"]
    missing = field.default is MISSING and field.default_factory is MISSING
    default = None if field.default is MISSING else field.default
    plain = isinstance(default, (bool, int, float, str, type(None)))
    facts = {
        "name": field.name,
        "form": declared.form,
        "unit": declared.unit,
        "required": missing,
        "default": default if plain else None,
        "doc": declared.doc,
        "choices": list(declared.choices),
    }
    if declared.of is not None:
        facts["fields"] = _facts(declared.of)["fields"]
    return facts


def _first_line(part: type) -> str:
    """What a part is: the first line of its file, or of its class where a file has several."""
    module = inspect.getmodule(part)
    neighbours = [value for value in vars(module).values() if hasattr(value, "kind")]
    described = module if len(neighbours) == 1 else part
    return (inspect.getdoc(described) or "").splitlines()[0]
