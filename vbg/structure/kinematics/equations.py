"""Constraint equations of a linkage as tables for the kernels.

Which terms make which pair (section 3 of the project's mathematics): the
rows are those of `vbg.structure.kinematics.kernels`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.structure.kinematics.kernels import (
    DISTANCE,
    DOT,
    FIRST,
    ORIENT,
    POINT,
    SECOND,
    TURN,
    WEIGHT,
    WIDTH,
    Terms,
    ensure_terms,
    term,
)
from vbg.structure.topology.linkage import COORDINATES, Coupling, Linkage, PairFrame, in_plane

Array = NDArray[np.float64]

# A term: kind, weight, pair, vector on A, vector on B, component.
Term = tuple[int, float, int, Array, Array, int]

_NONE = np.zeros(3)
_ANGLES = {"angle": TURN, "angle2": SECOND}


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """The terms, the pair and a label of every equation, and the driven coordinates.

    `pair` : (m,) index of the pair; `labels` : what each holds; `slots` :
    (pair, coordinate) of every drive, in the order of the drive vector.
    """

    terms: Terms
    pair: NDArray[np.int64]
    labels: tuple[str, ...]
    slots: tuple[tuple[int, str], ...]


def equations_of(linkage: Linkage) -> Equations:
    """All constraint and drive equations of `linkage`, pair by pair."""
    rows: list[tuple[int, str, list[Term]]] = []
    slots: list[tuple[int, str]] = []
    slot_of_row: list[int] = []
    for index, frame in enumerate(linkage.frames):
        for label, terms in _held(linkage, index, frame):
            rows.append((index, label, terms))
            slot_of_row.append(-1)
        for name in linkage.drives[index]:
            rows.append((index, f"drive {name}", coordinate_terms(linkage, index, name)))
            slot_of_row.append(len(slots))
            slots.append((index, name))
    for coupling in linkage.couplings:
        rows.append((coupling.pair, "coupling", _coupled(linkage, coupling)))
        slot_of_row.append(-1)
    table = _table(linkage, rows, slot_of_row)
    for e, row in enumerate(rows):
        if row[1] == "coupling":
            table.constant[e] = _value(linkage, table, e)
    return Equations(
        table,
        np.array([row[0] for row in rows], dtype=np.int64),
        tuple(row[1] for row in rows),
        tuple(slots),
    )


def _held(linkage: Linkage, index: int, frame: PairFrame) -> Iterator[tuple[str, list[Term]]]:
    """The B - k equations of a pair."""
    code = linkage.topology.pairs[index].code
    F, M = frame.R_AF, frame.R_BM

    def point(i: int) -> tuple[str, list[Term]]:
        return f"translation {'xyz'[i]}", [(POINT, 1.0, index, F[:, i], _NONE, 0)]

    def square(i: int, j: int) -> tuple[str, list[Term]]:
        about = "xyz"[({0, 1, 2} - {i, j}).pop()] if i != j else "normal"
        return f"rotation {about}", [(DOT, 1.0, index, F[:, i], M[:, j], 0)]

    if in_plane(linkage):
        yield from _held_in_plane(linkage, index, frame)
        return
    match code:
        case "R":
            yield from (point(0), point(1), point(2), square(0, 2), square(1, 2))
        case "P":
            yield from (point(0), point(1), square(0, 2), square(1, 2), square(0, 1))
        case "H":
            yield from (point(0), point(1), square(0, 2), square(1, 2))
            screw = [(POINT, 1.0, index, F[:, 2], _NONE, 0)]
            yield "screw", [*screw, (TURN, -frame.lead, index, _NONE, _NONE, 0)]
        case "C":
            yield from (point(0), point(1), square(0, 2), square(1, 2))
        case "U" | "ER":
            yield from (point(0), point(1), point(2), square(2, 2))
        case "S":
            yield from (point(0), point(1), point(2))
        case "PL" | "FP":
            yield from (point(2), square(0, 2), square(1, 2))
        case "SC":
            yield from (point(0), point(1))
        case "SP":
            yield point(2)
        case "SPSP":
            length = np.array([frame.length, 0.0, 0.0])
            yield "distance", [(DISTANCE, 1.0, index, length, _NONE, 0)]
        case "W":
            yield from (point(0), point(1), point(2))
            yield from (square(1, 2), square(2, 0), square(0, 1))
        case "RP":
            yield from (point(0), point(1), point(2))
        case "F" | "K":
            return
        case _:
            raise UsageError(
                f"{linkage.topology.pairs[index].name}: a pair {code!r} has no geometry here"
            )


def _held_in_plane(
    linkage: Linkage, index: int, frame: PairFrame
) -> Iterator[tuple[str, list[Term]]]:
    """The 3 - k equations of a planar pair: directions lie in the plane."""
    pair = linkage.topology.pairs[index]
    first = linkage.R_WB[pair.ends[0]]
    match pair.code:
        case "R" | "W":
            for label, axis in zip("xy", _axes_in_plane(linkage, index), strict=True):
                yield f"translation {label}", [(POINT, 1.0, index, axis, _NONE, 0)]
        case "P":
            across = np.cross(first.T @ linkage.normal, frame.R_AF[:, 2])
            yield "translation across", [(POINT, 1.0, index, across, _NONE, 0)]
        case "FP" | "K":
            return
        case _:
            raise UsageError(f"{pair.name}: a planar pair {pair.code!r} has no geometry here")
    if pair.code in ("P", "W"):
        along = frame.R_BM[:, 2 if pair.code == "P" else 0]
        start = frame.R_AF[:, 2 if pair.code == "P" else 0]
        across = np.cross(first.T @ linkage.normal, start)
        yield "rotation", [(DOT, 1.0, index, across, along, 0)]


def _axes_in_plane(linkage: Linkage, index: int) -> tuple[Array, Array]:
    """Two perpendicular directions of the plane, in the first body's axes."""
    from vbg.spatial import perpendicular

    first = linkage.R_WB[linkage.topology.pairs[index].ends[0]]
    x_W = perpendicular(linkage.normal)
    return first.T @ x_W, first.T @ np.cross(linkage.normal, x_W)


def coordinate_terms(linkage: Linkage, index: int, name: str) -> list[Term]:
    """The terms whose sum is the coordinate `name` of pair `index`.

    Raises `UsageError` where the pair has no such coordinate.
    """
    pair, frame = linkage.topology.pairs[index], linkage.frames[index]
    F = frame.R_AF
    if name not in COORDINATES.get(pair.code, ()):
        known = ", ".join(COORDINATES.get(pair.code, ())) or "none"
        raise UsageError(
            f"{pair.name}: a pair {pair.code!r} has no coordinate {name!r}; it has {known}"
        )
    if name == "angle" and pair.code in ("U", "ER"):
        return [(FIRST, 1.0, index, _NONE, _NONE, 0)]
    if name in _ANGLES:
        return [(_ANGLES[name], 1.0, index, _NONE, _NONE, 0)]
    if name == "slide":
        return [(POINT, 1.0, index, F[:, 2], _NONE, 0)]
    if name in ("x", "y", "z"):
        axes = F.T if not in_plane(linkage) else _axes_in_plane(linkage, index)
        return [(POINT, 1.0, index, axes["xyz".index(name)], _NONE, 0)]
    return [(ORIENT, 1.0, index, _NONE, _NONE, "xyz".index(name[-1]))]


def _coupled(linkage: Linkage, coupling: Coupling) -> list[Term]:
    second = coordinate_terms(linkage, *coupling.second)
    first = coordinate_terms(linkage, *coupling.first)
    return second + [(kind, -coupling.ratio * w, *rest) for kind, w, *rest in first]  # type: ignore[misc]


def _value(linkage: Linkage, terms: Terms, e: int) -> float:
    """The sum of the terms of equation `e` as the linkage stands."""
    ensure_terms()
    count = len(terms.codes)
    near, target = np.zeros(count), np.zeros((count, 3, 3))
    return sum(
        terms.data[k, WEIGHT]
        * term(terms.codes, terms.data, k, linkage.p_WB, linkage.R_WB, near, target)[0]
        for k in range(terms.start[e], terms.start[e + 1])
    )


def _table(linkage: Linkage, rows: list, slots: list[int]) -> Terms:
    terms: list[Term] = [term for row in rows for term in row[2]]
    start = np.cumsum([0, *(len(row[2]) for row in rows)])
    codes = np.zeros((len(terms), 4), dtype=np.int64)
    data = np.zeros((len(terms), WIDTH))
    for k, (kind, weight, pair, a_A, b_B, part) in enumerate(terms):
        ends, frame = linkage.topology.pairs[pair].ends, linkage.frames[pair]
        codes[k] = kind, ends[0], ends[-1], part
        places = (a_A, b_B, frame.p_AF_A, frame.p_BM_B, frame.R_AF.ravel(), frame.R_BM.ravel())
        data[k] = np.concatenate([[weight], *places])
    constants = np.zeros(len(rows))
    return Terms(start.astype(np.int64), codes, data, np.array(slots, dtype=np.int64), constants)
