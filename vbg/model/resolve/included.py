"""Sub-models by file: ``[include.NAME]`` puts the parts of another file into this one.

    [include.left]
    file = "leg.toml"                     # beside the including file
    parameters = { l = "1.1*l0" }         # in place of those of the other file
    position = [0, "w/2", 0]              # of its world origin, W

The other file is resolved by itself, with its own parameters; its parts then stand here
as NAME_PART.  Its gravity, settings and outputs hold only when it is run alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg import expressions, units
from vbg.errors import ModelError, Problem, UsageError
from vbg.model.resolve.grafting import grafted
from vbg.model.resolve.resolved import Resolved
from vbg.model.text.allowed import refusal
from vbg.model.text.files import document_of, text_of
from vbg.model.text.places import Path, Places
from vbg.model.values.functions import functions_of
from vbg.model.values.parameters import Functions, unit_of
from vbg.model.values.quantities import quantity
from vbg.model.values.reading import Reading
from vbg.model.values.values import read_vector, unknown_keys

KEYS = ("file", "parameters", "position")
ORIGIN = (0.0, 0.0, 0.0)

Within = tuple[str, ...]  # the files around, outermost first
Resolve = Callable[[Mapping[str, Any], str, Places, Within], Resolved]


@dataclass(frozen=True, slots=True)
class Including:
    """The file that includes: where its files are looked for, and what is around it.
    `unread` are the sub-models that could not be read at all."""

    reading: Reading
    within: Within
    resolve: Resolve
    unread: list[str] = field(default_factory=list)

    def read(self, raw: Any) -> dict[str, Resolved]:
        """The sub-models of a document, each under its name; those that cannot be read
        are noted and left out."""
        table = self.reading.table(("include",), raw)
        found: dict[str, Resolved] = {}
        for name, entry in (table or {}).items():
            path: Path = ("include", name)
            if not name.isidentifier():
                remedy = "Use letters, digits and _, a letter first."
                self.reading.fail_key(path, f"{name!r} cannot name a sub-model.", remedy)
            elif self.reading.table(path, entry) is not None:
                sub = self._one(path, entry)
                if sub is None:
                    self.unread.append(name)
                else:
                    found[name] = sub
        return found

    def _one(self, path: Path, entry: Mapping[str, Any]) -> Resolved | None:
        reading = self.reading
        unknown_keys(reading, path, entry, KEYS, "an include")
        if "file" not in entry:
            reading.fail_key(path, "the include names no file.", 'Write file = "OTHER.toml".')
            return None
        written = reading.text((*path, "file"), entry["file"])
        offset = ORIGIN
        if "position" in entry:
            position = read_vector(reading, (*path, "position"), entry["position"], "m")
            offset = position or ORIGIN  # type: ignore[assignment]
        if written is None:
            return None
        file = os.path.join(os.path.dirname(reading.file), written)
        sub = self._resolved(path, entry, file)
        if sub is None or not sub.complete:
            return None
        return grafted(sub, str(path[1]), offset)

    def _resolved(self, path: Path, entry: Mapping[str, Any], file: str) -> Resolved | None:
        """The other file by itself, with the parameters given here."""
        reading = self.reading
        told = refusal(str(entry["file"]), file, self.within[0])
        if told:
            remedy = "Put it there, or allow its folder: --allow-include DIR."
            reading.fail((*path, "file"), told, remedy)
            return None
        real = os.path.realpath(file)
        if real in self.within:
            around = self.within[self.within.index(real) :]
            chain = " -> ".join(os.path.basename(f) for f in (*around, real))
            told = f"files include each other in a circle: {chain}."
            reading.fail((*path, "file"), told, "Take one of these includes out.")
            return None
        try:
            document, places, problems = document_of(text_of(file), file)
        except UsageError as error:
            reading.fail((*path, "file"), f"{error}.", "The path counts from this file's folder.")
            return None
        except ModelError as error:
            self._note(error.problems)
            return None
        self._note(problems)
        document = self._with_parameters(path, entry, document)
        sub = self.resolve(document, file, places, (*self.within, real))
        self._note(sub.problems)
        return sub

    def _note(self, problems: tuple[Problem, ...]) -> None:
        """Problems of another file; one that is included twice is told once."""
        known = self.reading.problems
        known += [problem for problem in problems if problem not in known]

    def _with_parameters(
        self, path: Path, entry: Mapping[str, Any], document: dict[str, Any]
    ) -> dict[str, Any]:
        given = self.reading.table((*path, "parameters"), entry.get("parameters", {}))
        own = document.get("parameters", {})
        if not given or not isinstance(own, Mapping):
            return document
        changed = dict(own)
        for name, raw in given.items():
            where = (*path, "parameters", name)
            if name not in own:
                what = f"{entry['file']} has no parameter {name!r}."
                remedy = self.reading.hint(name, own, "parameters")
                self.reading.fail_key(where, what, remedy)
                continue
            value = self._value(where, raw, own[name], functions_of(document))
            if value is not None:
                changed[name] = value
        return document | {"parameters": changed}

    def _value(self, path: Path, raw: Any, own: Any, functions: Functions) -> Any:
        """The value given to a parameter, as the other file could have it written: `own` is
        what it has, whose dimension it must be of, `functions` are those it may call."""
        reading = self.reading
        try:
            text = raw if isinstance(raw, str) else repr(raw)
            node, written = quantity(text, "", reading.defined)
            if not reading.names_known(path, str(raw), node, known=()):
                return None
            value = expressions.evaluate(node, reading.parameters)
            unit = unit_of(own, functions)
            name = node.name if isinstance(node, expressions.Name) else ""
            there = written or reading.parameter_units.get(name, "")
            if unit and there:
                units.conversion(there, unit)
        except ModelError as error:
            reading.fail(path, f"{error}.")
            return None
        if kept := written or unit:
            value = (value - units.parse(kept).offset) / units.coherent_factor(kept)
            return {"value": value, "unit": kept}
        return value
