"""Exposed ports: the names by which a file that includes this one connects to it.

``[ports]`` says NAME = what one would write here: ``BODY.POINT``, ``joints.NAME``,
``TABLE.NODE``, a signal, a vertex or an output.  The including file writes INCLUDE.NAME.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from vbg.model.catalogue import JOINT_COORDINATE, JOINT_NODE, REFERENCE_NODES
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope

_WORD = re.compile(r"(?<![\w.-])([^\W\d]\w*)\.([^\W\d]\w*)")
_OPERAND = re.compile(r"(?<![\w.])([^\W\d]\w*)\.([^\W\d]\w*)")  # after a minus sign, too
_PLACES = ("between", "on", "nodes", "body", "bonds")  # where "-" is a part of names
_FREE_TEXT = ("name", "description", "note", "unit", "kind", "file")


def read_ports(reading: Reading, scope: Scope, raw: Any) -> dict[str, str]:
    """The ports of a document: what each stands for must exist."""
    table = reading.table(("ports",), raw)
    found = {}
    for name, target in (table or {}).items():
        path = ("ports", name)
        if not name.isidentifier():
            remedy = "Use letters, digits and _, a letter first."
            reading.fail_key(path, f"{name!r} cannot name a port.", remedy)
        elif reading.text(path, target) is not None and _exists(reading, scope, path, target):
            found[name] = target
    return found


def _exists(reading: Reading, scope: Scope, path: Path, target: str) -> bool:
    owner, dot, rest = target.partition(".")
    known: Collection[str]
    if owner == "joints" and dot:
        known, what, name = scope.joints, "joint", rest.partition(".")[0]
    elif owner in REFERENCE_NODES and dot:
        known = scope.terminals.get(owner, ())
        what, name = f"{owner} node", rest.partition(".")[0]
    else:
        known = [part for part, table in scope.objects.items() if table]
        what, name = "part or signal", owner
    if name in known:
        return True
    reading.unknown(path, f"unknown {what}", name, known, f"{what}s")
    return False


@dataclass(frozen=True, slots=True)
class PortReferences:
    """Replaces INCLUDE.PORT in the values of a document by what the port stands for."""

    reading: Reading
    ports: Mapping[str, Mapping[str, str]]

    def __call__(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._replaced((), document) if self.ports else document

    def _replaced(self, path: Path, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._replaced((*path, key), entry) for key, entry in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._replaced((*path, i), entry) for i, entry in enumerate(value)]
        if not isinstance(value, str) or path[-1] in _FREE_TEXT:
            return value
        if len(path) == 4 and path[2] == "nodes":
            return self._node(path, value)
        words = _WORD if any(key in _PLACES for key in path) else _OPERAND
        return words.sub(lambda word: self._in_text(path, word), value)

    def _in_text(self, path: Path, word: re.Match[str]) -> str:
        """What stands in place of a word of a text.  A quantity of a joint that is a port,
        INCLUDE.PORT.speed, is that of the joint: results are called NAME.speed."""
        target = self._target(path, word) or word[0]
        quantity = word.string.startswith(".", word.end())
        return target.removeprefix("joints.") if quantity else target

    def _target(self, path: Path, word: re.Match[str]) -> str:
        """What a word stands for; empty where it names no port."""
        include, port = word[1], word[2]
        if include not in self.ports:
            return ""
        known = self.ports[include]
        if port not in known:
            self.reading.unknown(path, f"the include {include} has no port", port, known, "ports")
            self.reading.told.add(path)
            return ""
        return known[port]

    def _node(self, path: Path, text: str) -> str:
        """A node of the table in which it is written, or a joint as one."""
        word = _WORD.fullmatch(text)
        target = self._target(path, word) if word else ""
        if not target:
            return text
        table, dot, node = target.partition(".")
        if dot and table == path[0]:
            return node
        if table == "joints" and path[0] in JOINT_COORDINATE:
            return f"{JOINT_NODE}{node}"
        what = f"the port {text} stands for {target}, which is no {path[0]} node."
        self.reading.fail(path, what, f"Bind the port to a node of {path[0]}.")
        return node or text
