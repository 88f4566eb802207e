"""How a sweep of short runs scales from one process to two.

    python -m benchmarks.speed.sweep [RUNS]

The shipped slider-crank (1 s of motion) with RUNS (500) lengths of its crank, once in one
process and once in two: processor time of the workers from the call to the full table, the
start of the processes included.  Two processes on idle cores are done in the time of the one that
takes longer; the mean of both stands for it, so that other work on the machine does not count.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import vbg
from benchmarks import asked
from vbg.analysis.studies.sampling import Range, grid
from vbg.analysis.studies.sweep import Study, sweep, table_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "slider-crank.toml"
RUNS = 500


def seconds(study: Study, runs: int, processes: int, folder: Path) -> float:
    """Processor time of the whole sweep, the mean of its processes."""
    points = grid([Range("r", 0.03, 0.06, runs)])
    table = table_of(study, folder / f"{processes}.csv", ["r"])
    who = resource.RUSAGE_SELF if processes == 1 else resource.RUSAGE_CHILDREN
    before = resource.getrusage(who)
    sweep(study, points, table, processes=processes)
    after = resource.getrusage(who)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert len(table.rows) == runs and all(row.status == "finished" for row in table.rows)
    return busy / processes


def measured(runs: int, processes: int, folder: Path) -> float:
    """Seconds of a sweep of the example, its kernels warm."""
    study = Study(vbg.read(EXAMPLE), {}, ("rms(A.force.x)",))
    warm = table_of(study, folder / f"warm {processes}.csv", ["r"])
    sweep(study, grid([Range("r", 0.04, 0.05, 1)]), warm)
    return seconds(study, runs, processes, folder)


def main() -> None:
    words = asked.parser(__doc__)
    words.add_argument("runs", nargs="?", type=int, default=RUNS)
    runs = words.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = measured(runs, 1, folder)
        print(f"{runs} runs, 1 process:   {one:7.2f} s, {1e3 * one / runs:.1f} ms a run")
        two = measured(runs, 2, folder)
        print(f"{runs} runs, 2 processes: {two:7.2f} s, {one / two:.2f} times as fast")


if __name__ == "__main__":
    main()
