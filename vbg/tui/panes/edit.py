"""Edit: the model's tree, the inspector, the problems."""

from __future__ import annotations

from vbg.draw.text.rows import Row, Rows, clip, printable, wrap
from vbg.errors import Problem
from vbg.tui.content.model import fields, tree
from vbg.tui.content.model.fields import FieldRow
from vbg.tui.content.model.tree import TreeRow
from vbg.tui.panes.pane import Pane, scrolled, stepped
from vbg.tui.state.workspace import Workspace


class Tree(Pane):
    """The model; what is marked here is selected everywhere."""

    JUMP = "a"

    def __init__(self, name: str):
        super().__init__(name)
        self._made: tuple[object, ...] = ()
        self._tree: tuple[TreeRow, ...] = ()
        self._places: dict[tree.Path, int] = {}

    @property
    def lines(self) -> tuple[TreeRow, ...]:
        """The rows of the model as it is; made anew only when something changed."""
        work = self.work
        made = (work.document.now, work.folded, work.filter)
        if not self._made or any(a is not b for a, b in zip(made, self._made, strict=True)):
            self._tree = tree.tree_rows(work.data, work.folded, work.filter)
            self._places = {row.path: i for i, row in enumerate(self._tree)}
            self._made = made
        return self._tree

    @property
    def index(self) -> int:
        """The row of the selection, or of the nearest thing that contains it."""
        if not self.lines:
            return 0
        for length in range(len(self.work.selection), -1, -1):
            found = self._places.get(self.work.selection[:length])
            if found is not None:
                return found
        return 0

    def title(self) -> str:
        return f"Model: {self.work.filter}" if self.work.filter else "Model"

    def hint(self) -> str:
        return "/ filter"

    def body(self, width: int, height: int) -> Rows:
        rows, index = self.lines, self.index
        self.top = scrolled(self.top, index, len(rows), height)
        self.extent = (self.top, len(rows), height)
        marked = _marked(self.work.problems)
        return tuple(
            tree.tree_row(
                row,
                self.work.marks,
                current=i == index,
                problem=marked.get(".".join(map(str, row.path)), ""),
            )
            for i, row in enumerate(rows[self.top : self.top + height], self.top)
        )

    def select(self, index: int) -> None:
        if self.lines:
            self.home.main.select(self.lines[max(0, min(index, len(self.lines) - 1))].path)

    def move(self, direction: str) -> None:
        row = self.lines[self.index]
        if direction == "left":
            if row.depth:
                self.home.main.select(row.path[:1])
            elif row.heading:
                self.work.folded = self.work.folded | {str(row.path[0])}
        elif direction == "right":
            if row.heading and row.folded:
                self.work.folded = self.work.folded - {str(row.path[0])}
            elif not row.heading:
                self.home.activate("inspector")
        else:
            self.select(stepped(self.index, len(self.lines), direction, self.inner[1]))

    def enter(self) -> None:
        row = self.lines[self.index]
        if row.heading:
            self.move("right" if row.folded else "left")
        else:
            self.home.activate("inspector")

    def clicked(self, column: int, row: int) -> None:
        self.select(self.top + row)

    def copied(self) -> str:
        """The text of the marked part in the model file."""
        from vbg.edit.source import text_of

        return text_of(self.work.document.now.text, self.work.selection)


def _marked(problems: tuple[Problem, ...]) -> dict[str, str]:
    """The worst severity by part, and by table."""
    out: dict[str, str] = {}
    for problem in problems:
        words = problem.where.split("[")[0].split(".")
        for name in (".".join(words[:2]), words[0]):
            if out.get(name) != "error":
                out[name] = problem.severity
    return out


class Inspector(Pane):
    """The fields of the selected part, and what the marked one means."""

    JUMP = "s"

    def fields(self) -> tuple[FieldRow, ...]:
        return fields.field_rows(self.work.data, self.work.selection)

    @property
    def marked(self) -> FieldRow | None:
        rows = self.fields()
        return rows[min(self.work.field_index, len(rows) - 1)] if rows else None

    def title(self) -> str:
        selection = self.work.selection
        if not selection:
            return "model"
        part = self.work.data.get(str(selection[0]))
        if len(selection) > 1 and isinstance(part, dict):
            inner = part.get(selection[1])
            kind = inner.get("kind", "") if isinstance(inner, dict) else ""
            return f"{selection[1]}  {kind}".strip()
        return tree.TITLES.get(str(selection[0]), str(selection[0]))

    def hint(self) -> str:
        return "e edit"

    def body(self, width: int, height: int) -> Rows:
        rows = self.fields()
        if not rows:
            return self._empty(width)
        index = min(self.work.field_index, len(rows) - 1)
        below = self._below(rows[index], width)
        room = max(height - len(below) - 1, 3)
        self.top = scrolled(self.top, index, len(rows), room)
        self.extent = (self.top, len(rows), room)
        focused = self.home.active == "inspector"
        out = [
            fields.field_row(
                row,
                width,
                self.work.marks,
                current=focused and i == index,
                problem=fields.problem_of(self.work.problems, row.path),
            )
            for i, row in enumerate(rows[self.top : self.top + room], self.top)
        ]
        out += [()] * (height - len(out) - len(below))
        return (*out, *below)

    def _empty(self, width: int) -> Rows:
        table = str(self.work.selection[0])
        part = len(self.work.selection) > 1
        text = (
            "nothing is written here"
            if part
            else f"{tree.TITLES.get(table, table)}: press a to add"
        )
        return (((clip(text, width), "dim"),),)

    def _below(self, row: FieldRow, width: int) -> Rows:
        """What the field is, its value, its problem, in up to five lines."""
        part = fields.part_class(self.work.data, self.work.selection)
        lines: list[Row] = []
        problem = fields.problem_of(self.work.problems, row.path)
        if problem is not None:
            style = "error" if problem.severity == "error" else "warn"
            text = f"{problem.what} {problem.remedy}"
            lines += [((line, style),) for line in wrap(printable(text), width)[:3]]
        else:
            about = fields.about(part)
            if about:
                lines += [((line, "dim"),) for line in wrap(about, width)[:2]]
        doc = f"{row.label}: {row.declared.doc}{_resolved(self.work, row)}"
        lines += [((line, ""),) for line in wrap(printable(doc), width)[:3]]
        return (((self.work.marks.across * width, "dim"),), *lines)

    def move(self, direction: str) -> None:
        if direction == "left":
            self.home.activate("tree")
        else:
            count = len(self.fields())
            index = min(self.work.field_index, max(count - 1, 0))
            self.work.field_index = max(0, stepped(index, count, direction, self.inner[1]))

    def enter(self) -> None:
        self.home.main.act_id("edit.field")

    def copied(self) -> str:
        """The value of the marked field, as it is typed."""
        row = self.marked
        return "" if row is None or not row.written else fields.as_typed(row.declared, row.value)

    def clicked(self, column: int, row: int) -> None:
        index = self.top + row
        if index < len(self.fields()):
            self.work.field_index = index


def _resolved(work: Workspace, row: FieldRow) -> str:
    """ " = 0.3 m" behind the meaning of a field written as an expression."""
    model = work.checked.model
    if model is None or not row.written or not isinstance(row.value, str) or len(row.path) < 2:
        return ""
    if row.path[0] == "parameters":
        value = model.parameters.get(str(row.path[1]))
    else:
        part = getattr(model, str(row.path[0]), None)
        for key in row.path[1:]:
            if isinstance(key, int) or part is None:
                return ""
            part = part.get(key) if hasattr(part, "get") else getattr(part, key, None)
        value = part
    if not isinstance(value, float):
        return ""
    unit = fields.unit_of(row.declared)
    return f"; = {value:.6g} {unit}".rstrip()


class Problems(Pane):
    """All problems, each with its whole text; Enter opens the marked one with its fixes."""

    JUMP = "d"

    def title(self) -> str:
        return f"Problems: {len(self.work.problems)}" if self.work.problems else "Problems"

    def hint(self) -> str:
        return "] next  Enter fixes"

    @property
    def index(self) -> int:
        return max(0, min(self.work.problem_index, len(self.work.problems) - 1))

    def body(self, width: int, height: int) -> Rows:
        work = self.work
        if not work.problems:
            text = "checking ..." if work.checking else f"{work.marks.ok} none; r runs the model"
            return (((text, "dim" if work.checking else "ok"),),)
        index = self.index
        self.top = min(self.top, index)
        sizes = [
            len(problem_rows(problem, width, work))
            for problem in work.problems[self.top : index + 1]
        ]
        while len(sizes) > 1 and sum(sizes) > height:
            sizes.pop(0)
            self.top += 1
        self.extent = (self.top, len(work.problems), max(height // 2, 1))
        rows: list[Row] = []
        self._owners: list[int] = []
        for i, problem in enumerate(work.problems[self.top :], self.top):
            own = problem_rows(problem, width, work, current=i == index)
            rows += own
            self._owners += [i] * len(own)
            if len(rows) >= height:
                break
        return tuple(rows[:height])

    def move(self, direction: str) -> None:
        count = len(self.work.problems)
        if count:
            self.work.problem_index = stepped(self.index, count, direction, self.inner[1])

    def enter(self) -> None:
        if self.work.problems:
            self.home.main.act_id("problem.show")

    def copied(self) -> str:
        return str(self.work.problems[self.index]) if self.work.problems else ""

    def clicked(self, column: int, row: int) -> None:
        if row < len(self._owners):
            self.work.problem_index = self._owners[row]


_SEVERITY = {"error": "error", "warning": "warn", "note": "note"}


def problem_rows(problem: Problem, width: int, work: Workspace, *, current: bool = False) -> Rows:
    """The whole of a problem: mark, place, what, remedy, in as many lines as it takes."""
    marks = work.marks
    mark = {"error": marks.error, "warning": marks.warn, "note": marks.note}[problem.severity]
    place = f" (line {problem.line})" if problem.line else ""
    text = f"{problem.where}{place}: {problem.what} {problem.remedy}".strip()
    rows: list[Row] = []
    for number, line in enumerate(wrap(printable(text), max(width - 3, 10))):
        left = marks.cursor if current else " "
        sign = f"{mark} " if number == 0 else "  "
        style = "bold" if current else ""
        rows.append(((left, "focus"), (sign, _SEVERITY[problem.severity]), (line, style)))
    return tuple(rows)


class ProblemLine(Pane):
    """That there is no problem, where there is no room for more."""

    FRAMED = False

    def body(self, width: int, height: int) -> Rows:
        text = "checking ..." if self.work.checking else "no problems; r runs it"
        return (((text, "dim"),),)


def panes() -> list[Pane]:
    return [
        Tree("tree"),
        Inspector("inspector"),
        Problems("problems"),
        ProblemLine("problemline"),
    ]
