"""The verdict on every mechanical example and published problem, over its own full run.

``python -m benchmarks.verdict.verdicts``  (all examples, domains too: ``--all``; or files)

worst effort: the joint force, torque, drive or coupling effort with the largest error
relative to its peak; goal 1e-6.  own error: what doubling the step changes in either solver's
own run, its largest over these channels.  left out: outputs next to a singular posture.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import vbg
from benchmarks import asked
from tests.tmm_bridge.test_validate import tree
from vbg.errors import VbgError
from vbg.validate import validate
from vbg.validate.comparison.values import Channel, Verdict
from vbg.validate.report import is_joint_force, ratio

ROOT = Path(__file__).resolve().parents[2]
GOAL = 1e-6
COLUMNS = "{:24}{:>13}{:>8}  {:24}{:>9}{:>10}{:>9}{:>7}"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table; `worst` is the channel with the largest relative error."""

    name: str
    verdict: Verdict
    efforts: tuple[Channel, ...]
    seconds: float

    @property
    def worst(self) -> Channel | None:
        return max(self.efforts, key=ratio, default=None)

    @property
    def own_error(self) -> float:
        return max((c.integration for c in self.efforts), default=math.nan)

    @property
    def meets_goal(self) -> bool:
        return self.verdict.result == "PASS" and all(ratio(c) < GOAL for c in self.efforts)


def is_mechanical(model: vbg.Model) -> bool:
    """Bodies and joints, no part of another domain."""
    others = (model.electric, model.hydraulic, model.rotational, model.translational)
    return bool(model.bodies) and not any(others)


def line_of(name: str, model: vbg.Model) -> Line:
    """The verdict with default settings over the model's own run."""
    begun = time.process_time()
    verdict = validate(model, in_children=False).verdict
    counted = [c for c in verdict.channels if c.result in ("PASS", "FAIL") and is_joint_force(c)]
    return Line(name, verdict, tuple(counted), time.process_time() - begun)


def files() -> list[Path]:
    """Model files of the examples and of the published problems."""
    folders = ("examples", "tests/published")
    return [path for folder in folders for path in sorted((ROOT / folder).glob("*.toml"))]


def models(paths: list[Path], *, mechanical: bool) -> Iterator[tuple[str, vbg.Model]]:
    """(name, model) of the files, mechanical ones only or all."""
    for path in paths:
        model = vbg.read(path)
        if is_mechanical(model) or not mechanical:
            yield path.stem, model


def show(line: Line) -> str:
    worst = line.worst
    cells = ("none", "", "") if worst is None else (worst.name, f"{ratio(worst):.1e}")
    return COLUMNS.format(
        line.name,
        line.verdict.result,
        len(line.efforts),
        cells[0],
        cells[1],
        f"{line.own_error:.1e}" if line.efforts else "",
        len(line.verdict.excluded),
        f"{line.seconds:.0f} s",
    )


def main() -> int:
    words = asked.parser(__doc__)
    words.add_argument("--all", action="store_true", help="domains, too")
    words.add_argument("given", nargs="*", type=Path, metavar="FILE")
    asking = words.parse_args()
    every, given = asking.all, asking.given
    heads = ("model", "verdict", "efforts", "worst effort", "error", "own error", "left out", "")
    print(COLUMNS.format(*heads))
    lines = []
    chosen = list(models(given or files(), mechanical=not (every or given)))
    if not given:
        chosen.append(("tree of 6 arms, 3 bodies", tree(6, 3)))
    for name, model in chosen:
        try:
            lines.append(line_of(name, model))
        except VbgError as error:
            print(f"{name:24}{type(error).__name__}: {error}")
            continue
        print(show(lines[-1]), flush=True)
    met = sum(line.meets_goal for line in lines)
    print(f"{met} of {len(chosen)} PASS with all efforts below {GOAL:g}")
    return 0 if met == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
