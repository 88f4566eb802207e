"""Speed in one table, each row beside its goal and its peer in the same run.

    python -m benchmarks.all [--cold] [ROW ...]

Processor time of the process and of those that it starts, the least of several; a ROW is chosen by
the beginning of its name.  Behind a goal stands how many times it is taken.  `--cold`: first runs,
too, of a vbg that was installed just now, which compiles its kernels (a minute of processor time),
and of a checkout, which does not.  Peers that are not installed are left out and named.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import vbg
from benchmarks.machines import chain, has_pinocchio, pin_chain
from benchmarks.speed import by_hand, drake_chain, implicit, ladder, runs, sweep
from benchmarks.timing import best_seconds, exponent
from vbg.plumbing.one_thread import one_thread

ROOT = Path(__file__).resolve().parents[1]
ROWS = 1_000_000  # of 45 columns to HDF5; a tenth of them is timed
STAGES = 4 * 1000  # rates of a second of rk4 at 1 ms


@dataclass(frozen=True)
class Row:
    """`seconds` of the work, those of the peer where there is one, and the goal [s], or in times
    of the peer's seconds where it is a `share`; `plain`: a number that is no time, as an exponent,
    `more`: one that is to be at least its goal."""

    name: str
    seconds: Callable[[], float]
    goal: float
    peer: str = ""
    beside: Callable[[], float] | None = None
    plain: bool = False
    share: bool = False
    more: bool = False


def run_of(name: str) -> Callable[[], float]:
    """Of `vbg.simulate` from an assembled start, as `benchmarks.speed.runs` has it."""
    return lambda: runs.measure(name, repeats=5)[0]


def rates_by_pinocchio() -> float:
    """A second of rk4 at 1 ms in rates of `aba` with the forces by `rnea`, called from Python."""
    import pinocchio as pin

    model, q, v = pin_chain(100)
    data, none = model.createData(), np.zeros(100)

    def one() -> None:
        acceleration = pin.aba(model, data, q, v, none)
        pin.rnea(model, data, q, v, acceleration)

    return STAGES * best_seconds(one)


def pendulum_by_hand() -> float:
    grid = vbg.simulate(runs.started("pendulum")).time
    return best_seconds(lambda: runs.pendulum_by_hand(grid))


def oil_by_hand(name: str) -> Callable[[], float]:
    return lambda: best_seconds(by_hand.task(name)[0], 3, 0.0)


def chain_by_drake() -> float:
    return best_seconds(drake_chain.second(100), 3, 0.0)


def stiff_by(method: str) -> Callable[[], float]:
    """The stiff ladder of 200 sections by the implicit method, or by scipy's."""

    def seconds() -> float:
        work = implicit.WORKS["stiff ladder of 200"]()
        with one_thread():
            return best_seconds(lambda: implicit.through(getattr(work, method)()), 3, 0.0)

    return seconds


def default_of_minimal() -> float:
    """The same chain at default settings."""
    start = runs.started("chain 100")
    return best_seconds(lambda: vbg.simulate(start, **runs.COARSE), 3, 0.0)


def long_chain() -> float:
    start = runs.started("chain 1000")
    return best_seconds(lambda: vbg.simulate(start, t_end=1.0, output_step=0.01), 1, 0.0)


def built(n: int) -> float:
    """Model, equations and start of a chain."""
    return best_seconds(lambda: vbg.start(vbg.assemble(chain(n))), 3, 0.0)


def growth_of_start() -> float:
    sizes = (125, 250, 500)
    return exponent(sizes, [built(n) for n in sizes])


def growth_of_ladder() -> float:
    sizes = (125, 250, 500)
    models = [ladder.model(ladder.plain(n)) for n in sizes]
    return exponent(sizes, [best_seconds(lambda m=m: vbg.assemble(m), 3, 0.0) for m in models])


def whole_ladder() -> float:
    model = ladder.model(ladder.stiff(1000))
    return best_seconds(lambda: vbg.simulate(vbg.start(vbg.assemble(model))), 2, 0.0)


def command(
    *words: str, module: str = "vbg.cli.entry", repeats: int = 5, **environment: str
) -> Callable[[], float]:
    """Of a command and the processes that it starts, which keep Python's bytecode as those of an
    installed vbg do."""
    told = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    told.pop("PYTHONDONTWRITEBYTECODE", None)

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", module, *words],
            cwd=ROOT / "examples",
            env=told,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return lambda: min(once() for _ in range(repeats))


def installed(folder: Path) -> Callable[[], float]:
    """Of pip, which makes the wheel with an empty folder for compiled kernels and puts it into
    `folder`/package; what else vbg needs stands here already."""
    told = {"VBG_CACHE_DIR": str(folder / "built")}
    words = ("install", "--quiet", "--no-deps", "--target", str(folder / "package"), str(ROOT))
    return command(*words, module="pip", repeats=1, **told)


def sweep_of_two(count: int = 200) -> float:
    """How many times as fast two processes are, by their processor time."""
    with tempfile.TemporaryDirectory() as folder:
        one, two = (sweep.measured(count, n, Path(folder)) for n in (1, 2))
    return one / two


def swept(count: int = 100) -> float:
    """One run of a sweep of the slider-crank by one process, from its table to its measure."""
    with tempfile.TemporaryDirectory() as folder:
        return sweep.measured(count, 1, Path(folder)) / count


def alone() -> float:
    """The same run by itself: equations, start, run."""
    model = vbg.read(sweep.EXAMPLE)
    return best_seconds(lambda: vbg.simulate(model), 5, 0.0)


def written() -> float:
    """Rows of 45 columns into HDF5, as a run hands them over."""
    from vbg.io.runs.hdf5 import Writer

    times = np.linspace(0.0, 1.0, 256)
    block = {f"s{k}": np.outer(times, np.arange(3.0)) for k in range(15)}
    text = (ROOT / "examples" / "pendulum.toml").read_text()
    with tempfile.TemporaryDirectory() as folder:

        def write() -> None:
            file = Path(folder) / "rows.h5"
            file.unlink(missing_ok=True)
            with Writer(str(file), model=text) as writer:
                for k in range(ROWS // 10 // len(times)):
                    writer.append(times + k, block)

        return 10.0 * best_seconds(write, 1, 0.0)


def table(cold: str | None) -> Iterator[Row]:
    """The rows; `cold`: a folder without compiled kernels."""
    forces = "Pinocchio aba + rnea, from Python, rates alone"
    peer = rates_by_pinocchio if has_pinocchio() else None
    yield Row("chain of 100, rk4 1 ms", run_of("chain of 100, rk4"), 0.12, forces, peer)
    words = f"Drake to {drake_chain.ACCURACY:g}, without forces and rows"
    drake = chain_by_drake if drake_chain.has_drake() else None
    yield Row("chain of 100, default", run_of("chain of 100, default"), 0.12, words, drake)
    yield Row("slider-crank, 1001 rows", run_of("slider-crank"), 0.05)
    hand = "by hand, scipy"
    yield Row("pendulum, one run", run_of("pendulum"), 0.004, hand, pendulum_by_hand)
    lsoda = "by hand, scipy's LSODA, no joint forces"
    for name, goal in (("motor-slider-crank", 0.06), ("hydraulic-arm", 0.015)):
        yield Row(name, run_of(name), goal, lsoda, oil_by_hand(name))
    peer_of_it = "scipy's Radau, the same rates and Jacobian"
    yield Row(
        "stiff ladder, implicit", stiff_by("own"), 1.0, peer_of_it, stiff_by("scipys"), share=True
    )
    own, minimal = "own default", run_of("chain of 100, minimal")
    yield Row("minimal, chain of 100", minimal, 1.5, own, default_of_minimal, share=True)
    yield Row("1000 bodies, 1 s", long_chain, 2.0)
    yield Row("1000 bodies, build", lambda: built(1000), 2.0)
    yield Row("chain start, exponent", growth_of_start, 1.1, plain=True)
    yield Row("ladder assembly, exponent", growth_of_ladder, 1.1, plain=True)
    yield Row("ladder of 1000, whole call", whole_ladder, 0.5)
    one = ("run", "pendulum.toml")
    both = ("validate", "pendulum.toml")
    yield Row("vbg run, process", command(*one), 0.45)
    yield Row("vbg validate, process", command(*both), 1.5)
    yield Row("1e6 rows to HDF5", written, 15.0)
    yield Row("sweep, a run by one core", swept, 0.25, "the same run alone", alone, share=True)
    yield Row("sweep, 1 process over 2", sweep_of_two, 1.9, plain=True, more=True)
    if cold is None:
        return
    package = {"PYTHONPATH": f"{cold}/package"}
    yield Row("cold: installation", installed(Path(cold)), 60.0)
    for name, told in (("installed", package), ("checkout", {"PYTHONPATH": str(ROOT)})):
        told = told | {"VBG_CACHE_DIR": f"{cold}/{name}"}
        run, validation = (command(*words, repeats=1, **told) for words in (one, both))
        yield Row(f"cold: first run, {name}", run, 8.0)
        yield Row(f"cold: first validation, {name}", validation, 8.0)


def missing() -> list[str]:
    """Peers that are not here."""
    found = {
        "Pinocchio": has_pinocchio(),
        "Drake": drake_chain.has_drake(),
        "ngspice": shutil.which("ngspice") is not None,
    }
    return [name for name, there in found.items() if not there]


def machine() -> str:
    """The processor, as the system calls it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{name}, {os.cpu_count()} cores{load}, Python {platform.python_version()}"


def show(row: Row) -> None:
    found = row.seconds()
    beside = row.beside() if row.beside is not None else None
    scale, unit = (1.0, "") if row.plain else (1e3, " ms")
    line = f"{row.name:28s}{scale * found:11.2f}{unit:3s}"
    goal = row.goal * beside if row.share and beside is not None else row.goal
    times = goal / found if row.more else found / goal
    line += f"{scale * goal:11.2f}{unit:3s} {times:6.2f} x"
    if beside is not None:
        line += f"{1e3 * beside:11.2f} ms {found / beside:6.2f} x {row.peer}"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--cold", action="store_true")
    arguments = parser.parse_args()
    print(machine())
    print(f"{'work':28s}{'vbg':>11s}   {'goal':>11s}   {'':8s}{'peer':>12s}")
    with tempfile.TemporaryDirectory() as folder:
        for row in table(folder if arguments.cold else None):
            if not arguments.rows or row.name.startswith(tuple(arguments.rows)):
                show(row)
    for name in missing():
        print(f"not installed, left out: {name}")


if __name__ == "__main__":
    main()
