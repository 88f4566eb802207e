"""Poles and modes against closed forms and against the number of states."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.analysis import available_inputs, linearise, operating_point
from vbg.analysis.linear.linear import linearise_slipping
from vbg.analysis.probe.probe import Probe
from vbg.analysis.rest.idle import sensible_point
from vbg.errors import UsageError
from vbg.simulate.minimal.stepper import Minimal

EXAMPLES = Path(__file__).parents[3] / "examples"

# degrees of freedom, and one-dimensional states that are no part of them: fluxes, charges,
# contents of volumes, states of controllers, the posture of a prescribed node
STATES = {
    "andrews-squeezer": (1, 0),
    "ball-screw-axis": (1, 3),  # screw and table move as one
    "bennett": (1, 0),
    "bushing-mount": (6, 0),
    "coupled-pendulums": (2, 0),
    "dc-motor-start": (1, 1),
    "double-pendulum": (2, 0),
    "excavator-arm": (1, 3),
    "free-body": (6, 0),
    "gear-pair": (1, 0),
    "half-car": (0, 8),
    "heavy-top": (3, 0),
    "hydraulic-arm": (1, 2),
    "motor-slider-crank": (1, 3),
    "pendulum": (1, 0),
    "pick-and-place": (2, 6),
    "quarter-car": (2, 1),
    "rlc-ladder": (0, 20),
    "servo-hydraulic": (1, 4),
    "shaft-arm-slider": (3, 0),
    "slider-crank": (1, 0),
    "spatial-four-bar": (1, 0),
    "stewart-platform": (0, 0),
    "transistor-amplifier": (0, 5),
    "triple-pendulum": (9, 0),
    "two-link-robot": (0, 0),
}


@cache
def system(name):
    return vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))


@pytest.mark.parametrize("name", tail(sorted(path.stem for path in EXAMPLES.glob("*.toml")), 6))
def test_as_many_poles_as_states(name):
    """Two for every degree of freedom, one for every one-dimensional state; and not more
    than the independent coordinates, speeds and other states of the minimal form."""
    machine = system(name)
    found = linearise_slipping(machine, linearise(machine, inputs=[]).point)
    assert len(set(found.state_names)) == len(found.state_names)
    stepper = Minimal(vbg.start(machine), 0.0, vbg.start(machine).state, 1e-8, 1e-10)
    tied = {*stepper.programs.posture, *stepper.programs.tied}
    others = [
        i
        for s in machine.slices
        for i in range(s.first, s.last)
        if i not in tied and s.state.kind not in ("quadrature", "discrete")
    ]
    assert len(found.eigenvalues) <= sum(stepper.freedoms) + len(others)
    if name in STATES:
        freedoms, single = STATES[name]
        assert len(found.eigenvalues) == 2 * freedoms + single


def rods(angle=0.3, **extra):
    """Two uniform rods of 1 m and 1 kg, hanging from a hinge about y."""
    inertia = {"xx": 1e-4, "yy": 1 / 12, "zz": 1 / 12}
    rod = {"mass": 1.0, "inertia": inertia, "points": {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]}}
    return vbg.Model(
        name="rods",
        gravity=[0, 0, -9.81],
        bodies={"upper": rod, "lower": rod},
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "upper.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": angle, "speed": 0.0},
            },
            "elbow": {
                "kind": "revolute",
                "between": ["upper.B", "lower.A"],
                "axis": [0, 1, 0],
                "initial": {"angle": 0.2, "speed": 0.0},
            },
        },
        **extra,
    )


def test_double_pendulum_frequencies_and_shapes():
    """det(K - w^2 M) = 0 with M = [[4/3, 1/2], [1/2, 1/3]], K = g diag(3/2, 1/2)
    in absolute angles."""
    system = vbg.assemble(rods())
    point = operating_point(system)
    assert point.kind == "equilibrium"
    found = linearise(system, point)
    assert_allclose(point.x[system.state_names.index("hinge.angle")], np.pi / 2, atol=1e-9)
    assert_allclose([m.frequency for m in found.modes], [2.68011401, 7.18867087], rtol=1e-8)
    M, K = np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]]), 9.81 * np.diag([3 / 2, 1 / 2])
    for mode in found.modes:
        assert mode.damping == pytest.approx(0.0, abs=1e-9)
        first = mode.states["hinge.angle"]
        shape = np.array([first, first + mode.states["elbow.angle"]])
        assert_allclose((K - mode.frequency**2 * M) @ shape, 0.0, atol=1e-7)
        # Newton across the rods: m (a1 + a2) = F_x with a = -w^2 z-shift of the mass centres
        across = shape @ np.array([0.5 + 1.0, 0.5]) * mode.frequency**2
        assert_allclose(abs(mode.shape["hinge.force.x"]), abs(across), rtol=1e-6)
    assert "undamped" in found.stability


def test_slider_crank_hangs_with_one_mode():
    model = vbg.read(EXAMPLES / "slider-crank.toml").with_parameters(M=0.0, c=0.0, speed=0.0)
    system = vbg.assemble(model)
    point = operating_point(system)
    found = linearise(system, point)
    assert point.kind == "equilibrium"
    assert len(found.modes) == 1 and found.modes[0].oscillates
    assert found.modes[0].frequency == pytest.approx(small_oscillation(model), rel=1e-6)


@pytest.mark.slow
def test_a_driven_crank_is_looked_at_without_its_motor():
    """The constant torque of the example leaves no rest: its motor is switched off."""
    driven = system("slider-crank")
    assert operating_point(driven).kind == "instant"
    place = sensible_point(driven)
    assert place.off == ("motor",) and place.point.kind == "equilibrium"
    (mode,) = linearise(place.system, place.point, inputs=[]).modes
    model = vbg.read(EXAMPLES / "slider-crank.toml")
    assert mode.oscillates and mode.frequency == pytest.approx(small_oscillation(model), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "kind", "off"),
    [
        ("pendulum", "equilibrium", ()),
        ("gear-pair", "steady motion", ()),
        ("transistor-amplifier", "equilibrium", ()),
        ("motor-slider-crank", "instant", ()),
    ],
)
def test_the_first_sensible_point_that_there_is(name, kind, off):
    place = sensible_point(system(name))
    assert (place.point.kind, place.off) == (kind, off)


def small_oscillation(model):
    """w^2 = V'' / J at the minimum, by differences of the energies of one coordinate."""
    r, l = model.parameters["r"], model.parameters["l"]
    m_crank, (_, J, *_) = model.bodies["crank"].mass, model.bodies["crank"].inertia
    m_rod, (_, J_rod, *_) = model.bodies["conrod"].mass, model.bodies["conrod"].inertia
    m_piston = model.bodies["piston"].mass

    def place(phi):
        psi = np.arcsin(r * np.sin(phi) / l)
        crank = r / 2 * np.array([np.cos(phi), np.sin(phi)])
        rod = 2 * crank + l / 2 * np.array([np.cos(psi), -np.sin(psi)])
        return crank, rod, r * np.cos(phi) + l * np.cos(psi), psi

    h = 1e-4
    before, here, after = (place(-np.pi / 2 + d) for d in (-h, 0.0, h))
    energy = [9.81 * (m_crank * c[1] + m_rod * b[1]) for c, b, _, _ in (before, here, after)]
    stiffness = (energy[0] - 2 * energy[1] + energy[2]) / h**2
    v_crank, v_rod = ((after[i] - before[i]) / (2 * h) for i in (0, 1))
    v_piston, w_rod = ((after[i] - before[i]) / (2 * h) for i in (2, 3))
    inertia = J + m_crank * v_crank @ v_crank + m_rod * v_rod @ v_rod
    inertia += J_rod * w_rod**2 + m_piston * v_piston**2
    return np.sqrt(stiffness / inertia)


def test_motor_poles():
    """s^2 + R/L s + K^2 / (L J) = 0, and the angle, which nothing acts on."""
    found = linearise(system("dc-motor-start"), inputs=[])
    K, J = 95 / (1425 * 2 * np.pi / 60), 0.3
    expected = np.roots([1.0, 0.05 / 1.5e-3, K**2 / (1.5e-3 * J)])
    poles = found.eigenvalues[np.abs(found.eigenvalues) > 1e-6]
    assert_allclose(np.sort_complex(poles), np.sort_complex(expected), rtol=1e-9)


def top(spin):
    return vbg.Model(
        name="top",
        bodies={
            "top": {
                "mass": 1.5,
                "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.008},
                "position": [0, 0, 0.3],
                "angular_velocity": [0, 0, spin],
                "points": {"tip": [0, 0, -0.3]},
            }
        },
        joints={"tip": {"kind": "spherical", "between": ["ground", "top.tip"]}},
    )


@pytest.mark.parametrize("spin", [230.0, 600.0])
def test_sleeping_top_precesses_and_nutates(spin):
    """J_A w^2 - J_3 spin w + m g l = 0 (Goldstein, Classical Mechanics, 5.7, small tilt)."""
    found = linearise(vbg.assemble(top(spin)))
    assert found.point.kind == "steady motion"
    J_A, J_3, moment = 0.02 + 1.5 * 0.09, 0.008, 1.5 * 9.81 * 0.3
    expected = np.sort(np.roots([J_A, -J_3 * spin, moment]).real)
    frequencies = [m.frequency for m in found.modes if m.oscillates]
    assert_allclose(frequencies, expected, rtol=1e-7)


def test_slow_top_falls():
    found = linearise(vbg.assemble(top(100.0)))
    assert found.stability.startswith("Unstable")


def test_leaning_top_precesses_and_nutates_about_it():
    """Steady precession W: m g l = L_3 W - J_A W^2 cos(tilt); nutation about it:
    w^2 = U'' / J_A, U = (p_z - L_3 cos)^2 / (2 J_A sin^2) + m g l cos."""
    tilt, L_3, J_A, moment = 0.9, 3.2, 0.02 + 1.5 * 0.09, 1.5 * 9.81 * 0.3
    W = np.roots([J_A * np.cos(tilt), -L_3, moment]).real.min()
    document = top(0.0).document
    arm = 0.3 * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    body = dict(document["bodies"]["top"]) | {
        "rotation": {"axis": [0, 1, 0], "angle": tilt},
        "position": arm.tolist(),
        "velocity": [0.0, W * arm[0], 0.0],
        "angular_velocity": [-W * np.sin(tilt), 0.0, L_3 / 0.008],
    }
    model = vbg.Model(name="leaning top", bodies={"top": body}, joints=document["joints"])
    found = linearise(vbg.assemble(model))
    assert found.point.kind == "steady motion"
    p_z = L_3 * np.cos(tilt) + J_A * W * np.sin(tilt) ** 2

    def potential(angle):
        spin = p_z - L_3 * np.cos(angle)
        return spin**2 / (2 * J_A * np.sin(angle) ** 2) + moment * np.cos(angle)

    h = 1e-3
    curvature = (potential(tilt + h) - 2 * potential(tilt) + potential(tilt - h)) / h**2
    (nutation,) = (mode for mode in found.modes if mode.oscillates)
    assert nutation.frequency == pytest.approx(np.sqrt(curvature / J_A), rel=1e-5)
    assert len(found.eigenvalues) == 6
    assert sum(mode.eigenvalue == 0.0 for mode in found.modes) == 4  # both angles, both momenta


def test_jacobian_is_that_of_finite_differences():
    crank = system("slider-crank")
    probe = Probe(crank)
    start, n = vbg.start(crank), crank.size
    x = start.state
    exact = probe.jacobian(0.0, x)[probe.spans["rate"], :n]
    h = 1e-6
    numeric = np.column_stack(
        [
            (start.rate(0.0, x + h * e)[:n] - start.rate(0.0, x - h * e)[:n]) / (2 * h)
            for e in np.eye(n)
        ]
    )
    assert_allclose(exact, numeric, rtol=1e-4, atol=1e-3)


def test_inputs_and_outputs_by_name():
    """Torque on a hinge: from input to speed at high frequency 1 / inertia."""
    model = rods(forces={"motor": {"kind": "torque", "on": "joints.hinge", "torque": [0.0]}})
    system = vbg.assemble(model)
    assert [i.name for i in available_inputs(system)] == ["motor"]
    point = operating_point(system)
    found = linearise(system, point, ["motor"], ["hinge.speed", "hinge.force.x"])
    assert found.output_names == ("hinge.speed", "hinge.force.x")
    M = np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]])
    assert_allclose((found.C @ found.B)[0, 0], np.linalg.inv(M)[0, 0], rtol=1e-8)
    with pytest.raises(UsageError, match="motor"):
        linearise(system, point, ["engine"])
    with pytest.raises(UsageError, match=r"hinge\.foo"):
        linearise(system, point, [], ["hinge.foo"])


@pytest.mark.parametrize("friction", [{}, {"coulomb": 2.0, "static": 3.0}])
def test_spring_without_direction_ends_in_words(friction):
    """Both ends at one point: no Jacobian, and a run that says so, sticking or not."""
    model = vbg.Model(
        name="closed spring",
        gravity=[0, 0, 0],
        bodies={"b": {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}},
        joints={
            "j": {
                "kind": "prismatic",
                "between": ["ground", "b"],
                "axis": [0, 0, 1],
                "friction": friction,
            }
        },
        forces={"s": {"kind": "spring", "between": ["ground", "b"], "k": 100.0, "length": 0.0}},
    )
    with pytest.raises(UsageError, match="no linear form at t = 0 s"):
        operating_point(vbg.assemble(model), "instant")
    solution = vbg.simulate(model, t_end=0.1, output_step=0.05)
    assert solution.status.code != "finished"
    assert "no value" in solution.status.sentence
