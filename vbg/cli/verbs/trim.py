"""`vbg trim`: values with which a machine rests as it should."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_json, add_model, names
from vbg.cli.text import count, figure, table
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.analysis.begin.trim import Trimmed
    from vbg.model import Model

PLACE = 63


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "trim",
        act=act,
        summary="find values with which a machine rests as it should",
        detail="As many --free values as --hold conditions.  Every point is a machine that is let\n"
        "come to rest; the search begins at the written values.  Exit code 1 where none are found.",
        examples="""vbg trim arm.toml --free spring.length --hold A.angle='10 deg'
            vbg trim lift.toml --free preload --hold spring.force='2 kN' -o lift-trimmed.toml
            vbg trim car.toml --free fl.length --free fr.length --hold a.angle=0 --hold b.y=0""",
    )
    add_model(parser)
    parser.add_argument(
        "--free",
        metavar="NAME",
        type=names,
        action="extend",
        required=True,
        help="a parameter, or an entry of a part (spring.length); may be repeated",
    )
    parser.add_argument(
        "--hold",
        metavar="SIGNAL=VALUE",
        action="append",
        required=True,
        help="a signal and its value at rest, SI or with a unit; may be repeated",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="the model file with the values")
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.analysis.begin.trim import trim

    require_output(arguments.output, (".toml",))
    model = read_checked(arguments)
    found = trim(model, arguments.free, dict(_condition(text) for text in arguments.hold))
    if arguments.output:
        from vbg.io.toml import write

        write(found.model, arguments.output)
        wrote(arguments.output, "model file")
    if arguments.json:
        print(json.dumps({"values": dict(found.values), "conditions": dict(found.conditions)}))
    else:
        print(_text(found, model))
    return 0


def _condition(text: str) -> tuple[str, str]:
    """A signal and its value as written."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise UsageError(f"--hold {text!r}: it is SIGNAL=VALUE, as in A.angle='10 deg'.")
    return name, value


def _text(found: Trimmed, model: Model) -> str:
    units = found.start.system.signal_units
    rows = [("free", "value", "unit")]
    rows += [(name, *_shown(model, name, value)) for name, value in found.values.items()]
    rows += [("held", "value", "unit")]
    rows += [
        (name, figure(value, 9), units.get(name, units.get(name.rpartition(".")[0], "")))
        for name, value in found.conditions.items()
    ]
    return (
        table(rows, "<><")
        + f"\n\n{model.name}: {count(found.evaluations, 'machine')} brought to rest."
    )


def _shown(model: Model, name: str, value: float) -> tuple[str, str]:
    """A value that was free, in the unit in which the file writes the parameter; that of an
    entry in SI."""
    from vbg import units
    from vbg.analysis.begin.trim import entry_unit

    unit = model.parameter_units.get(name, "")
    if unit:
        return figure((value - units.parse(unit).offset) / units.coherent_factor(unit), 9), unit
    return figure(value, 9), entry_unit(model, name)
