"""Constraint rows of both kinds in one machine: T_LE singular but not zero (mathematics.md,
section 4, the case that vector-bond-graph.txt leaves open), against closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest

import vbg
from vbg.assemble import System
from vbg.assemble.matrices.matrices import matrices_of
from vbg.cli.main import main
from vbg.io import toml

RUN = {"t_end": 2.0, "output_step": 0.1, "rtol": 1e-11, "atol": 1e-13}


def vertex(kind: str, **values: object) -> dict:
    return {"kind": kind, **values}


def inductors(*inertias: float, law: str = "e/4", **initial: float) -> System:
    """Inductors behind one conductance, which fixes the current: all of them depend on it."""
    stores = {
        f"I{i}": vertex("I", value=L, initial=[initial.get(f"I{i}", 0.0)])
        for i, L in enumerate(inertias)
    }
    graph = {"U": vertex("Se", effort="3*cos(2*t)"), "a": vertex("1"), "R": vertex("R", flow=law)}
    bonds = ["U -> a", "a -> R", *(f"a -> {name}" for name in stores)]
    return vbg.assemble(vbg.Model(bondgraph=graph | stores, bonds=bonds, simulate=RUN))


def current(inertia: float, time: np.ndarray, start: float = 0.0) -> np.ndarray:
    """L i' + R i = 3 cos 2t."""
    R, w = 4.0, 2.0
    size = 3.0 / (R**2 + (w * inertia) ** 2)
    forced = size * (R * np.cos(w * time) + w * inertia * np.sin(w * time))
    return forced + (start - size * R) * np.exp(-R / inertia * time)


def test_one_inductor_is_case_14():
    system = inductors(2.0)
    assert system.causal.dependent_stores == ("I0",)
    assert matrices_of(system, 0.3).case == "14" and matrices_of(system, 0.3).misfit < 1e-14
    assert not system.equations.constraints
    solution = vbg.simulate(system)
    assert solution["I0.momentum"] / 2.0 == pytest.approx(current(2.0, solution.time), abs=1e-9)


@pytest.mark.parametrize("inertias", [(2.0, 0.5), (0.3, 0.5, 1.7)])
def test_several_inductors_split_by_rank(inertias):
    """One combination of rows gives the sum of the unknowns as in case (14), the others
    hold the currents equal and are differentiated as in case (15)."""
    system = inductors(*inertias)
    found = matrices_of(system, 0.3)
    T_LE = found.blocks["T_LE"].values
    assert found.case == "mixed" and np.linalg.matrix_rank(T_LE) == 1
    assert found.misfit < 1e-14
    assert len(system.equations.direct) == len(inertias)
    assert len(system.constraint_names) == len(inertias) - 1
    solution = vbg.simulate(system)
    expected = current(sum(inertias), solution.time)
    for i, L in enumerate(inertias):
        assert solution[f"I{i}.momentum"] / L == pytest.approx(expected, abs=1e-9)
    assert solution.audit.energy_residual < 1e-9
    assert solution.audit.velocity_residual < 1e-11


@pytest.mark.parametrize("inertias", [(2.0,), (2.0, 0.5), (0.3, 0.5, 1.7)])
def test_matrices_by_blocks_are_followed_by_what_numbers_split(inertias, tmp_path, capsys):
    """No row of T_LE vanishes: Q1^T T_LE Q1 is regular, Q2^T T_LE nothing, H of the rows Q2^T."""
    path = tmp_path / "inductors.toml"
    toml.write(inductors(*inertias).model, path)
    command = ["show", "matrices", str(path), "--symbolic", "--blocks"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["case"] == "14 or mixed"
    found = {n: np.array(m["values"]) for n, m in told["at_start"]["blocks"].items()}
    if len(inertias) == 1:
        assert told["at_start"]["case"] == "14" and not found and "case (14)" in text
        return
    Q1, Q2, T_LE = found["Q1"], found["Q2"], found["T_LE"]
    assert np.linalg.matrix_rank(Q1.T @ T_LE @ Q1) == Q1.shape[1] == 1
    assert np.abs(Q2.T @ T_LE).max() < 1e-12 * np.abs(T_LE).max()
    assert found["H4"].shape == (len(inertias) - 1, len(inertias)) and found["H4"].any()
    assert "\nQ2 (" in text and "\nH4 (" in text and "mixed case" in text


@pytest.mark.parametrize("law", ["e/4 + e**3/50", "e*(0.5 + 0.2*sin(e))"])
def test_a_nonlinear_conductance_splits_alike(law):
    """T_LE depends on the state; its directions do not: Newton for one unknown."""
    system = inductors(2.0, 0.5, law=law)
    assert len(system.equations.direct) == 2 and len(system.constraint_names) == 1
    whole = vbg.simulate(inductors(2.5, law=law))["I0.momentum"] / 2.5
    solution = vbg.simulate(system)
    assert solution["I0.momentum"] / 2.0 == pytest.approx(whole, abs=1e-9)
    assert solution["I1.momentum"] / 0.5 == pytest.approx(whole, abs=1e-9)


def test_a_start_that_breaks_the_rows_of_case_15_is_projected():
    """Momentum along the free combination is kept: (L1 + L2) i = p1 + p2."""
    system = inductors(2.0, 0.5, I0=1.0)
    solution = vbg.simulate(system)
    expected = current(2.5, solution.time, 1.0 / 2.5)
    assert solution["I1.momentum"] / 0.5 == pytest.approx(expected, abs=1e-9)


def test_a_vector_store_behind_a_singular_resistance():
    """One capacitor of two components across R = [[2, 2], [2, 2]]: (1/k1 + 1/k2) e' + e/2
    is the sum of the currents, both charges have the effort e."""
    K = np.diag([3.0, 5.0])
    model = vbg.Model(
        bondgraph={
            "J": vertex("Sf", flow=["sin(3*t)", "0.5"]),
            "z": vertex("0", size=2),
            "R": vertex("R", size=2, matrix=[[2, 2], [2, 2]]),
            "C": vertex("C", size=2, matrix=np.linalg.inv(K).tolist()),
        },
        bonds=["J -> z", "z -> R", "z -> C"],
        simulate=RUN,
    )
    system = vbg.assemble(model)
    found = matrices_of(system, 0.3)
    assert found.case == "mixed" and found.misfit < 1e-14
    solution = vbg.simulate(system)
    a, b, w = 1 / 3.0 + 1 / 5.0, 0.5, 3.0
    size = 1.0 / (b**2 + (a * w) ** 2)
    t = solution.time
    forced = size * (b * np.sin(w * t) - a * w * np.cos(w * t)) + 0.5 / b
    effort = forced - (0.5 / b - size * a * w) * np.exp(-b / a * t)
    assert solution["C.displacement"] @ K == pytest.approx(np.outer(effort, [1, 1]), abs=1e-9)
