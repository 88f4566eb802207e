"""Machines with beams in large motion: published figures, both solvers with their end forces."""

import numpy as np
import pytest

import vbg
from tests.anywhere import SIZE, shaken
from tests.tail import tail
from vbg.model.placing.placed import place
from vbg.simulate.steppers.rounding import BEARS, RoundingOf
from vbg.tmm_bridge.solver import simulate

SPEED_UP = (
    "if(t < 15, 0.4*(t^2/2 + (15/(2*pi))^2*(cos(2*pi*t/15) - 1)), 6*t - 45)"  # angle of the hub
)


def spun(elements):
    """The beam of J. C. Simo, L. Vu-Quoc, J. Appl. Mech. 53 (1986) 855, whose hub is turned
    up to 6 rad/s in 15 s."""
    beam = {
        "between": ["hub", "free"],
        "length": 10.0,
        "elements": elements,
        "EA": 2.8e7,
        "GA_y": 1e7,
        "GA_z": 1e7,
        "GJ": 1.4e4,
        "EI_y": 1.4e4,
        "EI_z": 1.4e4,
        "mass_per_length": 1.2,
    }
    axle = {"kind": "revolute", "between": ["ground", "hub"], "axis": [0, 0, 1], "drive": SPEED_UP}
    inertia = {"xx": 1, "yy": 1, "zz": 1}
    return vbg.Model(
        name="spin-up",
        gravity=[0, 0, 0],
        bodies={"hub": {"mass": 1, "inertia": inertia}},
        joints={"axle": axle},
        beams={"boom": beam},
    )


def tip(solution, elements, length):
    """Displacements of the tip along and across the line that turns with the hub."""
    a, p = solution["axle.angle"].ravel(), solution[f"boom_{elements}.N.position"]
    along = np.cos(a) * p[:, 0] + np.sin(a) * p[:, 1]
    return along - length, -np.sin(a) * p[:, 0] + np.cos(a) * p[:, 1]


def agree(one, two, names, tolerance):
    for name in names:
        size = np.abs(one[name]).max()
        np.testing.assert_allclose(two[name], one[name], atol=tolerance * size, err_msg=name)


def held_and_carried(elements, beam="boom"):
    """Signals of what a beam transmits: of its elements and of its clamp."""
    ends = [f"{beam}_A"] if beam == "boom" else []
    inside = [f"{beam}_e{k + 1}" for k in range(elements)]
    return [f"{name}.{what}" for name in (*ends, *inside) for what in ("force", "torque")]


def test_spin_up_has_the_published_deflection_and_stretch():
    """The tip lags by about 0.6 m at half speed; then the beam stays stretched by
    mu w^2 L^3 / (3 EA), with lumped masses by 1 + 1/(8 n^2) of it."""
    n = 4
    two = simulate(spun(n), t_end=20.0, output_step=0.05, rtol=1e-6, atol=1e-8)
    assert two.status.code == "finished"
    stretch, lag = tip(two, n, 10.0)
    assert lag.min() == pytest.approx(-0.57, abs=0.03)
    assert two.time[lag.argmin()] == pytest.approx(7.0, abs=0.6)
    steady = 1.2 * 6.0**2 * 10.0**3 / (3.0 * 2.8e7)
    assert steady == pytest.approx(5.14e-4, rel=1e-3)  # as published
    assert stretch[-60:].mean() == pytest.approx(steady * (1 + 1 / (8 * n**2)), rel=1e-3)
    assert np.abs(lag[-60:]).max() < 5e-3


@pytest.mark.parametrize(
    ("elements", "t_end"), [(3, 2.0), pytest.param(4, 20.0, marks=pytest.mark.slow)]
)
def test_spin_up_by_both_solvers(elements, t_end):
    model = spun(elements)
    # at 1e-8 a trial of explicit steps leaves a wave along the boom, by luck: up to 3e-3 N at
    # neighbouring tolerances; at 1e-10 1e-7 N
    run = {"t_end": t_end, "output_step": t_end / 20, "rtol": 1e-10, "atol": 1e-12}
    one = vbg.simulate(vbg.assemble(model), method="radau", **run)
    two = simulate(model, **run)
    assert one.status.code == two.status.code == "finished"
    agree(one, two, [*held_and_carried(elements), "axle.drive"], 2e-5)
    np.testing.assert_allclose(tip(two, elements, 10.0), tip(one, elements, 10.0), atol=1e-6)


def crank(elements, ramp, damping):
    """B. Simeon's slider-crank (Math. Modelling of Systems 2 (1996) 1; IVP Test Set: slider
    crank): elastic connecting rod, crank at 150 rad/s, here from rest within `ramp` seconds."""
    w = 150.0
    angle = f"if(t < {ramp}, {w / 2}*(t - {ramp}/pi*sin(pi*t/{ramp})), {w}*t - {w * ramp / 2})"
    rod = {
        "between": ["free", "free"],
        "length": 0.3,
        "elements": elements,
        "section": {"rectangle": {"y": 0.008, "z": 0.008}},
        "material": {"E": 0.2e12, "nu": 0.3, "density": 7870.0},
        "damping": damping,
    }
    return vbg.Model(
        name="crank",
        gravity=[0, 0, 0],
        bodies={
            "crank": {
                "mass": 0.36,
                "inertia": {"xx": 1e-3, "yy": 1e-3, "zz": 1e-3},
                "position": [0.075, 0, 0],
                "points": {"O": [-0.075, 0, 0], "P": [0.075, 0, 0]},
            },
            "block": {"mass": 0.075552, "inertia": {"xx": 1e-4, "yy": 1e-4, "zz": 1e-4}},
        },
        joints={
            "axle": {
                "kind": "revolute",
                "between": ["ground", "crank.O"],
                "axis": [0, 0, 1],
                "drive": angle,
            },
            "pin": {"kind": "revolute", "between": ["crank.P", "rod.A"], "axis": [0, 0, 1]},
            "wrist": {
                "kind": "universal",
                "between": ["rod.B", "block"],
                "axis": [0, 0, 1],
                "axis2": [0, 1, 0],
            },
            "guide": {"kind": "cylindrical", "between": ["ground", "block"], "axis": [1, 0, 0]},
        },
        beams={"rod": rod},
    )


def test_slider_crank_has_the_published_motion():
    """At 15 rad: the rod's chord and the block to 1e-5; deflection of the rod's middle and
    shortening are published for two linear modes, whose own vibration goes on undamped."""
    n, ramp = 4, 0.03
    model = crank(n, ramp, 2e-5)
    assert not vbg.check(model)
    t_end = ramp / 2 + 15.0 / 150.0
    run = {"t_end": t_end, "output_step": t_end / 200, "rtol": 1e-7, "atol": 1e-9}
    one = vbg.simulate(vbg.assemble(model), **run)
    assert one.status.code == "finished"
    a, middle, b = (one[f"rod_{k}.N.position"][:, :2] for k in (0, n // 2, n))
    chord = b - a
    length = np.linalg.norm(chord, axis=1)
    x, y = (chord / length[:, None]).T
    deflection = (middle[:, 1] - a[:, 1]) * x - (middle[:, 0] - a[:, 0]) * y
    assert np.arctan2(y[-1], x[-1]) == pytest.approx(-0.3311734988, abs=3e-6)
    assert b[-1, 0] == pytest.approx(0.1697373327, abs=3e-6)
    largest = np.abs(deflection).max()
    assert largest == pytest.approx(1.56e-3, rel=0.05)
    assert deflection[-1] == pytest.approx(1.893e-4, abs=0.06 * largest)
    assert length[-1] - 0.3 == pytest.approx(-8.36e-6, abs=2e-6)


@pytest.mark.parametrize(("elements", "t_end"), [(2, 0.004)])
def test_slider_crank_by_both_solvers(elements, t_end):
    """A closed loop through a beam on two hinges."""
    model = crank(elements, 0.003, 2e-5)
    run = {"t_end": t_end, "output_step": t_end / 20, "rtol": 1e-9, "atol": 1e-11}
    one, two = vbg.simulate(vbg.assemble(model), **run), simulate(model, **run)
    assert one.status.code == two.status.code == "finished"
    names = [*held_and_carried(elements, "rod"), "pin.force", "wrist.force", "guide.force"]
    agree(one, two, [*names, "axle.drive"], 1e-6)


def test_beam_on_hinges_stands_where_they_hold_it():
    """All of its sections, without a load; one that nothing holds has its end A at the origin."""
    placed = place(vbg.Model(beams={"rod": dict(crank(3, 0.1, 0.0).document["beams"]["rod"])}))
    assert np.allclose(placed.poses["rod_0"].p_WB, [0.025, 0, 0])
    start = vbg.start(vbg.assemble(crank(4, 0.1, 0.0)))
    signals = start.outputs(0.0, start.state)
    for k in range(5):
        at = signals[f"rod_{k}.N.position"]
        np.testing.assert_allclose(at, [0.15 + 0.075 * k, 0, 0], atol=1e-12)


@pytest.mark.parametrize("seed", tail(range(5), 1))
def test_an_implicit_run_ends_at_rounding_and_not_below(seed):
    """A stiff beam 10 m from the origin: its axial forces are known to eps K |x|, so that at
    rtol 1e-11 steps followed the noise (300 000 evaluations and no end); now the curve is that of
    the explicit method, but for some of that."""
    run = {"t_end": 0.2, "output_step": 0.01, "rtol": 1e-11, "atol": 1e-13}
    *_, begin = shaken(vbg.start(vbg.assemble(spun(2))), seed)
    explicit = vbg.simulate(begin, method="dop853", **run)
    implicit = vbg.simulate(begin, method="radau", **run)
    assert explicit.status.code == implicit.status.code == "finished"
    assert implicit.made_by.n_rates < 20_000
    # waves of the size of the tolerance at rounding, and those that the shaken start has
    noise = (BEARS * np.finfo(float).eps + SIZE) * 2.8e7 / 5.0 * 10.0
    for name in held_and_carried(2):
        size = np.abs(explicit[name]).max()
        limit = 1e-6 * size + noise * (1.0 if name.endswith("force") else 5.0)
        np.testing.assert_allclose(implicit[name], explicit[name], rtol=0, atol=limit)
    np.testing.assert_allclose(tip(implicit, 2, 10.0), tip(explicit, 2, 10.0), atol=1e-9)


def released():
    """A steel cantilever that is let go: its waves die out within microseconds."""
    beam = {
        "between": ["ground", "free"],
        "length": 1.0,
        "section": {"rectangle": {"y": 0.03, "z": 0.04}},
        "material": {"E": "210 GPa", "nu": 0.3, "density": 7850},
        "elements": 4,
        "damping": "0.02 ms",
    }
    load = {"kind": "force", "on": "boom.B", "force": [0, 0, "if(t < 0.02, -800, 0)"]}
    simulate = {"t_end": 0.05, "output_step": 2.5e-4, "start": "equilibrium"}
    return vbg.Model(
        gravity=[0, 0, 0], beams={"boom": beam}, forces={"load": load}, simulate=simulate
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_an_explicit_run_does_not_follow_rounding_either(seed):
    """At the tightest tolerances of a verdict steps followed the noise of the axial forces:
    130 000 of 1e-7 s and less, a hundredth of what the waves ask for, and no end."""
    system = vbg.assemble(released())
    *_, begin = shaken(vbg.start(system, "equilibrium"), seed)
    run = {"t_end": 0.03, "output_step": 1e-3, "method": "dop853"}
    tight, plain = (
        vbg.simulate(begin, rtol=rtol, atol=1e-2 * rtol, **run) for rtol in (1e-13, 1e-11)
    )
    assert tight.status.code == plain.status.code == "finished"
    assert tight.made_by.n_rates < 100_000
    noise = 100.0 * np.finfo(float).eps * 210e9 * 0.03 * 0.04 / 0.25  # places of 1 m
    for name in held_and_carried(4):
        limit = 1e-7 * np.abs(plain[name]).max() + noise
        np.testing.assert_allclose(tight[name], plain[name], rtol=0, atol=limit, err_msg=name)


@pytest.mark.parametrize(("mass", "length", "time"), [(1.0, 1.0, 1.0), (1e3, 1e-3, 1e-6)])
def test_what_rounding_leaves_of_an_oscillator(mass, length, time):
    """x' = p / m, p' = -m w^2 x: a place that is rounded by eps |x| changes p by m w eps |x|, in
    any units; a machine beside it that is slow does not share in it."""
    w, m, x = 4e3 / time, 2.0 * mass, 10.0 * length
    J = np.zeros((4, 4))
    J[0, 1], J[1, 0] = 1.0 / m, -m * w**2
    J[2, 3], J[3, 2] = 1.0, -1.0
    eps = np.finfo(float).eps
    state = np.array([x, 0.0, 1e-3, 0.0])
    found = RoundingOf(J, 100.0 * time).at(state)
    assert found[1] == pytest.approx(eps * m * w * x)
    assert found[0] == 0.0
    assert found[3] <= eps * 1e-3 * 1.000001
    from scipy.sparse import csc_matrix

    np.testing.assert_allclose(RoundingOf(csc_matrix(J), 100.0 * time).at(state), found, rtol=1e-14)


def test_what_rounding_adds_up_to_in_an_integral_is_that_of_the_run(rng):
    """c' = q - g p(c), E' = p q: a vessel behind valves that leak next to nothing answers within
    years, the energy that it takes up never.  A run of 300 s of it was 1.4e-4 wrong in its energy:
    1.7e-6 J was allowed in each step of 60 J, eps P times years."""
    eps = np.finfo(float).eps
    for _ in range(20):
        stiffness, leak, flow, content = 10.0 ** rng.uniform(-6, 6, 4) * (1e6, 1e-24, 1.0, 1.0)
        span = 1e-4 / (leak * stiffness)  # a run in which nothing leaks out
        J = np.array([[-leak * stiffness, 0.0], [flow * stiffness, 0.0]])
        state = np.array([content, flow * stiffness * content * span])
        found = RoundingOf(J, span).at(state)
        assert found == pytest.approx(eps * np.abs(J) @ state * span, rel=1e-12)
        assert (RoundingOf(J, 1e-3 * span).at(state) < 1.001e-3 * found).all()
