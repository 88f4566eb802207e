"""Model Exchange in independent coordinates, integrated by FMPy's CVODE."""

import numpy as np
import pytest

import vbg
from benchmarks.machines import chain, windows
from tests.tail import tail
from vbg.export.fmu import write_fmu
from vbg.export.fmu.chart import chart_of
from vbg.io import toml
from vbg.solution import components

fmpy = pytest.importorskip("fmpy")

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.6, 0.6, 0.7  # shortest + longest > others: none turns round
BODY = """
[bodies.{name}]
shape = {{ cylinder = {{ radius = 0.01, length = {length!r}, axis = {axis!r} }}, density = 7850 }}
position = {middle!r}
points = {{ first = {back!r}, last = {half!r} }}
"""
JOINTS = """
[joints.A]
kind = "revolute"
between = ["ground", "crank.first"]
axis = [0, 1, 0]
initial = { speed = 4.0 }
[joints.B]
kind = "revolute"
between = ["crank.last", "coupler.first"]
axis = [0, 1, 0]
[joints.C]
kind = "spherical"
between = ["coupler.last", "rocker.first"]
[joints.D]
kind = "cylindrical"
between = ["rocker.last", { body = "ground", at = [1, 0, 0] }]
axis = [0, 1, 0]
[simulate]
t_end = 1.5
output_step = 0.01
"""


def triple_rocker():
    """A linkage in which every angle reverses somewhere."""
    B = CRANK * np.array([np.cos(1.0), 0.0, np.sin(1.0)])
    D = np.array([GROUND, 0.0, 0.0])
    way = D - B
    far = np.linalg.norm(way)
    along = (COUPLER**2 - ROCKER**2 + far**2) / (2 * far)
    across = np.array([-way[2], 0.0, way[0]]) / far
    C = B + along * way / far + np.sqrt(COUPLER**2 - along**2) * across
    text = 'name = "triple rocker"\n'
    ends = {"crank": (0.0 * B, B), "coupler": (B, C), "rocker": (C, D)}
    for name, (first, last) in ends.items():
        length = float(np.linalg.norm(last - first))
        half = (last - first) / 2
        values = {"axis": (last - first) / length, "middle": (first + last) / 2}
        listed = {k: v.tolist() for k, v in {**values, "half": half, "back": -half}.items()}
        text += BODY.format(name=name, length=length, **listed)
    return toml.parse(text + JOINTS, "rocker.toml")


def misses(path, solution, tolerance):
    """The largest difference of each signal, of its own peak; signals below 1e-9 of the peak of
    all are rounding."""
    s = solution
    columns = {n: v for n, v in components(s) if not n.startswith("energy.")}
    found = fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=float(s.time[-1]),
        output_interval=float(s.time[1]),
        relative_tolerance=tolerance,
        output=[n for n in columns if n in described(path)],
        record_events=False,
    )
    peak = max(np.abs(v).max() for v in columns.values())
    return {
        n: np.abs(found[n] - columns[n]).max() / np.abs(columns[n]).max()
        for n in found.dtype.names
        if n in columns and np.abs(columns[n]).max() > 1e-9 * peak
    }


def described(path):
    return {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}


@pytest.mark.parametrize(
    ("name", "states"), tail([("slider-crank", 4), ("bennett", 4), ("coupled-pendulums", 6)], 1)
)
def test_states_are_as_many_as_freedoms_and_each_signal_is_that_of_the_run(tmp_path, name, states):
    """Two for each freedom, and two energies; also where rows are redundant."""
    start = vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))
    path = tmp_path / "machine.fmu"
    write_fmu(start, path)
    assert fmpy.read_model_description(str(path)).numberOfContinuousStates == states
    told = misses(path, vbg.simulate(start, t_end=0.5, output_step=0.005, rtol=1e-11), 1e-11)
    assert len(told) > 30 and max(told.values()) < 1e-6, max(told, key=told.get)


@pytest.mark.parametrize(
    ("model", "freedoms"), [(chain(24), 24), (windows(11, redundant=False), 1), (chain(260), 0)]
)
def test_large_machines_have_coordinates_or_keep_their_states(model, freedoms):
    """Sparse coordinates of large trees, loops; none where there are too many unknowns."""
    start = vbg.start(vbg.assemble(model))
    works = frozenset(
        i
        for s in start.system.slices
        if s.state.kind == "quadrature"
        for i in range(s.first, s.last)
    )
    chart = chart_of(start, works)
    assert (chart.postures, chart.freedoms) == (freedoms, 2 * freedoms)


@pytest.mark.slow
@pytest.mark.parametrize("version", [3, 2])
def test_others_are_chosen_in_an_event_where_a_coordinate_reverses(tmp_path, version):
    model = triple_rocker()
    start, path = vbg.start(model), tmp_path / "machine.fmu"
    write_fmu(start, path, version=version)
    solution = vbg.simulate(start, rtol=1e-11)
    chosen = set()

    def look(_, recorder):
        read = recorder.fmu.getFloat64 if version == 3 else recorder.fmu.getReal
        names = described(path)
        first = read([names["coordinate.1"].valueReference])[0] - 1.0
        angles = [n for n in names if n.startswith("state.") and n.endswith("angle")]
        values = read([names[n].valueReference for n in angles])
        chosen.update(n for n, v in zip(angles, values) if abs(v - first) < 1e-12)
        return True

    fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=1.5,
        relative_tolerance=1e-8,
        step_finished=look,
    )
    assert len(chosen) > 1
    told = misses(path, solution, 1e-11)
    assert len(told) > 30 and max(told.values()) < 1e-6, max(told, key=told.get)
