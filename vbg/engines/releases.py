"""Joints that open for good: the machine behind a release is one without the joint."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg import expressions
from vbg.errors import ModelError, UsageError
from vbg.expressions import Expression
from vbg.junctions.latch import begins_open, opens
from vbg.model import Model
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.formulas.written import function_of

_COMPONENT = re.compile(r"(.+?)(?:\[(\d+)\]|\.([xyz]))\Z")
HALVINGS = 100  # of a step, to where a release comes true

Row = Callable[[float], Mapping[str, Any]]
"""The signals at a time within the last step."""


@dataclass(frozen=True, slots=True)
class Release:
    """The joint opens where `margin` grows through zero; `timed` are functions of time in it."""

    joint: str
    margin: Expression
    timed: Mapping[str, TimeFunction]

    def value(self, t: float, row: Row) -> float:
        """The margin; the signals are asked for where it reads some."""
        read = {"t": t} | {name: f.value(t) for name, f in self.timed.items()}
        others = expressions.names(self.margin) - read.keys()
        if others:
            signals = row(t)
            read |= {name: _read(self.joint, name, signals) for name in others}
        try:
            return float(expressions.evaluate(self.margin, read))
        except ModelError:
            return float("nan")


def _read(joint: str, name: str, signals: Mapping[str, Any]) -> float:
    """A signal, or a component of one."""
    found = _COMPONENT.match(name)
    if name in signals:
        return float(np.ravel(signals[name])[0])
    if found is None or found[1] not in signals:
        raise UsageError(f"the engines have no {name}, which the release of joints.{joint} reads.")
    place = int(found[2]) if found[2] else "xyz".index(found[3])
    return float(np.ravel(signals[found[1]])[place])


def opened_at_start(model: Model, begin: Mapping[str, Any]) -> dict[str, float]:
    """Joints that are open in the signals of the first instant, and what was lost in them [J].

    Raises UsageError for those that close: the engines know no impact."""
    names = [name for name, joint in model.joints.items() if opens(joint)]
    closing = [name for name in names if model.joints[name].engage is not None]
    if closing:
        raise UsageError(f"the engines have no joint that closes, as joints.{closing[0]} does.")
    told = {name: begin.get(f"{name}.open") for name in names}
    return {
        name: 0.0
        for name, value in told.items()
        if (begins_open(model.joints[name]) if value is None else np.ravel(value)[0] > 0.5)
    }


def pressed(model: Model, joint: str, signals: Mapping[str, Any]) -> float:
    """What the stop of a joint that opens holds, k depth^2 / 2 [J]: it is lost."""
    stop = getattr(model.joints[joint], "stop", None)
    if stop is None:
        return 0.0
    value = next(
        signals[f"{joint}.{key}"] for key in ("angle", "slide") if f"{joint}.{key}" in signals
    )
    ends = ((stop.lower, -1.0), (stop.upper, 1.0))
    depths = [sign * (float(value) - end) for end, sign in ends if end is not None]
    return 0.5 * stop.k * max(0.0, *depths) ** 2


def releases_of(model: Model, opened: frozenset[str]) -> tuple[Release, ...]:
    """Of the joints that are not open yet."""
    return tuple(
        _release(model, name)
        for name, joint in model.joints.items()
        if opens(joint) and name not in opened
    )


def _release(model: Model, joint: str) -> Release:
    given = str(model.joints[joint].release)
    node = expressions.parse(given)
    names = expressions.names(node)
    return Release(joint, node, {n: function_of(model, n) for n in names if n in model.signals})


def next_release(
    releases: tuple[Release, ...], before: float, after: float, row: Row
) -> tuple[float, str]:
    """The first time in a step at which one comes true, just behind it, and its joint; "" for
    none."""
    found = (after, "")
    for release in releases:
        if not release.value(after, row) > 0.0:
            continue
        early, late = before, after
        for _ in range(HALVINGS):
            middle = 0.5 * (early + late)
            if middle in (early, late):
                break
            early, late = (early, middle) if release.value(middle, row) > 0.0 else (middle, late)
        found = min(found, (late, release.joint)) if found[1] else (late, release.joint)
    return found
