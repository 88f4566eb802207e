"""A machine in other units of length, mass and time has the same story in both solvers.

A planar four-bar, turned anywhere in space, whose drive asks for more than it can reach, or that
swings freely on a spring: lengths from 1e-7 to 1e3 m, masses and times scaled.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg import tmm_bridge
from vbg.model import Model

SCALES = [
    (1e-7, 1.0, 1.0),
    (1e-7, 1e-18, 1e-2),
    (1e-3, 1e-6, 1.0),
    (1e3, 1e9, 1.0),
    (1e3, 1.0, 30.0),
]
SOLVERS = {"vbg": vbg.simulate, "tmm_bridge": tmm_bridge.simulate}
OUTPUT = 0.02
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


class Linkage:
    """Four points of a random four-bar that cannot turn round: crank a, coupler b, rocker c on the
    ground d, with c + b < a + d; and a random frame for it."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.a, self.b, self.c = rng.uniform([0.4, 0.45, 0.45], [0.6, 0.65, 0.65])
        reach = self.b + self.c
        self.at = rng.uniform(0.7, 1.0)  # crank angle at the start
        self.beyond = rng.uniform(1.3, 1.7)  # at the end of its reach
        # |B - D| = reach there: a^2 + d^2 - 2 a d cos(beyond) = reach^2
        k = self.a * math.cos(self.beyond)
        self.d = k + math.sqrt(k * k + reach * reach - self.a**2)
        self.masses = rng.uniform(0.5, 2.0, size=3)
        q = rng.normal(size=4)
        self.turn = q / np.linalg.norm(q)
        self.frame = matrix_of(self.turn)
        self.offset = rng.normal(size=3)

    def model(self, L=1.0, M=1.0, T=1.0, *, driven):
        A, B = np.zeros(2), self.a * along(self.at)
        D = np.array([self.d, 0.0])
        r = np.linalg.norm(D - B)
        bend = math.acos((r * r + self.b**2 - self.c**2) / (2.0 * r * self.b))
        slope = math.atan2(*(D - B)[::-1]) + bend
        C = B + self.b * along(slope)
        links = {
            "crank": (A, B, self.at),
            "coupler": (B, C, slope),
            "rocker": (D, C, math.atan2(*(C - D)[::-1])),
        }
        bodies = {}
        for (name, (one, other, angle)), mass in zip(links.items(), self.masses, strict=True):
            length = np.linalg.norm(other - one)
            J = M * mass * (L * length) ** 2 / 12.0
            bodies[name] = {
                "mass": M * mass,
                "inertia": {"xx": 0.1 * J, "yy": J, "zz": 1.02 * J},
                "position": (L * self.place((one + other) / 2.0)).tolist(),
                "rotation": {"quaternion": product(self.turn, about_z(angle))},
            }
        ends = {n: 0.5 * L * np.linalg.norm(o - i) for n, (i, o, _) in links.items()}
        spring = 3.0 * M * L**2 / T**2
        pin = {"kind": "revolute", "axis": self.frame[:, 2].tolist()}
        hub = {"initial": {"angle": 0.0, "speed": 1.3 / T}}
        springs = {"s": {"kind": "torsion_spring", "on": "joints.A", "k": spring}}
        if driven:
            hub, springs = {"drive": f"{1.0 / T!r}*t"}, {}

        def end(body, sign):
            return {"body": body, "at": [sign * ends[body], 0.0, 0.0]}

        def ground(p):
            return {"body": "ground", "at": (L * self.place(p)).tolist()}

        z = [0, 0, 1]
        return Model(
            name="linkage",
            gravity=(9.81 * L / T**2 * np.array([0.3, -0.8, 0.5])).tolist(),
            bodies=bodies,
            forces=springs,
            joints={
                "A": pin | {"between": [ground(A), end("crank", -1)]} | hub,
                "B": {
                    "kind": "revolute",
                    "axis": z,
                    "between": [end("crank", 1), end("coupler", -1)],
                },
                "C": {"kind": "spherical", "between": [end("coupler", 1), end("rocker", 1)]},
                "D": pin | {"between": [ground(D), end("rocker", -1)]},
            },
        )

    def place(self, p):
        return self.offset + self.frame @ np.array([*p, 0.0])


def along(angle):
    return np.array([math.cos(angle), math.sin(angle)])


def about_z(angle):
    return np.array([math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)])


def product(p, q):
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return [p[0] * q[0] - p[1:] @ q[1:], *vector]


def matrix_of(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def told(solution):
    """Its last sentence and what was said before, without numbers and units."""
    said = [solution.status.sentence, *(str(note) for note in solution.notes)]
    return [re.sub(r"# (m|rad)\b", "# []", NUMBER.sub("#", text)) for text in said]


def ended_at(solution):
    return float(re.search(r"t = (\S+) s", solution.status.sentence)[1])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", tail(range(8), 2))
def test_past_the_reach_it_ends_in_the_same_words_at_the_same_time(seed, solver):
    linkage = Linkage(seed)
    wanted = linkage.beyond - linkage.at
    first = None
    for L, M, T in [(1.0, 1.0, 1.0), *SCALES]:
        found = SOLVERS[solver](
            linkage.model(L, M, T, driven=True), t_end=3.0 * T, output_step=OUTPUT * T
        )
        assert found.status.code == "failed"
        assert ended_at(found) / T == pytest.approx(wanted, rel=1e-4), (L, M, T)
        assert len(found.time) == 1 + int(wanted / OUTPUT)
        assert not found.audit.failures
        first = first or found
        assert told(found) == told(first), (L, M, T)
        for name in ("crank.position", "coupler.position", "rocker.position"):
            np.testing.assert_allclose(found[name] / L, first[name], atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", tail(range(8), 2))
def test_a_free_motion_is_the_same_in_every_scale(seed, solver):
    linkage, first = Linkage(seed), None
    for L, M, T in [(1.0, 1.0, 1.0), *SCALES]:
        found = SOLVERS[solver](
            linkage.model(L, M, T, driven=False), t_end=0.3 * T, output_step=OUTPUT * T
        )
        assert found.status.code == "finished", found.status
        assert not found.audit.failures
        first = first or found
        assert told(found) == told(first), (L, M, T)
        for name, unit in (("coupler.position", L), ("A.angle", 1.0), ("A.speed", 1.0 / T)):
            np.testing.assert_allclose(found[name] / unit, first[name], atol=2e-6)
        force = np.abs(first["C.force"]).max()
        scaled = found["C.force"] * T**2 / (M * L)
        np.testing.assert_allclose(scaled / force, first["C.force"] / force, atol=1e-5)
