# ruff: noqa: E501 -- a joint is one line of its table
"""Random linkages of mobility 1 with dry friction in their joints, and their reduced equation.

With one coordinate phi, m(phi) phi'' + m' phi'^2 / 2 = Q - sign(phi') sum |J_i| F_i(|J_i phi'|),
J_i what joint i moves for each phi: solved by scipy from reversal to reversal, written without
anything of vbg.  At rest it holds as long as |Q| <= sum |J_i| F_i(0).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

Geometry = Callable[[float], dict[str, float]]


def friction(rng: np.random.Generator, size: float, speed: float) -> dict[str, float]:
    """Of `size` [N or N*m], at speeds of the order of `speed`."""
    coulomb = size * rng.uniform(0.3, 1.0)
    return {
        "coulomb": coulomb,
        "static": coulomb * rng.uniform(1.0, 1.4),
        "stribeck": speed * rng.uniform(0.05, 0.2),
        "viscous": size / speed * rng.uniform(0.0, 0.3),
    }


def bar(mass: float, length: float, ends: str) -> dict[str, Any]:
    along = mass * length**2
    return {
        "mass": mass,
        "inertia": {"xx": 0.001 * along, "yy": along / 11.0, "zz": along / 11.0},
        "points": {ends[0]: [-length / 2, 0, 0], ends[1]: [length / 2, 0, 0]},
    }


def hinge(first: str, second: str, **more: Any) -> dict[str, Any]:
    return {"kind": "revolute", "between": [first, second], "axis": [0, -1, 0], **more}


def slider_crank(seed: int, length: float, mass: float) -> dict[str, Any]:
    """Turns, swings or comes to rest under a torque that swings; `made` are its numbers."""
    rng = np.random.default_rng(seed)
    r, l = length * rng.uniform(0.8, 1.2), length * rng.uniform(2.5, 4.0)
    m = mass * rng.uniform(0.5, 2.0, 3)
    pace = np.sqrt(9.81 / length)
    torque = mass * 9.81 * length
    made = {
        "r": r,
        "l": l,
        "m": m,
        "T": torque * rng.uniform(0.5, 3.0),
        "w": pace * rng.uniform(1.0, 4.0),
        "phi": rng.uniform(-3.0, 3.0),
        "speed": pace * rng.uniform(-3.0, 3.0),
        "frictions": {
            "A": friction(rng, 0.15 * torque, pace),
            "B": friction(rng, 0.1 * torque, pace),
            "slide": friction(rng, 0.15 * torque / length, pace * length),
        },
    }
    phi = made["phi"]
    psi = np.arcsin(r * np.sin(phi) / l)
    f = made["frictions"]
    start = {"angle": phi, "speed": made["speed"]}
    return {
        "made": made,
        "t_end": 12.0 / pace,
        "bodies": {
            "crank": bar(m[0], r, "AB"),
            "conrod": bar(m[1], l, "BC"),
            "piston": {
                "mass": m[2],
                "inertia": dict.fromkeys(("xx", "yy", "zz"), 0.1 * m[2] * r**2),
            },
        },
        "joints": {
            "A": hinge("ground", "crank.A", initial=start, friction=f["A"]),
            "B": hinge("crank.B", "conrod.B", initial={"angle": -phi - psi}, friction=f["B"]),
            "slide": {
                "kind": "prismatic",
                "between": ["ground", "piston"],
                "axis": [1, 0, 0],
                "initial": {"slide": r * np.cos(phi) + l * np.cos(psi)},
                "friction": f["slide"],
            },
            "C": {"kind": "point_on_line", "between": ["piston", "conrod.C"], "axis": [0, 1, 0]},
        },
    }


def crank_geometry(made: Mapping[str, Any], phi: complex) -> tuple[complex, complex, dict]:
    """(m, potential / g, J of each joint) at phi."""
    r, l = made["r"], made["l"]
    m1, m2, m3 = made["m"]
    sine = r * np.sin(phi) / l
    cosine = np.sqrt(1.0 - sine**2)
    turn = r * np.cos(phi) / (l * cosine)  # psi'
    slide = -r * np.sin(phi) - l * sine * turn
    x, z = -r * np.sin(phi) - 0.5 * l * sine * turn, 0.5 * r * np.cos(phi)
    inertia = m1 * r**2 * (1 / 11 + 1 / 4) + m2 * (x**2 + z**2) + m2 * l**2 / 11 * turn**2
    potential = (m1 + m2) * 0.5 * r * np.sin(phi)
    return (
        inertia + m3 * slide**2,
        potential,
        {"A": 1.0, "B": -1.0 - turn, "slide": slide},
    )


def four_bar(seed: int, length: float, mass: float, *, parallel: bool) -> dict[str, Any]:
    """Crank AB, coupler BC, rocker DC, on the ground at D; a parallelogram on demand."""
    rng = np.random.default_rng(seed)
    a = length * rng.uniform(0.6, 0.8)
    b, c, d = length * rng.uniform(1.6, 1.9), length * rng.uniform(1.3, 1.6), length * 1.7
    if parallel:
        c, d = a, b
    phi = rng.uniform(0.5, 1.2)
    reach = np.array([d - a * np.cos(phi), -a * np.sin(phi)])  # from B to D
    far = np.hypot(*reach)
    inner = np.arccos((far**2 + b**2 - c**2) / (2.0 * far * b))
    theta = phi * 0.0 if parallel else np.arctan2(reach[1], reach[0]) + inner
    point = np.array([a * np.cos(phi) + b * np.cos(theta), a * np.sin(phi) + b * np.sin(theta)])
    chi = np.arctan2(point[1], point[0] - d)
    pace, torque = np.sqrt(9.81 / length), mass * 9.81 * length
    m = mass * rng.uniform(0.5, 2.0, 3)
    f = [friction(rng, 0.12 * torque, pace) for _ in range(3)]
    return {
        "made": {"T": torque * rng.uniform(0.5, 2.0), "w": pace * rng.uniform(1.0, 4.0)},
        "t_end": (1.5 if parallel else 6.0) / pace,
        "bodies": {"crank": bar(m[0], a, "AB"), "coupler": bar(m[1], b, "BC"), "rocker": bar(m[2], c, "DC")},
        "joints": {
            "A": hinge("ground", "crank.A", initial={"angle": phi, "speed": 0.3 * pace}, friction=f[0]),
            "B": hinge("crank.B", "coupler.B", initial={"angle": theta - phi}, friction=f[1]),
            "D": hinge({"body": "ground", "at": [d, 0, 0]}, "rocker.D", initial={"angle": chi}, friction=f[2]),
            "C": {"kind": "point_on_line", "between": ["rocker.C", "coupler.C"], "axis": [0, 1, 0]},
        },
    }  # fmt: skip


def table(machine: Mapping[str, Any]) -> dict[str, Any]:
    """What `vbg.Model` takes."""
    made = machine["made"]
    torque = f"{float(made['T'])!r}*sin({float(made['w'])!r}*t)"
    return {
        "name": "linkage",
        "gravity": [0, 0, -9.81],
        "bodies": machine["bodies"],
        "joints": machine["joints"],
        "forces": {"motor": {"kind": "torque", "on": "joints.A", "torque": [torque]}},
        "simulate": {"t_end": machine["t_end"], "output_step": machine["t_end"] / 100},
    }


class Reduced:
    """The slider-crank's own equation, from reversal to reversal."""

    def __init__(self, made: Mapping[str, Any]):
        self.made = made

    def load(self, t: float, phi: float, v: float) -> tuple[float, float, dict]:
        """(Q, m, J), Q without friction."""
        m, _, J = crank_geometry(self.made, phi)
        slope, rise, _ = crank_geometry(self.made, phi + 1e-30j)
        weight = 9.81 * rise.imag / 1e-30
        drive = self.made["T"] * np.sin(self.made["w"] * t)
        return drive - weight - 0.5 * slope.imag / 1e-30 * v**2, m, J

    def resisting(self, J: Mapping[str, float], v: float) -> float:
        total = 0.0
        for name, law in self.made["frictions"].items():
            speed = abs(J[name] * v)
            fall = np.exp(-speed / law["stribeck"])
            dry = law["coulomb"] + (law["static"] - law["coulomb"]) * fall
            total += abs(J[name]) * (dry + law["viscous"] * speed)
        return total

    def solve(self, times: np.ndarray, tight: float = 1e-11) -> tuple[np.ndarray, np.ndarray]:
        """phi and its rate at `times`, and how often it reversed or broke away."""
        t, y, sign = 0.0, np.array([self.made["phi"], self.made["speed"]]), 0.0
        sign = float(np.sign(y[1]))
        found, end = np.zeros((2, len(times))), float(times[-1])
        found[:, 0] = y
        while t < end:
            if sign == 0.0:
                Q, _, J = self.load(t, y[0], 0.0)
                if abs(Q) > self.resisting(J, 0.0) * (1.0 + 1e-12):
                    sign = float(np.sign(Q))
            grip = sign

            def rate(t, y, grip=grip):
                if grip == 0.0:
                    return [0.0, 0.0]
                Q, m, J = self.load(t, y[0], y[1])
                return [y[1], (Q - grip * self.resisting(J, y[1])) / m]

            def ends(t, y, grip=grip):
                if grip != 0.0:
                    return grip * y[1]
                Q, _, J = self.load(t, y[0], 0.0)
                return self.resisting(J, 0.0) * (1.0 + 2e-12) - abs(Q)

            ends.terminal, ends.direction = True, -1.0
            step = 0.002 * end
            run = solve_ivp(rate, (t, end), y, "DOP853", events=ends, dense_output=True, rtol=tight, atol=tight * 1e-2, max_step=step)  # fmt: skip
            inside = (times > t) & (times <= run.t[-1])
            found[:, inside] = run.sol(times[inside])
            t, y = float(run.t[-1]), run.y[:, -1].copy()
            if run.status == 1 and grip != 0.0:
                y[1], sign = 0.0, 0.0
        return found[0], found[1]
