"""The application: what is open, what is being done, and the one screen."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from rich.style import Style
from textual import events
from textual.app import App
from textual.geometry import Size
from textual.screen import Screen
from textual.scrollbar import ScrollBar
from textual.theme import Theme
from textual.timer import Timer
from textual.worker import Worker

from vbg.draw.text.rows import Rows
from vbg.edit.commands import Command
from vbg.errors import Problem, VbgError
from vbg.tui.actions import handler
from vbg.tui.content.model.fields import FieldRow, exists
from vbg.tui.content.style import DEFAULT_THEME, THEMES, scroll_bar, style_words
from vbg.tui.crash import write_report
from vbg.tui.dialogs.ask import Ask
from vbg.tui.dialogs.choose import Choose
from vbg.tui.dialogs.dialog import Dialog
from vbg.tui.dialogs.read import Read
from vbg.tui.screen import MainScreen
from vbg.tui.session.kept import files
from vbg.tui.session.kept.document import Document
from vbg.tui.session.kept.journal import Journal
from vbg.tui.session.runs import Run
from vbg.tui.session.solving.solver import Solver
from vbg.tui.state import results
from vbg.tui.state.desk import Followed, Judge
from vbg.tui.state.items import Item
from vbg.tui.state.keyboard import Keyboard
from vbg.tui.state.keys import BROUGHT, Action
from vbg.tui.state.workspace import Checked, Path, Workspace

CHECK_DELAY = 0.15
WATCH_SECONDS = 1.0
LIVE_SECONDS = 0.5
WARM_SECONDS = 0.5
FRAMES, SLOW_FRAMES = 12.0, 4.0  # 3D frames a second, and over SSH
CRASH_CODE = 70

Work = Callable[[], Awaitable[Any]]


class VbgApp(App[int]):
    """vbg in the terminal."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "vbg"

    def __init__(self, work: Workspace, driver: Any = None):
        super().__init__(driver_class=driver)
        self.work = work
        self.main = MainScreen(work)
        self.words: dict[str, Style] = {}
        self.keyboard: Keyboard[events.Key | events.Paste] = Keyboard(self.listens, self._hear)
        self.solver = Solver()
        self.asking = 0
        self.bringing: Worker[None] | None = None
        self.job: Followed | None = None
        self.endings: list[Followed] = []
        self.report: FilePath | None = None
        self.broken: dict[Any, FilePath] = {}
        self._frames: Timer | None = None
        self._warming: Timer | None = None
        self._frame_time = 0.0
        self._live = 0.0
        ScrollBar.renderer = scroll_bar(work.options.marks)
        for theme in THEMES:
            self.register_theme(theme)
        wanted = work.options.theme
        ansi = wanted in self.available_themes and self.available_themes[wanted].ansi
        known = wanted in self.available_themes and not (work.options.no_color and ansi)
        self.theme = wanted if known else DEFAULT_THEME
        self._take_colours(self.current_theme)

    def get_default_screen(self) -> Screen:
        return self.main

    @property
    def front(self) -> Screen | None:
        """The screen that has the keys; None while vbg is left, when timers may still fire."""
        stack = self.screen_stack
        return stack[-1] if stack else None

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, self._recolour)
        self.app_resume_signal.subscribe(self, self._resumed)
        self.work.document.listeners.append(self.document_changed)
        self.set_interval(WATCH_SECONDS, self._watch_file)
        self.set_interval(WATCH_SECONDS, self._watch_size)
        self.set_interval(LIVE_SECONDS, partial(self._told, self._follow_run))

    def begin(self) -> None:
        """What waits until the first frame is seen and all panes are there."""
        from vbg.tui.tasks import starting

        self.check()
        self.ask_later(starting.begin(self))

    # keys

    async def on_event(self, event: events.Event) -> None:
        """Keys and pasted texts go into the one queue, all else its usual way."""
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            if isinstance(event, events.Key) and event.key == "ctrl+j":
                # Enter, typed before the terminal was told not to make a line feed of it
                event = events.Key("enter", "\r")
            self.keyboard.put(event)
        else:
            await super().on_event(event)

    def listens(self) -> bool:
        """Whether the next key is for what is there, not for something yet to come."""
        screen = self.front
        if isinstance(screen, Dialog):
            return screen.ready and not screen.answered
        return screen is not None and self.main.complete and not self.asking

    def _hear(self, event: events.Key | events.Paste) -> None:
        """Do one key to its end."""
        screen = self.front
        if isinstance(screen, Dialog):
            if isinstance(event, events.Paste):
                screen.paste(event.text)
            elif event.key == "ctrl+q":
                screen.answer(None)
                self.keyboard.typed.appendleft(event)
            else:
                screen.press(event)
        else:
            self.main.hear(event)

    # actions

    def act(self, action: Action, *, prepared: bool = False) -> None:
        """Do an action of the table, or say why not; what it is about may have yet to come."""
        from vbg.tui.tasks.preparing import early, once_there

        self.work.say("")
        self.main.panes[self.main.active].take()
        do = handler(action)[0]
        reason = self.refusal(action)
        if not prepared and (early(self, action) or (reason and action.scope in BROUGHT)):
            self.ask_later(once_there(self, action))
            return
        if reason:
            self.work.say(f"{action.label}: {reason}", "warn")
            self.main.paint()
            return
        try:
            doing = do(self)
        except (VbgError, OSError) as error:
            self.work.say(str(error).splitlines()[0], "error")
            doing = None
        except Exception as error:  # noqa: BLE001 - the document stays open
            self.broke(error)
            doing = None
        if inspect.iscoroutine(doing):
            self.ask_later(doing)
        self.main.paint()

    def refusal(self, action: Action) -> str:
        """Why an action cannot be done now; empty if it can."""
        refuse = handler(action)[1]
        return refuse(self) if refuse else ""

    def act_id(self, id: str) -> None:
        self.act(self.work.keymap.by_id(id))

    def try_number(self, row: FieldRow, new: object) -> None:
        """Set a number of the model, and run with it, unless another run is under way."""
        from vbg.tui.actions.model.nudging import try_number

        if self.job is None or self.work.nudges.running:
            try_number(self, row, new)
        else:
            self.work.say("a run is under way; x cancels it", "warn")

    def ask_later(self, doing: Coroutine[Any, Any, None]) -> None:
        """Go on with an action that may ask; keys typed ahead wait for its dialog."""
        self.asking += 1
        self.run_worker(self._asked(doing), group="asking")

    async def _asked(self, doing: Coroutine[Any, Any, None]) -> None:
        try:
            await self._told(lambda: doing)
        finally:
            self.asking -= 1
        self.main.paint()
        self.keyboard.go_on()

    def beside(self, doing: Work, group: str, *, exclusive: bool = False) -> Worker[None]:
        """Do something beside the keys, by the worker returned; what goes wrong is told.

        exclusive : instead of what is done in this group already.
        """
        work: Callable[[], Coroutine[Any, Any, None]] = partial(self._told, doing)
        return self.run_worker(work, group=group, exclusive=exclusive)

    async def _told(self, doing: Work) -> None:
        """Do it; an error is a line of text, whoever made it."""
        try:
            await doing()
        except (VbgError, OSError) as error:
            self.work.say(str(error).splitlines()[0], "error")
        except Exception as error:  # noqa: BLE001 - the document stays open
            self.broke(error)
        else:
            return
        self.main.paint()

    def broke(self, error: Exception) -> str:
        """An error of vbg's own that need not end it: a report, once for each, and a line that
        says so, which is the answer."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        kind = (type(error), trace and (trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        if kind not in self.broken:
            self.broken[kind] = write_report(error, self.work)
        words = f"an error of vbg's own, nothing is lost; report: {self.broken[kind]}"
        self.work.say(words, "error")
        return words

    async def dialog(self, screen: Screen) -> Any:
        """Push a dialog and wait for its answer; keys go to it once it is there."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def take(value: Any) -> None:
            if not answer.done():
                answer.set_result(value)

        self.push_screen(screen, take)
        return await answer

    async def ask(self, title: str, text: str, judge: Judge, *, about: str = "") -> str | None:
        return await self.dialog(Ask(title, text, judge, self.work.marks, about=about))

    async def choose(
        self,
        title: str,
        items: tuple[Item, ...],
        *,
        start: str = "",
        preview: Callable[[str], str] | None = None,
        picture: Callable[[str, int, int], Rows] | None = None,
    ) -> str | None:
        marks = self.work.marks
        dialog = Choose(title, items, marks, start=start, preview=preview, picture=picture)
        return await self.dialog(dialog)

    async def read(self, title: str, rows: Rows, *, keys: tuple[str, ...] = ()) -> str | None:
        return await self.dialog(Read(title, rows, self.work.marks, keys=keys))

    # the document

    def do(self, command: Command) -> None:
        """Apply an edit; the document tells everyone."""
        self.work.document.apply(command)

    def document_changed(self) -> None:
        """Paint and check the new text; once the typing rests, a run of it is likely."""
        work = self.work
        if self._warming is not None:
            self._warming.stop()
        self._warming = self.set_timer(WARM_SECONDS, self.warm_solver)
        while work.selection and not exists(work.data, work.selection):
            work.selection = work.selection[:-1]
        self.check()
        self.main.paint()

    def open_document(self, file: FilePath) -> None:
        """Leave the document that is open for the one in `file`."""
        from vbg.tui.tasks.starting import opened

        if self.work.document.journal is not None:
            self.work.document.journal.discard()
        fresh = opened(file, self.work.keymap, self.work.options)
        self.put_document(fresh.document)
        self.work.runs, self.work.validations = fresh.runs, fresh.validations
        self.work.stamp = fresh.stamp

    def put_document(self, document: Document) -> None:
        """Show another document."""
        work = self.work
        work.document.listeners.clear()
        if document.journal is None:
            document.journal = Journal.start(document.file, document.now.text)
        document.listeners.append(self.document_changed)
        work.document = document
        work.selection, work.field_index, work.filter = (), 0, ""
        work.checked, work.graph, work.backed_up, work.study = Checked(), None, False, None
        work.solutions.clear()
        work.shown.clear()
        work.motions.clear()
        work.bonds.clear()
        work.without_bonds.clear()
        self.document_changed()

    def check(self) -> None:
        """Check the text in the background, after a pause in the typing."""
        self.work.checking = True
        self.beside(self._check, "check", exclusive=True)

    async def _check(self) -> None:
        from vbg.tui.tasks.checking import check_text

        await asyncio.sleep(CHECK_DELAY if self.work.checked.text_hash else 0.0)
        now = self.work.document.now
        file = str(self.work.file or "model.toml")
        try:
            checked = await asyncio.to_thread(check_text, now.text, file, now.hash)
        except Exception as error:  # noqa: BLE001 - a model that breaks the check is no good one
            problem = Problem("error", "model", "it cannot be checked.", self.broke(error))
            checked = Checked(now.hash, (problem,))
        if checked.text_hash == self.work.document.now.hash:
            self.work.checked = checked
            self.work.checking = False
            if self.work.problem_index >= len(self.work.problems):
                self.work.problem_index = -1
            self.prepare_view(self.work.view)
            self.main.place()

    def select(self, path: Path) -> None:
        """Select a part everywhere."""
        if path != self.work.selection:
            self.work.selection = path
            self.work.field_index = 0
            self._mark_in_graph(path)
            self.main.paint("tree", "inspector", "graph", "problemline", "preview")

    def _mark_in_graph(self, path: Path) -> None:
        from vbg.tui.state import graphing

        graph = self.work.graph
        part = ".".join(map(str, path))
        if graph is not None and len(path) == 2 and graph.marked_part != part:
            self.work.graph = graphing.marked(graph, part)

    def go_to_problem(self, index: int) -> None:
        """Mark a problem, and the part and field it is about."""
        from vbg.tui.content.model.locating import place_of

        work = self.work
        work.problem_index = index
        problem = work.problems[index]
        path, row = place_of(work.data, problem.where)
        self.main.show_view("edit")
        if path or problem.where.startswith(("name", "gravity", "description")):
            self.select(path)
            work.field_index = row
            self.main.activate("inspector")
        work.say(f"{problem.where}: {problem.what} {problem.remedy}", "warn")
        self.main.paint()

    def prepare_view(self, view: str) -> None:
        """Bring what a view needs, in the background if it takes time."""
        from vbg.tui.tasks.preparing import prepare

        self.bringing = self.beside(partial(prepare, self, view), "prepare", exclusive=True)

    # runs

    def run_changed(self, run: Run) -> None:
        """A run has got on, or ended."""
        before = self.work.run(run.number)
        self.work.put_run(run)
        if before is None or before.state != run.state:
            self.main.paint()
        else:
            self.main.paint("status", "runs", "job", "log", "channels")

    def warm_solver(self) -> None:
        """Have the solver's process ready for the next run."""
        if self.job is None and not self.is_headless:
            self.beside(self.solver.warm, "solver", exclusive=True)

    def show_run(self, heard: int) -> None:
        """A run that takes a while is shown, unless a key was pressed since it was started."""
        idle = self.job is not None and self.keyboard.heard == heard
        if idle and self.front is self.main and self.work.view == "edit":
            self.main.show_view("run")

    async def _follow_run(self) -> None:
        """The curves of a run that grows."""
        work = self.work
        run = work.active_run
        wanted = run is not None and work.view in ("run", "plot", "edit")
        if run is not None and wanted and not work.live_paused and time.monotonic() > self._live:
            started = time.monotonic()
            await results.load(work, run)
            # a long result takes long to read: never more than a tenth of the time
            self._live = time.monotonic() + 9.0 * (time.monotonic() - started)
            self.main.paint("live", "curves", "cursor", "signals", "preview")

    # motion

    def animate_space(self) -> None:
        """Start or stop the frames of 3D."""
        if self._frames is not None:
            self._frames.stop()
            self._frames = None
        if self.work.space.playing:
            rate = SLOW_FRAMES if self.work.options.slow else FRAMES
            self._frame_time = time.monotonic()
            self._frames = self.set_interval(1.0 / rate, self._frame)

    def _frame(self) -> None:
        """The next frame: as far on as the clock, so that slow terminals skip."""
        now = time.monotonic()
        passed, self._frame_time = now - self._frame_time, now
        state, moving = self.work.space, results.shown_motion(self.work)
        if self.work.view not in ("space", "graph") or moving is None or not state.playing:
            self.work.space = replace(state, playing=False)
            self.animate_space()
            return
        end = float(moving.time[-1])
        at = state.time + passed * state.speed
        self.work.space = replace(state, time=min(at, end), playing=at < end)
        if self.work.view == "graph":
            self.work.plot = replace(self.work.plot, cursor=self.work.space.time)
        self.main.paint("space", "slider", "graph", "why")

    # watching, leaving, breaking

    def _watch_size(self) -> None:
        """A terminal that was resized while vbg started tells it only once, too early."""
        if self.is_headless or sys.__stderr__ is None:
            return
        width, height = os.get_terminal_size(sys.__stderr__.fileno())
        if (width, height) != self.main.extent:
            size = Size(width, height)
            self.main.post_message(events.Resize(size, size))

    def _watch_file(self) -> None:
        work = self.work
        if work.file is None or self.asking or self.front is not self.main:
            return
        if files.stamp(work.file) != work.stamp:
            from vbg.tui.actions.general import file_changed

            self.ask_later(file_changed(self))

    async def leave(self) -> None:
        """Leave; nothing unsaved is left behind, and no child."""
        self.solver.drop()
        for job in self.endings:
            if job.ending is not None:
                await job.ending
        if self.work.document.journal is not None:
            self.work.document.journal.discard()
        self.exit(0)

    async def action_quit(self) -> None:
        """The library's own way to ask for the end."""
        self.act_id("quit")

    def _resumed(self, _: App[int]) -> None:
        """Back from the shell: the terminal shows nothing of ours any more."""
        self.refresh(repaint=True, layout=True)

    def _recolour(self, theme: Theme) -> None:
        self._take_colours(theme)
        for pane in self.main.panes.values():
            pane.refresh()

    def _take_colours(self, theme: Theme) -> None:
        variables = theme.to_color_system().generate()
        self.words = style_words(variables, dark=theme.dark)

    def _handle_exception(self, error: Exception) -> None:
        """An error nobody expected: the journal is closed, a report written."""
        if self.report is None:
            journal = self.work.document.journal
            if journal is not None:
                journal.close()
            self.report = write_report(error, self.work)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Leave without a page of traceback: the report has it, without the model's values."""
        self._close_messages_no_wait()
