"""Runs of exported C code beside vbg's.

``python -m benchmarks.speed.exported [--every N] [--first K]``

A machine for every kind of part (the samples of `vbg parts`) and every example, each run to its
end (samples: one second at most) by vbg and by its C code.  What is told: the largest difference
of a signal, of the largest value of all signals of its kind; or why it was refused.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import vbg
from vbg.errors import VbgError
from vbg.export import exported
from vbg.export.code import identifier, sources
from vbg.export.compiler import compile_c, find_compiler
from vbg.model.catalogue import catalogue
from vbg.model.samples import machine
from vbg.plumbing.components import vector_of
from vbg.solution import components

LONGEST = 1.0
WRONG = 1e-5  # of the peak: more is a fault, or a machine that forgets its start
ROWS = 100
RUNTIME = ("vbg_tape", "vbg_eliminate", "vbg_machine", "vbg_run")


def models() -> Iterator[tuple[str, vbg.Model, float]]:
    """Name, model and end of the run."""
    from vbg.io import toml

    for table, kinds in catalogue().items():
        for kind in kinds:
            try:
                model = toml.parse(machine(table, kind), f"{table}.{kind}")
            except VbgError:
                continue  # a sample that reads other files
            yield f"{table}.{kind}", model, min(model.simulate.t_end, LONGEST)
    for path in sorted(Path("examples").glob("*.toml")):
        model = vbg.read(path)
        yield path.stem, model, model.simulate.t_end


class Compiled:
    """A folder in which the code that all machines share is compiled once."""

    def __init__(self, folder: Path):
        self._folder, self._ready = folder, False

    def table(
        self, start: vbg.Start, t_end: float, step: float
    ) -> tuple[dict[str, np.ndarray], str]:
        """Columns of the run by name, and what it said of its ending."""
        name = identifier(start.system.model.name)
        for file, text in sources(exported(start)).items():
            (self._folder / file).write_text(text)
        command = find_compiler()
        for unit in RUNTIME if not self._ready else ():
            output = self._folder / f"{unit}.o"
            compile_c(command, self._folder, ["-c", f"{unit}.c"], output, [])
        self._ready = True
        files = [f"{name}.c", "main.c", *(f"{unit}.o" for unit in RUNTIME)]
        compile_c(command, self._folder, files, self._folder / "run", ["-O0"])
        given = [self._folder / "run", repr(t_end), repr(step)]
        done = subprocess.run(given, capture_output=True, text=True, check=False, timeout=100)
        header, *lines = done.stdout.splitlines()
        names = [title.rpartition(" [")[0] for title in header.split(",")]
        values = np.array([line.split(",") for line in lines], dtype=float).reshape(-1, len(names))
        return dict(zip(names, values.T)), done.stderr.strip()


def family(signal: str) -> str:
    """What a signal is, without whose and which component."""
    return vector_of(signal).rpartition(".")[2]


def worst(found: Mapping[str, np.ndarray], columns: Mapping[str, np.ndarray]) -> tuple[float, str]:
    """The largest difference, of the peak of all signals of its kind, and whose it is."""
    peaks: dict[str, float] = {}
    for name, values in columns.items():
        peaks[family(name)] = max(peaks.get(family(name), 0.0), float(np.abs(values).max()))
    rows = min(len(next(iter(found.values()))), len(next(iter(columns.values()))))
    misses = [
        (float(np.abs(found[n][:rows] - columns[n][:rows]).max()) / peaks[family(n)], n)
        for n in columns
        if n in found and peaks[family(n)] > 1e-9 and not n.startswith("energy.")
    ]
    return max(misses, default=(0.0, ""))


def compare(compiled: Compiled, model: vbg.Model, t_end: float) -> str:
    """One line about one machine."""
    try:
        start = vbg.start(vbg.assemble(model))
        step = t_end / ROWS
        found, told = compiled.table(start, t_end, step)
        solution = vbg.simulate(start, t_end=t_end, output_step=step)
    except VbgError as error:
        return f"refused: {str(error)[:110]}"
    except subprocess.TimeoutExpired:
        return "C takes more than 100 s"
    miss, name = worst(found, dict(components(solution)))
    whole = len(found["time"]) == len(solution.time) == ROWS + 1
    mark = "" if whole and miss < WRONG else "  <--"
    ending = f"{solution.status.code}, {solution.made_by.method}" if not mark else told
    return f"{miss:8.1e} {name:34} {ending}{mark}"


def main(every: int, first: int) -> None:
    wrong = count = 0
    with TemporaryDirectory() as folder:
        compiled = Compiled(Path(folder))
        for i, (name, model, t_end) in enumerate(models()):
            if i < first or (i - first) % every:
                continue
            line = compare(compiled, model, t_end)
            count, wrong = count + 1, wrong + line.endswith("<--")
            print(f"{name:36} {line}", flush=True)
    print(f"{count} machines, {wrong} differ by more than {WRONG:g} or ended early")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    main(arguments.every, arguments.first)
