"""The tables of a mechanism while they grow, and as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.model import Model
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import LINK_COM, LINK_FLOATS, LINK_INTS, LINK_POSITION
from vbg.tmm_bridge.kernels.tables import COORDINATE_TREE, Tables
from vbg.tmm_bridge.mechanism.bending import Bending
from vbg.tmm_bridge.mechanism.loading import Loading


@dataclass
class Draft:
    """Tables while they grow."""

    links: list[list[int]] = field(default_factory=list)
    link: list[Array] = field(default_factory=list)
    cuts: list[tuple[int, int]] = field(default_factory=list)
    cut: list[Array] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    row: list[tuple[float, float]] = field(default_factory=list)
    coordinates: list[list[int]] = field(default_factory=list)
    drives: list[tuple[int, int]] = field(default_factory=list)
    functions: list[TimeFunction] = field(default_factory=list)
    elastics: list[tuple[int, int, int]] = field(default_factory=list)
    elastic: list[Array] = field(default_factory=list)
    bending: Bending = field(default_factory=Bending)
    n_q: int = 0
    n_v: int = 0


def tables_of(model: Model, draft: Draft, loading: Loading) -> Tables:
    """The draft as arrays; counted angles get their places in the state's tail."""
    n_tail = 0
    for coordinate in draft.coordinates:
        if coordinate[0] != COORDINATE_TREE:
            coordinate[2] = draft.n_q + draft.n_v + n_tail
            n_tail += 1
    link, cut = _floats(draft.link, LINK_FLOATS), _floats(draft.cut, 24)
    return Tables(
        links=_integers(draft.links, LINK_INTS),
        link=link,
        cuts=_integers(draft.cuts, 2),
        cut=cut,
        rows=_integers(draft.rows, 5),
        row=_floats(draft.row, 2),
        coordinates=_integers(draft.coordinates, 4),
        laws=_integers(loading.laws, 3),
        law=_floats(loading.law, 5),
        pairs=_integers(loading.pairs, 4),
        pair=_floats(loading.pair, 9),
        loads=_integers(loading.loads, 5),
        load=_floats(loading.load, 13),
        bushes=_integers(loading.bushes, 3),
        bush=_floats(loading.bush, 96),
        elastics=_integers(draft.elastics, 3),
        elastic=_floats(draft.elastic, 72),
        **draft.bending.tables(),
        drives=_integers(draft.drives, 2),
        gravity=np.array(model.gravity, dtype=float),
        sizes=np.array([draft.n_q, draft.n_v, n_tail + 2], dtype=np.int64),
        length=np.array([_length(link, cut)]),
    )


def _length(link: Array, cut: Array) -> float:
    """A length of the model: the largest component of an arm or point [m], 1e-3 for none."""
    arms = [link[:, LINK_POSITION : LINK_POSITION + 3], link[:, LINK_COM : LINK_COM + 3]]
    points = np.concatenate([a.ravel() for a in (*arms, cut[:, 9:12], cut[:, 21:24])])
    return float(np.abs(points).max(initial=0.0)) or 1e-3


def _integers(rows: Any, width: int) -> Array:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _floats(rows: Any, width: int) -> Array:
    return np.array(rows, dtype=float).reshape(-1, width)
