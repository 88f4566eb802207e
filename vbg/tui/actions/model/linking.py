"""A topology entered pair by pair: made a machine, written as a text file, or told of."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.draw.text.rows import Rows, printable
from vbg.platform.files import write_text
from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.general import leave_document
from vbg.tui.dialogs.linking import Linked, Linking
from vbg.tui.state.items import Item

if TYPE_CHECKING:
    from vbg.structure import Structure
    from vbg.structure.topology.entry import Entry
    from vbg.tui.state.desk import Desk

DRAFT = ("linkage", "")  # where what Esc left is kept
MACHINE, TEXT, REPORT = "machine", "topology", "groups"


async def _linkage(app: Desk) -> None:
    """Enter it, and choose what becomes of it."""
    from vbg.structure import analyse_topology

    draft = app.work.drafts.get(DRAFT, {}).get("entry")
    linked: Linked = await app.dialog(Linking(draft, app.work.marks)) or Linked(draft)
    if linked.entry is None:
        app.work.drafts.pop(DRAFT, None)
        return
    app.work.drafts[DRAFT] = {"entry": linked.entry}
    if not linked.finished:
        app.work.say("the linkage is kept as it is: L goes on with it", "dim")
        return
    structure = analyse_topology(linked.entry.topology())
    while True:
        chosen = await app.choose(f"Linkage of {linked.entry.bodies} bodies", _items(structure))
        if chosen != REPORT:
            break
        await app.read("Structural groups", _report(structure))
    if chosen == TEXT:
        await _write(app, linked.entry)
    elif chosen == MACHINE:
        await _make(app, structure)


def _items(structure: Structure) -> tuple[Item, ...]:
    refusal = "" if structure.determined else "drives are missing, or too many"
    return (
        Item(MACHINE, MACHINE, "a model with dimensions that close, opened here", refusal),
        Item(TEXT, TEXT, "a text file for vbg structure: ProblemType, M, KnownInputs"),
        Item(REPORT, REPORT, "what structural analysis says of it"),
    )


def _report(structure: Structure) -> Rows:
    from vbg.structure.show import structure_text

    return tuple(((printable(line), ""),) for line in structure_text(structure).splitlines())


async def _named(app: Desk, usual: str) -> Path | None:
    """A file name that is free, or None."""

    def judge(text: str) -> tuple[str, bool]:
        path = Path(text).expanduser()
        if not text.strip() or path.is_dir():
            return "a file name is needed", False
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}", False
        return (f"{path} exists: choose another name", False) if path.exists() else ("", True)

    suffix = Path(usual).suffix
    text = await app.ask("File name", usual, judge)
    if text is None:
        return None
    path = Path(text.strip()).expanduser()
    return path if path.suffix else path.with_name(f"{path.name}{suffix}")


async def _write(app: Desk, entry: Entry) -> None:
    from vbg.structure import write_topology

    path = await _named(app, "linkage.m")
    if path is not None:
        write_text(path, write_topology(entry.topology()))
        app.work.drafts.pop(DRAFT, None)
        app.work.say(f"saved {path}; vbg structure {path} tells of it", "ok")


async def _make(app: Desk, structure: Structure) -> None:
    """A machine, made beside the keys."""
    path = await _named(app, "linkage.toml")
    if path is not None and await leave_document(app):
        app.work.say("looking for dimensions that close ...", "dim")
        text = app.work.document.now.text
        app.beside(partial(_made, app, structure, path, text), "linkage", exclusive=True)


async def _made(app: Desk, structure: Structure, path: Path, text: str) -> None:
    """Dimensions that close, in a file, which is opened unless `text` was edited meanwhile."""
    import vbg
    from vbg.structure.synthesis.machines import machine

    vbg.write(await asyncio.to_thread(machine, structure.topology, name=path.stem), path)
    app.work.drafts.pop(DRAFT, None)
    if app.work.document.now.text != text:
        app.work.say(f"saved {path}; the palette's open file shows it", "ok")
    else:
        app.open_document(path)
        app.main.show_view("edit")
        app.work.say("r runs it, 6 shows it", "focus")
    app.main.paint()


HANDLERS: dict[str, Handler] = {"linkage": _linkage}
REFUSALS: dict[str, Refusal] = {}
