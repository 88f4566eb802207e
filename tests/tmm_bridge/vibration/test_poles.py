"""Poles of the transfer equation: slow ones beside fast ones, and zeros in chains."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from mpmath import eig, matrix, mp, workdps
from scipy.linalg import eigh

import vbg
from tests.rods import hanging_rods
from tests.tail import tail
from vbg.analysis.linear.linear import linearise
from vbg.analysis.rest.idle import sought_rest
from vbg.cli.show.vibration import Row, poses_at, told_at, worst_of
from vbg.tmm_bridge.modes.modal import vibration
from vbg.tmm_bridge.modes.roots.poles import poles_of

ROOT = Path(__file__).parents[3]
ONES = dict.fromkeys(("xx", "yy", "zz"), 1.0)


def scaled(rng, S, decades=6):
    """In other units of the states, which poles do not see."""
    units = 2.0 ** np.round(rng.uniform(-decades, decades, len(S)) * np.log2(10.0))
    return S * units / units[:, None]


@pytest.mark.parametrize("seed", range(40))
def test_poles_of_exchanging_stores_are_those_of_forty_digits(seed):
    """To what last digits of the entries make of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    between = np.triu(10.0 ** rng.uniform(-5, 5, (n, n)), 1)
    between += between.T
    store, leak = 10.0 ** rng.uniform(-5, 5, n), np.zeros(n)
    leak[0] = 0.0 if seed % 4 == 0 else 10.0 ** rng.uniform(-5, 5)
    S = (between - np.diag(between.sum(axis=1) + leak)) / store[:, None]
    found = poles_of(scaled(rng, S)).values
    with workdps(40):
        values, left, right = eig(matrix(S.tolist()), left=True, right=True)
        w, v = (np.array(part.tolist(), dtype=complex) for part in (left, right))
        terms = np.abs(w) @ np.abs(S) @ np.abs(v)
        sizes = np.abs(np.diag(w @ v))
        order = sorted(range(n), key=lambda i: abs(values[i]))
        exact = np.array([float(values[i].real) for i in order])
        last = np.array([16 * n * 2.2e-16 * terms[i, i] / sizes[i] for i in order])
    if leak[0] == 0.0:
        assert found[0] == 0.0
        found, exact, last = found[1:], exact[1:], last[1:]
    assert np.all(np.abs(found - exact) <= 1e-9 * np.abs(exact) + last)


@pytest.mark.parametrize("seed", range(20))
def test_chains_of_zeros_beside_anything(seed):
    """Integrators of integrators, mixed with a decaying and a swinging part that act on them."""
    rng = np.random.default_rng(seed)
    n, w = 2 + seed % 3, 10.0 ** rng.uniform(-4, 4, 2)
    S = np.zeros((n + 3, n + 3))
    S[np.arange(n - 1), np.arange(1, n)] = 10.0 ** rng.uniform(-2, 2, n - 1)
    S[:n, n:] = rng.standard_normal((n, 3))
    S[n, n], S[n + 1, n + 2], S[n + 2, n + 1] = -w[0], w[1], -w[1]
    found = poles_of(scaled(rng, S)).values
    assert not found[:n].any()
    right = sorted([complex(-w[0]), 1j * w[1], -1j * w[1]], key=lambda s: (abs(s), s.imag))
    np.testing.assert_allclose(found[n:], right, rtol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_zeros_are_counted_in_any_coordinates(seed):
    """An integer matrix with S^n = 0, written in other integer coordinates: all poles are zero."""
    rng = np.random.default_rng(seed)
    n = 3 + seed % 5
    S = np.triu(rng.integers(-2, 3, (n, n)), 1)
    for _ in range(n):  # elementary steps, whose inverses are integers
        i, j = rng.choice(n, 2, replace=False)
        step = np.eye(n, dtype=int)
        step[i, j] = rng.integers(-2, 3)
        S = step @ S @ (2 * np.eye(n, dtype=int) - step)
    assert not poles_of(scaled(rng, S.astype(float))).values.any()


@pytest.mark.parametrize("seed", tail(range(60), 20))
@pytest.mark.parametrize("rounding", [0.0, 1e-12])
def test_zeros_and_pairs_of_equal_poles_in_turned_coordinates(seed, rounding):
    """M x'' = -K x, frequencies twice each and free motions, in orthogonal coordinates of any
    direction, entries off by a part of the largest: each nonzero pole to what it is told to be
    known to."""
    rng = np.random.default_rng(seed)
    n, free = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    w = np.sort(np.repeat(10.0 ** rng.uniform(-1, 1, n), 2))
    Q, _ = np.linalg.qr(rng.standard_normal((2 * n + free,) * 2))
    K = Q @ np.diag(np.concatenate([w**2, np.zeros(free)])) @ Q.T

    def swinging(K):
        zero, one = np.zeros_like(K), np.eye(len(K))
        return np.block([[zero, one], [-K, zero]])

    def off():
        return rounding * np.abs(K).max() * rng.standard_normal(K.shape)

    S = swinging(K + off())
    samples = np.array([swinging(K + off()) - S for _ in range(4)])
    found = poles_of(S, samples)
    assert not found.values[: 2 * free].any()
    right = np.sort(np.concatenate([-w, w]))
    assert not found.values.real.any()
    values, known = found.values.imag[2 * free :], found.known[2 * free :]
    order = np.argsort(values)
    assert np.all(np.abs(values[order] - right) <= known[order])
    assert known.max() <= 1e5 * max(rounding, 1e-15)


@pytest.mark.parametrize("shake", tail(range(10), 1))
@pytest.mark.parametrize("seed", range(8))
def test_spins_of_hanging_rods_are_free(seed, shake):
    """2 n poles at zero, whatever the rounding."""
    n, model, w = hanging_rods(seed, shake * 1e-13)
    found = vibration(model).poles
    assert np.array_equal(found[: 2 * n], np.zeros(2 * n))
    assert not found.real.any()
    np.testing.assert_allclose(found[2 * n :].imag, np.repeat(w, 2), rtol=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_chains_of_masses_that_nothing_holds(seed):
    """Exactly two poles at zero, the others w^2 of K x = w^2 M x without a real part."""
    rng = np.random.default_rng(seed)
    n = 3 + seed % 3
    m, k = 10.0 ** rng.uniform(-1, 1, n), 10.0 ** rng.uniform(0, 3, n - 1)
    parts = {f"m{i}": {"kind": "mass", "nodes": [f"n{i}"], "m": float(m[i])} for i in range(n)}
    for i in range(n - 1):
        parts[f"k{i}"] = {"kind": "spring", "nodes": [f"n{i}", f"n{i + 1}"], "k": float(k[i])}
    found = vibration(vbg.Model(translational=parts)).poles
    step = np.diff(np.eye(n), axis=0)
    squares = eigh(step.T @ np.diag(k) @ step, np.diag(m), eigvals_only=True)
    assert np.array_equal(found[:2], [0.0, 0.0])
    np.testing.assert_allclose(found[2:].imag, np.sqrt(squares[1:]), rtol=1e-9)
    assert np.all(np.abs(found[2:].real) <= 1e-12 * np.abs(found[2:]))


@pytest.mark.parametrize("damping", [0.1, 0.0, -0.1])
@pytest.mark.parametrize("decades", [4, 6, 8])
def test_a_slow_oscillation_beside_a_fast_one(damping, decades):
    """The quartic of two masses, (m s^2 + c s + k + K)(l s^2 + K) = K^2, in forty digits."""
    m, k, light, K = 3.0, 0.12, 3.0 * 10.0**-decades, 10.0**14 * 0.12 * 10.0**-decades
    c = 2.0 * damping * float(np.sqrt(k * m))
    parts = {
        "a": {"kind": "mass", "nodes": ["a"], "m": m},
        "b": {"kind": "mass", "nodes": ["b"], "m": light},
        "push": {"kind": "force", "nodes": ["a"], "force": f"{-c!r}*translational.a.speed"},
        "stiff": {"kind": "spring", "nodes": ["a", "b"], "k": K},
        "k": {"kind": "spring", "nodes": ["frame", "a"], "k": k},
    }
    found = vibration(vbg.Model(translational=parts)).poles
    with workdps(40):
        M, L, C, k_, K_ = (mp.mpf(v) for v in (m, light, c, k, K))
        roots = mp.polyroots(
            [M * L, C * L, M * K_ + L * (k_ + K_), C * K_, k_ * K_], maxsteps=500, extraprec=400
        )
        slow = min((complex(r) for r in roots if r.imag > 0), key=abs)
    assert found[0] == pytest.approx(slow, rel=1e-3 if decades == 4 else 1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_what_neither_solver_tells_from_zero_is_not_agreed(seed):
    """At any scale; two poles agree within the sum of what they are known to, and a slow pole that
    one of both lacks is no free motion."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-6, 9)
    slow = scale * 10.0 ** rng.uniform(-15, -7)
    turned = slow * np.exp(1j * rng.uniform(0.0, np.pi))
    e, d = slow * rng.uniform(1e-3, 0.4, 2)

    def rows(pole, other, known):
        return [Row(complex(pole), complex(other), {}, float("nan"), scale, known)]

    for other in (0.0, turned * rng.uniform(0.5, 0.9)):
        vague = rows(turned, other, (2.0 * slow, 3.0 * slow))
        assert vague[0].untold
        assert worst_of(vague) == np.inf
    beside = turned * (1.0 + 0.99 * (e + d) / slow)
    assert worst_of(rows(turned, beside, (e, d))) == 0.0
    assert worst_of(rows(turned, turned * (1.0 + 1.1 * (e + d) / slow), (e, d))) > 1e-6
    assert worst_of(rows(0.0, 0.0, (slow, slow))) == 0.0
    assert worst_of(rows(turned, 0.0, (e, d))) == worst_of(rows(0.0, turned, (e, d))) == 1.0
    lacks = rows(complex("nan"), turned, (0.0, 0.0))
    assert not lacks[0].free_on_one_side
    assert rows(complex("nan"), 0.0, (0.0, 0.0))[0].free_on_one_side


@pytest.mark.parametrize("seed", tail(range(8), 3))
def test_a_free_motion_beside_a_kink(seed):
    """Pressures on both sides of a shut valve have one zero, that of the oil that stays in: its
    form is taken a step beside the edge of the valve, which leaks there."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-0.3, 0.3, 5)
    document = tomllib.loads((ROOT / "examples" / "hydraulic-arm.toml").read_text())
    del document["vbg"]
    document["bodies"]["arm"]["mass"] *= sizes[0]
    cylinder, valve = document["hydraulic"]["cylinder"], document["hydraulic"]["valve"]
    for key, size in zip(("volume", "bulk", "friction"), sizes[1:4], strict=True):
        cylinder[key] *= size
    valve["qn"] *= sizes[4]
    place = sought_rest(vbg.assemble(vbg.Model(**document)))
    linear = linearise(place.system, place.point)
    model, poses, told = place.system.model, poses_at(place), told_at(place)
    found = vibration(model, poses=poses, off=place.off, told=told)
    assert found.poles[0] == linear.modes[0].eigenvalue == 0.0
    assert found.poles[1:].all()
    assert found.known[0] <= 1e-6


@pytest.mark.parametrize("damped", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("count", [2, 5, 9])
def test_equal_masses_on_a_hub_have_equal_poles(count, damped):
    """A free hub M with k masses m on springs and dampers of one kind: two poles at zero,
    s^2 + w^2 (1 + d s) = 0 with w^2 = K/m (k - 1 times each) and K (1/m + k/M), and the shapes of
    the latter: masses -M / (k m) of the hub."""
    K, m, M = 3.7, 1.1, 2.3
    bodies: dict[str, object] = {"hub": {"mass": M, "inertia": ONES}}
    joints = {"rail": {"kind": "prismatic", "axis": [1, 0, 0], "between": ["ground", "hub"]}}
    forces: dict[str, object] = {}
    for k in range(count):
        bodies[f"b{k}"] = {"mass": m, "inertia": ONES}
        joints[f"r{k}"] = {"kind": "prismatic", "axis": [1, 0, 0], "between": ["hub", f"b{k}"]}
        forces[f"s{k}"] = {"kind": "spring", "on": f"joints.r{k}", "k": K}
        forces[f"d{k}"] = {"kind": "damper", "on": f"joints.r{k}", "c": damped * K}
    document = {"gravity": [0, 0, 0], "bodies": bodies, "joints": joints, "forces": forces}
    found = vibration(vbg.Model(**document))
    assert list(found.poles[:2]) == [0.0, 0.0]
    squares = [K / m] * (count - 1) + [K * (1.0 / m + count / M)]
    right = np.concatenate([np.roots([1.0, w2 * damped, w2]) for w2 in squares])
    for value, known in zip(found.poles[2:], found.known[2:], strict=True):
        assert np.abs(right - value).min() <= known + 1e-14 * abs(value)
        assert known < 1e-12 * abs(value)
    last = right[-1] if right[-1].imag >= 0.0 else right[-2]
    shape = found.shape(complex(found.poles[np.abs(found.poles - last).argmin()]))
    for k in range(count):
        ratio = shape[f"r{k}.slide"] / shape["rail.slide"]
        assert ratio == pytest.approx(-(1.0 + M / (count * m)), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_poles_of_damped_structures_are_known_to_what_is_told(seed):
    """Dense K and C, frequencies over five decades, damping ratios of 1e-4 to 3, beside forty
    digits: no pole is off by more than it is told to be known to."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    w, z = 10.0 ** rng.uniform(-2, 3, n), 10.0 ** rng.uniform(-4, 0.5, n)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    S = np.block([[np.zeros((n, n)), np.eye(n)], [-(Q * w**2) @ Q.T, -(Q * 2 * z * w) @ Q.T]])
    found = poles_of(scaled(rng, S, 3))
    with workdps(40):
        values = np.array([complex(value) for value in eig(matrix(S.tolist()))[0]])
    for value, known in zip(found.values, found.known, strict=True):
        assert np.abs(values - value).min() <= known + 1e-15 * abs(value)
        assert known <= 1e-2 * abs(value)
