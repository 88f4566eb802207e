"""Which exponential diodes leak where the file does not say: those at nodes that nothing else
gives their voltage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

LEAKAGE = 1e-12  # S, GMIN of SPICE
GROUND = "gnd"
# through these a current goes on or ends, whatever the voltage is
BY_CURRENT = frozenset({"inductor", "dc_motor", "solenoid", "current_source"})


def with_leakage(electric: Mapping[str, Any], bonds: Iterable[str]) -> dict[str, Any]:
    """The electric parts, with a number for each `Gmin` that is left open.

    While all diodes of a bridge block, Shockley's currents do not change with the common voltage
    of its output where no part but diodes leads from there to the ground.  Such diodes leak
    LEAKAGE, all others nothing: a circuit that is grounded keeps the law as it is in the books.
    """
    open_ones = {
        name: part
        for name, part in electric.items()
        if part.kind == "diode" and part.law == "exponential" and part.Gmin is None
    }
    if not open_ones:
        return dict(electric)
    held = _held(electric, bonds)
    leaks = {
        name: replace(part, Gmin=0.0 if held.issuperset(part.nodes) else LEAKAGE)
        for name, part in open_ones.items()
    }
    return {**electric, **leaks}


def _held(electric: Mapping[str, Any], bonds: Iterable[str]) -> set[str]:
    """Nodes that raw bonds, or parts which are no exponential diodes and not BY_CURRENT, join to
    the ground."""
    bonded = {end for bond in bonds for end in bond.split(" -> ")}
    held = {GROUND} | {end.removeprefix("electric.") for end in bonded}
    paths = [
        set(path)
        for part in electric.values()
        if not (part.kind in BY_CURRENT or (part.kind == "diode" and part.law == "exponential"))
        for path in (part.paths() if hasattr(part, "paths") else (part.nodes,))
    ]
    while met := [path for path in paths if held & path and not held.issuperset(path)]:
        held |= set().union(*met)
    return held
