"""What a run asks of a part that no real one stands, though its law has numbers for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple

import numpy as np

from vbg.elements.electric.diode import WITHSTOOD
from vbg.errors import Problem
from vbg.model import Model
from vbg.model.located import located
from vbg.simulate.record.bending import beyond_linear
from vbg.simulate.record.vapour import below_vapour


class BeyondPart(Problem):
    """A warning of `beyond_parts`: of the model itself, whoever solves it."""

    __slots__ = ()


def beyond_parts(
    model: Model, time: np.ndarray, signals: Mapping[str, np.ndarray]
) -> tuple[BeyondPart, ...]:
    """Warnings of oil below its vapour pressure, of diodes through whose leakage alone a
    current is forced, and of flexible bodies beyond small deflections; `signals` are those of a
    run of `model`."""
    oil = below_vapour(model, time, signals)
    others = (*_forced(model, time, signals), *beyond_linear(model, time, signals))
    found = (*oil, *located(model, others))
    return tuple(BeyondPart(*astuple(each)) for each in found)


def _forced(model: Model, time: np.ndarray, signals: Mapping[str, np.ndarray]) -> Iterator[Problem]:
    for name, part in model.electric.items():
        voltage = signals.get(f"{name}.voltage")
        if part.kind != "diode" or part.law != "exponential" or voltage is None:
            continue
        high = voltage < -WITHSTOOD
        if high.any():
            at = float(time[int(np.argmax(high))])
            yield Problem(
                "warning",
                f"electric.{name}",
                f"the diode stands {-float(np.nanmin(voltage)):.3g} V in reverse, first more than"
                f" {WITHSTOOD:.0e} V at t = {at:.4g} s: a current is forced against it, which its"
                f" leakage alone carries (Gmin = {part.Gmin:g} S).",
                "No diode stands that: give the current of the source or of the coil another way,"
                " a diode or a resistor beside it.",
            )
