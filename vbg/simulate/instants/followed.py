"""Steps of circuits with exponential diodes whose sources follow states.

`vbg.simulate.instants.pace` finds the pulses of functions of time before the run; the voltage
sin(angle) of a machine that turns is known as far as the run is.  Its last samples, one at the
end of each step, tell the shortest time so far between a change and the one back; no step is
longer than a part of that, and until there is one than AGE of the time since the voltage moves.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.start import Start
from vbg.blocks import dependencies
from vbg.graph.bondgraph import BondGraph
from vbg.simulate.instants.pace import swings
from vbg.simulate.steppers.exponential import has_exponential

Array = NDArray[np.float64]

AGE = 0.1
SAMPLES = 256  # three halves of a period of a sine, or more
FELT = 0.01  # [V]: what moves less moves no diode


class Followed:
    """Of one run; `shortest` [s] so far, of which a step takes `seen`."""

    def __init__(self, start: Start, seen: float):
        self._seen = seen
        system = start.system
        told = system.programs.output.outputs
        graph = system.causal.graph
        self._names = [n for n in _voltages(graph) if n in told] if has_exponential(graph) else []
        if self._names:
            self._efforts = start.evaluator("recorded")
            self._output = Evaluator(system.programs.output)
        self._samples: deque[tuple[float, ...]] = deque(maxlen=SAMPLES)
        self._began = np.inf
        self.shortest = np.inf

    def longest(self, t: float, x: Array) -> float:
        """The longest step [s] from (t, x), where a step ended."""
        if not self._names:
            return np.inf
        self._output(t, x, self._efforts(t, x)[len(x) :].copy())
        self._samples.append((t, *(self._output.output(name)[0] for name in self._names)))
        times, *voltages = np.array(self._samples).T
        moving = [v for v in voltages if np.ptp(v) > FELT]
        for voltage in moving:
            begin, end = swings(times, voltage)
            # the last change goes on
            self.shortest = min(self.shortest, (end - begin)[:-1].min(initial=np.inf))
        if not moving or np.isfinite(self.shortest):
            return self._seen * self.shortest
        self._began = min(self._began, times[-2])  # the last sample before it moved
        return max(AGE * (t - self._began), float(times[-1] - times[-2]))


def _voltages(graph: BondGraph) -> list[str]:
    """Outputs of the sources of voltage that something else than time tells."""
    return [
        f"{v.part.removeprefix('electric.')}.voltage"
        for v in graph.vertices.values()
        if v.kind == "Se" and v.domain == "electric" and v.law is not None
        if any(b.op == "leaf" and b != graph.time for b in dependencies([v.law]))
    ]
