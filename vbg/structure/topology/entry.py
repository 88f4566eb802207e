"""A topology entered line by line: bodies and pairs, checked as they come.

The answers are those of the paper's User_Data.m: the dimension of the problem, the number of
bodies with the frame as body 1, and for each pair two bodies, its code of Table 3 and how many of
its freedoms are driven (Celdran, Saura and Dopico 2022, section 3.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from vbg.errors import UsageError, counted
from vbg.structure.topology.pairs import (
    BY_CODE,
    NOT_CONNECTED,
    PLANAR,
    SPATIAL,
    WELD,
    nearest_code,
    normal_code,
)
from vbg.structure.topology.topology import Topology, from_adjacency

MOST = 200  # bodies that are entered by hand
SPACES = {"space": SPATIAL, "spatial": SPATIAL, "6": SPATIAL, "": SPATIAL}
SPACES |= {"plane": PLANAR, "planar": PLANAR, "3": PLANAR}


@dataclass(frozen=True, slots=True)
class Line:
    """One pair: bodies from 1, the frame, its code and its driven freedoms."""

    first: int
    second: int
    code: str
    driven: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What has been entered: the dimension (6 or 3), the bodies with the frame, the pairs."""

    dimension: int
    bodies: int
    pairs: tuple[Line, ...] = ()

    @property
    def mobility(self) -> int:
        """Freedoms by count: B (N - 1) less B - k of every pair."""
        taken = sum(self.dimension - BY_CODE[pair.code].grade for pair in self.pairs)
        return self.dimension * (self.bodies - 1) - taken

    @property
    def driven(self) -> int:
        """Freedoms that are prescribed."""
        return sum(pair.driven for pair in self.pairs)

    @property
    def loose(self) -> tuple[int, ...]:
        """Bodies that no chain of pairs joins with the frame."""
        reached, size = {1}, 0
        while len(reached) > size:
            size = len(reached)
            for pair in self.pairs:
                if {pair.first, pair.second} & reached:
                    reached |= {pair.first, pair.second}
        return tuple(body for body in range(1, self.bodies + 1) if body not in reached)

    def without_last(self) -> Entry:
        """The entry before its last pair."""
        return replace(self, pairs=self.pairs[:-1])

    def topology(self) -> Topology:
        """What has been entered as a topology; raises ModelError."""
        n = self.bodies
        codes = [[NOT_CONNECTED] * n for _ in range(n)]
        inputs = [[0] * n for _ in range(n)]
        for pair in self.pairs:
            i, j = pair.first - 1, pair.second - 1
            codes[i][j] = codes[j][i] = pair.code
            inputs[i][j] = inputs[j][i] = pair.driven
        return from_adjacency(self.dimension, codes, inputs)


def begun(space: str, bodies: str) -> Entry:
    """The entry of the first two answers; raises UsageError with what is wrong with them."""
    dimension = SPACES.get(space.strip().lower())
    if dimension is None:
        raise UsageError(f"{space.strip()!r} is neither plane nor space.")
    text = bodies.strip()
    if not text.isdecimal() or not 2 <= int(text) <= MOST:
        raise UsageError(
            f"the number of bodies with the frame is a whole number from 2 to {MOST}, not {text!r}."
        )
    return Entry(dimension, int(text))


def with_pair(entry: Entry, text: str) -> Entry:
    """The entry with the pair that `text` tells, ``1 2 R`` or ``1 2 R 1``: two bodies, a code, and
    how many freedoms are driven, also as they are shown, ``R*1``, or
    ``R*`` for one.  Raises UsageError."""
    words = re.sub(r"\*(?=\s|$)", " 1", text).replace("*", " ").replace(",", " ").split()
    if len(words) not in (3, 4):
        raise UsageError(
            "a pair is two bodies, a code, and what is driven of it: 1 2 R, or 1 2 R 1."
        )
    first, second = (_body(entry, word) for word in words[:2])
    if first == second:
        raise UsageError(f"both bodies are {first}: a pair joins two.")
    if any({pair.first, pair.second} == {first, second} for pair in entry.pairs):
        raise UsageError(f"{first} and {second} have a pair; the matrix has room for one. (undo)")
    code = normal_code(words[2])
    row = BY_CODE.get(code)
    if row is None or code == NOT_CONNECTED:
        near = nearest_code(code)
        meant = f" Did you mean {near}?" if near else ""
        raise UsageError(f"{words[2]!r} is no pair of Table 3.{meant} (? lists them)")
    if entry.dimension == PLANAR and not row.planar:
        raise UsageError(f"{code}, {row.meaning}, is no pair of a plane problem.")
    driven = words[3] if len(words) == 4 else "0"
    if not driven.isdecimal() or int(driven) > row.grade:
        raise UsageError(
            f"{code} leaves {counted(row.grade, 'freedom')}; driven are 0 to {row.grade}."
        )
    return replace(entry, pairs=(*entry.pairs, Line(first, second, code, int(driven))))


def state_of(entry: Entry) -> str:
    """Freedoms by count, what is driven of them, bodies that hang on nothing."""
    words = [counted(len(entry.pairs), "pair"), counted(entry.mobility, "freedom") + " by count"]
    words.append(f"{entry.driven} driven")
    if entry.loose:
        words.append(f"not joined yet: {', '.join(map(str, entry.loose))}")
    return ", ".join(words)


def _body(entry: Entry, word: str) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= entry.bodies:
        raise UsageError(f"{word!r} is no body; there are 1 (the frame) to {entry.bodies}.")
    return int(word)


def codes_of(entry: Entry) -> str:
    """The pairs there are, one a line."""
    rows = [r for r in BY_CODE.values() if r.code not in (NOT_CONNECTED, WELD.code)]
    rows = [r for r in rows if r.planar or entry.dimension == SPATIAL]
    return "\n".join(f"  {r.code:5} {r.meaning}, {counted(r.grade, 'freedom')}" for r in rows)
