"""Slow poles beside fast ones are poles, not zero; what is free stays free."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import eig, matrix, workdps

import vbg
from vbg.analysis.linear.linear import linearise
from vbg.analysis.linear.modes import find_modes


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
                assert abs(value) <= 1e-12 * np.abs(A).max()
            else:
                assert value == pytest.approx(right, rel=1e-6)
