"""What groups cost in processor time, and what threads save: position, velocity, acceleration."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vbg.errors import UsageError, counted
from vbg.structure.count.report import analyse_topology
from vbg.structure.kinematics.kinematics import Drives, group_program, run, solved_rows
from vbg.structure.kinematics.program import Program
from vbg.structure.kinematics.spans import SPAN, Spent
from vbg.structure.topology.linkage import Linkage

if TYPE_CHECKING:
    from vbg.structure.count.report import Structure

INSTANTS, REPEATS = 400, 7  # of a run, and runs of which the fastest counts
HANDOVERS = 300
PAYS = 1.2  # times as fast: what two measurements differ by, and threads to be started


@dataclass(frozen=True, slots=True)
class Shared:
    """The same motion by one thread and by `workers` [s of processor time].

    alone : all tasks, one after the other;  together : until the last task of `workers` ends, if
    every thread has a core: tasks as long as they were beside one another, none before those that
    it follows from;  clock : how many times as fast it was here and now.
    """

    workers: int
    groups: int
    instants: int
    alone: float
    together: float
    clock: float

    @property
    def gain(self) -> float:
        """How many times as fast `workers` are."""
        return self.alone / self.together

    @property
    def pays(self) -> bool:
        """Whether it is worth while."""
        return self.gain > PAYS


def require_measurable(structure: Structure, linkage: Linkage) -> None:
    """Refuses a machine whose motion its drives alone do not give: `structure` counts exceptions of
    geometry, which the solution of groups does not know."""
    if structure.determined and not analyse_topology(linkage.topology).determined:
        held = "; ".join(f"{one.name} of {', '.join(one.bodies)}" for one in structure.findings)
        raise UsageError(
            "--measured solves machines that the count of pairs alone determines, and this one is "
            f"determined with what geometry adds ({held}). Without it costs are estimated."
        )
    if not structure.determined:
        why = " ".join(f"{one.what} {one.remedy}" for one in structure.problems)
        missing = "nothing is driven here" if not structure.driven else "these do not"
        raise UsageError(
            f"--measured solves the motion that drives (functions of t) give, and {missing}: {why} "
            "Without it costs are estimated, with the drives proposed."
        )


def measured_costs(
    linkage: Linkage, drives: Drives, t_end: float
) -> tuple[Structure, dict[int, float]]:
    """The groups of a driven linkage, and seconds of each by number: what the motion over
    [0, t_end] takes with it, less what it takes with the groups before it alone.

    Raises UsageError where the drives do not determine the motion.
    """
    structure = analyse_topology(linkage.topology)
    if not structure.determined:
        raise UsageError(" ".join(f"{one.what} {one.remedy}" for one in structure.problems))
    whole = group_program(linkage, structure)
    times = np.linspace(0.0, t_end, INSTANTS)
    before = _seconds(_first(whole, 0), linkage, times, drives)
    costs = {}
    for group in structure.groups:
        spent = _seconds(_first(whole, group.number), linkage, times, drives)
        costs[group.number] = max(spent - before, 0.0)
        before = max(spent, before)
    return structure, costs


def _seconds(program: Program, linkage: Linkage, times: np.ndarray, drives: Drives) -> float:
    """The fastest of a few runs, by instant."""
    best = np.inf
    known = {t: drives(t) for t in times.tolist()}  # not timed: the drives are given
    for _ in range(REPEATS):
        start = time.process_time()
        run(program, linkage, times.tolist(), known.__getitem__)
        best = min(best, time.process_time() - start)
    return float(best) / len(times)


def _first(program: Program, count: int) -> Program:
    """A program of its first groups."""
    t = program.tables
    d = t.dyads
    tables = t._replace(
        dyads=d._replace(
            kind=d.kind[:count],
            bodies=d.bodies[:count],
            points=d.points[:count],
            along=d.along[:count],
        ),
        body_start=t.body_start[: count + 1],
        carrier_start=t.carrier_start[: count + 1],
        equation_start=t.equation_start[: count + 1],
        pair_of=t.pair_of[:count],
        drive_of=t.drive_of[:count],
    )
    return Program(tables, program.equations, program.near)


def measured_sharing(
    linkage: Linkage, drives: Drives, times: Sequence[float], workers: int
) -> Shared:
    """What `workers` threads save of a driven linkage's motion at `times`, the fastest of a few
    runs of each.  Raises UsageError where the drives do not determine the motion."""
    structure = analyse_topology(linkage.topology)
    if not structure.determined:
        raise UsageError(" ".join(f"{one.what} {one.remedy}" for one in structure.problems))
    program = group_program(linkage, structure)
    known = {t: drives(t) for t in times}  # not timed: the drives are given
    handover = handover_cost(workers) / workers if workers > 1 else 0.0
    cost, clock = {1: np.inf, workers: np.inf}, {1: np.inf, workers: np.inf}
    for _ in range(REPEATS):
        for count in cost:
            start = time.perf_counter()
            motion, ended = solved_rows(program, linkage, times, known.__getitem__, workers=count)
            clock[count] = min(clock[count], time.perf_counter() - start)
            if motion.status != "solved":
                raise UsageError(f"{', '.join(motion.where)}: {motion.status} at {motion.stopped}")
            spent = makespan(program.needs, ended.spent, count, handover=handover)
            cost[count] = min(cost[count], spent)
    return Shared(
        workers,
        len(structure.groups),
        len(times),
        float(cost[1]),
        float(cost[workers]),
        float(clock[1] / clock[workers]),
    )


def makespan(
    needs: Sequence[frozenset[int]], spent: Iterable[Spent], workers: int, *, handover: float = 0.0
) -> float:
    """When the last task ends on `workers` cores: the next one is the farthest behind of those
    whose group and carriers have come so far; a thread that begins, or has waited, comes to it
    `handover` later."""
    long = {(task.first, task.group): task.seconds for task in spent}
    before: dict[int, int] = {}
    left: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for first, g in sorted(long):
        left[first, g] = [(first, n) for n in needs[g]]
        left[first, g] += [(before[g], g)] if g in before else []
        before[g] = first
    idle, ends = [0.0] + [handover] * (workers - 1), dict[tuple[int, int], float]()
    while left:
        now = heapq.heappop(idle)
        ready = {
            task: max((ends[other] for other in after), default=0.0)
            for task, after in left.items()
            if all(other in ends for other in after)
        }
        at_hand = [task for task, start in ready.items() if start <= now]
        if not at_hand:
            heapq.heappush(idle, min(ready.values()) + handover)
            continue
        chosen = min(at_hand)
        ends[chosen] = now + long[chosen]
        heapq.heappush(idle, ends[chosen])
        del left[chosen]
    return max(ends.values(), default=0.0)


def sharing_text(shared: Shared) -> str:
    """What threads save, in words, and why not where they save nothing."""
    lines = [
        f"{counted(shared.instants, 'instant')} of {counted(shared.groups, 'group')}, in spans of "
        f"{SPAN}, processor time: one thread {1e3 * shared.alone:.4g} ms, "
        f"{counted(shared.workers, 'thread')} {1e3 * shared.together:.4g} ms"
    ]
    if shared.pays:
        lines.append(
            f"threads pay: {shared.gain:.2f} times as fast, if every thread has a core "
            f"({shared.clock:.2f} times by the clock just now)"
        )
    else:
        lines.append(f"threads do not pay ({shared.gain:.2f} times as fast): {_why(shared)}")
    return "\n".join(lines)


def _why(shared: Shared) -> str:
    if shared.workers == 1:
        return "there is one"
    if shared.groups == 1:
        return "all bodies are one group"
    if shared.instants <= SPAN:
        return f"{counted(shared.instants, 'instant')} are one span, and its groups wait for others"
    return "most of the work is one group's"


def handover_cost(workers: int) -> float:
    """Seconds that it takes to hand a batch to threads that wait, and to have all back."""
    with ThreadPoolExecutor(workers) as pool:
        best = np.inf
        for _ in range(HANDOVERS):
            start = time.perf_counter()
            for ended in [pool.submit(int) for _ in range(workers)]:
                ended.result()
            best = min(best, time.perf_counter() - start)
    return float(best)
