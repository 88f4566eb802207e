"""Inputs of a vibration: what sources, signals and readings excite, in both methods."""

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.tmm_bridge.vibration.test_acting import (
    EXAMPLES,
    K,
    L,
    R,
    exact_pendulum,
    held_pair,
    motor_pendulum,
    on_oil,
    random_machine,
)
from vbg.analysis import linearise
from vbg.analysis.rest.idle import Place, resting_point, start_point
from vbg.cli.main import main
from vbg.cli.show.vibration import poses_at, responses, told_at
from vbg.errors import UsageError
from vbg.tmm_bridge.modes.modal import vibration


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_voltage_as_an_input(scale):
    """(J s^2 + m g l)(R + L s) q + K^2 s q = K u."""
    found = vibration(motor_pendulum(scale), excited=["U"])
    w = np.array([0.3, 4.0, 60.0])
    s = 1j * w
    exact = K / np.polyval(exact_pendulum(scale), s)
    amplitudes = found.response("U", w)
    np.testing.assert_allclose(amplitudes["pin.angle"], exact, rtol=1e-10)
    np.testing.assert_allclose(amplitudes["M.current"], (1 - K * s * exact) / (R + L * s))


def excited(model: vbg.Model, name: str, *, starts: bool = False) -> None:
    """Both methods answer alike to an input at `name`, and do answer."""
    system = vbg.assemble(model)
    place = Place(system, start_point(system)) if starts else resting_point(system)
    told = told_at(place)
    found = vibration(model, poses=poses_at(place), off=place.off, told=told, excited=[name])
    rows = responses(found, linearise(place.system, place.point, inputs=[name]), name)
    assert max(abs(one.value) for one in rows) > 0.0
    assert max(one.error for one in rows) < 1e-6


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (held_pair(), "control"),
        (held_pair(), "rail.slide"),
        (on_oil("spool"), "spool"),
        (on_oil("spool"), "cylinder.stroke"),
        (on_oil("spool"), "supply"),
    ],
)
def test_signals_readings_and_sources_as_inputs(model, name):
    excited(model, name)


@pytest.mark.parametrize("name", ["filtered", "control", "U"])
@pytest.mark.parametrize("seed", tail(range(6), 1))
def test_random_inputs_against_the_linearised_bond_graph(seed, name):
    excited(random_machine(seed), name, starts=True)


@pytest.mark.parametrize("name", ["demand1", "servo1", "U1"])
def test_functions_of_time_as_inputs(name):
    """A signal that follows time alone and what it feeds, in an example."""
    excited(vbg.read(EXAMPLES / "pick-and-place.toml"), name)


def test_shafts_and_circuits_answer_where_there_are_no_joints(capsys):
    for name, source, told in (("dc-motor-start", "U", "shaft.angle"), ("rlc-ladder", "U", "n10")):
        assert main(["show", "vibration", str(EXAMPLES / f"{name}.toml"), "--excite", source]) == 0
        assert told in capsys.readouterr().out


def test_inputs_that_are_none_are_refused():
    with pytest.raises(UsageError, match="push, control, and every quantity"):
        vibration(held_pair(), excited=["pull"]).response("pull", [1.0])
    driven = vbg.Model(
        bodies={"arm": {"mass": 1.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={
            "pin": {"kind": "revolute", "between": ["ground", "arm"], "axis": [0, 0, 1]}
            | {"drive": "turn"}
        },
        signals={"turn": {"kind": "sine", "amplitude": 1.0, "frequency": 1.0}},
    )
    with pytest.raises(UsageError, match=r"joints\.pin: its drive reads what is to be excited"):
        vibration(driven, excited=["turn"])
