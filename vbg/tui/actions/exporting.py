"""Export of what is seen: figures, tables, reports, each with the command that makes it again."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vbg.draw.text.rows import Rows, cells, row_width
from vbg.platform.files import replacing, write_text
from vbg.tui.content.results import plotting, validating
from vbg.tui.content.results.figures import write_curves
from vbg.tui.state import results
from vbg.tui.state.items import Item
from vbg.tui.tasks import collecting

if TYPE_CHECKING:
    from rich.style import Style

    from vbg.solution import Solution
    from vbg.tui.state.desk import Desk

_FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_FOLDERS = {"report": "-report", "all": "-runs"}  # what is written as one, and how it is called
_CELL = (8.4, 17.0)  # width and height of a cell [px], for a 14 px monospaced font


async def export(app: Desk) -> None:
    """Ask what and where; write it; say where it is."""
    items = _choices(app)
    chosen = await app.choose("Export", items)
    if chosen is None:
        return
    stem = app.work.file.stem if app.work.file else "model"
    folder = chosen in _FOLDERS
    suffix = _FOLDERS.get(chosen) or f"-{app.work.view}.{chosen.split('-')[-1]}"

    def judge(text: str) -> tuple[str, bool]:
        path = Path(text).expanduser()
        if not text.strip() or not path.parent.is_dir():
            return f"there is no folder {path.parent}", False
        if folder and path.is_file() and path.suffix != ".zip":
            return f"{path} is a file", False
        if chosen == "all" and path.exists():
            return f"{path} exists; the lot goes into a new folder, or a .zip", False
        return (f"{path} will be replaced" if path.is_file() else ""), True

    target = await app.ask("Write to", f"{stem}{suffix}", judge, about=_about(chosen))
    if target is None:
        return
    path = Path(target).expanduser()
    if chosen == "all":
        app.work.say(await collecting.collect(app, path), "ok")
        return
    _WRITERS[chosen](app, path)
    app.work.say(f"wrote {path}{_command(app, chosen, path)}", "ok")


def _choices(app: Desk) -> tuple[Item, ...]:
    """What can be exported from this view."""
    view = app.work.view
    items = [Item("view-svg", "the pane as a picture (SVG)", "as it is seen")]
    if view in ("plot", "run"):
        none = "" if _plotted(app) is not None else "there is no run yet"
        items = [
            Item("plot-svg", "curves (SVG)", "the signals in sight", none),
            Item("plot-png", "curves (PNG)", "the signals in sight", none),
            Item("plot-csv", "the signals shown (CSV)", "time and one column each", none),
            *items,
        ]
    if view == "validate":
        none = "" if app.work.validate.shown else "R runs both solvers first"
        items.insert(0, Item("report", "the report (folder)", "verdict, table, curves", none))
    none = "" if app.work.runs else "there is no run yet"
    items.append(Item("all", "all runs (folder or .zip)", "models, tables, curves, notes", none))
    return tuple(items)


def _about(chosen: str) -> str:
    if chosen == "all":
        return "a folder, or a file that ends in .zip"
    if chosen == "report":
        return "a folder: report.md, report.txt, report.json, channels.csv, error.svg"
    return "file name"


def _plotted(app: Desk) -> Solution | None:
    run = results.plotted(app.work)
    return results.shown(app.work, run.number) if run is not None else None


def _command(app: Desk, chosen: str, path: Path) -> str:
    """The command that makes the same file, where there is one."""
    file = app.work.file
    if file is None or app.work.document.dirty:
        return ""
    if chosen == "report":
        return f"   same: vbg validate {file} -o {path}"
    return ""


def _write_view(app: Desk, path: Path) -> None:
    pane = app.main.panes[app.main.active]
    write_text(path, rows_svg(pane.painted, app.words))


def rows_svg(rows: Rows, words: dict[str, Style]) -> str:
    """Rows of text as a picture that any browser shows."""
    width = max((row_width(row) for row in rows), default=0)
    w, h = _CELL
    back, front = words[""].bgcolor, words[""].color
    fill = back.get_truecolor().hex if back is not None else "#000000"
    ink = front.get_truecolor().hex if front is not None else "#ffffff"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * w + 20:.0f}" '
        f'height="{len(rows) * h + 20:.0f}">',
        f'<rect width="100%" height="100%" fill="{fill}"/>',
        f'<g font-family="{_FONTS}" font-size="14" fill="{ink}">',
    ]
    for y, row in enumerate(rows):
        x = 0
        for text, style in row:
            if text.strip():
                colour = words.get(style, words[""]).color
                hue = colour.get_truecolor().hex if colour is not None else ink
                place = f'x="{10 + x * w:.1f}" y="{24 + y * h:.1f}" fill="{hue}"'
                length = f'textLength="{cells(text) * w:.1f}" xml:space="preserve"'
                out.append(f"<text {place} {length}>{html.escape(text)}</text>")
            x += cells(text)
    return "\n".join([*out, "</g>", "</svg>", ""])


def _write_plot(app: Desk, path: Path) -> None:
    """The curves in sight, drawn by matplotlib."""
    solution = _plotted(app)
    assert solution is not None
    write_curves(solution, results.shown(app.work, app.work.plot.overlay), app.work.plot, path)


def _write_csv(app: Desk, path: Path) -> None:
    solution = _plotted(app)
    assert solution is not None
    known = {signal.name: signal.unit for signal in plotting.signals(solution)}
    plot = app.work.plot
    names = [name for name in dict.fromkeys((*plot.signals, plot.x)) if name in known]
    header = ",".join(["time [s]", *(f"{name} [{known[name]}]" for name in names)])
    columns = [solution.time, *(solution[name] for name in names)]
    with replacing(path) as temporary:
        np.savetxt(temporary, np.column_stack(columns), delimiter=",", header=header, comments="")


def _write_report(app: Desk, path: Path) -> None:
    """The verdict with its table, and the difference of the worst channel as a picture."""
    from vbg.tui.panes.validate import Channels
    from vbg.validate import Report, write

    pane = app.main.panes["channels"]
    assert isinstance(pane, Channels)
    pair, verdict = pane.pair(), pane.verdict
    assert pair is not None and verdict is not None
    (_, first), (_, second) = pair
    write(Report(verdict, {"vbg": first, "mstmm": second}), path)
    channel = pane.marked
    if channel is not None:
        marks = app.work.marks
        courses = pane.courses()
        rows = validating.overlay_rows(courses, channel, 100, 14, marks)
        rows += validating.error_rows(courses, channel, 100, 14, marks)
        write_text(path / "error.svg", rows_svg(rows, app.words))


_WRITERS = {
    "view-svg": _write_view,
    "plot-svg": _write_plot,
    "plot-png": _write_plot,
    "plot-csv": _write_csv,
    "report": _write_report,
}
