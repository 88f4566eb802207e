"""Modes at a point that is looked at: what sticks, touches, conducts there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.start import Start
from vbg.assemble.start.values.modes import agree
from vbg.assemble.system import System
from vbg.simulate.events.events import Switches

Array = NDArray[np.float64]


def with_modes(start: Start, t: float, x: Array) -> Array:
    """`x` with modes that agree with their conditions, as a run would begin from it: dry
    friction sticks where nothing moves and its load is not too large."""
    x = x.copy()
    Switches(start, 0.0, start.system.model.simulate.t_end).begin_run(x, t)
    return x


def without_friction(start: Start, t: float, x: Array) -> tuple[Array, ...]:
    """States whose mean of rates is that of the machine without dry friction: rates are linear
    in the efforts, and those of all frictions slipping forward and backward cancel.  Other
    modes agree with their conditions.  One state where there is no friction."""
    system = start.system
    frictions = [m.name for m in system.causal.graph.modes if m.rest > 0.0]
    x = x.copy()
    agree(system, t, x, start.kept)
    if not frictions:
        return (x,)
    places = {s.state.name: s.first for s in system.slices}
    both = []
    for way in ("forward", "backward"):
        one = x.copy()
        for name in frictions:
            one[places[name]] = float(name.endswith(f".{way}"))
        both.append(one)
    return tuple(both)


def stuck(system: System, x: Array) -> tuple[str, ...]:
    """Names of the dry frictions that stick in the state x."""
    places = {s.state.name: s.first for s in system.slices}
    modes = [m.name for m in system.causal.graph.modes if m.rest > 0.0]
    slipping = {name.rpartition(".")[0] for name in modes if x[places[name]] > 0.5}
    names = dict.fromkeys(name.rpartition(".")[0] for name in modes)
    return tuple(name for name in names if name not in slipping)
