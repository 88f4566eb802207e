"""Independent coordinates: coordinate changes, drift.  ``python -m benchmarks.speed.minimal``

changes: machines whose coordinates must be chosen anew during the run, once with the
history of the multistep method kept (transformed, neweul-newsim-cad.txt, section 5) and
once with a restart at order 1 (first step by the rule of the book, cautious).  `behind`:
rejected steps among the ten behind a change; `until back`: mean number of attempts behind a
change until the step is half as long again as it was.

published problems: digits in minimal form, beside each problem's own tolerance.

long run: a slider-crank without load over 1000 revolutions; largest residuals of all
accepted steps.  Nothing projects the states.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import vbg
from benchmarks import asked
from tests.published.problems import PROBLEMS
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.system import System
from vbg.simulate.minimal.stepper import Minimal, OnChange

ROOT = Path(__file__).resolve().parents[2]
BEHIND = 10  # steps behind a change in which a rejection is put down to it
MACHINES = {
    "heavy top": (ROOT / "examples/heavy-top.toml", 2.0),
    "triple pendulum": (ROOT / "examples/triple-pendulum.toml", 5.0),
    "simple pendulum, points only": (ROOT / "tests/published/a01_simple_pendulum.toml", 10.0),
    "spatial four-bar (MSL)": (ROOT / "tests/published/msl_fourbar1.toml", 5.0),
}


@dataclass(frozen=True, slots=True)
class Count:
    """What a run took."""

    changes: int
    steps: int
    rejected: int
    behind: int
    until_back: float
    rates: int


def run(system: System, t_end: float, on_change: OnChange, rtol: float, atol: float) -> Count:
    """A run of the stepper alone, without outputs."""
    stepper = Minimal(vbg.start(system), 0.0, vbg.start(system).state, rtol, atol, on_change)
    stepper.limit(t_end)
    behind, since, back = 0, BEHIND, 0
    wanted = 0.0  # length of step that was lost and is not back yet
    while stepper.t < t_end:
        changes, rejected, h = stepper.changes, stepper.rejected, stepper.h
        trouble = stepper.step()
        if trouble is not None:
            raise RuntimeError(trouble)
        failures = stepper.rejected - rejected
        behind += failures if since < BEHIND else 0
        since += 1
        if stepper.changes > changes:
            since, wanted = 0, 0.5 * h
        elif wanted > 0.0:
            back += 1 + failures
        if stepper.h >= wanted:
            wanted = 0.0
    mean = back / max(stepper.changes, 1)
    return Count(stepper.changes, stepper.steps, stepper.rejected, behind, mean, stepper.rates)


def changes(rtol: float = 1e-8, atol: float = 1e-10, share: float = 1.0) -> None:
    """The table of coordinate changes; `share` shortens the runs."""
    print(f"coordinate changes, rtol {rtol:.0e}")
    head = ("machine", "at a change", "changes", "steps", "rejected", "behind", "until back")
    print("{:30}{:>12}{:>9}{:>8}{:>10}{:>8}{:>12}{:>8}".format(*head, "rates"))
    for name, (path, t_end) in MACHINES.items():
        system = vbg.assemble(vbg.read(path))
        kinds: tuple[OnChange, ...] = ("transform", "restart")
        for kind in kinds:
            c = run(system, share * t_end, kind, rtol, atol)
            print(
                f"{name:30}{kind:>12}{c.changes:9}{c.steps:8}{c.rejected:10}{c.behind:8}"
                f"{c.until_back:12.1f}{c.rates:8}"
            )


def published(names: tuple[str, ...] = tuple(PROBLEMS)) -> None:
    """Achieved digits of published problems in minimal form."""
    head = ("problem", "fewest digits", "worst/tolerance", "position", "steps", "changes")
    print("{:24}{:>14}{:>17}{:>10}{:>8}{:>9}".format(*head))
    for name in names:
        problem = PROBLEMS[name]
        system = vbg.assemble(vbg.read(problem.model))
        solution = vbg.simulate(system, method="auto", formulation="minimal")
        channels = problem.channels(solution)
        worst = max(channel.error / channel.tolerance for channel in channels)
        changed = solution.notes[-1].what.partition("chosen anew ")[2].split(" ")[0]
        print(
            f"{name:24}{min(c.digits for c in channels):14.1f}{worst:17.2g}"
            f"{solution.audit.position_residual:10.1e}{solution.made_by.n_steps:8}{changed:>9}"
        )


def slider_crank() -> System:
    """examples/slider-crank.toml without motor, load and weight: it turns for ever."""
    document = dict(vbg.read(ROOT / "examples/slider-crank.toml").document)
    document["gravity"] = [0.0, 0.0, 0.0]
    model = vbg.Model(**{k: v for k, v in document.items() if k != "vbg"})
    return vbg.assemble(model.with_parameters(M=0.0, c=0.0))


def long_run(revolutions: float = 1000.0, rtol: float = 1e-8, atol: float = 1e-10) -> None:
    """Largest residuals over all accepted steps."""
    system = slider_crank()
    angle = system.state_names.index("A.angle")
    stepper = Minimal(vbg.start(system), 0.0, vbg.start(system).state, rtol, atol)
    projector, energy = Projector(system), Evaluator(system.programs.energy)
    first, stored = stepper.x[angle], float(energy(0.0, stepper.x)[0])
    worst = np.zeros(2)
    while stepper.x[angle] - first < 2.0 * np.pi * revolutions:
        trouble = stepper.step()
        if trouble is not None:
            raise RuntimeError(trouble)
        found = projector.residuals(stepper.t, stepper.x)
        worst = np.maximum(worst, [np.abs(residual).max() for residual in found])
    drift = float(energy(stepper.t, stepper.x)[0]) / stored - 1.0
    print(
        f"slider-crank, {revolutions:g} revolutions ({stepper.t:.4g} s), rtol {rtol:.0e}: "
        f"{stepper.steps} steps, {stepper.rates} rates, {stepper.changes} coordinate changes\n"
        f"position residual {worst[0]:.1e}, velocity residual {worst[1]:.1e}, "
        f"energy drift {drift:.1e}"
    )


def main() -> None:
    changes()
    print()
    published()
    print()
    long_run()


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
