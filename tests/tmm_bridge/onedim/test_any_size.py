"""Nets whose laws have no size of their own have the same motion at any."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg import tmm_bridge


def valve_net(seed: int, size: float) -> vbg.Model:
    """A flow into a node without volume, a check valve from there to a volume, and leaks."""
    draw = np.random.default_rng(seed)
    T, V = (10.0 ** draw.uniform((-3.0, -6.0), (2.0, 0.0))).tolist()
    p, unit = 1e5 * size, V / 1.4e9 / T
    shares = (unit * 10.0 ** draw.uniform((-1.0, -1.0, 0.0), (0.0, 0.0, 1.5))).tolist()
    ends = (("a", "n tank", "laminar_resistance"), ("b", "v tank", "laminar_resistance"))
    hydraulic: dict[str, object] = {
        name: {"kind": kind, "nodes": nodes.split(), "conductance": conductance}
        for (name, nodes, kind), conductance in zip(
            (*ends, ("c", "n v", "check_valve")), shares, strict=True
        )
    }
    start = p * float(draw.uniform(0.5, 2.0))
    hydraulic["V"] = {"kind": "volume", "nodes": ["v"], "volume": 0.3 * V, "pressure": start}
    flow = f"{unit * p!r} * (1 + sin({float(draw.uniform(4.0, 12.0)) / T!r} * t))"
    hydraulic["S"] = {"kind": "flow_source", "nodes": ["tank", "n"], "flow": flow}
    settings = {"t_end": 2.0 * T, "output_step": 0.1 * T, "rtol": 1e-7, "atol": 1e-10 * size}
    return vbg.Model(name="net", hydraulic=hydraulic, simulate=settings)


@pytest.mark.parametrize("power", tail((-15, -18, -12, -9, -6, -3), 1))
@pytest.mark.parametrize("seed", tail(range(6), 1))
def test_a_valve_has_the_same_motion_at_any_size(seed: int, power: int) -> None:
    """At 1e-13 of 1e5 Pa Newton's method has not come to a step behind a valve that turned."""
    size = 10.0**power
    one, other = (tmm_bridge.simulate(valve_net(seed, s)) for s in (1.0, size))
    assert len(one.audit.events) == len(other.audit.events) > 0
    for name in ("V.pressure", "S.pressure"):
        largest = np.abs(one[name]).max()
        assert np.abs(other[name] / size - one[name]).max() <= 1e-6 * largest
