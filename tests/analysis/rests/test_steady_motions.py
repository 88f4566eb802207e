"""Steady motions are what they are in any units of mass, length and time, with poles that scale."""

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.analysis import linearise, operating_point
from vbg.analysis.rest.idle import start_point
from vbg.spatial import quaternion_from_matrix

NEAR = 1e-6  # of a pole


def moments(*three):
    return dict(zip(("xx", "yy", "zz"), map(float, three), strict=True))


def rolling_disc(rng, M, L, T):
    """Upright at w, J = (A, C, A): A (A + m r^2) s^2 = A m g r - C (C + m r^2) w^2, stable where
    that is negative."""
    A, g = rng.uniform(0.2, 0.3) * M * L**2, rng.uniform(5.0, 20.0) * L / T**2
    C, w = rng.uniform(1.2, 1.9) * A, float(rng.choice([-1, 1]) * rng.uniform(0.3, 6.0) / T)
    body = {"mass": M, "inertia": moments(A, C, A), "position": [0, 0, L]}
    body |= {"velocity": [w * L, 0, 0], "angular_velocity": [0, w, 0]}
    contact = {"kind": "rolling", "between": ["ground", "b"], "radius": L}
    contact |= {"axis": [0, 0, 1], "axis2": [0, 1, 0]}
    model = vbg.Model(gravity=[0, 0, -g], bodies={"b": body}, joints={"c": contact})
    square = A * M * g * L - C * (C + M * L**2) * w**2
    return model, np.sqrt(complex(square / (A * (A + M * L**2))))


def heavy_top(rng, M, L, T):
    """Precessing at W, leaning by th: A W^2 cos th - C w W + m g l = 0, and it nutates at
    n^2 = W^2 sin^2 th + (C w / A - 2 W cos th)^2."""
    C, g = rng.uniform(0.1, 0.3) * M * L**2, rng.uniform(5.0, 20.0) * L / T**2
    across, th = C * rng.uniform(0.6, 2.0), rng.uniform(0.3, 1.3)
    c, s, A = np.cos(th), np.sin(th), across + M * L**2
    W = rng.choice([-1, 1]) * rng.uniform(0.2, 3.0) * np.sqrt(g / L)
    spin = (M * g * L + A * W**2 * c) / W  # C w
    R, axis = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), np.array([s, 0, c])
    turns = spin / C * axis + W * (np.array([0, 0, 1]) - c * axis)
    body = {"mass": M, "inertia": moments(across, across, C), "points": {"O": [0, 0, -L]}}
    body |= {"position": (L * axis).tolist(), "velocity": np.cross(turns, L * axis).tolist()}
    body |= {"rotation": {"quaternion": [float(q) for q in quaternion_from_matrix(R)]}}
    body |= {"angular_velocity": (R.T @ turns).tolist()}
    pivot = {"kind": "spherical", "between": ["ground", "b.O"]}
    model = vbg.Model(gravity=[0, 0, -g], bodies={"b": body}, joints={"p": pivot})
    return model, 1j * np.hypot(W * s, spin / A - 2.0 * W * c)


def slide_on_a_table(rng, M, L, T):
    """m x'' = -k (x - x0) + m W^2 x on a table that a drive turns."""
    W, J = rng.uniform(0.3, 3.0) / T, M * L**2
    k = M * W**2 * rng.uniform(1.5, 20.0)
    turned = {"kind": "revolute", "between": ["ground", "c"], "axis": [0, 0, 1]}
    slide = {"kind": "prismatic", "between": ["c", "p"], "axis": [1, 0, 0]}
    model = vbg.Model(
        gravity=[0, 0, -9.81 * L / T**2],
        bodies={
            "c": {"mass": M, "inertia": moments(0.01 * J, 0.01 * J, 0.02 * J)},
            "p": {"mass": M, "inertia": moments(0.1 * J, 0.1 * J, 0.1 * J)},
        },
        joints={
            "turned": turned | {"drive": f"{float(W)!r}*t"},
            "radial": slide | {"initial": {"slide": L}},
        },
        forces={"s": {"kind": "spring", "on": "joints.radial", "k": k, "length": L}},
    )
    return model, 1j * np.sqrt(k / M - W**2)


def wheeled(rng, M, L, T):
    """A carriage on a wheel that rolls, with a mass on a vertical spring: w^2 = k / m."""
    J, v, r = M * L**2, rng.uniform(0.5, 3.0) * L / T, float(L * rng.uniform(0.5, 1.0))
    k, m, g = rng.uniform(0.5, 4.0) * M / T**2, M * rng.uniform(0.5, 2.0), 10.0 * L / T**2
    going = {"velocity": [float(v), 0, 0]}
    alike = moments(0.1 * J, 0.1 * J, 0.1 * J)
    wheel = {"mass": M, "inertia": moments(0.2 * J, 0.3 * J, 0.2 * J), "position": [0, 0, r]}
    model = vbg.Model(
        gravity=[0, 0, -g],
        bodies={
            "c": going
            | {"mass": M, "inertia": alike, "position": [0, 0, r], "points": {"T": [0, 0, L]}},
            "w": going | wheel | {"angular_velocity": [0, v / r, 0]},
            "p": going | {"mass": m, "inertia": alike, "position": [0, 0, r + L]},
        },
        joints={
            "track": {
                "kind": "prismatic",
                "between": [{"body": "ground", "at": [0, 0, r]}, "c"],
                "axis": [1, 0, 0],
            },
            "hub": {"kind": "revolute", "between": ["c", "w"], "axis": [0, 1, 0]},
            "strut": {"kind": "prismatic", "between": ["c.T", "p"], "axis": [0, 0, 1]},
            "contact": {
                "kind": "rolling",
                "between": ["ground", "w"],
                "axis": [0, 0, 1],
                "axis2": [0, 1, 0],
                "radius": r,
            },
        },
        forces={"s": {"kind": "spring", "on": "joints.strut", "k": k, "length": m * g / k}},
    )
    return model, 1j * np.sqrt(k / m)


def free_body(rng, M, L, T):
    """Spinning at w about the axis of C: s^2 = -w^2 (C - A) (C - B) / (A B) (L. Euler)."""
    own, axis = rng.uniform(1.0, 1.9, 3) * M * L**2, int(rng.integers(3))
    w, C, (A, B) = rng.uniform(0.3, 3.0) / T, own[axis], np.delete(own, axis)
    body = {"mass": M, "inertia": moments(*own), "position": rng.uniform(-L, L, 3).tolist()}
    body |= {"angular_velocity": (w * np.eye(3)[axis]).tolist()}
    model = vbg.Model(gravity=[0, 0, 0], bodies={"b": body})
    return model, w * np.sqrt(complex(-(C - A) * (C - B) / (A * B)))


MACHINES = [rolling_disc, heavy_top, slide_on_a_table, wheeled, free_body]


def own_units(seed):
    """A mass, a length and a time [kg, m, s]."""
    return (10.0 ** np.random.default_rng([seed, 7]).uniform([-9, -6, -3], [9, 6, 3])).tolist()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", tail(range(40), 1))
def test_they_are_steady_in_any_units(machine, seed):
    for units in ((1.0, 1.0, 1.0), own_units(seed)):
        model, pole = machine(np.random.default_rng(seed), *units)
        system = vbg.assemble(model)
        is_found = machine is slide_on_a_table  # it does not start there
        point = operating_point(system, "steady") if is_found else start_point(system)
        assert point.kind == "steady motion", (units, point.sentence)
        poles = linearise(system, point, inputs=[]).eigenvalues
        for one in (pole, -pole):
            assert np.abs(poles - one).min() < NEAR * abs(pole), units


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", tail(range(20), 0))
def test_what_is_steady_is_found_where_it_starts(machine, seed):
    model, pole = machine(np.random.default_rng(seed), *own_units(seed))
    system = vbg.assemble(model)
    point = operating_point(system, "steady")
    assert point.kind == "steady motion", point.sentence
    poles = linearise(system, point, inputs=[]).eigenvalues
    assert np.abs(poles - pole).min() < NEAR * abs(pole)
