"""Speed on closed loops.  ``python -m benchmarks.loops [--quick]``

N parallelogram windows (IFToMM A02 generalised).  Timed: one evaluation of the rate with
all constraint efforts; beside it Pinocchio's constrained dynamics on the same mechanism.
The first table has universal and ball joints, so that nothing is redundant; the second has
revolutes only, three redundant reactions in every window.  Processor time of the process,
best of repeats, warm.
"""

from __future__ import annotations

import sys

import numpy as np

import vbg
from benchmarks.machines import GRAVITY, LENGTH, has_pinocchio, pin_windows, windows
from benchmarks.timing import best_seconds, exponent

SIZES = (1, 2, 5, 10, 20, 40, 80, 160)
QUICK = (1, 5)
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
        x = system.initial_state
        rate_and_efforts = system.evaluator("rate")
        seconds.append(best_seconds(lambda f=rate_and_efforts, x=x: f(0.0, x)))
        ours = 1e6 * seconds[-1]
        exact = exact_acceleration(n)
        rate = dict(zip(system.state_names, system.rate(0.0, x)))
        got = np.array([-12.0 * rate[f"V{k}.angular_momentum[2]"] for k in range(n + 1)])
        print(f"{n:4} {ours:9.1f} {np.abs(got - exact).max():9.1e}", end="")
        if has_pinocchio():
            theirs, acceleration = pinocchio(n)
            error = abs(-acceleration - exact)
            print(f" {theirs:13.1f} {error:9.1e} {ours / theirs:6.2f}", end="")
        print()
    large = [(n, s) for n, s in zip(sizes, seconds) if n >= 10]
    if len(large) > 1:
        print(f"exponent from N = 10 on: {exponent(*zip(*large)):.3f}")


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
    chosen = QUICK if "--quick" in sys.argv else SIZES
    table(chosen, redundant=False)
    table(chosen, redundant=True)
