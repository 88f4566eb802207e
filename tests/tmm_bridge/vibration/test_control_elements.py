"""Control elements in the overall transfer equation: in symbols, and in numbers at a frequency."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.tail import tail
from tests.tmm_bridge.vibration.test_acting import held_pair, on_oil, random_machine, seen
from vbg.analysis import linearise
from vbg.cli.main import main
from vbg.model import Model
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.modes.network.control import control_rows, overall_at

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_rows_of_a_controller_name_its_paths():
    rows = control_rows(lay_out(held_pair()))
    assert rows == (
        "u[hold.x]  =  Z[hold.x, rail.slide] y[rail.slide]",
        "y[rail.slide]  =  C[rail.slide] (U[car] U[pin] U[bob] z[bob])",
        "+ U[rail] B[hold.x] u[hold.x]  enters the equation of car's root",
    )


def braked_shaft() -> Model:
    """A shaft beside a hinge, on which two dry frictions act: the mechanism moves it with them."""
    inertia = dict.fromkeys(("xx", "yy", "zz"), 1.0)
    return Model(
        name="braked shaft",
        bodies={"bar": {"mass": 1, "inertia": inertia}},
        joints={"pin": {"kind": "revolute", "between": ["ground", "bar"], "axis": [0, 0, 1]}},
        rotational={
            "J": {"kind": "inertia", "nodes": ["a"], "J": 0.1},
            "k": {"kind": "spring", "nodes": ["a", "frame"], "k": 100.0},
            "one": {"kind": "friction", "nodes": ["a"], "coulomb": 0.3},
            "two": {"kind": "friction", "nodes": ["a"], "coulomb": 0.1},
        },
    )


def test_shafts_that_are_no_joints_have_a_name():
    rows = control_rows(lay_out(braked_shaft()))
    assert "y[shaft 1]  =  q[shaft 1]" in rows
    assert "+ u[shaft 1]  enters the equation of shaft 1" in rows


def test_element_of_a_pid_is_its_transfer_function():
    """kp + ki / s + kd s / (1 + s T), T = 1 ms if nothing else is written."""
    _, found = seen(held_pair())
    s = 0.3 + 7.0j
    whole = overall_at(found, s)
    expected = 300.0 + 200.0 / s + 40.0 * s / (1.0 + 1e-3 * s)
    action, reading = whole.rows.index("action hold.x"), whole.columns.index("y[rail.slide]")
    assert whole.matrix[action, reading] == pytest.approx(expected, rel=1e-12)
    assert whole.matrix[action, whole.columns.index("u[hold.x]")] == 1.0


def solved(found, s, push):
    """Hinges' displacements by a unit effort along one of them."""
    whole = overall_at(found, s)
    right = np.zeros(len(whole.rows))
    right[whole.rows.index(f"effort along joints.{push} q")] = 1.0
    size = np.abs(whole.matrix).max(axis=1)
    values = np.linalg.lstsq(whole.matrix / size[:, None], right / size, rcond=1e-15)[0]
    return dict(zip(whole.columns, values, strict=True))


@pytest.mark.parametrize(
    ("model", "push"),
    [(held_pair(), "pin"), pytest.param(on_oil("spool"), "pin", marks=pytest.mark.slow)],
    ids=["pid", "oil"],
)
def test_numbers_give_the_response_of_the_elimination(model, push):
    _, found = seen(model)
    for w in (0.5, 5.0, 80.0):
        values = solved(found, 1j * w, push)
        for name, amplitude in found.response("push", [w]).items():
            if name.endswith((".angle", ".slide")):
                ours = values[f"joints.{name.split('.')[0]} q"]
                assert ours == pytest.approx(amplitude[0], rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("seed", tail(range(6), 1))
def test_matrix_is_singular_at_the_poles_of_the_bond_graph(seed):
    """Its smallest singular value, rows and columns of one size, falls with the distance."""
    place, found = seen(random_machine(seed), starts=True)
    linear = linearise(place.system, place.point)

    def least(s):
        matrix = overall_at(found, s).matrix
        for _ in range(3):
            matrix = matrix / np.abs(matrix).max(axis=1)[:, None]
            matrix = matrix / np.abs(matrix).max(axis=0)
        return np.linalg.svd(matrix, compute_uv=False)[-1]

    largest = max(abs(mode.eigenvalue) for mode in linear.modes)
    simple = [m.eigenvalue for m in linear.modes if abs(m.eigenvalue) > 1e-3 * largest]
    for pole in simple:
        if abs(pole.imag) > 1e-3 * abs(pole):
            assert least(pole) < 1e-4 * least(pole * (1.0 + 0.02j))


def test_command(capsys):
    """Symbols and numbers of a servo; the matrix of an instant is another one."""
    path = str(EXAMPLES / "pick-and-place.toml")
    assert main(["show", "transfer", path, "--frequency", "40", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    numbers = told["at_frequency"]
    assert len(numbers["rows"]) == len(numbers["columns"]) == len(numbers["imaginary"])
    assert any(row.startswith("u[") for row in told["control"])
    assert main(["show", "transfer", path]) == 0
    assert "Control and one-dimensional parts" in capsys.readouterr().out
    assert main(["show", "transfer", path, "--frequency", "40", "--numbers"]) == 2


def test_forces_that_read_motions_are_control_elements(tmp_path, capsys):
    """A law of a [forces] table is one as a part of [signals] is; without bodies there is none."""
    path = tmp_path / "held.toml"
    path.write_text(
        """vbg = 1
[bodies.bar]
mass = 1
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.pin]
kind = "revolute"
between = ["ground", "bar"]
axis = [0, 0, 1]
[forces.hold]
kind = "torque"
on = "joints.pin"
torque = ["3*(1 - pin.angle) - 0.2*pin.speed"]
""",
        encoding="utf-8",
    )
    assert main(["show", "transfer", str(path)]) == 0
    told = capsys.readouterr().out
    assert "u[hold]  =  Z[hold, pin.angle] y[pin.angle]" in told
    assert main(["show", "transfer", str(path), "--frequency", "2", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)["at_frequency"]
    row, column = numbers["rows"].index("action hold"), numbers["columns"].index("y[pin.angle]")
    found = numbers["real"][row][column] + 1j * numbers["imaginary"][row][column]
    assert found == pytest.approx(3.0 + 0.2j * 2.0, rel=1e-12)
    servo = str(EXAMPLES / "servo-hydraulic.toml")
    assert main(["show", "transfer", servo, "--frequency", "2"]) == 2
    assert "has no bodies" in capsys.readouterr().err
