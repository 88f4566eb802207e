"""Results at home: loaded again, as data frames and datasets, and shown in notebooks."""

import numpy as np
import pytest

import vbg
from vbg.io.runs import csv, hdf5, json
from vbg.solution import Audit, MadeBy, Solution, Status

SOLUTION = Solution(
    np.array([0.0, 0.1, 0.30000000000000004]),
    {
        "rod.position": np.random.default_rng(1).normal(size=(3, 3)),
        "rod.rotation": np.random.default_rng(2).normal(size=(3, 4)),
        "hinge.angle": np.array([1 / 3, -2e-300, 7e88]),
        "tank.level": np.random.default_rng(3).normal(size=(3, 2)),
    },
    Audit(1e-9, 1e-12, 1e-11),
    MadeBy(solver="vbg", model="<swing> & co"),
    Status("finished", "The simulation reached its end."),
    {"rod.position": "m", "rod.rotation": "1", "hinge.angle": "rad", "tank.level": "m"},
)


@pytest.mark.parametrize("form", [csv, hdf5, json])
def test_a_loaded_result_is_the_run_bit_by_bit(form, tmp_path):
    path = tmp_path / f"run.{'h5' if form is hdf5 else form.__name__.rpartition('.')[2]}"
    form.write(SOLUTION, path)
    loaded = vbg.load(path)
    assert np.array_equal(loaded.time, SOLUTION.time)
    assert loaded.signals.keys() == SOLUTION.signals.keys()
    for name, values in SOLUTION.signals.items():
        assert np.array_equal(loaded[name], values), name
        assert loaded.unit(name) == SOLUTION.unit(name)


def test_a_data_frame_has_a_column_of_every_component():
    frame = SOLUTION.to_pandas()
    assert frame.index.name == "time" and list(frame.index) == list(SOLUTION.time)
    assert frame.shape == (3, 10)
    assert np.array_equal(frame["rod.position.y"], SOLUTION["rod.position.y"])
    assert frame.attrs["units"]["hinge.angle"] == "rad"


def test_a_dataset_names_the_components():
    data = SOLUTION.to_xarray()
    assert np.array_equal(data["rod.position"].sel(xyz="z"), SOLUTION["rod.position.z"])
    assert np.array_equal(data["rod.rotation"].sel(wxyz="w"), SOLUTION["rod.rotation.w"])
    assert data["tank.level"].dims == ("time", "component_2")
    assert data["hinge.angle"].attrs["units"] == "rad"


def test_a_notebook_shows_every_signal_escaped():
    shown = SOLUTION._repr_html_()
    assert shown.count("<tr>") == 11 and shown.count("<svg") == 10
    assert "&lt;swing&gt; &amp; co" in shown and "<swing>" not in shown
    assert repr(SOLUTION) == "<Solution <swing> & co: finished, 4 signals, 3 rows, 0.3 s>"


def test_a_notebook_shows_models_systems_and_verdicts_escaped():
    from vbg.validate.comparison.values import Channel, Verdict

    mass = {"mass": 1.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    model = vbg.Model(name="<a> & b", bodies={"rod": mass})
    shown = model._repr_html_()
    assert shown.count("<tr>") == 2 and "<td>bodies</td><td>rod</td>" in shown
    assert "&lt;a&gt; &amp; b" in shown and "<a>" not in shown
    system = vbg.assemble(model)
    assert "<td>signal</td><td>rod.position</td><td>m</td>" in system._repr_html_()
    sizes = ((1.0, 1e-9), (2.0, 1e-3))
    channels = tuple(
        Channel(f"c{k}", "N", peak, error, 0.1, 1e-9, 1e-6, 0.0, "integrated", "PASS")
        for k, (peak, error) in enumerate(sizes)
    )
    shown = Verdict("PASS", "All <2> agree.", channels)._repr_html_()
    assert "All &lt;2&gt; agree." in shown
    assert shown.index("c1") < shown.index("c0")  # the worst first


def test_a_line_is_interrupted_where_there_is_no_value():
    values = np.array([0.0, 1.0, np.nan, 2.0, 3.0])
    holed = Solution(np.arange(5.0), {"x": values})
    shown = holed._repr_html_()
    assert shown.count("M") == 2 and "nan" not in shown.lower().replace("<td>nan</td>", "")
