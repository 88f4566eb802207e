"""Inputs at signals and loops opened at them, against transfer functions written by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import frequency_response, linearise, operating_point
from vbg.analysis.linear.linear import linearise_sides
from vbg.analysis.linear.taps import tapped
from vbg.analysis.rest.idle import sensible_point
from vbg.errors import UsageError

R, L, K, J, B = 0.8, 2e-3, 0.3, 4e-3, 5e-3
KP, KI, KD, FILTER = 40.0, 400.0, 1.5, 2e-3
W = np.logspace(-1.0, 4.0, 41)


def servo(between=None, voltage="control", **changes):
    """A DC motor whose voltage a PID controller of its angle sets."""
    signals = {
        "demand": {"kind": "step", "height": 0.3, "start": 0.05},
        "control": {
            "kind": "pid",
            "demand": "demand",
            "measured": "rotational.shaft.angle",
            "kp": KP,
            "ki": KI,
            "kd": KD,
            "filter": FILTER,
        },
    }
    motor = {"kind": "dc_motor", "nodes": ["a", "gnd"], "on": "rotational.shaft"}
    supply = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": voltage}
    if between is not None:
        signals["between"] = {"input": "control", **between}
        supply["voltage"] = "between"
    for name, more in changes.items():
        signals[name] = more
    return vbg.Model(
        name="servo",
        electric={"U": supply, "M": motor | {"R": R, "L": L, "K": K, "J": J}},
        rotational={"bearing": {"kind": "damper", "nodes": ["shaft"], "c": B}},
        signals=signals,
        simulate={"t_end": 1.0},
    )


def plant(s):
    """Angle by voltage: K / (s ((L s + R)(J s + B) + K^2))."""
    return K / (s * ((L * s + R) * (J * s + B) + K**2))


def controller(s):
    return KP + KI / s + KD * s / (1 + FILTER * s)


def response(linear, *names):
    return frequency_response(linear, *names, frequency=W).value


s = 1j * W
LOOP = controller(s) * plant(s)


@pytest.mark.parametrize("cut", ["control", "rotational.shaft.angle"])
def test_loop_is_controller_times_plant_with_the_sign_of_the_feedback(cut):
    linear = linearise(vbg.assemble(servo()), loop=cut)
    assert linear.input_names == linear.output_names == (cut,)
    assert_allclose(response(linear), -LOOP, rtol=1e-9)


def test_closed_loop_responses_from_demand_disturbance_and_sensor():
    """T = L/(1+L) of the demand, P/(1+L) of the voltage, -T of the sensor's error."""
    system = vbg.assemble(servo())
    angle = "rotational.shaft.angle"
    linear = linearise(system, inputs=["demand", "control", "U", angle], outputs=[angle, "control"])
    assert_allclose(response(linear, "demand", angle), LOOP / (1 + LOOP), rtol=1e-9)
    assert_allclose(response(linear, "control", angle), plant(s) / (1 + LOOP), rtol=1e-9)
    assert_allclose(response(linear, "U", angle), plant(s) / (1 + LOOP), rtol=1e-9)
    assert_allclose(response(linear, angle, angle), -LOOP / (1 + LOOP), rtol=1e-9)
    assert_allclose(response(linear, "control", "control"), -LOOP / (1 + LOOP), rtol=1e-9)


def test_closed_poles_are_where_the_loop_is_one():
    """L is that of the machine: at each pole of the closed one it is 1."""
    system = vbg.assemble(servo())
    opened, closed = linearise(system, loop="control"), linearise(system, inputs=[])
    for pole in closed.eigenvalues:
        inverse = np.linalg.solve(pole * np.eye(len(opened.A)) - opened.A, opened.B)
        assert (opened.C @ inverse + opened.D)[0, 0] == pytest.approx(1.0, abs=1e-7)


def test_open_loop_response_of_another_pair():
    """With the controller's output cut the voltage moves the plant alone."""
    system = vbg.assemble(servo())
    linear = linearise(
        system, inputs=["control", "demand"], outputs=["rotational.shaft.angle"], loop="control"
    )
    assert_allclose(response(linear, "control", None), plant(s), rtol=1e-9)
    assert_allclose(response(linear, "demand", None), 0.0, atol=1e-12)


def test_a_tap_changes_nothing_of_the_run():
    system = vbg.assemble(servo())
    other = tapped(system, ["demand", "control", "rotational.shaft.angle"])
    assert other.state_names == system.state_names
    one, two = (vbg.simulate(m, t_end=0.3, output_step=0.01) for m in (system, other))
    assert_allclose(one["control"], two["control"], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("w", [4.0, 60.0])
def test_a_sine_added_to_the_demand_comes_out_as_the_response_says(w):
    """Steady oscillation of a run, by projection on sine and cosine over whole periods."""
    angle, size = "rotational.shaft.angle", 0.02
    sine = {"kind": "sine", "amplitude": size, "frequency": w}
    driven = vbg.assemble(servo(demand=sine))
    period = 2 * np.pi / w
    last = np.ceil(2.0 / period) * period
    run = vbg.simulate(driven, t_end=last + 4 * period, output_step=period / 64, rtol=1e-9)
    steady = run.time >= last - 1e-9
    time, value = run.time[steady][:256], run[angle][steady][:256]
    found = 2 * np.mean((value - value.mean()) * np.exp(-1j * w * time)) * 1j / size
    linear = linearise(vbg.assemble(servo()), inputs=["demand"], outputs=[angle])
    expected = frequency_response(linear, frequency=[w]).value[0]
    assert abs(found - expected) <= 1e-3 * abs(expected)


def test_a_delay_is_a_phase_alone():
    """The fraction of a dead time is all-pass; up to 3 / time its phase is that of exp(-s T)."""
    delayed = linearise(vbg.assemble(servo({"kind": "delay", "time": 3e-3})), loop="control")
    assert_allclose(np.abs(response(delayed)), np.abs(LOOP), rtol=1e-8)
    low = W < 1000.0
    assert_allclose(response(delayed)[low], -(LOOP * np.exp(-3e-3 * s))[low], rtol=1e-6)


def test_a_sample_and_hold_in_the_way_is_refused_with_its_lag_as_remedy():
    sampled = vbg.assemble(servo({"kind": "sample_and_hold", "period": 4e-3}))
    with pytest.raises(UsageError, match=r"between samples every 0\.004 s.*time = 0\.002"):
        linearise(sampled, loop="control")
    # cut behind it, the way from the voltage to the angle is continuous
    linear = linearise(sampled, None, ["between"], ["rotational.shaft.angle"], loop="between")
    assert_allclose(response(linear), plant(s), rtol=1e-9)


def swung(torque, drive=None, **signals):
    """A pendulum with a motor that turns it round and round."""
    return vbg.Model(
        name="swung",
        gravity=[0, 0, -9.81],
        bodies={
            "rod": {
                "mass": 1.0,
                "inertia": {"xx": 1e-3, "yy": 1 / 12, "zz": 1 / 12},
                "points": {"A": [-0.5, 0, 0]},
            }
        },
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "rod.A"],
                "axis": [0, 1, 0],
                "friction": {"viscous": 0.4},
                **({} if drive is None else {"drive": drive}),
            }
        },
        forces={"motor": {"kind": "torque", "on": "joints.hinge", "torque": [torque]}},
        signals={"push": {"kind": "expression", "expression": "30 + 2*sin(t)"}, **signals},
    )


def test_a_motor_that_was_switched_off_still_takes_an_input():
    place = sensible_point(vbg.assemble(swung("0.5*push")))
    assert place.off == ("motor",)
    linear = linearise(place.system, place.point, ["push"], ["hinge.angle"])
    expected = 0.5 / (s**2 / 3 + 0.4 * s + 9.81 / 2)
    assert_allclose(response(linear), expected, rtol=1e-7)


def test_components_go_by_letter_and_by_index():
    """A torque that follows a force: gain of the way to itself with the loop cut there."""
    model = swung("0.1*hinge.force.x")
    for name in ("hinge.force.x", "hinge.force[0]"):
        linear = linearise(vbg.assemble(model), loop=name)
        assert linear.output_names == ("hinge.force.x",)
        assert np.ptp(np.abs(response(linear))) > 0.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("demnd", "did you mean 'demand'"),
        ("nothing", r"sources of the model \(U\), its signals \(demand, control\)"),
        ("M.current", "nothing reads M.current"),
    ],
)
def test_what_can_be_no_input_says_why(name, said):
    with pytest.raises(UsageError, match=said):
        linearise(vbg.assemble(servo()), inputs=[name])


def test_a_drive_is_no_input():
    """Its readers need its rate: the signal of a drive cannot be tapped."""
    driven = swung(0.0, drive="push")
    with pytest.raises(UsageError, match=r"push can be no input.*function of time"):
        linearise(vbg.assemble(driven), inputs=["push"], outputs=["hinge.angle"])


def test_operating_point_of_the_closed_loop_is_kept_when_it_is_opened():
    """A controller against gravity: opened, its readers still get what holds the pendulum."""
    hold = {
        "kind": "pid",
        "demand": 0.4,
        "measured": "hinge.angle",
        "kp": 30.0,
        "ki": 40.0,
        "kd": 2.0,
    }
    system = vbg.assemble(swung("hold", hold=hold))
    point = operating_point(system)
    linear = linearise(system, point, loop="hold")
    pid = 30.0 + 40.0 / s + 2.0 * s / (1 + 1e-3 * s)
    stiffness = 9.81 / 2 * np.sin(0.4)
    assert_allclose(response(linear), -pid / (s**2 / 3 + 0.4 * s + stiffness), rtol=1e-6)


def test_a_kink_that_only_the_input_reaches_has_both_sides():
    """With the loop cut before a law with a corner its slope is 1 above and 0.2 below."""
    broken = {"kind": "expression", "expression": "max(control, 0.2*control)"}
    system = vbg.assemble(servo(voltage="bent", bent=broken))
    sides = linearise_sides(system, loop="control", most=4)
    assert [len(side.side) for side in sides] == [1, 1]
    for side in sides:
        slope = 1.0 if ">" in side.side[0] else 0.2
        assert_allclose(response(side), -slope * LOOP, rtol=1e-9)
