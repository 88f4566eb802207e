"""`vbg check` tells what a run would tell: mobility, redundancy, what was moved or overridden."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from vbg.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CRANK = (EXAMPLES / "slider-crank.toml").read_text("utf-8")


@pytest.fixture
def check(tmp_path, capsys):
    """Writes `text` to a file and checks it: exit code, standard output, standard error."""

    def checked(text, *options):
        path = tmp_path / "machine.toml"
        path.write_text(text, "utf-8")
        capsys.readouterr()
        code = main(["check", str(path), *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err.replace(f"{path}:", "")

    return checked


def line_of(text, words):
    return text[: text.index(words)].count("\n") + 1


def test_mobility_and_redundancy_are_counted(check):
    code, out, err = check(CRANK)
    assert (code, err) == (0, "") and "3 bodies, 4 joints, 1 force, 1 degree of freedom" in out
    redundant = re.sub(r'^kind = "point_on_line"', 'kind = "revolute"', CRANK, flags=re.M)
    code, out, err = check(redundant, "--json")
    answer = json.loads(out)
    # a planar loop of revolutes and one slider: Gruebler in space says 6 * 3 - 20 = -2
    assert answer["start"]["freedoms"] == 1 and answer["start"]["redundant_directions"] == 3
    assert "B.force.y" in answer["start"]["not_unique"]
    (problem,) = answer["problems"]
    assert problem["severity"] == "warning" and problem["line"] == line_of(CRANK, "[joints.A]")


def test_quick_does_not_assemble(check):
    redundant = re.sub(r'^kind = "point_on_line"', 'kind = "revolute"', CRANK, flags=re.M)
    code, out, err = check(redundant, "--quick")
    assert (code, err) == (0, "") and "3 bodies, 4 joints, 1 force: no problems" in out
    assert "start" not in json.loads(check(redundant, "--quick", "--json")[1])


def test_a_drive_that_overrides_a_written_start_is_told(check):
    driven = CRANK.replace(
        'initial = { angle = "phi", speed = "speed" }',
        'drive = "1 + 3*t"\ninitial = { angle = "phi", speed = "speed" }',
    )
    code, out, err = check(driven)
    at = line_of(driven, 'initial = { angle = "phi"')
    assert code == 0 and "0 degrees of freedom besides 1 drive" in out
    assert (
        f"{at}:13: note: joints.A.initial.angle: 0.523599 rad is written, but the drive begins "
        "at 1 rad, which is followed. Leave the written value out, or begin the drive there."
    ) in err
    assert f"{at}:28: note: joints.A.initial.speed: 31.4159 rad/s is written, but the" in err
    assert "drive begins at 3 rad/s" in err
    same = driven.replace("1 + 3*t", "pi/6 + 10*pi*t").replace("[parameters]", "[parameters]\n", 1)
    code, out, err = check(same)
    assert (code, err) == (0, "")


TURNED = """
vbg = 1
[bodies.rod]
mass = 1.0
inertia = { xx = 1e-3, yy = 0.1, zz = 0.1 }
position = [0, 0, 0]
rotation = { axis = [0, 0, 1], angle = "ANGLE deg" }
[joints.hinge]
kind = "revolute"
between = ["ground", "rod"]
axis = [0, 1, 0]
axis_on_second = [0, 1, 0]
"""


def test_a_body_that_is_only_turned_is_told(check):
    code, _, err = check(TURNED.replace("ANGLE", "20"))
    assert code == 0
    assert err.startswith("3:1: warning: bodies.rod: turned by 20 deg to close the mechanism, ")
    assert "pulled by joints.hinge, which was open by 20 deg" in err
    assert check(TURNED.replace("ANGLE", "0.5"))[2] == (
        "3:1: note: bodies.rod: turned by 0.5 deg to close the mechanism.\n"
    )
    assert check(TURNED.replace("ANGLE", "0"))[2] == ""


LOOP = """
vbg = 1
[parameters]
far = 2.0
[bodies.a]
mass = 1.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
[bodies.b]
mass = 1.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
[joints.A]
kind = "revolute"
between = ["ground", { body = "a", at = [-0.25, 0, 0] }]
axis = [0, 1, 0]
initial = { angle = "40 deg" }
[joints.B]
kind = "revolute"
between = [{ body = "a", at = [0.25, 0, 0] }, { body = "b", at = [-0.25, 0, 0] }]
axis = [0, 1, 0]
[joints.C]
kind = "revolute"
between = [{ body = "ground", at = ["far", 0, 0] }, { body = "b", at = [0.25, 0, 0] }]
axis = [0, 1, 0]
"""


def test_a_loop_that_cannot_close_says_where_and_how_far(check):
    """Two links of 0.5 m over a distance of 2 m leave a gap of 1 m, shared by the joints."""
    code, out, err = check(LOOP)
    assert (code, out) == (1, "")
    found = re.match(
        r"(\d+):1: error: joints\.(\w): the loop through this joint cannot be closed: "
        r"(\S+) m is left in direction 'force\.[xyz]'",
        err,
    )
    assert found and int(found[1]) == line_of(LOOP, f"[joints.{found[2]}]")
    assert 0.2 < float(found[3]) < 1.0
    assert "Check the lengths around the loop" in err


def test_what_could_not_be_kept_has_units(check):
    code, _, err = check(CRANK.replace('angle = "-phi - psi"', 'angle = "-phi"'))
    assert code == 0
    assert re.search(
        r"changed: A\.angle \(by 0\.01041 rad\).*slide\.slide \(by -0\.0002589 m\)", err
    )


def test_locked_and_singular_starts_are_errors_with_a_place(check):
    locked = LOOP.replace("far = 2.0", "far = 0.8").replace(
        'kind = "revolute"\nbetween = [{ body = "a", at',
        'kind = "fixed"\nbetween = [{ body = "a", at',
    )
    locked = re.sub(r"(kind = \"fixed\"\nbetween = .*\n)axis = .*\n", r"\1", locked)
    code, _, err = check(locked)
    assert code == 1 and re.match(r"\d+:\d+: error: joints\.", err)


READS = """
vbg = 1
[bodies.p]
mass = 1.0
inertia = { xx = 1e-3, yy = 0.1, zz = 0.1 }
[joints.hinge]
kind = "revolute"
between = ["ground", "p"]
axis = [0, 1, 0]
[signals.s]
kind = "expression"
expression = "2*READ"
"""


@pytest.mark.parametrize("read", ("p.position", "p.angular_velocity", "hinge.force"))
def test_a_vector_where_a_number_is_needed_is_told_at_once(check, read):
    code, _, err = check(READS.replace("READ", read))
    assert code == 1
    assert err.startswith("12:14: error: signals.s.expression: ")
    assert f"{read} is a vector" in err and f"{read}[0]" in err


@pytest.mark.parametrize(
    "read", ("p.position[2]", "p.position.z", "p.rotation[3]", "hinge.force.y")
)
def test_a_component_is_read_by_index_or_letter(check, read):
    assert check(READS.replace("READ", read))[0] == 0


def test_a_component_that_is_not_there_is_told(check):
    code, _, err = check(READS.replace("READ", "p.position[3]"))
    assert code == 1 and "p.position[3]" in err


def test_a_start_that_is_asked_for_is_looked_for(check):
    """A cylinder that cannot carry its load is an error of the check, as it is of the run; --quick
    looks for no start."""
    held = """
        vbg = 1
        [translational.load]
        kind = "mass"
        nodes = ["x"]
        m = "200 kg"
        [translational.weight]
        kind = "force"
        nodes = ["x"]
        force = "{force}"
        [hydraulic.lift]
        kind = "cylinder"
        nodes = ["a", "tank"]
        on = "translational.x"
        bore = "50 mm"
        stroke = "1 m"
        length = "-0.5 m"
        pressure_a = "equilibrium"
    """
    code, out, told = check(held.format(force="2 kN"))
    assert code == 1
    assert "lift.pressure_a would have to be below zero" in told
    assert not out
    code, out, told = check(held.format(force="-2 kN"))
    assert code == 0, told
    assert "1 remark" in out and "locked in" in told  # and nothing of the start that was found
    code, _, told = check(held.format(force="2 kN"), "--quick")
    assert code == 0, told


def test_until_when_a_start_at_rest_holds_is_told(check):
    """That it rests is what was asked for; that only as long as a force stays is news."""
    resting = """
        vbg = 1
        [simulate]
        start = "equilibrium"
        [translational.load]
        kind = "mass"
        nodes = ["x"]
        m = "2 kg"
        [translational.spring]
        kind = "spring"
        nodes = ["x", "frame"]
        k = "300 N/m"
        [translational.push]
        kind = "force"
        nodes = ["x"]
        force = "{force}"
    """
    code, out, told = check(resting.format(force="3 N"))
    assert (code, told) == (0, "") and "no problems" in out
    code, out, told = check(resting.format(force="if(t > 0.4, 5, 3)"))
    assert code == 0 and "1 remark" in out
    assert "rests as long as push stays as it is at t = 0 s" in told
