"""`vbg measure`: numbers and load spectra of a result that is there already."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vbg.cli.parser import add, add_json, count_of
from vbg.cli.report import measures
from vbg.cli.results import read_result
from vbg.cli.text import figure, table
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.expressions import Defined
    from vbg.measures import Bin, Measure
    from vbg.model import Model
    from vbg.solution import Solution

    # parameters, functions, units of parameters
    Known = tuple[Mapping[str, float], Mapping[str, Defined], Mapping[str, str]]

PLACE = 62
CLASSES = 10


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "measure",
        act=act,
        summary="numbers and load spectra of a result",
        detail="Without an expression those of the [measures] of the model that was run (.h5).\n"
        "Values are in SI, or in the unit that [measures] names.  `vbg parts measures` lists the\n"
        "functions.  Exit code 1 where a measure has no value.",
        examples="""vbg measure crank.h5
            vbg measure crank.h5 'max(norm(A.force))' 'mean(after(A.speed, 2 s))'
            vbg measure crank.h5 'bearing_life(norm(A.force), A.speed, 19.5 kN, 3)/3600'
            vbg measure crank.h5 --spectrum 'norm(A.force)' --classes 12""",
    )
    parser.add_argument("file", metavar="RESULT", help="result file: .h5, .csv or .json")
    parser.add_argument("expressions", metavar="EXPRESSION", nargs="*", help="what to measure")
    parser.add_argument(
        "--spectrum",
        metavar="EXPRESSION",
        help="a load in classes: part of the time in each, rainflow cycles by their range",
    )
    parser.add_argument(
        "--classes", type=count_of(1), default=CLASSES, metavar="N", help="of a spectrum"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.measures import Measure, measured

    solution = read_result(arguments.file)
    model = _model_of(arguments.file)
    known: Known = ({}, {}, {})
    if model is not None:
        known = model.parameters, model.functions, model.parameter_units
    if arguments.spectrum:
        return _spectrum(arguments, solution, known)
    kept: Mapping[str, Measure] = {} if model is None else model.measures
    asked = {text: kept.get(text, Measure(text)) for text in arguments.expressions} or dict(kept)
    if not asked:
        raise UsageError(
            f"{arguments.file}: nothing to measure: name an expression, as in "
            f"vbg measure {arguments.file} 'max(abs(SIGNAL))', or write [measures] in the model."
        )
    found = [asdict(measured(n, m, solution, *known)) for n, m in asked.items()]
    print(json.dumps(found) if arguments.json else "\n".join(measures(found)))
    return int(any(row["value"] is None for row in found))


def _model_of(file: str) -> Model | None:
    """The model whose result this is; None where the file does not keep it."""
    from vbg.io import toml
    from vbg.io.runs import hdf5

    text = hdf5.read_model(file) if file.endswith(".h5") else ""
    return toml.parse(text, file) if text else None


def _spectrum(arguments: argparse.Namespace, solution: Solution, known: Known) -> int:
    from vbg.measures import Series, parse, spectrum
    from vbg.measures.language import value_of

    parameters, functions, _ = known
    load = value_of(parse(arguments.spectrum, functions), solution, parameters, functions)
    if not isinstance(load, Series) or len(load.time) < 2:
        raise UsageError(f"{arguments.spectrum!r} is a number; a spectrum is of a course over time")
    found = spectrum(load, arguments.classes)
    print(json.dumps([asdict(one) for one in found]) if arguments.json else _as_text(found))
    return 0


def _as_text(found: tuple[Bin, ...]) -> str:
    head = ("load from", "to", "time %", "range from", "to", "cycles")
    rows = [
        (
            figure(one.low),
            figure(one.high),
            figure(100.0 * one.time, 4),
            figure(one.low_range),
            figure(one.high_range),
            figure(one.cycles),
        )
        for one in found
    ]
    return table([head, *rows], ">>>>>>")
