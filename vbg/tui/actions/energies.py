"""Where the energy went between two times: what each part supplied, and took up, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vbg.draw.text.axes import number
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, clip, pad, printable
from vbg.edit.commands import SetValue
from vbg.errors import UsageError
from vbg.tui.state import results
from vbg.tui.state.items import Item

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.state.desk import Desk

_ENDING = ".energy"
_NAME, _BAR = 22, 26  # cells


async def flow(app: Desk) -> None:
    """The energies of the window that is in sight; a run without them can be had with them."""
    work = app.work
    run = results.plotted(work)
    solution = await results.load(work, run) if run is not None else None
    if run is None or solution is None or len(solution.time) == 0:
        raise UsageError("Energy: there is no run yet; r runs the model.")
    low, high = work.plot.window or (float(solution.time[0]), float(solution.time[-1]))
    taken = taken_up(solution, low, high)
    if taken:
        title = f"Energy from t = {low:.5g} s to {high:.5g} s"
        await app.read(title, energy_rows(taken, work.marks))
        return
    label = "set outputs.energy true"
    answer = await app.choose(
        "This run kept no energies of its parts",
        (Item("keep", "keep them, and run again", f"{label}: one undo step"), Item("no", "no")),
    )
    if answer == "keep":
        app.do(SetValue(("outputs", "energy"), True, label))
        app.act_id("run")


def taken_up(solution: Solution, low: float, high: float) -> dict[str, float]:
    """The energy [J] that each part took up between the rows nearest to two times [s]; what it
    supplied counts as negative.  They add up to zero but for the residual of the run."""
    first, last = (int(np.argmin(np.abs(solution.time - time))) for time in (low, high))
    return {
        name.removesuffix(_ENDING): float(values[last] - values[first])
        for name, values in solution.signals.items()
        if name.endswith(_ENDING) and values.ndim == 1
    }


def energy_rows(taken: dict[str, float], marks: Marks) -> Rows:
    """Those that supplied, then those that took up, the largest first, to one scale."""
    largest = max((abs(value) for value in taken.values()), default=0.0)
    kept = {name: value for name, value in taken.items() if abs(value) > 1e-6 * largest}
    rows: list[Row] = []
    for words, sign, style in (("supplied", -1.0, "warn"), ("took up", 1.0, "bar")):
        parts = sorted(
            ((sign * value, name) for name, value in kept.items() if sign * value > 0),
            reverse=True,
        )
        rows.append(((f"{words} {number(sum(value for value, _ in parts))} J", "bold"),))
        for value, name in parts:
            bar = marks.bar_full * max(1, round(_BAR * value / largest))
            left = pad(clip(printable(name), _NAME), _NAME)
            rows.append(((f"  {left} ", ""), (pad(bar, _BAR), style), (f" {number(value)} J", "")))
        rows.append(())
    rows.append((("both sums are the same but for the energy residual of the run", "dim"),))
    return tuple(rows)
