"""Dependent stores of any size: what ties them is kept and judged by what they hold.

A bridge of capacitors across two sources has nodes a, b with the charges

    (A + B + M) a - M b = A u,   (C + D + M) b - M a = C u.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from tests.tmm_bridge.motion.test_sources_jump_at_events import STORES, _text
from vbg.io import toml

SIZES = (-20, -15, -9, -3, 3)  # powers of ten of what the stores hold


def bridge(U: float, sizes: list[float], period: float) -> vbg.Model:
    ends = {"A": "u n", "B": "n gnd", "C": "u m", "D": "m gnd", "M": "n m"}
    electric = {
        name: {"kind": "capacitor", "nodes": nodes.split(), "C": size}
        for (name, nodes), size in zip(ends.items(), sizes, strict=True)
    }
    for name, nodes, voltage in (
        ("U", ["v", "gnd"], f"{U!r}*cos(3*t/{period!r})"),
        ("V", ["u", "v"], f"{0.3 * U!r}*t/{period!r}"),
    ):
        electric[name] = {"kind": "voltage_source", "nodes": nodes, "voltage": voltage}
    settings = {"t_end": 2.0 * period, "output_step": 0.1 * period, "atol": 1e-9 * U}
    return vbg.Model(name="bridge", electric=electric, simulate=settings)


@pytest.mark.parametrize("size", tail(SIZES, 1))
@pytest.mark.parametrize("balanced", [True, False])
def test_a_bridge_holds_together(balanced: bool, size: int) -> None:
    draw = np.random.default_rng(size + 20)
    U, unit, period = (10.0 ** draw.uniform((size, -15, -4), (size + 1, 0, 3))).tolist()
    A, B, M, C = (unit * 10.0 ** draw.uniform(-2.0, 2.0, 4)).tolist()
    D = B * C / A * (1.0 if balanced else float(draw.uniform(1.5, 4.0)))
    run = vbg.simulate(bridge(U, [A, B, C, D, M], period))
    u = U * np.cos(3.0 * run.time / period) + 0.3 * U * run.time / period
    n, m = np.linalg.solve([[A + B + M, -M], [-M, C + D + M]], [A, C])
    assert run.status.code == "finished" and not run.audit.failures
    assert_allclose(run["A.voltage"], (1.0 - n) * u, rtol=0, atol=1e-6 * U)
    assert_allclose(run["M.voltage"], (n - m) * u, rtol=0, atol=1e-6 * U)
    assert run.audit.dependent_residual <= 1e-6 * U


@pytest.mark.parametrize("size", tail(SIZES, 1))
def test_stores_written_apart_share_what_they_hold(size: int) -> None:
    draw = np.random.default_rng(size + 20)
    v = (10.0**size * draw.uniform(0.5, 3.0, 2)).tolist()
    C = (10.0 ** draw.uniform(-15.0, 0.0) * draw.uniform(0.3, 3.0, 2)).tolist()
    electric = {
        name: {"kind": "capacitor", "nodes": ["a", "gnd"], "C": capacity, "voltage": start}
        for name, capacity, start in zip(("A", "B"), C, v, strict=True)
    }
    electric["R"] = {"kind": "resistor", "nodes": ["a", "gnd"], "R": 1.0 / sum(C)}
    settings = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-9, "atol": 1e-12 * min(v)}
    run = vbg.simulate(vbg.Model(name="apart", electric=electric, simulate=settings))
    mean = np.dot(C, v) / sum(C)
    assert run.status.code == "finished" and not run.audit.failures
    assert_allclose(run["A.voltage"], mean * np.exp(-run.time), rtol=0, atol=1e-7 * mean)
    assert_allclose(run["B.voltage"], run["A.voltage"], rtol=0, atol=1e-9 * mean)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("size", tail((-20, -15, -12, -9, -6, -3), 1))
def test_a_jump_that_nothing_sees_is_told(size: int, store: str) -> None:
    """By sqrt(y^2)/y, at any size: the store jumps, and what it holds more was not supplied."""
    draw = np.random.default_rng(size + 20)
    R, C, capacity = 10.0 ** draw.uniform(-3.0, 3.0, 3)
    U = 10.0**size
    level, (a, b) = U * draw.uniform(0.2, 0.7), U * draw.uniform(-5.0, 5.0, 2)
    text = _text(store, "root", (U, R, C, level, a, b, capacity))
    run = vbg.simulate(toml.parse(f"{text}atol = {1e-9 * U}\n"))
    assert run.audit.failures


@pytest.mark.parametrize("size", tail(SIZES, 1))
def test_rotors_written_apart_share_what_they_hold(size: int) -> None:
    """Geared rotors of speeds w, r w keep A w_A + r B w_B; one brake stops both."""
    draw = np.random.default_rng(size + 20)
    w = (10.0**size * draw.uniform(0.5, 3.0, 2)).tolist()
    J = (10.0 ** draw.uniform(-6.0, 3.0) * draw.uniform(0.3, 3.0, 2)).tolist()
    ratio = float(draw.uniform(-3.0, -0.3))
    whole = J[0] + ratio**2 * J[1]
    rotational = {
        name: {"kind": "inertia", "nodes": [name], "J": inertia, "speed": start}
        for name, inertia, start in zip(("A", "B"), J, w, strict=True)
    }
    rotational["gear"] = {"kind": "gear", "nodes": ["A", "B"], "ratio": ratio}
    rotational["brake"] = {"kind": "damper", "nodes": ["A"], "c": whole}
    settings = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-9, "atol": 1e-12 * min(w)}
    run = vbg.simulate(vbg.Model(name="geared", rotational=rotational, simulate=settings))
    begin = (J[0] * w[0] + ratio * J[1] * w[1]) / whole
    assert run.status.code == "finished" and not run.audit.failures
    assert_allclose(run["A.speed"], begin * np.exp(-run.time), rtol=0, atol=1e-7 * abs(begin))
    assert_allclose(run["B.speed"], ratio * run["A.speed"], rtol=0, atol=1e-8 * abs(begin))
