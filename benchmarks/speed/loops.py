"""Speed on closed loops.  ``python -m benchmarks.speed.loops [--quick]``

N parallelogram windows (IFToMM A02 generalised).  Timed: one evaluation of the rate with
all constraint efforts; beside it Pinocchio's constrained dynamics on the same mechanism.
The first table has universal and ball joints, so that nothing is redundant; the second has
revolutes only, three redundant reactions in every window.  Processor time of the process,
best of repeats, warm.
"""

from __future__ import annotations

import time

import numpy as np

import vbg
from benchmarks import asked
from benchmarks.machines import (
    GRAVITY,
    LENGTH,
    has_pinocchio,
    pin_windows,
    scissor_lift,
    windows,
)
from benchmarks.timing import best_seconds, exponent
from vbg.assemble.program.evaluator import Evaluator

SIZES = (1, 2, 5, 10, 20, 40, 80, 160)
QUICK = (1, 5)
STAGES = (10, 20, 40, 80, 160, 320)
QUICK_STAGES = (2, 5)
TILT = 0.3


def exact_acceleration(n: int) -> float:
    """Angular acceleration of the verticals [rad/s^2], clockwise positive.

    n + 1 verticals with m L^2/3 and n couplers with m L^2 turn as one:
    a = g/L sin(tilt) ((n + 1)/2 + n) / ((n + 1)/3 + n).
    """
    return GRAVITY / LENGTH * np.sin(TILT) * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)


def table(sizes: tuple[int, ...], *, redundant: bool) -> None:
    print(f"\n{'revolutes only (redundant)' if redundant else 'universal and ball joints'}")
    print(f"{'N':>4} {'vbg us':>9} {'error':>9} {'pinocchio us':>13} {'error':>9} {'ratio':>6}")
    seconds = []
    for n in sizes:
        system = vbg.assemble(windows(n, redundant=redundant, tilt=TILT))
        x = vbg.start(system).state
        rate_and_efforts = Evaluator(vbg.start(system).rate_program)
        seconds.append(best_seconds(lambda f=rate_and_efforts, x=x: f(0.0, x)))
        ours = 1e6 * seconds[-1]
        exact = exact_acceleration(n)
        rate = dict(zip(system.state_names, vbg.start(system).rate(0.0, x)))
        got = np.array([-12.0 * rate[f"V{k}.angular_momentum.z"] for k in range(n + 1)])
        print(f"{n:4} {ours:9.1f} {np.abs(got - exact).max():9.1e}", end="")
        if has_pinocchio():
            theirs, acceleration = pinocchio(n)
            error = abs(-acceleration - exact)
            print(f" {theirs:13.1f} {error:9.1e} {ours / theirs:6.2f}", end="")
        print()
    large = [(n, s) for n, s in zip(sizes, seconds) if n >= 10]
    if len(large) > 1:
        print(f"exponent from N = 10 on: {exponent(*zip(*large)):.3f}")


def starts(sizes: tuple[int, ...]) -> None:
    """The start of scissor lifts of n stages, 2 n bodies, with the rate lowered; and the angular
    acceleration of the lowest bar beside its closed form."""
    print("\nscissor lift of revolutes: start")
    heads = ("model s", "start s", "us a body", "redundant", "error")
    print(f"{'n':>4} {heads[0]:>8} {heads[1]:>8} {heads[2]:>10} {heads[3]:>10} {heads[4]:>9}")
    warm = vbg.assemble(scissor_lift(2))  # kernels and modules are loaded
    Evaluator(vbg.start(warm).rate_program)(0.0, vbg.start(warm).state)
    seconds = []
    for n in sizes:
        began = time.process_time()
        system = vbg.assemble(scissor_lift(n, TILT))
        built = time.process_time()
        x = vbg.start(system).state
        evaluate = Evaluator(vbg.start(system).rate_program)
        seconds.append(time.process_time() - built)
        evaluate(0.0, x)
        # a0 turns about -y: L' = I w', momentum in the bar's axes
        turning = -12.0 * evaluate.output("a0.angular_momentum")[1]
        error = abs(turning / lift_acceleration(n, TILT) - 1.0)
        each = 1e6 * seconds[-1] / (2 * n)
        print(
            f"{n:4} {built - began:8.2f} {seconds[-1]:8.2f} {each:10.0f} "
            f"{vbg.start(system).dependent:10} {error:9.1e}"
        )
    if len(sizes) > 1:
        print(f"exponent: {exponent(sizes, seconds):.3f}")


def lift_acceleration(n: int, angle: float) -> float:
    """Angular acceleration of the bars of a scissor lift at rest [rad/s^2], rising positive.

    Bars of length L have their middle at ((c/2) L, (k + 1/2) s L), so that T = sum of
    m L^2/2 (s^2/4 + (k + 1/2)^2 c^2 + 1/12) w^2 over two bars a stage, V = sum of
    m g (k + 1/2) s L; from rest M w' = -dV/dangle.
    """
    height = np.arange(n) + 0.5
    inertia = np.sum(LENGTH**2 * (np.sin(angle) ** 2 / 4 + height**2 * np.cos(angle) ** 2 + 1 / 12))
    return float(-GRAVITY * LENGTH * np.cos(angle) * np.sum(height) / inertia)


def pinocchio(n: int) -> tuple[float, float]:
    """Microseconds of `pin.constraintDynamics`, and the acceleration of V0 it gives."""
    import pinocchio as pin

    model, q, v, feet = pin_windows(n, TILT)
    data = model.createData()
    loops, loop_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for foot in feet:
        loops.append(foot)
        loop_data.append(foot.createData())
    settings = pin.ProximalSettings(1e-12, 1e-10, 20)
    tau = np.zeros(model.nv)
    pin.initConstraintDynamics(model, data, loops, loop_data)

    def solve() -> np.ndarray:
        return pin.constraintDynamics(model, data, q, v, tau, loops, loop_data, settings)

    return 1e6 * best_seconds(solve), float(np.array(solve())[0])


if __name__ == "__main__":
    quick = asked.quick(__doc__)
    chosen = QUICK if quick else SIZES
    table(chosen, redundant=False)
    table(chosen, redundant=True)
    starts(QUICK_STAGES if quick else STAGES)
