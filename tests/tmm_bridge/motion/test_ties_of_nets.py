"""Nets that nothing joins: dependent stores of each count in what its own ties are the sums of.

A source v(t) = U f(t) on a capacitor, a charging capacitor, and a net of two capacitors side by
side that a third joins to the ground, which nothing excites or a source of another size.
"""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg import tmm_bridge

SIZES = (-12, -9, -5, 0, 4, 8, 12)  # powers of ten of a volt


def nets(draw: np.random.Generator, U: float, beside: float, jumps: str) -> vbg.Model:
    """The net beside has a source of this size where it is not 0; the one of a net named by
    `jumps` jumps, by an expression in which nothing sees it, as the charging capacitor passes."""
    T, R = (10.0 ** draw.uniform((-4.0, -1.0), (2.0, 5.0))).tolist()
    C = (T / R * 10.0 ** draw.uniform(-2.0, 1.0, 5)).tolist()
    level = U * float(draw.uniform(0.2, 0.7))
    high, low = (float(draw.uniform(0.5, 2.0)), -float(draw.uniform(0.5, 2.0)))
    passed = f"sqrt((C.voltage - {level!r})^2) / (C.voltage - {level!r})"
    unseen = f"{0.5 * (high + low)!r} + {0.5 * (high - low)!r} * {passed}"
    wave = f"sin({float(draw.uniform(1.0, 3.0)) / T!r} * t)"

    def source(size: float, node: str) -> dict[str, object]:
        text = f"{size!r} * ({unseen if jumps == node else wave})"
        return {"kind": "voltage_source", "nodes": [node, "gnd"], "voltage": text}

    def capacitor(ends: str, size: float, **start: float) -> dict[str, object]:
        nodes = ["gnd" if node == "g" else node for node in ends]
        return {"kind": "capacitor", "nodes": nodes, "C": size, **start}

    def resistor(*nodes: str) -> dict[str, object]:
        return {"kind": "resistor", "nodes": list(nodes), "R": R}

    electric = {
        "V": {"kind": "voltage_source", "nodes": ["u", "gnd"], "voltage": U},
        "R": resistor("u", "c"),
        "C": capacitor("cg", 0.5 * T / R),
        "U": source(U, "a"),
        "S": capacitor("ag", C[0], voltage=U * float(draw.uniform(-2.0, 2.0))),
        "A": capacitor("xy", C[1]),
        "B": capacitor("xy", C[2]),
        "D": capacitor("yg", C[3]),
        "Rx": resistor("x", "gnd"),
        "Ry": resistor("y", "gnd"),
        "Rb": resistor("b", "x"),
        "E": capacitor("bg", C[4]),
    }
    electric["W"] = source(beside, "b") if beside else resistor("b", "gnd")
    settings = {"t_end": T, "output_step": 0.05 * T, "atol": 1e-9 * U * min(1.0, 1.0 / R)}
    return vbg.Model(name="nets", electric=electric, simulate=settings)


@pytest.mark.parametrize("size", tail(SIZES, 1))
@pytest.mark.parametrize("beside", (0.0, 1e-9, 1e6))
def test_stores_of_every_net_hold_together(size: int, beside: float) -> None:
    draw = np.random.default_rng(size + 20)
    U = 10.0**size * float(draw.uniform(1.0, 9.0))
    run = tmm_bridge.simulate(nets(draw, U, beside * U, ""))
    assert run.status.code == "finished" and not run.audit.failures
    assert np.abs(run["A.voltage"] - run["B.voltage"]).max() <= 1e-9 * max(U, beside * U)


@pytest.mark.parametrize("size", tail(SIZES, 1))
@pytest.mark.parametrize(("jumps", "beside"), (("a", 1e-9), ("a", 1e3), ("b", 1e-9)))
def test_a_jump_that_nothing_sees_is_told_in_whatever_net(
    size: int, jumps: str, beside: float
) -> None:
    draw = np.random.default_rng(size + 20)
    U = 10.0**size * float(draw.uniform(1.0, 9.0))
    run = tmm_bridge.simulate(nets(draw, U, beside * U, jumps))
    assert any("dependent stores" in failure for failure in run.audit.failures)
    assert run.audit.dependent_residual >= 0.1
