"""Bodies with next to no moment of inertia at joints that hold them well."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import vbg
from vbg.errors import AssemblyError
from vbg.io import toml

G = 9.81


def model(mass: float, inertia: float, arm: float) -> vbg.Model:
    """A mass at the end of an arm, let go where it is level."""
    return toml.parse(
        f"""vbg = 1
[bodies.rod]
mass = {mass}
inertia = {{ xx = {inertia}, yy = {inertia}, zz = {inertia} }}
points = {{ A = [{-arm}, 0, 0] }}
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
""",
        "rod.toml",
    )


@pytest.mark.parametrize(("mass", "arm"), [(1.0, 1.0), (1e-6, 1e-3), (1e6, 1e3)])
def test_a_point_mass_swings(mass, arm):
    """Moment of inertia 1e-12 m a^2: the hinge is no singular posture."""
    t_end = 1.5 * np.sqrt(arm)
    run = vbg.simulate(model(mass, 1e-12 * mass * arm**2, arm), t_end=t_end, output_step=t_end / 20)
    assert run.status.code == "finished" and not run.audit.failures

    def rate(_, state):
        return [state[1], G / arm * np.cos(state[0])]

    exact = solve_ivp(rate, (0, t_end), [0, 0], t_eval=run.time, rtol=1e-11, atol=1e-13)
    assert_allclose(run["hinge.angle"], exact.y[0], atol=1e-6)


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("part", [1e-15, 1e-18, 1e-24, 1e-30, 1e-60])
def test_an_inertia_that_is_rounding_counts_or_is_named_and_no_posture_blamed(mass, part):
    try:
        start = vbg.start(vbg.assemble(model(mass, part * mass, 1.0)))
    except AssemblyError as told:
        assert "moment of inertia" in str(told) and "hinge" in str(told)
        assert "singular" not in str(told) and part < 1e-20
    else:
        place = start.system.state_names.index("rod.angular_momentum.y")
        assert_allclose(start.rate(0.0, start.state)[place], G * part * mass, rtol=1e-9)
