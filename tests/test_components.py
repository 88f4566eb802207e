"""Names of components: one spelling out, both in, and no scalar taken for a component."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vbg
from vbg.io.runs import csv, hdf5, json
from vbg.plumbing.components import component_names, gathered, place_of, spellings, split_component
from vbg.solution import Solution, components


@pytest.mark.parametrize("count", range(2, 8))
def test_names_lead_back_to_their_places(count):
    names = component_names("part.quantity", count)
    assert len(set(names)) == count
    for k, name in enumerate(names):
        base, part = split_component(name)
        assert (base, place_of(part, count)) == ("part.quantity", k)
        assert place_of(str(k), count) == k
    assert place_of(str(count), count) == place_of("q", count) == place_of("", count) == -1


def test_vectors_are_gathered_whole_and_scalars_that_end_in_a_letter_stay():
    parts = {"a.x": 1, "r": 4, "b": 3, "c.z": 1, "e": 6, "s": 1}
    names = [n for base, count in parts.items() for n in component_names(base, count)]
    found = {base: len(places) for base, places in gathered(names)}
    assert found == parts
    assert [base for base, _ in gathered(["v.y", "v.x", "v.z", "w[1]"])] == [
        "v.y",
        "v.x",
        "v.z",
        "w[1]",
    ]
    assert spellings(["b.x", "b.y", "b.z"])["b.y"] == ("b.y", "b", "b[1]")


@pytest.mark.parametrize(
    ("ending", "write"), [(".csv", csv.write), (".h5", hdf5.write), (".json", json.write)]
)
def test_tables_come_back_as_they_were(tmp_path, ending, write):
    rng = np.random.default_rng(4)
    widths = {"A.force": 3, "b.rotation": 4, "field.effort": 6, "pair": 2}
    signals = {name: rng.normal(size=(5, width)) for name, width in widths.items()}
    signals |= {"sub.x": rng.normal(size=5), "energy.kinetic": rng.normal(size=5)}
    written = Solution(np.linspace(0.0, 1.0, 5), signals, units={"A.force": "N"})
    write(written, tmp_path / f"run{ending}")
    read = vbg.load(tmp_path / f"run{ending}")
    assert list(read.signals) == list(signals) and read.unit("A.force.y") == "N"
    for name, values in signals.items():
        assert_array_equal(read[name], values)
    assert_array_equal(read["A.force[2]"], read["A.force.z"])
    assert_array_equal(read["b.rotation[0]"], read["b.rotation.w"])
    assert [n for n, _ in components(read)][:4] == [
        "A.force.x",
        "A.force.y",
        "A.force.z",
        "b.rotation.w",
    ]


def test_a_table_by_numbers_is_read_too(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("time [s],A.force[0] [N],A.force[1] [N],A.force[2] [N],p [bar]\n0,1,2,3,4\n")
    read = vbg.load(path)
    assert_array_equal(read["A.force"], [[1.0, 2.0, 3.0]])
    assert read["p"][0] == pytest.approx(4e5) and read.unit("A.force") == "N"
