"""`vbg export`: a model as another program's file, as C code or as an FMU."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import require_folder, require_folder_of, require_output, wrote
from vbg.cli.parser import add, add_model, names, seconds
from vbg.cli.postures import add_postures, postures
from vbg.cli.show.equations import ENDINGS, exported_equations
from vbg.errors import UsageError
from vbg.platform.files import write_text

if TYPE_CHECKING:
    from vbg.assemble.start.start import Start
    from vbg.export.tuning import Wish

PLACE = 72


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "export",
        act=act,
        summary="write a model as C99 code, as an FMU or as another program's file",
        detail="OUT.fmu is a functional mock-up unit, Model Exchange and Co-Simulation in one.\n"
        "What the format has no element for is refused by name: without it the file would\n"
        "be another machine.",
        examples="""vbg export crank.toml -o crank.fmu
            vbg export crank.toml -o crank.fmu --fmi 2 --outputs 'A.*'
            vbg export crank.toml -o crank.fmu --tunable k --tunable load=0.5:20
            vbg export crank.toml --c -o crank_c
            vbg export crank.toml --realtime --step '1 ms' -o crank_rt
            vbg export crank.toml --realtime --step '1 ms' -o crank.fmu
            vbg export crank.toml --equations fortran -o crank.f90
            vbg export pendulum.toml --mstmm-xml -o pendulum.xml
            vbg export arm.toml --urdf -o arm.urdf
            vbg export arm.toml --step -o arm.step
            vbg export arm.toml --step --at '1.2 s' -o later.step""",
    )
    add_model(parser)
    _add_formats(parser)
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="file or folder to write"
    )
    parser.add_argument(
        "--tunable",
        metavar="NAME[=LOW:HIGH]",
        type=names,
        action="extend",
        help="a parameter of the file that stays one in an FMU or in C code, set before it begins; "
        "LOW:HIGH is its range in SI (default: a tenth of its value to ten times it); may be "
        "repeated",
    )
    _add_unit(parser)


def _add_formats(parser: argparse.ArgumentParser) -> None:
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument(
        "--c", action="store_true", help="C99 code into the folder OUT: equations, methods, a main"
    )
    formats.add_argument(
        "--equations",
        choices=tuple(ENDINGS),
        help="the equations in symbols, to be read: python (.py), c (.c) or fortran (.f90), of a "
        "mechanism as a program that runs by itself, with joint forces, else as the function of "
        "the rates; latex (.tex); text (.txt)",
    )
    formats.add_argument("--mstmm-xml", action="store_true", help="MSTMMSim's parameter file, .xml")
    formats.add_argument(
        "--realtime",
        action="store_true",
        help="for a task with the period --step T, in steps of fixed length and bounded work: C99 "
        "code into the folder OUT, or the unit OUT.fmu, Co-Simulation alone",
    )
    formats.add_argument("--urdf", action="store_true", help="a robot: trees of bodies, .urdf")
    parser.add_argument(
        "--step",
        type=_step,
        nargs="?",
        const=True,
        metavar="T",
        help="without T: the solids where the run begins, .step (extra cad); "
        "with --realtime: the length of a step, as in 1e-3, '1 ms'",
    )
    add_postures(parser, "--step", "where this run ends, or is at --at")


def _add_unit(parser: argparse.ArgumentParser) -> None:
    unit = parser.add_argument_group("functional mock-up unit, OUT.fmu")
    unit.add_argument("--fmi", type=int, choices=(2, 3), help="version of the standard (default 3)")
    unit.add_argument(
        "--platforms",
        metavar="LIST",
        type=names,
        help="binaries for these, with commas, or all (default: this machine; others need the "
        "extra fmu): linux-x86_64, linux-aarch64, windows-x86_64, macos-x86_64, macos-aarch64",
    )
    unit.add_argument("--source", action="store_true", help="sources only, no binaries")
    unit.add_argument(
        "--outputs",
        metavar="PATTERN",
        type=names,
        action="extend",
        help="signals that are outputs, 'A.*,B.force', may be repeated (default: all but "
        "energies); the others are local variables",
    )


def _step(text: str) -> float:
    """The length of a step [s]."""
    try:
        return seconds(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"{error}; solids have no length of step: write --step behind the model file"
        ) from None


def act(arguments: argparse.Namespace) -> int:
    of_unit = ("fmi", "platforms", "source", "outputs")
    given = [f"--{name}" for name in of_unit if getattr(arguments, name)]
    _require_one_format(arguments)
    if not arguments.step and (arguments.run or arguments.at is not None):
        raise UsageError("--run and --at go with --step.")
    code = arguments.c or (arguments.realtime and not str(arguments.output).endswith(".fmu"))
    others = arguments.equations or arguments.mstmm_xml or arguments.urdf or arguments.step
    if not code and (arguments.realtime or not others):
        return _unit(arguments)
    if given:
        raise UsageError(f"{given[0]} belongs to a functional mock-up unit: name OUT.fmu.")
    if arguments.tunable and not code:
        raise UsageError("--tunable belongs to a functional mock-up unit or to C code.")
    if code:
        return _code(arguments)
    if arguments.equations:
        return _equations(arguments)
    return _solids(arguments) if arguments.step else _file(arguments)


def _require_one_format(arguments: argparse.Namespace) -> None:
    """--step is the length of a step or a format, as --realtime says."""
    length = isinstance(arguments.step, float)
    if arguments.realtime and not length:
        raise UsageError("--realtime takes the length of its steps: --step 1e-3, or --step '1 ms'.")
    if length and not arguments.realtime:
        raise UsageError("--step T is the length of steps of --realtime; solids take no T.")
    if arguments.step and (
        arguments.c or arguments.equations or arguments.mstmm_xml or arguments.urdf
    ):
        raise UsageError("--step writes solids: leave the other format out.")


def _unit(arguments: argparse.Namespace) -> int:
    from vbg.export.fmu import PLATFORMS, write_fmu

    require_output(arguments.output, (".fmu",))
    version = arguments.fmi or 3
    platforms = None
    if arguments.platforms == ("all",):
        platforms = [p for p, row in PLATFORMS.items() if row[1 if version == 3 else 2]]
    elif arguments.platforms:
        platforms = list(arguments.platforms)
    if arguments.source and platforms:
        raise UsageError("--source has no binaries: leave --platforms out.")
    start = _start(arguments)
    write_fmu(
        start,
        arguments.output,
        version=version,
        platforms=[] if arguments.source else platforms,
        outputs=arguments.outputs or (),
        tunable=_wishes(arguments),
        tell=_tell,
        step=arguments.step if arguments.realtime else None,
    )
    wrote(arguments.output, f"functional mock-up unit, FMI {version}.0")
    return 0


def _equations(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble
    from vbg.export.unlooked import unlooked_by_equations

    require_output(arguments.output, (ENDINGS[arguments.equations],))
    system = assemble(read_checked(arguments))
    written = exported_equations(system, arguments.equations)
    write_text(arguments.output, f"{written}\n", follow=False)
    for words in () if arguments.equations in ("latex", "text") else unlooked_by_equations(system):
        _tell(words)
    wrote(arguments.output, f"equations, {arguments.equations}")
    return 0


def _file(arguments: argparse.Namespace) -> int:
    """Another program's file of the machine, and what of the model it does not hold."""
    from vbg.io import mstmmsim, urdf

    ending, what, write = (
        (".urdf", "robot", urdf.write)
        if arguments.urdf
        else (".xml", "parameter file of MSTMMSim", mstmmsim.write)
    )
    require_output(arguments.output, (ending,))
    for left_out in write(read_checked(arguments), arguments.output):
        print(f"vbg: not in the file: {left_out}", file=sys.stderr)
    wrote(arguments.output, what)
    return 0


def _solids(arguments: argparse.Namespace) -> int:
    from vbg.io.step.writing import write

    require_output(arguments.output, (".step", ".stp"))
    model = read_checked(arguments)
    time, rows = postures(model, arguments.run, arguments.at)
    posture = {name: values[-1] for name, values in rows.items()}
    for left_out in write(model, posture, arguments.output):
        print(f"vbg: not in the file: {left_out}, which has no shape", file=sys.stderr)
    wrote(arguments.output, f"solids at {time[-1]:.6g} s")
    return 0


def _start(arguments: argparse.Namespace) -> Start:
    """The assembled start of the model, its notes on standard error."""
    import vbg

    start = vbg.start(read_checked(arguments))
    for note in start.notes:
        print(note, file=sys.stderr)
    return start


def _wishes(arguments: argparse.Namespace) -> list[Wish]:
    from vbg.export.tuning import parse_wish

    return [parse_wish(text) for text in arguments.tunable or ()]


def _code(arguments: argparse.Namespace) -> int:
    from vbg.export import write_code

    require_folder(arguments.output)
    require_folder_of(arguments.output)
    start, wishes = _start(arguments), _wishes(arguments)
    step = arguments.step if arguments.realtime else None
    for path in write_code(start, arguments.output, wishes, _tell, step):
        wrote(path, "C99")
    return 0


def _tell(words: str) -> None:
    print(f"vbg: {words}", file=sys.stderr)
