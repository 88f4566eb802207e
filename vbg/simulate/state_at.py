"""The state of the motion at one time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System
from vbg.errors import UsageError
from vbg.simulate.run import Run
from vbg.simulate.settings import Settings


def state_at(system: System, t: float) -> NDArray[np.float64]:
    """x at time `t` [s] of the motion from the assembled start, with the model's settings.

    Raises UsageError where the run ends before.
    """
    start = assemble_start(system)
    if t == 0.0:
        return start.state
    given = system.model.simulate
    settings = Settings(
        t, min(given.output_step, t), given.method, given.rtol, given.atol, given.formulation
    )
    run = Run(start, settings, None, None)
    status = run.go()
    if status.code != "finished":
        raise UsageError(f"there is no state at {t:g} s. {status.sentence}")
    return run.stepper.x.copy()
