"""What groups cost in processor time: position, velocity and acceleration of one instant."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from vbg.errors import UsageError
from vbg.structure.count.report import analyse_topology
from vbg.structure.kinematics.kinematics import Drives, group_program, run
from vbg.structure.kinematics.program import Program
from vbg.structure.topology.linkage import Linkage

if TYPE_CHECKING:
    from vbg.structure.count.report import Structure

INSTANTS, REPEATS = 400, 7  # of a run, and runs of which the fastest counts
HANDOVERS = 300


def measured_costs(
    linkage: Linkage, drives: Drives, t_end: float
) -> tuple[Structure, dict[int, float]]:
    """The groups of a driven linkage, and seconds of each by number: what the motion over
    [0, t_end] takes with it, less what it takes with the groups before it alone.

    Raises UsageError where the drives do not determine the motion.
    """
    structure = analyse_topology(linkage.topology)
    if not structure.determined:
        raise UsageError("; ".join(str(problem) for problem in structure.problems))
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
        equation_start=t.equation_start[: count + 1],
        pair_of=t.pair_of[:count],
        drive_of=t.drive_of[:count],
    )
    return Program(tables, program.equations, program.near)


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
