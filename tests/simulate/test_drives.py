"""Drives that jump are refused, kinks are impulses whose work is counted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.assemble import assemble_start
from vbg.errors import ModelError
from vbg.simulate import drives_told


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


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_drive_that_jumps_is_refused(size: float) -> None:
    for drive in (f"{size}*sign(t - 0.503)", f"{size}*max(0, sign(sin(7*t)))"):
        system = assemble_start(driven(drive, size=size))
        (problem,) = drives_told(system)
        assert problem.severity == "error" and "joints.s" in problem.where
        with pytest.raises(ModelError, match="jumps by"):
            vbg.simulate(system)


def test_a_smooth_drive_and_a_signal_that_jumps_are_fine() -> None:
    for drive in ("0.1*sin(5*t)", "0.1*abs(t + 1)", "0.05*max(t - 0.4, 0)**2"):
        assert drives_told(assemble_start(driven(drive))) == ()


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
