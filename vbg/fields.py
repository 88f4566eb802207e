"""Declaring the fields of a part once, for every reader.

A part (a body, a joint, a motor, an orifice) is a frozen dataclass whose
fields are made by the functions below.  Each carries a `Field`: its form,
unit, range and one line of meaning.  The file reader, the writer, the
checks, `vbg parts`, the documentation and the inspector of the terminal
interface all read these, so nothing about a part is written twice.

A rule between the fields of one part is a method of it,
``faults(self) -> Iterator[tuple[field, what, remedy]]``, which the reader asks
once all fields are read and reports at that field (or at the part, for "").

Values on a part are resolved: SI floats and tuples of floats, names as
strings.  What the engineer wrote (units, expressions) stays in the model's
document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

Form = Literal[
    "quantity",  # number or expression or "3 mm"            -> float
    "vector",  # list of `size` of those                      -> tuple of float
    "matrix",  # rows of them, `size` x `size`, or a diagonal -> tuple of tuples
    "direction",  # a vector of 3 that must not vanish        -> unit vector, tuple
    "rotation",  # {axis, angle} | {quaternion} | {euler}     -> quaternion (w, x, y, z)
    "points",  # table NAME = [x, y, z]                       -> mapping name -> tuple
    "inertia",  # {xx, yy, zz, xy, yz, zx}                    -> (xx, yy, zz, xy, yz, zx)
    "shape",  # {cylinder = {...}, density = ...} or a list   -> tuple of Shape
    "ends",  # two attachments                                -> (Attachment, Attachment)
    "span",  # two attachments, either of them "free"         -> (Attachment | None, ...)
    "end",  # one attachment                                  -> Attachment
    "end or coordinate",  # one attachment or "joints.NAME"   -> Attachment | str
    "coordinate",  # "joints.NAME", "rotational.NODE", ...    -> str
    "coordinates",  # list of `size` of those                 -> tuple of str
    "nodes",  # list of `size` node names                     -> tuple of str
    "signal",  # number, signal name or expression of t       -> float | str
    "signals",  # `size` of those, or one without brackets     -> tuple of float | str
    "condition",  # "a > b", or a signal: positive is true    -> float | str, positive if true
    "outputs",  # names of signals of the solution            -> tuple of str
    "table",  # rows of `size` numbers                        -> tuple of tuples
    "samples",  # rows, or {file, columns} of a CSV file     -> tuple of tuples
    "array",  # a .npy file, or rows of numbers            -> (rows, `size` or any) array
    "group",  # sub-table described by `of`, a dataclass      -> that dataclass
    "choice",  # one of `choices`                             -> str
    "count",  # whole number                                  -> int
    "flag",  # true or false                                  -> bool
    "text",  # free text                                      -> str
    "expression",  # an expression in `variables`             -> str
    "beginning",  # "written" | "equilibrium" | {file, at} | {balance} -> str | Beginning
    "wires",  # {NAME = signal or list of signals}            -> mapping name -> those
    "unit ports",  # {NAME = {on, effort, flow, toward}}      -> mapping name -> UnitPort
    "selection",  # names, or {NAME = name or list of names}  -> mapping name -> tuple of str
    "values",  # {NAME = value}                               -> mapping name -> tuple
    "expressions",  # a list of those, or one without brackets -> tuple of str
]


@dataclass(frozen=True, slots=True)
class Field:
    """What is known of one field besides its name and default.

    `unit` is the SI unit of the value ("kg", "N/m", "rad"; "1" without one,
    "N/m or N*m/rad" either, "" any, as for the values of a signal).
    `above`, `below` are open bounds, `minimum`, `maximum` closed ones.
    `columns` are the units of the columns of a table, where they are not all `unit`.
    `end` is the one of `between` in whose body's axes a direction counts, 0 or 1.
    What is `balanced` may be written "equilibrium": a start that is found so that nothing
    accelerates (`Beginning.balance`), and the signal of the same name is it at t = 0.
    `instead_of` is the key whose place this one may take (a diameter that of an area): one of
    them is written, and the part works out the other's value when it is made (`__post_init__`),
    so that whoever reads it finds an area.
    `moves` is what a coordinate must be, "angle" or "slide"; "" either.
    `elastic` is a stiffness per strain, in the unit of an effort that is there at a strain of 1
    only (EA of a beam, the bulk modulus of oil).
    """

    form: Form
    doc: str
    unit: str = "1"
    size: int = 0
    above: float | None = None
    below: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    of: type | None = None
    variables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    end: int = 0
    balanced: bool = False
    instead_of: str = ""
    moves: str = ""
    elastic: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """A point of a body: `body` is a name or "ground", `at` is [m] in its
    axes from the mass centre (world axes and origin for ground).  `point` is
    the point's name where the engineer used one; `frame` that of a frame of [frames], whose
    axes are turned by `rotation`, a quaternion R_BF, from the body's."""

    body: str
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    point: str = ""
    frame: str = ""
    rotation: tuple[float, float, float, float] | None = None


def attachments(part: Any) -> Iterator[Attachment]:
    """The points of bodies on which a part stands, in the order of its keys."""
    for one in fields(part):
        value = getattr(part, one.name)
        for end in value if isinstance(value, tuple) else (value,):
            if isinstance(end, Attachment):
                yield end


@dataclass(frozen=True, slots=True)
class Measured:
    """A solid of a CAD file, in the file's axes: `volume` [m^3], mass `centre` [m], `inertia`
    about it per density, xx, yy, zz, xy, yz, zx [m^5], and the corners of its box [m].  What is
    not `closed` encloses nothing: its box is measured, and it is only drawn.  `colour` as #rrggbb
    where the file gives one."""

    volume: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    closed: bool = True
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """One solid of a body, as drawn and weighed.

    kind : box, cylinder, sphere, cone, tube, step, stl, extrude, revolve, union, cut or common.
    sizes : its lengths by name [m].  position [m] and rotation (quaternion) place it in the
    body's axes.  file : of a step or stl, as written; path : where it was found; part : in it, or
    the unit of it.  of : what a union, cut or common is made of.  profile : of an extrude or
    revolve [m].  measured : in its own axes, of what has no formula of sizes.
    """

    kind: str
    sizes: Mapping[str, float]
    density: float = 0.0
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    file: str = field(default="", compare=False)
    path: str = field(default="", compare=False)
    part: str = field(default="", compare=False)
    unit: str = field(default="", compare=False)
    of: tuple[Shape, ...] = ()
    profile: tuple[tuple[float, float], ...] = ()
    measured: Measured | None = None


WRITTEN, EQUILIBRIUM = "written", "equilibrium"  # starts of a run


@dataclass(frozen=True, slots=True)
class Beginning:
    """A start of a run that is neither "written" nor "equilibrium".

    file, at : the row of a result at that time [s], None for its last;  balance : parts, or single
    pressures of them ("cylinder.pressure_a"), whose contents are found so that nothing accelerates,
    all else as written.
    """

    file: str = ""
    at: float | None = None
    balance: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.balance:
            return f"balance of {', '.join(self.balance)}"
        return self.file + ("" if self.at is None else f" at {self.at:g} s")


def declare(form: Form, doc: str, *, default: Any = MISSING, **details: Any) -> Any:
    """A dataclass field that carries its `Field`; required without default."""
    metadata = {"field": Field(form, doc, **details)}
    if isinstance(default, dict):
        return field(default_factory=lambda: default, metadata=metadata, kw_only=True)
    return field(default=default, metadata=metadata, kw_only=True)


def quantity(unit: str, doc: str, *, default: Any = MISSING, **bounds: Any) -> Any:
    """One number in `unit`; bounds are above, below, minimum, maximum; `balanced`, `elastic` and
    `instead_of` see Field."""
    return declare("quantity", doc, unit=unit, default=default, **bounds)


def declared(part: type) -> dict[str, Field]:
    """The fields of the part class `part`, by name, in order of declaration."""
    return {f.name: f.metadata["field"] for f in fields(part) if "field" in f.metadata}


def alternatives(part: type) -> dict[str, tuple[str, ...]]:
    """The keys that may stand in the place of another one, by that one's name."""
    found: dict[str, tuple[str, ...]] = {}
    for name, one in declared(part).items():
        if one.instead_of:
            found[one.instead_of] = (*found.get(one.instead_of, ()), name)
    return found


def required(part: type) -> tuple[str, ...]:
    """Names of the fields of `part` that have no default; another key may stand in the place of
    one (`alternatives`)."""
    return tuple(
        f.name
        for f in fields(part)
        if "field" in f.metadata and f.default is MISSING and f.default_factory is MISSING
    )
