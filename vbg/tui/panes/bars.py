"""The bars around the panes, the popup of next keys, and the refusal of tiny screens."""

from __future__ import annotations

from vbg.draw.text.rows import Row, Rows, clip, pad, printable
from vbg.tui.content import bars
from vbg.tui.panes.pane import Pane
from vbg.tui.state import arrange
from vbg.tui.state.keys import footer_entries, shown


class Status(Pane):
    FRAMED = False

    def body(self, width: int, height: int) -> Rows:
        if self.work.message and "undo" not in self.home.rects:
            # a low screen has no line for messages
            count = bars.problem_count(self.work)
            room = width - len(count[0]) - 1
            return (((pad(printable(self.work.message), room), self.work.message_style), count),)
        return (bars.status(self.work, width, with_tabs=width >= arrange.WIDE),)

    def clicked(self, column: int, row: int) -> None:
        view = bars.tab_at(self.painted[0], column) if self.painted else ""
        if view:
            self.home.show_view(view)
        elif column >= self.size.width - 14:
            self.home.main.act_id("problem.show")


class Tabs(Pane):
    FRAMED = False

    def body(self, width: int, height: int) -> Rows:
        return (bars.tabs(self.work, width),)

    def clicked(self, column: int, row: int) -> None:
        view = bars.tab_at(self.painted[0], column) if self.painted else ""
        if view:
            self.home.show_view(view)


class Undo(Pane):
    FRAMED = False

    def body(self, width: int, height: int) -> Rows:
        return (bars.undo_line(self.work, width),)


class Footer(Pane):
    FRAMED = False

    def body(self, width: int, height: int) -> Rows:
        row, self.spots = bars.footer(
            footer_entries(self.work.keymap, self.work.view, self.home.active), width
        )
        return (row,)

    def clicked(self, column: int, row: int) -> None:
        for first, last, id in self.spots:
            if first <= column <= last:
                self.home.main.act(self.work.keymap.by_id(id))
                return


class Popup(Pane):
    """The keys that may follow the one just pressed."""

    def title(self) -> str:
        return f"{self.home.prefix} and then"

    def body(self, width: int, height: int) -> Rows:
        prefix = self.home.prefix
        found = self.work.keymap.continues(prefix, self.work.view, self.home.active)
        entries = []
        for action in found:
            key = next(k for k in action.keys if k.startswith(prefix + " "))
            entries.append((shown(key[len(prefix) + 1 :]), f"{action.label}: {action.help}"))
        half = width // 2
        rows: list[Row] = []
        for i in range(0, len(entries), 2):
            row: list[tuple[str, str]] = []
            for key, text in entries[i : i + 2]:
                row += [(f" {key:3}", "focus"), (pad(clip(text, half - 5), half - 4), "")]
            rows.append(tuple(row))
        return tuple(rows)


class Small(Pane):
    FRAMED = False

    def body(self, width: int, height: int) -> Rows:
        need = f"need {arrange.LEAST[0]}x{arrange.LEAST[1]}, have {width}x{height}"
        return (((clip(need, width), "warn"),),)


def panes() -> list[Pane]:
    return [
        Status("status"),
        Tabs("tabs"),
        Undo("undo"),
        Footer("footer"),
        Popup("popup"),
        Small("small"),
    ]
