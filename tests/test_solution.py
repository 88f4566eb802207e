"""The Solution value: names, components, and that nothing can change it."""

from __future__ import annotations

import numpy as np
import pytest

from vbg.errors import UsageError
from vbg.solution import Solution, components

TIME = np.array([0.0, 0.1, 0.25])


@pytest.fixture
def solution():
    rng = np.random.default_rng(5)
    return Solution(
        TIME,
        {
            "A.force": rng.normal(size=(3, 3)),
            "rod.rotation": rng.normal(size=(3, 4)),
            "A.angle": rng.normal(size=3),
        },
        units={"A.force": "N", "A.angle": "rad"},
    )


def test_components_by_index_and_by_letter_are_columns_of_the_signal(solution):
    for index, letter in enumerate("xyz"):
        np.testing.assert_array_equal(solution[f"A.force.{letter}"], solution["A.force"][:, index])
        np.testing.assert_array_equal(solution[f"A.force[{index}]"], solution["A.force"][:, index])
    np.testing.assert_array_equal(solution["rod.rotation.w"], solution["rod.rotation"][:, 0])
    assert solution.unit("A.force.z") == solution.unit("A.force[1]") == "N"


def test_components_lists_every_column_once(solution):
    columns = dict(components(solution))
    assert len(columns) == 3 + 4 + 1
    for name, values in columns.items():
        np.testing.assert_array_equal(solution[name], values)


@pytest.mark.parametrize(
    "name", ["A.forse", "A.force[3]", "A.force.w", "A.angle[0]", "A.angle.x", ""]
)
def test_unknown_names_are_refused(solution, name):
    assert name not in solution
    with pytest.raises(UsageError, match="no signal"):
        solution[name]


def test_misspelling_names_the_nearest(solution):
    with pytest.raises(UsageError, match=r"A\.force"):
        solution["A.forse"]


def test_arrays_cannot_be_written(solution):
    with pytest.raises(ValueError, match="read-only"):
        solution["A.force"][0, 0] = 1.0
    with pytest.raises(TypeError):
        solution.signals["B.force"] = TIME


def test_shape_of_a_signal_must_fit_time():
    with pytest.raises(UsageError, match=r"'x'.*\(3,\)"):
        Solution(TIME, {"x": np.zeros(4)})
