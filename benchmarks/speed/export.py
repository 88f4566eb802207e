"""Speed of exported C code.  ``python -m benchmarks.speed.export [--quick]``

First table: one evaluation of the rate with all joint forces of chains of n rods, by the compiled
tape of vbg and by the exported C code, in one run, warm, processor time, best of repeats.  Second:
steps of fixed length of examples with all signals (`vbg export --realtime --step 1e-3`; the least
mean of the repeats, with the longest step of that run), and their memory.
Third: one second of the slider-crank as an FMU in Co-Simulation, a thousand steps of 1 ms, every
output read at each, called from C.
"""

from __future__ import annotations

import ctypes
import subprocess
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import vbg
from benchmarks import asked
from benchmarks.machines import chain
from benchmarks.timing import best_seconds
from vbg.assemble.program.evaluator import Evaluator
from vbg.export import write_code
from vbg.export.code import identifier
from vbg.export.compiler import compile_c, find_compiler

SIZES, QUICK = (1, 10, 100, 1000), (1, 10)
EXAMPLES = ("pendulum", "slider-crank", "two-link-robot", "hydraulic-arm", "stewart-platform")
REPEATS = 5

CALLER = """
#include <stdlib.h>
#include <time.h>
#include "NAME.h"

static vbg *opened(void)
{
    vbg *v = malloc(sizeof *v);
    vbg_open(v, &machine_NAME, malloc((size_t)vbg_doubles(&machine_NAME) * sizeof(double)));
    vbg_begin(v);
    return v;
}

double rates(int count, double *first)
{
    vbg *v = opened();
    for (int i = 0; i < count / 10 + 1; i++) vbg_rates(v, 0.0, v->x);
    const clock_t began = clock();
    for (int i = 0; i < count; i++) *first = vbg_rates(v, 0.0, v->x)[0];
    const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC / count;
    free(v->memory);
    free(v);
    return seconds;
}

double table(int count, double h)
{
    vbg *v = opened();
    double *x = malloc((size_t)(machine_NAME.states + 1) * sizeof *x), sum = 0.0;
    const clock_t began = clock();
    for (int i = 1; i <= count; i++) {
        vbg_advance(v, i * h, 1, x);
        sum += vbg_outputs(v, vbg_time(v, i * h), x)[0];
    }
    const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC + 0.0 * sum;
    free(v->memory);
    free(v);
    free(x);
    return seconds;
}
"""


def library(start: vbg.Start, folder: Path) -> ctypes.CDLL:
    """The machine's code with CALLER, as the Makefile compiles it."""
    name = identifier(start.system.model.name)
    written = write_code(start, folder)
    (folder / "caller.c").write_text(CALLER.replace("NAME", name))
    files = [p.name for p in written if p.suffix == ".c" and p.name != "main.c"] + ["caller.c"]
    compile_c(find_compiler(), folder, files, folder / "machine.so", ["-shared", "-fPIC"])
    found = ctypes.CDLL(str(folder / "machine.so"))
    for function in (found.rates, found.table):
        function.restype = ctypes.c_double
    return found


def chains(sizes: tuple[int, ...]) -> None:
    """One line per size."""
    print("one evaluation of the rate with all joint forces, microseconds")
    print(f"{'n':>5} {'tape':>9} {'C':>9} {'C / tape':>9}")
    for n in sizes:
        start = vbg.start(vbg.assemble(chain(n)))
        evaluate = Evaluator(start.rate_program)
        with TemporaryDirectory() as folder:
            code, value = library(start, Path(folder)), ctypes.c_double()
            count = max(20, 20_000 // n)
            ours = min(code.rates(count, ctypes.byref(value)) for _ in range(REPEATS))
        tape = best_seconds(partial(evaluate, 0.0, start.state))
        print(f"{n:5} {1e6 * tape:9.2f} {1e6 * ours:9.2f} {ours / tape:9.2f}")


def steps(names: tuple[str, ...]) -> None:
    """Steps of 1 ms of examples, with all signals, by the code of `vbg export --realtime`."""
    print("\nsteps of fixed length with all signals, over the file's own time")
    for name in names:
        start = vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))
        with TemporaryDirectory() as folder:
            files = [p.name for p in write_code(start, folder, step=1e-3) if p.suffix == ".c"]
            program = Path(folder) / "machine"
            compile_c(find_compiler(), Path(folder), files, program, [])
            told = [subprocess.check_output([program, "time"], text=True) for _ in range(REPEATS)]
        print(min(told, key=lambda line: float(line.split(" us each")[0].split()[-1])).strip())


def communication(name: str) -> None:
    """One second of motion in steps of 1 ms, with all signals."""
    start = vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))
    with TemporaryDirectory() as folder:
        code = library(start, Path(folder))
        best = min(code.table(1000, ctypes.c_double(1e-3)) for _ in range(REPEATS))
    print(f"\n{name}, 1 s adaptively, all signals every 1 ms: {1e3 * best:.1f} ms")


def main(quick: bool) -> None:
    chains(QUICK if quick else SIZES)
    steps(EXAMPLES[:1] if quick else EXAMPLES)
    communication("slider-crank")


if __name__ == "__main__":
    main(asked.quick(__doc__))
