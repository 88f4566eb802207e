"""Drives that jump are refused, kinks are impulses whose work is counted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.assemble import assemble_start
from vbg.errors import AssemblyError, ModelError
from vbg.simulate import drives_told
from vbg.tmm_bridge.solver import simulate as second_solver


def driven(drive: str, mass: float = 2.0, size: float = 1.0) -> vbg.Model:
    """A body on a driven slide; a second one hangs on it by a hinge."""
    J = 0.01 * mass * size**2
    body = {"mass": mass, "inertia": {"xx": J, "yy": J, "zz": J}}
    return vbg.Model(
        vbg=1,
        bodies={"cart": body, "bob": {**body, "points": {"top": [0, 0, size]}}},
        joints={
            "s": {
                "kind": "prismatic",
                "between": ["ground", "cart"],
                "axis": [1, 0, 0],
                "drive": drive,
            },
            "h": {"kind": "revolute", "between": ["cart", "bob.top"], "axis": [0, 1, 0]},
        },
        simulate={"t_end": 1.0, "output_step": 0.01},
    )


SMOOTH = (
    "atan2(sin(t), cos(t))",
    "asin(0.5*sin(5*t))",
    "sqrt(0.1 + t)**3",
    "sqrt(0.3 + sin(9*t)**2)",
)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_drive_that_jumps_is_refused(size: float) -> None:
    for drive in (
        f"{size}*sign(t - 0.503)",
        f"{size}*max(0, sign(sin(7*t)))",
        f"{size}*atan2(sin(20*t), cos(20*t))",
    ):
        system = assemble_start(driven(drive, size=size))
        (problem,) = drives_told(system)
        assert problem.severity == "error" and "joints.s" in problem.where
        with pytest.raises(ModelError, match="jumps by"):
            vbg.simulate(system)


def test_a_smooth_drive_and_a_signal_that_jumps_are_fine() -> None:
    for drive in ("0.1*sin(5*t)", "0.1*abs(t + 1)", "0.05*max(t - 0.4, 0)**2", *SMOOTH):
        assert drives_told(assemble_start(driven(drive))) == ()


@pytest.mark.parametrize("drive", ["asin(sin(5*t))", "0.1*acos(cos(5*t + 1))"])
def test_a_drive_whose_speed_is_none_over_none_is_refused(drive: str) -> None:
    """A triangle; at its corners the speed is cos / sqrt(1 - sin^2)."""
    system = assemble_start(driven(drive))
    (problem,) = drives_told(system)
    assert problem.severity == "error" and "has no speed at t = 0." in problem.what
    with pytest.raises(ModelError, match="has no speed"):
        vbg.simulate(system)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_drive_that_begins_at_the_end_of_a_function_is_told_as_such(size: float) -> None:
    """Its slope is infinite there, or 0 times infinite: both solvers say so of the joint (a
    traceback of a singular value decomposition in the second, two points that coincide in the
    first)."""
    edges = ("sqrt(t)", "t**0.5", "acos(1 - t)", "asin(cos(t))", "acos(cos(5*t))", "sqrt(t**3)")
    for edge in edges:
        model = driven(f"{size}*{edge}", size=size)
        with pytest.raises(AssemblyError, match=r"joints\.s.*has no speed at t = 0 s"):
            vbg.simulate(model)
        with pytest.raises(AssemblyError, match=r"joints\.s.*begins where a function in it ends"):
            second_solver(model)


@pytest.mark.parametrize("never", ["1/0", "log(0)", "0**-1"])
def test_a_drive_that_ends_in_no_value_is_refused(never: str) -> None:
    (problem,) = drives_told(assemble_start(driven(f"if(t < 0.3, 0.1*t, {never})")))
    assert problem.severity == "error" and "at t = 0.3 s" in problem.what


@pytest.mark.parametrize("shift", [0.51234, np.pi / 6, 0.5])
@pytest.mark.parametrize("drive", ["0.3*sqrt((t - {0})**2)", "0.3*((t - {0})**2)**0.5"])
def test_a_root_that_touches_zero_has_the_kink_of_abs(drive: str, shift: float) -> None:
    """sqrt(x^2) = |x|: the same impulse at the same time, or a refusal where it is hit to the
    last digit; in both solvers."""
    system = assemble_start(driven(drive.format(shift)))
    (told,) = drives_told(system)
    assert f"at t = {shift:.6g} s" in told.what
    if told.severity == "error":
        assert "has no speed" in told.what
        return
    found, right = (
        vbg.simulate(assemble_start(driven(text)))
        for text in (drive.format(shift), f"0.3*abs(t - {shift})")
    )
    times = [[e.time for e in s.audit.events if "impulse" in e.what] for s in (found, right)]
    assert_allclose(times[0], times[1], rtol=1e-12)
    assert_allclose(found["energy.supplied"][-1], right["energy.supplied"][-1], rtol=1e-6)
    second = second_solver(driven(drive.format(shift)))
    assert_allclose(second["h.speed"][-1], found["h.speed"][-1], rtol=1e-5)


@pytest.mark.parametrize("mass", [1e-6, 2.0, 1e6])
@pytest.mark.parametrize("method", ["auto", "radau", "rk4"])
def test_the_impulse_at_a_kink_is_counted(mass: float, method: str) -> None:
    """x = 0.3 max(0, t - 0.5): the cart gets m v, the bob on its hinge turns:
    (J + m l^2) w = m l v.  The work is the kinetic energy behind the impulse."""
    v, size = 0.3, 1.0
    system = assemble_start(driven(f"{v}*max(0, t - 0.5)", mass, size))
    (note,) = drives_told(system)
    assert note.severity == "note" and "0.5 s" in note.what
    solution = vbg.simulate(system, method=method)
    assert solution.status.code == "finished" and solution.audit.failures == ()
    (event,) = (e for e in solution.audit.events if "impulse" in e.what)
    assert event.where == "joints.s" and event.time == pytest.approx(0.5, abs=1e-12)
    J = 0.01 * mass * size**2 + mass * size**2
    w = mass * size * v / J
    expected = 0.5 * mass * v**2 + 0.5 * mass * v**2 - 0.5 * J * w**2
    row = int(np.searchsorted(solution.time, 0.5 - 1e-9))
    assert_allclose(solution["energy.supplied"][row], expected, rtol=1e-6)
    assert solution.audit.energy_residual < 1e-6


def test_many_kinks_of_a_rectified_sine_close_the_energy() -> None:
    system = assemble_start(driven("0.1*abs(sin(10*t))"))
    solution = vbg.simulate(system)
    assert solution.audit.failures == ()
    kinks = [e.time for e in solution.audit.events if "impulse" in e.what]
    assert_allclose(kinks, np.pi / 10 * np.arange(1, 4), atol=1e-9)


@pytest.mark.parametrize("what", ["arm.angle", "2*arm.speed + sin(t)", "arm.drive"])
def test_a_drive_that_reads_the_motion_is_refused_where_it_stands(what):
    body = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    hinge = {"kind": "revolute", "between": ["ground", "b"], "axis": [0, 0, 1], "drive": what}
    with pytest.raises(ModelError, match="must be a function of time") as told:
        vbg.start(vbg.Model(bodies={"b": body}, joints={"arm": hinge}))
    (problem,) = told.value.problems
    assert problem.where == "joints.arm.drive" and problem.remedy
