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
        detail="Known are MSTMMSim's parameter file and MuJoCo's (.xml; extra engines), robots\n"
        "(.urdf) and assemblies (.step, extra cad).  --set gives parameters that MSTMMSim's file\n"
        "leaves out.  What was left out, repaired or read otherwise than written is told.",
        examples="vbg import pendulum.xml -o pendulum.toml --set L=0.5\n"
        "vbg import robot.urdf -o robot.toml --base free\n"
        "vbg import gripper.urdf -o gripper.toml --loops closing.toml\n"
        "vbg import gearbox.step -o gearbox.toml --ground housing --accept",
    )
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="model file, .toml")
    parser.add_argument("--force", action="store_true", help="overwrite a file that exists")
    parser.add_argument(
        "--base",
        choices=("fixed", "free"),
        help="of a robot: its root link is the ground (default), or floats",
    )
    parser.add_argument(
        "--keep-fixed",
        action="store_true",
        help="of a robot: links on fixed joints stay bodies, these joints' forces signals; of an "
        "assembly: the ground's part, too, so that it is drawn and watched for overlaps",
    )
    parser.add_argument(
        "--loops",
        metavar="FILE",
        help="of a robot: a TOML file of further parts, such as the joints that close loops",
    )
    parser.add_argument(
        "--ground", metavar="PART", help="of an assembly: the part that stands still"
    )
    parser.add_argument(
        "--density", type=_density, metavar="D", help="of all its parts, default 7850 kg/m^3"
    )
    parser.add_argument(
        "--level",
        type=int,
        metavar="N",
        help="of an assembly: a body is what stands N deep in it, 1 for what the file itself puts "
        "together (default: every solid)",
    )
    parser.add_argument(
        "--accept",
        action="store_true",
        help="of an assembly: take the joints that its faces suggest (else they are comments)",
    )


def _density(text: str) -> float:
    from vbg import units
    from vbg.errors import ModelError

    try:
        value = units.convert(text, "kg/m^3")
    except ModelError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is no density")
    return value


def act(arguments: argparse.Namespace) -> int:
    from vbg.io import toml

    if Path(arguments.file).is_dir():
        raise UsageError(f"{arguments.file} is a folder; name the file in it.")
    if not Path(arguments.file).is_file():
        raise UsageError(f"{arguments.file}: no such file.")
    require_output(arguments.output, (".toml",))
    if Path(arguments.output).exists() and not arguments.force:
        raise UsageError(
            f"{arguments.output} exists, perhaps with changes by hand. Choose another name with "
            "-o, or overwrite with --force."
        )
    if Path(arguments.file).suffix.lower() in _ASSEMBLIES:
        return _step(arguments)
    given = (arguments.density, arguments.level, arguments.ground or None, arguments.accept or None)
    if given != (None,) * 4:
        raise UsageError("--density, --level, --ground and --accept go with a STEP file.")
    reader = _READERS.get(Path(arguments.file).suffix.lower())
    if reader is None:
        known = ", ".join((*_READERS, *_ASSEMBLIES))
        raise UsageError(f"{arguments.file}: only files of these kinds can be imported: {known}.")
    model, notes = reader(arguments)
    for note in notes:
        print(note, file=sys.stderr)
    toml.write(model, arguments.output)
    wrote(arguments.output, "model")
    print(f"next: vbg check {arguments.output}", file=sys.stderr)
    return 0


def _xml(arguments: argparse.Namespace) -> tuple[Model, tuple[str, ...]]:
    from vbg.io import mjcf, mstmmsim

    if arguments.base or arguments.keep_fixed or arguments.loops:
        raise UsageError("--base, --keep-fixed and --loops go with a robot's .urdf file.")
    if mjcf.is_mjcf(arguments.file):
        if arguments.parameters:
            raise UsageError("a file of MuJoCo's has no parameters; leave out --set.")
        return mjcf.read(arguments.file)
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
        output=arguments.output,
    )


_READERS: dict[str, Reader] = {".xml": _xml, ".urdf": _urdf}
_ASSEMBLIES = (".step", ".stp")


def _step(arguments: argparse.Namespace) -> int:
    """An assembly: bodies, and joints as proposals in comments or, accepted, as joints."""
    from vbg.io.step.document import STEEL, read
    from vbg.io.toml import emitted
    from vbg.platform.files import write_text

    if arguments.parameters or arguments.base or arguments.loops:
        raise UsageError("--set, --base and --loops do not go with a STEP file.")
    if arguments.keep_fixed and not arguments.ground:
        raise UsageError("--keep-fixed keeps what stands still: name it, --ground PART.")
    if arguments.level is not None and arguments.level < 0:
        raise UsageError(f"--level counts from 0, found {arguments.level}.")
    density = arguments.density if arguments.density is not None else STEEL
    found = read(
        arguments.file,
        arguments.output,
        density=density,
        ground=arguments.ground or "",
        accept=arguments.accept,
        level=arguments.level,
        keep_fixed=arguments.keep_fixed,
    )
    text = emitted(found.document)
    if not arguments.accept:
        text += _proposed(found.proposed)
    write_text(Path(arguments.output), text)
    for note in found.notes:
        print(note, file=sys.stderr)
    for name, table, why in found.proposed:
        verb = "joined" if arguments.accept else "proposed"
        print(f"{verb}: {name}, {table['kind']}: {why}", file=sys.stderr)
    wrote(arguments.output, "model")
    if arguments.accept:
        _tell_freedoms(arguments.output)
    print(f"next: vbg check {arguments.output}", file=sys.stderr)
    return 0


def _proposed(joints: Any) -> str:
    """Joints as comments of the model file, each under its evidence."""
    from vbg.io.toml import emitted

    lines = []
    for name, table, why in joints:
        lines.append(f"\n# proposed: {why}")
        text = emitted({"joints": {name: table}}).strip()
        lines += [f"# {line}" for line in text.splitlines()]
    return "\n".join(lines) + "\n" if lines else ""


def _tell_freedoms(path: str) -> None:
    """Degrees of freedom of what was joined, and what is not unique in it."""
    import vbg
    from vbg.errors import VbgError

    try:
        start = vbg.start(vbg.read(path))
    except VbgError as error:
        print(f"it does not start: {error}", file=sys.stderr)
        return
    print(f"{start.freedoms} degrees of freedom", file=sys.stderr)
    for note in start.notes:
        print(note, file=sys.stderr)


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
