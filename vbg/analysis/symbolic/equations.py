"""State equations in symbols, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg.analysis.symbolic.numbered import Numbered


@dataclass(frozen=True, eq=False)
class SymbolicEquations:
    """rates: state symbol -> derivative; `definitions` hold first (in order).

    `efforts` are the symbols of the constraint efforts and `constraints` what vanishes;
    both are empty in minimal form, where `mass` (n, n) and `right` (n,) give the speeds'
    rates: mass @ speeds' = right (None in constraint form).  `parameters`: symbols of the
    model file's parameters that occur, with their values in SI.  `modes`: symbols of what
    switches (sticking, touching), constant between its instants.  `numbered`: parameters that
    have no symbol.
    """

    form: str
    definitions: Mapping[Any, Any]
    rates: Mapping[Any, Any]
    efforts: tuple[Any, ...]
    constraints: tuple[Any, ...]
    speeds: tuple[Any, ...] = ()
    mass: Any = None
    right: Any = None
    parameters: Mapping[Any, float] = field(default_factory=dict)
    modes: tuple[Any, ...] = ()
    numbered: Numbered = field(default_factory=Numbered)
