"""The model as a tree: one row for each table and each part."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, printable
from vbg.tui.content.model.values import shown

Path = tuple[str | int, ...]

TITLES = {
    "parameters": "Parameters",
    "functions": "Functions",
    "include": "Included files",
    "bodies": "Bodies",
    "frames": "Frames",
    "beams": "Beams",
    "joints": "Joints",
    "forces": "Forces",
    "electric": "Electrics",
    "hydraulic": "Hydraulics",
    "rotational": "Rotational",
    "translational": "Translational",
    "signals": "Signals",
    "fmu": "Mock-up units",
    "bondgraph": "Bond graph",
    "ports": "Ports",
    "measures": "Measures",
}
_ALWAYS = ("parameters", "bodies", "joints", "forces")
SETTINGS = ("simulate", "outputs")


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row: `path` () is the model itself, (table,) a heading, (table, name) a part."""

    path: Path
    label: str
    detail: str
    depth: int
    heading: bool = False
    folded: bool = False


def tree_rows(
    data: Mapping[str, Any], folded: Collection[str] = (), wanted: str = ""
) -> tuple[TreeRow, ...]:
    """The rows of the model `data`; `wanted` keeps the parts whose row contains it."""
    rows = [TreeRow((), str(data.get("name", "model")), "model", 0)]
    for table, title in TITLES.items():
        parts = data.get(table)
        parts = parts if isinstance(parts, Mapping) else {}
        if not parts and table not in _ALWAYS:
            continue
        found = [
            TreeRow((table, str(name)), str(name), part_detail(table, part), 1)
            for name, part in parts.items()
        ]
        if wanted:
            found = [row for row in found if wanted.lower() in f"{row.label} {row.detail}".lower()]
        if wanted and not found:
            continue
        closed = table in folded and not wanted
        rows.append(TreeRow((table,), title, str(len(parts)), 0, heading=True, folded=closed))
        if not closed:
            rows += found
    if not wanted:
        for table in SETTINGS:
            settings = data.get(table)
            rows.append(TreeRow((table,), table.capitalize(), _settings_detail(settings), 0))
    return tuple(rows)


def part_detail(table: str, part: Any) -> str:
    """What a part's row says besides its name."""
    if table == "parameters":
        if isinstance(part, Mapping):
            return f"{shown(part.get('value', ''))} {part.get('unit', '')}".strip()
        return shown(part)
    if not isinstance(part, Mapping):
        return shown(part)
    if table in ("include", "fmu"):
        return str(part.get("file", "?"))
    if table == "functions":
        return (
            f"({', '.join(map(str, part.get('arguments', ())))}) = {shown(part.get('value', ''))}"
        )
    if table == "bodies":
        if "mass" in part:
            return f"m = {shown(part['mass'])}"
        return " ".join(_kinds(part.get("shape")))
    words = [str(part.get("kind", "?"))] if table != "frames" else []
    for key in ("between", "on", "nodes"):
        if key in part:
            words.append(ends_in_short(part[key]))
    return " ".join(words)


def _kinds(shape: Any) -> list[str]:
    shapes = shape if isinstance(shape, list) else [shape]
    return [str(key) for s in shapes if isinstance(s, Mapping) for key in s if key != "density"]


def ends_in_short(value: Any) -> str:
    """Attachments and nodes in short: ground-rod.A."""
    if isinstance(value, list):
        return "-".join(ends_in_short(entry) for entry in value)
    if isinstance(value, Mapping):
        return str(value.get("body", "?"))
    return str(value).removeprefix("joints.")


def _settings_detail(settings: Any) -> str:
    if not isinstance(settings, Mapping):
        return ""
    return ", ".join(f"{key} {shown(value)}" for key, value in settings.items())


def tree_row(row: TreeRow, marks: Marks, *, current: bool, problem: str) -> Row:
    """How a row looks; `problem` is the worst severity in it, or ""."""
    left = marks.cursor if current else " "
    style = "cursor" if current else ""
    indent = "  " * row.depth
    sign = ""
    if row.heading:
        sign = (marks.closed if row.folded else marks.opened) + " "
    mark = {"error": marks.error, "warning": marks.warn}.get(problem, "")
    badge = (f" {mark}", {"error": "error", "warning": "warn"}.get(problem, ""))
    name_style = style or ("title" if row.heading or not row.path else "")
    return (
        (f"{left}{indent}{sign}{printable(row.label)}", name_style),
        badge if mark else ("", ""),
        (f"  {printable(row.detail)}", style or "dim"),
    )
