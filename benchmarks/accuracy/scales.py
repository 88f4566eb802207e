"""Default tolerances from farads to picofarads: steps of damped oscillators of every domain.

    python -m benchmarks.accuracy.scales [--every N]
    python -m benchmarks.accuracy.scales --random COUNT [--seed SEED]

A step answered by one oscillator (damping ratio ZETA, in a circuit also far above 1: stiff)
with the response

    y(t) = 1 - (s2 exp(s1 t) - s1 exp(s2 t)) / (s2 - s1),     s^2 + 2 zeta w s + w^2 = 0

as a circuit (C = 1 F ... 1 pF), a mass on a spring (1e3 ... 1e-12 kg), a body in a guide, a pipe
that fills a volume (1 ... 1e-12 m^3).  Beside the scaled quantity the others are kept, or the
time, the resistance, or the force.  Printed: largest error relative to the peak, for each method,
and the energy audit.  `--every N` takes every N-th size.

`--random COUNT` draws all sizes over these ranges, damping ratios from 0.01 to 1e6, sources of
1e-3 V, 100 Pa and speeds of 1e-3 m/s or rad/s and more.  Each is run once more at tolerances
loosened by SPOILED: printed are those that are wrong by ALLOWED at default settings, and those
whose spoiled run is wrong by it and passes its audit.
"""

from __future__ import annotations

import argparse
import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import vbg

ZETA = 0.3
TURNS = 6.0  # of the undamped oscillation, in a run
STIFF = 30.0  # damping ratio from which on a run is left to implicit methods
ALLOWED = 1e-4  # error relative to the peak
SPOILED = {"rtol": 1e-2, "atol": 1e-4}  # the default tolerances, loosened by 1e6
METHODS = ("auto", "dop853", "radau")


@dataclass(frozen=True, slots=True)
class Oscillator:
    """`signal` is to be `final` * y(t) + `start` * (1 - y(t)); `w` [1/s]."""

    name: str
    document: dict[str, Any]
    signal: str
    final: float
    start: float
    w: float
    zeta: float = ZETA

    def methods(self) -> tuple[str, ...]:
        """Those that can: a stiff one takes an explicit method too many steps."""
        return METHODS if self.zeta < STIFF else ("auto", "radau")

    def run(self, method: str, **settings: Any) -> vbg.Solution:
        """Over TURNS undamped turns at the default tolerances, unless they are given."""
        t_end = TURNS * 2.0 * math.pi / self.w * max(1.0, self.zeta)
        system = vbg.assemble(vbg.Model(vbg=1, name=self.name, **self.document))
        step = t_end / 200
        return vbg.simulate(system, t_end=t_end, output_step=step, method=method, **settings)

    def error(self, solution: vbg.Solution) -> float:
        """Largest error of the signal, relative to its peak."""
        y = response(self.w * solution.time, self.zeta)
        expected = self.final * y + self.start * (1.0 - y)
        return float(np.abs(solution[self.signal] - expected).max() / np.abs(expected).max())


def response(phase: np.ndarray, zeta: float) -> np.ndarray:
    """y(w t)."""
    s1 = -zeta - cmath.sqrt(zeta**2 - 1.0)
    s2 = 1.0 / s1
    values: np.ndarray = 1.0 - (s2 * np.exp(s1 * phase) - s1 * np.exp(s2 * phase)) / (s2 - s1)
    return values.real


def circuit(C: float, L: float, voltage: float = 1.0, R: float | None = None) -> Oscillator:
    """R-L-C in series at a battery; the voltage of C."""
    R = 2.0 * ZETA * math.sqrt(L / C) if R is None else R
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["in", "gnd"], "voltage": voltage},
        "R": {"kind": "resistor", "nodes": ["in", "a"], "R": R},
        "L": {"kind": "inductor", "nodes": ["a", "b"], "L": L},
        "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": C},
    }
    w = 1.0 / math.sqrt(L * C)
    name, zeta = f"C = {C:g} F, L = {L:g} H, R = {R:.3g} ohm", 0.5 * R * math.sqrt(C / L)
    return Oscillator(name, {"electric": parts}, "C.voltage", voltage, 0, w, zeta)


def slide(m: float, k: float, force: float = 1.0, zeta: float = ZETA) -> Oscillator:
    """A mass on a spring and a damper that a force pulls."""
    w = math.sqrt(k / m)
    parts = {
        "m": {"kind": "mass", "nodes": ["x"], "m": m},
        "k": {"kind": "spring", "nodes": ["x"], "k": k},
        "c": {"kind": "damper", "nodes": ["x"], "c": 2.0 * zeta * m * w},
        "F": {"kind": "force", "nodes": ["x"], "force": force},
    }
    document = {"translational": parts}
    name = f"m = {m:g} kg, k = {k:g} N/m, zeta = {zeta:g}"
    return Oscillator(name, document, "translational.x.position", force / k, 0, w, zeta)


def shaft(J: float, k: float, torque: float = 1.0, zeta: float = ZETA) -> Oscillator:
    """A rotor on a torsion spring and a damper that a torque turns."""
    w = math.sqrt(k / J)
    parts = {
        "J": {"kind": "inertia", "nodes": ["x"], "J": J},
        "k": {"kind": "spring", "nodes": ["x"], "k": k},
        "c": {"kind": "damper", "nodes": ["x"], "c": 2.0 * zeta * J * w},
        "T": {"kind": "torque", "nodes": ["x"], "torque": torque},
    }
    name = f"J = {J:g} kg m^2, k = {k:g} N m, zeta = {zeta:g}"
    document = {"rotational": parts}
    return Oscillator(name, document, "rotational.x.angle", torque / k, 0, w, zeta)


def guided(m: float, k: float, start: float = 0.1, zeta: float = ZETA) -> Oscillator:
    """A body in a guide, let go on its spring."""
    w, J = math.sqrt(k / m), m * (0.1 * start) ** 2
    return Oscillator(
        f"body of {m:g} kg, k = {k:g} N/m, {start:g} m",
        {
            "gravity": [0, 0, 0],
            "bodies": {"b": {"mass": m, "inertia": {"xx": J, "yy": J, "zz": J}}},
            "joints": {
                "s": {
                    "kind": "prismatic",
                    "between": ["ground", "b"],
                    "axis": [1, 0, 0],
                    "initial": {"slide": start},
                }
            },
            "forces": {
                "k": {"kind": "spring", "on": "joints.s", "k": k},
                "c": {"kind": "damper", "on": "joints.s", "c": 2.0 * zeta * m * w},
            },
        },
        "s.slide",
        0.0,
        start,
        w,
        zeta,
    )


def oil(
    volume: float, pressure: float = 1e6, length: float = 1.0, zeta: float = ZETA
) -> Oscillator:
    """A pipe that fills a volume, its diameter for zeta."""
    viscosity, density, bulk = 0.03, 860.0, 1.4e9
    # R = 128 mu l / (pi d^4), I = 4 rho l / (pi d^2), C = volume / bulk, R = 2 zeta sqrt(I / C)
    d3 = 64.0 * viscosity / (2.0 * zeta) * math.sqrt(volume * length / (bulk * math.pi * density))
    d = d3 ** (1.0 / 3.0)
    inertance = 4.0 * density * length / (math.pi * d**2)
    parts = {
        "p": {"kind": "pressure_source", "nodes": ["in", "tank"], "pressure": pressure},
        "pipe": {"kind": "pipe", "nodes": ["in", "out"], "length": length, "diameter": d}
        | {"density": density, "bulk": bulk, "viscosity": viscosity},
        "v": {"kind": "volume", "nodes": ["out"], "volume": volume, "bulk": bulk},
    }
    w = 1.0 / math.sqrt(inertance * volume / bulk)
    name = f"V = {volume:g} m^3, zeta = {zeta:g}"
    return Oscillator(name, {"hydraulic": parts}, "v.pressure", pressure, 0, w, zeta)


def circuits(every: int = 1) -> Iterator[Oscillator]:
    for C in _powers(0, -12, every):
        yield circuit(C, 1e-6)
        yield circuit(C, 1.0)
        yield circuit(C, 1e6 * C)
        yield circuit(C, 1.0 / C)
        yield circuit(C, 1e-6, 1e3)
        yield circuit(C, 1e-6, R=1e3)
        yield circuit(C, 1e-6, R=1e9)


def masses(every: int = 1) -> Iterator[Oscillator]:
    for m in _powers(3, -12, every):
        yield slide(m, 1e3)
        yield slide(m, 1e3 * m)
        yield slide(m, 1e3 * m, m)
        yield guided(m, 1e3)
        yield guided(m, 1e3 * m)
        yield guided(m, 1e3 * m, 1e-6)


def volumes(every: int = 1) -> Iterator[Oscillator]:
    for V in _powers(0, -12, every):
        yield oil(V)
        yield oil(V, 1e2)
        yield oil(V, 1e6, 1e-3)


def any_oscillator(seed: int) -> Oscillator:
    """One of random sizes."""
    random = np.random.default_rng(seed)

    def draw(low: float, high: float) -> float:
        return float(10.0 ** random.uniform(low, high))

    family = ("circuit", "slide", "shaft", "guided", "oil")[int(random.integers(5))]
    # as often swinging as creeping
    zeta = draw(-2, 0.5) if random.random() < 0.5 else draw(0, 6)
    if family == "circuit":
        C, L = draw(-12, 0), draw(-12, 0)
        return circuit(C, L, draw(-3, 4), R=2.0 * zeta * math.sqrt(L / C))
    if family == "oil":
        return oil(draw(-12, 0), draw(2, 8), draw(-3, 1), zeta)
    m, w, speed = draw(-12, 3), draw(-2, 6), draw(-3, 2)
    if family == "guided":
        return guided(m, m * w**2, speed / w, zeta)
    force = m * w * speed * max(1.0, 2.0 * zeta)  # begins with m v' = F, or c v = F
    return (slide if family == "slide" else shaft)(m, m * w**2, force, zeta)


def faults(oscillator: Oscillator) -> Iterator[str]:
    """What is wrong with its runs, in words."""
    for method in oscillator.methods():
        run = oscillator.run(method)
        if run.status.code != "finished" or run.audit.failures:
            yield f"{method}: {run.status.sentence}"
        elif (error := oscillator.error(run)) > ALLOWED:
            yield f"{method}: wrong by {error:.1e}"
        spoiled = oscillator.run(method, **SPOILED)
        if not spoiled.audit.failures and (error := oscillator.error(spoiled)) > ALLOWED:
            audit = spoiled.audit.energy_residual
            yield f"{method}: spoiled, wrong by {error:.1e}, audit {audit:.1e}"


def _powers(first: int, last: int, every: int) -> Sequence[float]:
    return [10.0**i for i in range(first, last - 1, -every)]


FAMILIES: Sequence[Callable[[int], Iterator[Oscillator]]] = (circuits, masses, volumes)


def table(every: int = 1) -> float:
    """Prints a line for every oscillator; returns the largest error."""
    worst = 0.0
    print(f"{'':44} error relative to the peak ({', '.join(METHODS)}), audit, rates")
    for family in FAMILIES:
        for oscillator in family(every):
            runs = [oscillator.run(method) for method in oscillator.methods()]
            errors = [oscillator.error(run) for run in runs]
            worst = max(worst, *errors)
            audit = max(run.audit.energy_residual for run in runs)
            rates = " ".join(f"{run.made_by.n_rates:6d}" for run in runs)
            shown = " ".join(f"{error:8.1e}" for error in errors)
            print(f"{oscillator.name:44} {shown}  {audit:8.1e}  {rates}", flush=True)
    print(f"largest error {worst:.1e}")
    return worst


def campaign(count: int, seed: int) -> int:
    """Prints the faults of random oscillators; returns how many have some."""
    wrong = 0
    for n in range(seed, seed + count):
        oscillator = any_oscillator(n)
        found = list(faults(oscillator))
        wrong += bool(found)
        for words in found:
            print(f"{n} {oscillator.name}: {words}", flush=True)
    print(f"{wrong} of {count} random oscillators have faults")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every N-th size")
    parser.add_argument("--random", type=int, default=0, help="draw so many of random sizes")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    said = parser.parse_args()
    if said.random:
        raise SystemExit(campaign(said.random, said.seed) > 0)
    table(said.every)
