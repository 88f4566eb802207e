"""`vbg import`: another program's model as a model file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_model
from vbg.errors import UsageError

PLACE = 70


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "import",
        act=act,
        summary="turn another program's model into a model file",
        detail="Known is MSTMMSim's parameter file (.xml).  --set gives parameters that the\n"
        "file leaves out.  What was repaired or read otherwise than written is told.",
        examples="vbg import pendulum.xml -o pendulum.toml --set L=0.5",
    )
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="model file, .toml")


def act(arguments: argparse.Namespace) -> int:
    from vbg.io import mstmmsim, toml

    if Path(arguments.file).is_dir():
        raise UsageError(f"{arguments.file} is a folder; name the .xml file in it.")
    if not Path(arguments.file).is_file():
        raise UsageError(f"{arguments.file}: no such file.")
    require_output(arguments.output, (".toml",))
    if not arguments.file.endswith(".xml"):
        raise UsageError(f"{arguments.file}: only MSTMMSim's .xml files can be imported.")
    given = {name: _in_si(name, value) for name, value in dict(arguments.parameters).items()}
    model, notes = mstmmsim.read_with_notes(arguments.file, given)
    for note in notes:
        print(note, file=sys.stderr)
    toml.write(model, arguments.output)
    wrote(arguments.output, "model")
    print(f"next: vbg check {arguments.output}", file=sys.stderr)
    return 0


def _in_si(name: str, value: float | str) -> float:
    """The number that --set gives, "3 mm" in SI."""
    from vbg import expressions
    from vbg.errors import ModelError
    from vbg.model.values.quantities import quantity

    if not isinstance(value, str):
        return value
    try:
        number, _ = quantity(value, "")
        return expressions.evaluate(number, {})
    except ModelError as error:
        raise UsageError(f"parameter {name} = {value!r}: {error}.") from None
