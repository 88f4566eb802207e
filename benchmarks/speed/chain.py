"""Speed on open chains.  ``python -m benchmarks.speed.chain [--quick]``

n uniform rods (1 m, 1 kg) on revolutes about y, at rest and horizontal.  What is timed is
one evaluation of the rate of the state together with ALL constraint efforts, as a run at the
default tolerance makes it, called from Python; beside it, in the same run, Pinocchio's
articulated body algorithm, which gives accelerations but no joint forces.  Processor time of the
process, best of repeats, warm.
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace

import numpy as np

import vbg
from benchmarks import asked
from benchmarks.machines import chain, has_pinocchio, pin_chain
from benchmarks.timing import best_seconds, exponent
from vbg.assemble.program.evaluator import Evaluator

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
QUICK = (1, 10, 100)
BEARABLE = 1e-8  # rounding at worst with which a run of this rtol goes on while its own is less
# Its workspace holds tensors of n x n x n numbers.
LARGEST_FOR_PINOCCHIO = 200
# Tip of the chain after 1 s, x and z [m]: an independent minimal-coordinate solution.
TIPS = {
    1: (-0.99996658807186814, -0.00817451771707578),
    2: (-1.66211513581612758, -1.04146663719322474),
    10: (7.52722901556035571, -4.90626231971500373),
}


def rates(sizes: tuple[int, ...]) -> None:
    """One line per size; then the exponent of the growth from 100 on."""
    ours = [ours_at(n) for n in sizes]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print("one evaluation of the rate with all joint forces; per joint in brackets")
    print(f"{'n':>5} {'build s':>8} {'vbg us':>16}   pin.aba us (Pinocchio), ratio, difference")
    for n, (build, seconds, acceleration) in zip(sizes, ours):
        us = 1e6 * seconds
        print(f"{n:5} {build:8.3f} {us:8.2f} ({us / n:5.2f})", end="")
        if has_pinocchio() and n <= LARGEST_FOR_PINOCCHIO:
            aba, expected = pinocchio(n)
            error = np.abs(acceleration - expected).max()
            print(f"   {aba:8.2f} ({aba / n:5.2f}) {us / aba:6.2f} {error:8.1e}", end="")
        print()
    large = [(n, seconds) for n, (_, seconds, _) in zip(sizes, ours) if n >= 100]
    if len(large) > 1:
        print(f"exponent from n = 100 on: {exponent(*zip(*large)):.3f}")
    print(f"memory of this process with vbg's systems one after the other: {memory:.0f} MB")


def ours_at(n: int) -> tuple[float, float, np.ndarray]:
    """Seconds to build and start the chain, seconds of one rate, joint accelerations."""
    started = time.process_time()
    system = vbg.assemble(chain(n))
    begin = replace(vbg.start(system), bearable=BEARABLE)
    x = begin.state
    build = time.process_time() - started
    rate_and_efforts = Evaluator(begin.rate_program)
    seconds = best_seconds(lambda: rate_and_efforts(0.0, x))
    return build, seconds, first_accelerations(system, x, n)


def pinocchio(n: int) -> tuple[float, np.ndarray]:
    """Microseconds of `pin.aba`, and the joint accelerations [rad/s^2] it gives."""
    import pinocchio as pin

    model, q, v = pin_chain(n)
    data = model.createData()
    tau = np.zeros(n)
    seconds = best_seconds(lambda: pin.aba(model, data, q, v, tau))
    return 1e6 * seconds, data.ddq.copy()


def first_accelerations(system: vbg.System, x: np.ndarray, n: int) -> np.ndarray:
    """Joint accelerations at rest: differences of the rods' angular momentum rates over J."""
    rate = dict(zip(system.state_names, vbg.start(system).rate(0.0, x)))
    rods = np.array([rate[f"rod{k}.angular_momentum.y"] for k in range(n)]) * 12.0
    return np.diff(rods, prepend=0.0)


def tips() -> None:
    """Accuracy: the tip of the chain after one second."""
    print("\ntip of the chain at t = 1 s against the reference")
    for n, expected in TIPS.items():
        system = vbg.assemble(chain(n))
        solution = vbg.simulate(system, t_end=1.0, output_step=0.1, rtol=1e-12, atol=1e-14)
        got = solution[f"rod{n - 1}.B.position"][-1, [0, 2]]
        print(
            f"{n:5}  error {np.abs(got - expected).max():.1e} m   {solution.made_by.cpu:.3f} s CPU"
        )


def fixed_step(n: int = 100) -> None:
    """One second of motion with the classical Runge-Kutta method at 1 ms."""
    system = vbg.assemble(chain(n))

    def run() -> vbg.Solution:
        return vbg.simulate(system, t_end=1.0, output_step=1e-3, method="rk4")

    solution = run()
    print(
        f"\n{n}-link chain, 1 s, RK4 at 1 ms: {best_seconds(run, repeats=3):.3f} s CPU, energy to"
        f" {solution.audit.energy_residual:.1e}"
        "\n(on record for this problem: Pinocchio native 0.16 s, MuJoCo 0.42 s, Drake 0.53 s)"
    )


if __name__ == "__main__":
    quick = asked.quick(__doc__)
    rates(QUICK if quick else SIZES)
    tips()
    if not quick:
        fixed_step()
