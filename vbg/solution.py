"""The Solution: what a simulation returns, by whichever solver it was made.

A value: time, signals by name, the audit, how it was made, and how it ended.
Names of signals are those of the model file (``crank.position``, ``A.force``,
``energy.kinetic``).  NaN stays visible: nothing here cleans the data.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from vbg.display import Display, require, rules_of, scale
from vbg.errors import Problem, UsageError
from vbg.platform.files import replacing
from vbg.plumbing.components import (
    LETTERS,
    component_names,
    place_of,
    split_component,
    vector_of,
)

if TYPE_CHECKING:
    import pandas
    import xarray

Code = Literal["finished", "cancelled", "failed"]


@final
@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at one instant: `where` is the part's path
    (``forces.buffer``), `what` a few words ("touches")."""

    time: float
    where: str
    what: str


@final
@dataclass(frozen=True, slots=True)
class Audit:
    """What the solver found when it checked its own result.

    energy_residual : largest |stored + dissipated - supplied - start| over the
        run, relative to the largest energy that took part [1].
    position_residual : largest violation of a position constraint, of angles [rad], of
        distances in lengths of the machine.
    velocity_residual : the same of velocity constraints, [rad/s] or lengths in a second.
    dependent_residual : of what ties stores to others: V, A, 1e5 Pa, 1e-5 m^3/s (of the
        transfer-matrix solver: a part of the largest that they hold); 0 without any.
    energy_limit, position_limit, velocity_limit : what is allowed.
    failures : a few words on each residual above its limit, see `judged`.
    carried : spans [s, s] across singular postures, in which the motion was extrapolated and the
        efforts, which may have a pole there, stand for those of the two ends; and instants of rows
        beside one, whose efforts rounding decides, or which are the limit from beside.
    crossings : every instant [s] at which the motion was found to cross where a law switches or
        bends, in order, and how many output rows hold what was before it, -1 where nothing keeps
        the side, so that each row has its own: on a row an error of that instant, rounding at
        least, decides on which side it is.

    NaN where the solver could not measure it, or allows anything.
    """

    energy_residual: float = float("nan")
    position_residual: float = float("nan")
    velocity_residual: float = float("nan")
    dependent_residual: float = float("nan")
    events: tuple[Event, ...] = ()
    energy_limit: float = float("nan")
    position_limit: float = float("nan")
    velocity_limit: float = float("nan")
    failures: tuple[str, ...] = ()
    carried: tuple[tuple[float, float], ...] = ()
    crossings: tuple[tuple[float, int], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class MadeBy:
    """How a solution was made, enough to make it again.

    `n_steps` counts accepted steps, `n_rates` evaluations of the rate, `cpu`
    is the processor time of the integration [s].
    """

    solver: str = ""
    model: str = ""
    model_hash: str = ""
    method: str = ""
    rtol: float = float("nan")
    atol: float = float("nan")
    versions: Mapping[str, str] = field(default_factory=dict)
    n_steps: int = 0
    n_rates: int = 0
    cpu: float = float("nan")


@final
@dataclass(frozen=True, slots=True)
class Status:
    """How the run ended, in a sentence, and what to try if it ended early."""

    code: Code
    sentence: str
    remedy: str = ""


FINISHED = Status("finished", "The simulation reached its end.")


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """Signals over time.

    time : (n,) [s], increasing.
    signals : name -> (n,) or (n, k); vectors in world axes unless the name's
        definition says otherwise, quaternions scalar first.
    units : name -> unit of the signal, that of SI; of what `in_units` gives, the one shown.
    exchanged : of a machine with FMUs, "fmu.NAME" -> (m, k) what it told at each communication:
        the time [s], then the coefficients of its outputs by powers of the time since.
    notes : what the solver wants the engineer to know: bodies that moved when
        the mechanism was assembled, redundant joints, forces not unique.

    ``solution["A.force"]`` is a whole signal, ``solution["A.force[2]"]`` and
    ``solution["A.force.z"]`` are its third component.
    """

    time: np.ndarray
    signals: Mapping[str, np.ndarray]
    audit: Audit = Audit()
    made_by: MadeBy = MadeBy()
    status: Status = FINISHED
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Problem, ...] = ()
    exchanged: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        time = _read_only(self.time)
        if time.ndim != 1:
            raise UsageError(f"Solution: time must have shape (n,); got {time.shape}.")
        signals = {name: _read_only(values) for name, values in self.signals.items()}
        for name, values in signals.items():
            if values.ndim not in (1, 2) or len(values) != len(time):
                raise UsageError(
                    f"Solution: signal '{name}' must have shape ({len(time)},) or"
                    f" ({len(time)}, k) like time; got {values.shape}."
                )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "signals", MappingProxyType(signals))
        object.__setattr__(self, "units", MappingProxyType(dict(self.units)))

    def __getitem__(self, name: str) -> np.ndarray:
        found = self._find(name)
        if found is None:
            near = difflib.get_close_matches(name, self.signals, n=3)
            hint = f" Nearest: {', '.join(near)}." if near else ""
            raise UsageError(f"the result has no signal '{name}' among {len(self.signals)}.{hint}")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        """The names of the signals, vectors whole."""
        return iter(self.signals)

    def unit(self, name: str) -> str:
        """Unit of the signal or component `name`; empty if it was not given."""
        base = vector_of(name) if name not in self.signals else name
        return self.units.get(base, "")

    def __repr__(self) -> str:
        name = self.made_by.model or "solution"
        reach = f"{self.time[-1]:.6g} s" if len(self.time) else "no rows"
        count = f"{len(self.signals)} signals, {len(self.time)} rows, {reach}"
        return f"<Solution {name}: {self.status.code}, {count}>"

    def _repr_html_(self) -> str:
        from vbg.notebook import signal_table

        columns = ((name, values, self.unit(name)) for name, values in components(self))
        heading = f"{self.made_by.model or 'solution'}: {self.status.code}. {self.status.sentence}"
        return signal_table(heading, self.time, columns)

    def to_pandas(self) -> pandas.DataFrame:
        """Every signal component as a column over `time` [s]; `attrs["units"]` has the units.

        Raises UsageError where pandas is not installed (extra `frames`).
        """
        pd = _library("pandas")
        columns = dict(components(self))
        frame: pandas.DataFrame = pd.DataFrame(columns, index=pd.Index(self.time, name="time"))
        frame.attrs["units"] = {name: self.unit(name) for name in columns}
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """Every signal as a variable over `time`, vectors over a dimension of their letters
        (`xyz`, `wxyz`, or numbers), each with its unit in `attrs`.

        Raises UsageError where xarray is not installed (extra `frames`).
        """
        xr = _library("xarray")
        variables: dict[str, Any] = {}
        coordinates: dict[str, Any] = {"time": ("time", self.time, {"units": "s"})}
        for name, values in self.signals.items():
            unit = {"units": self.unit(name)}
            if values.ndim == 1:
                variables[name] = ("time", values, unit)
                continue
            width = values.shape[1]
            letters = list(LETTERS.get(width, map(str, range(width))))
            along = "".join(letters) if width in LETTERS else f"component_{width}"
            coordinates[along] = (along, letters, {})
            variables[name] = (("time", along), values, unit)
        dataset: xarray.Dataset = xr.Dataset(
            variables,
            coordinates,
            {"model": self.made_by.model, "status": self.status.sentence},
        )
        return dataset

    def to_csv(self, path: str | Path, *units: str) -> None:
        """Writes the table: a column `time [s]`, one of each signal component with its unit, 17
        digits, in SI or in `units` as those of `in_units`: ``to_csv("run.csv", "bar", "deg")``.

        The table alone; `vbg.save` keeps status and audit beside it.  Raises UsageError for a
        file that cannot be written, VbgError where the disk is full.
        """
        shown = self.in_units(*units) if units else self
        with replacing(path) as temporary:
            write_table(shown, temporary)

    def in_units(self, *units: str) -> Solution:
        """The solution as it is shown in other units than those of SI, to be printed, drawn or
        written as a table: ``in_units("bar", "deg", "rpm", "A.force=kN")``.

        A unit is for every signal of its quantity, one after a signal or pattern for those.
        Computing (measures, forces, comparisons) takes solutions in SI.

        Raises UsageError for what is no unit, or none of the signal it is written for.
        """
        return in_display(self, rules_of(units))

    def _find(self, name: str) -> np.ndarray | None:
        if name in self.signals:
            return self.signals[name]
        base, part = split_component(name)
        values = self.signals.get(base)
        if values is None or values.ndim != 2:
            return None
        index = place_of(part, values.shape[1])
        return values[:, index] if index >= 0 else None


def write_table(solution: Solution, path: str | Path) -> None:
    """Time and all signals as comma-separated values, 17 digits, in the solution's units; a
    title that holds a comma is quoted."""
    columns = dict(components(solution))
    titles = (f"{name} [{unit}]" if (unit := solution.unit(name)) else name for name in columns)
    header = StringIO()
    csv.writer(header, lineterminator="").writerow(["time [s]", *titles])
    table = np.column_stack([solution.time, *columns.values()])
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header=header.getvalue(), comments="")


UNITS_OF_AUDIT = {
    "energy": " of the largest energy",
    "position": " [m or rad]",
    "velocity": " [m/s or rad/s]",
}
COARSE = 1e-6  # of a radian, a machine's size, a way: what is known no better is not known
_SPEEDS = {
    "angle": ("speed",),
    "angle2": ("speed2",),
    "slide": ("slide_speed", "speed"),
    "position": ("velocity", "speed"),
}
ABOVE_LIMIT = (
    "The numbers are not to be trusted to that part: tighten rtol and atol, look at "
    "energy.residual and residual.* for the time at which it goes wrong, or try another method."
)


def judged(audit: Audit) -> Audit:
    """`audit` with its failures."""
    failures = []
    for what, unit in UNITS_OF_AUDIT.items():
        value, limit = getattr(audit, f"{what}_residual"), getattr(audit, f"{what}_limit")
        if value > limit:
            failures.append(f"its {what} audit failed by {value:.2g}{unit} (limit {limit:.1g})")
    return replace(audit, failures=tuple(failures))


def checked(solution: Solution, size: float, *, has_values: bool = False) -> Solution:
    """`solution` of a machine of this size [m] with a status that tells of signals without a value,
    see `with_values`, of ways that are lost in rounding, see `with_digits`, and of an audit that
    failed: finished, but not as well as its tolerances promise.  `has_values`: that every signal
    has a value is known."""
    found = with_digits(solution if has_values else with_values(solution), size)
    if found.status.code != "finished" or not found.audit.failures:
        return found
    words = f"The run finished, but {' and '.join(found.audit.failures)}."
    return replace(found, status=Status("finished", words, ABOVE_LIMIT))


def with_digits(solution: Solution, size: float) -> Solution:
    """`solution` of a machine of this size [m], failed where an angle or a place is so far from
    zero that numbers beside it lie COARSE of a radian, or of the size, apart, and as much of its
    way in the run: 1e20 rad and 1 rad more are one number, so that nothing moves, or wrongly."""
    if solution.status.code != "finished" or len(solution.time) < 2:
        return solution
    span = float(solution.time[-1] - solution.time[0])
    for name, values in solution.signals.items():
        owner, _, what = name.rpartition(".")
        rates = [solution.signals.get(f"{owner}.{speed}") for speed in _SPEEDS.get(what, ())]
        speed = next((rate for rate in rates if rate is not None), None)
        if speed is None or speed.shape != values.shape:
            continue
        unit = solution.units.get(name, "")
        one = size if unit == "m" else 1.0
        farthest = np.atleast_1d(np.abs(values).max(axis=0))
        ways = np.atleast_1d(span * np.abs(speed).max(axis=0))
        for largest, way in zip(farthest.tolist(), ways.tolist(), strict=True):
            if way > 0.0 and np.spacing(largest) > COARSE * max(way, one):
                return replace(solution, status=_lost_digits(name, unit, largest, way))
    return solution


def _lost_digits(name: str, unit: str, largest: float, way: float) -> Status:
    return Status(
        "failed",
        f"{name} is up to {largest:.3g} {unit}, where the next number is"
        f" {np.spacing(largest):.2g} {unit} away: its way, {way:.2g} {unit} at its largest speed,"
        " is lost in rounding.",
        "Write angles without whole turns, and places from an origin near the machine.",
    )


def with_values(solution: Solution) -> Solution:
    """`solution`, failed where it reached its end but a signal has no value (NaN, infinite)."""
    if solution.status.code != "finished":
        return solution
    lost = [
        (solution.time[int(np.argmin(finite))], name)
        for name, values in components(solution)
        if not (finite := np.isfinite(values)).all()
    ]
    if not lost:
        return solution
    t = min(at for at, _ in lost)
    names = [name for at, name in lost if at == t]
    others = "" if len(lost) == 1 else f" {len(lost) - 1} more lose theirs then or later."
    status = Status(
        "failed",
        f"{names[0]} has no value from t = {t:.6g} s.{others}",
        "Look at the rows there: an expression may leave the numbers (a root or a logarithm of a "
        "negative number, a division by zero, an overflow), a part may be connected to nothing "
        "that says what its value is, or the model is too stiff for the method.",
    )
    return replace(solution, status=status)


def in_display(solution: Solution, display: Display) -> Solution:
    """`solution` in the units of `display`; itself where that shows all in SI.

    Raises UsageError for a unit of another quantity than the signal it is meant for.
    """
    if not display:
        return solution
    require(display, {name: solution.units.get(name, "") for name in solution.signals})
    signals, units = {}, {}
    for name, values in solution.signals.items():
        shown = scale(display, name, solution.units.get(name, ""))
        same = shown.factor == 1.0 and shown.offset == 0.0
        signals[name] = values if same else (values - shown.offset) / shown.factor
        units[name] = shown.unit
    return replace(solution, signals=signals, units=units)


def components(solution: Solution) -> Iterator[tuple[str, np.ndarray]]:
    """Every signal as columns: ("energy.kinetic", (n,)), ("A.force.x", (n,)), ..."""
    for name, values in solution.signals.items():
        if values.ndim == 1:
            yield name, values
        else:
            yield from zip(component_names(name, values.shape[1]), values.T)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(f"{name} is not installed: pip install 'vbg[frames]'.") from None


def _read_only(values: np.ndarray) -> np.ndarray:
    view = np.asarray(values, dtype=float).view()
    view.flags.writeable = False
    return view
