"""The bars: status, views, undo, footer."""

from __future__ import annotations

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, cells, clip, fit, pad, printable, row_width
from vbg.tui.state.keys import VIEW_TITLES, VIEWS, Action, shown
from vbg.tui.state.workspace import Workspace


def status(work: Workspace, width: int, *, with_tabs: bool) -> Row:
    """File, views on a wide screen, job, problems; on a low one the message too."""
    name = work.file.name if work.file else f"{work.data.get('name', 'untitled')} (not saved)"
    mark = f" {work.marks.changed}" if work.document.dirty else ""
    right = _state(work)
    room = width - row_width(right) - 6
    left: Row = (
        ("vbg  ", "title"),
        (clip(printable(name), max(room - 2, 8)), "bold"),
        (mark, "warn"),
    )
    if with_tabs:
        left = (*left, ("     ", ""), *_tabs(work))
    gap = max(1, width - row_width(left) - row_width(right))
    return fit((*left, (" " * gap, ""), *right), width)


def _state(work: Workspace) -> Row:
    """What is going on and how the model is."""
    run = work.active_run
    parts: list[tuple[str, str]] = []
    both = [r for r in work.runs if r.active]
    if len(both) > 1:
        words = "  ".join(f"{r.solver} {100 * r.fraction:.0f} %" for r in both)
        parts.append((f"{work.marks.running} validating  {words}  x cancel   ", "note"))
    elif run is not None:
        eta = f" ETA {run.eta:.0f} s" if run.eta is not None else ""
        percent = f" {100 * run.fraction:.0f} %" if run.state == "running" else ""
        word = "cancelling" if run.state == "cancelling" else "running"
        parts.append(
            (f"{work.marks.running} {word} {run.solver}{percent}{eta}  x cancel   ", "note")
        )
    parts.append(problem_count(work))
    return tuple(parts)


def problem_count(work: Workspace) -> tuple[str, str]:
    """How the model is, in a mark and words."""
    marks = work.marks
    problems = work.problems
    errors = sum(1 for p in problems if p.severity == "error")
    warnings = sum(1 for p in problems if p.severity == "warning")
    if work.checking and not problems and not work.checked.text_hash:
        return ("checking ", "dim")
    if errors:
        return (f"{marks.error} {errors} error{'s' * (errors > 1)} ", "error")
    if warnings:
        return (f"{marks.warn} {warnings} warning{'s' * (warnings > 1)} ", "warn")
    return (f"{marks.ok} 0 errors ", "ok")


def _tabs(work: Workspace) -> Row:
    out: list[tuple[str, str]] = []
    for number, name in enumerate(VIEWS, 1):
        here = name == work.view
        mark = work.marks.pointer if here else " "
        out.append((f"{mark}{number} {VIEW_TITLES[name]}", "focus" if here else "dim"))
        out.append(("  ", ""))
    return tuple(out)


def tab_at(row: Row, column: int) -> str:
    """The view whose tab is at a column of a row with tabs, or ""."""
    at = 0
    titles = {f"{i} {VIEW_TITLES[name]}": name for i, name in enumerate(VIEWS, 1)}
    for text, _ in row:
        if at <= column < at + cells(text):
            return titles.get(text[1:], "")
        at += cells(text)
    return ""


def tabs(work: Workspace, width: int) -> Row:
    """The line of views."""
    return fit(((" ", ""), *_tabs(work)), width)


def undo_line(work: Workspace, width: int) -> Row:
    """The last message, or else what undo and redo would do."""
    if work.message:
        return fit(((clip(printable(work.message), width), work.message_style),), width)
    document = work.document
    if document.undo_label:
        left = f"undo: {document.undo_label}"
    elif document.redo_label:
        left = f"redo: {document.redo_label}"
    else:
        left = ""
    count = document.position
    right = f"{count} edit{'s' * (count != 1)}" if count else ""
    if document.journal is not None and document.dirty:
        right = f"{right}, in the journal"
    left = clip(printable(left), max(width - cells(right) - 2, 0))
    return fit(((pad(left, width - cells(right)), "dim"), (right, "dim")), width)


def footer(actions: tuple[Action, ...], width: int) -> tuple[Row, tuple[tuple[int, int, str], ...]]:
    """The keys that matter here, whole entries only, and where each can be clicked:
    (first column, last column, action)."""
    help_key, end = " ? Help ", " ^p palette"
    room = width - len(help_key) - len(end)
    row: list[tuple[str, str]] = []
    spots = []
    at = 0
    for action in actions:
        key, label = shown(action.keys[0]), action.label
        size = cells(key) + cells(label) + 3
        if at + size > room:
            break
        row += [(f" {key}", "focus"), (f" {label} ", "")]
        spots.append((at, at + size - 1, action.id))
        at += size
    row.append((" " * (room - at), ""))
    row += [(help_key[:2], "focus"), (help_key[2:], ""), (end, "dim")]
    spots.append((room, room + len(help_key) - 1, "help"))
    spots.append((room + len(help_key), width - 1, "palette"))
    return tuple(row), tuple(spots)


def framed(
    body: tuple[Row, ...], width: int, title: str, hint: str, marks: Marks, style: str
) -> Rows:
    """`body` in a frame of `width` cells with a title and, if there is room, a hint."""
    upper_left, upper_right, lower_right, lower_left = marks.corners
    inner = width - 2
    title = clip(printable(title), max(inner - 4, 0))
    text = f"{marks.across} {title} " if title else ""
    room = inner - cells(text) - 1
    note = f" {hint} {marks.across}" if hint and cells(hint) + 3 <= room else ""
    fill = marks.across * max(inner - cells(text) - cells(note), 0)
    title_style = "focus" if style == "focus" else "title"
    head: Row = (
        (f"{upper_left}{marks.across}", style) if title else (upper_left, style),
        (f" {title} ", title_style) if title else ("", ""),
        (fill, style),
        (note, "dim"),
        (upper_right, style),
    )
    lines = tuple(((marks.down, style), *fit(row, inner), (marks.down, style)) for row in body)
    foot: Row = ((f"{lower_left}{marks.across * inner}{lower_right}", style),)
    return (fit(head, width), *lines, foot)


def with_thumb(rows: Rows, extent: tuple[int, int, int], marks: Marks) -> Rows:
    """Framed rows with a mark on the right edge: which part is in sight of a list that is
    longer; `extent` is the first row shown, the rows there are, those there is room for."""
    top, count, room = extent
    inside = len(rows) - 2
    if count <= room or inside < 3:
        return rows
    size = max(1, inside * room // count)
    at = min(round((inside - size) * top / max(count - room, 1)), inside - size)
    out = list(rows)
    for y in range(1 + at, 1 + at + size):
        out[y] = (*out[y][:-1], (marks.bar_full, "dim"))
    return tuple(out)
