"""The tables [simulate] and [outputs]: what to compute, not what the machine is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vbg.fields import WRITTEN, Beginning, declare, quantity

METHODS = ("auto", "dop853", "rk4", "radau", "adams", "discrete-time")
FORMULATIONS = ("constraint", "minimal")
CAUSALITIES = ("integral", "derivative")


@dataclass(frozen=True, slots=True)
class Simulate:
    """How to run the model where the caller does not say otherwise."""

    t_end: float = quantity("s", "end of the run", default=1.0, minimum=0.0)
    output_step: float = quantity("s", "distance of the output times", default=1e-3, above=0.0)
    method: str = declare("choice", "integrator", choices=METHODS, default="auto")
    rtol: float = quantity("1", "relative tolerance", default=1e-8, above=0.0, below=1.0)
    atol: float = quantity(
        "1",
        "absolute tolerance, of efforts and flows: V, A, m/s, rad/s, 1e5 Pa; of positions in "
        "sizes of the machine, of angles in rad",
        default=1e-10,
        above=0.0,
    )
    formulation: str = declare(
        "choice",
        "constraint: redundant coordinates, held on the constraints by projection; "
        "minimal: independent coordinates, the others found from the constraints",
        choices=FORMULATIONS,
        default="constraint",
    )
    causality: str = declare(
        "choice",
        "of stores that depend on others: integral, with a constraint source, or derivative",
        choices=CAUSALITIES,
        default="integral",
    )
    start: str | Beginning = declare(
        "beginning",
        "written; equilibrium: where the machine rests; { file, at }: a row of a result; "
        "{ balance = [parts] }: as written, their pressures, charges, twists so that it rests",
        default=WRITTEN,
    )
    step: float | None = quantity(
        "s",
        "step of method discrete-time; default: 1e-5 s, less where springs or circuits ask for it",
        above=0.0,
        default=None,
    )
    bushing_frequency: float | None = quantity(
        "Hz",
        "largest frequency of the bushings that stand for joints in method discrete-time; "
        "default: 0.048 / step",
        above=0.0,
        default=None,
    )
    bushing_damping: float | None = quantity(
        "1", "their damping ratio at that frequency; default 0.5", minimum=0.0, default=None
    )
    events: str = declare(
        "choice",
        "locate: contacts of stops are found to the root of their gap",
        choices=("locate",),
        default="locate",
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A method that the formulation does not have."""
        if self.formulation == "minimal" and self.method not in ("auto", "adams"):
            what = f"{self.method} is no method of formulation 'minimal', which has 'adams'."
            yield "method", what, "Leave method out, or write formulation = 'constraint'."
        if self.formulation != "minimal" and self.method == "adams":
            what = "adams is the method of formulation 'minimal'."
            yield "method", what, "Write formulation = 'minimal', or another method."


def balancing(settings: Simulate, values: tuple[str, ...]) -> Simulate:
    """The settings of a machine whose start `values` (PART.KEY) its balance gives: they are found
    beside what `start` names; a start from a result or at rest gives them anyway."""
    start = settings.start
    balance = start.balance if isinstance(start, Beginning) else ()
    if not values or (start != WRITTEN and not balance):
        return settings
    more = (value for value in values if value.partition(".")[0] not in balance)
    return replace(settings, start=Beginning(balance=tuple(dict.fromkeys((*balance, *more)))))


@dataclass(frozen=True, slots=True)
class Outputs:
    """Signals to keep besides the default set."""

    keep: tuple[str, ...] = declare(
        "outputs", "names of signals, such as rod.tip.velocity", default=()
    )
    energy: bool = declare(
        "flag",
        "energy that each part takes up and its rate, NAME.energy and NAME.intake: what it stores, "
        "turns into heat, supplies (negative); the sum of all is the energy audit",
        default=False,
    )
