"""The tree of all routes through the structural groups (Fig. 7 of Celdran, Saura and Dopico 2022).

A route is a sequence of batches: the groups of a batch are solved at the same time, and a batch
begins when the one before it has ended.  A group may be in a batch when all groups that it needs
are in earlier ones.  At one end every batch is a single group (sequential), at the other each holds
all groups that are ready.

Groups of one type that need the same groups and are needed by the same are alike: routes that
differ only in which of them comes first are counted once, so that six equal legs have 2^5 routes,
not one for each ordered partition of a set of six (4683).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from vbg.errors import UsageError
from vbg.structure.count.groups import Group
from vbg.structure.count.report import Structure

MOST_STEPS = 200_000  # batches at states: what is counted and ranked without being written out

Batch = tuple[int, ...]  # numbers of groups
Done = frozenset[int]


@dataclass(frozen=True, slots=True)
class Path:
    """A route: its batches and what each costs."""

    batches: tuple[Batch, ...]
    costs: tuple[float, ...]

    @property
    def cost(self) -> float:
        """What all batches cost, one after the other."""
        return sum(self.costs)


@dataclass(frozen=True, slots=True)
class Node:
    """A batch, what it costs, what all do up to its end, and the batches that may follow."""

    batch: Batch
    cost: float
    total: float
    then: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RouteTree:
    """All routes of a structure.

    `costs` by group number, of groups alike their mean; `workers` that share a batch, the longest
    group first to who is free; `handover`: what a batch of several groups costs besides; all in
    `unit`, "operations" or "s".  `steps`: the batches that may follow when some groups are done.
    """

    structure: Structure
    costs: Mapping[int, float]
    workers: int
    handover: float
    unit: str
    steps: Mapping[Done, tuple[Batch, ...]] = field(repr=False)

    @property
    def count(self) -> int:
        """How many routes there are."""
        return self._folded(sum, 1)

    @property
    def nodes(self) -> int:
        """Nodes of the tree, with the one before all batches."""
        return self._folded(lambda parts: 1 + sum(parts), 1)

    def ranked(self) -> Iterator[Path]:
        """All routes, the cheapest first; of equal ones those with fewer batches."""
        ahead = self._ahead()
        order = itertools.count()
        start: Done = frozenset()
        waiting = [(ahead[start], next(order), start, Path((), ()))]
        every = len(self.structure.groups)
        while waiting:
            _, _, done, path = heapq.heappop(waiting)
            if len(done) == every:
                yield path
                continue
            for batch in self.steps[done]:
                longer = Path((*path.batches, batch), (*path.costs, self.cost_of(batch)))
                after = done | set(batch)
                length, left = ahead[after]
                key = (longer.cost + length, len(longer.batches) + left)
                heapq.heappush(waiting, (key, next(order), after, longer))

    def root(self) -> Node:
        """The whole tree as nodes."""
        return self._node((), 0.0, 0.0, frozenset())

    def cost_of(self, batch: Batch) -> float:
        """When the last of the workers that share a batch is ready."""
        free = [0.0] * min(self.workers, len(batch))
        for cost in sorted((self.costs[n] for n in batch), reverse=True):
            heapq.heapreplace(free, free[0] + cost)
        return max(free) + (self.handover if len(free) > 1 else 0.0)

    def _node(self, batch: Batch, cost: float, total: float, done: Done) -> Node:
        then = []
        for following in self.steps[done]:
            price = self.cost_of(following)
            then.append(self._node(following, price, total + price, done | set(following)))
        return Node(batch, cost, total, tuple(then))

    def _folded(self, fold: Callable[[list[int]], int], last: int) -> int:
        """A number of every state from those of the states that follow it; of the first."""
        found: dict[Done, int] = {}
        for done in sorted(self.steps, key=len, reverse=True):
            parts = [found[done | set(batch)] for batch in self.steps[done]]
            found[done] = fold(parts) if parts else last
        return found[frozenset()]

    def _ahead(self) -> dict[Done, tuple[float, int]]:
        """The least cost, and then the fewest batches, from every state to the end."""
        found: dict[Done, tuple[float, int]] = {}
        for done in sorted(self.steps, key=len, reverse=True):
            ways = []
            for batch in self.steps[done]:
                cost, batches = found[done | set(batch)]
                ways.append((self.cost_of(batch) + cost, batches + 1))
            found[done] = min(ways, default=(0.0, 0))
        return found


def route_tree(
    structure: Structure,
    costs: Mapping[int, float],
    *,
    workers: int = 2,
    handover: float = 0.0,
    unit: str = "operations",
) -> RouteTree:
    """The tree of `structure`, whose groups have `costs` by number.

    Raises UsageError for a structure that is not determined, without workers, and where there are
    too many states of the solution to be looked at.
    """
    if workers < 1:
        raise UsageError(f"a route needs one worker at least, not {workers}")
    if not structure.groups:
        raise UsageError("a mechanism that is not determined has no routes.")
    alike = _alike(structure)
    members: dict[tuple, list[int]] = {}
    for number, kind in alike.items():
        members.setdefault(kind, []).append(number)
    mean = {n: sum(costs[m] for m in members[k]) / len(members[k]) for n, k in alike.items()}
    return RouteTree(structure, mean, workers, handover, unit, _steps(structure, alike))


def _alike(structure: Structure) -> dict[int, tuple]:
    """What groups alike have in common: type, bodies, drives, neighbours in the diagram."""
    feeds: dict[int, list[int]] = {group.number: [] for group in structure.groups}
    for group in structure.groups:
        for earlier in group.needs:
            feeds[earlier].append(group.number)

    def kind(group: Group) -> tuple:
        size = len(group.bodies), len(group.external), len(group.internal)
        return group.type_name, group.driven, *size, group.needs, tuple(feeds[group.number])

    return {group.number: kind(group) for group in structure.groups}


def _steps(structure: Structure, alike: Mapping[int, tuple]) -> dict[Done, tuple[Batch, ...]]:
    """All states that routes pass, and the batches that may follow each."""
    every: dict[Done, tuple[Batch, ...]] = {}
    waiting: list[Done] = [frozenset()]
    steps = 0
    while waiting:
        done = waiting.pop()
        if done in every:
            continue
        found = []
        for batch in _batches(structure, alike, done):
            steps += 1
            if steps > MOST_STEPS:
                raise UsageError(
                    f"{len(structure.groups)} groups, so many of them independent of each "
                    f"other, have more than {MOST_STEPS} partial routes; --workers N alone shows "
                    "three routes of any mechanism."
                )
            found.append(batch)
        every[done] = tuple(found)
        waiting += [done | set(batch) for batch in found]
    return every


def _batches(structure: Structure, alike: Mapping[int, tuple], done: Done) -> Iterator[Batch]:
    """Every choice of ready groups, of those alike the first ones; small batches first."""
    ready: dict[tuple, list[int]] = {}
    for group in structure.groups:
        if group.number not in done and done.issuperset(group.needs):
            ready.setdefault(alike[group.number], []).append(group.number)
    kinds = list(ready.values())
    amounts = itertools.product(*(range(len(kind) + 1) for kind in kinds))
    for chosen in amounts:
        if any(chosen):
            picked = (kind[:n] for kind, n in zip(kinds, chosen, strict=True))
            yield tuple(sorted(itertools.chain(*picked)))
