"""The discrete-time method: its real-time factor, and how it nears the constraint solution.

    python -m benchmarks.accuracy.discrete_time
    python -m benchmarks.accuracy.discrete_time --figure docs/gallery/discrete-time.svg

First: chains of n rods on n revolutes and parallelogram windows, steps of 1e-5 s: seconds of
motion in one second of one core.  Then the double pendulum with joints of growing stiffness
against the constraint solution: opening of the joints and error of the elbow's angle after
0.1 s.  The stiffness of a joint grows with the square of the frequency of its bushings, and
a step dt carries frequencies w with w dt < 1 at the damping used.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import vbg
from benchmarks.machines import chain, windows
from vbg.assemble.start.constraints.posture import Projector
from vbg.simulate.discrete.method import STEP, DiscreteTime

EXAMPLES = Path(__file__).parents[2] / "examples"
MOTION = 0.1  # s, timed in one piece
REPEATS = 5
END = 0.1  # s, of the double pendulum
STEPS = (1e-5, 2.5e-6, 6.25e-7)
FREQUENCIES = tuple(100.0 * 2**k for k in range(11))  # Hz, of the bushings
LARGEST_PHASE = 0.7  # w dt


def real_time_factor(model: vbg.Model) -> tuple[float, float]:
    """Seconds of motion per second of processor, and microseconds per step: best of some."""
    stepper = DiscreteTime(vbg.start(model))
    stepper.advance(0.01)
    spent = []
    for _ in range(REPEATS):
        began = time.process_time()
        stepper.advance(stepper.t + MOTION)
        spent.append(time.process_time() - began)
    assert np.all(np.isfinite(stepper.x))
    return MOTION / min(spent), 1e6 * min(spent) / (MOTION / STEP)


def speeds(sizes: tuple[int, ...] = (10, 50, 100)) -> None:
    print(f"{'machine':44s} {'us a step':>9s} {'real-time factor':>16s}   (steps of {STEP:g} s)")
    machines = [(f"chain: {n} bodies, {n} joints", chain(n)) for n in sizes]
    half = max(sizes) // 4
    for redundant, what in ((True, "revolutes"), (False, "with universal and ball joints")):
        name = f"{half} windows, {what}"
        machines.append((name, windows(half, redundant=redundant)))
    for name, model in machines:
        factor, microseconds = real_time_factor(model)
        print(f"{name:44s} {microseconds:9.2f} {factor:16.2f}")


def convergence(steps: tuple[float, ...] = STEPS) -> dict[float, np.ndarray]:
    """By step: rows of (frequency [Hz], opening [m], error of the angle [rad])."""
    pendulum = vbg.assemble(vbg.read(EXAMPLES / "double-pendulum.toml"))
    exact = vbg.simulate(pendulum, t_end=END, output_step=END, rtol=1e-11, atol=1e-13)
    at = pendulum.state_names.index("elbow.angle")
    residuals = Projector(pendulum).residuals
    table = {}
    for dt in steps:
        rows = []
        for hertz in FREQUENCIES:
            if (frequency := 2 * np.pi * hertz) * dt > LARGEST_PHASE:
                break
            stepper = DiscreteTime(vbg.start(pendulum), dt, frequency)
            stepper.advance(END)
            error = abs(stepper.x[at] - exact["elbow.angle"][-1])
            gap = np.abs(residuals(END, stepper.x)[0]).max()
            rows.append((hertz, gap, error))
        table[dt] = np.array(rows)
    return table


def orders(table: dict[float, np.ndarray]) -> None:
    print("\nstep [s]  bushings [Hz]   opening [m]   order   error of the angle [rad]")
    for dt, rows in table.items():
        before = None
        for hertz, gap, error in rows:
            order = ""
            if before is not None:
                order = f"{np.log(before[1] / gap) / np.log(hertz / before[0]):5.2f}"
            print(f"{dt:8.2e} {hertz:14.4g} {gap:13.3e} {order:>7s} {error:12.3e}")
            before = (hertz, gap)


def draw(table: dict[float, np.ndarray], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.subplots(1, 2)
    for dt, rows in table.items():
        axes[0].loglog(rows[:, 0], rows[:, 1], "o-", ms=3, label=f"step {dt:g} s")
        axes[1].loglog(rows[:, 0], rows[:, 2], "o-", ms=3, label=f"step {dt:g} s")
    for axis, what in zip(axes, ("opening of the joints [m]", "error of the elbow's angle [rad]")):
        axis.set_xlabel("frequency of the bushings [Hz]")
        axis.set_ylabel(what)
        axis.grid(visible=True, which="major", alpha=0.3)
    hertz, gap, _ = table[max(table)][0]
    slope = np.array([FREQUENCIES[0], FREQUENCIES[-1]])
    axes[0].loglog(slope, 0.3 * gap * (hertz / slope) ** 2, "k:", lw=1, label="slope -2")
    axes[0].legend(frameon=False)
    figure.suptitle("Double pendulum, discrete time, against rigid joints after 0.1 s", fontsize=10)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, help="where the curves are drawn")
    chosen = parser.parse_args()
    speeds()
    table = convergence()
    orders(table)
    if chosen.figure is not None:
        draw(table, chosen.figure)


if __name__ == "__main__":
    main()
