"""The overall transfer equation is a slow twin of the Riccati transform."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tmm_bridge.recursion import assert_riccati_agrees
from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.rows import W_FORCE
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.overall.deduction import deduce, transfer_text
from vbg.tmm_bridge.overall.transfer import overall_chain

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = (
    "pendulum",
    "double-pendulum",
    "triple-pendulum",
    "shaft-arm-slider",
    "slider-crank",
    "spatial-four-bar",
    "stewart-platform",
    "two-link-robot",
    "gear-pair",
    "bushing-mount",
)


@pytest.mark.parametrize("name", NAMES)
def test_overall_equation_gives_the_riccati_solution(name):
    mechanism = lay_out(vbg.read(EXAMPLES / f"{name}.toml"))
    y = start(mechanism).y
    assert_riccati_agrees(mechanism, y, 1e-10)


@pytest.mark.parametrize("name", ["pendulum", "double-pendulum"])
def test_plain_product_of_a_short_chain(name):
    mechanism = lay_out(vbg.read(EXAMPLES / f"{name}.toml"))
    y = start(mechanism).y
    plant = Plant(mechanism)
    plant.evaluate(0.0, y)
    chain = overall_chain(mechanism, y, 0.0)
    assert chain.order == 6
    np.testing.assert_allclose(chain.acceleration, plant.scratch.acceleration, rtol=1e-12)
    np.testing.assert_allclose(
        chain.force, plant.scratch.work[:, W_FORCE : W_FORCE + 3], atol=1e-12
    )


def test_plain_product_refuses_what_it_cannot_do():
    mechanism = lay_out(vbg.read(EXAMPLES / "slider-crank.toml"))
    with pytest.raises(UsageError, match="Riccati"):
        overall_chain(mechanism, start(mechanism).y, 0.0)


def test_deduction_of_a_chain():
    found = deduce(vbg.read(EXAMPLES / "double-pendulum.toml"))
    assert found.topology == "chain"
    assert found.equations == (
        "-z[ground at hinge] + U[hinge] U[upper] U[elbow] U[lower] z[lower] = 0",
    )


def test_deduction_of_a_loop_names_the_couple_of_ends():
    found = deduce(vbg.read(EXAMPLES / "slider-crank.toml"))
    assert "z[C']  =  z[C\"]" in found.equations
    assert {end.name for end in found.ends} == {"z[C']", 'z[C"]'}


def test_deduction_of_a_tree_has_geometrical_equations():
    body = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    hinge = {"kind": "revolute", "axis": [0, 1, 0]}
    model = vbg.Model(
        name="fork",
        bodies={"a": body, "b": body, "c": body},
        joints={
            "A": {**hinge, "between": ["ground", "a"]},
            "B": {**hinge, "between": ["a", "b"]},
            "C": {**hinge, "between": ["a", "c"]},
        },
    )
    found = deduce(model)
    assert found.topology == "tree"
    assert found.equations == (
        "-z[ground at A] + U[A] U[a] U[B] U[b] z[b] + U[A] U[a] U[C] U[c] z[c] = 0",
        "H[a,1] (U[B] U[b] z[b]) - H[a,2] (U[C] U[c] z[c]) = 0",
    )
    assert "free end: m = 0, q = 0" in transfer_text(model)


def test_model_without_bodies_has_no_transfer_equation():
    assert "no bodies" in transfer_text(vbg.read(EXAMPLES / "rlc-ladder.toml"))


@pytest.mark.parametrize("name", ["bush.toml", "tree.toml"])
def test_overall_matrix_in_numbers(name):
    """Square, regular, and its solution has the accelerations of the recursion."""
    from vbg.tmm_bridge.overall.transfer import overall_equation

    mechanism = lay_out(vbg.read(Path(__file__).parents[1] / "reproduced" / name))
    y = start(mechanism).y
    found = overall_equation(mechanism, y, 0.0)
    assert found.matrix.shape == (len(found.rows), len(found.columns))
    assert len(set(found.columns)) == len(found.columns)
    solved = np.linalg.lstsq(found.matrix, found.right, rcond=1e-13)[0]
    plant = Plant(mechanism)
    plant.evaluate(0.0, y)
    hinges = [k for k, column in enumerate(found.columns) if " q''" in column]
    ours = plant.scratch.acceleration
    np.testing.assert_allclose(solved[hinges], ours, atol=1e-9 * (1.0 + np.abs(ours).max()))
