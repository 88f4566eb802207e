"""Own implicit method beside scipy's Radau: python -m benchmarks.speed.implicit

The same rates, the same exact Jacobian, the same tolerances (rtol 1e-8); no rows, no projection, no
events.  Processor time, steps, rates, factorisations, and the error of the end over the tolerance,
beside scipy's Radau at rtol 1e-11.  Then the steps of whole runs by `method = "radau"`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import Radau

import vbg
from benchmarks import asked
from benchmarks.speed import beams, ladder
from benchmarks.speed.runs import EXAMPLES
from benchmarks.timing import best_seconds
from vbg.assemble.program.evaluator import Evaluator
from vbg.plumbing.one_thread import one_thread
from vbg.simulate.steppers.implicit.implicit import Implicit
from vbg.simulate.steppers.implicit.iteration import Compiled
from vbg.simulate.steppers.implicit.jacobian import implicit_jacobian
from vbg.simulate.steppers.tolerances import Tolerances
from vbg.simulate.steppers.work import Counts

Array = NDArray[np.float64]
RTOL = 1e-8
FIRST = 1e-7  # s, for both
EXAMPLE_RUNS = (("motor-slider-crank", 0.2), ("hydraulic-arm", 0.4), ("servo-hydraulic", 0.3))


@dataclass(frozen=True)
class Work:
    """rate(t, x), rates(times, states), Jacobian, start, end [s], tolerances; their program."""

    rate: Callable[[float, Array], Array]
    rates: Callable[[Array, Array], Array]
    jacobian: Callable[[float, Array], Any]
    x: Array
    t_end: float
    atol: Array
    program: Evaluator | None = None

    def own(self, rtol: float = RTOL) -> Implicit:
        settings = {"rtol": rtol, "atol": self.atol * rtol / RTOL}
        start = self.rate, self.rates, self.jacobian, 0.0, self.x, self.t_end
        counts = Counts()
        newton = Compiled(self.program, len(self.x), counts) if self.program is not None else None
        return Implicit(*start, max_step=np.inf, **settings, counts=counts, newton=newton)

    def scipys(self, rtol: float = RTOL) -> Any:
        settings = {"rtol": rtol, "atol": self.atol * rtol / RTOL}
        return Radau(self.rate, 0.0, self.x, self.t_end, jac=self.jacobian, **settings)


def machine(start: vbg.Start, t_end: float) -> Work:
    """Of the rates of a machine."""
    rate, n = start.evaluator("rate"), start.system.size
    settings = start.system.model.simulate
    return Work(
        lambda t, x: rate(t, x)[:n].copy(),
        lambda times, states: rate.each(times, states)[:, :n],
        implicit_jacobian(start),
        start.state,
        t_end,
        Tolerances(start.system, settings.atol, t_end)(0.0, start.state),
        rate,
    )


def example(name: str, t_end: float) -> Work:
    return machine(vbg.start(vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))), t_end)


def van_der_pol() -> Work:
    """x'' = ((1 - x^2) x' - x) / 1e-6 (IVP Test Set)."""

    def rate(_: float, x: Array) -> Array:
        return np.array([x[1], 1e6 * ((1.0 - x[0] ** 2) * x[1] - x[0])])

    def slopes(_: float, x: Array) -> Array:
        return np.array([[0, 1], [1e6 * (-2 * x[0] * x[1] - 1), 1e6 * (1 - x[0] ** 2)]])

    def rates(times: Array, states: Array) -> Array:
        return np.stack([rate(t, x) for t, x in zip(times, states, strict=True)])

    return Work(rate, rates, slopes, np.array([2.0, 0.0]), 2.0, np.full(2, RTOL))


WORKS: dict[str, Callable[[], Work]] = {
    "van der Pol, 1e-6": van_der_pol,
    "motor-slider-crank": lambda: example("motor-slider-crank", 0.04),
    "hydraulic-arm": lambda: example("hydraulic-arm", 0.2),
    "transistor-amplifier": lambda: example("transistor-amplifier", 0.05),
    "stiff ladder of 200": lambda: machine(
        vbg.start(vbg.assemble(ladder.model(ladder.stiff(200)))), 1e-4
    ),
}


def through(solver: Any) -> tuple[Array, int]:
    """The end, and the number of steps."""
    solver.h_abs, steps = FIRST * solver.t_bound, 0
    while solver.status == "running":
        solver.step()
        steps += 1
    if solver.status == "failed":
        raise SystemExit(f"stopped at t = {solver.t} s")
    return solver.y, steps


def measured(make: Callable[[Work], Any], work: Work, reference: Array) -> tuple[str, float]:
    """A row of the table, and its seconds."""
    count = {"rates": 0}

    def rate(t: float, x: Array) -> Array:
        count["rates"] += 1
        return work.rate(t, x)

    def rates(times: Array, states: Array) -> Array:
        count["rates"] += len(times)
        return work.rates(times, states)

    solver = make(replace(work, rate=rate, rates=rates))
    y, steps = through(solver)
    own = isinstance(solver, Implicit)
    count["rates"] += solver.staged if own else 0
    factors = solver.counts.factorisations if own else solver.nlu
    seconds = best_seconds(lambda: through(make(work)), 3, 0.0)
    over = float(np.sqrt(np.mean(((y - reference) / (work.atol + RTOL * np.abs(y))) ** 2)))
    text = f"{1e3 * seconds:9.1f} ms{steps:7d}{count['rates']:8d}{factors:6d}{over:10.2g}"
    return text, seconds


def spun(stiffer: float) -> vbg.Model:
    """The beam of four elements that is spun up, its EA and GA so many times as large."""
    stiff = {key: stiffer * beams.SPUN[key] for key in ("EA", "GA_y", "GA_z")}
    return beams.spun(4, **stiff)


def whole() -> None:
    """Steps of runs by `radau` from a file's beginning to its end."""
    runs = [("spin-up, 8 s", spun(1.0), 8.0), ("EA, GA 1e4 times, 4 s", spun(1e4), 4.0)]
    runs += [(name, vbg.read(EXAMPLES / f"{name}.toml"), end) for name, end in EXAMPLE_RUNS]
    for name, model, t_end in runs:
        for rtol in (1e-4, 1e-6, 1e-8) if model.beams else (RTOL,):
            settings = {"rtol": rtol, "atol": 1e-2 * rtol, "method": "radau"}
            run = vbg.simulate(model, t_end=t_end, **settings).made_by
            print(f"{name:24s}{rtol:8.0e}{run.n_steps:7d} steps{run.cpu:8.2f} s", flush=True)


def main() -> None:
    print(f"{'':24s}{'':8s}{'time':>12s}{'steps':>7s}{'rates':>8s}{'LU':>6s}{'error':>10s}")
    for name, make in WORKS.items():
        work = make()
        with one_thread():
            reference, _ = through(work.scipys(1e-11))
            own, seconds = measured(Work.own, work, reference)
            scipys, before = measured(Work.scipys, work, reference)
        print(f"{name:24s}{'own':8s}{own}   {before / seconds:.2f} times as fast")
        print(f"{'':24s}{'scipy':8s}{scipys}", flush=True)
    whole()


if __name__ == "__main__":
    asked.parser(__doc__).parse_args()
    main()
