# ruff: noqa: E501 -- a fault is one line of the table
"""The verdict can fail: faults seeded one at a time into one of the two solvers.

A fault in the code of the embedded solver is a change of one line of its source:
a copy of the package with that line changed runs uncompiled on a small machine
and is compared with the sound bond-graph solver.  The sound copy must pass.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import vbg
import vbg.tmm_bridge as bridge
from vbg.model import Model
from vbg.solution import Solution
from vbg.tmm_bridge.compare import compare

SOURCES = Path(bridge.__file__).parent
COPY = "copy_of_tmm_bridge"
SETTINGS: dict[str, Any] = {"t_end": 0.12, "output_step": 0.02, "rtol": 1e-9, "atol": 1e-11}

BAR = {"xx": 0.003, "yy": 0.021, "zz": 0.023, "xy": 0.001, "yz": -0.0007, "zx": 0.0012}


def arm() -> Model:
    """Tree: revolute, cylinder driven about nothing, ball; springs, dampers, loads, a gear."""
    return Model(
        name="arm",
        gravity=[0.3, -0.2, -9.81],
        bodies={
            "base": {
                "mass": 2.0,
                "inertia": BAR,
                "position": [0.2, 0.05, 0.1],
                "points": {"in": [-0.2, -0.05, -0.1], "out": [0.25, 0.02, 0.03]},
            },
            "slider": {
                "mass": 1.1,
                "inertia": BAR,
                "position": [0.6, 0.1, 0.2],
                "points": {"in": [-0.15, -0.03, -0.07], "out": [0.1, 0.2, 0.0]},
            },
            "hand": {
                "mass": 0.7,
                "inertia": BAR,
                "position": [0.85, 0.35, 0.15],
                "angular_velocity": [1.0, -2.0, 1.5],
                "points": {"in": [-0.15, -0.05, 0.05], "tip": [0.2, 0.1, 0.05]},
            },
            "wheel": {"mass": 0.4, "inertia": BAR, "position": [-0.3, 0.1, 0.0]},
        },
        joints={
            "J1": {
                "kind": "revolute",
                "between": ["ground", "base.in"],
                "axis": [0.2, 0.9, 0.3],
                "initial": {"angle": 0.0, "speed": 3.0},
                "friction": {"viscous": 0.2},
            },
            "J2": {
                "kind": "cylindrical",
                "between": ["base.out", "slider.in"],
                "axis": [0.8, -0.1, 0.4],
                "initial": {"angle": 0.0, "speed": -2.0, "slide": 0.0, "slide_speed": 1.0},
            },
            "J3": {"kind": "spherical", "between": ["slider.out", "hand.in"]},
            "J4": {
                "kind": "revolute",
                "between": [{"body": "ground", "at": [-0.3, 0.0, 0.0]}, "wheel"],
                "axis": [0.1, 1.0, 0.0],
            },
            "gear": {"kind": "gear", "between": ["joints.J1", "joints.J4"], "ratio": -1.7},
        },
        forces={
            "line": {
                "kind": "spring",
                "between": ["hand.tip", {"body": "ground", "at": [0.9, 0.9, 0.2]}],
                "k": 150.0,
                "length": 0.3,
            },
            "dash": {"kind": "damper", "between": ["base.out", "hand.tip"], "c": 4.0},
            "coil": {"kind": "torsion_spring", "on": "joints.J1", "k": 6.0, "rest": 0.2},
            "push": {
                "kind": "force",
                "on": "hand.tip",
                "force": [2.0, "3*sin(20*t)", -1.0],
                "axes": "body",
            },
            "mount": {
                "kind": "bushing",
                "between": ["slider.out", {"body": "ground", "at": [0.7, 0.3, 0.2]}],
                "stiffness": [80, 90, 70, 2, 3, 4],
                "damping": [1, 2, 1, 0.1, 0.1, 0.2],
            },
        },
    )


def loop() -> Model:
    """Driven crank with three loops: a point on a line, a universal joint and a rod close them."""
    return Model(
        name="loop",
        gravity=[0.0, -9.81, 0.5],
        bodies={
            "crank": {
                "mass": 1.0,
                "inertia": BAR,
                "position": [0.0, 0.1, 0.05],
                "points": {
                    "in": [0.0, -0.1, -0.05],
                    "out": [0.0, 0.1, 0.05],
                    "side": [0.1, 0.05, -0.05],
                },
            },
            "rod": {
                "mass": 0.8,
                "inertia": BAR,
                "position": [0.3, 0.25, 0.15],
                "points": {"in": [-0.3, -0.05, -0.05], "line": [0.1, 0.05, 0.0]},
            },
            "link": {
                "mass": 0.6,
                "inertia": BAR,
                "position": [0.4, 0.0, -0.05],
                "points": {"in": [-0.3, 0.15, 0.05], "out": [0.3, -0.1, 0.05]},
            },
            "sleeve": {
                "mass": 0.5,
                "inertia": BAR,
                "position": [0.75, -0.1, 0.05],
                "points": {"in": [-0.05, 0.0, -0.05]},
            },
            "nut": {
                "mass": 0.3,
                "inertia": BAR,
                "position": [-0.13, 0.32, 0.09],
                "points": {"in": [0.03, -0.02, 0.01], "arm": [0.0, 0.1, 0.1]},
            },
        },
        joints={
            "J1": {
                "kind": "revolute",
                "between": ["ground", "crank.in"],
                "axis": [1, 0.2, 0.1],
                "drive": "2*t + 6*t**2",
            },
            "J2": {
                "kind": "universal",
                "between": ["crank.out", "rod.in"],
                "axis": [0, 1, 0],
                "axis2": [0.1, 0, 1],
            },
            "eye": {
                "kind": "point_on_line",
                "between": ["rod.line", {"body": "ground", "at": [0.4, 0.3, 0.15]}],
                "axis": [1, 0.2, 0.1],
            },
            "J5": {
                "kind": "universal",
                "between": ["crank.side", "link.in"],
                "axis": [0.2, 0, 1],
                "axis2": [0, 1, 0],
            },
            "J6": {
                "kind": "cylindrical",
                "between": [{"body": "ground", "at": [0.75, -0.1, 0.05]}, "sleeve"],
                "axis": [1, 0, 0.1],
            },
            "J7": {
                "kind": "universal",
                "between": ["link.out", "sleeve.in"],
                "axis": [0, 1, 0.1],
                "axis2": [0, 0, 1],
            },
            "thread": {
                "kind": "helical",
                "between": ["nut.in", {"body": "crank", "at": [-0.1, 0.2, 0.05]}],
                "axis": [0.1, 1, 0],
                "lead": 0.05,
            },
            "strut": {
                "kind": "distance",
                "between": [{"body": "ground", "at": [-0.4, 0.3, 0.3]}, "nut.arm"],
            },
        },
    )


# module, what stands there, what the fault makes of it
TREE_FAULTS = [
    ("kinematics", "t[0] + gyro[0], t[1] + gyro[1], t[2] + gyro[2]", "t[0], t[1], t[2]"),
    ("kinematics", "mass * (k[0] - gravity[0])", "mass * (k[0] + gravity[0])"),
    ("kinematics", "mass * (k[1] - gravity[1])", "-mass * gravity[1]"),
    ("kinematics", "c * x0 + s * y0, c * y0 - s * x0, z0", "c * x0 - s * y0, c * y0 + s * x0, z0"),
    ("kinematics", "k = 2.0 * slip", "k = slip"),
    ("kinematics", "cb[0] * speed, cb[1] * speed, cb[2] * speed", "0.0, 0.0, 0.0"),
    ("kinematics", "jxy - mx * cy", "jxy + mx * cy"),
    ("kinematics", "link[i, LINK_J + 3], link[i, LINK_J + 4]", "link[i, LINK_J + 4], link[i, LINK_J + 3]"),
    ("kinematics", "put(work, i, W_B, 0.0, mz, -my)", "put(work, i, W_B, 0.0, -mz, my)"),
    ("riccati", "w[W_EM] += em[0] + t[0]", "w[W_EM] += em[0] - t[0]"),
    ("riccati", "(f[0] - t[0], f[1] - t[1], f[2] - t[2])", "(f[0], f[1], f[2])"),
    ("riccati", "s[W_A] - k0 * a0,", "s[W_A],"),
    ("layout", "R_NB, -R_NB @ p_out", "R_NB, R_NB @ p_out"),
    ("layout", "R_NB @ symmetric_matrix(body.inertia) @ R_NB.T", "R_NB.T @ symmetric_matrix(body.inertia) @ R_NB"),
    ("layout", "np.array(model.gravity, dtype=float)", "0.999 * np.array(model.gravity, dtype=float)"),
    ("layout", "joint.ratio, starts[1]", "1.0 / joint.ratio, starts[1]"),
    ("loading", "0.0, 0.0, friction.viscous, 0.0", "0.0, 0.0, 1.01 * friction.viscous, 0.0"),
    ("loading", "np.concatenate([pa, pb, [k, rest, c]])", "np.concatenate([pa, pb, [k, rest, 1.01 * c]])"),
    ("loading", "np.concatenate([pa, pb, [k, rest, c]])", "np.concatenate([pa, pb, [k, 0.0, c]])"),
    ("loading", '1.0 if part.axes == "body" else 0.0', "0.0"),
    ("efforts", "return -k * (x - rest) - c * rate,", "return -k * x - c * rate,"),
    ("efforts", "apply(s.work, a, effort, pa, along, zero)", "apply(s.work, a, -effort, pa, along, zero)"),
    ("efforts", "return plus(plus(m, 0.5, first), k,", "return plus(plus(m, -0.5, first), k,"),
    ("efforts", "m = plus(torque, 1.0, vector_cross(arm, force))", "m = torque"),
    ("evaluate", "0.5 * (a * x + c * u - d * z)", "0.5 * (a * x - c * u + d * z)"),
    ("channels", "torque = torque - effort[:, None] * axis", "torque = torque + effort[:, None] * axis"),
    ("rotation", "[zx, yz, zz]])", "[xy, yz, zz]])"),
]  # fmt: skip
LOOP_FAULTS = [
    ("kinematics", "cb[0] * turn, cb[1] * turn, cb[2] * turn", "0.0, 0.0, 0.0"),
    ("evaluate", "s.prescribed[v] = drive[d, 2]", "s.prescribed[v] = 0.0"),
    ("constraints", "- 2.0 * dot(axis, vector_cross(wa, u))", ""),
    ("constraints", "return dot(x, z), speed, products", "return dot(x, z), speed, 0.0"),
    ("constraints", "+ (dot(rate, rate) - along * along) / size", ""),
    ("loops", "e[node, j] -= gain * s.row_wrench[r, place, j]", "e[node, j] -= 1.001 * gain * s.row_wrench[r, place, j]"),
    ("loops", "e[p, 4] += em[1] + r[2] * eq[0] - r[0] * eq[2]", "e[p, 4] += em[1]"),
    ("rotation", "[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]", "[[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]"),
    ("layout", 'constants[LINK_LEAD] = getattr(joint, "lead", 0.0)', 'constants[LINK_LEAD] = -getattr(joint, "lead", 0.0)'),
    ("channels", "force += effort * d / np.linalg.norm(d, axis=1, keepdims=True)", "force -= effort * d / np.linalg.norm(d, axis=1, keepdims=True)"),
    ("channels", "return -force, -(moment + np.cross(arm, force))", "return -force, -moment"),
]  # fmt: skip


class Changed:
    """Imports the package under another name, one text replaced, nothing compiled."""

    def __init__(self, module: str = "", old: str = "", new: str = ""):
        self.module, self.old, self.new = module, old, new

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] != COPY:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name == COPY)

    def create_module(self, spec: Any) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        stem = module.__name__.partition(".")[2] or "__init__"
        source = (SOURCES / f"{stem}.py").read_text()
        if stem == self.module:
            assert self.old in source, f"{stem} no longer says {self.old!r}"
            source = source.replace(self.old, self.new)
        if stem == "kinematics":
            at = source.index("    return KERNELS.compiled(")
            source = source[:at] + "    return function" + source[source.index("\n", at) :]
        source = source.replace("vbg.tmm_bridge", COPY)
        module.__file__ = str(SOURCES / f"{stem}.py")
        exec(compile(source, f"{stem}.py", "exec"), module.__dict__)


def run_copy(changed: Changed, model: Model) -> Solution:
    sys.meta_path.insert(0, changed)
    try:
        module = importlib.import_module(COPY)
        return module.simulate(model, **SETTINGS)
    finally:
        sys.meta_path.remove(changed)
        for name in [n for n in sys.modules if n.partition(".")[0] == COPY]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def sound() -> Iterator[dict[str, tuple[Model, Solution]]]:
    """Both machines and what the bond-graph solver says of them."""
    machines = {"arm": arm(), "loop": loop()}
    yield {
        name: (model, vbg.simulate(vbg.assemble(model), **SETTINGS))
        for name, model in machines.items()
    }


@pytest.mark.parametrize("machine", ["arm", "loop"])
def test_sound_copy_passes(sound, machine):
    model, reference = sound[machine]
    verdict = compare(reference, run_copy(Changed(), model))
    assert verdict.result == "PASS", verdict.sentence


def must_fail(reference: Solution, changed: Changed, model: Model) -> None:
    try:
        solution = run_copy(changed, model)
    except vbg.VbgError:
        return  # a fault that the solver itself finds is no false PASS either
    verdict = compare(reference, solution)
    if solution.status.code == "finished":
        assert verdict.result == "FAIL", verdict.sentence
        assert verdict.failed()[0].name in verdict.sentence
    else:
        assert verdict.result == "INCONCLUSIVE"


@pytest.mark.parametrize(("module", "old", "new"), TREE_FAULTS)
def test_fault_in_a_tree_is_found(sound, module, old, new):
    model, reference = sound["arm"]
    must_fail(reference, Changed(module, old, new), model)


@pytest.mark.parametrize(("module", "old", "new"), LOOP_FAULTS)
def test_fault_in_a_loop_is_found(sound, module, old, new):
    model, reference = sound["loop"]
    must_fail(reference, Changed(module, old, new), model)


INPUT_FAULTS = [
    (("joints", "J1", "axis"), [-0.2, -0.9, -0.3]),
    (("bodies", "hand", "inertia", "yy"), 0.0212),
    (("bodies", "base", "points", "out"), [0.25, -0.02, 0.03]),
    (("forces", "dash", "c"), 4.04),
    (("gravity",), [0.3, -0.2, -9.80665]),
    (("bodies", "slider", "mass"), 1.101),
    (("forces", "coil", "rest"), -0.2),
    (("joints", "gear", "ratio"), 1.7),
]


@pytest.mark.parametrize(("path", "value"), INPUT_FAULTS)
def test_fault_in_the_input_of_the_bond_graph_solver_is_found(sound, path, value):
    model, _ = sound["arm"]
    faulty = vbg.simulate(vbg.assemble(model.edited(path, value)), **SETTINGS)
    # As if the other solver had been handed the faulty machine unnoticed.
    forged = replace(faulty, made_by=replace(faulty.made_by, model_hash=model.hash))
    verdict = compare(forged, bridge.simulate(model, **SETTINGS))
    assert verdict.result == "FAIL"
    assert verdict.failed()


def test_honest_hashes_make_it_inconclusive(sound):
    model, reference = sound["arm"]
    other = bridge.simulate(model.edited(("gravity",), [0, 0, -9.8]), **SETTINGS)
    assert compare(reference, other).result == "INCONCLUSIVE"
