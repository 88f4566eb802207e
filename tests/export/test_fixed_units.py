"""Units in steps of fixed length: what `vbg run --method rk4` computes, in an importer."""

import functools

import numpy as np
import pytest

import vbg
from tests.export.comparing import family, family_peaks
from tests.export.conftest import outputs
from tests.export.test_realtime import SAMPLED
from tests.tail import tail
from vbg.cli.main import main
from vbg.export.fmu import write_fmu
from vbg.io import toml
from vbg.solution import components

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi1 import FMICallException  # noqa: E402
from fmpy.fmi2 import FMU2Model, FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Model, FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

STEP, EVERY = 1e-3, 4


# a clock, a jump and an input
ARM = (
    SAMPLED.replace("0.003", "0.004").replace("+ jump", "+ jump + command")
    + """
[signals.command]
kind = "input"
start = 0.5
unit = "N*m"
"""
)


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """Units of a machine with an input, by the command, each made when it is asked for."""
    folder = tmp_path_factory.mktemp("driven")
    (folder / "arm.toml").write_text(ARM)

    @functools.cache
    def unit(version):
        out = str(folder / f"arm{version}.fmu")
        given = ["--realtime", "--step", "1 ms", "--fmi", str(version), "-o", out]
        assert main(["export", str(folder / "arm.toml"), *given]) == 0
        return out

    return unit


@pytest.mark.parametrize(
    ("name", "version"), tail([("arm", 3), ("slider-crank", 2), ("bennett", 3)], 1)
)
def test_a_unit_steps_as_rk4_does(tmp_path, driven, name, version):
    """Clocks and jumps, closed loops; several of its steps in one of the importer's."""
    if name == "arm":
        start, path = vbg.start(toml.parse(ARM, "arm.toml")), driven(version)
    else:
        start, path = vbg.start(vbg.read(f"examples/{name}.toml")), str(tmp_path / "machine.fmu")
        write_fmu(start, path, version=version, step=STEP)
    assert validate_fmu(path) == []
    described = fmpy.read_model_description(path)
    assert described.modelExchange is None
    assert not described.coSimulation.canHandleVariableCommunicationStepSize
    assert float(described.defaultExperiment.stepSize) == STEP
    run = vbg.simulate(start, t_end=0.2, output_step=STEP, method="rk4")
    columns = dict(components(run))
    peaks, rows = family_peaks(columns), slice(None, None, EVERY)
    found = fmpy.simulate_fmu(
        path, stop_time=0.2, step_size=EVERY * STEP, output_interval=EVERY * STEP
    )
    np.testing.assert_allclose(found["time"], run.time[rows], rtol=0.0, atol=1e-12)
    rounding = 1e-12 * max(peaks.values())
    for signal in outputs(path):
        miss = np.abs(found[signal] - columns[signal][rows]).max()
        assert miss < 1e-9 * max(peaks[family(signal)], rounding), signal


def opened(kind, path):
    described = fmpy.read_model_description(path)
    instance = kind(
        guid=described.guid,
        unzipDirectory=fmpy.extract(path),
        modelIdentifier=described.coSimulation.modelIdentifier,
        instanceName="one",
    )
    instance.instantiate()
    if kind is FMU2Slave:
        instance.setupExperiment(startTime=0.0)
    instance.enterInitializationMode()
    instance.exitInitializationMode()
    return instance, {v.name: v.valueReference for v in described.modelVariables}


def angle(kind, unit, references, value=None):
    """Sets the input, or tells the angle."""
    get = unit.getReal if kind is FMU2Slave else unit.getFloat64
    if value is None:
        return get([references["A.angle"]])[0]
    setting = unit.setReal if kind is FMU2Slave else unit.setFloat64
    return setting([references["command"]], [value])


@pytest.mark.parametrize(("kind", "version"), tail([(FMU3Slave, 3), (FMU2Slave, 2)], 1))
def test_inputs_and_kept_states_go_on_bit_by_bit(driven, kind, version):
    """An input stands still from one end of a step to the next; a kept state has the clock, too."""
    unit, references = opened(kind, driven(version))

    def go(first, count):
        for n in range(first, first + count):
            angle(kind, unit, references, 3.0 if n % 20 < 10 else -2.0)
            unit.doStep(n * 2e-3, 2e-3)
        return angle(kind, unit, references)

    go(0, 30)
    state = unit.getFMUState()
    one = go(30, 40)
    unit.setFMUState(state)
    assert go(30, 40) == one
    unit.freeFMUState(state)
    other, _ = opened(kind, driven(version))
    for n in range(140):
        angle(kind, other, references, 3.0 if n % 40 < 20 else -2.0)
        other.doStep(n * 1e-3, 1e-3)
    assert angle(kind, other, references) == one
    for each in (unit, other):
        each.terminate()
        each.freeInstance()


@pytest.mark.parametrize(("kind", "version"), tail([(FMU3Slave, 3), (FMU2Slave, 2)], 1))
def test_a_step_between_those_of_the_unit_is_an_error(driven, kind, version):
    unit, _ = opened(kind, driven(version))
    unit.doStep(0.0, 3e-3)
    with pytest.raises(FMICallException):
        unit.doStep(3e-3, 1.5e-3)
    unit.freeInstance()


@pytest.mark.parametrize(("kind", "version"), tail([(FMU3Model, 3), (FMU2Model, 2)], 1))
def test_there_is_no_model_exchange(driven, kind, version):
    with pytest.raises(Exception, match=r"instantiate|Instantiate"):
        opened(kind, driven(version))


def test_a_step_that_the_machine_cannot_take_is_told(tmp_path, capsys):
    file, out = tmp_path / "s.toml", str(tmp_path / "s.fmu")
    file.write_text(SAMPLED)
    assert main(["export", str(file), "--realtime", "--step", "5 ms", "-o", out]) == 2
    assert "samples of every 0.003 s would fall together" in capsys.readouterr().err
    assert main(["export", str(file), "--realtime", "-o", out]) == 2
    assert "--realtime takes the length of its steps" in capsys.readouterr().err
