"""FMUs of machines as an importer meets them: FMPy's checks, both kinds, both versions."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vbg
from tests.export.comparing import family, family_peaks
from tests.export.conftest import DRIVEN, outputs
from tests.tail import tail
from vbg.export.fmu import write_fmu
from vbg.io import toml
from vbg.solution import components

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Model, FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

STOPPED = """
name = "rod"
[bodies.rod]
shape = { cylinder = { radius = "1 cm", length = 0.5, axis = [1, 0, 0] }, density = 7850 }
points = { A = [-0.25, 0, 0], B = [0.25, 0, 0] }
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
initial = { angle = "30 deg" }
[forces.buffer]
kind = "stop"
between = [{ body = "ground", at = [0.25, 0, -0.5] }, "rod.B"]
gap = "0.1"
k = 1e4
c = 5
[signals.held]
kind = "sample_and_hold"
input = "hinge.angle"
period = 0.07
[simulate]
t_end = 0.6
output_step = 0.01
"""


def start_of(name):
    return vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))


@pytest.fixture(scope="module")
def closed_loop(tmp_path_factory):
    """The slider-crank for FMI 3."""
    path = str(tmp_path_factory.mktemp("closed_loop") / "machine.fmu")
    write_fmu(start_of("slider-crank"), path)
    return path


@pytest.mark.parametrize(
    ("name", "version"),
    tail([("rlc-ladder", 2), ("slider-crank", 3), ("slider-crank", 2), ("excavator-arm", 3)], 1),
)
def test_an_importer_runs_both_kinds(tmp_path, closed_loop, name, version):
    """Closed loops, cylinders with stops, a step of a source in the middle."""
    start = start_of(name)
    model, path = start.system.model, str(tmp_path / "machine.fmu")
    if (name, version) == ("slider-crank", 3):
        path = closed_loop
    else:
        write_fmu(start, path, version=version)
    assert validate_fmu(path) == []
    solution = vbg.simulate(start)
    columns = dict(components(solution))
    peaks = family_peaks(columns)
    for kind, tighter, close in (("CoSimulation", 1.0, 1e-6), ("ModelExchange", 1e-2, 1e-5)):
        found = fmpy.simulate_fmu(
            path,
            fmi_type=kind,
            stop_time=model.simulate.t_end,
            output_interval=model.simulate.output_step,
            step_size=model.simulate.output_step,
            relative_tolerance=tighter * model.simulate.rtol,
            output=outputs(path),
        )
        near = 1e-9 * model.simulate.t_end
        rows = np.searchsorted(found["time"], solution.time + near, side="right") - 1
        for signal in outputs(path):
            miss = np.abs(found[signal][rows] - columns[signal]).max()
            assert miss < close * peaks[family(signal)], (kind, signal)


def opened(kind, path, **settings):
    """An instance in FMPy."""
    described = fmpy.read_model_description(path)
    which = described.modelExchange if kind is FMU3Model else described.coSimulation
    instance = kind(
        guid=described.guid,
        unzipDirectory=fmpy.extract(path),
        modelIdentifier=which.modelIdentifier,
        instanceName="one",
    )
    instance.instantiate(**settings)
    return instance, {v.name: v.valueReference for v in described.modelVariables}


def begun(kind, path):
    instance, references = opened(kind, path)
    if kind is FMU2Slave:
        instance.setupExperiment(startTime=0.0)
    instance.enterInitializationMode()
    instance.exitInitializationMode()
    return instance, references


@pytest.mark.slow
def test_an_input_moves_the_machine(driven):
    """Against the same machine whose torque is a function of time in the file."""
    t = np.arange(0.0, 1.0, 0.01)
    signals = np.array(
        list(zip(t, np.where(t < 0.495, 2.0, -3.0))), dtype=[("time", float), ("command", float)]
    )
    found = fmpy.simulate_fmu(
        str(driven / "arm3.fmu"),
        fmi_type="CoSimulation",
        input=signals,
        stop_time=1.0,
        output_interval=0.01,
        output=["A.angle", "motor.torque"],
    )
    edges = np.flatnonzero(np.diff(found["motor.torque"]))
    assert len(edges) == 1
    edge = found["time"][edges[0]]
    text = DRIVEN.replace(
        '"input"\nstart = 2.0\nunit = "N*m"',
        f'"expression"\nexpression = "-0.5 - 2.5*sign(t - {edge:.17g})"',
    )
    (driven / "step.toml").write_text(text)
    solution = vbg.simulate(vbg.read(driven / "step.toml"), t_end=1.0, output_step=0.01)
    assert found["A.angle"] == pytest.approx(solution.signals["A.angle"], abs=1e-7)


def test_inputs_follow_their_derivatives_through_a_step(driven):
    """2 + 3 t - 4 t^2 in two steps, against the same function of time in the file; behind them
    what is not given again stands still."""
    fmu, names = begun(FMU2Slave, str(driven / "arm2.fmu"))
    command, told = [names["command"]], [names["A.angle"], names["A.force.x"], names["command"]]
    for t in (0.0, 0.25):
        fmu.setReal(command, [2.0 + 3.0 * t - 4.0 * t * t])
        fmu.setRealInputDerivatives(command * 2, [1, 2], [3.0 - 8.0 * t, -8.0])
        fmu.doStep(t, 0.25)
    found = fmu.getReal(told)
    with pytest.raises(Exception, match="fmi2"):
        fmu.setRealInputDerivatives([names["A.angle"]], [1], [1.0])
    with pytest.raises(Exception, match="fmi2"):
        fmu.setRealInputDerivatives(command, [3], [1.0])
    text = DRIVEN.replace('"input"\nstart = 2.0\nunit = "N*m"', '"expression"\nexpression = "LAW"')
    (driven / "law.toml").write_text(text.replace("LAW", "2 + 3*t - 4*t^2"))
    whole = vbg.simulate(vbg.read(driven / "law.toml"), t_end=0.5, output_step=0.25)
    assert found[0] == pytest.approx(whole["A.angle"][-1], abs=1e-8)
    assert found[1] == pytest.approx(whole["A.force.x"][-1], abs=1e-6)
    assert found[2] == pytest.approx(2.5, abs=1e-12)
    fmu.doStep(0.5, 0.25)
    assert fmu.getReal(command) == pytest.approx([2.5], abs=1e-12)


@pytest.mark.parametrize(("kind", "version"), [(FMU3Slave, 3), (FMU2Slave, 2)])
def test_a_kept_state_goes_on_bit_by_bit(driven, kind, version):
    fmu, names = begun(kind, str(driven / f"arm{version}.fmu"))
    state = [names["A.angle"], names["A.speed"], names["A.force.x"]]
    read = fmu.getFloat64 if version == 3 else fmu.getReal
    put = fmu.setFloat64 if version == 3 else fmu.setReal

    def go_on():
        values = []
        for i in range(20):
            put([names["command"]], [1.0 + 0.1 * i])
            fmu.doStep(0.3 + 0.01 * i, 0.01)
            values.append(list(read(state)))
        return values

    for i in range(30):
        fmu.doStep(0.01 * i, 0.01)
    get = fmu.getFMUState if version == 3 else fmu.getFMUstate
    set_ = fmu.setFMUState if version == 3 else fmu.setFMUstate
    serialise = fmu.serializeFMUState if version == 3 else fmu.serializeFMUstate
    deserialise = fmu.deserializeFMUState if version == 3 else fmu.deSerializeFMUstate
    kept = get()
    octets = serialise(kept)
    first = go_on()
    set_(kept)
    assert go_on() == first
    set_(deserialise(octets))
    assert go_on() == first
    fmu.reset()
    if version == 2:
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    assert read([names["A.angle"]]) == [0.0]
    fmu.terminate()
    fmu.freeInstance()


def test_steps_end_in_front_of_events_and_go_on_behind_them(tmp_path):
    """A rod that bounces on a stop and a sampled angle, with event mode and early return: the
    events of `vbg run`, the value before and behind, and the same run as without."""
    model = toml.parse(STOPPED)
    solution = vbg.simulate(model)
    path = str(tmp_path / "rod.fmu")
    write_fmu(vbg.start(model), path)
    hits, kept, values = [], None, []
    fmu, names = opened(FMU3Slave, path, eventModeUsed=True, earlyReturnAllowed=True)
    told = [names["hinge.angle"], names["held"]]
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    assert fmu.updateDiscreteStates()[:2] == (False, False)
    fmu.enterStepMode()
    for end in np.arange(1, 13) * 0.05:
        t = end - 0.05
        while t < end:
            event, _, early, t = fmu.doStep(t, end - t)
            assert early == (t < end) and (event or not early)
            if event:
                if kept is None:
                    kept = fmu.getFMUState(), t, end
                before = fmu.getFloat64(told)
                fmu.enterEventMode()
                fmu.updateDiscreteStates()
                fmu.enterStepMode()
                angle, held = fmu.getFloat64(told)
                assert angle == pytest.approx(before[0], abs=1e-9)
                hits.append((t, held != before[1], held == pytest.approx(angle, abs=1e-9)))
        values.append(fmu.getFloat64(told))
    row = np.searchsorted(solution.time, np.arange(1, 13) * 0.05 - 1e-9)
    assert np.array(values)[:, 0] == pytest.approx(solution["hinge.angle"][row], abs=1e-6)
    samples = [t for t, new, now in hits if new and now]
    assert samples == pytest.approx(np.arange(1, 9) * 0.07, abs=1e-9)
    bounces = [t for t, new, _ in hits if not new]
    found = [e.time for e in solution.audit.events if e.where == "buffer"]
    assert len(bounces) == len(found) > 1 and bounces == pytest.approx(found, abs=1e-6)
    state, t, end = kept
    fmu.setFMUState(state)
    fmu.enterEventMode()
    fmu.updateDiscreteStates()
    fmu.enterStepMode()
    while t < end:
        t = fmu.doStep(t, end - t)[3]
    assert fmu.getFloat64(told) == values[round(end / 0.05) - 1]


def heard(driven, hear, **allowed):
    """An arm that tells of the steps of its integrator, and the references of its variables."""
    fmu, names = opened(FMU3Slave, str(driven / "arm3.fmu"), intermediateUpdate=hear, **allowed)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu, names


def test_who_hears_of_inner_steps_changes_nothing(driven):
    """Times rise, values are there and lie on the motion, and the end is that without."""
    told = []

    def hear(_, t, may_set, may_get, finished, may_return, wants, end):
        told.append((t, *fmu.getFloat64(read)))
        assert may_set and may_get and finished and not may_return

    fmu, names = heard(driven, hear)
    alone, _ = begun(FMU3Slave, str(driven / "arm3.fmu"))
    read = [names["A.angle"], names["A.force.x"]]
    for one in (fmu, alone):
        one.doStep(0.0, 0.5)
        one.doStep(0.5, 0.3)
    assert fmu.getFloat64(read) == alone.getFloat64(read)
    rows = np.array(told)
    assert len(rows) > 3 and (np.diff(rows[:, 0]) > 0.0).all() and rows[-1, 0] < 0.8
    model = vbg.read(driven / "arm.toml")
    for t, angle, force in told[:: len(told) // 3]:
        whole = vbg.simulate(model, t_end=t, output_step=t)
        assert angle == pytest.approx(whole["A.angle"][-1], abs=1e-7)
        assert force == pytest.approx(whole["A.force.x"][-1], abs=1e-5)


def test_an_inner_step_may_be_the_last_and_inputs_may_change_there(driven):
    """Another torque from the end of an inner step on, given inside, is the same as a return
    there and the torque given outside."""
    places = []

    def change(_, t, *rest):
        if not places:
            places.append(t)
            inside.setFloat64([names["command"]], [-1.0])
            with pytest.raises(Exception, match="fmi3"):
                inside.doStep(t, 0.1)

    def go_back(_, t, may_set, may_get, finished, may_return, wants, end):
        assert may_return
        wants[0], end[0] = True, 0.0

    inside, names = heard(driven, change)
    assert inside.doStep(0.0, 0.5)[2:] == (False, 0.5)
    outside, _ = heard(driven, go_back, earlyReturnAllowed=True)
    _, _, early, t = outside.doStep(0.0, 0.5)
    assert early and t == places[0] < 0.5
    outside.setFloat64([names["command"]], [-1.0])
    while t < 0.5:
        t = outside.doStep(t, 0.5 - t)[3]
    read = [names["A.angle"], names["A.speed"]]
    assert inside.getFloat64(read) == pytest.approx(outside.getFloat64(read), abs=1e-12)
    untouched, _ = begun(FMU3Slave, str(driven / "arm3.fmu"))
    untouched.doStep(0.0, 0.5)
    assert abs(untouched.getFloat64(read)[0] - inside.getFloat64(read)[0]) > 1e-2


def test_directional_derivatives_are_slopes(driven):
    """Forces are linear in the torque."""
    fmu, names = begun(FMU3Model, str(driven / "arm3.fmu"))
    known = [names["command"]]
    unknown = [names["A.force.x"], names["A.force.z"], names["motor.power"]]
    found = fmu.getDirectionalDerivative(unknown, known, [1.0])
    before = np.array(fmu.getFloat64(unknown))
    fmu.setFloat64(known, [3.0])
    after = np.array(fmu.getFloat64(unknown))
    assert found == pytest.approx(after - before, rel=1e-12, abs=1e-12)
    fmu.terminate()
    fmu.freeInstance()


def test_directional_derivatives_are_those_of_what_the_unit_tells(closed_loop):
    """Of a closed loop in Model Exchange, along random coordinates, beside differences of what the
    unit itself tells; at the start and beside it."""
    fmu, names = begun(FMU3Model, closed_loop)
    fmu.updateDiscreteStates()
    fmu.enterContinuousTimeMode()
    known = [r for n, r in names.items() if n.startswith("coordinate.")]
    told = [r for n, r in names.items() if n.startswith("der(") or "force" in n or ".speed" in n]
    random = np.random.default_rng(4)
    begin = np.array(fmu.getFloat64(known))

    def read(x):
        fmu.setContinuousStates((ctypes.c_double * len(x))(*x), len(x))
        return np.array(fmu.getFloat64(told))

    for off in (0.0, 1e-13, 1e-9):
        x = begin + off * random.normal(size=len(begin))
        seed = random.normal(size=len(begin)) * np.maximum(np.abs(begin), 1e-2)
        read(x)
        found = np.array(fmu.getDirectionalDerivative(told, known, seed.tolist()))
        h = 1e-3
        slope = (read(x - 2 * h * seed) - read(x + 2 * h * seed)) / (12 * h)
        slope += 8 * (read(x + h * seed) - read(x - h * seed)) / (12 * h)
        assert np.abs(found - slope).max() < 1e-7 * np.abs(slope).max()
    assert len(told) > 40


def test_wrong_use_is_an_error_and_no_crash(driven):
    fmu, names = begun(FMU3Slave, str(driven / "arm3.fmu"))
    with pytest.raises(Exception, match="fmi3"):
        fmu.setFloat64([names["A.angle"]], [1.0])  # no input
    with pytest.raises(Exception, match="fmi3"):
        fmu.getFloat64([10_000_000])
    with pytest.raises(Exception, match="fmi3"):
        fmu.doStep(0.5, 0.01)  # it stands at 0
    with pytest.raises(Exception, match="fmi3"):
        fmu.setFloat64([names["command"]], [float("nan")])
    fmu.freeInstance()


def test_instances_do_not_know_of_one_another(driven):
    """Two of one library, stepped in turn, as each alone."""
    path = str(driven / "arm3.fmu")
    one, names = begun(FMU3Slave, path)
    two, _ = begun(FMU3Slave, path)
    two.setFloat64([names["command"]], [-1.0])
    for i in range(10):
        for fmu in (one, two):
            fmu.doStep(0.01 * i, 0.01)
    alone, _ = begun(FMU3Slave, path)
    for i in range(10):
        alone.doStep(0.01 * i, 0.01)
    assert one.getFloat64([names["A.angle"]]) == alone.getFloat64([names["A.angle"]])
    assert one.getFloat64([names["A.angle"]]) != two.getFloat64([names["A.angle"]])


def test_instances_in_threads_do_as_each_alone(driven):
    """Four at once, each with its own torque; ctypes lets go of the interpreter in every call."""
    path = str(driven / "arm3.fmu")
    torques = (-1.0, 0.5, 2.0, 3.0)

    def motion(torque):
        fmu, names = begun(FMU3Slave, path)
        fmu.setFloat64([names["command"]], [torque])
        values = []
        for i in range(50):
            fmu.doStep(0.01 * i, 0.01)
            values.append(fmu.getFloat64([names["A.angle"], names["A.force.x"]]))
        return values

    with ThreadPoolExecutor(len(torques)) as threads:
        together = list(threads.map(motion, torques))
    assert together == [motion(torque) for torque in torques]


@pytest.mark.parametrize("version", [2, 3])
def test_what_an_importer_may_not_ask_is_an_error(driven, version):
    """Calls in the wrong state, by the status codes of the standard; the instance lives on."""
    kind = FMU3Slave if version == 3 else FMU2Slave
    fmu, _ = opened(kind, str(driven / f"arm{version}.fmu"))
    put = fmu.setFloat64 if version == 3 else fmu.setReal
    with pytest.raises(Exception, match="fmi"):
        fmu.doStep(0.0, 0.01)  # not initialized
    with pytest.raises(Exception, match="fmi"):
        fmu.exitInitializationMode()
    if version == 2:
        with pytest.raises(Exception, match="fmi"):
            fmu.setupExperiment(startTime=1.0)  # machines start at 0
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    with pytest.raises(Exception, match="fmi"):
        fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    with pytest.raises(Exception, match="fmi"):
        fmu.doStep(0.0, -0.01)
    with pytest.raises(Exception, match="fmi"):
        put([0], [1.0])  # the time
    fmu.doStep(0.0, 0.01)
    fmu.terminate()
    with pytest.raises(Exception, match="fmi"):
        fmu.doStep(0.01, 0.01)
    fmu.freeInstance()
