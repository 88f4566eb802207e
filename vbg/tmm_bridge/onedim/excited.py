"""Inputs added to what parts read: excited signals, and sources by their own names.

    read = computed + input,      value of a source = written + input.

The input is a state of the network that stands still, zero in every run: how rates and efforts
follow from it is told by slopes like those of all other states (`modes.network.linearising`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from vbg.expressions import names, parse
from vbg.model import Model
from vbg.plumbing.components import place_of, split_component

FIELDS = ("input", "expression", "demand", "measured", "x", "y")
SOURCES = ("voltage_source", "current_source", "pressure_source", "flow_source", "torque", "force")


def spelled(name: str) -> str:
    """The name with the letter of a component of three as its number."""
    base, which = split_component(name)
    k = place_of(which, 3)
    return f"{base}[{k}]" if k >= 0 else name


def read_by(model: Model, given: Any) -> Iterator[str]:
    """Every name that a value reads, itself and through signals."""
    seen: set[str] = set()
    stack = [given]
    while stack:
        text = stack.pop()
        if not isinstance(text, str):
            continue
        for name in names(parse(text)):
            yield name
            signal = model.signals.get(name)
            if signal is not None and name not in seen:
                seen.add(name)
                stack += [getattr(signal, key, None) for key in FIELDS]
                stack += getattr(signal, "inputs", ())


def reads_any(model: Model, given: Any, excited: Collection[str]) -> bool:
    """Whether a value reads one of the `excited` names (`spelled`)."""
    return bool(excited) and any(spelled(name) in excited for name in read_by(model, given))


def sources_of(model: Model) -> tuple[str, ...]:
    """Names of the sources of circuits, oil and shafts."""
    tables = (model.electric, model.hydraulic, model.rotational, model.translational)
    return tuple(name for table in tables for name, p in table.items() if p.kind in SOURCES)
