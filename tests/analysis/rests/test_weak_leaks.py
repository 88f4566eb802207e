"""Rests of networks whose exchanges lie up to twelve decades apart are those of forty digits, or
it is said that rounding hides them."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import lu_solve, matrix, workdps

import vbg
from vbg.analysis.linear.linear import linearise
from vbg.analysis.linear.response import final_value, step_response
from vbg.analysis.probe.probe import Probe
from vbg.analysis.rest.operating import classify, operating_point

CASES = 8
RIGHT = 1e-9  # of what a store holds


def exchanges(rng, n, low, high):
    """Symmetric conductances between n nodes, zero where there is none; those that lead away."""
    between = 10.0 ** rng.uniform(low, high, (n, n)) * (rng.random((n, n)) < 0.4)
    between = np.triu(between, 1)
    for i in range(1, n):  # nothing floats
        between[i - 1, i] = 10.0 ** rng.uniform(low, high)
    away = np.where(np.arange(n) == n - 1, 10.0 ** rng.uniform(low, high, n), 0.0)
    return between + between.T, away


def levels(between, away, fed, given):
    """Of (sum between + away + fed) y = fed given, with forty digits."""
    with workdps(40):
        G = matrix((-between).tolist())
        for i in range(len(away)):
            parts = [*between[i].tolist(), float(away[i]), float(fed[i])]
            G[i, i] = sum(matrix([parts]))
        right = matrix([float(f) for f in fed]) * float(given)
        return np.array([float(v) for v in lu_solve(G, right)])


def circuit(rng, n):
    between, away = exchanges(rng, n, -9.0, 3.0)
    fed, store = np.zeros(n), 10.0 ** rng.uniform(-11, -1, n)
    fed[0] = 10.0 ** rng.uniform(-9, 3)
    parts = {"s": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 1.0}}

    def resistor(name, one, other, G):
        parts[name] = {"kind": "resistor", "nodes": [one, other], "R": float(1.0 / G)}

    resistor("feed", "a", "n0", fed[0])
    resistor("leak", f"n{n - 1}", "gnd", away[-1])
    for i in range(n):
        C = float(store[i])
        parts[f"C{i}"] = {"kind": "capacitor", "nodes": [f"n{i}", "gnd"], "C": C}
        for k in range(i + 1, n):
            if between[i, k] > 0.0:
                resistor(f"r{i}{k}", f"n{i}", f"n{k}", between[i, k])
    held = store * levels(between, away, fed, 1.0)
    names = [f"C{i}.charge" for i in range(n)]
    return vbg.Model(electric=parts), dict(zip(names, held)), dict(zip(names, store))


def vessels(rng, n):
    between, away = exchanges(rng, n, -18.0, -8.0)
    fed, volume = np.zeros(n), 10.0 ** rng.uniform(-5, 1, n)
    fed[0] = 10.0 ** rng.uniform(-18, -8)
    parts = {"s": {"kind": "pressure_source", "nodes": ["a", "tank"], "pressure": 1e7}}

    def pipe(name, one, other, G):
        nodes = [one, other]
        parts[name] = {"kind": "laminar_resistance", "nodes": nodes, "conductance": float(G)}

    pipe("feed", "a", "n0", fed[0])
    pipe("leak", f"n{n - 1}", "tank", away[-1])
    for i in range(n):
        V = float(volume[i])
        parts[f"v{i}"] = {"kind": "volume", "nodes": [f"n{i}"], "volume": V}
        for k in range(i + 1, n):
            if between[i, k] > 0.0:
                pipe(f"r{i}{k}", f"n{i}", f"n{k}", between[i, k])
    held = volume / 1.4e9 * levels(between, away, fed, 1e7)
    names = [f"v{i}.content" for i in range(n)]
    return (
        vbg.Model(hydraulic=parts),
        dict(zip(names, held)),
        dict(zip(names, volume * 1e5 / 1.4e9)),
    )


def springs(rng, n):
    """Masses in a row on springs that are 1 m long where nothing pulls, and dampers."""
    k = 10.0 ** rng.uniform(-6, 6, n)
    parts = {}
    for i in range(n):
        before = "frame" if i == 0 else f"n{i - 1}"
        mass = {"kind": "mass", "nodes": [f"n{i}"], "m": 10.0 ** rng.uniform(-6, 6)}
        parts[f"m{i}"] = {**mass, "position": float(i)}
        parts[f"k{i}"] = {"kind": "spring", "nodes": [before, f"n{i}"], "k": k[i], "length": 1}
        parts[f"c{i}"] = {"kind": "damper", "nodes": [f"n{i}"], "c": 10.0 ** rng.uniform(-5, 7)}
    right = {f"translational.n{i}.position": i + 1.0 for i in range(n)}
    return vbg.Model(translational=parts), right, {}


@pytest.mark.parametrize("network", [circuit, vessels, springs])
def test_the_rest_is_that_of_forty_digits_or_said_to_be_hidden(network):
    rng = np.random.default_rng(17)
    told = 0
    for _ in range(CASES):
        model, right, sizes = network(rng, int(rng.integers(2, 5)))
        system = vbg.assemble(model)
        point = operating_point(system)
        if point.hidden or point.kind != "equilibrium":
            told += 1
            continue
        found = {s.state.name: point.x[s.first] for s in system.slices}
        for name, value in right.items():
            assert found[name] == pytest.approx(value, rel=RIGHT, abs=0.0), point.sentence
        for name, size in sizes.items():
            beside = point.x.copy()
            first = next(s.first for s in system.slices if s.state.name == name)
            beside[first] += 1e-5 * max(right[name], size)
            assert classify(Probe(system), 0.0, beside).kind != "equilibrium", name
    assert told < CASES


def test_a_slow_step_beside_a_fast_one_is_seen_to_its_end():
    """1 V over R fills C in R C, however fast a small capacitor beside it is."""
    for R, small in [(1e6, 1e-9), (1e5, 1e-10), (3e7, 2e-10), (1e3, 1e-6)]:
        parts = {
            "s": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 1.0},
            "R": {"kind": "resistor", "nodes": ["a", "b"], "R": R},
            "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 0.1},
            "r": {"kind": "resistor", "nodes": ["b", "c"], "R": 1.0},
            "c": {"kind": "capacitor", "nodes": ["c", "gnd"], "C": small},
        }
        system = vbg.assemble(vbg.Model(electric=parts))
        linear = linearise(system, inputs=["s"], outputs=["C.voltage"])
        assert final_value(linear) == pytest.approx(1.0, rel=1e-8)
        time, value = step_response(linear)
        slow = R * (0.1 + small)
        assert time[-1] == pytest.approx(5.0 * slow, rel=1e-5)
        assert value == pytest.approx(1.0 - np.exp(-time / slow), abs=1e-5)
