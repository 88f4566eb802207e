"""Mass and inertia of the bodies in equations: what they are made of, or symbols of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg.analysis.symbolic.data import inertia_of, mass_of
from vbg.analysis.symbolic.named import Named
from vbg.analysis.symbolic.rewriting.tidy import exact

ROUNDING = 1e-13  # of the largest moment: a product of inertia that is none


@dataclass(frozen=True, eq=False)
class Inertias:
    """By body m and J (3, 3), in its axes; `parameters`: values of the symbols made for them."""

    of: Mapping[str, tuple[Any, Any]]
    parameters: Mapping[Any, float] = field(default_factory=dict)


def inertias_of(numbers: Named, *, by_name: bool) -> Inertias:
    """`by_name`: m_BODY and J_BODY_xx, ... where they are no parameter by themselves."""
    bodies = numbers.system.model.bodies
    found = {
        body: (
            exact(numbers.matrix(mass_of(body)))[0, 0],
            exact(numbers.matrix(inertia_of(body))),
        )
        for body in bodies
    }
    if not by_name:
        return Inertias(found)
    made: dict[Any, float] = {}
    taken = {str(one) for one in numbers.parameters} | set(numbers.system.model.parameters)

    def symbol(name: str, entry: Any) -> Any:
        import sympy

        if entry == 0 or entry.is_Symbol:
            return entry
        while name in taken:
            name += "_"
        one = sympy.Symbol(name, real=True)
        made[one] = float(entry.xreplace(numbers.parameters))
        return one

    named = {}
    for body, (m, J) in found.items():
        values = J.xreplace(dict(numbers.parameters))
        least = ROUNDING * max(abs(float(v)) for v in values)
        word = body.replace("-", "_")
        own = J.copy()
        for i, a in enumerate("xyz"):
            for j in range(i, 3):
                entry = J[i, j] if abs(float(values[i, j])) > least else 0 * J[i, j]
                own[i, j] = own[j, i] = symbol(f"J_{word}_{a}{'xyz'[j]}", entry)
        named[body] = (symbol(f"m_{word}", m), own)
    return Inertias(named, made)
