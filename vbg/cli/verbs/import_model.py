"""`vbg import`: another program's model as a model file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_model
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.model import Model

    Reader = Callable[[argparse.Namespace], tuple[Model, tuple[str, ...]]]

PLACE = 70


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "import",
        act=act,
        summary="turn another program's model into a model file",
        detail="Known are MSTMMSim's parameter file (.xml) and robots (.urdf).  --set gives\n"
        "parameters that an .xml file leaves out.  What was left out, repaired or read otherwise\n"
        "than written is told.",
        examples="vbg import pendulum.xml -o pendulum.toml --set L=0.5\n"
        "vbg import robot.urdf -o robot.toml --base free\n"
        "vbg import gripper.urdf -o gripper.toml --loops closing.toml",
    )
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="model file, .toml")
    parser.add_argument(
        "--base",
        choices=("fixed", "free"),
        help="of a robot: its root link is the ground (default), or floats",
    )
    parser.add_argument(
        "--keep-fixed",
        action="store_true",
        help="of a robot: links on fixed joints stay bodies, and these joints' forces signals",
    )
    parser.add_argument(
        "--loops",
        metavar="FILE",
        help="of a robot: a TOML file of further parts, such as the joints that close loops",
    )


def act(arguments: argparse.Namespace) -> int:
    from vbg.io import toml

    if Path(arguments.file).is_dir():
        raise UsageError(f"{arguments.file} is a folder; name the file in it.")
    if not Path(arguments.file).is_file():
        raise UsageError(f"{arguments.file}: no such file.")
    require_output(arguments.output, (".toml",))
    reader = _READERS.get(Path(arguments.file).suffix.lower())
    if reader is None:
        known = ", ".join(_READERS)
        raise UsageError(f"{arguments.file}: only files of these kinds can be imported: {known}.")
    model, notes = reader(arguments)
    for note in notes:
        print(note, file=sys.stderr)
    toml.write(model, arguments.output)
    wrote(arguments.output, "model")
    print(f"next: vbg check {arguments.output}", file=sys.stderr)
    return 0


def _mstmmsim(arguments: argparse.Namespace) -> tuple[Model, tuple[str, ...]]:
    from vbg.io import mstmmsim

    if arguments.base or arguments.keep_fixed or arguments.loops:
        raise UsageError("--base, --keep-fixed and --loops go with a robot's .urdf file.")
    given = {name: _in_si(name, value) for name, value in dict(arguments.parameters).items()}
    model, notes = mstmmsim.read_with_notes(arguments.file, given)
    return model, tuple(map(str, notes))


def _urdf(arguments: argparse.Namespace) -> tuple[Model, tuple[str, ...]]:
    from vbg.io import urdf

    if arguments.parameters:
        raise UsageError("a .urdf file has no parameters; leave out --set.")
    return urdf.read(
        arguments.file,
        free=arguments.base == "free",
        keep_fixed=arguments.keep_fixed,
        loops=arguments.loops,
    )


_READERS: dict[str, Reader] = {".xml": _mstmmsim, ".urdf": _urdf}


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
