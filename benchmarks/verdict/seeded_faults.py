"""Faults seeded into either solver at random, judged by the real `validate`.

``python -m benchmarks.verdict.seeded_faults --count 500 --seed 1`` (``--room elements`` for some)

A fault is one change of the syntax tree: a sign, an operator, a comparison, a constant, a
dropped term, two arguments exchanged.  It is put into a function that the machines below run,
and `validate` judges up to three of them with everything it has: restart, replay, tolerance by
step doubling, audits.  A fault counts as visible if it changes an output of the faulty solver by
more than 1e-6 of its peak in a machine that is run; then the verdict must be FAIL or
INCONCLUSIVE, or the run an error.  Survivors are listed.

Three warm processes wait, one with everything compiled and one for each set of kernels, which the
interpreter runs there so that a fault needs no compiling; each fault is judged in a forked child.
Draws go round the rooms of both solvers.  The table: found (FAIL, INCONCLUSIVE, error), no visible
effect, survivors, by room.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.robustness.forked import Stuck, forked
from benchmarks.verdict.seeding import ROOT, Fault, Loaded, candidates
from vbg.plumbing.components import component

# Packages and rooms of both solvers, a row of the table each: the longest that fits a module.
ROOMS = (
    "vbg.assemble",
    "vbg.assemble.derive",
    "vbg.assemble.matrices",
    "vbg.assemble.program",
    "vbg.assemble.program.machine",
    "vbg.assemble.rows",
    "vbg.assemble.start",
    "vbg.blocks",
    "vbg.causality",
    "vbg.elements",
    "vbg.graph",
    "vbg.junctions",
    "vbg.physics",
    "vbg.simulate",
    "vbg.tmm_bridge",
    "vbg.tmm_bridge.formulas",
    "vbg.tmm_bridge.kernels",
    "vbg.tmm_bridge.mechanism",
    "vbg.tmm_bridge.motion",
    "vbg.tmm_bridge.onedim",
    "vbg.tmm_bridge.tree",
)
# Machines that between them run most of both solvers, and the end of their run [s]; every sample
# of `vbg parts` besides.
MACHINES = {
    "tests/tmm_bridge/arm.toml": 0.1,
    "tests/tmm_bridge/loop.toml": 0.1,
    "tests/tmm_bridge/driven.toml": 0.1,
    "tests/tmm_bridge/docking.toml": 0.5,
    "examples/dc-motor-start.toml": 0.3,
    "examples/quarter-car.toml": 0.2,
    "examples/hydraulic-arm.toml": 0.1,
    "examples/rlc-ladder.toml": 1e-6,
    "examples/bennett.toml": 0.1,
}
SAMPLE_END = 0.1
ROWS = 5
RESIDUALS = ("residual.", "energy.residual", "energy.stored")  # audited, not compared
SETTINGS = {"rtol": 1e-9, "atol": 1e-11}
JUDGED = 3  # machines of those that run a fault's function
VISIBLE = 1e-6
CPU = 40.0  # [s] of a fault's process at least: one that takes longer is stuck, which is no PASS
# kernels that run tapes by the address of the interpreter go with it
TOGETHER = {"assemble": ("assemble", "implicit", "discrete")}
HOSTS = ("", "mstmm", "assemble")  # the set of kernels that the interpreter runs
RESULTS = ("FAIL", "INCONCLUSIVE", "error", "no effect", "survived")
Called = Mapping[str, set[tuple[str, str]]]


def room_of(module: str) -> str | None:
    """The row of the table that a module belongs to."""
    fitting = [room for room in ROOMS if f"{module}.".startswith(f"{room}.")]
    return max(fitting, key=len, default=None)


def interpreted(name: str) -> None:
    """From here on the interpreter runs the kernels of a set; before vbg is imported."""
    import numba.extending

    from vbg.plumbing.kernels.compiled import Kernels

    sound, intrinsic = Kernels.compiled, numba.extending.intrinsic

    def compiled(self: Kernels, function: Any, **options: Any) -> Any:
        if self.folder.name.rpartition("-")[0] in TOGETHER.get(name, (name,)):
            return function
        return sound(self, function, **options)

    Kernels.compiled = compiled  # type: ignore[method-assign]
    if name == "assemble":
        plain = {"at": lambda array, i: array[i], "put": _put, "run_at": _run_at}
        plain |= {"room": _room, "give_back": lambda array: None}
        numba.extending.intrinsic = lambda f: plain.get(f.__name__) or intrinsic(f)
        for module in ("tape", *(f"series.{name}" for name in ("stepping", "projection", "rows"))):
            import_module(f"vbg.assemble.program.machine.{module}")
        numba.extending.intrinsic = intrinsic
    _without_machine_code(name)


def _without_machine_code(name: str) -> None:
    """Who calls the machine code of a set calls the interpreter instead."""
    from vbg.plumbing.kernels.native import Native

    call, bound, address = Native.__call__, Native.bound, Native.address.func

    def inside(native: Native) -> bool:
        folder = native.family._kernels.folder.name
        return folder.rpartition("-")[0] in TOGETHER.get(name, (name,))

    def by_python(native: Native, *arguments: Any) -> int:
        if not inside(native):
            return call(native, *arguments)
        kernel = native.python()
        _numbers_of_machines(_package_of(kernel.__module__))
        with np.errstate(all="ignore"):
            return kernel(*(np.float64(a) if type(a) is float else a for a in arguments)) or 0

    def bound_python(native: Native, *arguments: Any) -> Any:
        if not inside(native):
            return bound(native, *arguments)
        return partial(by_python, native, *arguments)

    def python_itself(native: Native) -> Any:
        return native.python() if inside(native) else address(native)

    faked = {"__call__": by_python, "bound": bound_python, "address": property(python_itself)}
    for method, replaced in faked.items():
        setattr(Native, method, replaced)


class Mathematics:
    """`math` as machine code has it: no value is NaN, and dividing by zero gives infinity."""

    BY_NUMPY: ClassVar = {"pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    BY_NUMPY |= {"atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}

    def __getattr__(self, name: str) -> Any:
        return getattr(np, self.BY_NUMPY.get(name, name), None) or getattr(math, name)


def _package_of(module: str) -> str:
    """The package of kernels that a module is of, in whichever of its rooms."""
    packages = ("vbg.assemble.program.machine", "vbg.tmm_bridge.kernels")
    return next((p for p in packages if module.startswith(f"{p}.")), module.rpartition(".")[0])


@cache
def _numbers_of_machines(package: str) -> None:
    """Kernels of a package, which the interpreter runs, have them from here on."""
    for name, module in list(sys.modules.items()):
        if name.startswith(package) and getattr(module, "math", None) is math:
            module.math = Mathematics()  # type: ignore[attr-defined]


def _run_at(kernel: Any, *tape: Any) -> None:
    """What stands for the address of the interpreter is itself."""
    kernel(*tape)


def _room(like: Any, number: int) -> Any:
    return np.zeros(number, dtype=like.dtype)


def _put(array: Any, index: int, value: Any) -> None:
    array[index] = value


def kernels_of(name: str) -> set[str]:
    """Modules of a set of kernels."""
    from vbg.assemble.program.machine.sources import SOURCES as MACHINE
    from vbg.tmm_bridge.kernels.sources import SOURCES as MSTMM

    files = {"mstmm": MSTMM, "assemble": [path for path in MACHINE if "machine" in path.parts]}
    return {
        ".".join(Path(path).relative_to(ROOT).with_suffix("").parts) for path in files.get(name, ())
    }


def sample(name: str) -> tuple[str, float]:
    """Text and end of the run of a machine by its name."""
    if name in MACHINES or Path(ROOT / name).is_file():
        return (ROOT / name).read_text(), MACHINES.get(name, SAMPLE_END)
    from vbg.model.samples import machine

    return machine(*name.split(".")), SAMPLE_END


def _moves(name: str) -> bool:
    """Whether a machine is one for the kernels, which parts of circuits hardly differ in."""
    return name in MACHINES or name.split(".")[0] in ("joints", "forces", "bodies")


def samples() -> Iterator[str]:
    """Names of the samples of `vbg parts`."""
    from vbg.model.catalogue import catalogue
    from vbg.model.samples import machine

    for table, kinds in catalogue().items():
        for kind in kinds:
            try:
                machine(table, kind)
            except KeyError:
                continue
            yield f"{table}.{kind}"


def judge(name: str) -> dict[str, Any]:
    """The verdict on one machine, and the outputs of both solvers."""
    from vbg.io import toml
    from vbg.validate import validate

    text, end = sample(name)
    model = toml.parse(text, str(ROOT / "examples"))
    end = min(end, model.simulate.t_end)
    report = validate(model, t_end=end, output_step=end / ROWS, in_children=False, **SETTINGS)
    outputs = {
        solver: {n: v.copy() for n, v in s.signals.items() if not n.startswith(RESIDUALS)}
        for solver, s in report.solutions.items()
    }
    said = {"result": report.result, "sentence": report.verdict.sentence, "outputs": outputs}
    for what, mark in (("free", "NOT UNIQUE"), ("zero", "VACUOUS")):
        said[what] = {c.name for c in report.channels if c.result == mark}
    return said


def traced(name: str) -> tuple[dict[str, Any], set[tuple[str, str]], float]:
    """What `judge` says, (module, function) of all functions that the machine calls, and the
    processor time [s] of that."""
    called: set[tuple[str, str]] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("vbg."):
            called.add((module, frame.f_code.co_qualname))

    begun = time.process_time()
    sys.setprofile(note)
    try:
        sound = judge(name)
    finally:
        sys.setprofile(None)
    return sound, called, time.process_time() - begun


def visible(sound: dict[str, Any], faulty: dict[str, Any]) -> str:
    """Name of an output that differs by more than the threshold from that without fault; not
    judged is what a redundant machine does not determine, and what is rounding in both."""
    import numpy as np

    aside = sound["free"] | (sound["zero"] & faulty["zero"])

    def judged(name: str, values: Any) -> Any:
        kept = np.array(values)
        columns = kept.reshape(len(kept), -1)
        out = [
            k
            for k in range(columns.shape[1])
            if {name, component(name, k, columns.shape[1])} & aside
        ]
        columns[:, out] = 0.0
        return kept

    for solver, signals in sound["outputs"].items():
        largest: dict[str, float] = {}  # of signals of one kind: beside it others are zero
        for name, values in signals.items():
            kind = name.rpartition(".")[2]
            largest[kind] = max(largest.get(kind, 0.0), float(np.abs(values).max(initial=0.0)))
        for name, values in signals.items():
            values, other = judged(name, values), faulty["outputs"].get(solver, {}).get(name)
            if other is None or other.shape != values.shape:
                return f"{solver} {name}"
            other = judged(name, other)
            floor = max(1e-6 * largest[name.rpartition(".")[2]], 1e-9)
            peak = max(float(np.abs(values).max(initial=0.0)), floor)
            if not float(np.abs(other - values).max(initial=0.0)) <= VISIBLE * peak:
                return f"{solver} {name}"
    return ""


class Host:
    """A warm process: sound outputs of every machine, and a forked child for each order."""

    def __init__(self, name: str, machines: tuple[str, ...]):
        if name:
            interpreted(name)
        self.sound: dict[str, dict[str, Any]] = {}
        self.called: dict[str, set[tuple[str, str]]] = {}
        self.cpu: dict[str, float] = {}  # [s] that a fault may take on a machine
        kernels = kernels_of(name)
        others = set().union(*(kernels_of(other) for other in HOSTS))
        for machine in machines[:2]:
            judge(machine)
        for machine in machines if not name else filter(_moves, machines):
            try:
                sound, called, spent = forked(lambda m=machine: traced(m), 4.0 * CPU)
            except (Stuck, RuntimeError) as error:
                print(f"left out: {machine}: {error}", file=sys.stderr)
                continue
            if sound["result"] != "PASS":
                print(f"left out: {machine}: {sound['sentence']}", file=sys.stderr)
                continue
            self.sound[machine] = sound
            self.cpu[machine] = max(CPU, 4.0 * spent)
            self.called[machine] = {
                (module, function)
                for module, function in called
                if room_of(module) and (module in kernels if name else module not in others)
            }
        self.loaded = Loaded()

    def outcome(self, fault: Fault, machines: list[str]) -> tuple[str, str]:
        """("FAIL" ... "survived", sentence) of a fault over the machines."""
        said = ""
        for machine in machines:
            try:
                found = forked(lambda m=machine: self._judged(fault, m), self.cpu[machine])
            except Stuck as error:
                return "error", str(error)
            except RuntimeError as error:
                if str(error).startswith("LookupError"):
                    return "not put", "nobody holds the function"
                return "error", str(error)
            if found["result"] != "PASS":
                return found["result"], found["sentence"]
            if found["visible"]:
                return "survived", f"{machine}: {found['visible']}: {found['sentence']}"
            said = found["sentence"]
        return "no effect", said

    def _judged(self, fault: Fault, machine: str) -> dict[str, Any]:
        self.loaded.put(fault)
        found = judge(machine)
        seen = visible(self.sound[machine], found)
        return {"result": found["result"], "sentence": found["sentence"], "visible": seen}


def serve(name: str, machines: tuple[str, ...], pipe: Connection) -> None:
    """A host at the end of a pipe: says what its machines call, then judges faults until None."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        host = Host(name, machines)
        pipe.send(host.called)
        while (order := pipe.recv()) is not None:
            pipe.send(host.outcome(*order))


def campaign(
    count: int,
    seed: int,
    rooms: tuple[str, ...] = ROOMS,
    machines: tuple[str, ...] = (),
    hosts: tuple[str, ...] = HOSTS,
) -> Counter[tuple[str, str]]:
    """Seeds faults, prints each and the table, and returns it."""
    machines = machines or (*MACHINES, *samples())
    pipes: dict[str, Connection] = {}
    context = multiprocessing.get_context("spawn")
    workers = []
    called: dict[str, Called] = {}
    for host in hosts:
        pipes[host], theirs = context.Pipe()
        workers.append(context.Process(target=serve, args=(host, machines, theirs), daemon=False))
        workers[-1].start()
        theirs.close()
        called[host] = pipes[host].recv()  # one after the other: each compiles or loads
    pools: dict[str, list[tuple[str, Fault]]] = {room: [] for room in rooms}
    for host, found in called.items():
        for fault in candidates(set().union(*found.values())):
            if (room := room_of(fault.module)) in pools:
                pools[room].append((host, fault))
    table: Counter[tuple[str, str]] = Counter()
    draw = random.Random(seed)
    drawn = [room for room in rooms if pools[room]]
    while sum(table.values()) < count:
        room = drawn[sum(table.values()) % len(drawn)]
        host, fault = draw.choice(pools[room])
        running = [m for m, f in called[host].items() if (fault.module, fault.function) in f]
        pipes[host].send((fault, draw.sample(running, min(JUDGED, len(running)))))
        result, sentence = pipes[host].recv()
        if result == "not put":
            continue
        table[room, result] += 1
        print(f"{result:14}{fault.module}:{fault.line} {fault.function}, {fault.what}", flush=True)
        if result in ("survived", "error"):
            print(f"              {json.dumps(sentence[:200])}", flush=True)
    for pipe in pipes.values():
        pipe.send(None)
    for worker in workers:
        worker.join()
    _print_table(table, rooms)
    return table


def _print_table(table: Counter[tuple[str, str]], rooms: tuple[str, ...]) -> None:
    print(f"\n{'room':30}" + "".join(f"{r:>14}" for r in RESULTS))
    for room in rooms:
        print(f"{room:30}" + "".join(f"{table[room, r]:>14}" for r in RESULTS))
    totals = {r: sum(n for (_, other), n in table.items() if other == r) for r in RESULTS}
    print(f"{'all':30}" + "".join(f"{totals[r]:>14}" for r in RESULTS))


def main() -> None:
    """The campaign; exit code 1 if a fault survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append", help="start of a room's name, such as elements")
    parser.add_argument("--machine", action="append", help="a model file or TABLE.KIND of a sample")
    parser.add_argument("--host", action="append", choices=HOSTS, help="a set of kernels only")
    arguments = parser.parse_args()
    rooms = tuple(
        r for r in ROOMS if any(r.startswith(f"vbg.{name}") for name in arguments.room or [""])
    )
    table = campaign(
        arguments.count,
        arguments.seed,
        rooms,
        tuple(arguments.machine or ()),
        tuple(arguments.host or HOSTS),
    )
    sys.exit(1 if any(result == "survived" for _, result in table) else 0)


if __name__ == "__main__":
    main()
