"""The frames of a document, each after the one it stands on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vbg.elements.frame import Frame
from vbg.model.forms.parts import read_part
from vbg.model.values.reading import Reading, Scope

Entries = Mapping[str, Mapping[str, Any]]


def read_frames(reading: Reading, scope: Scope, entries: Entries) -> dict[str, Frame]:
    """The frames of `entries`, in the order of the file, made known to what comes after them."""
    found: dict[str, Frame] = {}
    scope.frames.update(dict.fromkeys(entries))
    for name in _in_turn(reading, entries):
        frame = read_part(reading, scope, ("frames", name), Frame, entries[name])
        if frame is not None:
            found[name] = frame
            scope.frames[name] = frame.end(name)
    return {name: found[name] for name in entries if name in found}


def stands_on_beam(name: str, entries: Entries, beams: Mapping[str, Any]) -> bool:
    """Whether a frame, or one it stands on, is on a node of a beam: it comes after beams."""
    passed = set()
    while name in entries and name not in passed:
        passed.add(name)
        name = _base(entries[name])
    return name in beams


def _base(entry: Mapping[str, Any]) -> str:
    """The name of what a frame is written to be on."""
    on = entry.get("on")
    on = on.get("body") if isinstance(on, Mapping) else on
    return on.partition(".")[0] if isinstance(on, str) else ""


def _in_turn(reading: Reading, entries: Entries) -> Iterator[str]:
    """Names of frames so that each follows the one it is on; circles are noted and left out."""
    done: set[str] = set()
    for name in entries:
        chain: list[str] = []
        while name in entries and name not in done and name not in chain:
            chain.append(name)
            name = _base(entries[name])
        if name in chain:
            around = [*chain[chain.index(name) :], name]
            what = f"frames stand on each other in a circle: {' -> '.join(around)}."
            reading.fail(("frames", chain[0], "on"), what, "Put one of them on a body.")
            done.update(chain)
            continue
        done.update(chain)
        yield from reversed(chain)
