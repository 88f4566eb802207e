"""What a run costs around the evaluation of its rates: python -m benchmarks.speed.runs [NAME ...]

Processor time of `vbg.simulate` from an assembled start, warm, best of repeats, every signal
recorded; beside it what the rates alone take, and for the pendulum the same motion written by
hand for scipy's DOP853 with the two hinge forces.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import vbg
from benchmarks import asked
from benchmarks.machines import chain
from benchmarks.timing import best_seconds

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FINE = {"t_end": 1.0, "output_step": 1e-3}
COARSE = {"t_end": 1.0, "output_step": 1e-2}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "chain of 100, default": ("chain 100", FINE),
    "chain of 100, rk4": ("chain 100", FINE | {"method": "rk4"}),
    "slider-crank": ("slider-crank", FINE),
    "pendulum": ("pendulum", {}),
    "motor-slider-crank": ("motor-slider-crank", {}),
    "hydraulic-arm": ("hydraulic-arm", {}),
    "excavator-arm": ("excavator-arm", {}),
    "chain of 100, minimal": ("chain 100", COARSE | {"formulation": "minimal"}),
}


def started(machine: str) -> vbg.Start:
    """An example, or a chain of so many rods."""
    kind, _, number = machine.partition(" ")
    model = chain(int(number)) if kind == "chain" else vbg.read(EXAMPLES / f"{machine}.toml")
    return vbg.start(vbg.assemble(model))


def measure(name: str, repeats: int = 5) -> tuple[float, float, vbg.Solution]:
    """Seconds of the run, seconds that its rates take alone, and the run."""
    machine, settings = RUNS[name]
    start = started(machine)
    found = vbg.simulate(start, **settings)
    run = best_seconds(lambda: vbg.simulate(start, **settings), repeats, 0.0)
    rate = start.evaluator("rate")
    times = np.zeros(100)
    states = np.tile(start.state, (100, 1))
    each = best_seconds(lambda: rate.each(times, states), repeats) / 100
    return run, each * found.made_by.n_rates, found


def pendulum_by_hand(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angle, speed and hinge forces of examples/pendulum.toml: a rod of m, L about its end."""
    model = vbg.read(EXAMPLES / "pendulum.toml")
    (rod,) = model.bodies.values()
    (hinge,) = model.joints.values()
    m, arm = rod.mass, float(np.linalg.norm(rod.points["A"]))
    about = rod.inertia[1] + m * arm**2
    viscous = getattr(hinge.friction, "viscous", 0.0) or 0.0
    g = float(np.linalg.norm(model.gravity))

    def rates(_: float, y: NDArray[np.float64]) -> list[float]:
        return [y[1], (m * g * arm * np.cos(y[0]) - viscous * y[1]) / about]

    s = model.simulate
    path = solve_ivp(rates, (0.0, grid[-1]), [0.0, 0.0], "DOP853", grid, rtol=s.rtol, atol=s.atol)
    angle, speed = path.y
    turning = np.array([rates(0.0, y)[1] for y in path.y.T])
    along = m * (g * np.sin(angle) + arm * speed**2)
    across = m * (g * np.cos(angle) - arm * turning)
    return np.stack([angle, speed, along, across])


def main(names: list[str]) -> None:
    print(
        f"{'run':24s}{'ms':>9s}{'rates alone':>13s}{'ratio':>7s}{'steps':>7s}{'rates':>8s}  method"
    )
    for name in names or RUNS:
        run, rates, found = measure(name)
        made = found.made_by
        print(
            f"{name:24s}{1e3 * run:9.1f}{1e3 * rates:11.1f}{run / rates:7.2f}{made.n_steps:7d}"
            f"{made.n_rates:8d}  {made.method}",
            flush=True,
        )
        if name == "pendulum":
            hand = best_seconds(lambda grid=found.time: pendulum_by_hand(grid))
            print(f"{'  by hand, scipy':24s}{1e3 * hand:9.1f}")


if __name__ == "__main__":
    words = asked.parser(__doc__)
    words.add_argument("names", nargs="*", metavar="NAME")
    main(words.parse_args().names)
