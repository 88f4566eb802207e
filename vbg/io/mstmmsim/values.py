"""What the texts of a parameter file mean: numbers, vectors, orientations, inertias.

An entry is a number or, where it names parameters, the expression as written, so that
the imported machine still has them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vbg import expressions
from vbg.errors import ModelError
from vbg.io.mstmmsim.tree import Element, refused
from vbg.model.text.names import NAME
from vbg.spatial import Array, rotation_matrix

Entry = float | str
Vector = tuple[Entry, Entry, Entry]

THIN = 1e-6  # of the largest moment: what a rod's zero moment of inertia becomes
SQUARE = 1e-6  # how far written axes may be from perpendicular, a quaternion from unit
_IDENTITY = (["eye"], ["1", "1", "1"], ["1.", "1.", "1."], ["null"])


@dataclass(frozen=True, slots=True)
class Scope:
    """A file's name and the values of its parameters."""

    file: str
    parameters: Mapping[str, float]

    def value(self, entry: Entry, element: Element) -> float:
        """The number that `entry` is with the file's parameters."""
        if isinstance(entry, float):
            require_finite(self.file, element, entry)
            return entry
        try:
            node = expressions.parse(entry)
            missing = sorted(expressions.names(node) - set(self.parameters))
            if missing:
                raise refused(
                    self.file,
                    element,
                    f"<{element.tag}>",
                    f"{entry!r} uses {missing[0]}, which is no parameter of the file.",
                    f"Give it: --set {missing[0]}=...",
                )
            return expressions.evaluate(node, self.parameters)
        except ModelError as error:
            if error.problems:
                raise
            raise refused(self.file, element, f"<{element.tag}>", f"{entry!r}: {error}.") from error

    def values(self, vector: Sequence[Entry], element: Element) -> Array:
        """(n,) numbers."""
        return np.array([self.value(entry, element) for entry in vector])


def require_finite(file: str, element: Element, entry: Entry) -> None:
    """Refuse nan, inf and 1e999, which Python reads as numbers."""
    if isinstance(entry, float) and not math.isfinite(entry):
        what = f"must be a finite number, found {entry}."
        raise refused(file, element, f"<{element.tag}>", what, "At most 1e308 can be written.")


def require_name(scope: Scope, element: Element, table: str, name: str) -> None:
    """Refuse a name that a model file could not hold."""
    if not NAME.match(name):
        better = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "part"
        what = f"{name!r} is no name in a model file."
        raise refused(scope.file, element, f"{table}.{name}", what, f"Rename it, {better!r}.")


def split(text: str) -> list[str]:
    """The entries between commas, empty ones left out: the paper ends lists with one."""
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def entry_of(text: str) -> Entry:
    """A number, or the expression as written."""
    try:
        return float(text)
    except ValueError:
        return text


def vector_of(scope: Scope, parent: Element, tag: str) -> Vector:
    """Three entries; zeros where the element is missing or null."""
    element = parent.find(tag)
    if element is None or element.text in ("", "null"):
        return (0.0, 0.0, 0.0)
    entries = [entry_of(entry) for entry in split(element.text)]
    if len(entries) != 3:
        what = f"three components are needed, found {element.text!r}."
        raise refused(scope.file, element, f"<{tag}>", what)
    scope.values(entries, element)
    return (entries[0], entries[1], entries[2])


def numbers_of(scope: Scope, element: Element, entries: Sequence[str]) -> Array:
    """(n,) numbers written as such or as expressions of numbers, 1./2."""
    fixed = Scope(scope.file, {})
    return fixed.values([entry_of(entry) for entry in entries], element)


def combined(R: Array, vector: Sequence[Entry]) -> Vector:
    """R (3, 3) times a vector of entries."""
    rows = [_sum(list(zip(map(float, row), vector, strict=True))) for row in R]
    return (rows[0], rows[1], rows[2])


def added(a: Sequence[Entry], b: Sequence[Entry], sign: float = 1.0) -> Vector:
    """a + sign * b, entry by entry."""
    rows = [_sum([(1.0, x), (sign, y)]) for x, y in zip(a, b, strict=True)]
    return (rows[0], rows[1], rows[2])


def _sum(terms: list[tuple[float, Entry]]) -> Entry:
    """Factors times entries, added up; a number where no expression takes part."""
    number = sum(factor * entry for factor, entry in terms if isinstance(entry, float))
    texts = [(factor, entry) for factor, entry in terms if isinstance(entry, str) and factor]
    if not texts:
        return number
    written = [f"({e})" if f == 1.0 else f"({f!r})*({e})" for f, e in texts]
    if len(texts) == 1 and texts[0][0] == 1.0 and number == 0.0:
        return texts[0][1]
    return " + ".join([*([repr(number)] if number else []), *written])


def orientation_of(scope: Scope, parent: Element, tag: str) -> Array | None:
    """(3, 3) axes of a frame as columns in the axes it is written in; None where the
    element is missing or null.  Written as 1,1,1 or eye (the identity); quat, w, x, y, z;
    matr, r11, r12, ...; hinge, i, x, y, z, j, x, y, z (the axes i and j)."""
    element = parent.find(tag)
    if element is None or element.text in ("", "null"):
        return None
    entries = split(element.text)
    if entries in _IDENTITY:
        return np.eye(3)
    word, rest = entries[0], entries[1:]
    if word == "quat" and len(rest) == 4:
        quaternion = numbers_of(scope, element, rest)
        if abs(float(np.linalg.norm(quaternion)) - 1.0) > SQUARE:
            raise refused(
                scope.file, element, f"<{tag}>", f"the quaternion {rest} has not length 1."
            )
        return rotation_matrix(quaternion / np.linalg.norm(quaternion))
    if word == "matr" and len(rest) == 9:
        return _rotation(scope, element, numbers_of(scope, element, rest).reshape(3, 3))
    if word == "hinge" and len(rest) == 8:
        return _of_two_axes(scope, element, numbers_of(scope, element, rest))
    raise refused(
        scope.file,
        element,
        f"<{tag}>",
        f"the orientation {element.text!r} is not known.",
        "Write 1,1,1 or quat, w, x, y, z or matr, r11, r12, ... or hinge, 1, x, y, z, 3, x, y, z.",
    )


def _of_two_axes(scope: Scope, element: Element, numbers: Array) -> Array:
    """The frame whose axes i and j are given; they have to be perpendicular."""
    i, j = numbers[0], numbers[4]
    where = f"<{element.tag}>"
    if not {i, j} <= {1.0, 2.0, 3.0} or i == j:
        raise refused(scope.file, element, where, "two different axes of 1, 2, 3 are needed.")
    R = np.zeros((3, 3))
    for number, axis in ((i, numbers[1:4]), (j, numbers[5:8])):
        length = float(np.linalg.norm(axis))
        if length == 0.0:
            raise refused(scope.file, element, where, f"axis {number:g} has no direction.")
        R[:, int(number) - 1] = axis / length
    k = ({0, 1, 2} - {int(i) - 1, int(j) - 1}).pop()
    R[:, k] = np.cross(R[:, (k + 1) % 3], R[:, (k + 2) % 3])
    return _rotation(scope, element, R)


def _rotation(scope: Scope, element: Element, R: Array) -> Array:
    """`R` made exactly orthogonal; refused where it is none."""
    off = float(np.abs(R.T @ R - np.eye(3)).max())
    if off > SQUARE or np.linalg.det(R) < 0.0:
        what = f"the axes are not right-handed and perpendicular (off by {off:.2g})."
        raise refused(scope.file, element, f"<{element.tag}>", what)
    U, _, V = np.linalg.svd(R)
    return U @ V


def inertia_of(scope: Scope, body: Element) -> tuple[dict[str, Entry], bool]:
    """Moments about the mass centre in the node's axes, from diag, xx, yy, zz or
    sym, xx, xy, xz, yy, yz, zz or matr with nine entries; and whether a zero moment of a
    thin rod was made THIN of the largest."""
    element = body.find("inertiamatrix")
    assert element is not None
    word, *texts = split(element.text) or [""]
    entries = [entry_of(text) for text in texts]
    names = {
        ("diag", 3): ("xx", "yy", "zz"),
        ("sym", 6): ("xx", "xy", "zx", "yy", "yz", "zz"),
        ("matr", 9): ("xx", "xy", "zx", "yx", "yy", "yz", "xz", "zy", "zz"),
    }.get((word, len(entries)))
    if names is None:
        what = (
            f"must be 'diag, xx, yy, zz' or 'sym, xx, xy, xz, yy, yz, zz', found {element.text!r}."
        )
        raise refused(scope.file, element, "<inertiamatrix>", what)
    values = scope.values(entries, element)
    found = dict(zip(names, entries, strict=True))
    numbers = dict(zip(names, map(float, values), strict=True))
    for one, other in (("xy", "yx"), ("yz", "zy"), ("zx", "xz")):
        if other in numbers and numbers[one] != numbers[other]:
            raise refused(scope.file, element, "<inertiamatrix>", "is not symmetric.")
        found.pop(other, None)
    largest = max(("xx", "yy", "zz"), key=lambda name: numbers[name])
    thin = [name for name in ("xx", "yy", "zz") if numbers[name] == 0.0 < numbers[largest]]
    for name in thin:
        found[name] = _sum([(THIN, found[largest])])
    order = ("xx", "yy", "zz", "xy", "yz", "zx")
    return {name: found[name] for name in order if name in found}, bool(thin)
