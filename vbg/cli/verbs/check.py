"""`vbg check`: everything that is wrong with a model file, without running it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_model
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.postures import add_postures, postures
from vbg.cli.text import count
from vbg.errors import AsAsked, Problem, UsageError, VbgError

if TYPE_CHECKING:
    from vbg.assemble.start.start import Start
    from vbg.model import Model

PLACE = 30
ONE_DIMENSIONAL = ("electric", "hydraulic", "rotational", "translational", "bondgraph")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "check",
        act=act,
        summary="find everything that is wrong with a model file",
        detail="Reads it, checks it, assigns causality and puts the mechanism together: tells\n"
        "the degrees of freedom, redundant joints, bodies that were moved, start values\n"
        "that a drive overrides, and whether the start that the file asks for\n"
        "can be.  --quick only reads and checks the file.\n"
        "Exit code 1 if there is an error; warnings and notes do not fail.\n"
        "--fix writes the fixes that leave no choice (a name that was meant, quotes about a\n"
        "number with its unit) into the file, which is kept as FILE.bak, and lists the others:\n"
        "units, drives that contradict, joints that make a mechanism redundant or lock it.",
        examples="vbg check crank.toml\nvbg check crank.toml --set r=-1 --json\n"
        "vbg check --quick large.toml\nvbg check --fix crank.toml\n"
        "vbg check --interference crank.toml --at '200 ms'\n"
        "vbg check --interference crank.toml --run crank.h5",
    )
    add_model(parser)
    parser.add_argument(
        "--quick", action="store_true", help="do not assign causality, do not assemble"
    )
    parser.add_argument(
        "--fix", action="store_true", help="mend what can only be meant in one way, list the rest"
    )
    parser.add_argument(
        "--interference",
        action="store_true",
        help="find solids that overlap (extra cad); exit code 1 if some do",
    )
    add_postures(parser, "--interference", "over this run, not at the start only")
    add_json(parser)


LISTED = "`vbg run FILE --all` prints the signals with their units, `vbg parts measures` functions."


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found: problems, and where the model could be assembled its start."""

    problems: tuple[Problem, ...]
    model: Model | None = None
    start: Start | None = None

    @property
    def failed(self) -> bool:
        return any(problem.severity == "error" for problem in self.problems)


def act(arguments: argparse.Namespace) -> int:
    if arguments.interference:
        return _overlapping(arguments)
    if arguments.run or arguments.at is not None:
        raise UsageError("--run and --at go with --interference.")
    if arguments.fix:
        _mend(arguments.file, quick=arguments.quick)
    try:
        checked = check_model(read_model(arguments), quick=arguments.quick)
    except VbgError as error:
        if not error.problems:
            raise
        checked = Checked(error.problems)
    if arguments.json:
        print(json.dumps(_as_plain(arguments.file, checked)))
        return int(checked.failed)
    for problem in checked.problems:
        print(problem, file=sys.stderr)
    if checked.model is not None and not checked.failed:
        number = len(checked.problems)
        found = count(number, "remark") if number else "no problems"
        print(f"{_about(checked)}: {found}.")
    return int(checked.failed)


def _overlapping(arguments: argparse.Namespace) -> int:
    """Solids that overlap at the start, in a run, or at one instant of it."""
    from vbg.analysis.interference import interference
    from vbg.cli.models import read_checked

    model = read_checked(arguments)
    time, signals = postures(model, arguments.run, arguments.at)
    looked = interference(model, time, signals)
    found = looked.overlaps
    if arguments.json:
        pairs = [list(pair) for pair in looked.held]
        told = {"overlaps": [asdict(o) for o in found], "joined": pairs}
        print(json.dumps({**told, "unseen_rows": looked.unseen, "largest_gap_s": looked.gap}))
        return int(bool(found))
    for o in found:
        when = f"at {o.begin:.6g} s" if o.begin == o.end else f"{o.begin:.6g} to {o.end:.6g} s"
        print(
            f"{o.first} and {o.second} overlap, {when}; most at {o.deepest:.6g} s: "
            f"{1e3 * o.depth:.3g} mm deep, {1e6 * o.volume:.3g} cm^3"
        )
    if looked.held:
        held = count(len(looked.held), "pair")
        print(f"not looked at, held by a joint: {held}", file=sys.stderr)
    if looked.unseen:
        print(
            f"boxes of two solids meet at {looked.unseen} more rows, where the solids themselves "
            f"were not intersected: an overlap shorter than {looked.gap:.3g} s may be missing.",
            file=sys.stderr,
        )
    if not found:
        print(f"{model.name}: no solids overlap, {count(len(time), 'instant')}.")
    return int(bool(found))


def _mend(file: str, *, quick: bool) -> None:
    """Write the sure fixes into the file, say which, and name those there is a choice of."""
    import tomllib

    from vbg.edit.fixes import fixes, mended, problems_in
    from vbg.edit.mechanism import start_problems
    from vbg.edit.saving import save

    text = Path(file).read_text(encoding="utf-8")
    better, done = mended(text, file)
    for label in done:
        print(f"fixed: {label}", file=sys.stderr)
    if done:
        save(Path(file), better, keep_old=True)
        print(f"the file as it was: {file}.bak", file=sys.stderr)
    try:
        data = tomllib.loads(better)
    except tomllib.TOMLDecodeError:
        data = {}
    problems = problems_in(better, file)
    if not quick:
        problems = (*problems, *start_problems(better, file))
    for problem in problems:
        for number, fix in enumerate(fixes(problem, better, data, file), 1):
            effect = f" ({fix.effect})" if fix.effect else ""
            print(f"{problem.where}: choice {number}: {fix.label}{effect}", file=sys.stderr)


def check_model(model: Model, *, quick: bool) -> Checked:
    """Problems of the model and, if it has no errors and it is not `quick`, of the start of
    its motion."""
    from vbg.model import check
    from vbg.model.located import located

    problems = check(model)
    if quick or any(problem.severity == "error" for problem in problems):
        return Checked(problems, model)
    from vbg.analysis.begin import begin
    from vbg.assemble import assemble
    from vbg.fields import WRITTEN, Beginning
    from vbg.simulate import drives_told

    asked = model.simulate.start
    # the row of a result is looked for where the run is begun: it may not be there yet
    read_back = isinstance(asked, Beginning) and bool(asked.file)
    try:
        start = begin(assemble(model), WRITTEN if read_back else asked)
        drives = drives_told(start)
    except VbgError as error:
        more = error.problems or (Problem("error", model.name, str(error)),)
        return Checked((*problems, *located(model, more)), model)
    notes = [note for note in start.notes if not isinstance(note, AsAsked)]
    told = (*problems, *notes, *located(model, drives), *_wrong_measures(model, start))
    return Checked(told, model, start)


def _wrong_measures(model: Model, start: Start) -> Iterator[Problem]:
    """What a run would tell of its [measures] behind its end."""
    from vbg.measures import faults
    from vbg.simulate.record.recorder import ENERGY_UNITS

    signals = {**start.system.signal_units, **ENERGY_UNITS}
    units = {name: model.parameter_units.get(name, "") for name in model.parameters}
    for name, measure in model.measures.items():
        if wrong := faults(measure, signals, units, model.functions):
            place = model.where(("measures", name))
            yield Problem("error", f"measures.{name}", wrong, LISTED, *place)


def _as_plain(file: str, checked: Checked) -> dict[str, Any]:
    plain: dict[str, Any] = {"file": file, "problems": [asdict(p) for p in checked.problems]}
    if checked.start is not None:
        plain["start"] = {
            "freedoms": checked.start.freedoms,
            "redundant_directions": checked.start.dependent,
            "not_unique": list(checked.start.redundant),
            "determined": [
                {
                    "part": p.part,
                    "quantity": p.quantity,
                    "components": p.components,
                    "axes": p.axes.tolist(),
                }
                for p in checked.start.determined
            ],
            "position_residual": checked.start.position_residual,
            "velocity_residual": checked.start.velocity_residual,
        }
    return plain


def _about(checked: Checked) -> str:
    model, start = checked.model, checked.start
    assert model is not None
    numbers = [
        count(len(parts), noun)
        for parts, noun in (
            (model.bodies, "body"),
            (model.joints, "joint"),
            (model.forces, "force"),
            (model.signals, "signal"),
        )
        if parts
    ]
    others = sum(len(getattr(model, table)) for table in ONE_DIMENSIONAL)
    numbers += [count(others, "one-dimensional part")] if others else []
    if start is not None and start.freedoms is not None and not others:
        freedoms = f"{start.freedoms} degree{'' if start.freedoms == 1 else 's'} of freedom"
        driven = sum(getattr(joint, "drive", None) is not None for joint in model.joints.values())
        numbers += [f"{freedoms} besides {count(driven, 'drive')}" if driven else freedoms]
    return f"{model.name or model.path}: {', '.join(numbers)}"
