"""A study as rows: a map over two parameters, or the points one below the other.

On a map each point is a digit from 0, the smallest measure, to 9, the largest; the colour says the
same.  The smallest is framed, [0]; x could not be run, a dot is still to come.
"""

from __future__ import annotations

from vbg.draw.text.axes import number
from vbg.draw.text.rows import Row, Rows, cells, clip, printable
from vbg.tui.session.solving.study import Study, Tried

_STYLES = ("ok", "ok", "ok", "note", "note", "note", "warn", "warn", "error", "error")
_CELL = 4  # columns of a point


def study_rows(study: Study, width: int, height: int) -> Rows:
    """All that is known of a study, in `height` rows."""
    rows = [*_head(study, width), ()]
    if study.state == "failed" and not study.tried:
        return tuple(rows)
    if _is_map(study) and len({t.point[0] for t in study.tried}) * _CELL + 12 <= width:
        return (*rows, *map_rows(study, height - len(rows)))
    return (*rows, *point_rows(study, width, height - len(rows)))


def _is_map(study: Study) -> bool:
    return study.order.method == "grid" and len(study.names) == 2


def _head(study: Study, width: int) -> Rows:
    """How far it is, and the best so far."""
    style = {"finished": "ok", "running": "note"}.get(study.state, "warn")
    rows: list[Row] = [((clip(printable(study.outcome), width), style),)]
    best = study.best
    if best is not None and best.value is not None:
        value = f"{number(best.value, 6)} {study.unit}".rstrip()
        what = f"smallest {study.order.measure} = {value} at {_told(study, best)}"
        rows.append(((clip(printable(what), width), "bold"),))
    return tuple(rows)


def _told(study: Study, one: Tried) -> str:
    """Values of the parameters with their units."""
    parts = zip(study.names, one.point, study.units, strict=True)
    return ", ".join(f"{name} = {number(value, 6)} {unit}".rstrip() for name, value, unit in parts)


def map_rows(study: Study, height: int) -> Rows:
    """The first parameter to the right, the second upwards."""
    known = {t.point: t for t in study.tried}
    across = sorted({point[0] for point in known})
    up = sorted({point[1] for point in known})
    values = [t.value for t in study.tried if t.value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    labels = [number(value, 4) for value in up]
    margin = max((cells(label) for label in labels), default=0)
    axis = [f"{name} [{unit}]" if unit else name for name, unit in _axes(study)]
    rows: list[Row] = [((printable(axis[1]), "dim"),)]
    for label, y in reversed(list(zip(labels, up, strict=True))):
        row: list[tuple[str, str]] = [(f"{label.rjust(margin)} ", "dim")]
        row += [_cell(known.get((x, y)), low, high, study.best) for x in across]
        rows.append(tuple(row))
    every = 1 + max((cells(number(x, 4)) for x in across), default=0) // _CELL
    below = "".join(
        number(x, 4).ljust(every * _CELL) for i, x in enumerate(across) if i % every == 0
    )
    rows.append(((f"{' ' * (margin + 2)}{below}", "dim"), (f"  {printable(axis[0])}", "dim")))
    ends = [f"{number(value, 4)} {study.unit}".rstrip() for value in (low, high)]
    rows.append(((f"0 is {ends[0]}, 9 is {ends[1]}; x could not be run", "dim"),))
    return tuple(rows[: max(height, 1)])


def _axes(study: Study) -> tuple[tuple[str, str], ...]:
    return tuple(zip(study.names, study.units, strict=True))


def _cell(one: Tried | None, low: float, high: float, best: Tried | None) -> tuple[str, str]:
    """A point of the map."""
    if one is None:
        return " .  ", "dim"
    if one.value is None:
        return " x  ", "error"
    level = level_of(one.value, low, high)
    mark = f"[{level}] " if one is best else f" {level}  "
    return mark, "focus" if one is best else _STYLES[level]


def level_of(value: float, low: float, high: float) -> int:
    """The digit of a value between the smallest and the largest."""
    return min(int(10 * (value - low) / (high - low)), 9) if high > low else 0


def point_rows(study: Study, width: int, height: int) -> Rows:
    """Optimisations: each better point, and the last one; others: all points, the newest last."""
    search = study.order.method != "grid"
    shown: list[tuple[int, Tried]] = []
    smallest = float("inf")
    for at, one in enumerate(study.tried, 1):
        better = one.value is not None and one.value < smallest
        if better and one.value is not None:
            smallest = one.value
        if better or not search or at == len(study.tried):
            shown.append((at, one))
    measure = (study.order.measure, study.unit)
    heads = [f"{name} [{unit}]" if unit else name for name, unit in (*_axes(study), measure)]
    table = [("run", *heads)]
    for at, one in shown[-max(height - 1, 1) :]:
        value = one.reason if one.value is None else number(one.value, 6)
        table.append((str(at), *(number(v, 6) for v in one.point), value))
    widths = [max(cells(printable(row[k])) for row in table) for k in range(len(heads))]
    rows: list[Row] = []
    for i, row in enumerate(table):
        left = "  ".join(printable(t).rjust(w) for t, w in zip(row[:-1], widths, strict=True))
        style = "dim" if i == 0 else ""
        rows.append(((clip(f"{left}  {printable(row[-1])}", width), style),))
    return tuple(rows)
