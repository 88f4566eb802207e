"""Damaged model files through reading, checking, assembling and short runs.

    python -m benchmarks.mutants [--count N] [--first I] [--seed S] [--jobs J] [--run] [--read]

Each mutant is an example with a few tokens replaced, doubled, swapped or cut out, numbers by
strange ones and names by other names.  It has to be refused: a VbgError whose problems have a
place and a remedy, or say what is expected; or to be read, checked and assembled (with --read
no more than checked).  With --run a short run follows, which is no "finished" one without
values or with an audit above its limit.  Nothing may take more than 20 s of processor time or
1 GB.  Every mutant that breaks the rule is printed, then a count of what became of all.
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
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

import vbg
from vbg.errors import Problem, VbgError
from vbg.io import toml

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.toml"))
_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
SECONDS = 20.0
LARGEST = 1_000_000_000  # bytes
SPAN = 0.01  # s of motion in a short run, unless the model's own is shorter
FINE = ("read", "assembled", "refused", "finished", "failed")
# what is wrong and what helps are often one sentence: "expected 3 numbers, found 2"
HELPFUL = re.compile(
    r"\b(expected|must|needs|there (is|are)|at (most|least)|unless|only|such as|look at|takes"
    r"|give each|is \{)"
)
STRANGE = (
    *(
        "0",
        "-1",
        "1e308",
        "-1e-300",
        "nan",
        "inf",
        "2**70",
        "1/0",
        "[]",
        "{}",
        '""',
        "true",
        "=",
        '"',
    ),
    *(
        "[[",
        "]",
        "'''",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "é",
        "t",
        "sqrt(-1)",
        "a.b.c",
        "ground",
        "1979-05-27",
    ),
)


def mutant(text: str, rng: random.Random) -> str:
    """The text with one to four of its tokens changed."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(tokens))
        kind = rng.randrange(5)
        if kind == 0:
            tokens[at] = rng.choice(STRANGE)
        elif kind == 1:
            tokens[at] = rng.choice(tokens)
        elif kind == 2:
            tokens[at : at + rng.randint(1, 5)] = [""]
        elif kind == 3:
            tokens.insert(at, rng.choice(tokens))
        else:
            lines = "".join(tokens).split("\n")
            lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
            tokens = _TOKEN.findall("\n".join(lines))
    return "".join(tokens)


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
        if not problem.where or not problem.what:
            return f"no place: {problem}"
        if not problem.remedy and not HELPFUL.search(problem.what):
            return f"no remedy: {problem}"
    return "" if problems else "no problem is named"


def fault(text: str, file: str, *, depth: str = "read") -> str:
    """What became of the text up to `depth`, "read", "assemble" or "run": "read", "assembled",
    "refused" and the like in one word, else what is wrong."""
    try:
        model = toml.parse(text, file)
        errors = [p for p in vbg.check(model) if p.severity == "error"]
        if errors:
            return unclear(errors) or "refused"
        if depth == "read":
            return "read"
        start = vbg.start(vbg.assemble(model))
        return _run(start) if depth == "run" else "assembled"
    except VbgError as error:
        told = str(error)
        if not told.strip() or not told.replace("\n", "").replace("\t", "").isprintable():
            return f"says {told!r}"
        return unclear(error.problems) or "refused"
    except MemoryError:
        return "more memory than there is"
    except Endless:
        return f"more than {SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"{type(error).__name__}: {error}"


def _run(start: vbg.Start) -> str:
    span = min(SPAN, start.system.model.simulate.t_end)
    solution = vbg.simulate(start, t_end=span, output_step=span / 4 or SPAN)
    if solution.status.code != "finished":
        return solution.status.code if solution.status.sentence else "failed without a word"
    for name, values in solution.signals.items():
        if not np.isfinite(values).all():
            return f"finished, and {name} has no value"
    if solution.audit.failures:
        return f"finished, and {'; '.join(solution.audit.failures)}"
    return "finished"


def one(number: int, seed: int, depth: str) -> tuple[int, str, str, float, int]:
    """Number, file, fate, seconds and additional bytes of a mutant."""
    rng = random.Random(f"{seed} {number}")
    file = rng.choice(EXAMPLES)
    text = _read_mostly(file.read_text(encoding="utf-8"), rng)
    begun, most = time.process_time(), _peak()
    with limited(SECONDS):
        fate = fault(text, str(file), depth=depth)
    return number, file.name, fate, time.process_time() - begun, _peak() - most


def _read_mostly(text: str, rng: random.Random) -> str:
    """A mutant; three of four can be read as TOML, or the mistakes behind it were never met."""
    draws = 1 if rng.random() < 0.25 else 12
    for _ in range(draws):
        found = mutant(text, rng)
        try:
            tomllib.loads(found)
        except ValueError:
            continue
        break
    return found


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
