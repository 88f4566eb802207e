"""Signals that read sums of impulses and of their powers which cancel, wholly or nearly, as in a
balance: a right machine runs through, and what is left has its closed form."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken
from tests.laws.impacts.test_impulses_read import jump, late, model, sums
from tests.tail import tail
from vbg.tmm_bridge import simulate as second

LEFT = (0.0, 1e-3, 1.0)  # of the terms
T = 0.07


def cancelling(parts, left):
    """Factors of `parts` whose sum is that share of their sizes' sum."""
    factors = np.random.default_rng(len(parts)).uniform(0.3, 1.0, len(parts))
    factors[-1] = -float(factors[:-1] @ parts[:-1]) / parts[-1]
    factors[0] += left * float(np.abs(factors * parts).sum()) / parts[0]
    return factors.tolist()


def summed(factors, reads):
    return " + ".join(f"{f!r}*{read}" for f, read in zip(factors, reads, strict=True))


def read_by(read):
    """An integral of it, and its filter."""
    lag = {"kind": "transfer_function", "numerator": [1.0], "denominator": [T, 1.0]}
    return {"sum": sums(sum=read)["sum"], "lag": {**lag, "input": read}}


def carts(rng, size, way, left):
    """Three driven masses [kg], a share of whose forces pushes another; reads of their forces, and
    of these at the speed of the other, with what is left and its terms; and of the power of the
    first, less that of its twin, q times as heavy and as slow."""
    q = float(rng.uniform(2.0, 4.0))
    mass = size * np.exp(rng.uniform(-1.0, 1.0, 4))
    low, high = rng.uniform(-1.0, 1.0, (2, 3))
    impulses = mass[:3] * (high - low)
    v, share = float(rng.uniform(-1.0, 1.0)), float(rng.uniform(0.2, 1.0))
    parts: dict = {"B": {"kind": "mass", "nodes": ["b"], "m": float(mass[3]), "speed": v}}
    for k, (m, v0, v1) in enumerate(
        zip([*mass[:3], q * mass[0]], [*low, low[0] / q], [*high, high[0] / q], strict=True)
    ):
        speed = way(float(v0), float(v1))
        parts[f"S{k}"] = {"kind": "speed", "nodes": ["frame", f"a{k}"], "speed": speed}
        parts[f"A{k}"] = {"kind": "mass", "nodes": [f"a{k}"], "m": float(m)}
    forces = [f"S{k}.force" for k in range(3)]
    push = f"{share!r}*({' + '.join(forces)})"
    parts["P"] = {"kind": "force", "nodes": ["frame", "b"], "force": push}
    mean = v + 0.5 * share * float(impulses.sum()) / float(mass[3])
    terms = {
        "force": (forces, impulses),
        "passed": ([f"{force}*B.speed" for force in forces], impulses * mean),
    }
    twin = f"S0.force*A0.speed - {q!r}*S3.force*A3.speed"
    signals = {"clock": sums(clock="1")["clock"]}
    signals |= {f"twin_{kind}": block for kind, block in read_by(twin).items()}
    right = {"twin": (0.0, float(np.abs(impulses[0])))}
    for name, (reads, found) in terms.items():
        factors = cancelling(found, left)
        for kind, block in read_by(summed(factors, reads)).items():
            signals[f"{name}_{kind}"] = block
        right[name] = float(factors @ found), float(np.abs(factors * found).sum())
    return model(translational=parts, signals=signals), right


@pytest.mark.parametrize("way", [jump, late])
@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("seed", tail(range(6), 1))
def test_balances_of_forces_and_powers(seed, left, way):
    for size in (1.0, 1e-6, 1e7):
        made, right = carts(np.random.default_rng(seed), size, way, left)
        begun = vbg.start(vbg.assemble(made))
        for start in shaken(begun) if size == 1.0 else [begun]:  # by no share of small masses
            run = vbg.simulate(start, atol=1e-11 * size)
            assert run.status.code == "finished" and not run.audit.failures, run.status
            for name, (rest, terms) in right.items():
                assert_allclose(run[f"{name}_sum"][-1], rest, rtol=0, atol=1e-9 * terms)
                decayed = rest / T * np.exp(-(run.time[-1] - 0.31) / T)
                assert_allclose(run[f"{name}_lag"][-1], decayed, rtol=0, atol=1e-6 * terms)


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_balances_of_currents_in_both_solvers(seed, left):
    rng = np.random.default_rng(seed)
    for size in (1.0, 1e-9):
        C, low, high = size * rng.uniform(0.3, 3.0, 3), *rng.uniform(-1.0, 1.0, (2, 3))
        parts = {}
        for k in range(3):
            nodes, voltage = [f"n{k}", "gnd"], jump(float(low[k]), float(high[k]))
            parts[f"S{k}"] = {"kind": "voltage_source", "nodes": nodes, "voltage": voltage}
            parts[f"C{k}"] = {"kind": "capacitor", "nodes": nodes, "C": float(C[k])}
        charges = C * (high - low)
        factors = cancelling(charges, left)
        terms = float(np.abs(factors * charges).sum())
        reads = summed(factors, [f"C{k}.current" for k in range(3)])
        made = model(electric=parts, signals=read_by(reads))
        runs = [solve(made, atol=1e-11 * size) for solve in (vbg.simulate, second)]
        for run in runs:
            assert run.status.code == "finished" and not run.audit.failures, run.status
            assert_allclose(run["sum"][-1], factors @ charges, rtol=0, atol=1e-9 * terms)
        assert_allclose(*(run["lag"] for run in runs), rtol=0, atol=1e-5 * terms)


@pytest.mark.parametrize(
    "law",
    [
        "S0.force + 0.3*abs(S0.force)^0.7 - 0.999*S0.force",
        "S0.force + abs(S0.force)^0.7",
        "(S0.force - 0.9999999999999*S0.force)^2",
        "S0.force*A0.speed - S0.force*A0.speed + 1e-4*S0.force*sum",
        "1e3*S0.force - 1e3*S0.force + S0.force*sum",
    ],
)
def test_what_cancels_hides_no_law(law):
    """What grows otherwise beside terms that cancel, or changes with a signal that is stepped."""
    parts = {
        "S0": {"kind": "speed", "nodes": ["frame", "a"], "speed": jump(0.2, 0.9)},
        "A0": {"kind": "mass", "nodes": ["a"], "m": 1.7},
    }
    made = model(translational=parts, signals=sums(found=law, sum="S0.force"))
    for start in shaken(vbg.start(vbg.assemble(made)), count=2):
        run = vbg.simulate(start)
        assert run.status.code == "failed" and "found" in run.status.sentence
