"""By what a result was made."""

from __future__ import annotations

import time

from vbg.model import Model
from vbg.simulate.settings import versions
from vbg.solution import MadeBy


def made_by(
    model: Model, method: str, *, steps: int, rates: int, began: float, **tolerances: float
) -> MadeBy:
    """Of a run of so many `steps` and evaluations of `rates` that `began` at that processor time
    [s]; `tolerances`: rtol and atol, if it has any."""
    return MadeBy(
        solver="vbg",
        model=model.name,
        model_hash=model.hash,
        method=method,
        versions=versions(),
        n_steps=steps,
        n_rates=rates,
        cpu=time.process_time() - began,
        **tolerances,
    )
