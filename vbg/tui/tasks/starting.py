"""Opening a document, and what is asked before work begins: recovery, a first template."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.draw.text.rows import Rows, printable
from vbg.errors import UsageError
from vbg.tui.session import validation
from vbg.tui.session.kept import files, journal, recovery
from vbg.tui.session.kept.document import Document
from vbg.tui.session.runs import remembered
from vbg.tui.state.items import Item
from vbg.tui.state.keys import Keymap
from vbg.tui.state.workspace import Options, Workspace

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

_UNTITLED = 'vbg = 1\nname = "untitled"\n'


def opened(path: Path | None, keymap: Keymap, options: Options) -> Workspace:
    """The workspace of the model in `path`, or of an empty one.

    Raises
    ------
    UsageError
        the file is not text.
    """
    text = _UNTITLED
    if path is not None:
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is not UTF-8 text (byte {error.start}).") from None
    document = Document.opened(path, text)
    work = Workspace(document, keymap, options)
    work.stamp = files.stamp(path)
    work.runs = remembered(path)
    work.validations = validation.remembered(path, work.runs)
    return work


async def begin(app: Desk) -> None:
    """After the first frame: offer what a crash left; start the journal."""
    work = app.work
    work.say("  ".join(work.keymap.complaints), "warn")
    lost = await asyncio.to_thread(recovery.abandoned, work.file)
    for found in lost:
        await _offer(app, found)
    if work.document.journal is None:
        work.document.journal = journal.Journal.start(work.file, work.document.now.text)
    if work.file is None and not lost:
        app.act_id("new")


async def _offer(app: Desk, found: recovery.Abandoned) -> None:
    """Recover, look at, or drop what a journal holds."""
    when = time.strftime("%H:%M", time.localtime(found.when))
    count = f"{found.unsaved} change{'s' * (found.unsaved != 1)}"
    while True:
        answer = await app.choose(
            f"{count} from {when} were never saved",
            (
                Item("recover", f"recover {count}", "with their undo steps"),
                Item("look", "look at them"),
                Item("later", "leave them for the next time", "so does Esc"),
                Item("drop", "drop them", "for good"),
            ),
        )
        if answer == "look":
            await app.read(count, _labels(found))
            continue
        if answer == "drop":
            found.file.unlink(missing_ok=True)
        elif answer == "recover":
            _recover(app, found)
        else:
            found.keep()
        return


def _labels(found: recovery.Abandoned) -> Rows:
    return tuple(
        ((printable(str(entry.get("label", entry["do"]))), ""),) for entry in found.entries
    )


def _recover(app: Desk, found: recovery.Abandoned) -> None:
    """Put back the document as it was, and its history into the new journal."""
    document = recovery.replay(found)
    if document.file is None:
        document.file = app.work.file
    on_disk = Document.opened(document.file, document.snapshots[0].text)
    document.saved = app.work.document.saved if app.work.file else on_disk.saved
    count = document.unsaved
    fresh = journal.Journal.start(document.file, document.snapshots[0].text)
    for entry in found.entries:
        fresh.note({key: value for key, value in entry.items() if key != "at"})
    document.journal = fresh
    app.put_document(document)
    found.file.unlink(missing_ok=True)
    many = "s" * (count != 1)
    app.work.say(f"recovered {count} change{many}; ctrl+s saves", "ok")
