"""Joints that close on what drives move: a drive keeps its speed and pays for the impulse.

What it moves at c takes the impulse L against it, L c is supplied, and of that and of the energy
there was before what the closing speeds r had is lost, r m r / 2, never less than nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken
from tests.tail import tail
from vbg.simulate.events.impulses.latches import Latches
from vbg.tmm_bridge import simulate as second
from vbg.tmm_bridge.motion.events import latches as twin
from vbg.validate import validate

SOLVERS = [vbg.simulate, second]


@dataclass(frozen=True)
class Case:
    """A machine; what each of its joints takes (closing order, N*s or N*m*s); the energy [J] that
    all lose and what drives supply, both from the start to the end; `payer` of the impulse."""

    model: dict[str, Any]
    impulses: dict[str, float]
    lost: float
    supplied: float
    payer: str


def sizes(seed: int) -> tuple[np.random.Generator, float, float, float]:
    """Length [m], time [s], mass [kg], each over six decades."""
    draw = np.random.default_rng(seed)
    return draw, *(10.0 ** draw.uniform(-3, 3, 3)).tolist()


def body(mass: float, length: float, **more: Any) -> dict[str, Any]:
    return {"mass": mass, "inertia": dict.fromkeys(("xx", "yy", "zz"), mass * length**2), **more}


def rail(name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "prismatic", "axis": [1, 0, 0], "between": ["ground", name], **more}


def run_of(T: float, **parts: Any) -> dict[str, Any]:
    settings = {"t_end": 2.0 * T, "output_step": 0.25 * T, "rtol": 1e-9}
    return {"name": "impact", "gravity": [0, 0, 0], "simulate": settings, **parts}


def meeting(x: float, v: float, T: float) -> dict[str, float]:
    """Where what has the speed v begins that is at x at T."""
    return {"slide": x - v * T, "speed": v}


def on_rails(seed: int, at: float = 1.0) -> Case:
    """Several bodies caught at once by one that is led at c = v + a t."""
    draw, L, T, M = sizes(seed)
    v, a = draw.uniform(0.5, 2.0) * L / T, draw.uniform(-0.3, 1.0) * L / T**2
    n, T_hit = int(draw.integers(1, 4)), at * T
    m, u = M * draw.uniform(0.3, 3.0, n), draw.uniform(-2.0, 2.0, n) * L / T
    c, x, m0 = v + a * T_hit, v * T_hit + 0.5 * a * T_hit**2, M * draw.uniform(0.3, 3.0)
    bodies, joints = {"a": body(m0, L)}, {"A": rail("a", drive=f"{v!r}*t + {0.5 * a!r}*t**2")}
    for i in range(n):
        bodies[f"b{i}"] = body(float(m[i]), L)
        joints[f"B{i}"] = rail(f"b{i}", initial=meeting(x, float(u[i]), T_hit))
        ends = {"kind": "fixed", "between": ["a", f"b{i}"]}
        joints[f"h{i}"] = {**ends, "engage": f"t >= {T_hit!r}"}
    lost = 0.5 * float(m @ (c - u) ** 2)
    end = v + 2.0 * a * T
    stored = 0.5 * (m0 + m.sum()) * end**2 - 0.5 * m0 * v**2 - 0.5 * float(m @ u**2)
    took = {f"h{i}": float(m[i] * (c - u[i])) for i in range(n)}
    return Case(run_of(T, bodies=bodies, joints=joints), took, lost, stored + lost, "A")


def at_start(seed: int) -> Case:
    return on_rails(seed, at=0.0)


def behind_a_gear(seed: int) -> Case:
    """The body that catches is led by the drive of another joint."""
    draw, L, T, M = sizes(seed)
    v, ratio = draw.uniform(0.5, 2.0) * L / T, float(draw.choice([-1, 1]) * draw.uniform(0.3, 3.0))
    u, (m0, m1, m) = draw.uniform(-2.0, 2.0) * L / T, (M * draw.uniform(0.3, 3.0, 3)).tolist()
    model = run_of(
        T,
        bodies={"a": body(m0, L), "d": body(m1, L), "b": body(m, L)},
        joints={
            "A": rail("a", drive=f"{v!r}*t"),
            "D": rail("d"),
            "g": {"kind": "gear", "between": ["joints.A", "joints.D"], "ratio": ratio},
            "B": rail("b", initial=meeting(ratio * v * T, u, T)),
            "h": {"kind": "fixed", "between": ["d", "b"], "engage": f"t >= {T!r}"},
        },
    )
    c = ratio * v
    lost = 0.5 * m * (c - u) ** 2
    return Case(model, {"h": m * (c - u)}, lost, 0.5 * m * (c**2 - u**2) + lost, "A")


def by_a_slider(seed: int) -> Case:
    """A loop: a crank r led at w, a rod l, and the slider s = r cos a + sqrt(l^2 - r^2 sin^2 a)."""
    draw, L, T, M = sizes(seed)
    r, l, w = draw.uniform(0.3, 0.6) * L, draw.uniform(1.2, 2.0) * L, draw.uniform(0.8, 1.2) / T
    m0, m1, m2, m = (M * draw.uniform(0.3, 3.0, 4)).tolist()
    u = draw.uniform(-1.0, 1.0) * L / T
    start = draw.uniform(0.3, 0.6)

    def slider(a: float) -> tuple[float, float, float]:
        """Position and speed; the rod's kinetic energy."""
        reach = np.sqrt(l**2 - (r * np.sin(a)) ** 2)
        speed = -w * r * np.sin(a) * (1.0 + r * np.cos(a) / reach)
        turning = -w * r * np.cos(a) / reach
        middle = 0.5 * np.array([speed - w * r * np.sin(a), w * r * np.cos(a)])
        rod = 0.5 * m1 * (middle @ middle + (L * turning) ** 2)
        return float(r * np.cos(a) + reach), float(speed), float(rod)

    s0, c0, rod0 = slider(start)
    s, c, _ = slider(start + w * T)
    _, c2, rod2 = slider(start + 2.0 * w * T)
    tilt = float(np.arcsin(-r / l * np.sin(start)))
    crank = r * np.array([np.cos(start), np.sin(start), 0.0])
    hinge = {"kind": "revolute", "axis": [0, 0, 1]}
    half = 0.5 * l
    model = run_of(
        T,
        bodies={
            "a": body(m0, L, points={"P": crank.tolist()}),
            "rod": body(
                m1,
                L,
                points={"P": [-half, 0, 0], "Q": [half, 0, 0]},
                position=[(crank[0] + s0) / 2, crank[1] / 2, 0],
                rotation={"axis": [0, 0, 1], "angle": tilt},
            ),
            "s": body(m2, L, position=[s0, 0, 0]),
            "b": body(m, L),
        },
        joints={
            "A": {**hinge, "between": ["ground", "a"], "drive": f"{w!r}*t"},
            "P": {**hinge, "between": ["a.P", "rod.P"]},
            "Q": {**hinge, "between": ["rod.Q", "s"]},
            "S": rail("s"),
            "B": rail("b", initial=meeting(s, u, T)),
            "h": {
                "kind": "point_on_plane",
                "axis": [1, 0, 0],
                "between": ["s", "b"],
                "engage": f"t >= {T!r}",
            },
        },
    )
    lost = 0.5 * m * (c - u) ** 2
    stored = rod2 - rod0 + 0.5 * m2 * (c2**2 - c0**2) + 0.5 * m * (c2**2 - u**2)
    return Case(model, {"h": m * (c - u)}, lost, stored + lost, "A")


def ahead_of_a_hinge(seed: int) -> Case:
    """A hinge J with the speed w, of which a rotor m runs ahead by s, is caught by the frame."""
    draw, L, T, M = sizes(seed)
    w, s = draw.uniform(0.5, 1.5) / T, draw.uniform(-3.0, 3.0) / T
    J, m = (M * L**2 * draw.uniform(0.3, 3.0, 2)).tolist()
    angle = w * T
    eye = [float(L * np.cos(angle)), float(L * np.sin(angle)), 0.0]
    hinge = {"kind": "revolute", "axis": [0, 0, 1], "between": ["ground", "a"]}
    model = run_of(
        T,
        bodies={"a": {"mass": M, "inertia": dict.fromkeys(("xx", "yy", "zz"), J)}},
        joints={
            "A": {**hinge, "initial": {"speed": w}},
            "h": {
                "kind": "point_on_plane",
                "axis": [-float(np.sin(angle)), float(np.cos(angle)), 0.0],
                "between": [{"body": "ground", "at": eye}, {"body": "a", "at": [L, 0, 0]}],
                "engage": f"t >= {T!r}",
            },
        },
        rotational={
            "motor": {"kind": "speed", "nodes": ["joint:A", "r"], "speed": s},
            "rotor": {"kind": "inertia", "nodes": ["r"], "J": m},
        },
    )
    return Case(model, {}, 0.5 * (J + m) * w**2, -m * s * w, "motor")


MACHINES = [on_rails, at_start, behind_a_gear, by_a_slider, ahead_of_a_hinge]


def hooks(run: vbg.Solution) -> list[str]:
    """The joints that close."""
    return [name.removesuffix(".lost") for name in run.signals if name.endswith(".lost")]


def expect(run: vbg.Solution, case: Case) -> None:
    assert run.status.code == "finished", run.status.sentence
    assert not run.audit.failures
    size = max(abs(case.lost), abs(case.supplied))
    close = {"rtol": 1e-7, "atol": 1e-9 * size}
    for hook in hooks(run):
        assert_allclose(run[f"{hook}.lost"][-1], case.lost / len(hooks(run)), **close)
    largest = max(map(abs, case.impulses.values()), default=0.0)
    for hook, impulse in case.impulses.items():
        told = run[f"{hook}.impulse"][-1]
        assert_allclose(told, [impulse, 0, 0], rtol=1e-7, atol=1e-9 * largest)
    assert_allclose(run["energy.dissipated"][-1], case.lost, **close)
    assert_allclose(run["energy.supplied"][-1], case.supplied, **close)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("seed", tail(range(6), 1))
def test_the_drive_pays_for_the_impulse(machine, solve, seed):
    case = machine(seed)
    expect(solve(vbg.Model(**case.model)), case)


@pytest.mark.parametrize("machine", MACHINES)
def test_of_all_parts_the_drive_alone_pays(machine):
    """Others take up what they store, the joints that close what is lost."""
    case = machine(7)
    for start in shaken(vbg.start(vbg.Model(**case.model, outputs={"energy": True})), count=3):
        run = vbg.simulate(start)
        expect(run, case)
        size = max(abs(case.lost), abs(case.supplied))
        paid = run[f"{case.payer}.energy"][-1]
        assert_allclose(paid, -case.supplied, rtol=1e-7, atol=1e-9 * size)
        for hook in hooks(run):
            assert_allclose(run[f"{hook}.energy"][-1], run[f"{hook}.lost"][-1], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES[:-1])
def test_a_solver_that_forgets_the_drive_fails(machine, monkeypatch):
    model = vbg.Model(**machine(11).model)
    assert validate(model, in_children=False).result == "PASS"
    with monkeypatch.context() as forgetful:
        forgetful.setattr(Latches, "_supply", lambda *_: None)
        assert validate(model, in_children=False).result == "FAIL"
    with monkeypatch.context() as forgetful:
        forgetful.setattr(twin, "work_of_drives", lambda *_: 0.0)
        assert validate(model, in_children=False).result == "FAIL"
