"""Sub-models by file: as if written flat; ports; places of mistakes; round trips."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.domains.linear import eigenvalues
from vbg.cli.main import main
from vbg.errors import ModelError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

DRIVE = """\
vbg = 1
[parameters]
R = "1.2 ohm"
K = 0.08
[include.filter]
file = "filter.toml"
[ports]
supply = "filter.input"
shaft = "rotational.s"
current = "M.current"
limit = "top"
[electric.M]
kind = "dc_motor"
nodes = ["filter.output", "gnd"]
on = "rotational.s"
R = "R"
L = 3e-3
K = "K"
[rotational.rotor]
kind = "inertia"
nodes = ["s"]
J = 2e-4
[rotational.load]
kind = "torque"
nodes = ["s"]
torque = "-0.01*rotor.speed*top"
[signals.top]
kind = "expression"
expression = "1 + t"
"""

FILTER = """\
vbg = 1
[ports]
input = "electric.a"
output = "electric.b"
[electric.Rf]
kind = "resistor"
nodes = ["a", "b"]
R = 0.2
[electric.Cf]
kind = "capacitor"
nodes = ["b", "gnd"]
C = 1e-3
"""

MACHINE = """\
vbg = 1
name = "two drives"
[parameters]
R0 = 2.0   # of both
[include.one]
file = "parts/drive.toml"
parameters = { R = "2*R0", K = 0.1 }
[include.two]
file = "parts/drive.toml"
parameters = { R = "4000 mohm" }
[electric.U]
kind = "voltage_source"
nodes = ["one.supply", "gnd"]
voltage = 12
[electric.V]
kind = "voltage_source"
nodes = ["two.supply", "gnd"]
voltage = "6 - 0.5*one.current + one.limit"
[rotational.belt]
kind = "spring"
on = "one.shaft"
k = 0.5
[bondgraph.C]
kind = "C"
value = 3.0
[simulate]
t_end = 0.1
output_step = 0.01
rtol = 1e-11
atol = 1e-13
"""
BONDS = 'bonds = ["two.shaft -> C"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "drive.toml").write_text(DRIVE)
    (tmp_path / "parts" / "filter.toml").write_text(FILTER)
    (tmp_path / "machine.toml").write_text(MACHINE.replace("[parameters]", BONDS + "[parameters]"))
    return tmp_path


def flat() -> vbg.Model:
    """The same machine, written in one file."""
    electric: dict = {}
    rotational: dict = {}
    signals: dict = {}
    for name, R, K in (("one", 4.0, 0.1), ("two", 4.0, 0.08)):
        a, b, s = (f"{name}_{n}" for n in ("filter_a", "filter_b", "s"))
        electric |= {
            f"{name}_filter_Rf": {"kind": "resistor", "nodes": [a, b], "R": 0.2},
            f"{name}_filter_Cf": {"kind": "capacitor", "nodes": [b, "gnd"], "C": 1e-3},
            f"{name}_M": {
                "kind": "dc_motor",
                "nodes": [b, "gnd"],
                "on": f"rotational.{s}",
                "R": R,
                "L": 3e-3,
                "K": K,
            },
        }
        torque = f"-0.01*{name}_rotor.speed*{name}_top"
        rotational |= {
            f"{name}_rotor": {"kind": "inertia", "nodes": [s], "J": 2e-4},
            f"{name}_load": {"kind": "torque", "nodes": [s], "torque": torque},
        }
        signals[f"{name}_top"] = {"kind": "expression", "expression": "1 + t"}
    electric["U"] = {"kind": "voltage_source", "nodes": ["one_filter_a", "gnd"], "voltage": 12}
    volts = "6 - 0.5*one_M.current + one_top"
    electric["V"] = {"kind": "voltage_source", "nodes": ["two_filter_a", "gnd"], "voltage": volts}
    rotational["belt"] = {"kind": "spring", "on": "rotational.one_s", "k": 0.5}
    return vbg.Model(
        electric=electric,
        rotational=rotational,
        signals=signals,
        bondgraph={"C": {"kind": "C", "value": 3.0}},
        bonds=["rotational.two_s -> C"],
        simulate={"t_end": 0.1, "output_step": 0.01, "rtol": 1e-11, "atol": 1e-13},
    )


def test_included_parts_are_the_machine_written_flat(folder):
    model = vbg.read(folder / "machine.toml")
    assert model.hash == flat().hash
    one, other = (vbg.simulate(vbg.assemble(m)) for m in (model, flat()))
    assert one.signals.keys() == other.signals.keys()
    for name in one.signals:
        assert np.array_equal(one[name], other[name]), name


def test_coupled_pendulums_have_their_two_frequencies():
    """In step (J + m h^2) w^2 = m g h; against each other m g h + 2 k h^2, at small angles."""
    model = vbg.read(EXAMPLES / "coupled-pendulums.toml").edited(("forces", "brake"), None)
    model = model.edited(("include", "left", "parameters"), None)
    assert model.bodies["right_rod"].position is None
    assert model.joints["right_hinge"].between[0].at == (0.4, 0.0, 0.0)
    m, h, k = 1.2, 0.3, 1.5
    whole = m * 0.6**2 / 12 + m * h**2
    expected = [m * 9.81 * h / whole, (m * 9.81 * h + 2 * k * h**2) / whole]
    found = eigenvalues(vbg.assemble(model))
    squares = np.unique(np.round(np.abs(found.imag[np.abs(found.imag) > 1e-3]) ** 2, 6))
    assert squares == pytest.approx(expected, rel=1e-6)


def test_a_sub_model_moves_as_a_whole(tmp_path):
    """Written positions and what joints place, also from a rotation alone."""
    (tmp_path / "arm.toml").write_text(
        """
        [bodies.b]
        mass = 1
        inertia = { xx = 1, yy = 1, zz = 1 }
        rotation = { axis = [0, 0, 1], angle = "30 deg" }
        points = { P = [1, 0, 0] }
        [bodies.c]
        mass = 1
        inertia = { xx = 1, yy = 1, zz = 1 }
        position = [0, 2, 0]
        [joints.j]
        kind = "revolute"
        between = [{ body = "ground", at = [0, 1, 0] }, "b.P"]
        axis = [0, 0, 1]
        """
    )
    (tmp_path / "two.toml").write_text('[include.x]\nfile = "arm.toml"\nposition = [5, 0, "1 m"]\n')
    alone = vbg.place(vbg.read(tmp_path / "arm.toml")).poses
    moved = vbg.place(vbg.read(tmp_path / "two.toml")).poses
    for name in ("b", "c"):
        assert moved[f"x_{name}"].p_WB - alone[name].p_WB == pytest.approx([5.0, 0.0, 1.0])


def test_a_port_of_a_joint_gives_its_quantities(tmp_path):
    """The whole port is the joint, INCLUDE.PORT.speed its signal NAME.speed."""
    arm = """[ports]
    hub = "joints.j"
    [bodies.b]
    mass = 1
    inertia = { xx = 1, yy = 1, zz = 1 }
    [joints.j]
    kind = "revolute"
    between = ["ground", "b"]
    axis = [0, 0, 1]
    initial = { speed = 1 }
    """
    (tmp_path / "arm.toml").write_text(arm)
    text = """[include.x]
    file = "arm.toml"
    [forces.brake]
    kind = "torque"
    on = "x.hub"
    torque = ["-x.hub.speed-x.hub.speed"]
    """
    (tmp_path / "machine.toml").write_text(text)
    model = vbg.read(tmp_path / "machine.toml")
    assert model.forces["brake"].torque == ("-x_j.speed - x_j.speed",)
    solution = vbg.simulate(vbg.assemble(model), t_end=1.0)
    assert solution["x_j.speed"][-1] == pytest.approx(np.exp(-2.0), abs=1e-7)


def problems(path: Path) -> list[tuple[str, int, int, str]]:
    with pytest.raises(ModelError) as caught:
        vbg.read(path)
    return [
        (Path(p.file).name, p.line, p.column, f"{p.where}: {p.what} {p.remedy}")
        for p in caught.value.problems
    ]


def test_a_mistake_is_told_once_at_its_place_in_the_included_file(folder):
    drive = folder / "parts" / "drive.toml"
    drive.write_text(DRIVE.replace("L = 3e-3", 'L = "3 mm"'))
    ((file, line, column, text),) = problems(folder / "machine.toml")
    assert (file, line, column) == ("drive.toml", 17, 5)
    assert text.startswith("electric.M.L: ") and "length" in text


def test_syntax_and_missing_files_are_told_where_they_stand(folder):
    machine = folder / "machine.toml"
    (folder / "parts" / "filter.toml").write_text("[electric.Rf]\nkind = resistor\n")
    (found, *_) = problems(machine)
    assert found[:2] == ("filter.toml", 2)
    (folder / "parts" / "filter.toml").unlink()
    (file, line, column, text), *_ = problems(machine)
    assert (file, line, column) == ("drive.toml", 6, 8)
    assert text.startswith("include.filter.file: cannot read")


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('"one.supply"', '"one.suply"', (14, 10), "no port 'suply'.*Did you mean 'supply'"),
        ('["one.supply"', '["one.shaft"', (14, 10), "no electric node"),
        ("0.5*one.current", "0.5*one.curent", (19, 11), "no port 'curent'"),
        ('R = "2*R0"', "Rr = 3", (8, 16), "has no parameter 'Rr'.*Did you mean 'R'"),
        ('"4000 mohm"', '"4 V"', (11, 20), "voltage.*expected.*resistance|voltage"),
        ('"2*R0"', '"2*R1"', (8, 20), "unknown name 'R1'.*R0"),
        ("[include.two]", "[include.U]", (12, 1), "taken by include"),
        ("[electric.U]", "[electric.one_M]", (12, 1), "taken by include.one"),
        (
            'file = "parts/drive.toml"\nparameters = { R = "4',
            'fil = "x"\nparameters = { R = "4',
            (10, 1),
            "unknown key 'fil'",
        ),
    ],
)
def test_wrong_uses_are_told_at_their_place(folder, old, new, place, message):
    import re

    path = folder / "machine.toml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    found = problems(path)
    at = [entry for entry in found if entry[:3] == ("machine.toml", *place)]
    assert at and any(re.search(message, entry[3]) for entry in at), found


def test_circles_are_refused(folder):
    (folder / "parts" / "filter.toml").write_text('[include.again]\nfile = "drive.toml"\n')
    found = problems(folder / "machine.toml")
    assert found[0][:3] == ("filter.toml", 2, 8)
    assert "in a circle: drive.toml -> filter.toml -> drive.toml" in found[0][3]
    (folder / "self.toml").write_text('[include.me]\nfile = "self.toml"\n')
    assert "self.toml -> self.toml" in problems(folder / "self.toml")[0][3]


def test_ports_must_stand_for_something(folder):
    path = folder / "parts" / "filter.toml"
    path.write_text(FILTER.replace('"electric.a"', '"electric.c"').replace("output", "out-put"))
    found = [entry[3] for entry in problems(path)]
    assert "unknown electric node 'c'" in found[0] and "cannot name a port" in found[1]


def test_files_are_usable_alone(folder):
    alone = vbg.read(folder / "parts" / "filter.toml")
    assert set(alone.electric) == {"Rf", "Cf"}


def test_round_trips(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("VBG_ALLOW_INCLUDE", str(folder))  # a copy elsewhere includes from here
    model = vbg.read(folder / "machine.toml")
    text = (folder / "machine.toml").read_text()
    vbg.write(model, folder / "machine.toml")
    assert (folder / "machine.toml").read_text() == text
    elsewhere = tmp_path / "deep" / "copy.toml"
    elsewhere.parent.mkdir()
    vbg.write(model, elsewhere)
    assert vbg.read(elsewhere).hash == model.hash
    assert vbg.read(elsewhere).document["include"]["one"]["file"] == "../parts/drive.toml"
    assert pickle.loads(pickle.dumps(model)).hash == model.hash
    changed = model.edited(("include", "one", "parameters", "K"), 0.2)
    assert changed.electric["one_M"].K == 0.2
    vbg.write(changed, folder / "machine.toml")
    kept = (folder / "machine.toml").read_text()
    assert kept == text.replace("K = 0.1 ", "K = 0.2 ")
    assert model.with_parameters(R0=5.0).electric["one_M"].R == 10.0


def test_checks_find_included_parts_in_their_file(folder):
    path = folder / "parts" / "filter.toml"
    path.write_text(FILTER.replace('["b", "gnd"]', '["b", "c"]'))
    drive = folder / "parts" / "drive.toml"
    drive.write_text(DRIVE.replace('nodes = ["filter.output", "gnd"]', 'nodes = ["x", "gnd"]'))
    found = {
        (Path(p.file).name, p.line, p.where) for p in vbg.check(vbg.read(folder / "machine.toml"))
    }
    assert ("filter.toml", 9, "electric.one_filter_Cf.nodes") in found or any(
        file == "filter.toml" for file, _, _ in found
    )


def test_a_template_brings_its_files(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "coupled-pendulums"]) == 0
    assert (tmp_path / "parts" / "swing.toml").exists()
    assert vbg.read(tmp_path / "coupled-pendulums.toml").joints.keys() == {
        "left_hinge",
        "right_hinge",
    }
    capsys.readouterr()
