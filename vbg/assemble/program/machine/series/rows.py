"""Output rows: every signal of a series of states, and the residuals of its constraints."""

from __future__ import annotations

from vbg.assemble.program.machine.memory import at, compiled, entry, put
from vbg.assemble.program.machine.plans import (
    FAR,
    LARGEST,
    LIMIT,
    LOADED,
    NEAR,
    PACE,
    REGULAR,
    ROUNDING,
    SHARE,
)
from vbg.assemble.program.machine.pointer import run_at
from vbg.assemble.program.machine.series.projection import farthest, largest
from vbg.assemble.program.machine.series.running import evaluate
from vbg.assemble.program.machine.series.stepping import worst_pivot


@entry
def write_rows(address, signals, times, states, efforts, known, data):
    """Signals of each state in a row of `data`, behind them the largest residuals of position,
    velocity and dependent stores, the condition of the constraint matrix, and what the row is open
    by.  `efforts` holds the constraint efforts of each state where the condition is `known`; where
    it is 0, both are put there.  Returns how many rows the gate tells of."""
    outputs, rows, told = signals.outputs, signals.units.shape[0], 0
    for i in range(times.shape[0]):
        t, x = times[i], states[i]
        n, width = x.shape[0], outputs.last - outputs.first
        data[i, width:] = 0.0
        if rows > 0:
            data[i, width + 3] = known
            if known == 0.0:
                evaluate(address, signals.rate, t, x)
                data[i, width + 3] = worst_pivot(signals.rate, signals.pivots)
                for j in range(efforts.shape[1]):
                    efforts[i, j] = at(signals.rate.work, signals.rate.first + n + j)
            evaluate(address, signals.residual, t, x)
            measure_residuals(signals, data[i, width:])
            told += is_told(signals, efforts[i], data[i, width + 3], data[i, width + 4])
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
    return told


@compiled
def measure_residuals(signals, found):
    """Of the residuals just evaluated, in `found`: 0 to 2 and 4 of what stands behind a row."""
    rows = signals.units.shape[0]
    work, first = signals.residual.work, signals.residual.first
    positions = signals.residual.last - first - rows
    found[0] = largest(work, first, first + positions)
    gap, fastest = farthest(work, first, signals.lengths), 0.0
    if not gap <= signals.worst[0]:
        signals.worst[0] = gap
    for j in range(rows):
        unit = signals.units[j]
        column = 1 if unit == 0.0 else 2
        amount = abs(at(work, first + positions + j)) / (1.0 if unit == 0.0 else unit)
        if not amount <= found[column]:
            found[column] = amount
        if unit == 0.0 and not amount / signals.lengths[j] <= fastest:
            fastest = amount / signals.lengths[j]
    if not fastest <= signals.worst[1]:
        signals.worst[1] = fastest
    gap += fastest * signals.gate[PACE]
    found[4] = gap if not gap <= signals.gate[ROUNDING] else signals.gate[ROUNDING]


@compiled
def is_told(signals, efforts, condition, gap):
    """1 for a row of efforts that the gate tells of, else 0."""
    gate, size = signals.gate, 0.0
    gate[REGULAR] = min(gate[REGULAR], condition)
    for j in range(efforts.shape[0]):
        if signals.units[j] == 0.0:
            size = max(size, abs(efforts[j]) * signals.lengths[j])
    if size > 0.0:
        if condition > gate[NEAR] or size > gate[LOADED]:
            return 1
        lost = gate[SHARE] * gap * condition * condition > gate[LIMIT]
        if lost and condition > gate[FAR] * gate[REGULAR]:
            return 1
        gate[LARGEST] = max(gate[LARGEST], size)
    return 0
