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
from vbg.structure.count.pebbles import Pebbles, play, untouched
from vbg.structure.count.report import Structure, analyse_topology
from vbg.structure.topology.topology import Topology, with_drives

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
    """What a search found, best first.

    `complete` is False where it was stopped, restricted or cut to the best.
    """

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
    required: Collection[int] = (),
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
    required
        Indices of pairs of which one freedom at least is driven.
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
    count, stopped = 0, False
    bounds = _bounds(bare, allowed, required)
    for driven, fraction in _bases(bare, pebbles, bounds):
        structure = analyse_topology(with_drives(bare, driven))
        types = tuple(group.type_name for group in structure.groups)
        kept.append(Choice(tuple(driven), score_of(structure, library), types))
        count += 1
        if keep is not None and len(kept) >= 2 * keep + 64:
            kept = sorted(kept, key=key)[:keep]
        if progress is not None and not progress(count, fraction):
            stopped = True
            break
    best = tuple(sorted(kept, key=key)[:keep])
    complete = not stopped and allowed is None and not required and len(best) == count
    return Transformations(bare, best, complete)


def _bounds(
    topology: Topology, allowed: Collection[int] | None, required: Collection[int]
) -> list[tuple[int, int]]:
    """Least and most driven freedoms of each pair."""
    return [
        (int(i in required), pair.grade if allowed is None or i in allowed or i in required else 0)
        for i, pair in enumerate(topology.pairs)
    ]


def _bases(
    topology: Topology, pebbles: Pebbles, bounds: list[tuple[int, int]]
) -> Iterator[tuple[list[int], float]]:
    """Every choice within `bounds` that determines `topology`, with the share walked before."""
    most = [sum(upper for _, upper in bounds[i:]) for i in range(len(bounds) + 1)]
    least = [sum(lower for lower, _ in bounds[i:]) for i in range(len(bounds) + 1)]

    def walk(
        index: int, driven: list[int], state: Pebbles, done: float, share: float
    ) -> Iterator[tuple[list[int], float]]:
        if not least[index] <= state.missing <= most[index]:
            return
        if state.missing == 0:
            yield driven + [0] * (len(bounds) - index), done
            return
        pair, (lower, upper) = topology.pairs[index], bounds[index]
        part = share / (upper - lower + 1)
        for count in range(upper + 1):
            if count and not state.add(pair.ends[0], pair.ends[-1]):
                return
            if count >= lower:
                start = done + (count - lower) * part
                yield from walk(index + 1, [*driven, count], state.copy(), start, part)

    yield from walk(0, [], pebbles.copy(), 0.0, 1.0)
