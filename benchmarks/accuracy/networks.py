"""Random circuits, drivelines and oil nets of `tests.domains.random_networks` in both solvers.

    python -m benchmarks.accuracy.networks 60                  oil nets of the seeds 0 to 59
    python -m benchmarks.accuracy.networks 40 --first 100 --kind circuit

A net that vbg refuses with a sentence counts as refused, one that it cannot run to its end as
unfinished; whatever both solvers run has to PASS.  A verdict FAIL is false: both have one model.
Exit code 1 where there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import vbg
from tests.domains import random_networks
from vbg.errors import VbgError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", choices=("oil", "circuit", "driveline"), default="oil")
    asked = parser.parse_args()
    make = getattr(random_networks, asked.kind)
    found: Counter[str] = Counter()
    for seed in range(asked.first, asked.first + asked.count):
        began = time.perf_counter()
        result, said = verdict(make(seed), f"{asked.kind} {seed}")
        found[result] += 1
        print(f"{seed:5d}  {result:13}{time.perf_counter() - began:7.1f} s  {said}", flush=True)
    print(", ".join(f"{n} {result}" for result, n in sorted(found.items())))
    return 1 if found["FAIL"] else 0


def verdict(document: random_networks.Document, name: str) -> tuple[str, str]:
    """What came of one net, and a sentence."""
    try:
        report = vbg.validate.validate(vbg.Model(name=name, **document))
    except VbgError as error:
        return "refused", str(error).splitlines()[0][:150]
    return report.result, report.verdict.sentence[:150]


if __name__ == "__main__":
    sys.exit(main())
