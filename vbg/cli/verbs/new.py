"""`vbg new`: start a model file from an example."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_json
from vbg.cli.text import table
from vbg.errors import UsageError
from vbg.io.templates import beside, templates
from vbg.platform.files import write_bytes

PLACE = 10


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "new",
        act=act,
        summary="start a model file from a template",
        detail="Without a template: list them.",
        examples="vbg new\nvbg new slider-crank\nvbg new pendulum -o swing.toml\n"
        "vbg new pendulum -o - | vbg run -",
    )
    parser.add_argument("template", nargs="?", help="name of a template")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="file; default NAME.toml; - prints it"
    )
    parser.add_argument("--force", action="store_true", help="overwrite a file that exists")
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    found = templates()
    if arguments.template is None:
        _list(found, as_json=arguments.json)
        return 0
    if arguments.template not in found:
        from difflib import get_close_matches

        near = get_close_matches(arguments.template, found, n=1)
        remedy = f"Did you mean '{near[0]}'?" if near else "`vbg new` lists them."
        raise UsageError(f"There is no template '{arguments.template}'. {remedy}")
    text = found[arguments.template].read_text(encoding="utf-8")
    if arguments.output == "-":
        print(text, end="")
        return 0
    target = Path(arguments.output or f"{arguments.template}.toml")
    require_output(str(target), ("",))
    if target.exists() and not arguments.force:
        raise UsageError(
            f"{target} exists. Choose another name with -o, or overwrite with --force."
        )
    included = dict(beside(found[arguments.template], target))
    for copy, template in included.items():
        if copy.exists() and not arguments.force and copy.read_bytes() != template.read_bytes():
            raise UsageError(f"{copy}, which it includes, exists. Overwrite it with --force.")
    for copy, template in included.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(copy, template.read_bytes())
    write_bytes(target, found[arguments.template].read_bytes())
    if arguments.json:
        print(json.dumps({"file": str(target), "template": arguments.template}))
    else:
        wrote(target, f"model from the template {arguments.template}")
        for copy in included:
            wrote(copy, "included file")
        print(f"next: vbg run {target}", file=sys.stderr)
    return 0


def _list(found: dict[str, Path], *, as_json: bool) -> None:
    import tomllib

    documents = {name: tomllib.loads(file.read_text("utf-8")) for name, file in found.items()}
    about = {name: document.get("description", "") for name, document in documents.items()}
    if as_json:
        print(json.dumps(about))
        return
    rows = [(name, text.strip().splitlines()[0]) for name, text in about.items()]
    print(table([("template", "what it is"), *rows], "<<"))
