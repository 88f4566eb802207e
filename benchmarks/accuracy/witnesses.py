"""Other engines on every mechanical example: the largest error of motion and of joint forces.

    python -m benchmarks.accuracy.witnesses [ENGINE ...] [--t-end 0.5] [FILE ...]

Each run begins where vbg's begins and is held against vbg's at rtol 1e-11.  Errors are relative
to the largest value of the same quantity (position, force, ...) in the machine; components of
joint forces that a redundant machine does not determine are left out.  Machines with beams run
for 10 ms.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import vbg
from benchmarks.verdict.verdicts import files, models
from vbg.engines import ENGINES
from vbg.engines.running import simulate
from vbg.errors import VbgError
from vbg.model import Model
from vbg.solution import Solution

OUTPUTS = 20
OF_BEAMS = 0.01  # s: the engines step explicitly, and beams have fast waves
LOADS = ("force", "torque", "drive", "effort")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="engines, files")
    parser.add_argument("--t-end", type=float, default=0.5)
    given = parser.parse_intermixed_args()
    engines = [word for word in given.words if word in ENGINES] or list(ENGINES)
    paths = [Path(word) for word in given.words if word not in ENGINES]
    print(f"{'machine':24}{'engine':11}{'motion':>9}{'loads':>9}{'gap':>9}{'CPU':>8}")
    for name, model in models(paths or files(), mechanical=not paths):
        for engine in engines:
            print(f"{name:24}{engine:11}{row(model, engine, given.t_end)}", flush=True)


def row(model: Model, engine: str, t_end: float) -> str:
    """The errors of one engine on one machine, or why it has none."""
    t_end = min(t_end, model.simulate.t_end, OF_BEAMS if model.beams else t_end)
    plan = {"t_end": t_end, "output_step": t_end / OUTPUTS}
    try:
        right = vbg.simulate(model, rtol=1e-11, atol=1e-13, **plan)
        begin = {name: values[0] for name, values in right.signals.items()}
        begun = time.process_time()
        found = simulate(model, begin, engine=engine, rtol=1e-11, atol=1e-13, **plan)
    except VbgError as error:
        return f"  {str(error)[:60]}"
    spent = time.process_time() - begun
    motion, loads = errors(right, found, undetermined(right))
    gap = found.audit.position_residual
    return f"{motion:9.1e}{loads:9.1e}{gap:9.1e}{spent:7.2f}s"


def undetermined(solution: Solution) -> frozenset[str]:
    """Joints of which the run says that a direction is not unique."""
    texts = [note.where + note.what for note in solution.notes if "unique" in note.what]
    names = {signal.partition(".")[0] for signal in solution.signals}
    return frozenset(name for name in names if any(name in text for text in texts))


def errors(right: Solution, found: Solution, left_out: frozenset[str]) -> tuple[float, float]:
    """Of motion and of loads."""
    scales = largest(right)
    worst = {True: 0.0, False: 0.0}
    for name, values in found.signals.items():
        owner, _, what = name.rpartition(".")
        if name not in right.signals or (what in LOADS and owner in left_out):
            continue
        wanted = right[name].reshape(values.shape)
        if what == "rotation":  # q and -q are one
            wanted = wanted * np.sign((wanted * values).sum(axis=1, keepdims=True))
        gap = float(np.abs(values - wanted).max()) / scales[what]
        worst[what in LOADS] = max(worst[what in LOADS], gap)
    return worst[False], worst[True]


def largest(solution: Solution) -> Mapping[str, float]:
    """Of every quantity, over the machine and the run; 1e-3 at least."""
    scales: dict[str, float] = {}
    for name, values in solution.signals.items():
        what = name.rpartition(".")[2]
        scales[what] = max(scales.get(what, 1e-3), float(np.abs(values).max()))
    return scales


if __name__ == "__main__":
    main()
