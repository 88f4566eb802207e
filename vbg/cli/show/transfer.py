"""`vbg show transfer`: the overall transfer equation of the transfer-matrix solver."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.text import figure, table
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.tmm_bridge.overall.transfer import Overall

PLACE = 60
CONTROL = "Control and one-dimensional parts, y and u at the frequency s"
WIDEST = 14  # columns of numbers in a terminal: of a wider matrix only what is not zero


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "transfer",
        act=act,
        summary="the overall transfer equation",
        detail="What the transfer-matrix solver (MSTMM) solves at every instant, deduced from the\n"
        "topology by the automatic deduction theorem.  With --numbers its matrix at the start,\n"
        "or at a time that a run of that solver has reached; with --frequency that of small\n"
        "motions about rest, controllers and one-dimensional parts as elements u = Z y.",
        examples="""vbg show transfer crank.toml
            vbg show transfer crank.toml --numbers --at 0.3 --json
            vbg show transfer robot.toml --frequency 40""",
    )
    add_model(parser)
    parser.add_argument("--numbers", action="store_true", help="the matrix in numbers")
    parser.add_argument("--at", type=float, default=0.0, metavar="TIME", help="[s], default 0")
    parser.add_argument(
        "--frequency", type=float, metavar="W", help="numbers at [rad/s] about rest"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.tmm_bridge.overall.deduction import deduce, transfer_text

    model = read_checked(arguments)
    if arguments.at and not arguments.numbers:
        raise UsageError("--at is the time of --numbers; give both.")
    if not model.bodies and (arguments.numbers or arguments.frequency is not None):
        what = "has no bodies, so there is no matrix of mechanics"
        raise UsageError(f"{model.name} {what}; vbg show bode tells its frequency responses.")
    if arguments.numbers and arguments.frequency is not None:
        raise UsageError("--numbers is the matrix at an instant, --frequency that about rest.")
    found = numbers(model, arguments.at) if arguments.numbers else None
    at_rest = None if arguments.frequency is None else about_rest(model, arguments.frequency)
    control = control_of(model)
    if not arguments.json:
        parts = [transfer_text(model)]
        if control:
            parts.append("\n".join([CONTROL, *(f"  {row}" for row in control)]))
        parts += [as_text(found)] if found is not None else []
        parts += [f"{at_rest[0]}\n{as_text(at_rest[1])}"] if at_rest is not None else []
        print("\n\n".join(parts))
        return 0
    deduced = deduce(model)
    plain: dict[str, Any] = {
        "topology": deduced.topology,
        "paths": {end: list(path) for end, path in deduced.paths.items()},
        "equations": list(deduced.equations),
        "boundary": {end.name: end.condition for end in deduced.ends},
        "beside": {name: list(ends) for name, ends in deduced.beside.items()},
        "control": list(control),
    }
    if at_rest is not None:
        sentence, matrix = at_rest
        plain["at_frequency"] = {
            "frequency": arguments.frequency,
            "sentence": sentence,
            "rows": list(matrix.rows),
            "columns": list(matrix.columns),
            "real": matrix.matrix.real.tolist(),
            "imaginary": matrix.matrix.imag.tolist(),
        }
    if found is not None:
        plain["numbers"] = {
            "time": arguments.at,
            "rows": list(found.rows),
            "columns": list(found.columns),
            "matrix": found.matrix.tolist(),
            "right": found.right.tolist(),
        }
    print(json.dumps(plain))
    return 0


def numbers(model: Model, at: float) -> Overall:
    """The equation at the time `at` of a run from the start.  Raises UsageError for a machine
    with one-dimensional parts, whose network is not part of it, and a time not reached."""
    from vbg.tmm_bridge.mechanism.layout import lay_out
    from vbg.tmm_bridge.mechanism.start import start
    from vbg.tmm_bridge.motion.integration import integrate
    from vbg.tmm_bridge.motion.rate.instants import output_grid
    from vbg.tmm_bridge.overall.transfer import overall_equation

    mechanism = lay_out(model)
    if mechanism.network is not None:
        what = "circuits, shafts or controllers act on the mechanism"
        raise UsageError(f"{model.name}: {what}; the matrix in numbers is that of bodies alone.")
    y = start(mechanism).y
    if at > 0.0:
        grid = output_grid(at, at)
        ran = integrate(mechanism, y, grid, model.simulate.rtol, model.simulate.atol)
        if ran.status.code != "finished":
            raise UsageError(f"{model.name}: t = {at:.6g} s is not reached. {ran.status.sentence}")
        y = ran.states[-1]
    return overall_equation(mechanism, y, at)


def control_of(model: Model) -> tuple[str, ...]:
    """Rows of one-dimensional parts and controllers, or why the solver has none of them."""
    from vbg.tmm_bridge.mechanism.layout import lay_out
    from vbg.tmm_bridge.modes.network.control import control_rows

    if not model.bodies:
        return ()
    tables = (model.electric, model.hydraulic, model.rotational, model.translational, model.signals)
    try:
        return control_rows(lay_out(model))  # of forces that read motions, too
    except UsageError as error:
        return (f"none: {error}",) if any(tables) else ()


def about_rest(model: Model, frequency: float) -> tuple[str, Overall]:
    """What there is to say of the rest that the bond graph finds, and the equation of small motions
    at i w about it."""
    from vbg.analysis.rest.idle import sought_rest
    from vbg.assemble import assemble
    from vbg.cli.show.vibration import poses_at, told_at
    from vbg.tmm_bridge.modes.modal import vibration
    from vbg.tmm_bridge.modes.network.control import overall_at

    place = sought_rest(assemble(model))
    if place.point.kind != "equilibrium":
        what = f"{model.name} has no rest next to its start; --frequency is about rest."
        raise UsageError(f"{what} {place.point.sentence}")
    found = vibration(model, poses=poses_at(place), off=place.off, told=told_at(place))
    return place.point.sentence, overall_at(found, 1j * frequency)


def _figure(value: complex) -> str:
    """Four digits; of what is not real both parts."""
    if not value.imag:
        return figure(value.real, 4)
    sign = "-" if value.imag < 0.0 else "+"
    return f"({figure(value.real, 4)} {sign} {figure(abs(value.imag), 4)} i)"


def as_text(found: Overall) -> str:
    """Rows of the matrix; of a wide one each row's entries by the names of their columns."""
    size = f"Overall matrix, {len(found.rows)} x {len(found.columns)}"
    lines = [size, ""]
    if len(found.columns) <= WIDEST:
        lines += [f"  {k + 1}: {name}" for k, name in enumerate(found.columns)]
        head = ("row", *(str(k + 1) for k in range(len(found.columns))), "right")
        cells = [head]
        for name, row, right in zip(found.rows, found.matrix, found.right, strict=True):
            cells.append((name, *(_figure(v) for v in row), figure(right, 4)))
        return "\n".join([*lines, "", table(cells, "<" + ">" * (len(found.columns) + 1))])
    for name, row, right in zip(found.rows, found.matrix, found.right, strict=True):
        terms = [f"{_figure(v)} {c}" for v, c in zip(row, found.columns, strict=True) if v]
        lines.append(f"  {name}:  {' + '.join(terms) or '0'} = {figure(right, 4)}")
    return "\n".join(lines)
