"""What is open: the document, the selection, the runs, and what is seen of them.

The one value that all panes read.  It knows nothing of the screen; whoever
changes it tells the screen to paint again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vbg.draw.text.marks import UNICODE, Marks
from vbg.errors import Problem
from vbg.tui.session.kept.document import Document
from vbg.tui.session.kept.files import Stamp
from vbg.tui.session.runs import Run
from vbg.tui.session.solving.study import Study
from vbg.tui.session.validation import Settings, Validation
from vbg.tui.state.keys import Keymap

if TYPE_CHECKING:
    from vbg.display import Display
    from vbg.model import Model
    from vbg.solution import Solution
    from vbg.tui.state.bonds import Kept
    from vbg.tui.state.graphing import GraphState
    from vbg.tui.state.motion import Motion
    from vbg.validate.comparison.values import Verdict

Path = tuple[str | int, ...]
Look = Literal["lines", "dots", "colour"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks found for one text; `model` is None if it has errors."""

    text_hash: str = ""
    problems: tuple[Problem, ...] = ()
    model: Model | None = None

    def count(self, severity: str) -> int:
        return sum(1 for problem in self.problems if problem.severity == severity)


@dataclass(frozen=True, slots=True)
class PlotState:
    """What Plot shows: run and overlay by number, signals by name (components
    with their index), over the signal `x` or over time, window of time [s], cursor [s].
    ghost : the overlay follows by itself;  ranked : signals by their difference to it;
    cleared : that no signal is shown was asked for."""

    run: int = 0
    overlay: int = 0
    signals: tuple[str, ...] = ()
    window: tuple[float, float] | None = None
    cursor: float | None = None
    split: bool = False
    x: str = ""
    ghost: bool = True
    ranked: bool = False
    cleared: bool = False


@dataclass(frozen=True, slots=True)
class ValidateState:
    """The validation that is shown with its verdict, and the settings for the next one."""

    shown: Validation | None = None
    verdict: Verdict | None = None
    settings: Settings = field(default_factory=Settings)
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class SpaceState:
    """What 3D shows: time [s], angles of the viewer [rad], zoom factor, how solids look, whether
    they are cut open, whether other postures of the run stand behind."""

    time: float = 0.0
    azimuth: float = -1.05
    elevation: float = 0.43
    zoom: float = 1.0
    playing: bool = False
    speed: float = 1.0
    forces: bool = True
    trace: str = ""
    run: int = 0
    look: Look = "lines"
    cut: bool = False
    ghosts: bool = False


@dataclass(frozen=True, slots=True)
class Nudges:
    """A number that is changed step by step: where, what it was, where in the history the last
    step is, the run of that step, and whether a run is wanted once the present one has ended."""

    where: str = ""
    before: str = ""
    position: int = -1
    run: int = 0
    running: bool = False
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """How vbg was started."""

    marks: Marks = UNICODE
    slow: bool = False
    no_color: bool = False
    theme: str = "vbg-dark"
    pictures: bool = True


class Shown(NamedTuple):
    """A solution in the units of [display]: `solution` as it was read, and as it is `seen`."""

    solution: Solution
    display: Display
    seen: Solution


@dataclass
class Workspace:
    """Everything that is open."""

    document: Document
    keymap: Keymap
    options: Options = field(default_factory=Options)
    view: str = "edit"
    selection: Path = ()
    field_index: int = 0
    folded: frozenset[str] = frozenset()
    filter: str = ""
    texted: bool = False  # the text of the file stands beside the tree
    checked: Checked = field(default_factory=Checked)
    checking: bool = True
    problem_index: int = -1
    runs: tuple[Run, ...] = ()
    run_index: int = -1
    validations: tuple[Validation, ...] = ()
    solutions: dict[int, Solution] = field(default_factory=dict)
    shown: dict[int, Shown] = field(default_factory=dict)
    motions: dict[int, Motion] = field(default_factory=dict)
    bonds: dict[int, Kept] = field(default_factory=dict)
    without_bonds: dict[int, str] = field(default_factory=dict)  # runs, and why they have none
    plot: PlotState = field(default_factory=PlotState)
    sliding: bool = False  # numbers of the model stand on sliders below the curves
    signal_index: int = 0
    signal_filter: str = ""
    validate: ValidateState = field(default_factory=ValidateState)
    channel_index: int = 0
    space: SpaceState = field(default_factory=SpaceState)
    graph: GraphState | None = None
    live_paused: bool = False
    # the model of the last run, of which the next one says what changed
    last_model: Mapping[str, Any] | None = None
    nudges: Nudges = field(default_factory=Nudges)
    study: Study | None = None
    message: str = ""
    message_style: str = ""
    stamp: Stamp = field(default_factory=Stamp)
    backed_up: bool = False
    # answers given for parts that were left with Esc, by table and kind
    drafts: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    @property
    def data(self) -> Mapping[str, Any]:
        return self.document.now.data

    @property
    def file(self) -> FilePath | None:
        return self.document.file

    @property
    def marks(self) -> Marks:
        return self.options.marks

    @property
    def part_name(self) -> str:
        """The name of the selected part, "" for headings and settings."""
        return str(self.selection[1]) if len(self.selection) > 1 else ""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong or doubtful: of the text, and what a run of it said of its start."""
        broken = self.document.now.broken
        if broken:
            return (broken,)
        found, known = self.checked, {(p.where, p.what) for p in self.checked.problems}
        of_it = (r for r in reversed(self.runs) if r.text_hash == found.text_hash)
        run = next((r for r in of_it if r.solver == "vbg" and not r.active), None)
        told = run.problems if run is not None else ()
        return (*found.problems, *(p for p in told if (p.where, p.what) not in known))

    @property
    def active_run(self) -> Run | None:
        """The run that is under way; of two, the marked one."""
        marked = self.marked_run
        if marked is not None and marked.active:
            return marked
        return next((run for run in reversed(self.runs) if run.active), None)

    def run(self, number: int) -> Run | None:
        return next((run for run in self.runs if run.number == number), None)

    @property
    def marked_run(self) -> Run | None:
        """The run marked in the list; by default the newest."""
        if not self.runs:
            return None
        index = self.run_index if -len(self.runs) <= self.run_index < len(self.runs) else -1
        return self.runs[index]

    def say(self, text: str, style: str = "") -> None:
        """Show one line until the next thing happens."""
        self.message, self.message_style = text, style

    def put_validation(self, validation: Validation) -> None:
        """Replace the validation of the same number, or add it."""
        others = tuple(v for v in self.validations if v.number != validation.number)
        self.validations = tuple(sorted((*others, validation), key=lambda v: v.number))

    def put_run(self, run: Run) -> None:
        """Replace the run of the same number, or add it."""
        if self.run(run.number) is None:
            self.runs = (*self.runs, run)
            self.run_index = len(self.runs) - 1
        else:
            self.runs = tuple(run if r.number == run.number else r for r in self.runs)


def clock() -> float:
    """Seconds since the epoch; one place, so that tests can fix it."""
    return time.time()
