"""The one screen: panes in their places, keys to actions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from vbg.tui.panes import first_panes, later_panes, load
from vbg.tui.panes.pane import Pane
from vbg.tui.state import arrange, keys
from vbg.tui.state.arrange import Rect
from vbg.tui.state.workspace import Workspace

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

HINT_DELAY = 0.3  # s; who knows the keys never sees the popup


class MainScreen(Screen):
    """All panes of all views, of which those of the current view are shown."""

    ALLOW_SELECT = False
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    MainScreen { layers: base above; background: $background; }
    Pane { position: absolute; layer: base; background: $background; }
    #popup { layer: above; }
    #small { layer: above; }
    """

    def __init__(self, work: Workspace):
        super().__init__()
        self.work = work
        self.actives = dict(arrange.FIRST)
        self.zoomed = ""
        self.prefix = ""
        self.jumping = False
        self.complete = False
        self.extent = arrange.LEAST
        self.rects: dict[str, Rect] = {}
        self.panes: dict[str, Pane] = {}
        self._hint_timer: Timer | None = None

    @property
    def main(self) -> Desk:
        return cast("Desk", self.app)

    @property
    def words(self) -> dict[str, Style]:
        return self.main.words

    @property
    def active(self) -> str:
        """The pane that has the keys."""
        return self.actives[self.work.view]

    def compose(self) -> ComposeResult:
        self.panes = {pane.pane: pane for pane in first_panes()}
        yield from self.panes.values()

    def on_mount(self) -> None:
        self.extent = (self.app.size.width, self.app.size.height)
        self.place()
        self.call_after_refresh(self._complete)

    async def _complete(self) -> None:
        """The panes that the first frame did without; keys have waited for them."""
        await asyncio.to_thread(load)
        more = later_panes()
        await self.mount(*more)
        self.panes |= {pane.pane: pane for pane in more}
        self.complete = True
        self.place()
        self.main.begin()
        self.main.keyboard.go_on()

    def on_resize(self, event: events.Resize) -> None:
        self.extent = (event.size.width, event.size.height)
        self.place()

    def place(self) -> None:
        """Give every pane its rectangle, and paint."""
        width, height = self.extent
        before = set(self.rects)
        if not arrange.fits(width, height):
            self.rects = {"small": Rect(0, 0, width, height)}
        else:
            view = self.work.view
            troubled = bool(self.work.problems)
            self.rects = arrange.arrange(
                view,
                width,
                height,
                self.active,
                self.zoomed,
                troubled=troubled,
                texted=self.work.texted,
                sliding=self.work.sliding,
            )
            if self.active not in self.rects:
                # its pane is not shown any more
                self.actives[view] = arrange.FIRST[view]
            if self.prefix:
                found = self.work.keymap.continues(self.prefix, view, self.active)
                rows = min((len(found) + 1) // 2 + 2, height - 4)
                self.rects["popup"] = Rect(0, height - 1 - rows, width, rows)
        for name, pane in self.panes.items():
            rect = self.rects.get(name)
            pane.display = rect is not None
            if rect is not None:
                pane.styles.offset = (rect.x, rect.y)
                pane.styles.width = rect.width
                pane.styles.height = rect.height
        self.paint()
        if self.complete and (set(self.rects) - before) & set(arrange.ORDER[self.work.view]):
            # what has come into sight may need something that is not there yet
            self.main.prepare_view(self.work.view)

    def paint(self, *names: str) -> None:
        """Paint the named panes again, or all that are shown; none while vbg is left."""
        if not self.is_attached:
            return
        for name in names or tuple(self.rects):
            if name in self.rects and name in self.panes:
                self.panes[name].repaint()

    def show_view(self, view: str) -> None:
        """Go to a view; its panes are told before they are painted."""
        self.work.view = view
        self.zoomed = ""
        self.place()
        self.main.prepare_view(view)

    def activate(self, pane: str) -> None:
        """Give the keys to a pane of this view."""
        if pane in arrange.ORDER[self.work.view] and pane not in arrange.PASSIVE:
            self.work.texted = self.work.texted or pane == "source"
            self.actives[self.work.view] = pane
            self.zoomed = pane if self.zoomed else ""
            self.place()

    def next_pane(self, step: int) -> None:
        panes = arrange.focusable(self.work.view, self.rects)
        at = panes.index(self.active) if self.active in panes else 0
        self.activate(panes[(at + step) % len(panes)])

    def toggle_zoom(self) -> None:
        self.zoomed = "" if self.zoomed else self.active
        self.place()

    def scrolled(self, pane: Pane, direction: str) -> None:
        for _ in range(2):
            pane.move(direction)
        self.paint()

    def hear(self, event: events.Key | events.Paste) -> None:
        """Do a key or a pasted text: for the pane that is written in, or by the table."""
        pane = self.panes[self.active]
        if isinstance(event, events.Paste):
            pane.pasted(event.text)
        elif self.jumping or self.prefix or not pane.types(event):
            self.press(keys.canonical(event.key, event.character))

    def press(self, key: str) -> None:
        """Do one key, by its name in the table."""
        if self.jumping:
            self._jump(key)
        elif key:
            self._press(key)

    def _press(self, key: str) -> None:
        keymap, view = self.work.keymap, self.work.view
        if self.prefix:
            key, prefix = f"{self.prefix} {key}", self.prefix
            self.set_prefix("")
            if keymap.find(key, view, self.active) is None:
                if not key.endswith(" escape"):
                    self.work.say(f"{prefix} is not followed by {key[len(prefix) + 1 :]}", "warn")
                    self.paint("undo", "status")
                return
        elif keymap.continues(key, view, self.active):
            self.set_prefix(key)
            return
        action = keymap.find(key, view, self.active)
        if action is not None and action.scope.startswith("pane:") and self.main.refusal(action):
            # what a pane cannot do now must not hide what its key does elsewhere
            action = keymap.find(key, view, "") or action
        if action is not None:
            self.main.act(action)
        elif key in ("q", "ctrl+c"):
            self.work.say("ctrl+q quits; Esc goes back", "focus")
            self.paint()

    def set_prefix(self, prefix: str) -> None:
        """Wait for the next key of a sequence; the popup comes if it is slow."""
        shown = "popup" in self.rects
        self.prefix = prefix
        if self._hint_timer is not None:
            self._hint_timer.stop()
            self._hint_timer = None
        if prefix:
            self._hint_timer = self.set_timer(HINT_DELAY, self.place)
        elif shown:
            self.place()

    def _jump(self, key: str) -> None:
        self.jumping = False
        if key in "123456" and len(key) == 1:
            self.show_view(keys.VIEWS[int(key) - 1])
            return
        for name, pane in self.panes.items():
            if key == pane.JUMP and name in arrange.ORDER[self.work.view]:
                self.activate(name)
        self.paint()
