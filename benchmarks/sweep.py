"""How a sweep of short runs scales from one process to two.

    python -m benchmarks.sweep [RUNS]

The shipped slider-crank (1 s of motion) with RUNS (500) lengths of its crank, once in one
process and once in two; wall-clock time from the call to the full table, the start of the
processes included.  Means little beside other work: the load is printed, and the same by
processor time, one process against the mean of the two.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import vbg
from vbg.analysis.studies.sampling import Range, grid
from vbg.analysis.studies.sweep import Study, sweep
from vbg.analysis.studies.table import Table

EXAMPLE = Path(__file__).parents[1] / "examples" / "slider-crank.toml"
RUNS = 500


def seconds(study: Study, runs: int, processes: int, folder: Path) -> tuple[float, float]:
    """Wall-clock time of the whole sweep and processor time of each process."""
    points = grid([Range("r", 0.03, 0.06, runs)])
    table = Table(folder / f"{processes}.csv", study.key(["r"]), ["r"], study.measures)
    who = resource.RUSAGE_SELF if processes == 1 else resource.RUSAGE_CHILDREN
    began, before = time.perf_counter(), resource.getrusage(who)
    sweep(study, points, table, processes=processes)
    spent, after = time.perf_counter() - began, resource.getrusage(who)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert len(table.rows) == runs and all(row.status == "finished" for row in table.rows)
    return spent, busy / processes


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    study = Study(vbg.read(EXAMPLE), {}, ("rms(A.force.x)",))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = Table(folder / "warm.csv", study.key(["r"]), ["r"], study.measures)
        sweep(study, grid([Range("r", 0.04, 0.05, 1)]), warm)
        print(f"load before: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
        one, busy_one = seconds(study, runs, 1, folder)
        print(f"{runs} runs, 1 process:   {one:7.2f} s, {1e3 * one / runs:.1f} ms a run")
        two, busy_two = seconds(study, runs, 2, folder)
        print(f"{runs} runs, 2 processes: {two:7.2f} s, {one / two:.2f} times as fast")
        print(f"by processor time: {busy_one / busy_two:.2f} times")
        print(f"load after: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
