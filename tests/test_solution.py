"""The Solution value: names, components, and that nothing can change it."""

from __future__ import annotations

import numpy as np
import pytest

from vbg.errors import UsageError
from vbg.io.runs.results import load
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


def test_a_table_has_units_and_comes_back_bit_by_bit(solution, tmp_path):
    path = tmp_path / "a.csv"
    solution.to_csv(path)
    assert (
        path.read_text().partition(",rod")[0]
        == "time [s],A.force.x [N],A.force.y [N],A.force.z [N]"
    )
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]  # the table alone
    back = load(path)
    assert back.units == solution.units
    for name, values in solution.signals.items():
        np.testing.assert_array_equal(back[name], values)
    solution.to_csv(path, "kN", "deg")
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    np.testing.assert_allclose(table[:, 1:4], solution["A.force"] / 1000.0, rtol=1e-15)
    np.testing.assert_allclose(table[:, -1], np.degrees(solution["A.angle"]), rtol=1e-15)
    with pytest.raises(UsageError):
        solution.to_csv(path, "furlong per N")
