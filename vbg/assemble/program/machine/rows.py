"""Output rows: every signal of a series of states, and the residuals of its constraints."""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, entry, put
from vbg.assemble.program.machine.pointer import run_at
from vbg.assemble.program.machine.projection import farthest, largest
from vbg.assemble.program.machine.running import evaluate


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
            if known == 0:
                evaluate(address, signals.rate, t, x)
                for j in range(efforts.shape[1]):
                    efforts[i, j] = at(signals.rate.work, signals.rate.first + n + j)
            evaluate(address, signals.residual, t, x)
            work, first = signals.residual.work, signals.residual.first
            positions = signals.residual.last - first - rows
            data[i, width] = largest(work, first, first + positions)
            gap = farthest(work, first, signals.lengths)
            if not gap <= signals.worst[0]:
                signals.worst[0] = gap
            for j in range(rows):
                unit = signals.units[j]
                column = width + 1 if unit == 0.0 else width + 2
                amount = abs(at(work, first + positions + j)) / (1.0 if unit == 0.0 else unit)
                if not amount <= data[i, column]:
                    data[i, column] = amount
                if unit == 0.0 and not amount / signals.lengths[j] <= signals.worst[1]:
                    signals.worst[1] = amount / signals.lengths[j]
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
