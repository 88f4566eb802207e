"""The paper's matrices: power, rates, published eigenvalues, numbers against symbols."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.laws.machines import random_loop, random_tree
from tests.laws.parts import loaded
from vbg.assemble import System
from vbg.assemble.matrices.matrices import PaperMatrices, matrices_of, symbolic_matrices
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.simulate.state_at import state_at

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECEIVERS, GIVERS = ("1", "2", "L", "E", "C"), ("1", "2", "L", "E", "u2")


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
    model = vbg.read(EXAMPLES / "dc-motor-start.toml")
    system = vbg.assemble(model.edited(("simulate", "causality"), "derivative"))
    with pytest.raises(UsageError, match="integral causality"):
        matrices_of(system)


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
