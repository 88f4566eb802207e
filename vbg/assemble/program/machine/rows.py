"""Output rows: every signal of a series of states, and the residuals of its constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.machine.memory import at, entry, put
from vbg.assemble.program.machine.pointer import NOTHING, Reader, run_at
from vbg.assemble.program.machine.projection import largest
from vbg.assemble.program.machine.running import evaluate


class Signals(NamedTuple):
    """Programs of a row: `rate` gives the rates of all states and behind them the constraint
    efforts, `outputs` the signals from state, time and these, `residual` the residuals of
    position and velocity.  `units`, one for each velocity residual: 0 for a speed, else the
    unit of what must vanish between dependent stores."""

    rate: Reader
    outputs: Reader
    residual: Reader
    units: NDArray[Any]


NO_SIGNALS = Signals(NOTHING, NOTHING, NOTHING, np.zeros(0))


@entry
def write_rows(address, signals, times, states, efforts, known, data):
    """Signals of each state in a row of `data`, and behind them the largest residuals of
    position, velocity and dependent stores.  `efforts` holds the constraint efforts of each
    state where they are `known`, else they are put there."""
    outputs, rows = signals.outputs, signals.units.shape[0]
    for i in range(times.shape[0]):
        t, x = times[i], states[i]
        n, width = x.shape[0], outputs.last - outputs.first
        data[i, width:] = 0.0
        if rows > 0:
            if not known:
                evaluate(address, signals.rate, t, x)
                for j in range(efforts.shape[1]):
                    efforts[i, j] = at(signals.rate.work, signals.rate.first + n + j)
            evaluate(address, signals.residual, t, x)
            work, first = signals.residual.work, signals.residual.first
            positions = signals.residual.last - first - rows
            data[i, width] = largest(work, first, first + positions)
            for j in range(rows):
                unit = signals.units[j]
                column = width + 1 if unit == 0.0 else width + 2
                amount = abs(at(work, first + positions + j)) / (1.0 if unit == 0.0 else unit)
                if not amount <= data[i, column]:
                    data[i, column] = amount
        for j in range(n):
            put(outputs.work, j, x[j])
        put(outputs.work, n, t)
        for j in range(efforts.shape[1]):
            put(outputs.work, n + 1 + j, efforts[i, j])
        run_at(
            address,
            outputs.work,
            outputs.segments,
            outputs.operands,
            outputs.factors,
            outputs.stream,
            outputs.kept,
        )
        for j in range(width):
            data[i, j] = at(outputs.work, outputs.first + j)
