"""Multiple joints: every way to write them as pairs, analysed and ranked.

A revolute joint of n bodies is n - 1 pairs.  Which pairs is free, and decides into which groups the
mechanism falls (Celdran, Saura and Dopico 2022, section 3.3).  As there, all n (n - 1) / 2 pairs of
the joint are in the file, and all choices of n - 1 of them are tried:

    nComb = n (n - 1) / 2,    N_an = nComb! / ((n - 1)! (nComb - n + 1)!)

of which n^(n-2) join all bodies (Cayley); the others close a loop and leave a body out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vbg.errors import UsageError, counted
from vbg.structure.count.report import Structure, analyse_topology
from vbg.structure.geometry.exceptions import with_multijoints
from vbg.structure.routes.transform import Score, score_of
from vbg.structure.topology.topology import Pair, Topology

MOST = 5000  # expansions that are analysed


@dataclass(frozen=True, slots=True)
class Expansion:
    """One way to write the joints: `pairs` by name, the structure and, where it is determined, its
    score."""

    pairs: tuple[str, ...]
    structure: Structure
    score: Score | None


def all_expansions(topology: Topology, joints: Sequence[Sequence[str]]) -> tuple[Expansion, ...]:
    """Every combination of expansions of `joints`, bodies by name, best first: determined ones,
    then more groups, then smaller ones.

    Raises UsageError for bodies that are not there, that the file does not join by one kind of
    pair, and for too many expansions.
    """
    places = [_places(topology, joint) for joint in joints]
    if math.prod(len(p) ** (len(p) - 2) for p in places) > MOST:
        raise UsageError(f"more than {MOST} expansions; give fewer joints at a time.")
    sets = [set(p) for p in places]
    own = [pair for pair in topology.pairs if any(set(pair.ends) <= s for s in sets)]
    driven = {frozenset(pair.ends): pair.driven for pair in own}
    rest = replace(topology, pairs=tuple(pair for pair in topology.pairs if pair not in own))
    described = [(p, _code(topology, p)) for p in places]
    found = []
    for made in with_multijoints(rest, described):
        added = made.pairs[len(rest.pairs) :]
        pairs = tuple(replace(p, driven=driven.get(frozenset(p.ends), 0)) for p in added)
        structure = analyse_topology(replace(rest, pairs=rest.pairs + pairs))
        score = score_of(structure) if structure.determined else None
        found.append(Expansion(tuple(p.name for p in pairs), structure, score))
    return tuple(sorted(found, key=_rank))


def _rank(found: Expansion) -> tuple:
    if found.score is None:
        return (1, 0, 0, found.pairs)
    return (0, -found.score.groups, found.score.largest, found.pairs)


def _places(topology: Topology, joint: Sequence[str]) -> tuple[int, ...]:
    unknown = [name for name in joint if name not in topology.bodies]
    if unknown:
        raise UsageError(f"no body {unknown[0]!r}; there are {', '.join(topology.bodies)}.")
    places = tuple(sorted({topology.bodies.index(name) for name in joint}))
    if len(places) < 3:
        raise UsageError(f"a multiple joint has three bodies or more, not {', '.join(joint)}.")
    return places


def _code(topology: Topology, places: tuple[int, ...]) -> str:
    """The one kind of pair that the file has between bodies of a joint."""
    inside: list[Pair] = [pair for pair in topology.pairs if set(pair.ends) <= set(places)]
    codes = sorted({pair.code for pair in inside})
    if len(codes) != 1:
        names = ", ".join(topology.bodies[place] for place in places)
        told = f"pairs {', '.join(codes)}" if codes else "no pair"
        raise UsageError(
            f"{names} have {told} between them; a multiple joint is pairs of one kind, all in M."
        )
    return codes[0]


def expansions_text(found: Sequence[Expansion], joints: Sequence[Sequence[str]]) -> str:
    """How many choices there are by the paper's formula, and a table of the expansions."""
    lines = []
    for joint in joints:
        n = len(set(joint))
        pairs = n * (n - 1) // 2
        lines.append(
            f"joint of bodies {', '.join(joint)}: nComb = {pairs} pairs, N_an = "
            f"{math.comb(pairs, n - 1)} choices, {n ** (n - 2)} of them join all"
        )
    determined = sum(one.score is not None for one in found)
    lines += [f"{counted(len(found), 'expansion')}, {determined} determined, best first", ""]
    rows = [("groups", "largest", "pairs of the joints", "group types"), *map(_row, found)]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines += ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


def _row(one: Expansion) -> tuple[str, str, str, str]:
    pairs = " ".join(one.pairs)
    if one.score is None:
        own = one.structure
        return "-", "-", pairs, f"{own.state}: mobility {own.mobility}, driven {own.driven}"
    types = " ".join(group.type_name for group in one.structure.groups)
    return str(one.score.groups), str(one.score.largest), pairs, types


def expansions_data(found: Sequence[Expansion]) -> list[dict[str, Any]]:
    """The same as plain values."""
    return list(_plain(found))


def _plain(found: Sequence[Expansion]) -> Iterator[dict[str, Any]]:
    for one in found:
        yield {
            "pairs": list(one.pairs),
            "determined": one.score is not None,
            "groups": [list(one.structure.names(g)) for g in one.structure.groups],
            "types": [g.type_name for g in one.structure.groups],
        }
