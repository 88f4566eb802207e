"""Routes through the structural diagram: one group after the other, or levels in parallel.

After the kinematic routes of PARCSIM (Figs. 5 to 7 of the paper): every group
is a routine with a cost; routes differ in what runs at the same time.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from vbg.errors import UsageError
from vbg.structure.count.groups import Group
from vbg.structure.count.report import Structure


@dataclass(frozen=True, slots=True)
class Task:
    """One group on one worker (counted from 0), from `start` to `end` [s or operations]."""

    group: int
    worker: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Route:
    """A way to solve all groups: its tasks by start, and when the last one ends."""

    name: str
    tasks: tuple[Task, ...]

    @property
    def length(self) -> float:
        """When the last task ends."""
        return max((task.end for task in self.tasks), default=0.0)


def estimated_costs(structure: Structure) -> dict[int, float]:
    """Operations of one Newton step a group: a third of (B N_m)^3, and its pairs' rows."""
    size = structure.topology.dimension
    return {
        group.number: (size * len(group.bodies)) ** 3 / 3.0
        + 50.0 * size * (len(group.external) + len(group.internal))
        for group in structure.groups
    }


def routes(
    structure: Structure, costs: Mapping[int, float] | None = None, *, workers: int = 2
) -> tuple[Route, ...]:
    """Three routes: sequential; level by level; every group as soon as it can.

    `costs` by group number, `estimated_costs` by default.  Within a level the
    longest group starts first.
    """
    if workers < 1:
        raise UsageError(f"a route needs one worker at least, not {workers}")
    cost = dict(costs) if costs is not None else estimated_costs(structure)
    return (
        Route("sequential", _sequential(structure, cost)),
        Route("parallel levels", _by_levels(structure, cost, workers)),
        Route("as soon as ready", _as_ready(structure, cost, workers)),
    )


def _sequential(structure: Structure, cost: Mapping[int, float]) -> tuple[Task, ...]:
    tasks, now = [], 0.0
    for group in structure.groups:
        tasks.append(Task(group.number, 0, now, now + cost[group.number]))
        now = tasks[-1].end
    return tuple(tasks)


def _by_levels(structure: Structure, cost: Mapping[int, float], workers: int) -> tuple[Task, ...]:
    tasks: list[Task] = []
    now = 0.0
    for level in structure.levels:
        idle = [(now, worker) for worker in range(workers)]
        for group in sorted(level, key=lambda g: (-cost[g.number], g.number)):
            start, worker = heapq.heappop(idle)
            tasks.append(Task(group.number, worker, start, start + cost[group.number]))
            heapq.heappush(idle, (tasks[-1].end, worker))
        now = max(end for end, _ in idle)
    return tuple(tasks)


def _as_ready(structure: Structure, cost: Mapping[int, float], workers: int) -> tuple[Task, ...]:
    """List scheduling, the group with the longest way to the end first."""
    ahead: dict[int, float] = {}
    feeds: dict[int, list[int]] = {group.number: [] for group in structure.groups}
    for group in structure.groups:
        for earlier in group.needs:
            feeds[earlier].append(group.number)
    for group in reversed(structure.groups):
        onward = max((ahead[n] for n in feeds[group.number]), default=0.0)
        ahead[group.number] = cost[group.number] + onward
    ends: dict[int, float] = {}
    idle = [(0.0, worker) for worker in range(workers)]
    tasks: list[Task] = []
    left: dict[int, Group] = {group.number: group for group in structure.groups}
    while left:
        free, worker = heapq.heappop(idle)
        known = [g for g in left.values() if all(n in ends for n in g.needs)]

        def ready_at(group: Group) -> float:
            return max((ends[n] for n in group.needs), default=0.0)

        at_hand = [g for g in known if ready_at(g) <= free] or [min(known, key=ready_at)]
        chosen = max(at_hand, key=lambda g: (ahead[g.number], -g.number))
        start = max(free, ready_at(chosen))
        ends[chosen.number] = start + cost[chosen.number]
        tasks.append(Task(chosen.number, worker, start, ends[chosen.number]))
        heapq.heappush(idle, (ends[chosen.number], worker))
        del left[chosen.number]
    return tuple(sorted(tasks, key=lambda task: (task.start, task.worker)))


def schedule_text(
    structure: Structure, found: tuple[Route, ...], *, unit: str = "operations"
) -> str:
    """Every route as a table: what each worker solves, and when."""
    lines = []
    base = found[0].length
    for route in found:
        gain = base / route.length if route.length else 1.0
        than = "" if route is found[0] else f", {gain:.2f} times as fast as {found[0].name}"
        lines.append(f"{route.name}: {route.length:.6g} {unit}{than}")
        for task in route.tasks:
            group = structure.groups[task.group - 1]
            bodies = ", ".join(structure.names(group))
            lines.append(
                f"  worker {task.worker + 1}  {task.start:10.6g} .. {task.end:10.6g}"
                f"  group {task.group} {group.type_name} /{bodies}/"
            )
    return "\n".join(lines)
