"""`vbg inverse`: the efforts of motors for a given motion, and the work they do."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.output import require_output, wrote
from vbg.cli.parser import add, add_json, add_model, add_span, add_tolerances, add_units, names
from vbg.cli.text import count, figure, table
from vbg.errors import UsageError
from vbg.io.runs.names import SAVED_ENDINGS

if TYPE_CHECKING:
    from vbg.analysis.inverse import Inverse, Motor
    from vbg.display import Display
    from vbg.model import Model

PLACE = 61
HEAD = ("motor", "peak", "rms", "unit", "speed", "unit", "power", "given", "taken back", "unit")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "inverse",
        act=act,
        summary="efforts and work of motors for a given motion",
        detail="The motion is what the drives of the model prescribe: coordinates of joints, or\n"
        "the path of a point (kind guide).  Without --motors each drive is a motor.  Motors on\n"
        "other joints take its work over; more of them than the motion needs share it so that\n"
        "the sum of their squared efforts is least.  Joint forces in -o belong to the motors.",
        examples="""vbg inverse two-link-robot.toml
            vbg inverse parallel.toml --motors A,D
            vbg inverse robot.toml --motors j1,j2,j3 --solver mstmm -o loads.h5""",
    )
    add_model(parser)
    parser.add_argument(
        "--motors",
        metavar="JOINTS",
        type=names,
        default="",
        help="joints with a motor, A,B,C; default: those with a drive",
    )
    parser.add_argument(
        "--solver",
        choices=("vbg", "mstmm"),
        default="vbg",
        help="mstmm: by the transfer-matrix solver, which is independent of the bond graph",
    )
    add_span(parser)
    add_tolerances(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="all signals with these efforts: .h5, .csv, .json, .parquet",
    )
    add_units(parser)
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.display import require, rules_of
    from vbg.io.runs.results import require_savable, save

    if arguments.json and arguments.units:
        raise UsageError("--units: JSON is for programs and in SI; leave --units or --json out.")
    require_output(arguments.output, SAVED_ENDINGS)
    if arguments.output is not None:
        require_savable(arguments.output)
    model = read_checked(arguments)
    found = _found(arguments, model)
    display = (*model.display, *rules_of(arguments.units))
    require(display, found.solution.units)
    if arguments.output is not None:
        units = map(str, display) if arguments.output.endswith(".csv") else ()
        save(found.solution, arguments.output, *units, model=model)
        wrote(arguments.output, f"result, {count(len(found.solution.time), 'output')}")
    print(json.dumps(_as_plain(found)) if arguments.json else _text(found, model, display))
    return 0


def _found(arguments: argparse.Namespace, model: Model) -> Inverse:
    from vbg.analysis.inverse import inverse

    given = {name: getattr(arguments, name) for name in ("t_end", "output_step", "rtol", "atol")}
    settings = {name: value for name, value in given.items() if value is not None}
    motors = arguments.motors
    if arguments.solver == "vbg":
        return inverse(model, motors, **settings)
    from vbg import tmm_bridge

    return inverse(model, motors, run=lambda m: tmm_bridge.simulate(m, **settings))


def _as_plain(found: Inverse) -> dict[str, Any]:
    import numpy as np

    motors = [
        {
            "joint": motor.joint,
            "unit": motor.unit,
            "peak": float(np.abs(motor.effort).max()),
            "rms": _rms(found, motor),
            "speed": float(np.abs(motor.speed).max()),
            "power": float(np.abs(motor.power).max()),
            "given": motor.given,
            "taken": motor.taken,
        }
        for motor in found.motors
    ]
    return {"motors": motors, "drives": list(found.drives), "shared": found.shared}


def _rms(found: Inverse, motor: Motor) -> float:
    import numpy as np

    time = found.solution.time
    return float(np.sqrt(np.trapezoid(motor.effort**2, time) / (time[-1] - time[0])))


def _parts_of_work(motor: Motor) -> tuple[float, ...]:
    """Given and taken back, without what is rounding of the other."""
    least = 1e-9 * (motor.given + motor.taken)
    return tuple(part * (part > least) for part in (motor.given, motor.taken))


def _text(found: Inverse, model: Model, display: Display) -> str:
    from vbg.display import scale

    rows: list[tuple[str, ...]] = [HEAD]
    for motor, plain in zip(found.motors, _as_plain(found)["motors"], strict=True):
        turns = motor.unit == "N*m"
        effort = scale(display, f"{motor.joint}.drive", motor.unit)
        speed = scale(display, f"{motor.joint}.speed", "rad/s" if turns else "m/s")
        work = scale(display, f"{motor.joint}.energy", "J")
        power = scale(display, f"{motor.joint}.power", "W")
        rows.append(
            (
                motor.joint,
                figure(plain["peak"] / effort.factor),
                figure(plain["rms"] / effort.factor),
                effort.unit,
                figure(plain["speed"] / speed.factor),
                speed.unit,
                f"{figure(plain['power'] / power.factor)} {power.unit}",
                *(figure(part / work.factor) for part in _parts_of_work(motor)),
                work.unit,
            )
        )
    shown = table(rows, "<>><><>>><")
    net = sum(motor.given - motor.taken for motor in found.motors)
    lines = [
        f"{model.name}: motion of {', '.join(found.drives)}; work of all motors {figure(net)} J"
    ]
    if found.shared:
        lines.append("More motors than the motion needs: efforts of least sum of squares.")
    return "\n".join([shown, "", *lines])
