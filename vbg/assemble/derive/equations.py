"""State equations and constraint forces of a causal graph, as block expressions.

Notation of mathematics.md, section 4.  With constraint efforts U2 as the
unknowns,

    X1' = f0 + J_1u2 U2          (X1: momenta and displacements of the stores)
    0   = r(X, t)                 flows of the constraint sources
    r'  = b + H4 U2 = 0,          b = r' at U2 = 0,   H4 = J_C1 F1 J_1u2

`derive` (vbg.assemble.derive.derive) finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from vbg.assemble.derive.variables import SolvedLoop
from vbg.blocks import Block

Kind = Literal[
    "store", "displacement", "position", "quaternion", "quadrature", "signal", "discrete"
]
SUPPLIED, DISSIPATED = "energy.supplied", "energy.dissipated"


def taken_by(part: str) -> str:
    """Name of the state that holds what the part, as its table and name, turns into heat less what
    it supplies."""
    return f"{part.partition('.')[2] or part}.taken"


@dataclass(frozen=True, slots=True)
class State:
    """One state vector: leaf, initial value, its kind and, for coordinates that
    the posture also gives, that `measured` value modulo `period`.  `settled`: the initial
    value as a function of the assembled posture, where it depends on it."""

    name: str
    leaf: Block
    initial: Block
    kind: Kind
    unit: str = "1"
    measured: Block | None = None
    period: float = 0.0
    settled: Block | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint source: unknown efforts, their names, where they stand in the
    vector of all, the flow that must vanish and the position it is the rate of.
    `active` is 1 while the constraint holds and 0 while it does not (None: always).
    `combined` is the residual of a combination of rows as the bonds have it, in which the
    unknown efforts cancel (None: the residual itself).  `facing` is that of its vertex.
    `reciprocal`: the efforts act on the stores as the row reads them."""

    name: str
    part: str
    unknown: Block
    labels: tuple[str, ...]
    first: int
    residual: Block
    position: Block | None
    active: Block | None = None
    combined: Block | None = None
    facing: Block | None = None
    reciprocal: bool = True

    @property
    def latches(self) -> bool:
        """Whether it is a joint that opens and closes, at a posture of its own, and no friction
        that sticks wherever it is."""
        return self.active is not None and self.position is not None


def efforts_as_inputs(constraints: Iterable[Constraint]) -> dict[str, Block]:
    """Unknown efforts as inputs of a program, under names that neither time nor a state has: a
    joint may be called t."""
    return {f"effort of {c.name}": c.unknown for c in constraints}


@dataclass(frozen=True, slots=True)
class Equations:
    """All that a System evaluates, in terms of the states' leaves and time.

    `direct`: constraint efforts that follow without a derivative (case 14), which are
    not among `constraints`; `struck`: the steps of the stores by impulses, in which flexible
    bodies bend as they do not in the corrections; `rows_on_stores`: coefficients of each
    constraint on the co-energies of the stores; `updates`: what discrete states become at their
    instants (of an FMU: what it reads there);
    `slopes`: F = dZ/dX of the stores' laws, by their states; `effective`: Z / F of those with one
    component whose law is not proportional, which is what of the state makes the effort;
    `brought`: by part the power [W] of its sources in terms of unknown efforts, where joints
    close; `held`: what stops of these store, by part [J];
    `pushed`: rates in terms of unknown efforts of signals and coordinates that read some, and of
    the stores where efforts act on some of them by laws that are not linear, which `struck` leaves
    out.
    """

    states: tuple[State, ...]
    constraints: tuple[Constraint, ...]
    rates: Mapping[Block, Block]
    efforts: Block
    residual: Block
    position: Block
    spins: Mapping[Block, Block]
    posture_correction: Mapping[Block, Block]
    velocity_correction: Mapping[Block, Block]
    struck: Mapping[Block, Block]
    right_hand_side: Block
    factor: Block | None
    multipliers: Block | None
    outputs: Mapping[str, Block]
    units: Mapping[str, str]
    stored: Block
    kinetic: Block
    potential: Block
    switches: Mapping[str, Block]
    held_values: HeldStart
    held_speeds: HeldStart
    time: Block
    loops: tuple[SolvedLoop, ...] = ()
    direct: Mapping[Block, Block] = field(default_factory=dict)
    rows_on_stores: tuple[Mapping[Block, Block], ...] = ()
    updates: Mapping[Block, Block] = field(default_factory=dict)
    slopes: Mapping[Block, Block] = field(default_factory=dict)
    effective: Mapping[Block, Block] = field(default_factory=dict)
    brought: Mapping[str, Block] = field(default_factory=dict)
    held: Mapping[str, Block] = field(default_factory=dict)
    pushed: Mapping[Block, Block] = field(default_factory=dict)

    @property
    def stores_of_rows(self) -> tuple[Block, ...]:
        """The co-energies that constraint rows have coefficients on."""
        return tuple(dict.fromkeys(z for row in self.rows_on_stores for z in row))


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A start coordinate or speed that the engineer wrote and assembly keeps."""

    name: str
    value: Block
    target: float


@dataclass(frozen=True, slots=True)
class HeldStart:
    """Held rows behind the constraint rows: the steps of the states for a right-hand
    side "correction" of `size` rows."""

    rows: tuple[HeldRow, ...]
    steps: Mapping[Block, Block]
    size: int
