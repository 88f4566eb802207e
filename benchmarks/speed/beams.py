"""Beams: cost by elements, errors beside Exudyn's.  ``python -m benchmarks.speed.beams [--quick]``

Cost: a cantilever of n elements, one evaluation of the rate by both solvers.  Errors: a
cantilever bent far by a force at its tip, against the continuous rod; the spin-up of Simo and
Vu-Quoc (J. Appl. Mech. 53 (1986) 855), against vbg's results extrapolated in the element's length.
Exudyn's beams (if installed) are plane, vbg's are spatial: 3 and 6 freedoms a node, ANCF 4.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import vbg
from benchmarks import asked
from benchmarks.speed.exudyn_beams import bent_tip as their_tip
from benchmarks.speed.exudyn_beams import spun_lag as their_lag
from benchmarks.timing import best_seconds, exponent
from vbg.assemble.program.evaluator import Evaluator
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.modes.modal import vibration
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.solver import simulate

SIZES = (10, 30, 100, 300, 1000)
SECTION = {"GJ": 30.0, "EI_y": 30.0, "mass_per_length": 1.2}
BENT = {"EA": 1e5, "GA_y": 4e4, "GA_z": 4e4, "EI_z": 30.0} | SECTION  # 2 m, force 60 N at the tip
SPUN = {
    "EA": 2.8e7,
    "GA_y": 1e7,
    "GA_z": 1e7,
    "GJ": 1.4e4,
    "EI_y": 1.4e4,
    "EI_z": 1.4e4,
    "mass_per_length": 1.2,
}
LENGTH, FORCE = 2.0, 60.0
ANGLE = "if(t < 15, 0.4*(t^2/2 + (15/(2*pi))^2*(cos(2*pi*t/15) - 1)), 6*t - 45)"


def cantilever(n: int, **more: Any) -> vbg.Model:
    """n elements along x, clamped to the ground."""
    beam = {"between": ["ground", "free"], "length": LENGTH, "elements": n} | BENT
    return vbg.Model(name="cantilever", gravity=[0, 0, 0], beams={"boom": beam}, **more)


def seconds_at(n: int) -> tuple[float, float]:
    """Of one evaluation with n elements: bond graph, transfer matrices."""
    model = cantilever(n)
    begun = vbg.start(vbg.assemble(model))
    rate, x = Evaluator(begun.rate_program), begun.state
    mechanism = lay_out(model)
    y, plant = start(mechanism).y, Plant(mechanism)
    return best_seconds(lambda: rate(0.0, x)), best_seconds(lambda: plant.evaluate(0.0, y))


def cost(sizes: tuple[int, ...]) -> None:
    """Microseconds of one evaluation by both solvers."""
    found = []
    print("one evaluation of the rate, us (per element)")
    print(f"{'elements':>8} {'bond graph':>18} {'transfer matrices':>20}")
    for n in sizes:
        both = seconds_at(n)
        found.append(both)
        cells = (f"{1e6 * s:10.1f} ({1e6 * s / n:5.2f})" for s in both)
        print(f"{n:8} {'  '.join(cells)}")
    for name, seconds in zip(("bond graph", "transfer matrices"), zip(*found)):
        print(f"exponent, {name}: {exponent(sizes[-3:], seconds[-3:]):.2f}")


def continuous_tip() -> np.ndarray:
    """Tip (x, y) of the rod of Reissner under a dead force along y, by shooting."""
    n = np.array([0.0, FORCE])

    def rate(_: float, y: np.ndarray) -> list[float]:
        c, s = np.cos(y[2]), np.sin(y[2])
        stretch, shear = (
            1.0 + (c * n[0] + s * n[1]) / BENT["EA"],
            (c * n[1] - s * n[0]) / BENT["GA_y"],
        )
        dx, dy = c * stretch - s * shear, s * stretch + c * shear
        return [dx, dy, y[3] / BENT["EI_z"], dy * n[0] - dx * n[1]]

    def end(moment: float) -> np.ndarray:
        y = [0.0, 0.0, 0.0, moment]
        return np.asarray(solve_ivp(rate, (0.0, LENGTH), y, rtol=1e-12, atol=1e-13).y[:, -1])

    moment = brentq(lambda m: end(m)[3], 0.0, FORCE * LENGTH, xtol=1e-12)
    return end(moment)[:2]


def bent_tip(n: int) -> np.ndarray:
    """Tip of vbg's cantilever at rest under the force."""
    load = {"kind": "force", "on": "boom.B", "force": [0, FORCE, 0]}
    model = cantilever(n, forces={"load": load})
    found = vibration(model)
    place = found.small.mechanism.bodies[f"boom_{n}"]
    work = found.small.scratch.work[place.node]
    node = np.array(model.bodies[f"boom_{n}"].points["N"])
    return np.asarray((work[9:12] + work[:9].reshape(3, 3) @ (place.p_NB + place.R_NB @ node))[:2])


def spun(n: int, **section: float) -> vbg.Model:
    """The beam on a hub whose angle is given; `section` in the place of its own."""
    beam = {"between": ["hub", "free"], "length": 10.0, "elements": n} | SPUN | section
    hinge = {"kind": "revolute", "between": ["ground", "hub"], "axis": [0, 0, 1], "drive": ANGLE}
    hub = {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    return vbg.Model(
        gravity=[0, 0, 0], bodies={"hub": hub}, joints={"axle": hinge}, beams={"boom": beam}
    )


def spun_lag(n: int) -> float:
    """Largest lag of vbg's tip behind the hub [m], by the transfer-matrix solver."""
    run = simulate(spun(n), t_end=10.0, output_step=0.02, rtol=1e-6, atol=1e-8)
    a, p = run["axle.angle"].ravel(), run[f"boom_{n}.N.position"]
    return float(np.max(np.sin(a) * p[:, 0] - np.cos(a) * p[:, 1]))


def table(
    title: str, exact: Any, ways: dict[str, tuple[Callable[[int], Any], int, tuple[int, ...]]]
) -> None:
    """Error and processor time of each way by freedoms."""
    print(
        f"\n{title}\n{'beam':26} {'elements':>8} {'freedoms':>8} {'error':>9} {'order':>6} {'s':>8}"
    )
    for name, (solve, freedoms, sizes) in ways.items():
        before = None
        for n in sizes:
            begun = time.process_time()
            error = float(np.linalg.norm(np.atleast_1d(solve(n) - exact)))
            spent = time.process_time() - begun
            order = (
                ""
                if before is None
                else f"{np.log(before[1] / error) / np.log(n / before[0]):6.2f}"
            )
            print(f"{name:26} {n:8} {freedoms * n:8} {error:9.1e} {order:>6} {spent:8.3f}")
            before = (n, error)


def errors(sizes: tuple[int, ...], moved: tuple[int, ...]) -> None:
    """Both problems, by vbg and, if it is installed, by Exudyn; the `moved` sizes in motion."""
    static: dict[str, Any] = {"vbg": (bent_tip, 6, sizes)}
    moving: dict[str, Any] = {"vbg": (spun_lag, 6, moved)}
    if importlib.util.find_spec("exudyn") is None:
        print("\nExudyn is not installed: vbg alone.")
    else:
        for kind, freedoms in (("exact", 3), ("ANCF", 4)):
            name = f"Exudyn, {'geometrically exact' if kind == 'exact' else kind}"
            static[name] = (lambda n, k=kind: their_tip(n, k, BENT, LENGTH, FORCE), freedoms, sizes)
            moving[name] = (lambda n, k=kind: their_lag(n, k, SPUN), freedoms, moved)
    bent_tip(2), spun_lag(2)  # kernels are compiled
    table("cantilever of 2 m bent by 60 N: tip [m]", continuous_tip(), static)
    fine, finer = spun_lag(moved[-1]), spun_lag(2 * moved[-1])
    table("spin-up: largest lag of the tip [m]", finer + (finer - fine) / 3.0, moving)


if __name__ == "__main__":
    quick = asked.quick(__doc__)
    cost(SIZES[:-2] if quick else SIZES)
    errors((2, 4, 8), (2, 4)) if quick else errors((2, 4, 8, 16, 32), (2, 4, 8))
