"""The Model: what the engineer said, resolved and checked, and never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Self, final

from vbg import units
from vbg.display import Display, in_si
from vbg.errors import ModelError, Problem, UsageError
from vbg.expressions import Defined
from vbg.measures import Measure
from vbg.model.catalogue import TABLES
from vbg.model.resolve.resolve import resolve
from vbg.model.resolve.settings import Outputs, Simulate
from vbg.model.text.names import suggestion
from vbg.model.text.places import Path, Place, Places, spelled
from vbg.model.text.plain import freeze, plain, thaw
from vbg.model.values.functions import functions_of, with_values
from vbg.model.values.parameters import unit_of
from vbg.notebook import text_table
from vbg.plumbing.paused_collection import paused_collection

Parts = Mapping[str, Any]


@final
class Model:
    """One machine: bodies, joints, forces, one-dimensional parts, signals.

    `Model(name=..., parameters={...}, bodies={"rod": {...}}, joints={...}, ...)`
    takes the keys of a model file as plain data; a part may also be an
    instance of its class.  ModelError lists everything that is wrong.

    Attributes
    ----------
    name, description : str
    gravity : world gravity, W [m/s^2]
    parameters : name -> value, SI
    parameter_units : name -> unit in which it is written, where it has one
    bodies, frames, beams, joints, forces, electric, hydraulic, rotational, translational,
    signals, fmu, bondgraph : name -> instance of the part's class, values in SI
    bonds : raw bonds, ``"a -> b"``
    simulate, outputs : Simulate and Outputs
    measures : name -> Measure, what a run is to answer
    display : the units in which results are shown
    document : the nested plain data as written: expressions and units kept, read-only
    path : the file it came from, or ""
    places : key path -> (line, column) in that file
    """

    name: str
    description: str
    gravity: tuple[float, float, float]
    parameters: Mapping[str, float]
    parameter_units: Mapping[str, str]
    bodies: Parts
    frames: Parts
    beams: Parts
    joints: Parts
    forces: Parts
    electric: Parts
    hydraulic: Parts
    rotational: Parts
    translational: Parts
    signals: Parts
    fmu: Parts
    bondgraph: Parts
    bonds: tuple[str, ...]
    simulate: Simulate
    outputs: Outputs
    measures: Mapping[str, Measure]
    display: Display
    document: Mapping[str, Any]
    path: str

    @property
    def functions(self) -> Mapping[str, Defined]:
        """Those of [functions], with numbers for parameters."""
        return with_values(functions_of(self.document), self.parameters)

    def __init__(self, **document: Any):
        self._fill(plain(document), "", Places())

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], path: str = "", places: Places | None = None
    ) -> Self:
        """The model that a nested table of plain data describes; `path` and `places`
        say where it was read.  Raises ModelError with every problem."""
        model = cls.__new__(cls)
        model._fill(plain(document), path, places or Places())
        return model

    @paused_collection()
    def _fill(self, document: dict[str, Any], path: str, places: Places) -> None:
        resolved = resolve(document, path, places)
        if resolved.problems:
            raise ModelError.of(resolved.problems)
        values: dict[str, Any] = {
            table: MappingProxyType(parts) for table, parts in resolved.parts.items()
        }
        values |= {
            "name": resolved.name or "model",
            "description": resolved.description,
            "gravity": resolved.gravity,
            "parameters": MappingProxyType(resolved.parameters),
            "parameter_units": MappingProxyType(resolved.parameter_units),
            "bonds": resolved.bonds,
            "simulate": resolved.simulate,
            "outputs": resolved.outputs,
            "measures": MappingProxyType(resolved.measures),
            "display": resolved.display,
            "document": freeze(document),
            "path": path,
            "_places": places,
            "_homes": resolved.homes,
        }
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a Model does not change; model.edited(path, value) gives a changed one ({name})"
        )

    def __repr__(self) -> str:
        return (
            f"<Model {self.name}: {len(self.bodies)} bodies, {len(self.joints)} joints, "
            f"{len(self.forces)} forces>"
        )

    def _repr_html_(self) -> str:
        rows = (
            (table, name, getattr(part, "kind", ""))
            for table in TABLES
            for name, part in getattr(self, table).items()
        )
        return text_table(self.name, ("table", "name", "kind"), rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (thaw(self.document), self.path, self._keys_and_values())

    def _keys_and_values(self) -> tuple[dict[Path, Place], dict[Path, Place]]:
        places: Places = self.__dict__["_places"]
        return dict(places.keys), dict(places.values)

    @property
    def places(self) -> Mapping[Path, Place]:
        """Key path -> (line, column), both from 1; empty for a model not read from a file."""
        places: Places = self.__dict__["_places"]
        return places.keys

    def where(self, path: Path) -> tuple[str, int, int]:
        """File, line and column of the key at `path`; of an included part in its own file."""
        home = self.__dict__["_homes"].get(path[:2])
        if home is not None:
            return home.file, *home.of_key(path[2:])
        if not self.places:
            return (self.path, 1, 1) if self.path else ("", 0, 0)
        return self.path, *Places(self.places).of_key(path)

    @cached_property
    def hash(self) -> str:
        """sha256 of what the machine is: parts, gravity, bonds, in SI.  Names of
        files, notes, the order of tables and how to simulate do not enter."""
        content: dict[str, Any] = {name: getattr(self, name) for name in TABLES}
        content |= {"gravity": self.gravity, "bonds": tuple(sorted(self.bonds))}
        return hashlib.sha256(_canonical(content).encode()).hexdigest()

    def only(self, names: Collection[str]) -> Self:
        """These parts, as they are resolved here: for what is measured of some of them.  What they
        refer to outside is missing; it is no model to be run."""
        model = type(self).__new__(type(self))
        kept = {
            table: MappingProxyType({n: p for n, p in getattr(self, table).items() if n in names})
            for table in TABLES
        }
        model.__dict__.update({**self.__dict__, **kept})
        return model

    def with_parameters(self, **values: float | str) -> Self:
        """The model with other values of some parameters, everything resolved again.

        A number is in SI; a text may be an expression or carry a unit.  Raises
        UsageError for a parameter the model does not have and for a unit of another
        dimension than its own, ModelError where the machine is impossible with them.
        """
        changed = thaw(self.document)
        table = changed.get("parameters", {})
        for name, value in values.items():
            if name not in table:
                remedy = suggestion(name, table, "parameters")
                raise UsageError(f"the model {self.name} has no parameter {name!r}. {remedy}")
            entry = table[name]
            self._require_dimension(name, value)
            note = {"note": entry["note"]} if isinstance(entry, dict) and "note" in entry else {}
            table[name] = {"value": plain(value), **note} if note else plain(value)
        try:
            return type(self).from_document(changed, self.path, self.__dict__["_places"])
        except ModelError as error:
            what = f"the file itself is in order; this is with {self._given(values)}."
            raise ModelError.of([*error.problems, Problem("note", "parameters", what)]) from None

    def _given(self, values: Mapping[str, float | str]) -> str:
        """The replaced parameters, for a message."""
        return ", ".join(
            self.taken(name, value) or f"{name} = {value}" for name, value in values.items()
        )

    def taken(self, name: str, value: float | str) -> str:
        """How a bare number for a parameter that the file writes in another unit than that of
        SI is taken, for it is easily meant in that unit; "" where there is no doubt."""
        unit = self.parameter_units.get(name, "")
        if not unit or isinstance(value, str) or units.coherent_factor(unit) == 1.0:
            return ""
        si = in_si(unit).unit
        return f"{name} = {value} in SI{units.in_brackets(si)} (the file has {unit})"

    def _require_dimension(self, name: str, value: float | str) -> None:
        """UsageError where the unit of `value` is none, or none of what the parameter is."""
        try:
            given = unit_of(value, functions_of(self.document))
            if given:
                units.conversion(given, self.parameter_units.get(name, ""))
        except ModelError as error:
            raise UsageError(f"parameter {name} = {value!r}: {error}.") from None

    def edited(self, path: Path | str, value: Any) -> Self:
        """The model with the entry at `path`, ("bodies", "rod", "mass") or "bodies.rod.mass", set
        to `value`; None removes it.  Tables on the way are made.  Raises UsageError where the
        path leads through something that is no table or list."""
        document = thaw(self.document)
        edit(document, tuple(path.split(".")) if isinstance(path, str) else path, value)
        return type(self).from_document(document, self.path)


def _restored(
    document: dict[str, Any],
    path: str,
    places: tuple[Mapping[Path, Place], Mapping[Path, Place]],
) -> Model:
    return Model.from_document(document, path, Places(*places))


def edit(document: dict[str, Any], path: Path, value: Any) -> None:
    """Set the entry at `path` of the plain data `document`, in place; None removes it."""
    if not path:
        raise UsageError("an edit needs the path of an entry, such as ('bodies', 'rod', 'mass')")
    target: Any = document
    for i, step in enumerate(path[:-1]):
        if isinstance(target, dict):
            target = target.setdefault(step, {})
        elif (
            isinstance(target, list)
            and isinstance(step, int)
            and -len(target) <= step < len(target)
        ):
            target = target[step]
        else:
            raise UsageError(f"{spelled(path[:i])} has no entry {step!r}")
    last = path[-1]
    if isinstance(target, dict):
        if value is None:
            target.pop(last, None)
        else:
            target[last] = plain(value)
    elif isinstance(target, list) and isinstance(last, int) and 0 <= last <= len(target):
        target[last : last + 1] = [] if value is None else [plain(value)]
    else:
        raise UsageError(f"{spelled(path[:-1])} has no entry {last!r}")


def problems_of(document: Mapping[str, Any], path: str = "") -> tuple[Problem, ...]:
    """Every problem of a nested table of plain data, without raising: for editors."""
    return resolve(plain(document), path).problems


@cache
def _names(part: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(part) if field.compare)


def _canonical(value: Any) -> str:
    """A text that is equal for equal content: tables by name, -0 as 0."""
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, float):
        return repr(value + 0.0)
    if isinstance(value, (tuple, list)):
        return "[" + ",".join(map(_canonical, value)) + "]"
    if isinstance(value, Mapping):
        entries = [f"{key}:{_canonical(value[key])}" for key in sorted(value)]
        return "{" + ",".join(entries) + "}"
    if is_dataclass(value) and not isinstance(value, type):
        names = _names(type(value))
        entries = [f"{name}:{_canonical(getattr(value, name))}" for name in names]
        return f"{getattr(value, 'kind', '')}({','.join(entries)})"
    return repr(value)
