"""Sources that jump where the motion comes to a choice of an expression, with stores on them.

A capacitor charges through a resistor, v = U (1 - exp(-t / R C)).  Where it comes to a level a
source jumps from a to b: the store of size S across it (a capacitor at a voltage, a coil in the
line of a current) holds S b^2 / 2 from there on for S a^2 / 2, all of which the source supplies,
being S (b - a) (a + b) / 2 of an impulse S (b - a) at the mean of both.
"""

from __future__ import annotations

import numpy as np
import pytest

from vbg.io import toml
from vbg.tmm_bridge import simulate

STORES = {
    "capacitor": ("voltage_source", "voltage", '["a", "gnd"]', "C"),
    "inductor": ("current_source", "current", '["gnd", "a"]', "L"),
}
WAYS = ("written", "gain", "sign", "modulus", "steep")  # and "root", of which nothing is seen


def _text(store: str, way: str, values: tuple[float, ...]) -> str:
    U, R, C, level, a, b, size = values
    kind, field, nodes, letter = STORES[store]
    mean, half, beyond = 0.5 * (a + b), 0.5 * (b - a), f"1e6 * (C.voltage - {level})"
    given = {
        "written": f"if(C.voltage > {level}, {b}, {a})",
        "gain": "twice",
        "sign": f"{mean} + {half} * sign(C.voltage - {level})",
        "modulus": f"{mean} + {half} * (abs({beyond}) - abs({beyond} - 1))",
        "steep": f"{a} + {b - a} * min(1, max(0, 1e12 * (C.voltage - {level})))",
        "root": f"{mean} + {half} * sqrt((C.voltage - {level})^2) / (C.voltage - {level})",
    }[way]
    return f"""vbg = 1
[outputs]
energy = true
[electric.U]
kind = "voltage_source"
nodes = ["u", "gnd"]
voltage = {U}
[electric.R]
kind = "resistor"
nodes = ["u", "c"]
R = {R}
[electric.C]
kind = "capacitor"
nodes = ["c", "gnd"]
C = {C}
[electric.source]
kind = "{kind}"
nodes = {nodes}
{field} = "{given}"
[electric.store]
kind = "{store}"
nodes = ["a", "gnd"]
{letter} = {size}
[signals.half]
kind = "expression"
expression = "if(C.voltage > {level}, {0.5 * b}, {0.5 * a})"
[signals.twice]
kind = "gain"
k = 2
input = "half"
[simulate]
t_end = {2.0 * R * C}
output_step = {0.05 * R * C}
"""


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("way", WAYS)
def test_the_store_holds_what_the_source_supplies(store: str, way: str) -> None:
    rng = np.random.default_rng(sum(map(ord, store + way)))
    for _ in range(3):
        U, R, C, size = 10.0 ** rng.uniform(-1.0, 1.0, 4)
        level = U * rng.uniform(0.2, 0.7)
        a, b = rng.uniform(-5.0, 5.0, 2)
        run = simulate(toml.parse(_text(store, way, (U, R, C, level, a, b, size))))
        v = U * -np.expm1(-run.time / (R * C))
        given = np.where(v > level, b, a)
        stored = 0.5 * C * v**2 + 0.5 * size * given**2
        largest = stored.max()
        assert np.abs(run["energy.stored"] - stored).max() <= 1e-6 * largest
        supplied = C * U * v + 0.5 * size * (given**2 - a**2)
        assert np.abs(run["energy.supplied"] - supplied).max() <= 1e-6 * max(
            largest, supplied.max()
        )
        assert not run.audit.failures


def test_a_jump_that_nothing_sees_is_told() -> None:
    """The capacitor keeps a of b, and the audit says so, of whatever size both are."""
    rng = np.random.default_rng(7)
    for smallest in (-6.0,) * 5 + (-20.0,) * 5:
        R, C, size = 10.0 ** rng.uniform(-6.0, 6.0, 3)
        U = 10.0 ** rng.uniform(smallest, smallest + 12.0)
        level = U * rng.uniform(0.2, 0.7)
        a, b = U * rng.uniform(-5.0, 5.0, 2)
        run = simulate(toml.parse(_text("capacitor", "root", (U, R, C, level, a, b, size))))
        apart = abs(b - a) / max(abs(a), abs(b))
        assert run.audit.dependent_residual == pytest.approx(apart, rel=1e-6)
        assert any("dependent stores" in failure for failure in run.audit.failures)
        assert "dependent stores" in run.status.sentence


@pytest.mark.parametrize("balanced", (True, False))
def test_stores_of_any_size_hold_together_where_nothing_jumps(balanced: bool) -> None:
    """A bridge of capacitors across two sources of any size: of a balanced one its middle holds
    nothing but rounding, which is not apart; of another it has its share, the nodes' charges being
    (A + B + M) a - M b = A u, (C + D + M) b - M a = C u."""
    rng = np.random.default_rng(11)
    for _ in range(6):
        U, unit = 10.0 ** rng.uniform(-20.0, 3.0), 10.0 ** rng.uniform(-15.0, 0.0)
        A, B, M, C = unit * 10.0 ** rng.uniform(-2.0, 2.0, 4)
        D = B * C / A * (1.0 if balanced else rng.uniform(1.5, 4.0))
        ends = {"A": "un", "B": "ng", "C": "um", "D": "mg", "M": "nm"}
        capacitors = "".join(
            f'{name} = {{ kind = "capacitor", nodes = {nodes}, C = {size} }}\n'
            for (name, (one, other)), size in zip(ends.items(), (A, B, C, D, M), strict=True)
            for nodes in [[one, "gnd" if other == "g" else other]]
        )
        run = simulate(
            toml.parse(
                f"""vbg = 1
[electric]
U = {{ kind = "voltage_source", nodes = ["v", "gnd"], voltage = "{U} * sin(3 * t)" }}
V = {{ kind = "voltage_source", nodes = ["u", "v"], voltage = "{0.3 * U} * t" }}
{capacitors}[simulate]
t_end = 2.0
output_step = 0.1
atol = {1e-9 * U}
"""
            )
        )
        u = U * np.sin(3.0 * run.time) + 0.3 * U * run.time
        S = np.array([[A + B + M, -M], [-M, C + D + M]])
        n, m = np.linalg.solve(S, np.array([A, C]))
        assert not run.audit.failures
        assert np.abs(run["M.voltage"] - (n - m) * u).max() <= 1e-6 * U
