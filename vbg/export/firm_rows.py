"""The rows that exported code eliminates with: it does not choose them anew, as a run does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.constraints.conditioning import Conditioning
from vbg.assemble.start.start import Start
from vbg.simulate.run import Run
from vbg.simulate.settings import settings_of

Array = NDArray[np.float64]
Moment = tuple[float, Array]

WITHIN = 10  # moments of each step: rows may lose their grip for a small part of one


def with_firm_rows(start: Start) -> Start:
    """The start with the kept rows that hold best at the worst posture of its own motion: of
    those that are best at one of its moments, the ones whose condition grows least.  A start
    without redundant rows is the same."""
    if start.dependent == 0:
        return start
    moments = _moments(start)
    rows = len(start.system.constraint_names)
    choice, number = RowChoice(start.system), int(np.count_nonzero(start.kept[:rows]))
    found = (choice.choose_number(t, x, number) for t, x in moments[::WITHIN])
    kept = {tuple(start.kept[:rows])} | {
        tuple(choice.kept(f).astype(float)) for f in found if f is not None
    }
    best = min(sorted(kept), key=lambda some: _worst(start, np.array(some), moments))
    return replace(start, kept=np.concatenate([best, start.kept[rows:]]))


def _moments(start: Start) -> list[Moment]:
    """States of the motion from `start`, as far as it goes."""
    found = [(0.0, start.state)]

    def look(_: float, __: float) -> None:
        stepper = run.stepper
        if stepper.t > stepper.t_before:
            times = np.linspace(stepper.t_before, stepper.t, WITHIN + 1)[1:]
            found.extend(zip(times.tolist(), stepper.between_each(times), strict=True))

    run = Run(start, settings_of(start.system.model.simulate), look, None)
    run.go()
    return found


def _worst(start: Start, kept: Array, moments: list[Moment]) -> float:
    """The largest condition that these rows have."""
    whole = np.concatenate([kept, start.kept[len(kept) :]])
    evaluate = Evaluator(start.system.programs.correction, kept=whole)
    conditioning, silent = Conditioning(evaluate), np.zeros(len(kept))
    worst = 0.0
    for t, x in moments:
        evaluate(t, x, silent)
        worst = max(worst, conditioning.worst())
    return worst
