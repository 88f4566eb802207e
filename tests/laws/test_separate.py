"""Blocks that share nothing, against the whole matrix at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import vbg
from vbg.assemble.separate import blocks, null_part, rank

TOLERANCE = 1e-9


def scattered(seed: int) -> NDArray[np.float64]:
    """Dependent blocks, a row and two columns of zeros, in mixed order."""
    random = np.random.default_rng(seed)
    matrix = np.zeros((14, 17))
    at_row = at_column = 0
    for rows, columns, lasting in ((4, 6, 2), (5, 3, 3), (3, 5, 1), (1, 1, 1)):
        block = random.standard_normal((rows, lasting)) @ random.standard_normal((lasting, columns))
        matrix[at_row : at_row + rows, at_column : at_column + columns] = block
        at_row, at_column = at_row + rows, at_column + columns
    return matrix[random.permutation(14)][:, random.permutation(17)]


@pytest.mark.parametrize("seed", range(4))
def test_blocks_cover_the_matrix_once(seed):
    matrix = scattered(seed)
    found = blocks(matrix)
    assert sorted(np.concatenate([rows for rows, _ in found])) == list(range(14))
    assert sorted(np.concatenate([columns for _, columns in found])) == list(range(17))
    outside = matrix.copy()
    for rows, columns in found:
        outside[np.ix_(rows, columns)] = 0.0
    assert not outside.any()
    assert len(found) == 4 + 1 + 2


@pytest.mark.parametrize("seed", range(4))
def test_rank_and_null_space_are_those_of_the_whole(seed):
    matrix = scattered(seed)
    v = np.random.default_rng(seed + 10).standard_normal(17)
    assert rank(matrix, TOLERANCE) == np.linalg.matrix_rank(matrix) == 7
    whole = v - np.linalg.pinv(matrix, rcond=TOLERANCE) @ (matrix @ v)
    np.testing.assert_allclose(null_part(matrix, v, TOLERANCE), whole, atol=1e-12)


def four_bars(n: int) -> vbg.Model:
    """n planar four-bars beside one another, each with three redundant directions."""
    bodies: dict = {}
    joints: dict = {}
    pin = {"kind": "revolute", "axis": [0, 1, 0]}
    wall = {"body": "ground", "at": [2.0, 0, 0]}
    for i in range(n):
        for name, half in (("a", 0.5), ("b", 1.0), ("c", 0.5)):
            bodies[f"{name}{i}"] = {
                "mass": 1.0,
                "inertia": {"xx": 0.01, "yy": 0.1, "zz": 0.1},
                "points": {"P": [-half, 0, 0], "Q": [half, 0, 0]},
            }
        joints |= {
            f"A{i}": {**pin, "between": ["ground", f"a{i}.P"], "initial": {"angle": 1.0}},
            f"B{i}": {**pin, "between": [f"a{i}.Q", f"b{i}.P"], "initial": {"angle": -1.0}},
            f"C{i}": {**pin, "between": [f"b{i}.Q", f"c{i}.Q"], "initial": {"angle": 1.2}},
            f"D{i}": {**pin, "between": [wall, f"c{i}.P"]},
        }
    return vbg.Model(name="four-bars", bodies=bodies, joints=joints)


def test_machines_side_by_side_are_examined_as_each_alone():
    one, three = (vbg.assemble(four_bars(n)).start for n in (1, 3))
    assert (one.dependent, one.freedoms) == (3, 1)
    assert (three.dependent, three.freedoms) == (9, 3)
    assert len(three.redundant) == 3 * len(one.redundant)
