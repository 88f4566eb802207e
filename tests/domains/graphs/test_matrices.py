"""The paper's matrices: power, rates, published eigenvalues, numbers against symbols."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.domains.graphs.test_derivative import G, J, L, M, pendulum, two_link
from tests.domains.graphs.test_mixed import inductors
from tests.domains.random_networks import driveline
from tests.laws.machines import random_loop, random_tree
from tests.laws.parts import loaded
from vbg.assemble import System
from vbg.assemble.matrices.matrices import (
    PaperMatrices,
    matrices_of,
    open_rows,
    symbolic_matrices,
)
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.simulate.state_at import state_at

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RECEIVERS, GIVERS = ("1", "2", "D", "L", "E", "C"), ("1", "2", "D", "L", "E", "u2")


def example(name: str) -> System:
    return vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))


def whole_J(found: PaperMatrices) -> np.ndarray:
    """J of x = J z, the rows of the constraint sources with the power they take."""
    sizes = {}
    for row, column in zip(RECEIVERS, GIVERS, strict=True):
        matrix = found.blocks.get(f"J{row}{column}")
        sizes[row] = sizes[column] = 0 if matrix is None else len(matrix.rows)

    def block(row: str, column: str) -> np.ndarray:
        matrix = found.blocks.get(f"J{row}{column}")
        if matrix is None:
            return np.zeros((sizes[row], sizes[column]))
        return -matrix.values if row == "C" else matrix.values

    return np.block([[block(row, column) for column in GIVERS] for row in RECEIVERS])


@pytest.mark.parametrize(
    "name",
    ["pendulum", "slider-crank", "dc-motor-start", "gear-pair", "half-car", "hydraulic-arm"],
)
def test_junctions_give_and_take_no_power(name):
    J = whole_J(matrices_of(example(name)))
    assert J.size and np.abs(J + J.T).max() < 1e-13 * max(1.0, np.abs(J).max())


@pytest.mark.parametrize("seed", range(4))
def test_random_machines_give_and_take_no_power(seed):
    for machine in (random_loop(seed), random_tree(seed)):
        J = whole_J(matrices_of(vbg.assemble(loaded(machine, seed).model())))
        assert np.abs(J + J.T).max() < 1e-12 * np.abs(J).max()


@pytest.mark.parametrize(
    ("name", "time", "case"),
    [
        ("pendulum", 0.4, "15"),
        ("triple-pendulum", 0.3, "15"),
        ("slider-crank", 0.05, "15"),
        ("dc-motor-start", 0.02, "15"),
        ("two-link-robot", 0.3, "15"),
        ("stewart-platform", 0.2, "15"),
        ("bennett", 0.1, "15"),
        ("half-car", 0.1, ""),
        ("rlc-ladder", 1e-4, ""),
    ],
)
def test_matrices_give_the_rates(name, time, case):
    """X' and U2 of the elimination (5)-(15), where redundant rows have the smallest efforts."""
    system = example(name)
    found = matrices_of(system, time, state_at(vbg.start(system), time))
    assert found.linear and found.case == case
    assert found.misfit < 1e-10


def sprung(mass: float, length: float, time: float) -> vbg.Model:
    """Two rods on hinges with springs at a hinge and between points, and a stop that is open; in
    units of `mass`, `length` and `time`."""
    inertia = mass * length**2
    rod = {
        "mass": 2 * mass,
        "inertia": {"xx": 0.1 * inertia, "yy": 0.3 * inertia, "zz": 0.2 * inertia},
        "points": {"p": [-0.4 * length, 0, 0], "e": [0.4 * length, 0, 0.1 * length]},
    }
    hinge = {"kind": "revolute", "axis": [0, 1, 0], "initial": {"angle": 0.3, "speed": 2 / time}}
    points = [{"body": "ground", "at": [0.5 * length, length, length]}, "b.e"]
    k = mass / time**2
    return vbg.Model(
        bodies={"a": dict(rod), "b": dict(rod)},
        joints={
            "A": {**hinge, "between": ["ground", "a.p"]},
            "B": {**hinge, "between": ["a.e", "b.p"], "stop": {"upper": 2.0, "k": k * length**2}},
        },
        forces={
            "s": {"kind": "spring", "between": points, "k": 7 * k, "length": 0.3 * length},
            "one": {"kind": "torsion_spring", "on": "joints.A", "k": k * length**2, "rest": 0.1},
        },
    )


@pytest.mark.parametrize(
    ("mass", "length", "time"), [(1, 1, 1), (1e-9, 1e-4, 1e-3), (1e6, 300, 40)]
)
def test_springs_are_stores_and_stops_are_sources(mass, length, time):
    """X' of a spring is what it receives, at any scale, so that the matrices give all rates; a stop
    is none, for it has its stiffness only while it touches."""
    system = vbg.assemble(sprung(mass, length, time))
    found = matrices_of(system, 0.1 * time, state_at(vbg.start(system), 0.1 * time))
    assert found.linear and found.misfit < 1e-12
    assert found.blocks["F1"].columns[-2:] == ("s.displacement", "one.displacement")
    F = np.diag(found.blocks["F1"].values)[-2:]
    assert F * time**2 / mass / [7, length**2] == pytest.approx(1.0, rel=1e-14)
    assert any("stop" in name for name in found.blocks["J1u1"].columns)
    J = whole_J(found)
    assert np.abs(J + J.T).max() < 1e-13 * np.abs(J).max()


@pytest.mark.parametrize("name", ["pendulum", "two-link", "dc-motor-start", "motor-slider-crank"])
def test_matrices_in_derivative_causality_give_the_rates(name):
    """X' with X_D' and U2 by H and K; the junctions give and take no power, and the states of the
    dependent stores follow from J_D1 Z1 + J_D2 Z2 + J_Du1 U1."""
    own = {"pendulum": pendulum, "two-link": two_link}
    if name in own:
        system = vbg.assemble(own[name]("derivative"))
    else:
        model = vbg.read(EXAMPLES / f"{name}.toml")
        system = vbg.assemble(model.edited(("simulate", "causality"), "derivative"))
    found = matrices_of(system, 0.02, state_at(vbg.start(system), 0.02))
    assert system.causal.differential
    assert len(found.blocks["F_D"].rows) >= len(system.causal.differential)
    assert found.misfit is None or found.misfit < 1e-12
    J = whole_J(found)
    assert np.abs(J + J.T).max() < 1e-13 * np.abs(J).max()


def test_the_pendulum_in_derivative_causality_by_its_matrices():
    """X1' = T_1D X_D' + T_1u1 U1, (F_D - K_D) X_D' = K1 X1 + J_Du1 U1' with U1' = (0, g):
    (J + m l^2/4) q'' = -m g l/2 cos q, in symbols."""
    import sympy

    found = symbolic_matrices(vbg.assemble(pendulum("derivative")))
    b = {name: matrix.values for name, matrix in found.blocks.items()}
    q, p = (sympy.Symbol(n, real=True) for n in ("rotational.q.angle", "J.momentum"))
    right = b["K1"] * sympy.Matrix([p, 0]) + b["JDu1"] * sympy.Matrix([0, G])
    reaction = (b["F_D"] - b["K_D"]).LUsolve(right)
    rate = (b["T1D"] * reaction)[0]
    for angle, momentum in ((0.3, 0.02), (-1.2, 0.4)):
        exact = -M * G * L / 2 * np.cos(angle) / (J + M * L**2 / 4)
        assert float(rate.subs({q: angle, p: momentum})) / J == pytest.approx(exact, rel=1e-12)


def test_the_mixed_case_in_symbols_is_that_of_numbers():
    """Q1, Q2 span the same; the rows give U2, so that the currents move alike."""
    system = inductors(0.3, 0.5, 1.7)
    numbers, symbols = matrices_of(system, 0.3), symbolic_matrices(system)
    assert symbols.case == numbers.case == "mixed"
    for name in ("Q1", "Q2"):
        own = np.array(symbols.blocks[name].values.tolist(), dtype=float)
        other = numbers.blocks[name].values
        assert own.shape == other.shape
        assert np.abs(own - other @ (other.T @ own)).max() < 1e-12
    T_LE, H4 = numbers.blocks["T_LE"].values, numbers.blocks["H4"].values
    Q1 = numbers.blocks["Q1"].values
    assert np.linalg.matrix_rank(np.vstack([Q1.T @ T_LE, H4])) == 3
    assert np.abs(T_LE.T @ numbers.blocks["Q2"].values).max() < 1e-12


@pytest.mark.parametrize("causality", ["integral", "derivative"])
def test_rows_that_do_not_hold_are_named(causality):
    """Random drivelines: J is skew but for the rows of friction and clutches that are open."""
    seen = 0
    for seed in (0, 1, 5, 14):
        model = vbg.Model(**driveline(seed)).edited(("simulate", "causality"), causality)
        found = matrices_of(vbg.assemble(model), 0.1)
        loose = open_rows(found)
        seen += len(loose)
        blocks = {}
        for name, matrix in found.blocks.items():
            kept = [c not in loose or not name.endswith("u2") for c in matrix.columns]
            blocks[name] = replace(matrix, values=matrix.values * np.array(kept, dtype=float))
        J = whole_J(replace(found, blocks=blocks))
        assert np.abs(J + J.T).max() <= 1e-12 * np.abs(J).max(), seed
    assert seen >= 3


def test_laws_that_are_not_proportional_give_no_misfit():
    found = matrices_of(example("transistor-amplifier"))
    assert not found.linear and found.misfit is None


def test_damper_pair():
    """Se-1(I)-0(R1)-1(R2)-0(C, Sf), all 1: P of a loop of order 1, eigenvalues of T."""
    graph: dict = {name: {"kind": kind} for name, kind in zip("abcd", "1010", strict=True)}
    graph |= {name: {"kind": name[0], "value": 1} for name in ("I", "R1", "R2", "C")}
    bonds = ["a -> I", "a -> b", "b -> R1", "b -> c", "c -> R2", "c -> d", "d -> C"]
    found = matrices_of(vbg.assemble(vbg.Model(bondgraph=graph, bonds=bonds)))
    P = found.blocks["P"].values
    assert sorted(np.linalg.eigvals(np.linalg.inv(P))) == pytest.approx([1 - 1j, 1 + 1j])
    eigenvalues = np.sort_complex(np.linalg.eigvals(found.blocks["T11"].values))
    assert eigenvalues == pytest.approx([-0.5 - 0.5j, -0.5 + 0.5j], abs=1e-14)


def test_symbols_have_the_values_of_the_numbers():
    system = example("pendulum")
    x = state_at(vbg.start(system), 0.4)
    numbers, symbols = matrices_of(system, 0.4, x), symbolic_matrices(system)
    assert symbols.case == numbers.case and symbols.blocks.keys() == numbers.blocks.keys()
    values = dict(zip(system.state_names, x, strict=True))
    R = vbg_rotation(x, system)
    values |= {f"R_rod[{i},{j}]": R[i, j] for i in range(3) for j in range(3)}
    for name, matrix in symbols.blocks.items():
        known = {s: values[str(s)] for s in matrix.values.free_symbols}
        found = np.array(matrix.values.subs(known).tolist(), dtype=float)
        scale = max(1.0, np.abs(numbers.blocks[name].values).max())
        assert np.abs(found - numbers.blocks[name].values).max() < 1e-12 * scale, name


def vbg_rotation(x: np.ndarray, system: System) -> np.ndarray:
    from vbg.spatial import rotation_matrix

    at = next(s for s in system.slices if s.state.name == "rod.quaternion")
    return rotation_matrix(x[at.first : at.last])


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(UsageError, match="components of stores"):
        symbolic_matrices(example("slider-crank"))


@pytest.mark.slow
def test_command(capsys):
    path = str(EXAMPLES / "slider-crank.toml")
    assert main(["show", "matrices", path, "--at", "50 ms"]) == 0
    text = capsys.readouterr().out
    assert "case (15)" in text and "\nR_E (9 x 9)\n" in text and "zero: " in text
    assert main(["show", "matrices", str(EXAMPLES / "dc-motor-start.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["case"] == "15" and found["blocks"]["R"]["rows"] == ["M.R"]
    assert main(["show", "matrices", str(EXAMPLES / "pendulum.toml"), "--symbolic"]) == 0
    assert "R_rod[0,2]" in capsys.readouterr().out
