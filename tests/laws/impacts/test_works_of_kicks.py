"""Whose work an impulse is: of every source that it acts on, at the mean of its speeds.

Where a drive's speed goes from v0 to v1 as the impulse L acts, it supplies L (v0 + v1)/2, and so
does one whose own speed keeps its value: what stands on it is thrown off it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg

SEEDS = range(12)


def ramp(before: float, after: float, at: float) -> str:
    return f"if(t > {at!r}, {after!r}*(t - {at!r}) + {before * at!r}, {before!r}*t)"


def chain(seed: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Bodies on rails, each led from the one before it, some of the leads with a jump in speed at
    the same instant; the energies [J] of parts at the end."""
    draw = np.random.default_rng(seed)
    length, second, mass = (10.0 ** draw.uniform(-3, 3, 3)).tolist()
    n, unit = int(draw.integers(2, 5)), length / second
    m, at = mass * draw.uniform(0.3, 3.0, n), 0.4 * second
    v0, v1 = draw.uniform(-2.0, 2.0, (2, n)) * unit
    keeps = draw.random(n) < 0.4
    keeps[draw.integers(n)] = False  # one jumps at least
    v1[keeps] = v0[keeps]
    trunk = [draw.choice(["ground", f"b{k - 1}"]) if k else "ground" for k in range(n)]
    follows = np.eye(n)  # [i, k]: body i moves with lead k
    for k in range(1, n):
        if trunk[k] != "ground":
            follows[k] += follows[k - 1]
    momenta = m * (follows @ (v1 - v0))
    leads = follows.T @ momenta * 0.5 * (v0 + v1)
    moments = dict.fromkeys(("xx", "yy", "zz"), mass * length**2)
    model = {
        "name": "kicks",
        "gravity": [0, 0, 0],
        "outputs": {"energy": True},
        "bodies": {f"b{k}": {"mass": float(m[k]), "inertia": moments} for k in range(n)},
        "joints": {
            f"J{k}": {
                "kind": "prismatic",
                "axis": [1, 0, 0],
                "between": [str(trunk[k]), f"b{k}"],
                "drive": ramp(float(v0[k]), float(v1[k]), at),
            }
            for k in range(n)
        },
        "simulate": {"t_end": second, "output_step": 0.25 * second},
    }
    energies = {f"J{k}": -float(leads[k]) for k in range(n)}
    return model, energies | {f"b{k}": 0.5 * float(m[k] * (follows @ v1)[k] ** 2) for k in range(n)}


def stepping(seed: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Voltages in series that step at one instant or keep their value, capacitors to gnd."""
    return ladder(seed, sampled=False)


def sampling(seed: int) -> tuple[dict[str, Any], dict[str, float]]:
    """The same, of which some step because a controller samples then."""
    return ladder(seed, sampled=True)


def ladder(seed: int, *, sampled: bool) -> tuple[dict[str, Any], dict[str, float]]:
    draw = np.random.default_rng(seed)
    volt, second, farad = (10.0 ** draw.uniform(-3, 3, 3)).tolist()
    n, at = int(draw.integers(2, 5)), 0.4 * second
    C, (u0, u1) = farad * draw.uniform(0.3, 3.0, n), draw.uniform(-2.0, 2.0, (2, n)) * volt
    u1[1:] = np.where(draw.random(n - 1) < 0.4, u0[1:], u1[1:])
    charges = C * np.cumsum(u1 - u0)
    sources = np.cumsum(charges[::-1])[::-1] * 0.5 * (u0 + u1)
    parts: dict[str, Any] = {}
    signals: dict[str, Any] = {}
    for k in range(n):
        nodes = ["gnd" if k == 0 else f"n{k - 1}", f"n{k}"]
        step = f"if(t > {at!r}, {float(u1[k])!r}, {float(u0[k])!r})"
        if sampled and (k == 0 or draw.random() < 0.5):
            rises = f"{float(u0[k])!r} + {float((u1[k] - u0[k]) / at)!r}*t"
            signals[f"u{k}"] = {"kind": "sample_and_hold", "input": rises, "period": at}
            step = f"u{k}"
        parts[f"V{k}"] = {"kind": "voltage_source", "nodes": nodes[::-1], "voltage": step}
        parts[f"C{k}"] = {"kind": "capacitor", "nodes": [nodes[1], "gnd"], "C": float(C[k])}
    model = {
        "name": "steps",
        "outputs": {"energy": True},
        "electric": parts,
        "signals": signals,
        "simulate": {"t_end": 0.75 * second, "output_step": 0.25 * second},
    }
    energies = {f"V{k}": -float(sources[k]) for k in range(n)}
    return model, energies | {f"C{k}": 0.5 * float(C[k] * np.cumsum(u1)[k] ** 2) for k in range(n)}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("machine", [chain, stepping, sampling])
def test_each_source_supplies_its_impulse_at_its_mean_speed(machine: Any, seed: int) -> None:
    model, energies = machine(seed)
    run = vbg.simulate(vbg.Model(**model))
    assert not run.audit.failures
    what = "its speed jumps by" if machine is chain else "its voltage or current jumps by"
    told = [event.what for event in run.audit.events if "impulse" in event.what]
    assert told or machine is sampling
    assert all(one.startswith(what) for one in told)
    size = max(map(abs, energies.values()))
    for part, energy in energies.items():
        rise = run[f"{part}.energy"][-1]
        if part[0] in "JV":
            rise -= run[f"{part}.energy"][0]
        assert_allclose(rise, energy, rtol=0, atol=1e-9 * size, err_msg=part)
    supplied = -sum(e for part, e in energies.items() if part[0] in "JV")
    assert_allclose(run["energy.supplied"][-1], supplied, rtol=0, atol=1e-9 * size)
