"""Equations of motion in minimal coordinates, as a value.

    Phi(q, t) = 0                                dependent coordinates from independent ones
    q' = B u,  J q'' = gamma                     J = dPhi/dq,  gamma = -(d/dt J) q' - ...
    B^T M B u' = B^T (h - M g)                   q'' = B u' + g: g has J g = gamma, 0 in u
    J^T efforts = M q'' - h                      efforts of closures and drives
    force, torque of every joint                 by Newton and Euler along the tree

(neweul-newsim-cad.txt, section 5, eqs. 3 to 8, with the independent coordinates taken from q.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vbg.analysis.symbolic.numbered import Numbered


@dataclass(frozen=True, eq=False)
class MinimalEquations:
    """All in symbols of `q`, `u` (their rates), `states` (all others) and t.

    independent, dependent : places in q.  `closures` Phi (m,), `jacobian` J (m, n), `bias` gamma
    (m,), `driven` -dPhi/dt (m,), so that J q' = driven.  mass M (n, n), loads h (n,).
    state_rates : of the `states`.  accelerations : symbols q'';  efforts : symbols (m,).
    outputs : name -> three components, of q, u, q'', efforts: JOINT.force, JOINT.torque.
    start : values of q, u and states at the start.  parameters : symbols -> SI values.
    shared : efforts whose closures follow from the others: m is larger than the number of
    dependent coordinates, all closures are kept, and the smallest efforts are taken (sum of
    squares), for which rows stand for the others changes with the posture (Bennett's linkage).
    idle : efforts whose closures hold at every posture: no motion feels them; taken as zero, as
    one choice of many (of a plane loop of hinges those out of the plane).
    numbered : parameters that have no symbol.
    """

    name: str
    q: tuple[Any, ...]
    u: tuple[Any, ...]
    independent: tuple[int, ...]
    closures: tuple[Any, ...]
    jacobian: Any
    driven: tuple[Any, ...]
    bias: tuple[Any, ...]
    mass: Any
    loads: tuple[Any, ...]
    states: tuple[Any, ...]
    state_rates: tuple[Any, ...]
    accelerations: tuple[Any, ...]
    efforts: tuple[Any, ...]
    outputs: Mapping[str, tuple[Any, ...]]
    start: Mapping[Any, float]
    parameters: Mapping[Any, float] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    numbered: Numbered = field(default_factory=Numbered)

    @property
    def dependent(self) -> tuple[int, ...]:
        """Places in q of the coordinates that the closures determine."""
        return tuple(i for i in range(len(self.q)) if i not in self.independent)

    def remarks(self, *, forces: bool) -> list[str]:
        """What a reader must know of redundant loops and of parameters, a sentence each; with what
        is to be said of `forces`."""
        found = [
            f"the closure of {name} follows from the others (redundant): efforts are shared"
            for name in self.shared
        ]
        if self.idle and forces:
            joints = sorted({name.rpartition(".")[0] for name in self.idle})
            found.append(
                f"{', '.join(self.idle)}: no motion feels them (redundant); not unique, taken as 0 "
                f"in force and torque of {', '.join(joints)}, from which other joints' follow"
            )
        return [*found, *self.numbered.remarks]
