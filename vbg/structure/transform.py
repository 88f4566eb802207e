"""Structural transformations: other choices of driven freedoms, ranked and stored.

The same mechanism falls into other groups when other freedoms are driven
(section 4 of the paper, Tables 8 and 10).  Every choice that determines the
mechanism is a basis of a matroid, so the search walks choices in a fixed
order of pairs and drops a branch as soon as an equation depends on others
(pebble game) or too few freedoms are left; nothing is tried that cannot work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from vbg.errors import UsageError
from vbg.structure.pebbles import Pebbles, play, untouched
from vbg.structure.report import Structure, analyse_topology
from vbg.structure.topology import Topology, with_drives

Progress = Callable[[int, float], bool]


@dataclass(frozen=True, slots=True)
class Score:
    """How simple a kinematic structure is: the criteria of section 3.5 of the paper.

    `groups` more is simpler, `largest` (bodies) smaller, `in_library` (groups
    whose type the library names) more, `depth` (levels) fewer.
    """

    groups: int
    largest: int
    in_library: int
    depth: int

    @property
    def complete(self) -> bool:
        """Every group's type is in the library, so the mechanism can be solved with it."""
        return self.in_library == self.groups


CRITERIA: dict[str, Callable[[Score], int]] = {
    "groups": lambda score: -score.groups,
    "largest": lambda score: score.largest,
    "library": lambda score: score.groups - score.in_library,
    "depth": lambda score: score.depth,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of drives: `driven[i]` freedoms of pair i, what it gives, and its groups."""

    driven: tuple[int, ...]
    score: Score
    group_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transformations:
    """What a search found, best first.  `complete` is False where it was stopped."""

    topology: Topology
    choices: tuple[Choice, ...]
    complete: bool


def score_of(structure: Structure, library: Collection[str] = ()) -> Score:
    """The score of a determined structure."""
    return Score(
        len(structure.groups),
        max((len(group.bodies) for group in structure.groups), default=0),
        sum(group.type_name in library for group in structure.groups),
        len(structure.levels),
    )


def rank_key(order: Collection[str]) -> Callable[[Choice], tuple]:
    """A sort key, best first, by criteria named in `order`: groups, largest, library, depth."""
    unknown = [name for name in order if name not in CRITERIA]
    if unknown:
        raise UsageError(f"no criterion {unknown[0]!r}: choose from {', '.join(CRITERIA)}")

    def key(choice: Choice) -> tuple:
        return (*(CRITERIA[name](choice.score) for name in order), choice.driven)

    return key


def search_drives(
    topology: Topology,
    *,
    library: Collection[str] = (),
    order: Collection[str] = ("groups", "largest", "library", "depth"),
    allowed: Collection[int] | None = None,
    keep: int | None = None,
    progress: Progress | None = None,
) -> Transformations:
    """All choices of driven freedoms that determine `topology`, or the best of them.

    Parameters
    ----------
    topology
        The mechanism; what it drives now is ignored.
    library
        Type names of groups that can be solved already.
    order
        Criteria, the most important first.
    allowed
        Indices of the pairs that may be driven; all by default.
    keep
        The number of best choices to keep; all by default.
    progress
        Called with (choices found, fraction searched); returning False stops
        the search, and what was found is kept.

    Raises `UsageError` where equations depend on each other without any drive.
    """
    bare = with_drives(topology, [0] * len(topology.pairs))
    pebbles = untouched(bare)
    dependent = play(pebbles, bare, (bare.equations(pair) for pair in bare.pairs))
    if any(dependent):
        names = ", ".join(p.name for p, n in zip(bare.pairs, dependent, strict=True) if n)
        raise UsageError(f"over-constrained without any drive; equations too many at {names}")
    key = rank_key(order)
    kept: list[Choice] = []
    complete = True
    may = set(range(len(bare.pairs))) if allowed is None else set(allowed)
    for found, (driven, fraction) in enumerate(_bases(bare, pebbles, may), 1):
        structure = analyse_topology(with_drives(bare, driven))
        types = tuple(group.type_name for group in structure.groups)
        kept.append(Choice(tuple(driven), score_of(structure, library), types))
        if keep is not None and len(kept) >= 2 * keep + 64:
            kept = sorted(kept, key=key)[:keep]
        if progress is not None and not progress(found, fraction):
            complete = False
            break
    return Transformations(bare, tuple(sorted(kept, key=key)[:keep]), complete)


def _bases(
    topology: Topology, pebbles: Pebbles, may: set[int]
) -> Iterator[tuple[list[int], float]]:
    """Every choice that determines `topology`, with the fraction of the walk before it."""
    room = [pair.grade if i in may else 0 for i, pair in enumerate(topology.pairs)]
    left = [sum(room[i:]) for i in range(len(room) + 1)]

    def walk(
        index: int, driven: list[int], state: Pebbles, done: float, share: float
    ) -> Iterator[tuple[list[int], float]]:
        if state.missing == 0:
            yield driven + [0] * (len(room) - index), done
            return
        if left[index] < state.missing:
            return
        part = share / (room[index] + 1)
        pair = topology.pairs[index]
        ahead = state
        for count in range(room[index] + 1):
            if count and not ahead.add(pair.ends[0], pair.ends[-1]):
                return
            start = done + count * part
            yield from walk(index + 1, [*driven, count], ahead.copy(), start, part)

    yield from walk(0, [], pebbles, 0.0, 1.0)
