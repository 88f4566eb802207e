"""The state of the motion at one time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.start import Start
from vbg.errors import UsageError
from vbg.simulate.run import Run
from vbg.simulate.settings import settings_of


def state_at(start: Start, t: float) -> NDArray[np.float64]:
    """x at time `t` [s] of the motion from `start`, with the model's settings.

    Raises UsageError where the run ends before.
    """
    if t == 0.0:
        return start.state
    given = start.system.model.simulate
    settings = settings_of(given, t_end=t, output_step=min(given.output_step, t))
    run = Run(start, settings, None, None)
    status = run.go()
    if status.code != "finished":
        raise UsageError(f"there is no state at {t:g} s. {status.sentence}")
    return run.stepper.x.copy()
