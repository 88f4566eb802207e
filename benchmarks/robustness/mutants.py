"""Damaged model files through reading, checking, assembling and short runs.

    python -m benchmarks.robustness.mutants [--count N] [--first I] [--seed S] [--jobs J] [--run]
                                            [--read]

Each mutant is an example, a small machine around any kind of part, or one of the machines in
`damaged` with what examples and these have too little of (beams, flexible bodies,
frames, functions, latches, signals of all kinds, tables in files, included files, starts that are
found), damaged in one of the ways of `benchmarks.robustness.damage`.  It has to be refused: a
VbgError whose problems have a place and a remedy, or say what is expected; or to be read, checked
and assembled (with --read no more than checked).  With --run a short run follows, which is no
"finished" one without values or with an audit above its limit; one that is not through 10 s after
its file was opened is asked to stop, as a user would who sees a machine turn a million times, and
has to.
Nothing may take more than 20 s of processor time or 1 GB.  Every mutant that breaks the rule is
printed, then a count of what became of all.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np

import vbg
from benchmarks.robustness.damage import damaged
from vbg.errors import Problem, VbgError
from vbg.io import toml
from vbg.model import catalogue
from vbg.model.samples import machine

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
OTHERS = [
    *sorted((Path(__file__).parent / "damaged").glob("*.toml")),
    EXAMPLES[0].with_name("finite-elements") / "ladder.toml",
]
SECONDS = 20.0
LARGEST = 1_000_000_000  # bytes
LONGEST = 50_000  # characters of what is said of one model
SPAN = 0.01  # s of motion in a short run, unless the model's own is shorter
PATIENCE = 10.0  # s of processor time from reading on, after which a run is asked to stop
FINE = ("read", "assembled", "refused", "finished", "failed", "stopped")
# what is wrong and what is right are often one sentence: "expected 3 numbers, found 2"
HELPFUL = re.compile(
    r"\b(expected|must|needs|takes|give each|look at|such as|name parts)\b|; there (is|are) "
)


@cache
def sources() -> tuple[tuple[tuple[str, str], ...], ...]:
    """File and text of what is damaged: the examples; a small machine around every kind of part,
    as if it stood among them; the machines with what both have too little of."""
    beside = EXAMPLES[0].with_name
    small = tuple(
        (str(beside(f"{table}.{kind}")), machine(table, kind))
        for table, kinds in catalogue().items()
        for kind in kinds
    )
    return _texts(EXAMPLES), small, _texts(OTHERS)


def _texts(files: list[Path]) -> tuple[tuple[str, str], ...]:
    return tuple((str(file), file.read_text(encoding="utf-8")) for file in files)


class Endless(BaseException):
    """More processor time than anything may take."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises Endless in what takes longer."""

    def end(*_: object) -> None:
        raise Endless

    signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def unclear(problems: tuple[Problem, ...] | list[Problem]) -> str:
    """What is missing in what is said of a refused model: its place, or what helps."""
    for problem in problems:
        if not (problem.where and problem.what and problem.file and problem.line):
            return f"no place: {problem}"
        if not problem.remedy and not HELPFUL.search(problem.what):
            return f"no remedy: {problem}"
    return "" if problems else "no problem is named"


def fault(text: str, file: str, *, depth: str = "read") -> str:
    """What became of the text up to `depth`, "read", "assemble" or "run": "read", "assembled",
    "refused" and the like in one word, else what is wrong."""
    until = time.process_time() + PATIENCE
    try:
        model = toml.parse(text, file)
        errors = [p for p in vbg.check(model) if p.severity == "error"]
        if errors:
            return unclear(errors) or "refused"
        if depth == "read":
            return "read"
        start = vbg.start(vbg.assemble(model))
        return _run(start, until) if depth == "run" else "assembled"
    except VbgError as error:
        told = str(error)
        if not told.strip() or not told.replace("\n", "").replace("\t", "").isprintable():
            return f"says {told!r}"
        if len(told) > LONGEST:
            return f"says {len(told)} characters: {told[:200]!r}"
        return unclear(error.problems) or "refused"
    except MemoryError:
        return "more memory than there is"
    except Endless:
        return f"more than {SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"{type(error).__name__}: {error}"


def _run(start: vbg.Start, until: float) -> str:
    span = min(SPAN, start.system.model.simulate.t_end)
    solution = vbg.simulate(
        start,
        t_end=span,
        output_step=span / 4 or SPAN,
        progress=lambda fraction, t: time.process_time() < until,
    )
    if solution.status.code == "cancelled":
        return "stopped"
    if solution.status.code != "finished":
        told = solution.status.sentence and solution.status.remedy
        return solution.status.code if told else f"failed: {solution.status}"
    for name, values in solution.signals.items():
        if not np.isfinite(values).all():
            return f"finished, and {name} has no value"
    if solution.audit.failures:
        return f"finished, and {'; '.join(solution.audit.failures)}"
    return "finished"


def one(number: int, seed: int, depth: str) -> tuple[int, str, str, float, int]:
    """Number, file, fate, seconds and additional bytes of a mutant."""
    rng = random.Random(f"{seed} {number}")
    file, text = rng.choice(rng.choices(sources(), (3, 3, 2))[0])
    text = damaged(text, rng)
    begun, most = time.process_time(), _peak()
    with limited(SECONDS):
        fate = fault(text, file, depth=depth)
    return number, Path(file).name, fate, time.process_time() - begun, _peak() - most


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> int:
    """Try `count` mutants; 1 if any broke the rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--run", dest="depth", action="store_const", const="run")
    parser.add_argument("--read", dest="depth", action="store_const", const="read")
    arguments = parser.parse_args()
    act = partial(one, seed=arguments.seed, depth=arguments.depth or "assemble")
    fates: Counter[str] = Counter()
    slowest, largest = 0.0, 0
    with multiprocessing.Pool(arguments.jobs) as pool:
        numbers = range(arguments.first, arguments.first + arguments.count)
        for number, name, fate, seconds, size in pool.imap_unordered(act, numbers, chunksize=20):
            slowest, largest = max(slowest, seconds), max(largest, size)
            said = fate if size < LARGEST else f"{fate}, {size / 1e9:.1f} GB"
            fates[said if said in FINE else "broke the rule"] += 1
            if said not in FINE:
                print(f"mutant {number} of {name} ({seconds:.1f} s): {said[:300]}", flush=True)
    print(", ".join(f"{n} {fate}" for fate, n in sorted(fates.items())), end="; ")
    print(f"the slowest took {slowest:.1f} s, the largest {largest / 1e6:.0f} MB")
    return 1 if fates["broke the rule"] else 0


if __name__ == "__main__":
    sys.exit(main())
