"""The one-line field of the dialogs: keys done at once, in the order in which they are typed."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import Input

_EDITS: dict[str, Callable[[Input], None]] = {
    "left": Input.action_cursor_left,
    "right": Input.action_cursor_right,
    "home": Input.action_home,
    "ctrl+a": Input.action_home,
    "end": Input.action_end,
    "ctrl+e": Input.action_end,
    "ctrl+left": Input.action_cursor_left_word,
    "ctrl+right": Input.action_cursor_right_word,
    "shift+left": lambda field: field.action_cursor_left(select=True),
    "shift+right": lambda field: field.action_cursor_right(select=True),
    "shift+home": lambda field: field.action_home(select=True),
    "shift+end": lambda field: field.action_end(select=True),
    "backspace": Input.action_delete_left,
    "delete": Input.action_delete_right,
    "ctrl+d": Input.action_delete_right,
    "ctrl+w": Input.action_delete_left_word,
    "ctrl+f": Input.action_delete_right_word,
    "ctrl+u": Input.action_delete_left_all,
    "ctrl+k": Input.action_delete_right_all,
    "ctrl+x": Input.action_cut,
    "ctrl+c": Input.action_copy,
    "ctrl+v": Input.action_paste,
}


def edit(field: Input, event: events.Key) -> bool:
    """Do a key that edits; whether it was one."""
    if event.is_printable and event.character:
        insert(field, event.character)
        return True
    doing = _EDITS.get(event.key)
    if doing is not None:
        doing(field)
    return doing is not None


def insert(field: Input, text: str) -> None:
    """`text` at the cursor, or in the place of what is selected."""
    if field.selection.is_empty:
        field.insert_text_at_cursor(text)
    else:
        field.replace(text, *sorted(field.selection))
