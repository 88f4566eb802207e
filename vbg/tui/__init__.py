"""The terminal interface: `vbg tui`.

Nothing is imported here before `run` is called, so that the command line can
list this verb without loading a terminal library.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.tui.app import VbgApp

# s; a key goes through three threads, and waits this long for each while a model is checked
_TURN = 0.0005


def run(
    path: str | None = None,
    *,
    marks: str = "",
    theme: str = "",
    mouse: bool = True,
    pictures: bool = True,
) -> int:
    """Open `path` in the terminal interface; the exit code.

    marks : "unicode", "block" or "ascii"; by default by the terminal.
    theme : name of a colour theme;  pictures : whether pictures in pixels may be asked for.

    Raises
    ------
    UsageError
        there is no such file, or no terminal to draw on.
    """
    if not sys.stderr.isatty() or not sys.stdin.isatty():
        raise UsageError(
            "vbg tui draws on the terminal through standard error and reads from standard input;"
            " one of them is redirected (2>file, a pipe). Start it without the redirection."
        )
    app = make_app(path, marks=marks, theme=theme, pictures=pictures)
    sys.setswitchinterval(_TURN)
    code = app.run(mouse=mouse)
    if app.report is not None:
        print(f"vbg stopped on an error of its own; report: {app.report}", file=sys.stderr)
        print("Your edits are in the journal and are offered at the next start.", file=sys.stderr)
        return 70
    return code or 0


def screenshot(
    path: str | None, view: str, output: str, *, size: str = "", marks: str = "", theme: str = ""
) -> int:
    """Write what `view` of `path` looks like to `output`, .svg or .txt, with no terminal.

    size : columns and rows, "160x48".

    Raises
    ------
    UsageError
        there is no such view, or the size or the name of the output is not one.
    """
    from vbg.tui.picturing import take

    return take(path, view, output, size=size, marks=marks, theme=theme)


def key_list() -> str:
    """All actions by name with their keys, as the keymap file may change them."""
    from vbg.tui.session.kept.folders import config_folder
    from vbg.tui.state.keys import read_keymap

    file = config_folder() / "keymap.toml"
    rows = [
        f"{action.id:22} {', '.join(action.keys) or '-':20} {action.help}"
        for action in read_keymap(file).actions
    ]
    head = f'Other keys in {file}, as in:  [keys]  "edit.delete" = ["d", "backspace"]'
    return "\n".join([head, "", *rows])


def make_app(
    path: str | None = None, *, marks: str = "", theme: str = "", pictures: bool = True
) -> VbgApp:
    """The application with `path` open, ready to run.

    Raises
    ------
    UsageError
        there is no such file, or it is not text.
    """
    from vbg.tui import opening

    return opening.make_app(path, marks=marks, theme=theme, pictures=pictures)
