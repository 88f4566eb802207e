"""Where the energy went between two times: from part to part, or what each supplied and took up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vbg.analysis.bonds import Handed, energy_handed
from vbg.draw.text.axes import number
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, clip, pad, printable
from vbg.edit.commands import SetValue
from vbg.errors import UsageError
from vbg.tui.state import results
from vbg.tui.state.items import Item
from vbg.tui.state.powers import run_of_bonds
from vbg.tui.tasks import bonding
from vbg.tui.tasks.preparing import bring_graph

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.state.desk import Desk
    from vbg.tui.state.workspace import Workspace

_ENDING = ".energy"
_NAME, _BAR = 22, 26  # cells
_LEAST = 1e-6  # of the largest: less is not told


async def flow(app: Desk) -> None:
    """The energies of the window that is in sight; a run without them can be had with them."""
    work = app.work
    run = results.plotted(work)
    solution = await results.load(work, run) if run is not None else None
    if run is None or solution is None or len(solution.time) == 0:
        raise UsageError("Energy: there is no run yet; r runs the model.")
    if work.plot.cursor is None:
        work.plot = replace(work.plot, cursor=float(solution.time[-1]))
    low, high = work.plot.window or (float(solution.time[0]), float(solution.time[-1]))
    title = f"Energy from t = {low:.5g} s to {high:.5g} s"
    taken = taken_up(solution, low, high)
    if run.number in work.bonds or taken:
        passed = _handed(work, run.number, low, high) if run.number in work.bonds else ()
        await app.read(title, (*passed, *(energy_rows(taken, work.marks) if taken else ())))
        return
    label = "set outputs.energy true"
    items = (
        Item("bonds", "from part to part", "the run once more with its bonds; the model stays"),
        Item("keep", "keep them, and run again", f"{label}: one undo step"),
        Item("no", "no"),
    )
    refused = "" if run_of_bonds(work) is run else "it is no run of this model by the bond graph"
    answer = await app.choose(
        "This run kept no energies of its parts",
        (replace(items[0], refusal=refused), *items[1:]),
    )
    if answer == "bonds":
        await bring_graph(app)
        await bonding.bring(app, asked=True)
        await app.read(title, _handed(work, run.number, low, high))
    if answer == "keep":
        app.do(SetValue(("outputs", "energy"), True, label))
        app.act_id("run")


def _handed(work: Workspace, run: int, low: float, high: float) -> Rows:
    """What parts handed each other, from `work`'s graph and bonds."""
    kept, graph = work.bonds.get(run), work.graph.graph if work.graph is not None else None
    if kept is None or graph is None:
        why = work.without_bonds.get(run, "the bonds of this run are not there")
        return (((why, "warn"),),)
    return handed_rows(energy_handed(graph, kept.solution, low, high), work.marks)


def handed_rows(handed: tuple[Handed, ...], marks: Marks) -> Rows:
    """Each part with those that it gave energy to, from the sources on, to one scale."""
    largest = max((one.energy for one in handed), default=0.0)
    kept = [one for one in handed if one.energy > _LEAST * largest]
    givers: dict[str, list[Handed]] = {}
    for one in kept:
        givers.setdefault(one.giver, []).append(one)
    takers = {one.taker for one in kept}
    order = [giver for giver in givers if giver not in takers]
    for giver in order:  # it grows: from the sources on, then what goes round in circles
        order += [t.taker for t in givers[giver] if t.taker in givers and t.taker not in order]
    rows: list[Row] = []
    for giver in (*order, *(giver for giver in givers if giver not in order)):
        total = sum(one.energy for one in givers[giver])
        rows.append(((f"{printable(_bare(giver))} gave {number(total)} J", "bold"),))
        for one in givers[giver]:
            bar = marks.bar_full * max(1, round(_BAR * one.energy / largest))
            left = pad(clip(f"{marks.harpoons[0]} {printable(_bare(one.taker))}", _NAME), _NAME)
            words = f" {number(one.energy)} J"
            rows.append(((f"  {left} ", ""), (pad(bar, _BAR), "bar"), (words, "")))
    return (*rows, ())


def _bare(part: str) -> str:
    """The name of a part without its table."""
    return part.partition(".")[2] or part


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
    kept = {name: value for name, value in taken.items() if abs(value) > _LEAST * largest}
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
