"""Damaged model files through reading, checking, assembling and short runs.

    python -m benchmarks.mutants [--count N] [--seed S] [--assemble] [--run]

Each mutant is an example with a few tokens replaced, doubled, swapped or cut out, numbers by
strange ones and names by other names.  It has to be read or refused: a VbgError whose
problems have a place and say something, nothing else; and a run that ends "finished" has
values.  Printed is how many were refused and every one that broke the rule.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from pathlib import Path

import numpy as np

import vbg
from vbg.errors import VbgError
from vbg.io import toml

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.toml"))
_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
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


def fault(text: str, file: str, *, assemble: bool = False, run: bool = False) -> str:
    """What is wrong with how the text is treated: "" nothing, "refused" nothing, either."""
    try:
        model = toml.parse(text, file)
        problems = vbg.check(model)
        if any(problem.severity == "error" for problem in problems):
            return "refused" if all(p.what and p.where for p in problems) else "no place"
        if assemble or run:
            system = vbg.assemble(model)
        if run:
            solution = vbg.simulate(system, t_end=1e-3, output_step=5e-4)
            values = all(np.isfinite(v).all() for v in solution.signals.values())
            if solution.status.code == "finished" and not values:
                return "finished without values"
    except VbgError as error:
        told = str(error)
        if not told.strip() or not told.replace("\n", "").replace("\t", "").isprintable():
            return f"says {told!r}"
        return "refused" if all(p.what and p.where for p in error.problems) else "no place"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> int:
    """Try `count` mutants; 1 if any broke the rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--assemble", action="store_true")
    parser.add_argument("--run", action="store_true")
    arguments = parser.parse_args()
    refused, broken, slowest = 0, 0, 0.0
    for i in range(arguments.count):
        rng = random.Random(f"{arguments.seed} {i}")
        file = rng.choice(EXAMPLES)
        text = mutant(file.read_text(encoding="utf-8"), rng)
        start = time.process_time()
        found = fault(text, str(file), assemble=arguments.assemble, run=arguments.run)
        slowest = max(slowest, time.process_time() - start)
        refused += found == "refused"
        if found not in ("", "refused"):
            broken += 1
            print(f"mutant {i} of {file.name}: {found[:200]}")
    print(f"{arguments.count} mutants, {refused} refused, {broken} broke the rule,", end=" ")
    print(f"the slowest took {slowest:.1f} s of processor time")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
