"""Effort, flow and power in the bonds, at the time that Plot's cursor is at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.bonds import effort_of, flow_of
from vbg.draw.text.axes import number
from vbg.draw.text.bonds import Bond, Drawing
from vbg.tui.state import results
from vbg.tui.state.bonds import Kept

if TYPE_CHECKING:
    from vbg.tui.session.runs import Run
    from vbg.tui.state.graphing import GraphState
    from vbg.tui.state.workspace import Workspace

Array = NDArray[np.float64]

_SMALL = 1e-3  # of the largest of the run: not worth a colour
_LARGE = 0.25  # of the largest in sight: drawn heavy


@dataclass(frozen=True, eq=False)
class Powers:
    """What is `kept` of one run, at the `time` [s] of its `row`."""

    kept: Kept
    time: float
    row: int


def run_of_bonds(work: Workspace) -> Run | None:
    """The run of the model that is open whose bonds can be had: the one that Plot shows, or the
    newest by the bond graph."""
    shown = results.plotted(work)
    for run in (shown, *reversed(work.runs)):
        of_model = run is not None and run.text_hash == work.checked.text_hash
        if run is not None and of_model and run.solver == "vbg" and not run.active:
            return run if Path(run.result).exists() else None
    return None


def run_in_bonds(work: Workspace) -> Run | None:
    """That run, where there is a cursor in Plot: the graph shows its powers."""
    return run_of_bonds(work) if work.plot.cursor is not None else None


def powers_now(work: Workspace) -> Powers | None:
    """The powers at Plot's cursor, once they are there."""
    time, run = work.plot.cursor, run_in_bonds(work)
    kept = work.bonds.get(run.number) if run is not None else None
    if time is None or kept is None or not len(kept.solution.time):
        return None
    return Powers(kept, time, int(np.argmin(np.abs(kept.solution.time - time))))


def _through(bond: Bond, powers: Powers) -> float | None:
    """The power along a bond of the drawing, which stands for one or several; None where that is
    not known."""
    watts = [powers.kept.watts.get(name) for name in bond.key.split(",")]
    known = [watt[powers.row] for watt in watts if watt is not None]
    return float(sum(known)) if len(known) == len(watts) else None


def coloured(state: GraphState, powers: Powers) -> Drawing:
    """The drawing with its bonds by the power in them: how many watts, coloured by whether along
    the half arrow or against it, heavy where much passes."""
    drawing = state.drawing
    assert drawing is not None
    watts = [_through(bond, powers) for bond in drawing.bonds]
    strongest = max((abs(watt) for watt in watts if watt is not None), default=0.0)
    bonds = []
    for bond, watt in zip(drawing.bonds, watts, strict=True):
        if watt is not None and bond.style == "dim":
            some = abs(watt) > _SMALL * powers.kept.largest
            style = "dim" if not some else "bar" if watt > 0 else "warn"
            note = f"{short(watt) if some else '0'}W"
            heavy = some and abs(watt) > _LARGE * strongest
            bond = replace(bond, style=style, note=note, heavy=heavy)
        bonds.append(bond)
    return replace(drawing, bonds=tuple(bonds))


_PREFIXES = {9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "u", -9: "n", -12: "p", -15: "f"}
_NOTHING = 5e-18  # what no prefix shows


def short(value: float) -> str:
    """Three digits with the letter of a power of 1000: -1.23k, 45.6m; never over six cells."""
    if not np.isfinite(value) or abs(value) < _NOTHING:
        return "0" if abs(value) < _NOTHING else "?"
    # the exponent once it is rounded: 999.7 is 1.00k
    exponent = int(f"{value:.2e}".partition("e")[2])
    power = max(-15, min(3 * (exponent // 3), 9))
    digits = max(0, 2 - (exponent - power))
    return f"{value / 10.0**power:.{min(digits, 2)}f}{_PREFIXES[power]}"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A bond at one time: what it is called, its power [W], its effort and flow as words."""

    bond: str
    watt: float
    pair: str


def of_bonds(powers: Powers, names: Iterable[str], most: int = 40) -> tuple[Exchange, ...]:
    """Effort, flow and power of the bonds called `names`, as far as they are kept: at `most` so
    many, those with the largest power, that first."""
    kept, row, found = powers.kept, powers.row, []
    watts = {name: float(kept.watts[name][row]) for name in names if name in kept.watts}
    for name in sorted(watts, key=lambda name: -abs(watts[name]))[:most]:
        words = []
        for signal in (effort_of(name), flow_of(name)):
            told = _listed(np.atleast_1d(kept.solution[signal][row]))
            words.append(f"{told} {kept.solution.unit(signal)}".rstrip())
        arrow = name.replace("->", "\u21c1")
        found.append(Exchange(arrow, watts[name], " \u00b7 ".join(words)))
    return tuple(found)


def _listed(values: Array) -> str:
    told = ", ".join(map(number, values))
    return told if len(values) == 1 else f"[{told}]"
