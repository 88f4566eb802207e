"""What can be wrong with an FMU, and whether it may run."""

import io
import re
import tempfile
import time
import zipfile

import numpy as np
import psutil
import pytest

import vbg
from tests.fmi.conftest import ARM
from vbg.cli.main import main
from vbg.errors import ModelError, UsageError
from vbg.fmi.description import read_description
from vbg.fmi.permission import ALLOWED
from vbg.io import toml

GAIN = """
[fmu.g]
file = "Gain.fmu"
step = "1 ms"
inputs = { u = "hinge.angle" }
parameters = { k = -20, fault = FAULT }
""" + ARM.replace("TORQUE", "g.y")
CONTROLLED = """
[fmu.controller]
file = "controller.fmu"
inputs = { angle = "hinge.angle", speed = "hinge.speed" }
""" + ARM.replace("TORQUE", "controller.u")


def children():
    return [p for p in psutil.Process().children(recursive=True) if "vbg.fmi.child" in p.cmdline()]


def test_a_unit_of_python_code_runs_and_leaves_nothing_behind(gain, allowed):
    model = toml.parse(GAIN.replace("FAULT", "0"), str(gain / "machine.toml"))
    solution = vbg.simulate(model, t_end=0.02, output_step=1e-3)
    assert solution.status.code == "finished"
    # it tells at the end of a step what it read at its beginning
    angle, told = solution["hinge.angle"], solution["g.y"]
    assert abs(told[1:] + 20.0 * angle[:-1]).max() < 1e-9
    assert not children()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (1, r"fmu\.g: at t = 0\.006 s it crashed: its process was ended by the signal SIGSEGV, a"),
        (2, r"fmu\.g: at t = 0\.006 s it failed: fmi3DoStep returned .*the bearing is gone"),
        (3, r"fmu\.g: at t = 0\.006 s its output y has no value"),
        (4, r"fmu\.g: at t = 0\.006 s it failed: it gave no answer for 3 s \(its patience\)"),
    ],
)
def test_a_unit_that_gives_up_ends_the_run_with_a_word(
    gain, allowed, fault, words, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = GAIN.replace("FAULT", str(fault))
    if fault == 4:
        text = text.replace("inputs =", 'patience = "3 s"\ninputs =')
    model = toml.parse(text, str(gain / "machine.toml"))
    for method in ("auto", "discrete-time")[: 1 if fault == 4 else 2]:
        solution = vbg.simulate(model, t_end=0.02, output_step=1e-3, method=method)
        assert solution.status.code == "failed"
        assert re.search(words, solution.status.sentence), solution.status
        assert solution.time[-1] == pytest.approx(0.005)
    assert not children()
    assert not list(tmp_path.iterdir()), "what was unpacked is removed however a unit ends"


def test_native_code_does_not_run_before_somebody_says_so(units, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(ALLOWED, raising=False)
    file = units / "machine.toml"
    file.write_text("[simulate]\nt_end = 0.01\n" + CONTROLLED)
    path = str(units / "controller.fmu")
    model = vbg.read(file)
    with pytest.raises(UsageError, match=r"native code.*rights.*--allow-fmu.*vbg.allow_fmu"):
        vbg.simulate(model)
    assert main(["check", str(file)]) == 0, "it is read without running"
    monkeypatch.setenv(ALLOWED, str(tmp_path))
    with pytest.raises(UsageError, match="nobody has said"):
        vbg.simulate(model)
    assert main(["run", str(file), "-q"]) == 2
    assert "--allow-fmu" in capsys.readouterr().err
    vbg.allow_fmu(path)
    assert vbg.simulate(model).status.code == "finished"
    monkeypatch.setenv(ALLOWED, "")
    assert main(["check", str(file), "--allow-fmu", str(units)]) == 0
    assert vbg.simulate(model).status.code == "finished"
    with pytest.raises(SystemExit):
        main(["run", str(file), "--allow-fmu", str(tmp_path / "none.fmu")])
    with pytest.raises(UsageError, match="no file or folder"):
        vbg.allow_fmu(tmp_path / "none.fmu")


def test_a_file_that_has_changed_since_it_was_read_does_not_run(units, tmp_path, monkeypatch):
    monkeypatch.setenv(ALLOWED, str(tmp_path))
    copy = tmp_path / "controller.fmu"
    copy.write_bytes((units / "controller.fmu").read_bytes())
    model = toml.parse(CONTROLLED, str(tmp_path / "machine.toml"))
    with zipfile.ZipFile(copy, "a") as archive:
        archive.writestr("more.txt", "more")
    with pytest.raises(UsageError, match="changed since the model was read"):
        vbg.simulate(model, t_end=0.01)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"controller.fmu"', '"none.fmu"', "none.fmu cannot be read: No such file"),
        ('"controller.fmu"', '"model.toml"', "no archive as an FMU is one"),
        ('"controller.fmu"', '"../x.fmu"', "not below the folder.*--allow-include"),
        ("angle =", "angel =", "no input 'angel'.*angle"),
        ("angle =", "u =", "an output, no input: 'u'"),
        ('angle = "hinge.angle"', 'angle = ["t", "t"]', "the input angle has one element"),
        ('"hinge.angle"', '"hinge.angel"', "there is no signal 'hinge.angel'.*hinge.angle"),
        ('"controller.u"', '"controller.w"', "there is no signal 'controller.w'"),
        ("inputs =", 'outputs = ["w"]\ninputs =', "the FMU has no output 'w'"),
        ("inputs =", "parameters = { kp = 1 }\ninputs =", "no parameter 'kp'"),
        ("inputs =", "step = 0\ninputs =", "must be greater than 0"),
        ("inputs =", "order = 3\ninputs =", "must be at most 2"),
        ("inputs =", 'interface = "both"\ninputs =', "is not one of co-simulation, model-ex"),
        ("inputs =", "inputz = 1\ninputs =", "unknown key 'inputz'.*inputs"),
    ],
)
def test_what_is_written_wrong_is_told_where_it_stands(units, old, new, words):
    text = CONTROLLED.replace(old, new, 1)
    with pytest.raises(ModelError, match=f"(?s)(fmu.controller|forces.motor).*{words}"):
        vbg.expand(toml.parse(text, str(units / "machine.toml")))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('{ fault = "2 mm" }', r"\[mm\] is a length, expected a plain number"),
        ("{ fault = 1.5 }", "expected a whole number for fault, found 1.5"),
        ('{ k = "many" }', "unknown name 'many'"),
        ("{ on = 1 }", "expected true or false"),
        ("{ k = [1, 2] }", "k has 1 elements, found 2"),
        ("{ u = 1 }", "nobody may set 'u'"),
    ],
)
def test_values_of_another_type_are_told(gain, value, words):
    text = GAIN.replace("{ k = -20, fault = FAULT }", value)
    with pytest.raises(ModelError, match=words):
        toml.parse(text, str(gain / "machine.toml"))


def test_an_input_that_nothing_is_wired_to_is_a_warning(units):
    text = CONTROLLED.replace(', speed = "hinge.speed"', "")
    (problem,) = vbg.check(toml.parse(text, str(units / "machine.toml")))
    assert problem.severity == "warning" and "nothing is wired to speed" in problem.what


def test_what_needs_equations_says_that_there_are_none(units, tmp_path):
    from vbg.export import write_code

    system = vbg.assemble(toml.parse(CONTROLLED, str(units / "machine.toml")))
    with pytest.raises(UsageError, match=r"fmu\.controller is native code"):
        vbg.analysis.linearise(system)
    with pytest.raises(ModelError, match=r"fmu\.controller.*native code"):
        write_code(vbg.start(system), tmp_path)
    with pytest.raises(UsageError, match="`vbg validate` replays"):
        vbg.tmm_bridge.simulate(system.model, t_end=0.01)


def test_outputs_that_follow_inputs_at_once_are_known(units):
    """From the dependencies that the file declares; a plant's, behind constraints, all may."""
    assert "u" in read_description(str(units / "controller.fmu")).direct
    assert "hinge.angle" in read_description(str(units / "plant.fmu")).direct


def described(tmp_path, xml):
    path = tmp_path / "unit.fmu"
    octets = io.BytesIO()
    with zipfile.ZipFile(octets, "w") as archive:
        archive.writestr("modelDescription.xml", xml)
        archive.writestr("binaries/amiga/x.so", "")
    path.write_bytes(octets.getvalue())
    return read_description(str(path))


XML = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g" numberOfEventIndicators="2">
<CoSimulation modelIdentifier="m" canInterpolateInputs="true"/>
<UnitDefinitions>
<Unit name="deg"><BaseUnit rad="1" factor="0.017453292519943295"/></Unit>
<Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>
<Unit name="N.m"><BaseUnit kg="1" m="2" s="-2"/></Unit></UnitDefinitions>
<TypeDefinitions><SimpleType name="Angle"><Real unit="deg"/></SimpleType></TypeDefinitions>
<ModelVariables>
<ScalarVariable name="a" valueReference="1" causality="output">
<Real declaredType="Angle"/></ScalarVariable>
<ScalarVariable name="T" valueReference="2" causality="output"><Real unit="degC"/></ScalarVariable>
<ScalarVariable name="M" valueReference="3" causality="output"><Real unit="N.m"/></ScalarVariable>
<ScalarVariable name="p" valueReference="4" causality="parameter">
<Real unit="bar" start="2"/></ScalarVariable>
<ScalarVariable name="rise" valueReference="7" causality="local">
<Real unit="degC" relativeQuantity="true"/></ScalarVariable>
<ScalarVariable name="f[0]" valueReference="5" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="f[1]" valueReference="6" causality="output"><Real/></ScalarVariable>
</ModelVariables><ModelStructure><Outputs><Unknown index="1" dependencies=""/>
<Unknown index="2" dependencies="4"/><Unknown index="3"/></Outputs></ModelStructure>
</fmiModelDescription>"""


def test_units_of_the_file_become_si(tmp_path):
    found = described(tmp_path, XML)
    scales = {
        name: (v.scale.factor, v.scale.offset, v.scale.unit) for name, v in found.variables.items()
    }
    assert scales["a"] == (pytest.approx(0.017453292519943295), 0.0, "rad")
    assert scales["T"] == (1.0, 273.15, "K")
    assert scales["rise"] == (1.0, 0.0, "K"), "a difference of temperatures"
    assert scales["M"] == (1.0, 0.0, "N*m")
    assert scales["p"] == (1e5, 0.0, "kg/m/s^2")
    assert found.interpolates and found.indicators == 2 and found.version == 2
    assert found.direct == {"M", "p", "rise", "f[0]", "f[1]"}, "a and T follow no input at once"
    text = '[fmu.m]\nfile = "unit.fmu"\nstep = 0.1\nparameters = { p = "3 bar" }\n'
    part = toml.parse(text, str(tmp_path / "x.toml")).fmu["m"]
    assert part.parameters["p"] == (pytest.approx(3.0),)
    assert part.outputs["f"] == ("f[0]", "f[1]")


XML_3 = """<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="g">
<CoSimulation modelIdentifier="m"/><ModelVariables>
<UInt64 name="n" valueReference="1" causality="structuralParameter" start="3"/>
<UInt64 name="k" valueReference="2" causality="parameter" start="2"/>
<Float64 name="y" valueReference="3" causality="output"><Dimension valueReference="1"/>
<Dimension start="2"/></Float64>
<Float64 name="z" valueReference="4" causality="output"><Dimension valueReference="2"/></Float64>
</ModelVariables><ModelStructure/></fmiModelDescription>"""


def test_arrays_have_the_size_of_their_structural_parameters(tmp_path):
    found = described(tmp_path, XML_3).variables
    assert found["y"].size == 6
    assert found["z"].size == 0, "nobody knows before it runs"
    assert not found["z"].is_number


def test_what_is_discrete_is_held_with_every_order(tmp_path, monkeypatch):
    """A gear 1, 2 goes on as 2, the speed beside it as a straight line; so do inputs."""
    from vbg.fmi.running import Running, Wiring

    xml = XML_3.replace(
        "<ModelVariables>",
        """<ModelVariables>
<Int32 name="gear" valueReference="11" causality="output"/>
<Float64 name="speed" valueReference="12" causality="output"/>
<Boolean name="on" valueReference="13" causality="input"/>
<Float64 name="u" valueReference="14" causality="input"/>""",
    )
    unit, told = described(tmp_path, xml), iter([[1.0, 5.0], [2.0, 7.0]])
    asked = []

    def answer(self, content, when):
        asked.append(content)
        return {"y": [] if "do" not in content else next(told)}

    monkeypatch.setattr("vbg.fmi.running.require_allowed", lambda part, description: None)
    monkeypatch.setattr(Running, "_ask", answer)
    of = unit.variables
    wires = (of["on"], of["u"]), (of["gear"], of["speed"])
    running = Running(Wiring("fmu.m", unit, "CoSimulation", *wires, step=0.5, order=1), 1e-8)
    running.go_on(np.array([0.0, 2.0]))
    running.keep()
    running.go_on(np.array([1.0, 4.0]))
    assert asked[-1]["u"] == [0.0, 3.0], "the mean, as it takes no derivatives"
    assert running.held.tolist() == [0.5, 2.0, 7.0, 0.0, 4.0]


def test_a_unit_without_a_binary_for_this_machine_says_which_it_has(tmp_path, monkeypatch):
    described(tmp_path, XML)
    monkeypatch.setenv(ALLOWED, str(tmp_path))
    text = '[fmu.m]\nfile = "unit.fmu"\nstep = 0.1\n' + ARM.replace("TORQUE", "m.M")
    with pytest.raises(UsageError, match=r"no binary for .*; it has amiga"):
        vbg.simulate(toml.parse(text, str(tmp_path / "x.toml")), t_end=0.1)


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]>' + XML.partition("?>")[2], "document type"),
        (XML.replace('fmiVersion="2.0"', 'fmiVersion="1.0"'), "FMI version '1.0'"),
        (XML.replace('valueReference="4"', 'valueReference="four"'), "not as the standard says"),
        (XML.replace('factor="0.017453292519943295"', 'factor="0"'), "the unit 'deg' has factor 0"),
        (XML[:200], "is no XML"),
        ("<robot/>", "describes no FMU"),
    ],
)
def test_a_strangers_description_is_read_or_refused(tmp_path, xml, words):
    with pytest.raises(ModelError, match=words):
        described(tmp_path, xml)


def test_the_child_ends_with_its_parent(gain, allowed):
    """However it goes: nothing waits for an answer any more."""
    from vbg.fmi.running import Running

    model = toml.parse(GAIN.replace("FAULT", "0"), str(gain / "machine.toml"))
    running = Running(model.fmu["g"].wiring("g"), 1e-8)
    (child,) = children()
    del running
    deadline = time.monotonic() + 10.0
    while child.is_running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.is_running()
