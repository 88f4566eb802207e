"""A linkage prepared for the kernels: which equations solve which bodies, and how."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbg.spatial import perpendicular
from vbg.structure.count.groups import Group
from vbg.structure.count.report import Structure
from vbg.structure.kinematics.dyads import DRIVEN, NEWTON, PRP, RPP, RPR, RRP, RRR, Dyads
from vbg.structure.kinematics.equations import Equations, equations_of
from vbg.structure.kinematics.kernels import (
    BODY_A,
    BODY_B,
    WEIGHT,
    Terms,
    ensure_terms,
    term,
)
from vbg.structure.topology.linkage import COORDINATES, Linkage, in_plane

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_DYADS = {"RRR": RRR, "RRP": RRP, "RPR": RPR, "PRP": PRP, "RPP": RPP}


class Tables(NamedTuple):
    """All that the kernels read.

    `body_start`, `bodies`, `carrier_start`, `carriers`, `equation_start`,
    `equations` : of the groups, one after the other, their bodies, the moving
    ones that they are carried by, their equations.  `dyads.kind` says how
    a group is positioned; `pair_of` : (groups,) the term of a one-body
    group's pair, `drive_of` : (groups, 6) the drives of its coordinates
    (angle, slide, x, y, z, first of three rotations) or -1.  `plane` : (3, 3)
    two directions of the plane and its normal, rows, W; `p_0`, `R_0` : the
    reference posture.
    """

    terms: Terms
    dyads: Dyads
    body_start: Integers
    bodies: Integers
    carrier_start: Integers
    carriers: Integers
    equation_start: Integers
    equations: Integers
    pair_of: Integers
    drive_of: Integers
    plane: Array
    p_0: Array
    R_0: Array


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """`tables` for the kernels, the equations behind them, and the angles at the start."""

    tables: Tables
    equations: Equations
    near: Array

    @property
    def needs(self) -> tuple[frozenset[int], ...]:
        """Of every group, counted from 0, the groups that carry it."""
        t = self.tables
        group_of = {b: g for g in range(len(t.body_start) - 1) for b in self.bodies_of(g)}
        spans = pairwise(t.carrier_start.tolist())
        return tuple(
            frozenset(group_of[body] for body in t.carriers[start:end].tolist())
            for start, end in spans
        )

    def bodies_of(self, group: int) -> tuple[int, ...]:
        """The bodies of group number `group`, counted from 0."""
        start = self.tables.body_start
        return tuple(self.tables.bodies[start[group] : start[group + 1]].tolist())


def make_program(linkage: Linkage, structure: Structure | None) -> Program:
    """The program of the groups of `structure`, or of the whole where it is None."""
    equations = equations_of(linkage)
    moving = tuple(range(1, len(linkage.topology.bodies)))
    if structure is None:
        groups = [(moving, tuple(range(len(linkage.topology.pairs))))]
        known: list[Group | None] = [None]
    else:
        groups = [(g.bodies, tuple(sorted((*g.external, *g.internal)))) for g in structure.groups]
        known = list(structure.groups)
    rows = [np.flatnonzero(np.isin(equations.pair, pairs)) for _, pairs in groups]
    carriers = [_carriers(equations, row, bodies) for row, (bodies, _) in zip(rows, groups)]
    dyads = [_dyad(linkage, group) for group in known]
    singles = [_single(linkage, equations, group) for group in known]
    kinds = [DRIVEN if single[0] >= 0 else dyad[0] for dyad, single in zip(dyads, singles)]
    tables = Tables(
        equations.terms,
        Dyads(
            np.array(kinds, dtype=np.int64),
            np.array([dyad[1] for dyad in dyads], dtype=np.int64),
            np.array([dyad[2] for dyad in dyads], dtype=complex),
            np.array([dyad[3] for dyad in dyads], dtype=complex),
        ),
        _starts([len(bodies) for bodies, _ in groups]),
        np.array([body for bodies, _ in groups for body in bodies], dtype=np.int64),
        _starts([len(others) for others in carriers]),
        np.array([body for others in carriers for body in others], dtype=np.int64),
        _starts([len(row) for row in rows]),
        np.concatenate(rows).astype(np.int64),
        np.array([single[0] for single in singles], dtype=np.int64),
        np.array([single[1] for single in singles], dtype=np.int64),
        plane_axes(linkage),
        linkage.p_WB.copy(),
        linkage.R_WB.copy(),
    )
    return Program(tables, equations, _screwed(linkage, equations))


def _carriers(equations: Equations, rows: Integers, own: tuple[int, ...]) -> list[int]:
    """The moving bodies besides `own` that the equations `rows` name."""
    terms = equations.terms
    spans = [np.arange(terms.start[e], terms.start[e + 1]) for e in rows]
    named = set(terms.codes[np.concatenate(spans)][:, [BODY_A, BODY_B]].ravel().tolist())
    return sorted(named - {0, *own})


def plane_axes(linkage: Linkage) -> Array:
    """(3, 3) rows: two directions of the plane and its normal, W."""
    n = linkage.normal / np.linalg.norm(linkage.normal)
    x = perpendicular(n)
    return np.stack([x, np.cross(n, x), n])


def velocity_basis(linkage: Linkage) -> Array:
    """(B, 6) velocities that a body may have: rotations, then translations, W."""
    if not in_plane(linkage):
        return np.eye(6)
    x, y, n = plane_axes(linkage)
    basis = np.zeros((3, 6))
    basis[0, :3], basis[1, 3:], basis[2, 3:] = n, x, y
    return basis


def _starts(counts: list[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _screwed(linkage: Linkage, equations: Equations) -> Array:
    """(k,) angles to begin near to: a screw's turns follow from how far it has advanced."""
    terms, near = equations.terms, np.zeros(len(equations.terms.codes))
    target = np.zeros((len(near), 3, 3))
    ensure_terms()
    for e, label in enumerate(equations.labels):
        if label == "screw":
            k = terms.start[e]
            where = (terms.codes, terms.data, k, linkage.p_WB, linkage.R_WB)
            advance = term(*where, near, target)[0]
            lead = -terms.data[k + 1, WEIGHT]
            near[k + 1] = advance / lead if lead else 0.0
    return near


_NO_DYAD = (NEWTON, (0, 0, 0, 0), (0j,) * 6, (0j,) * 3)


def _dyad(linkage: Linkage, group: Group | None) -> tuple:
    """Kind, bodies, points and directions of a planar dyad; Newton for all others."""
    if group is None or not in_plane(linkage) or len(group.bodies) != 2:
        return _NO_DYAD
    if len(group.external) != 2 or len(group.internal) != 1 or group.driven:
        return _NO_DYAD
    pairs = linkage.topology.pairs
    outer = {b: next((e for e in group.external if b in pairs[e].ends), -1) for b in group.bodies}
    if -1 in outer.values() or any(len(pairs[e].ends) > 2 for e in group.external):
        return _NO_DYAD
    inner = group.internal[0]
    i, j = group.bodies
    name = "".join(pairs[e].code for e in (outer[i], inner, outer[j]))
    if name not in _DYADS:
        i, j, name = j, i, name[::-1]
    if name not in _DYADS:
        return _NO_DYAD
    carriers = [next(b for b in pairs[outer[own]].ends if b != own) for own in (i, j)]
    places = (
        (outer[i], carriers[0]),
        (outer[i], i),
        (inner, i),
        (inner, j),
        (outer[j], j),
        (outer[j], carriers[1]),
    )
    if not all(_slides_straight(linkage, pair) for pair in (*outer.values(), inner)):
        return _NO_DYAD
    points = tuple(_point(linkage, pair, body) for pair, body in places)
    slides = ((outer[i], carriers[0]), (inner, i), (outer[j], carriers[1]))
    along = tuple(_direction(linkage, pair) for pair, _ in slides)
    return _DYADS[name], (i, j, *carriers), points, along


def _slides_straight(linkage: Linkage, index: int) -> bool:
    """Whether a sliding pair's axes on both bodies agree at the reference posture."""
    pair, frame = linkage.topology.pairs[index], linkage.frames[index]
    if pair.code != "P":
        return True
    first, second = (linkage.R_WB[body] for body in pair.ends)
    apart = first @ frame.R_AF[:, 2] - second @ frame.R_BM[:, 2]
    return bool(np.linalg.norm(apart) < 1e-13)


def _flat(linkage: Linkage, vector: Array) -> complex:
    x, y, _ = plane_axes(linkage) @ vector
    return complex(x, y)


def _point(linkage: Linkage, pair: int, body: int) -> complex:
    """Where `pair` is attached to `body`, from its origin, at the reference posture."""
    frame, ends = linkage.frames[pair], linkage.topology.pairs[pair].ends
    local = frame.p_AF_A if ends[0] == body else frame.p_BM_B
    return _flat(linkage, linkage.R_WB[body] @ local)


def _direction(linkage: Linkage, pair: int) -> complex:
    """The direction of sliding at the reference posture; both bodies turn together."""
    frame, ends = linkage.frames[pair], linkage.topology.pairs[pair].ends
    along = _flat(linkage, linkage.R_WB[ends[0]] @ frame.R_AF[:, 2])
    return along / abs(along) if abs(along) > 0.5 else 1.0 + 0.0j


_DRIVE_PLACES = ("angle", "slide", "x", "y", "z", "rotation x")


def _single(linkage: Linkage, equations: Equations, group: Group | None) -> tuple[int, tuple]:
    """A term of the pair and the drives of a one-body group that is posed by its drives."""
    none = (-1, (-1,) * 6)
    if group is None or len(group.bodies) != 1 or len(group.external) != 1:
        return none
    index = group.external[0]
    pair = linkage.topology.pairs[index]
    if linkage.drives[index] != COORDINATES.get(pair.code) or pair.code not in "RPCF":
        return none
    if pair.ends[1] != group.bodies[0] or (pair.code == "F" and in_plane(linkage)):
        return none
    slots = {name: i for i, (p, name) in enumerate(equations.slots) if p == index}
    row = int(np.flatnonzero(equations.pair == index)[0])
    return int(equations.terms.start[row]), tuple(slots.get(name, -1) for name in _DRIVE_PLACES)
