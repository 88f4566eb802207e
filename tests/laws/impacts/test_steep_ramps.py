"""Dry friction under what rises or falls within no time, though it does not jump: what it holds is
bounded, so that it takes nothing along that its carrier leaves behind.  By closed forms, over
widths of 1e-6 to 1e-13 of the run, and random sizes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.tmm_bridge import simulate as second

SOLVERS = [vbg.simulate, second]
WIDTHS = 10.0 ** -np.arange(6.0, 14.0)
AT = 0.4  # of the run


class Drawn:
    """Inertia J [kg or kg m^2], time T [s], what friction holds F [N or N m], speeds u before and
    s behind the ramp, which begins at `at` and takes `width`."""

    def __init__(self, seed: int, widths: np.ndarray = WIDTHS):
        draw = np.random.default_rng(seed)
        self.J, self.T = (10.0 ** draw.uniform(-3, 3, 2)).tolist()
        self.u = float(draw.choice([0.0, 0.5, -0.5])) / self.T
        self.way = float(draw.choice([-1.0, 1.0]))
        self.s = self.u + self.way * float(draw.uniform(1.0, 2.0)) / self.T
        self.F = float(draw.uniform(0.5, 1.5)) * self.J / self.T**2
        self.at = AT * self.T * float(draw.uniform(0.9, 1.1))
        self.width = float(widths[seed % len(widths)]) * self.T

    def ramp(self, before: float, after: float) -> dict[str, object]:
        rows = [[0.0, before], [self.at, before], [self.at + self.width, after]]
        return {"u": {"kind": "table", "rows": rows}}

    def run(self, solve, signals: Mapping[str, object], **tables: object) -> vbg.Solution:
        settings = {"t_end": self.T, "output_step": 0.05 * self.T, "rtol": 1e-9}
        named = {"gravity": [0, 0, 0], "simulate": settings, "signals": signals, **tables}
        found = solve(vbg.Model(name="steep", **named))
        assert found.status.code == "finished", found.status.sentence
        assert not found.audit.failures
        return found

    def since(self, times: np.ndarray) -> np.ndarray:
        return np.clip(times - self.at, 0.0, None)


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("kind", ["friction", "clutch", "mass", "chain"])
@pytest.mark.parametrize("seed", tail(range(16), 4))
def test_what_is_carried_along_stays_behind_a_steep_ramp(solve, kind, seed):
    """It keeps u and gains F/J t; in a chain the second one sticks to it, which is to be moved by
    F alone, 2 J, or slips, by less than F/2."""
    d = Drawn(seed)
    turning = kind != "mass"
    law = {"kind": "clutch", "capacity": d.F} if kind == "clutch" else None
    wheel = {"kind": "inertia", "J": d.J} if turning else {"kind": "mass", "m": d.J}
    parts = {
        "motor": {"kind": "speed", "nodes": ["f"], "speed": "u"},
        "dry": {"nodes": ["f", "w"], **(law or {"kind": "friction", "coulomb": d.F})},
        "wheel": {"nodes": ["w"], "speed": d.u, **wheel},
    }
    gains = {"wheel": d.F / d.J}
    if kind == "chain":
        share = float(np.random.default_rng(seed + 100).uniform(0.2, 0.8))
        parts["grip"] = {"kind": "friction", "nodes": ["w", "x"], "coulomb": share * d.F}
        parts["last"] = {"nodes": ["x"], "speed": d.u, **wheel}
        passed_on = min(share, 0.5)
        gains = {"wheel": (1.0 - passed_on) * d.F / d.J, "last": passed_on * d.F / d.J}
    table = "rotational" if turning else "translational"
    run = d.run(solve, d.ramp(d.u, d.s), **{table: parts})
    for name, gain in gains.items():
        expected = d.u + d.way * gain * d.since(run.time)
        assert np.all(np.abs(expected) < 3.0 / d.T)
        np.testing.assert_allclose(run[f"{name}.speed"], expected, rtol=1e-7, atol=1e-8 / d.T)


@pytest.mark.parametrize("seed", tail(range(16), 8))
def test_a_source_works_on_what_it_takes_along_steeply(seed):
    """J (s^2 - u^2) / 2 on a wheel of its own: events within the ramp, as of friction that turns
    over there, find no jump in what rises by more than rounding from one last digit of time to
    the next."""
    d = Drawn(seed, WIDTHS[:4])
    parts = {
        "motor": {"kind": "speed", "nodes": ["f"], "speed": "u"},
        "heavy": {"kind": "inertia", "nodes": ["f"], "J": 100.0 * d.J},
        "dry": {"kind": "friction", "nodes": ["f", "w"], "coulomb": d.F},
        "wheel": {"kind": "inertia", "nodes": ["w"], "J": d.J, "speed": -d.s},
        "rub": {"kind": "friction", "nodes": ["f", "frame"], "coulomb": d.F},
    }
    run = d.run(vbg.simulate, d.ramp(-d.s, d.s), rotational=parts, outputs={"energy": True})
    work = -run["motor.energy"] - run["rub.energy"] - run["dry.energy"]
    held = run["heavy.energy"] + run["wheel.energy"]
    size = np.abs(held).max()
    np.testing.assert_allclose(work - work[0], held - held[0], rtol=0, atol=1e-6 * size)


@pytest.mark.parametrize("kind", ["shaft", "joint"])
@pytest.mark.parametrize("seed", tail(range(16), 8))
def test_what_a_steep_load_tears_loose_moves_by_what_is_left(kind, seed):
    """A load that rises from 0 to L > F in no time leaves L - F: (L - F) t / J.  While it rises
    from F on, over the part 1 - F/L of the width, a half of that is gained."""
    d = Drawn(seed)
    load = d.way * d.F * float(np.random.default_rng(seed + 100).uniform(1.5, 3.0))
    left = load - d.way * d.F
    if kind == "shaft":
        parts = {
            "push": {"kind": "torque", "nodes": ["w"], "torque": "u"},
            "dry": {"kind": "friction", "nodes": ["w"], "coulomb": d.F},
            "wheel": {"kind": "inertia", "nodes": ["w"], "J": d.J},
        }
        tables, name = {"rotational": parts}, "wheel.speed"
    else:
        inertia = dict.fromkeys(("xx", "yy", "zz"), d.J)
        rail = {"kind": "prismatic", "axis": [1, 0, 0], "between": ["ground", "b"]}
        tables = {
            "bodies": {"b": {"mass": d.J, "inertia": inertia}},
            "joints": {"A": {**rail, "friction": {"coulomb": d.F}}},
            "forces": {"push": {"kind": "force", "on": "b", "force": ["u", 0, 0]}},
        }
        name = "A.speed"
    run = d.run(second, d.ramp(0.0, load), **tables)
    slid = d.width * left / load  # of the ramp, from where it exceeds F
    behind = run.time > d.at + d.width
    expected = left / d.J * (run.time[behind] - d.at - d.width + 0.5 * slid)
    np.testing.assert_allclose(run[name][behind], expected, rtol=1e-7, atol=1e-9 / d.T)
    np.testing.assert_allclose(run[name][run.time < d.at], 0.0, atol=0.0)


@pytest.mark.parametrize("kind", ["hinge", "clutch", "slide"])
@pytest.mark.parametrize("seed", tail(range(8), 2))
def test_what_rubs_on_a_driven_joint_stays_behind_a_steep_ramp(kind, seed):
    """As on a shaft.  A last digit of time is 1e-16 t, so that a drive's work is known to 1e-16 t/w
    of what it moves: the audit asks for 1e-6."""
    d = Drawn(seed, WIDTHS[:4])
    since = f"min(max(t - {d.at!r}, 0), {d.width!r})"
    behind = f"max(t - {d.at!r} - {d.width!r}, 0)"
    drive = f"{d.u!r}*t + {d.s - d.u!r}*({since}^2/{2 * d.width!r} + {behind})"
    inertia = dict.fromkeys(("xx", "yy", "zz"), d.J)
    bodies = {name: {"mass": d.J, "inertia": inertia} for name in "ab"}
    moved = {"initial": {"slide" if kind == "slide" else "angle": 0.0, "speed": d.u}}
    joint = {"kind": "prismatic" if kind == "slide" else "revolute", "axis": [0, 0, 1]}
    joints = {"A": {**joint, "between": ["ground", "a"], "drive": drive}}
    tables, law = {}, {"coulomb": d.F}
    if kind == "clutch":
        joints["B"] = {**joint, "between": ["ground", "b"], **moved}
        part = {"kind": "clutch", "nodes": ["joint:A", "joint:B"], "capacity": d.F}
        tables = {"rotational": {"dry": part}}
    else:
        joints["B"] = {**joint, "between": ["a", "b"], "friction": law}
    run = d.run(second, {}, bodies=bodies, joints=joints, **tables)
    told = run["b.velocity" if kind == "slide" else "b.angular_velocity"][:, 2]
    expected = d.u + d.way * d.F / d.J * d.since(run.time)
    np.testing.assert_allclose(told, expected, rtol=1e-8, atol=1e-9 / d.T)


@pytest.mark.parametrize("seed", tail(range(16), 8))
def test_a_clutch_that_opens_steeply_lets_its_load_go(seed):
    """By C (1 - t/w), which is F where it begins to slip; what it took off since, on average F/2
    over w F/C, is not gained."""
    d = Drawn(seed)
    capacity = d.F * float(np.random.default_rng(seed + 100).uniform(1.5, 3.0))
    parts = {
        "push": {"kind": "torque", "nodes": ["w"], "torque": d.way * d.F},
        "dry": {"kind": "clutch", "nodes": ["w", "frame"], "capacity": capacity, "engaged": "u"},
        "wheel": {"kind": "inertia", "nodes": ["w"], "J": d.J},
    }
    run = d.run(second, d.ramp(1.0, 0.0), rotational=parts)
    behind = run.time > d.at + d.width
    since = run.time[behind] - d.at - d.width + 0.5 * d.width * d.F / capacity
    np.testing.assert_allclose(
        run["wheel.speed"][behind], d.way * d.F / d.J * since, rtol=1e-7, atol=1e-9 / d.T
    )
