"""Graph: the bond graph around the selection, and why it is as it is."""

from __future__ import annotations

from vbg.draw.text import bonds
from vbg.draw.text.rows import Rows, printable, wrap
from vbg.tui.content import why
from vbg.tui.content.results.exchanging import power_rows
from vbg.tui.panes.pane import Pane
from vbg.tui.state import graphing
from vbg.tui.state.graphing import GraphState
from vbg.tui.state.powers import coloured, powers_now, run_in_bonds


class Graph(Pane):
    """The graph in cells; arrows go from vertex to vertex."""

    JUMP = "q"

    @property
    def state(self) -> GraphState | None:
        return self.work.graph

    def title(self) -> str:
        state = self.state
        if state is None or state.drawing is None:
            return "Bond graph"
        shown = len(state.drawing.vertices)
        total = shown + state.hidden
        when = self._when()
        part = f", around {state.marked_part.split('.', 1)[-1]}" if state.hidden else ""
        return f"Bond graph  {shown} of {total} vertices{part}{when}"

    def _when(self) -> str:
        """The time of the powers that are shown, or how they come."""
        run = run_in_bonds(self.work)
        if run is None:
            return ""
        if run.number in self.work.bonds:
            return f"   power at t = {self.work.plot.cursor:.5g} s"
        return "   Space brings the powers" if self.home.main.job is None else "   powers come ..."

    def hint(self) -> str:
        return "o open  Space plays the powers  w why"

    def body(self, width: int, height: int) -> Rows:
        state = self.state
        if state is None or state.drawing is None:
            text = state.trouble if state and state.trouble else self._waiting()
            return tuple(((line, "dim"),) for line in wrap(printable(text), width))
        look = bonds.centred(state.drawing, state.index, width, height)
        look = bonds.Look(look.left, look.top, state.index)
        powers = powers_now(self.work)
        drawing = coloured(state, powers) if powers is not None else state.drawing
        return bonds.draw(drawing, width, height, look, self.work.marks)

    def _waiting(self) -> str:
        if self.work.checked.count("error") or self.work.document.now.broken:
            return "The graph is drawn when the model has no errors; ] goes to the first."
        return "drawing ..."

    def move(self, direction: str) -> None:
        state = self.state
        if state is None or state.drawing is None:
            return
        if direction in ("first", "last"):
            at = 0 if direction == "first" else len(state.drawing.vertices) - 1
        else:
            side = {"page_up": "up", "page_down": "down"}.get(direction, direction)
            at = bonds.neighbour(state.drawing, state.index, side)
        if at >= 0:
            self.go(state.drawing.vertices[at].key)

    def go(self, key: str) -> None:
        """Mark a vertex, and select its part everywhere."""
        state = self.state
        if state is None:
            return
        self.work.graph = graphing.marked(state, key)
        part = self.work.graph.marked_part
        table, _, name = part.partition(".")
        if name:
            self.home.main.select((table, name))
        self.home.paint("graph", "why")

    def enter(self) -> None:
        self.home.main.act_id("graph.open")

    def clicked(self, column: int, row: int) -> None:
        state = self.state
        if state is None or state.drawing is None:
            return
        look = bonds.centred(state.drawing, state.index, *self.inner)
        x, y = column + look.left, row + look.top
        for vertex, box in zip(state.drawing.vertices, state.drawing.layout.boxes, strict=True):
            inside = box.column <= x < box.column + box.width
            if inside and box.row <= y < box.row + box.height:
                self.go(vertex.key)


class Why(Pane):
    """The reasons, and the fixes."""

    JUMP = "s"

    def title(self) -> str:
        state = self.work.graph
        if state is not None and 0 <= state.conflict < len(state.conflicts):
            return f"Why: conflict {state.conflict + 1} of {len(state.conflicts)}"
        return "Why"

    def hint(self) -> str:
        state = self.work.graph
        chosen = state is not None and 0 <= state.conflict < len(state.conflicts)
        return "Enter fixes" if chosen and self.home.active == "why" else ""

    def body(self, width: int, height: int) -> Rows:
        if self.work.graph is None and not self.work.problems:
            return ((("drawing ...", "dim"),),)
        rows = why.why_rows(self.work.graph, self.work.data, width, self.work.marks)
        rows = (*self._powers(width), *rows)
        self.top = max(0, min(self.top, len(rows) - height))
        self.extent = (self.top, len(rows), height)
        return rows[self.top : self.top + height]

    def _powers(self, width: int) -> Rows:
        """Power, effort and flow in the bonds at the time of Plot's cursor."""
        state, powers = self.work.graph, powers_now(self.work)
        if state is None or state.graph is None or state.conflict >= 0 or powers is None:
            return ()
        return power_rows(state, powers, width)

    def enter(self) -> None:
        self.home.main.act_id("graph.fixes")

    def move(self, direction: str) -> None:
        step = {"up": -1, "down": 1, "page_up": -8, "page_down": 8}.get(direction, 0)
        self.top = max(0, self.top + step)


def panes() -> list[Pane]:
    return [Graph("graph"), Why("why")]
