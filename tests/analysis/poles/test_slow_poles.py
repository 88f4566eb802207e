"""Slow poles beside fast ones are poles, not zero; what is free stays free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import eig, matrix, mp, workdps

import vbg
from tests.rods import hanging_rods
from tests.tail import tail
from vbg.analysis.linear.linear import linearise
from vbg.analysis.linear.modes import find_modes
from vbg.analysis.rest.idle import resting_point, sought_rest
from vbg.cli.main import main
from vbg.cli.show.vibration import compared, poses_at, worst_of
from vbg.tmm_bridge.modes.modal import vibration


def hair(k, c, m, stiff, light):
    """A mass on a spring and a damper, on which a light one stands stiffly."""
    parts = {
        "a": {"kind": "mass", "nodes": ["a"], "m": m},
        "b": {"kind": "mass", "nodes": ["b"], "m": light},
        "push": {"kind": "force", "nodes": ["a"], "force": f"{-c!r}*translational.a.speed"},
        "stiff": {"kind": "spring", "nodes": ["a", "b"], "k": stiff},
    }
    if k > 0.0:
        parts["k"] = {"kind": "spring", "nodes": ["frame", "a"], "k": k}
    return linearise(vbg.assemble(vbg.Model(translational=parts)))


@pytest.mark.parametrize("part", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("damping", [0.1, 0.0, -0.1])
def test_a_slow_oscillation_beside_a_fast_one(part, damping):
    """s = -z w +- i w sqrt(1 - z^2), w^2 = k/(m + light), beside one 1e7 times as fast."""
    m, w = 3.0, 0.2
    k, light = w * w * m, part * m
    found = hair(k, 2.0 * damping * w * m, m, 1e14 * k * part, light)
    slow = found.modes[0]
    assert slow.frequency == pytest.approx(w / np.sqrt(1.0 + part), rel=3e-3)
    assert slow.damping == pytest.approx(damping / np.sqrt(1.0 + part), rel=3e-3)
    assert found.stability.startswith("Unstable") == (damping < 0.0)


@pytest.mark.parametrize("part", [1e-4, 1e-6, 1e-8])
def test_what_is_free_stays_free(part):
    found = hair(0.0, 0.0, 3.0, 1e14 * part, 3.0 * part)
    assert [mode.eigenvalue for mode in found.modes[:2]] == [0.0, 0.0]
    assert "at zero" in found.stability


def test_poles_of_exchanging_stores_are_those_of_forty_digits():
    """Networks of conductances and stores of sizes over ten decades: all poles real, none above
    zero, one at zero where nothing leads away."""
    rng = np.random.default_rng(8)
    for case in range(40):
        n = int(rng.integers(2, 7))
        between = np.triu(10.0 ** rng.uniform(-5, 5, (n, n)), 1)
        between += between.T
        store, leak = 10.0 ** rng.uniform(-5, 5, n), np.zeros(n)
        leak[0] = 0.0 if case % 4 == 0 else 10.0 ** rng.uniform(-5, 5)
        A = (between - np.diag(between.sum(axis=1) + leak)) / store[:, None]
        names = tuple(f"z{i}" for i in range(n))
        found = [mode.eigenvalue for mode in find_modes(A, names, np.eye(n), names)]
        with workdps(40):
            exact = sorted((float(v.real) for v in eig(matrix(A.tolist()))[0]), key=abs)
        for value, right in zip(found, exact, strict=True):
            if leak[0] == 0.0 and right == exact[0]:
                assert value == 0.0
            else:
                assert value == pytest.approx(right, rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_spins_of_hanging_rods_are_free(seed):
    """n rods on ball joints hang in any direction of gravity, at any scale: 2 n poles at zero,
    the others in pairs those of the plane chain, K x = w^2 M x."""
    n, model, w = hanging_rods(seed)
    found = linearise(vbg.assemble(model))
    poles = np.array([mode.eigenvalue for mode in found.modes])
    assert np.array_equal(poles[: 2 * n], np.zeros(2 * n))
    assert not poles.real.any()
    np.testing.assert_allclose(poles[2 * n :].imag, np.repeat(w, 2), rtol=1e-9)
    assert found.stability.startswith("Not asymptotically stable")


@pytest.mark.parametrize("seed", range(6))
def test_what_a_pole_is_known_to_bounds_its_error(seed, tmp_path, capsys):
    """A pendulum on which a light body stands stiffly: w^2 = g (m c - h)/(J + m c^2 + h) with
    the light body's moment h there.  `show modes` says so where digits are lost."""
    rng = np.random.default_rng(seed)
    m, c, k, g = 10.0 ** rng.uniform(1, 3), 10.0 ** rng.uniform(-4, -2), 10.0 ** (5 + seed), 9.81
    light = 1e-15 * k
    bodies = {
        "p": {
            "mass": m,
            "inertia": {"xx": 1.0, "yy": m, "zz": m},
            "points": {"A": [0.0, 0.0, c], "T": [0.0, 0.0, 1.0]},
        },
        "h": {"mass": light, "inertia": dict.fromkeys(("xx", "yy", "zz"), 1e-6 * light)},
    }
    joints = {"A": {"kind": "revolute", "between": ["ground", "p.A"], "axis": [0, 1, 0]}}
    stiff = {"stiffness": [k, k, k, 1e-6 * k, 1e-6 * k, 1e-6 * k], "between": ["p.T", "h"]}
    forces = {"b": {"kind": "bushing", **stiff}}
    model = vbg.Model(gravity=[0, 0, -g], bodies=bodies, joints=joints, forces=forces)
    place = resting_point(vbg.assemble(model))
    mode = linearise(place.system, place.point).modes[0]
    arm = 1.0 - c
    right = np.sqrt(g * (m * c - light * arm) / (m + m * c * c + light * arm**2))
    assert abs(mode.frequency - right) <= mode.error + 1e-9 * right
    file = str(tmp_path / "m.toml")
    vbg.write(model, file)
    assert main(["show", "modes", file]) == 0
    assert ("Known only: mode 1 to" in capsys.readouterr().out) == (mode.error > 1e-6 * right)


@pytest.mark.parametrize("seed", range(12))
def test_masses_behind_dampers_that_nothing_holds(seed):
    """n masses, dampers from each to the next: n places and the common speed are free, the other
    poles those of -M^-1 D in forty digits."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 3
    m, c = 10.0 ** rng.uniform(-8, 3, n), 10.0 ** rng.uniform(-3, 5, n - 1)
    parts = {f"m{i}": {"kind": "mass", "nodes": [f"n{i}"], "m": float(m[i])} for i in range(n)}
    for i in range(n - 1):
        parts[f"d{i}"] = {"kind": "damper", "nodes": [f"n{i}", f"n{i + 1}"], "c": float(c[i])}
    found = linearise(vbg.assemble(vbg.Model(translational=parts)))
    step = np.diff(np.eye(n), axis=0)
    with workdps(40):
        D = matrix(step.T.tolist()) * matrix(np.diag(c).tolist()) * matrix(step.tolist())
        S = matrix([[-D[i, j] / float(m[i]) for j in range(n)] for i in range(n)])
        exact = sorted((float(v.real) for v in eig(S)[0]), key=abs)[1:]
    values = np.array([mode.eigenvalue for mode in found.modes])
    assert not values[: n + 1].any()
    np.testing.assert_allclose(values[n + 1 :].real, exact, rtol=1e-6)
    assert found.stability.startswith(f"Neutral: {n + 1} of {2 * n} poles at zero")


@pytest.mark.parametrize("seed", range(12))
def test_charge_that_leaks_away_slowly(seed):
    """C1 beside a leak, C2 behind R: s^2 + p s + q = 0 in fifty digits; without the leak its
    charge is free."""
    rng = np.random.default_rng(seed)
    C1, C2 = 10.0 ** rng.uniform(-3, 2), 10.0 ** rng.uniform(-12, -9)
    R, leak = 10.0 ** rng.uniform(-3, 1), 10.0 ** rng.uniform(4, 9)
    parts = {
        "C1": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": C1},
        "C2": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": C2},
        "R": {"kind": "resistor", "nodes": ["a", "b"], "R": R},
    }
    assert linearise(vbg.assemble(vbg.Model(electric=parts))).modes[0].eigenvalue == 0.0
    parts["leak"] = {"kind": "resistor", "nodes": ["a", "gnd"], "R": leak}
    found = linearise(vbg.assemble(vbg.Model(electric=parts)))
    with workdps(50):
        g, lost = 1 / mp.mpf(R), 1 / mp.mpf(leak)
        p, q = (g + lost) / C1 + g / mp.mpf(C2), lost * g / (mp.mpf(C1) * C2)
        slow = float(-2 * q / (p + mp.sqrt(p * p - 4 * q)))
    mode = found.modes[0]
    known = 1e-15 * (1.0 / R) / C1  # last digits of the sum of conductances
    assert mode.eigenvalue.real == pytest.approx(slow, rel=1e-6, abs=known)
    assert found.stability.startswith("Stable: deviations die out")


@pytest.mark.parametrize("seed", range(12))
def test_damping_next_to_critical_is_no_freedom(seed):
    rng = np.random.default_rng(seed)
    m, k, part = *(10.0 ** rng.uniform(-2, 2, 2)), 10.0 ** rng.uniform(-8, -4)
    off = 0.0 if seed % 3 == 0 else rng.choice([-1, 1]) * 10.0 ** rng.uniform(-8, -2)
    c = float(2.0 * (1.0 + off) * np.sqrt(k * m))
    found = hair(k, c, m, 1e14 * k * part, part * m)
    assert not any(mode.eigenvalue == 0.0 for mode in found.modes)
    assert found.modes[0].frequency == pytest.approx(np.sqrt(k / m), rel=0.2)


@pytest.mark.parametrize("seed", range(20))
def test_zeros_are_counted_in_any_coordinates(seed):
    """An integer matrix with A^n = 0, written in other integer coordinates: all poles are zero."""
    rng = np.random.default_rng(seed)
    n = 3 + seed % 3
    A = np.triu(rng.integers(-2, 3, (n, n)), 1)
    for _ in range(n):  # elementary steps, whose inverses are integers
        i, j = rng.choice(n, 2, replace=False)
        step = np.eye(n, dtype=int)
        step[i, j] = rng.integers(-2, 3)
        back = 2 * np.eye(n, dtype=int) - step
        A = step @ A @ back
    assert not np.linalg.matrix_power(A, n).any()
    names = tuple(f"z{i}" for i in range(n))
    found = find_modes(A.astype(float), names, np.eye(n), names)
    assert not any(mode.eigenvalue for mode in found)


def hung(rng, mass, length, springs, speed):
    """A tree of bodies without gravity, of random sizes about these, all hinges that turn or slide
    on relaxed springs, or none; how many poles nothing holds."""
    count = int(rng.integers(2, 5))
    bodies, joints, forces, free = {}, {}, {}, 0
    for k in range(count):
        m = mass * 10.0 ** rng.uniform(-0.5, 0.5)
        inertia = m * length**2 * rng.uniform(0.1, 0.15, 3)
        points = {name: (length * rng.normal(size=3)).tolist() for name in "pq"}
        inertia = dict(zip(("xx", "yy", "zz"), inertia.tolist(), strict=True))
        bodies[f"b{k}"] = {"mass": m, "inertia": inertia, "points": points}
        kind = ("revolute", "prismatic", "revolute", "spherical")[int(rng.integers(4))]
        onto = f"b{int(rng.integers(k))}.q" if k else "ground"
        joints[f"j{k}"] = {"kind": kind, "between": [onto, f"b{k}.p"]}
        if kind == "spherical":
            free += 6
            continue
        joints[f"j{k}"]["axis"] = rng.normal(size=3).tolist()
        angle = float(rng.uniform(-2.0, 2.0)) if kind == "revolute" else 0.0
        if kind == "revolute":
            joints[f"j{k}"]["initial"] = {"angle": angle}
        if not springs:
            free += 2
            continue
        stiffness = mass * speed**2 * (length**2 if kind == "revolute" else 1.0)
        spring = {"kind": "spring", "on": f"joints.j{k}", "k": stiffness, "length": angle}
        forces[f"s{k}"] = spring
    document = {"gravity": [0, 0, 0], "bodies": bodies, "joints": joints, "forces": forces}
    return vbg.Model(**document), free


@pytest.mark.parametrize("springs", [False, True])
@pytest.mark.parametrize("seed", tail(range(12), 2))
def test_what_nothing_holds_is_free_and_what_springs_hold_is_undamped(seed, springs):
    """Of trees of any mass and length, in both solvers, also where last digits are moved: all
    poles are zero, also where there are no others, but two for each spring, and none grows."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-3, 3)
    model, free = hung(rng, *sizes, springs, 10.0 ** rng.uniform(-2, 5))
    for moved in range(3):
        masses = {
            name: {**body, "mass": body["mass"] * (1.0 + 1e-13 * moved)}
            for name, body in model.document["bodies"].items()
        }
        document = {k: v for k, v in model.document.items() if k != "vbg"} | {"bodies": masses}
        place = sought_rest(vbg.assemble(vbg.Model(**document)))
        found = linearise(place.system, place.point)
        twin = vibration(place.system.model, poses=poses_at(place))
        poles = [mode.eigenvalue for mode in found.modes]
        for values in (poles, twin.poles):
            assert sum(value == 0.0 for value in values) == free
            assert not np.any(np.real(values))
        assert worst_of(compared(twin, found)) < 1e-6


@pytest.mark.parametrize("seed", tail(range(20), 6))
def test_what_is_left_of_the_way_to_rest_makes_no_pole(seed):
    """A ball that nothing holds, carried by a body on a soft spring along a slide, 1e-11 of its
    size off rest: what that spring still pulls is no stiffness of the ball, whose six poles are
    zero; the spring's is w^2 = k / m, but for the ball that hangs beside its joint."""
    rng = np.random.default_rng(seed)
    mass, length, w = 10.0 ** rng.uniform([-5, -3, -4], [3, 1, 3])
    points = {name: (length * rng.standard_normal(3)).tolist() for name in ("p", "q")}
    body = {
        "mass": mass,
        "inertia": dict.fromkeys(("xx", "yy", "zz"), mass * length**2),
        "points": points,
    }
    joints = {
        "slide": {"kind": "prismatic", "between": ["ground", "a.p"], "axis": [1.0, 2.0, 3.0]},
        "ball": {"kind": "spherical", "between": ["a.q", "b.p"]},
    }
    spring = {"kind": "spring", "on": "joints.slide", "k": mass * w**2, "length": 0.0}
    model = vbg.Model(
        gravity=[0, 0, 0],
        bodies={"a": body, "b": body},
        joints=joints,
        forces={"spring": spring},
    )
    place = sought_rest(vbg.assemble(model))
    at_rest = linearise(place.system, place.point)
    assert "slide.slide" in at_rest.state_names
    way = 1e-11 * length * np.array([name == "slide.slide" for name in at_rest.state_names])
    x = place.point.x + at_rest.basis @ way
    modes = linearise(place.system, replace(place.point, x=x)).modes
    assert [mode.eigenvalue == 0.0 for mode in modes] == 6 * [True] + [False]
    assert modes[6].eigenvalue.real == 0.0
