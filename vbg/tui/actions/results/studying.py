"""Studies: a map over parameters or an optimisation, watched, its best taken into the model."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.analysis.studies.sampling import parse_range
from vbg.draw.text.rows import Row, Rows
from vbg.edit.commands import Command, SetValue
from vbg.edit.proposals import Fix
from vbg.errors import UsageError
from vbg.measures import parse
from vbg.platform.files import replacing
from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.results.running import busy, ready
from vbg.tui.content.model.sliding import number_of, with_number
from vbg.tui.content.results import mapping
from vbg.tui.dialogs.watch import Watch
from vbg.tui.session.runs import runs_folder
from vbg.tui.session.solving.study import METHODS, Study, StudyJob
from vbg.tui.session.solving.studying import Order
from vbg.tui.state.items import Item

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.tui.state.desk import Desk

MOST = 900  # points of a map
_EVALUATIONS = 100
_COUNTS = (9, 7)  # points that are offered for one parameter and for two
_KEPT = 12  # tables of studies kept for a model
_LEGEND = (
    "x cancels  g takes the smallest into the model  c writes study.csv  Esc leaves it running"
)


async def _study(app: Desk) -> None:
    """Look at the study there is, or begin one."""
    known = app.work.study
    items = tuple(
        Item(key, label, detail)
        for key, label, detail in (
            ("grid", "map", "a measure over one or two parameters"),
            ("nelder-mead", "optimise", "the smallest measure, from the middle of the ranges"),
            ("differential-evolution", "optimise globally", "the smallest measure, many runs"),
        )
    )
    if known is not None:
        items = (Item("watch", "watch", f"{METHODS[known.order.method]}: {known.outcome}"), *items)
    refused = busy(app)
    items = tuple(i if i.key == "watch" else Item(i.key, i.label, i.detail, refused) for i in items)
    chosen = await app.choose("Study", items)
    if chosen == "watch":
        await _watch(app)
    elif chosen is not None:
        await _begin(app, chosen)


async def _begin(app: Desk, method: str) -> None:
    await ready(app)
    model = app.work.checked.model
    assert model is not None
    ranges = await app.ask(
        "Over which parameters",
        _offered(app),
        partial(_judge, app, method),
        about="NAME=LOW:HIGH:COUNT, with units; several parted by commas",
    )
    if ranges is None:
        return
    measure = await app.ask(
        "Which measure",
        _measure(app, model),
        partial(_judge_measure, model),
        about="an expression of signals; `vbg parts measures` lists the functions",
    )
    if measure is None:
        return
    folder = runs_folder(app.work.file)
    _forget_old(folder)
    order = Order(
        str(app.work.file or "model.toml"),
        app.work.document.now.text,
        tuple(part.strip() for part in ranges.split(",")),
        measure.strip(),
        method,
        _EVALUATIONS,
        str(folder),
    )
    app.work.study = Study(order)
    app.beside(partial(_follow, app, app.work.study), "run")
    await _watch(app)


async def _follow(app: Desk, study: Study) -> None:
    """The study to its end, beside the keys."""

    def report(now: Study) -> None:
        app.work.study = now

    app.job = job = StudyJob(study, report)
    try:
        ended = await job.follow()
    finally:
        app.endings.append(job)
        app.job = None
    good = ended.state == "finished"
    app.work.say(f"study {ended.outcome}; M looks at it", "ok" if good else "warn")
    app.main.paint()
    if isinstance(app.front, Watch):
        app.front.repaint()


async def _watch(app: Desk) -> None:
    """The study as it grows, until Esc."""

    def rows(width: int, height: int) -> Rows:
        study = app.work.study
        last: Row = ((_LEGEND, "dim"),)
        if study is None:
            return (last,)
        above = mapping.study_rows(study, width, height - 2)
        return (*above, *((),) * max(height - 1 - len(above), 0), last)

    while app.work.study is not None:
        title = f"Study: {METHODS[app.work.study.order.method]} {app.work.study.order.measure}"
        answer = await app.dialog(Watch(title, rows, app.work.marks, keys=("x", "g", "c")))
        if answer == "x" and isinstance(app.job, StudyJob):
            await app.job.cancel()
        elif answer == "g":
            _take_best(app, app.work.study)
            return
        elif answer == "c":
            _write(app, app.work.study)
            return
        elif answer is None:
            return


def _take_best(app: Desk, study: Study) -> None:
    """The parameters of the smallest measure, in one step."""
    best = study.best
    if best is None:
        raise UsageError("no point could be run yet.")
    named = dict(zip(study.names, best.point, strict=True))
    words = ", ".join(f"{name} = {value:.6g}" for name, value in named.items())
    label = f"set {words}"
    commands: list[Command] = []
    for name, value in named.items():
        path = _place(app.work.data, name)
        if path is None:
            raise UsageError(f"there is no number of a parameter {name} in the model any more.")
        written = _value(app.work.data, path)
        commands.append(SetValue(path, with_number(written, float(f"{value:.9g}")), label))
    fix = Fix(label, "", tuple(commands))
    app.do(fix.as_one(app.work.document.now.text))
    app.work.say(f"{label}; u takes it back, r runs it", "ok")


def _write(app: Desk, study: Study) -> None:
    if not study.table:
        raise UsageError("the table is written when the study has ended.")
    path = (app.work.file.parent if app.work.file is not None else Path()) / "study.csv"
    with replacing(path) as temporary:
        shutil.copyfile(study.table, temporary)
    app.work.say(f"wrote {path}   vbg plot draws it", "ok")


def _place(data: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """Where the number of a parameter is written; None if it is no number."""
    entry = data.get("parameters", {}).get(name)
    path = ("parameters", name, "value") if isinstance(entry, Mapping) else ("parameters", name)
    value = entry.get("value") if isinstance(entry, Mapping) else entry
    return path if number_of(value) is not None else None


def _value(data: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    held: Any = data
    for key in path:
        held = held[key]
    return held


def _numbers(app: Desk) -> list[str]:
    """The parameters that are numbers, the marked one first."""
    names = [name for name in app.work.data.get("parameters", {}) if _place(app.work.data, name)]
    return sorted(names, key=lambda name: app.work.selection != ("parameters", name))


def _offered(app: Desk) -> str:
    """A half to one and a half of the first parameters."""
    model = app.work.checked.model
    names = _numbers(app)[:2]
    count = _COUNTS[len(names) - 1]
    parts = []
    for name in names:
        place = _place(app.work.data, name)
        value = number_of(_value(app.work.data, place)) if place else None
        unit = model.parameter_units.get(name, "") if model is not None else ""
        low, high = ((value or 1.0) * part for part in (0.5, 1.5))
        ends = f"{low:.6g} {unit}".strip(), f"{high:.6g} {unit}".strip()
        parts.append(f"{name}={ends[0]}:{ends[1]}:{count}")
    return ", ".join(parts)


def _judge(app: Desk, method: str, text: str) -> tuple[str, bool]:
    model = app.work.checked.model
    if model is None:
        return "the model has errors", False
    written = {name: model.parameter_units.get(name, "") for name in model.parameters}
    try:
        ranges = [parse_range(part.strip(), written) for part in text.split(",")]
    except UsageError as error:
        return str(error).removeprefix("--vary "), False
    unknown = [r.name for r in ranges if r.name not in _numbers(app)]
    if unknown:
        return f"{unknown[0]} is no parameter that is a number", False
    if len({r.name for r in ranges}) < len(ranges):
        return "each parameter once", False
    runs = 1
    for one in ranges:
        runs *= one.count
    if method == "grid" and (len(ranges) > 2 or runs > MOST):
        return f"a map is over one or two parameters and at most {MOST} runs, not {runs}", False
    return (f"{runs} runs" if method == "grid" else f"{_EVALUATIONS} runs at most"), True


def _measure(app: Desk, model: Model) -> str:
    """A measure of the model, or the largest of the first signal in Plot."""
    if model.measures:
        return next(iter(model.measures))
    signals = app.work.plot.signals
    joint = next(iter(model.joints), "")
    return f"max(abs({signals[0] if signals else joint + '.force'}))"


def _judge_measure(model: Model, text: str) -> tuple[str, bool]:
    known = model.measures.get(text.strip())
    try:
        parse(text if known is None else known.expression, model.functions)
    except UsageError as error:
        return str(error), False
    return "", True


def _forget_old(folder: Path) -> None:
    """Tables of old studies are not kept for ever."""
    tables = sorted(folder.glob("study-*.csv"), key=lambda file: file.stat().st_mtime)
    for file in tables[:-_KEPT]:
        file.unlink(missing_ok=True)


def _no_study(app: Desk) -> str:
    if app.work.study is not None:
        return ""
    return "" if _numbers(app) else "the model has no parameter that is a number: a p adds one"


HANDLERS: dict[str, Handler] = {"study": _study}
REFUSALS: dict[str, Refusal] = {"study": _no_study}
