"""Wrong entries in one of two right solutions: which channels pass unnoticed.

``python -m benchmarks.verdict.wrong_entries --count 60 --seed 1`` (``--kind examples`` for one)

Machines without a fault are drawn as `false_alarms` draws them; half of those with bodies get a
force of 1e3 to 1e9 N that never sets in (`asleep`), beside which nothing that moves may be called
zero.  `validate` runs each once, at its own tolerances.  Then every channel of the second solution,
and of its coarser run, is made wrong at once, for channels are judged one by one: a hundredth too
large, so in the second half alone, by a hundredth of the peak in the first row, or in one behind
the middle, or exchanged with the next component of its vector.  Missed is a channel on which the
right solutions agree to a tenth of what was changed, and which is neither FAIL nor INCONCLUSIVE
with the change, unless it is less than 1e-8 of the largest of its unit or than 1e-9 of what is
natural beside what the machine shows: that is zero by the verdict's own rule.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import vbg
from benchmarks.robustness.forked import Stuck, forked
from benchmarks.verdict.false_alarms import CPU, KINDS, ROOT, SPAN, Case, drawn
from vbg.errors import VbgError
from vbg.io import toml
from vbg.model.samples import machine
from vbg.solution import Solution
from vbg.validate import Report, validate
from vbg.validate.comparison.judging import FLOOR
from vbg.validate.comparison.scales import kind_of, scales_of
from vbg.validate.evidence import Evidence, verdict_on

Array = np.ndarray[Any, Any]
AMOUNT = 1e-2
AGREED = 0.1  # of the change: what two right solutions may differ by, where it has to be noticed
ZERO = 1e-9  # of what is natural
RESIDUALS = ("residual.", "energy.residual", "energy.stored")  # audited, not compared
Change = Callable[[Array], Array]  # of a signal's rows, (n,) or (n, k)


def too_large(values: Array) -> Array:
    """All rows a hundredth too large."""
    return values * (1.0 + AMOUNT)


def too_late(values: Array) -> Array:
    """Those of the second half."""
    return np.concatenate([values[: len(values) // 2], too_large(values[len(values) // 2 :])])


def in_a_row(values: Array, part: float) -> Array:
    """One row by a hundredth of the peak, at `part` of the run."""
    wrong = values.copy()
    wrong[int(part * (len(values) - 1))] += AMOUNT * np.abs(values).max(axis=0)
    return wrong


def exchanged(values: Array) -> Array:
    """Every component that of the next."""
    return np.roll(values, 1, axis=-1) if values.ndim > 1 else values


CHANGES: Mapping[str, Change] = {
    "too large": too_large,
    "too late": too_late,
    "start": partial(in_a_row, part=0.0),
    "row": partial(in_a_row, part=2.0 / 3.0),
    "exchanged": exchanged,
}


def wrong(evidence: Evidence, change: Change) -> Evidence:
    """With all that the second solver says changed, in all of its runs."""

    def put(run: Solution | None) -> Solution | None:
        if run is None or not len(run.time):
            return run
        signals = {n: v if n.startswith(RESIDUALS) else change(v) for n, v in run.signals.items()}
        return replace(run, signals=signals)

    second = put(evidence.second)
    assert second is not None
    coarser, beside = put(evidence.coarser), put(evidence.other_beside)
    return replace(evidence, second=second, coarser=coarser, other_beside=beside)


def missed(report: Report, change: Change) -> tuple[int, list[str]]:
    """Of how many channels a change has to be noticed, and those of which it was not."""
    evidence, right = report.evidence, {c.name: c for c in report.channels}
    assert evidence is not None
    faulty = verdict_on(wrong(evidence, change)).channels
    largest: dict[str, float] = {}
    for channel in right.values():
        kind = kind_of(channel.name, channel.unit)
        largest[kind] = max(largest.get(kind, 0.0), channel.peak)
    runs = evidence.first, evidence.second
    natural = scales_of(evidence.model, *runs, shown=True) if evidence.model is not None else {}
    asked, found = 0, []
    for channel in faulty:
        sound, kind = right.get(channel.name), kind_of(channel.name, channel.unit)
        zero = max(FLOOR * largest.get(kind, 0.0), ZERO * natural.get(kind, 0.0))
        if sound is None or channel.result == "NOT UNIQUE" or not sound.peak > zero:
            continue
        changed = channel.max_error >= 0.5 * AMOUNT * channel.peak
        if not changed or sound.max_error > AGREED * channel.max_error:
            continue
        asked += 1
        if channel.result not in ("FAIL", "INCONCLUSIVE"):
            found.append(f"{channel.name} (peak {channel.peak:.2g} {channel.unit})")
    return asked, found


def asleep(document: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    """The machine with a large force on one of its bodies that sets in long behind the end."""
    never = {"kind": "step", "start": 1e3, "height": 10.0 ** draw.uniform(3.0, 9.0)}
    bodies = sorted(document["bodies"])
    force = {"kind": "force", "on": draw.choice(bodies), "force": ["never", 0, 0]}
    forces = {**document.get("forces", {}), "sleeping": force}
    return {
        **document,
        "forces": forces,
        "signals": {**document.get("signals", {}), "never": never},
    }


def judged(make: Callable[[], vbg.Model], draw: random.Random) -> dict[str, Any]:
    """Change -> what `missed` says of one machine; empty where the right runs have no PASS."""
    model = make()
    if model.document.get("bodies") and draw.random() < 0.5:
        model = vbg.Model(**asleep(model.document, draw))
    end = min(SPAN, model.simulate.t_end)
    report = validate(model, t_end=end, output_step=end / 50, in_children=False)
    if report.result != "PASS" or report.evidence is None:
        return {}
    return {name: missed(report, change) for name, change in CHANGES.items()}


def campaign(cases: Iterator[Case], seed: int) -> Counter[str]:
    """Channels asked and missed, and machines without a PASS, printed as they come."""
    table: Counter[str] = Counter()
    for number, (kind, name, make, _) in enumerate(cases):
        draw = random.Random(f"{seed} {number} asleep")
        try:
            found = forked(partial(_told, make, draw), CPU)
        except (Stuck, RuntimeError) as error:
            print(f"left out: {kind}: {name}: {error}", flush=True)
            continue
        table["machines" if found else "no PASS"] += 1
        for change, (asked, names) in found.items():
            table["asked"] += asked
            table["missed"] += len(names)
            if names:
                print(f"{kind}: {name}, {change}: {', '.join(names)}", flush=True)
    print("  ".join(f"{count} {what}" for what, count in table.items()))
    return table


def _told(make: Callable[[], vbg.Model], draw: random.Random) -> dict[str, Any]:
    os.chdir(ROOT / "examples")  # where included files are
    try:
        return judged(make, draw)
    except VbgError:
        return {}  # refused, as some variations are


def main() -> None:
    """The campaign; exit code 1 if a channel was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=KINDS)
    asked = parser.parse_args()
    kinds = tuple(asked.kind or KINDS)
    for warm in ("joints.revolute", "electric.capacitor"):  # kernels, before anything is forked
        judged(partial(toml.parse, machine(*warm.split(".")), ""), random.Random(1))
    sys.exit(1 if campaign(drawn(asked.count, asked.seed, kinds), asked.seed)["missed"] else 0)


if __name__ == "__main__":
    main()
