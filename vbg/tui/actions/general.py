"""Files, help, palette, themes, leaving."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.draw.text.rows import Rows, printable
from vbg.edit import source
from vbg.edit.commands import ReplaceText
from vbg.errors import UsageError
from vbg.tui.actions import Handler, Refusal, handler
from vbg.tui.content import helping
from vbg.tui.content.sketching import sketch
from vbg.tui.session.kept import files, settings, templates
from vbg.tui.state.items import Item
from vbg.tui.state.keys import shown

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


async def _save(app: Desk) -> None:
    if app.work.file is None:
        await _save_as(app)
    else:
        write(app, app.work.file)


def write(app: Desk, file: Path) -> None:
    """Write the text to `file`, whole, and say so."""
    work = app.work
    files.save(file, work.document.now.text, keep_old=not work.backed_up)
    work.backed_up = True
    work.document.mark_saved(file)
    work.stamp = files.stamp(file)
    work.say(f"saved {file}", "ok")


async def _save_as(app: Desk) -> None:
    name = str(app.work.data.get("name", "model")) + ".toml"
    old = str(app.work.file) if app.work.file else name

    def judge(text: str) -> tuple[str, bool]:
        if not text.strip() or Path(text).expanduser().is_dir():
            return "a file name is needed", False
        path = _model_file(text)
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}", False
        there = path.exists() and path != app.work.file
        return (f"{path} exists and will be replaced" if there else ""), True

    text = await app.ask("Save as", old, judge)
    if text is not None:
        write(app, _model_file(text))


def _model_file(text: str) -> Path:
    """The file that a typed name means: a model's ends in .toml unless it says otherwise."""
    path = Path(text.strip()).expanduser()
    return path if path.suffix else path.with_name(f"{path.name}.toml")


async def _new(app: Desk) -> None:
    """A template, a name; then it is open in Edit."""
    found = templates.templates()
    items = tuple(Item(t.name, t.name, t.description) for t in found)
    by_name = {t.name: t for t in found}
    chosen = await app.choose(
        "New from template",
        items,
        preview=lambda name: by_name[name].description,
        picture=lambda name, width, height: sketch(
            by_name[name].text, str(by_name[name].file), width, height, app.work.marks
        ),
    )
    if chosen is None:
        if not app.work.document.undo_label and app.work.file is None:
            app.work.say(templates.FIRST, "focus")
        return
    template = by_name[chosen]

    def judge(text: str) -> tuple[str, bool]:
        if not text.strip() or Path(text).expanduser().is_dir():
            return "a file name is needed", False
        path = _model_file(text)
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}", False
        return (f"{path} exists: choose another name", False) if path.exists() else ("", True)

    text = await app.ask(
        "File name", templates.free_file(template.stem), judge, about=template.description
    )
    if text is None or not await leave_document(app):
        return
    path = _model_file(text)
    templates.place(template, path)
    app.open_document(path)
    app.main.show_view("edit")
    app.work.say(templates.FIRST if chosen == templates.EMPTY else "r runs it, ? helps", "focus")


async def _open(app: Desk) -> None:
    def judge(text: str) -> tuple[str, bool]:
        fine = Path(text).expanduser().is_file()
        return ("", True) if fine else ("there is no such file", False)

    text = await app.ask("Open", "", judge, about="path of a model file")
    if text is not None and await leave_document(app):
        app.open_document(Path(text).expanduser())


async def leave_document(app: Desk) -> bool:
    """Whether the document may be left: saved, given up, or unchanged."""
    document = app.work.document
    if not document.dirty:
        return True
    count = document.unsaved
    answer = await app.choose(
        f"{count} edit{'s' * (count != 1)} not saved",
        (
            Item("save", "save"),
            Item("drop", "leave without saving"),
            Item("stay", "stay"),
        ),
    )
    if answer == "save":
        await _save(app)
        return not app.work.document.dirty
    return answer == "drop"


def _left(app: Desk) -> str:
    both = app.job is not None and app.job.both
    return "a validation keeps no partial runs" if both else "its result so far is kept"


async def _quit(app: Desk) -> None:
    if app.job is not None:
        answer = await app.choose(
            "A simulation is running",
            (Item("stop", "stop it and leave", _left(app)), Item("stay", "stay")),
        )
        if answer != "stop":
            return
    if not await leave_document(app):
        return
    if app.job is not None:
        await app.job.cancel()
    await app.leave()


async def _editor(app: Desk) -> None:
    """The text in the user's editor, at the line of the selection; one undo step."""
    work = app.work
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    words = shlex.split(command)
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"the editor {command!r} was not found; set EDITOR.")
    broken = work.document.now.broken
    text = work.document.now.text
    line = broken.line if broken else source.line_of(text, work.selection) if work.selection else 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (work.file.name if work.file else "model.toml")
        path.write_text(text, encoding="utf-8", newline="")
        with app.suspend():
            subprocess.run([*words, *_at_line(words[0], line), str(path)], check=False)
        changed = path.read_bytes().decode("utf-8", errors="replace")
    if changed != text:
        app.do(ReplaceText(changed, "edit in the editor"))


def _at_line(editor: str, line: int) -> list[str]:
    """How the common editors are told a line."""
    known = ("vi", "vim", "nvim", "nano", "emacs", "ed", "kak", "micro", "joe", "mg")
    return [f"+{line}"] if Path(editor).name in known else []


async def file_changed(app: Desk) -> None:
    """The file on disk is another one now: take it, or ask if both changed."""
    work = app.work
    assert work.file is not None
    work.stamp = files.stamp(work.file)
    try:
        text = work.file.read_text("utf-8")
    except FileNotFoundError:
        work.say(f"{work.file.name} is gone from disk; ctrl+s writes it again", "warn")
        return
    if text == work.document.now.text:
        work.document.mark_saved(work.file)
        return
    label = "reload from disk"
    if not work.document.dirty:
        app.do(ReplaceText(text, label))
        work.document.mark_saved(work.file)
        work.say("changed on disk: reloaded; u takes it back", "note")
        return
    while True:
        answer = await app.choose(
            f"{work.file.name} was changed by another program",
            (
                Item("mine", "keep mine", "the next save replaces the other text"),
                Item("theirs", "take theirs", "one undo step; u brings mine back"),
                Item("look", "show the differences"),
            ),
        )
        if answer == "look":
            await app.read("Theirs and mine", _differences(text, work.document.now.text))
            continue
        if answer == "theirs":
            app.do(ReplaceText(text, label))
            work.document.mark_saved(work.file)
        return


def _differences(theirs: str, mine: str) -> Rows:
    lines = difflib.unified_diff(
        theirs.splitlines(), mine.splitlines(), "on disk", "here", lineterm="", n=2
    )
    styles = {"+": "ok", "-": "error", "@": "note"}
    return tuple(((printable(line), styles.get(line[:1], "")),) for line in lines)


async def _help(app: Desk) -> None:
    main = app.main
    rows = helping.help_rows(app.work.keymap, app.work.view, main.active)
    await app.read(f"Help: {main.panes[main.active].title()}", rows)


async def _palette(app: Desk) -> None:
    """Every command by name; those that cannot be done now say why."""
    items = []
    for action in app.work.keymap.here(app.work.view, app.main.active):
        if action.id.startswith("move.") or action.id in ("palette", "enter"):
            continue
        refuse = handler(action)[1]
        reason = refuse(app) if refuse else ""
        key = shown(action.keys[0]) if action.keys else ""
        items.append(
            Item(action.id, f"{action.id.replace('.', ': ')}", f"{key:5} {action.help}", reason)
        )
    for action in app.work.keymap.actions:
        if action.scope not in ("", app.work.view) and not action.scope.startswith("pane:"):
            items.append(Item(action.id, f"{action.id.replace('.', ': ')}", f"      {action.help}"))
    chosen = await app.choose("Commands", tuple(items))
    if chosen is not None:
        action = app.work.keymap.by_id(chosen)
        if action.scope not in ("", app.work.view):
            app.main.show_view(action.scope)
        app.act(action)


async def _theme(app: Desk) -> None:
    names = sorted(app.available_themes)
    names.sort(key=lambda name: not name.startswith("vbg"))
    items = tuple(Item(name, name) for name in names)
    chosen = await app.choose("Theme", items, start=app.theme)
    if chosen is not None:
        app.theme = chosen
        settings.keep("theme", chosen)


async def _export(app: Desk) -> None:
    from vbg.tui.actions import exporting

    await exporting.export(app)


def _copy(app: Desk) -> None:
    """What is marked, as text, to the clipboard: by OSC 52, so from afar as well."""
    text = app.main.panes[app.main.active].copied()
    if text:
        app.copy_to_clipboard(text)
        first = text.splitlines()[0]
        more = f" and {len(text.splitlines()) - 1} more lines" if "\n" in text.strip() else ""
        app.work.say(f"copied: {first}{more}", "ok")
    else:
        app.work.say("there is nothing to copy here", "dim")


def _redraw(app: Desk) -> None:
    app.work.say("painted again", "dim")
    app.refresh(repaint=True, layout=True)


HANDLERS: dict[str, Handler] = {
    "save": _save,
    "save.as": _save_as,
    "new": _new,
    "open": _open,
    "quit": _quit,
    "editor": _editor,
    "help": _help,
    "palette": _palette,
    "theme": _theme,
    "copy": _copy,
    "redraw": _redraw,
    "suspend": lambda app: app.action_suspend_process(),
    "export": _export,
}
REFUSALS: dict[str, Refusal] = {}
