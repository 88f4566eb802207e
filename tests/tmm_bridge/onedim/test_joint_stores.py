"""Raw inertias that several joints move, or one at a changing ratio: solved twice.

Their momentum follows speeds of joints, so what they exert needs accelerations of the mechanism.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import vbg
from tests.tail import tail
from tests.tmm_bridge.faults import copied, exchanged
from vbg.tmm_bridge import simulate
from vbg.validate import validate

M, M2, INERTIA, FORCE = 2.0, 1.3, 0.7, 3.0
TIGHT = {"rtol": 1e-11, "atol": 1e-13}
Part = dict[str, Any]


def slider(bonds: list[str], size: float = 1.0, **vertices: Part) -> vbg.Model:
    """Two bodies on rails of their own, a force on the first, raw vertices on both."""
    inertia = dict.fromkeys(("xx", "yy", "zz"), size)
    first, second = ({"mass": size * m, "inertia": inertia} for m in (M, M2))
    rail = {"kind": "prismatic", "axis": [1, 0, 0]}
    return vbg.Model(
        gravity=[0, 0, 0],
        bodies={"a": first, "b": {**second, "position": [0, 1, 0]}},
        joints={
            "p": rail | {"between": ["ground", "a"]},
            "q": rail | {"between": [{"body": "ground", "at": [0, 1, 0]}, "b"]},
        },
        translational={"F": {"kind": "force", "on": "joints.p", "force": size * FORCE}},
        bonds=bonds,
        bondgraph=vertices,
        simulate={"t_end": 1.0, "output_step": 0.1},
    )


STORE = {"kind": "I", "value": INERTIA}
TWO = ["p.slide -> sum", "q.slide -> sum", "sum -> store"]
ONE = ["p.slide -> ratio", "ratio -> store"]


@pytest.mark.parametrize("run", [vbg.simulate, simulate], ids=["vbg", "mstmm"])
def test_an_inertia_that_two_joints_move_couples_their_accelerations(run):
    """f = v1 + v2:  [m1 + I, I; I, m2 + I] a = [F; 0]."""
    told = run(slider(TWO, sum={"kind": "0"}, store=STORE), **TIGHT)
    a = np.linalg.solve([[M + INERTIA, INERTIA], [INERTIA, M2 + INERTIA]], [FORCE, 0.0])
    np.testing.assert_allclose(told["p.speed"], a[0] * told.time, atol=1e-9)
    np.testing.assert_allclose(told["q.speed"], a[1] * told.time, atol=1e-9)
    np.testing.assert_allclose(told["store.effort"], INERTIA * a.sum(), atol=1e-9)


@pytest.mark.parametrize("run", [vbg.simulate, simulate], ids=["vbg", "mstmm"])
def test_a_ratio_that_follows_the_posture_keeps_the_energy(run):
    """F x = (m + I r(x)^2) v^2 / 2."""
    ratio = {"kind": "TF", "ratio": "1 + 0.6*sin(3*p.slide)"}
    told = run(slider(ONE, ratio=ratio, store=STORE), **TIGHT)
    x = told["p.slide"]
    moved = M + INERTIA * (1.0 + 0.6 * np.sin(3.0 * x)) ** 2
    np.testing.assert_allclose(told["p.speed"], np.sqrt(2.0 * FORCE * x / moved), atol=1e-9)


@pytest.mark.parametrize("run", [vbg.simulate, simulate], ids=["vbg", "mstmm"])
def test_a_ratio_that_follows_the_time_drives(run):
    """m v' + r (I r v)' = F, or with w = m + I r^2: v = w^-1/2 times the integral of F w^-1/2.
    At first the ratio is zero: which rows hang together is seen beside the start."""
    told = run(slider(ONE, ratio={"kind": "TF", "ratio": "2*sin(5*t)"}, store=STORE), **TIGHT)

    def weight(t: float) -> float:
        return M + INERTIA * (2.0 * np.sin(5.0 * t)) ** 2

    exact = [
        quad(lambda s: FORCE / weight(s) ** 0.5, 0, t)[0] / weight(t) ** 0.5 for t in told.time
    ]
    np.testing.assert_allclose(told["p.speed"], exact, atol=1e-9)


@pytest.mark.parametrize("run", [vbg.simulate, simulate], ids=["vbg", "mstmm"])
def test_an_energy_that_is_not_quadratic_starts_with_the_written_speed(run):
    """m v + p = m v0 + p0 + F t, v = dH/dp = p / I + 4 p^3; nobody wrote p0."""
    store = {"kind": "I", "energy": f"p^2/{2.0 * INERTIA} + p^4"}
    model = slider(["p.slide -> store"], store=store)
    joints = model.document["joints"]
    started = {**joints, "p": {**joints["p"], "initial": {"speed": 0.8}}}
    told = run(vbg.Model(**{**model.document, "joints": started}), **TIGHT)
    v, p = told["p.speed"], told["store.momentum"]
    assert v[0] == pytest.approx(0.8, abs=1e-12)
    np.testing.assert_allclose(v, p / INERTIA + 4.0 * p**3, atol=1e-9)
    np.testing.assert_allclose(M * v + p, M * v[0] + p[0] + FORCE * told.time, atol=1e-9)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_scales_of_masses_do_not_matter(size):
    """All masses, the inertia and the force times `size`: the same motion."""
    ratio = {"kind": "TF", "ratio": "1 + 0.6*sin(3*p.slide)"}
    model = slider(ONE, size, ratio=ratio, store=STORE | {"value": size * INERTIA})
    told = simulate(model, **TIGHT)
    x = told["p.slide"]
    moved = M + INERTIA * (1.0 + 0.6 * np.sin(3.0 * x)) ** 2
    np.testing.assert_allclose(told["p.speed"], np.sqrt(2.0 * FORCE * x / moved), atol=1e-9)


ARM: Part = {
    "bodies": {
        "a": {
            "mass": 1.3,
            "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04},
            "points": {"A": [-0.3, 0.02, 0], "B": [0.31, 0, 0]},
        },
        "b": {
            "mass": 0.7,
            "inertia": {"xx": 0.012, "yy": 0.013, "zz": 0.014},
            "points": {"A": [-0.2, 0.0, 0.01]},
        },
    },
    "joints": {
        "h": {
            "kind": "revolute",
            "between": ["ground", "a.A"],
            "axis": [0, 1, 0],
            "initial": {"angle": 0.3, "speed": 0.4},
        },
        "k": {
            "kind": "revolute",
            "between": ["a.B", "b.A"],
            "axis": [0, 1, 0],
            "initial": {"angle": -0.5, "speed": 0.2},
        },
    },
    "simulate": {"t_end": 0.4, "output_step": 0.01},
}
SUM, TIE = {"kind": "0"}, {"kind": "TF", "ratio": -0.7}
BOTH = ["h.angle -> z", "k.angle -> T", "T -> z"]
CHANGING = {"kind": "TF", "ratio": "0.6 + 0.3*sin(h.angle)"}
SHAFT = {"J": {"kind": "inertia", "nodes": ["r"], "J": 0.1, "speed": 1.0}}
GRAPHS: dict[str, tuple[list[str], Part, Part]] = {
    "two joints": ([*BOTH, "z -> I"], {"z": SUM, "T": TIE, "I": {"kind": "I", "value": 0.2}}, {}),
    "a changing ratio": (
        ["h.angle -> T", "T -> I"],
        {"T": CHANGING, "I": {"kind": "I", "value": 0.2}},
        {},
    ),
    "a vector": (
        ["h.angle -> T", "T -> I"],
        {
            "T": {"kind": "TF", "matrix": [[0.5], [0.8]]},
            "I": {"kind": "I", "size": 2, "matrix": [[0.2, 0.05], [0.05, 0.3]]},
        },
        {},
    ),
    "a joint and a shaft": (
        ["h.angle -> z", "rotational.r -> z", "z -> I"],
        {"z": SUM, "I": {"kind": "I", "value": 0.2}},
        SHAFT,
    ),
    "a shaft at a changing ratio beside a joint": (
        ["rotational.r -> T", "T -> I"],
        {"T": {"kind": "TF", "ratio": "0.6 + 0.3*sin(3*t)"}, "I": {"kind": "I", "value": 0.2}},
        SHAFT | {"wave": {"kind": "spring", "nodes": ["r", "joint:h"], "k": 3.0}},
    ),
    "two of them, crosswise": (
        [*BOTH, "z -> I", "h.angle -> T2", "T2 -> z2", "k.angle -> z2", "z2 -> I2"],
        {"z": SUM, "T": TIE, "I": {"kind": "I", "value": 0.2}}
        | {"z2": SUM, "T2": {"kind": "TF", "ratio": "1.3 + 0.2*sin(k.angle)"}}
        | {"I2": {"kind": "I", "value": 0.3}},
        {},
    ),
    "with a spring, a loss and a gyrator": (
        [*BOTH, "z -> o", "o -> I", "o -> C", "o -> R", "o -> G", "G -> I2"],
        {"z": SUM, "T": TIE, "o": {"kind": "1"}, "I": {"kind": "I", "value": 0.2}}
        | {"C": {"kind": "C", "value": 0.05}, "R": {"kind": "R", "effort": "0.3*f + 0.2*f^3"}}
        | {"G": {"kind": "GY", "ratio": 0.8}, "I2": {"kind": "I", "value": 0.3}},
        {},
    ),
    "beside dry friction": (
        [*BOTH, "z -> I"],
        {"z": SUM, "T": TIE, "I": {"kind": "I", "value": 0.2}},
        {
            "f": {
                "kind": "friction",
                "nodes": ["joint:h", "frame"],
                "coulomb": 0.4,
                "static": 0.6,
                "stribeck": 0.1,
            }
        },
    ),
}


def arm(name: str, **more: Any) -> vbg.Model:
    bonds, vertices, rotational = GRAPHS[name]
    tables = {"rotational": rotational} if rotational else {}
    return vbg.Model(bonds=bonds, bondgraph=vertices, **tables, **{**ARM, **more})


@pytest.mark.parametrize("name", tail(GRAPHS, 4))
def test_both_solvers_agree(name):
    report = validate(arm(name), in_children=False)
    assert report.verdict.word == "PASS", report.verdict.sentence
    assert {c.source for c in report.channels} == {"integrated"}


def test_a_driven_joint_moves_one_too():
    joints = {**ARM["joints"]}
    joints["h"] = {k: v for k, v in joints["h"].items() if k != "initial"}
    joints["h"] |= {"drive": "0.3 + 0.4*t + 0.1*sin(4*t)"}
    report = validate(arm("two joints", joints=joints), in_children=False)
    assert report.verdict.word == "PASS", report.verdict.sentence


@pytest.mark.parametrize("drive", ["if(t < 0.2, 0.3, 0.3 + 0.5*(t - 0.2))"])
def test_where_speeds_may_jump_it_is_refused(drive):
    """Impulses of the mechanism do not know what its network carries."""
    joints = {**ARM["joints"]}
    joints["h"] = {k: v for k, v in joints["h"].items() if k != "initial"} | {"drive": drive}
    verdict = validate(arm("two joints", joints=joints), in_children=False).verdict
    assert verdict.result == "INCONCLUSIVE"
    assert "speed may jump" in verdict.sentence


COPIED = [
    ("motion.rate.combining", "factor * entry", "1.01 * factor * entry"),
    ("motion.rate.dependent", "= Slot(tape, speed), a", "= 2.0 * Slot(tape, speed), a"),
    # a thousandth is absorbed: the mechanism's own accelerations correct the network's, twice
    ("motion.rate.dependent", "acceleration - follows", "acceleration - 2.0 * follows"),
    ("kernels.stages", "missed = s.acceleration", "missed = 0.0 * s.acceleration"),
]
LAW = "flow = mul(own, momentum)"


@pytest.mark.parametrize(("module", "old", "new"), tail(COPIED, 2))
def test_a_fault_of_the_second_solver_is_found(module, old, new):
    with copied(module, old, new):
        report = validate(arm("a changing ratio"), t_end=0.1, in_children=False)
    assert report.result == "FAIL", report.verdict.sentence


def test_a_fault_of_the_first_solver_is_found():
    with exchanged("elements.bondgraph.inertia", LAW, LAW.replace("=", "= 1.001 *")):
        report = validate(arm("a changing ratio"), in_children=False)
    assert report.result == "FAIL", report.verdict.sentence
