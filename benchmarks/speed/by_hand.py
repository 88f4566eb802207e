"""Two machines with oil as an engineer would write them for scipy's LSODA: no joints, no forces.

    python -m benchmarks.speed.by_hand

The equations are for these two examples alone, in the fewest coordinates, and give five and four
curves; vbg's runs record every signal of the machine, all joint forces among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, exp, log, pi, sin, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import vbg
from benchmarks import asked
from benchmarks.timing import best_seconds

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ATMOSPHERE, G = 101325.0, 9.81
RELEASE = -0.5 * ATMOSPHERE  # Pa, below which air comes out of the oil


@dataclass(frozen=True, slots=True)
class ByHand:
    """`rates(t, y)` from `begin`; `signals`: what vbg calls the entries of y, "" for none."""

    rates: Callable[[float, list[float]], list[float]]
    begin: list[float]
    signals: tuple[str, ...]

    def run(self, grid: Array, rtol: float, atol: float | list[float]) -> Array:
        """y on the grid, (len(begin), len(grid))."""
        span = (0.0, float(grid[-1]))
        path = solve_ivp(self.rates, span, self.begin, "LSODA", grid, rtol=rtol, atol=atol)
        return np.asarray(path.y)


def _root(p: float, laminar: float) -> float:
    """Of a pressure difference, linear near zero."""
    return p / math.sqrt(math.sqrt(p * p + laminar * laminar))


def motor_slider_crank() -> ByHand:
    """Angle and speed of the crank, current, contents of both chambers."""
    r, long, U, R, L, K = 0.04, 0.15, 24.0, 0.6, 1e-3, 0.05
    crank, turned, load = 0.8, 1.5e-3 + 2e-4, 8.0
    rod, thick = 7850 * pi * 0.008**2 * long, 0.008
    tilted, piston = rod * (3 * thick**2 + long**2) / 12, 2700 * pi * 0.025**2 * 0.04
    area, shut, stroke, dead, bulk, air = 5e-4, long - r - 0.01, 2 * r + 0.02, 5e-5, 1.4e9, 0.005
    jet = 0.62 * 2e-5 * sqrt(2 / 860)
    still, P = exp(RELEASE / bulk), RELEASE + ATMOSPHERE

    def pressure(ratio: float) -> float:
        lack = ratio - still
        if lack >= 0.0:
            return bulk * log(ratio)
        # lack = -d / bulk - air d^2 / ((P - d) P) at the pressure RELEASE - d
        a, b, c = air - P / bulk, P * P / bulk - lack * P, lack * P * P
        return RELEASE + 2.0 * c / (b + sqrt(b * b - 4.0 * a * c))

    def rates(t: float, y: list[float]) -> list[float]:
        angle, speed, current, in_a, in_b = y
        s, c = sin(angle), cos(angle)
        down = r * s / long
        flat = sqrt(1.0 - down * down)
        turn = r * c / (long * flat)  # of the conrod, by that of the crank; and its derivative
        bend = (down * turn * turn - r * s / long) / flat
        x, moved = r * c + long * flat, -r * s - long * down * turn
        more = -r * c - long * (flat * turn * turn + down * bend)
        mid, mid_more = 0.5 * (moved - r * s), 0.5 * (more - r * c)
        up = 0.5 * r * c
        inertia = turned + 0.25 * crank * r * r + piston * moved * moved + tilted * turn * turn
        inertia += rod * (mid * mid + up * up)
        change = piston * moved * more + tilted * turn * bend
        change += rod * (mid * mid_more - 0.5 * r * s * up)
        out = x - shut
        p_a = pressure(in_a / (dead + area * out))
        p_b = pressure(in_b / (dead + area * (stroke - out)))
        force = area * (p_a - p_b) - load * moved * speed
        torque = K * current + force * moved - (crank + rod) * G * up - change * speed * speed
        return [
            speed,
            torque / inertia,
            (U - R * current - K * speed) / L,
            -jet * _root(p_a, 1e5),
            -jet * _root(p_b, 1e5),
        ]

    angle = pi / 6
    out = r * cos(angle) + long * sqrt(1 - (r * sin(angle) / long) ** 2) - shut
    begin = [angle, 10 * pi, 0.0, dead + area * out, dead + area * (stroke - out)]
    return ByHand(rates, begin, ("A.angle", "A.speed", "motor.current", "", ""))


def hydraulic_arm() -> ByHand:
    """Angle and speed of the arm, pressures of both chambers."""
    about, weight, arm = 10 + 120 * 0.5**2, 120 * G * 0.5, 0.25
    area, friction, stiff, supply = 0.01, 2e5, 1e11 / 1.0, 200e5

    def rates(t: float, y: list[float]) -> list[float]:
        angle, speed, p_a, p_b = y
        length = arm * sqrt(2.0 * (1.0 + sin(angle)))
        lever = arm * arm * cos(angle) / length
        slide = lever * speed
        wanted = arm * sqrt(2.0) + 0.1 * (min(max(1.0 - cos(pi * t), 0.5), 1.5) - 0.5)
        opening = 2.0 * (wanted - length)
        if opening > 0.0:
            q_a, q_b = _root(supply - p_a, 1.0), -_root(p_b, 1.0)
        else:
            q_a, q_b = -_root(p_a, 1.0), _root(supply - p_b, 1.0)
        open_by = 2e-5 * abs(opening)
        force = area * (p_a - p_b) - friction * slide
        return [
            speed,
            (force * lever - weight * cos(angle)) / about,
            stiff * (open_by * q_a - area * slide),
            stiff * (open_by * q_b + area * slide),
        ]

    names = ("pin.angle", "pin.speed", "cylinder.pressure_a", "cylinder.pressure_b")
    return ByHand(rates, [0.0, 0.0, 20e5, 20e5], names)


MACHINES = {"motor-slider-crank": motor_slider_crank, "hydraulic-arm": hydraulic_arm}


def task(name: str) -> tuple[Callable[[], Array], vbg.Model]:
    """What runs the machine by hand as its example asks, each entry of its state held to the
    relative tolerance of its start where that is not zero."""
    machine, model = MACHINES[name](), vbg.read(EXAMPLES / f"{name}.toml")
    s = model.simulate
    grid = np.arange(round(s.t_end / s.output_step) + 1) * s.output_step
    atol = [max(abs(value), 1.0) * s.atol for value in machine.begin[:3]]
    atol += [abs(value) * s.rtol for value in machine.begin[3:]]
    return lambda: machine.run(grid, s.rtol, atol), model


def apart(name: str) -> dict[str, float]:
    """By how much both motions differ, of the largest value of each curve."""
    run, model = task(name)
    solution, found = vbg.simulate(vbg.start(vbg.assemble(model))), run()
    pairs = zip(MACHINES[name]().signals, found, strict=True)
    return {
        signal: float(np.abs(solution[signal] - curve).max() / np.abs(solution[signal]).max())
        for signal, curve in pairs
        if signal
    }


def main() -> None:
    for name in MACHINES:
        seconds = best_seconds(task(name)[0], 3, 0.0)
        errors = ", ".join(f"{signal} {error:.1e}" for signal, error in apart(name).items())
        print(f"{name:20s}{1e3 * seconds:9.1f} ms by hand; apart from vbg's: {errors}")


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
