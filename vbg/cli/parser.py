"""What the parsers of all verbs have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Act = Callable[[argparse.Namespace], int]


def add(
    subparsers: Any, name: str, *, act: Act | None, summary: str, examples: str, detail: str = ""
) -> argparse.ArgumentParser:
    """A verb's parser: a line of summary, more in its help, and examples."""
    lines = "\n".join(f"  {line.strip()}" for line in examples.strip().splitlines())
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary}\n{detail}".strip(),
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if act is not None:
        parser.set_defaults(act=act)
    return parser


def add_model(parser: argparse.ArgumentParser) -> None:
    """The arguments of a verb that reads a model file: FILE and --set."""
    parser.add_argument("file", metavar="FILE", help="model file")
    parser.add_argument(
        "--set",
        dest="parameters",
        metavar="NAME=VALUE",
        type=assignment,
        action="append",
        default=[],
        help="replace a parameter: r=0.12, or r='120 mm'; may be repeated",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def assignment(text: str) -> tuple[str, float | str]:
    """A parameter's name and new value: a number, or text as in a model file."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE, as in r=0.12")
    try:
        return name, float(value)
    except ValueError:
        return name, value


def register_modules(package: str, subparsers: Any) -> None:
    """Register every module of `package`, in the order of their `PLACE`."""
    folder = Path(str(import_module(package).__file__)).parent
    names = sorted(file.stem for file in folder.glob("[!_]*.py"))
    modules = [import_module(f"{package}.{name}") for name in names]
    for module in sorted(modules, key=lambda module: module.PLACE):
        module.register(subparsers)
