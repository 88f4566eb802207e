"""Signals of results: their names, their curves, their values at the cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.draw.text.axes import number
from vbg.draw.text.curves import Curve, Frame, Pattern, Range, plot
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, cells, clip, fit, pad, printable
from vbg.plumbing.components import component_names

if TYPE_CHECKING:
    from vbg.solution import Solution

Values = NDArray[np.float64]
_PATTERNS: tuple[Pattern, ...] = ("solid", "dashed", "dotted")


@dataclass(frozen=True, slots=True)
class Signal:
    """One scalar signal: name with component ("A.force.z") and SI unit."""

    name: str
    unit: str


def signals(solution: Solution) -> tuple[Signal, ...]:
    """The scalar signals of a solution, components spread out, joint forces first."""
    found = []
    for name, values in solution.signals.items():
        unit = _printed(solution.units.get(name, ""))
        if values.ndim == 1:
            found.append(Signal(name, unit))
        else:
            found += [Signal(one, unit) for one in component_names(name, values.shape[1])]
    return tuple(found)


def _printed(unit: str) -> str:
    """The unit as it is printed: pure numbers have none."""
    return "" if unit == "1" else unit


def shown_signals(solution: Solution, wanted: str, first: str = "") -> tuple[Signal, ...]:
    """The signals whose name contains `wanted`, those of the part `first` on top."""
    found = [s for s in signals(solution) if wanted.lower() in s.name.lower()]
    found.sort(key=lambda s: not (first and s.name.startswith(first + ".")))
    return tuple(found)


_ROUNDING = ("residual.", "energy.residual")  # of the solver: they differ by all they are


def differences(a: Solution, b: Solution) -> dict[str, float]:
    """How much each scalar signal of `a` differs from that of `b`: ‖a - b‖ / max(‖a‖, ‖b‖) over
    the time both have, at the rows of `a`.  Signals whose size is rounding, beside the largest of
    their unit, count by 1e-9 of that; residuals, and those that only one has, are left out."""
    there = {signal.name for signal in signals(b)}
    inside = (a.time >= b.time[0]) & (a.time <= b.time[-1]) if len(b.time) else a.time < a.time
    found: dict[str, tuple[float, float, str]] = {}
    largest: dict[str, float] = {}
    for signal in signals(a):
        if signal.name in there and inside.any() and not signal.name.startswith(_ROUNDING):
            own = a[signal.name][inside]
            other = np.interp(a.time[inside], b.time, b[signal.name])
            size = max(_rms(own), _rms(other))
            found[signal.name] = (_rms(own - other), size, signal.unit)
            largest[signal.unit] = max(largest.get(signal.unit, 0.0), size)
    return {
        name: gap / max(size, 1e-9 * largest[unit], 1e-300)
        for name, (gap, size, unit) in found.items()
    }


def _rms(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(finite**2))) if len(finite) else 0.0


def units_of(solution: Solution, names: tuple[str, ...]) -> tuple[str, ...]:
    """The units of the named signals, each once, in order."""
    by_name = {signal.name: signal.unit for signal in signals(solution)}
    return tuple(dict.fromkeys(by_name[name] for name in names if name in by_name))


def curves_of(
    solution: Solution, names: tuple[str, ...], units: tuple[str, ...], pattern: Pattern = "solid"
) -> tuple[Curve, ...]:
    """Curves of the signals whose unit is among `units`: the first on the left axis,
    the second on the right."""
    by_name = {signal.name: signal.unit for signal in signals(solution)}
    curves = []
    for position, name in enumerate(names):
        unit = by_name.get(name)
        if unit is not None and unit in units[:2]:
            axis = units.index(unit)
            own = pattern if axis == 0 or pattern != "solid" else "dotted"
            ink = 1 + position % 6
            letter = letter_of(position) if len(names) > 1 and pattern == "solid" else ""
            values = solution[name]
            curves.append(Curve(solution.time, values, name, ink, own, axis, letter))
    return tuple(curves)


def letter_of(position: int) -> str:
    """What stands on the curve at this position of the list, for those who see no colour."""
    return "abcdefghijklmnopqrstuvwxyz"[position % 26]


def legend(names: tuple[str, ...], width: int, marks: Marks) -> Row:
    """The names of the curves in their inks, as many as there is room for."""
    row: list[tuple[str, str]] = []
    room = width
    for position, name in enumerate(names):
        mark = letter_of(position) if len(names) > 1 else marks.line
        text = f"{marks.line}{mark}{marks.line} {printable(name)}  "
        if cells(text) > room:
            row.append((clip("…", room), "dim"))
            break
        row.append((text, f"ink{1 + position % 6}"))
        room -= cells(text)
    return tuple(row)


@dataclass(frozen=True)
class Picture:
    """What a plot shows: solution and names, another one dashed behind it; over the
    signal `x`, or over time if that is empty."""

    solution: Solution
    names: tuple[str, ...]
    other: Solution | None = None
    window: Range | None = None
    cursor: float | None = None
    split: bool = False
    x: str = ""


def picture_rows(picture: Picture, width: int, height: int, marks: Marks) -> Rows:
    """The plot with its legend; split, one below the other for each unit."""
    units = units_of(picture.solution, picture.names)
    if not units:
        return ((("Space on a signal shows it here", "dim"),),)
    head = fit(legend(picture.names, width, marks), width)
    if not picture.split or len(units) == 1:
        left_out = len(units) - 2
        if left_out > 0:
            note = f"{left_out} more unit{'s' * (left_out > 1)} not shown: S splits"
            head = fit(
                (*legend(picture.names, width - len(note) - 1, marks), (note, "warn")), width
            )
        return (head, *_one(picture, units[:2], width, height - 1, marks))
    each = max((height - 1) // len(units), 4)
    rows: list[Row] = [head]
    for unit in units[: max((height - 1) // each, 1)]:
        rows += _one(picture, (unit,), width, each, marks)
    return tuple(rows)


def _one(picture: Picture, units: tuple[str, ...], width: int, height: int, marks: Marks) -> Rows:
    behind: tuple[Curve, ...] = ()
    if picture.other is not None:
        behind = curves_of(picture.other, picture.names, units, "dashed")
    curves = (*behind, *curves_of(picture.solution, picture.names, units))
    both = (units[0], units[1] if len(units) > 1 else "")
    if picture.x:
        curves, frame = _over(picture, curves, len(behind), both)
    else:
        frame = Frame(picture.window, both, cursor=picture.cursor)
    text = "   ".join(f"{side} [{unit}]" for side, unit in zip(("left", "right"), units))
    name = (f"[{units[0]}]" if units[0] else "") if len(units) == 1 else text
    if picture.x:
        name += f"   over {printable(picture.x)} [{frame.x_unit}]"
    rows = plot(curves, width, height - 1, frame, marks)
    return (((pad(clip(name, width), width), "dim"),), *rows)


def _over(
    picture: Picture, curves: tuple[Curve, ...], behind: int, units: tuple[str, str]
) -> tuple[tuple[Curve, ...], Frame]:
    """The curves, the first `behind` of the other run, over the signal of the x axis:
    only the times in sight, the cursor a spot."""
    unit = units_of(picture.solution, (picture.x,))
    paths, spots = [], []
    for number_, curve in enumerate(curves):
        solution = picture.other if number_ < behind else picture.solution
        if solution is None or picture.x not in {s.name for s in signals(solution)}:
            continue
        keep = np.ones(len(curve.x), dtype=bool)
        if picture.window is not None:
            keep = (curve.x >= picture.window.low) & (curve.x <= picture.window.high)
        x = solution[picture.x]
        paths.append(replace(curve, x=x[keep], y=curve.y[keep]))
        if picture.cursor is not None and len(x):
            at = int(np.argmin(np.abs(curve.x - picture.cursor)))
            spots.append((float(x[at]), float(curve.y[at]), curve.axis))
    frame = Frame(None, units, x_unit=unit[0] if unit else "", path=True, spots=tuple(spots))
    return tuple(paths), frame


def value_at(solution: Solution, name: str, time: float) -> float:
    """The signal at the sample nearest to `time`."""
    if len(solution.time) == 0:
        return float("nan")
    at = int(np.argmin(np.abs(solution.time - time)))
    return float(solution[name][at])


def cursor_rows(
    solution: Solution,
    other: Solution | None,
    names: tuple[str, ...],
    time: float | None,
    width: int,
    height: int,
) -> Rows:
    """The values at the cursor, and the range in sight without one."""
    units: Mapping[str, str] = {signal.name: signal.unit for signal in signals(solution)}
    entries = []
    for position, name in enumerate(names):
        if name not in units:
            continue
        unit = units[name]
        if time is not None:
            text = f"{printable(name)}  {number(value_at(solution, name, time))} {unit}"
            if other is not None and name in {s.name for s in signals(other)}:
                text += f"  ({number(value_at(other, name, time))})"
        else:
            values = solution[name]
            values = values[np.isfinite(values)]
            span = (
                f"{number(values.min())} .. {number(values.max())}" if len(values) else "no value"
            )
            text = f"{printable(name)}  {span} {unit}"
        entries.append((text, f"ink{1 + position % 6}"))
    return columns(entries, width, height)


def columns(entries: list[tuple[str, str]], width: int, height: int) -> Rows:
    """Entries side by side, as wide as the widest."""
    if not entries:
        return ()
    size = min(max(cells(text) for text, _ in entries) + 3, width)
    across = max(width // size, 1)
    rows = []
    for start in range(0, len(entries), across):
        rows.append(
            tuple((pad(text, size), style) for text, style in entries[start : start + across])
        )
    return tuple(rows[:height])


def peak(solution: Solution, names: tuple[str, ...], window: Range | None) -> float | None:
    """The time of the largest magnitude of the first of `names` inside the window."""
    if not names or len(solution.time) == 0:
        return None
    inside = np.ones(len(solution.time), dtype=bool)
    if window is not None:
        inside = (solution.time >= window.low) & (solution.time <= window.high)
    size = np.where(inside & np.isfinite(solution[names[0]]), np.abs(solution[names[0]]), -1.0)
    at = int(np.argmax(size))
    return float(solution.time[at]) if size[at] >= 0 else None


def default_signals(solution: Solution, part: str) -> tuple[str, ...]:
    """What is plotted before anything is chosen: the selected part's motion or force,
    or else the first joint's force."""
    found = signals(solution)
    own = [s.name for s in found if part and s.name.startswith(part + ".")]
    forces = [
        s.name for s in (found if not own else ()) if ".force" in s.name or ".torque" in s.name
    ]
    units = {s.name: s.unit for s in found}
    alike = {s.unit: 0.0 for s in found}
    for s in found:
        alike[s.unit] = min(1.0, max(alike[s.unit], _largest(solution[s.name])))
    moving = [name for name in own or forces if _varies(solution[name], alike[units[name]])]
    return tuple((moving or own or forces or [s.name for s in found])[:2])


def _largest(values: Values) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _varies(values: Values, beside: float) -> bool:
    """By more than rounding of its own size and of what else has its unit."""
    values = values[np.isfinite(values)]
    return bool(len(values)) and float(np.ptp(values)) > 1e-9 * (beside + _largest(values))
