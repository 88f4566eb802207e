"""The one table of keys: footer, help, palette and the keymap file come from it.

An action is named once, with its keys, where it holds, what the footer and
the help say.  ``keymap.toml`` in the configuration folder gives other keys by
the action's name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

VIEWS = ("edit", "graph", "run", "plot", "validate", "space")
VIEW_TITLES = {
    "edit": "Edit",
    "graph": "Graph",
    "run": "Run",
    "plot": "Plot",
    "validate": "Validate",
    "space": "3D",
}

# Keys that many terminals do not send, or that tmux, screen or the line discipline take.
BANNED = frozenset(
    {
        "ctrl+enter",
        "shift+enter",
        "ctrl+i",
        "ctrl+m",
        "ctrl+h",
        "ctrl+j",
        "ctrl+left_square_bracket",
    }
    | {"ctrl+b", "ctrl+a", "ctrl+space", "ctrl+at"}
)


WRITTEN = frozenset({"source"})  # panes in which a printed key writes
# views of what is read, drawn or judged beside the keys
BROUGHT = frozenset({"graph", "plot", "validate", "space"})
_ABOUT = frozenset({"move", "enter", "copy", "export"})  # groups of actions on what is shown


@dataclass(frozen=True, slots=True)
class Action:
    """What a key does.

    scope : "" everywhere, a view's name, or "pane:NAME";  footer : rank in the
    footer of its scope, 0 for not shown;  keys : as Textual names them, two
    with a blank between for one after the other.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    scope: str = ""
    footer: int = 0


def _action(id: str, keys: str, label: str, help: str, scope: str = "", footer: int = 0) -> Action:
    return Action(id, tuple(filter(None, keys.split("|"))), label, help, scope, footer)


_EVERYWHERE = (
    *(
        _action(f"view.{name}", str(i), VIEW_TITLES[name], f"the view {VIEW_TITLES[name]}")
        for i, name in enumerate(VIEWS, 1)
    ),
    _action("pane.next", "tab", "Next pane", "go to the next pane"),
    _action("pane.previous", "shift+tab", "Previous pane", "go to the previous pane"),
    _action("move.up", "up|k", "Up", "move up"),
    _action("move.down", "down|j", "Down", "move down"),
    _action("move.left", "left|h", "Left", "move left, or close"),
    _action("move.right", "right|l", "Right", "move right, or open"),
    _action("move.page_up", "pageup", "Page up", "move a page up"),
    _action("move.page_down", "pagedown", "Page down", "move a page down"),
    _action("move.first", "home|g g", "First", "go to the first"),
    _action("move.last", "end|G", "Last", "go to the last"),
    _action("enter", "enter", "Open", "open, edit or choose what is marked"),
    _action("back", "escape", "Back", "close or go back; never quits"),
    _action("undo", "u", "Undo", "take back the last edit", "", 40),
    _action("redo", "ctrl+r|ctrl+y", "Redo", "do again what was taken back"),
    _action("history", "", "History", "all edits; choose one to go there"),
    _action("save", "ctrl+s", "Save", "write the model file"),
    _action("save.as", "", "Save as", "write the model under another name"),
    _action("new", "ctrl+n", "New", "a new model from a template"),
    _action("open", "", "Open file", "another model file"),
    _action("editor", "ctrl+e", "Editor", "open the text in $EDITOR at the marked line"),
    _action("run", "r|f5", "Run", "simulate with the bond graph", "", 45),
    _action("run.mstmm", "", "Run MSTMM", "simulate with the transfer-matrix solver (MSTMM)"),
    _action("study", "M", "Study", "a measure as a map over two parameters, or made smallest"),
    _action("nudge.less", "<", "Less", "the marked number a little smaller, and run with it"),
    _action("nudge.more", ">", "More", "the marked number a little larger, and run with it"),
    _action("cancel", "x", "Cancel", "stop the run; its result so far is kept"),
    _action(
        "why",
        "w",
        "Why",
        "explain the marked part's causality, a joint force at the cursor, or the verdict",
        "",
        50,
    ),
    _action("problem.next", "]", "Next problem", "go to the next problem"),
    _action("problem.previous", "[", "Previous problem", "go to the previous problem"),
    _action("problem.show", "!", "Problem", "the whole problem, its fixes by number"),
    _action("filter", "/", "Filter", "show only names that contain a text"),
    _action("filter.next", "n", "Next hit", "go to the next row that the filter finds"),
    _action("zoom", "z", "Zoom", "this pane alone, or all", "", 60),
    _action("export", "E", "Export", "write what is seen to a file"),
    _action("picture", "I", "Picture", "the view in pixels: kitty's protocol, sixel"),
    _action("jump", "ctrl+o", "Jump", "letters on panes and views; press one to go there"),
    _action("palette", "ctrl+p|:", "palette", "all commands by name"),
    _action("theme", "", "Theme", "choose the colours"),
    _action("copy", "y", "Copy", "what is marked, as text, to the clipboard"),
    _action("redraw", "ctrl+l", "Redraw", "paint the whole screen again"),
    _action("suspend", "ctrl+z", "Suspend", "leave vbg for the shell; fg comes back"),
    _action("help", "?|f1", "Help", "the keys of this pane"),
    _action("quit", "ctrl+q", "Quit", "leave vbg"),
)

_EDIT = (
    _action("sweep", "S", "Sweep", "runs with several values of the marked number", "edit", 70),
    _action("add", "a", "Add", "add a part", "edit", 10),
    _action("add.body", "a b", "body", "a rigid body", "edit"),
    _action("add.frame", "a a", "frame", "axes at a place on a body", "edit"),
    _action("add.solid", "a l", "link", "a link, box, cylinder ... by its dimensions", "edit"),
    _action("add.joint", "a j", "joint", "a joint, a coupling", "edit"),
    _action("add.force", "a f", "force", "spring, damper, force, stop", "edit"),
    _action("add.on", "a m", "motor", "a motor, spring or cylinder on a joint", "edit"),
    _action("add.electric", "a e", "electric", "an electric part", "edit"),
    _action("add.hydraulic", "a h", "hydraulic", "a hydraulic part", "edit"),
    _action("add.rotational", "a r", "rotational", "a one-dimensional rotating part", "edit"),
    _action("add.translational", "a t", "translational", "a one-dimensional sliding part", "edit"),
    _action("add.signal", "a s", "signal", "a source or a feedback signal", "edit"),
    _action("add.vertex", "a v", "vertex", "a raw bond-graph vertex", "edit"),
    _action("add.fmu", "a u", "unit", "a unit of another program: .fmu", "edit"),
    _action("add.beam", "a n", "beam", "an elastic beam", "edit"),
    _action("add.parameter", "a p", "parameter", "a parameter", "edit"),
    _action("add.measure", "a q", "measure", "what a run is to answer", "edit"),
    _action("edit.field", "e", "Edit", "edit the marked field", "edit", 20),
    _action("edit.delete", "d|delete", "Del", "delete the marked part or field", "edit", 30),
    _action("edit.rename", "R|f2", "Rename", "rename the part, and what refers to it", "edit"),
    _action("edit.copy", "c", "Copy", "add a copy of the marked part", "edit"),
    _action("linkage", "L", "Linkage", "enter a topology pair by pair, drawn as it grows", "edit"),
    _action("edit.text", "t", "Text", "write in the text of the file, beside the tree", "edit", 25),
    _action(
        "source.complete",
        "tab",
        "Complete",
        "the keys, kinds, names or units that fit here",
        "pane:source",
        5,
    ),
    _action("source.leave", "escape", "Back", "back to the tree", "pane:source", 7),
    _action("source.undo", "ctrl+z", "Undo", "take back the last edit", "pane:source", 6),
)

_GRAPH = (
    _action("graph.in", "+|=", "Zoom in", "wider labels", "graph", 20),
    _action("graph.out", "-", "Zoom out", "shorter labels", "graph", 21),
    _action(
        "graph.open",
        "o",
        "Open part",
        "show the inside of the marked part, or close it",
        "graph",
        10,
    ),
    _action("graph.all", "O", "Open all", "show the inside of all parts, or of none", "graph", 15),
    _action("graph.next", "c", "Conflict", "go to the next conflict or loop", "graph", 30),
    _action("graph.goto", "e", "Go to part", "the marked part in Edit", "graph", 35),
    _action(
        "powers.play",
        "space",
        "Play",
        "effort, flow and power in the bonds as time goes",
        "graph",
        8,
    ),
    _action("powers.back", ",", "Back", "the powers a step before", "graph"),
    _action("powers.step", ".", "Step", "the powers a step on", "graph"),
    _action("graph.fixes", "f", "Fixes", "the fixes of the marked conflict, by number", "graph", 5),
)

_RUN = (
    _action("run.cancel", "x", "Cancel", "stop the run; its result so far is kept", "run", 5),
    _action("run.plot", "p", "Plot it", "plot the marked run", "run", 10),
    _action(
        "run.other", "m", "Run MSTMM", "simulate with the transfer-matrix solver (MSTMM)", "run", 15
    ),
    _action("sweep.table", "T", "Table", "all runs with the ranges of Plot's curves", "run", 26),
    _action("run.delete", "d|delete", "Forget", "remove the marked run and its file", "run", 20),
    _action(
        "runs.pin", "b", "Baseline", "all later runs are seen against the marked one", "run", 22
    ),
    _action("runs.note", "n", "Note", "your words on the marked run", "run", 23),
    _action("runs.open", "O", "Open result", "a result of elsewhere: .h5, .csv, .json", "run", 24),
    _action("run.pause", "s", "Pause live", "stop or go on with the live curve", "run", 25),
)

_PLOT = (
    _action("plot.toggle", "space", "Toggle", "show the marked signal, or not", "plot", 5),
    _action("plot.clear", "C", "Clear", "show no signal", "plot"),
    _action("plot.in", "+|=", "Zoom", "zoom in about the cursor", "plot", 10),
    _action("plot.out", "-", "Out", "zoom out", "plot", 11),
    _action("plot.fit", "0", "Fit", "the whole time", "plot", 12),
    _action("plot.split", "S", "Split", "one pane per unit, or one with two axes", "plot", 20),
    _action("plot.x", "X", "Versus", "the marked signal on the x axis, or time again", "plot", 22),
    _action("plot.overlay", "o", "Overlay", "compare with another run, dashed", "plot", 25),
    _action(
        "plot.rank", "D", "Differences", "signals by their difference to the run behind", "plot", 27
    ),
    _action(
        "plot.energy", "e", "Energy", "what each part supplied and took up in sight", "plot", 28
    ),
    _action("live.toggle", "L", "Live", "numbers of the model on sliders, run at once", "plot", 13),
    _action("plot.run", "R", "Run", "choose the run that is shown", "plot"),
    _action("plot.peak", "P", "Peak", "the cursor to the largest value in sight", "plot"),
    _action("plot.space", "v", "3D here", "the machine at the cursor's time", "plot"),
)

_VALIDATE = (
    _action("validate.events", "v", "Events", "leave out the windows about events", "validate", 5),
    _action("validate.tolerance", "t", "Tolerance", "the tolerance of the verdict", "validate", 10),
    _action("validate.rerun", "R", "Re-run", "run both solvers, then compare", "validate", 2),
    _action(
        "validate.worst", "g w", "Worst time", "3D at the worst time of the channel", "validate"
    ),
    _action("validate.goto", "e", "Go to joint", "the joint in Edit", "validate", 30),
)

_SPACE = (
    _action("space.play", "space", "Play", "play or stop", "space", 5),
    _action("space.back", ",|<", "Back", "a step back", "space", 10),
    _action("space.step", ".|>", "Step", "a step on", "space", 11),
    _action("space.in", "+|=", "Zoom", "closer", "space", 15),
    _action("space.out", "-", "Out", "farther", "space", 16),
    _action("space.fit", "0", "Fit", "everything in sight", "space", 17),
    _action("space.forces", "f", "Forces", "joint forces as arrows", "space", 20),
    _action("space.trace", "t", "Trace", "the path of the marked body, its points", "space", 25),
    _action(
        "space.look",
        "d",
        "Shade",
        "solids as lines, as shaded dots, in shaded colours",
        "space",
        22,
    ),
    _action("space.cut", "c", "Cut", "solids cut open at the marked body", "space", 23),
    _action("space.ghosts", "b", "Ghosts", "other postures of the run behind", "space", 24),
    _action("space.iso", "i", "View", "oblique, front, side, top", "space", 30),
    _action("space.slower", "s", "Slower", "half the speed", "space"),
    _action("space.faster", "S", "Faster", "twice the speed", "space"),
)

TABLE: tuple[Action, ...] = (*_EVERYWHERE, *_EDIT, *_GRAPH, *_RUN, *_PLOT, *_VALIDATE, *_SPACE)

_SHOWN = {
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "tab": "Tab",
    "shift+tab": "S-Tab",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "delete": "Del",
}


def is_about(action: Action, view: str) -> bool:
    """Whether an action is about what `view` shows, where that has to be brought."""
    about = action.scope == view or action.id.partition(".")[0] in _ABOUT
    return about and view in BROUGHT


def is_of_check(action: Action, view: str) -> bool:
    """Whether what an action does in `view` hangs on the check of the text."""
    # Plot shows runs whatever the text is
    return action.id.startswith("problem.") or (is_about(action, view) and view != "plot")


def canonical(key: str, character: str | None) -> str:
    """The table's name of a key: the character itself where it prints one."""
    if character is not None and character.isprintable() and character != " ":
        return character
    return key


def shown(key: str) -> str:
    """How a key is printed: ^s, F5, Esc, a b."""
    if " " in key and len(key) > 1:
        return "".join(shown(part) for part in key.split(" "))
    if key.startswith("ctrl+"):
        return "^" + key[5:]
    if len(key) > 1 and key[0] == "f" and key[1:].isdigit():
        return key.upper()
    return _SHOWN.get(key, key)


@dataclass(frozen=True)
class Keymap:
    """The actions with the keys in force, and what was wrong in the keymap file."""

    actions: tuple[Action, ...] = TABLE
    complaints: tuple[str, ...] = ()

    def find(self, key: str, view: str, pane: str) -> Action | None:
        """The action of `key` in this view and pane: the narrowest scope wins."""
        for scope in (f"pane:{pane}", view, ""):
            for action in self.actions:
                if action.scope == scope and key in action.keys:
                    return action
        return None

    def continues(self, prefix: str, view: str, pane: str) -> tuple[Action, ...]:
        """The actions whose keys go on after `prefix`."""
        scopes = ("", view, f"pane:{pane}")
        return tuple(
            action
            for action in self.actions
            if action.scope in scopes and any(k.startswith(prefix + " ") for k in action.keys)
        )

    def here(self, view: str, pane: str) -> tuple[Action, ...]:
        """All actions that hold in this view and pane, the narrowest first."""
        return tuple(
            action
            for scope in (f"pane:{pane}", view, "")
            for action in self.actions
            if action.scope == scope
        )

    def by_id(self, id: str) -> Action:
        return next(action for action in self.actions if action.id == id)


def read_keymap(file: Path) -> Keymap:
    """The keymap with the user's keys; what is wrong in the file is left out and told."""
    try:
        wanted = tomllib.loads(file.read_text("utf-8")).get("keys", {})
    except FileNotFoundError:
        return Keymap()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        return Keymap(complaints=(f"{file}: {error}; the built-in keys are used.",))
    if not isinstance(wanted, Mapping):
        return Keymap(complaints=(f"{file}: [keys] is not a table; the built-in keys are used.",))
    actions, complaints = list(TABLE), []
    index = {action.id: i for i, action in enumerate(TABLE)}
    for id, keys in wanted.items():
        keys = [keys] if isinstance(keys, str) else keys
        bad = _refused(id, keys, index)
        if bad:
            complaints.append(f"{file.name}: {bad}")
            continue
        actions[index[id]] = replace(TABLE[index[id]], keys=tuple(keys))
    return Keymap(tuple(actions), tuple(complaints))


def _refused(id: str, keys: object, index: Mapping[str, int]) -> str:
    """Why this line of a keymap file cannot be used; empty if it can."""
    if id not in index:
        return f"there is no action {id!r}; `vbg tui --keys` lists them."
    if not (isinstance(keys, list) and all(isinstance(key, str) and key for key in keys)):
        return f"{id}: expected a key or a list of keys."
    for key in keys:
        if is_banned(key):
            return f"{id}: {key} does not reach programs in many terminals."
    return ""


def is_banned(key: str) -> bool:
    """Whether a key is one that terminals do not deliver reliably."""
    parts = key.split(" ")
    return any(p in BANNED or p.startswith(("alt+", "super+", "hyper+")) for p in parts)


def footer_entries(keymap: Keymap, view: str, pane: str) -> tuple[Action, ...]:
    """What the footer shows, most important first."""
    seen: set[str] = set()
    entries = []
    for action in sorted(keymap.here(view, pane), key=lambda a: a.footer):
        if pane in WRITTEN and action.keys and len(action.keys[0]) == 1:
            continue  # this key writes itself
        if action.footer and action.keys and action.keys[0] not in seen:
            entries.append(action)
            seen.update(action.keys)
    return tuple(entries)
