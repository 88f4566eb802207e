"""The application with a model open, as the command line asks for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from textual.constants import DISABLE_KITTY_KEY

from vbg.draw.text.marks import choose
from vbg.errors import UsageError
from vbg.tui.app import VbgApp
from vbg.tui.content.style import DEFAULT_THEME
from vbg.tui.session.kept.folders import config_folder
from vbg.tui.session.kept.settings import kept
from vbg.tui.state.keys import read_keymap
from vbg.tui.state.workspace import Options
from vbg.tui.tasks.starting import opened

if TYPE_CHECKING:
    from textual.driver import Driver


def make_app(
    path: str | None = None, *, marks: str = "", theme: str = "", pictures: bool = True
) -> VbgApp:
    """The application with `path` open, ready to run.

    Raises
    ------
    UsageError
        there is no such file, or it is not text.
    """
    if path is not None and not Path(path).is_file():
        raise UsageError(f"{path}: no such file. `vbg tui` without a file starts a new model.")
    options = Options(
        marks=choose(marks or _marks_of_terminal()),
        slow="SSH_CONNECTION" in os.environ,
        no_color="NO_COLOR" in os.environ,
        theme=theme or os.environ.get("VBG_THEME") or kept("theme") or DEFAULT_THEME,
        pictures=pictures,
    )
    keymap = read_keymap(config_folder() / "keymap.toml")
    work = opened(Path(path) if path is not None else None, keymap, options)
    app = VbgApp(work, _driver())
    if theme and theme not in app.available_themes:
        raise UsageError(
            f"--theme {theme}: there is no such theme; there are"
            f" {', '.join(sorted(app.available_themes))}."
        )
    return app


def _driver() -> type[Driver] | None:
    """Our own way to read keys, on systems and with versions of the library that it is made for;
    None for the library's."""
    try:
        from vbg.tui.driver import TypingDriver
    except ImportError:
        return None
    return None if DISABLE_KITTY_KEY else TypingDriver


def _marks_of_terminal() -> str:
    """ASCII where the locale cannot write anything else; blocks on the Linux console."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding not in ("utf8", "utf16", "utf32"):
        return "ascii"
    return "ascii" if os.environ.get("TERM") in ("linux", "dumb") else "unicode"
