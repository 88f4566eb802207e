"""Sources that jump with stores of any law on them, at a time or where motion comes to a choice.

Sources in series go from u0 to u1, and with them, where n stores stand between them and the ground,
the efforts P_k = u_0 + ... + u_k of these.  As the limit of ramps all of it goes with one parameter
s, so that source i supplies with each store k behind it, whose charge goes by Q and energy by E,

    int u_i dq_k = (u0_i - d_i P0_k / D_k) Q + (d_i / D_k) E,    d = u1 - u0, D = P1 - P0.

A capacitor that a resistor charges, v = U (1 - exp(-t / R C)), tells the choices when.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail

WAYS = ("time", "choice", "sign", "turned", "switched", "sampled")
U, LEVEL = 2.0, 0.8  # V of the clockwork


def gas(draw: Generator, size: float, effort: float, least: float) -> tuple[dict[str, Any], Any]:
    """An accumulator with oil in it, from its `least` pressure on."""
    n, volume = float(draw.uniform(1.0, 1.6)), size * float(draw.uniform(0.3, 3.0))
    precharge = least * float(draw.uniform(0.3, 0.9))

    def held(p: float) -> tuple[float, float]:
        gas = volume * (precharge / p) ** (1.0 / n)
        if n == 1.0:
            return volume - gas, precharge * volume * np.log(volume / gas)
        rise = np.expm1((n - 1.0) * np.log(volume / gas))
        return volume - gas, precharge * volume * rise / (n - 1.0)

    part = {"kind": "accumulator", "volume": volume, "precharge": precharge, "n": n, "ambient": 0.0}
    return part, held


def stiffening(draw: Generator, size: float, effort: float, _: float) -> tuple[dict[str, Any], Any]:
    """A raw store with the energy a q^2/2 + b q^4/4, of the effort a q + b q^3."""
    a = effort / size * float(draw.uniform(0.0, 1.0) ** 4)
    b = effort / size**3 * float(10.0 ** draw.uniform(-1.0, 2.0))

    def held(p: float) -> tuple[float, float]:
        q = next(float(r.real) for r in np.roots([b, 0.0, a, -p]) if abs(r.imag) <= 1e-9 * abs(r))
        for _ in range(3):
            q -= (a * q + b * q**3 - p) / (a + 3.0 * b * q**2)
        return q, 0.5 * a * q**2 + 0.25 * b * q**4

    return {"energy": f"{a / 2!r}*q^2 + {b / 4!r}*q^4"}, held


def hydraulic(
    store: tuple[dict[str, Any], Any], k: int, given: str, q: float, p: float
) -> dict[str, Any]:
    nodes = [f"n{k}", f"n{k - 1}" if k else "tank"]
    source = {"kind": "pressure_source", "nodes": nodes, "pressure": given}
    return {"hydraulic": {f"S{k}": source, f"A{k}": store[0] | {"nodes": nodes[:1], "pressure": p}}}


def raw(junctions: str, source: str, field: str, letter: str) -> Any:
    """Sources at `junctions[0]` between `junctions[1]` with stores."""

    def parts(
        store: tuple[dict[str, Any], Any], k: int, given: str, q: float, _: float
    ) -> dict[str, Any]:
        bonds = [f"S{k} -> j{k}", f"j{k} -> m{k}", f"m{k} -> A{k}"]
        bonds += [f"m{k - 1} -> j{k}"] if k else []
        law = {"energy": store[0]["energy"].replace("q", "q" if letter == "C" else "p")}
        table = {
            f"S{k}": {"kind": source, field: [given]},
            f"j{k}": {"kind": junctions[0]},
            f"m{k}": {"kind": junctions[1]},
            f"A{k}": {"kind": letter, **law, "initial": [q]},
        }
        return {"bonds": bonds, "bondgraph": table}

    return parts


KINDS = {
    "gas": (gas, hydraulic),
    "C": (stiffening, raw("10", "Se", "effort", "C")),
    "I": (stiffening, raw("01", "Sf", "flow", "I")),
}


def clockwork(second: float, level: float) -> tuple[dict[str, Any], float]:
    """A circuit that comes to the level, and when; behind it a switch closes."""
    R = 1e3
    nodes = {
        "U": ["up", "gnd"],
        "R": ["up", "clock"],
        "clock": ["clock", "gnd"],
        "switch": ["up", "far"],
        "load": ["far", "gnd"],
    }
    parts: dict[str, Any] = {
        "U": {"kind": "voltage_source", "voltage": U},
        "R": {"kind": "resistor", "R": R},
        "clock": {"kind": "capacitor", "C": second / R},
        "switch": {"kind": "switch", "closed": f"clock.voltage - {level!r}"},
        "load": {"kind": "resistor", "R": R},
    }
    parts = {name: part | {"nodes": nodes[name]} for name, part in parts.items()}
    return parts, -second * float(np.log1p(-level / U))


def given(way: str, at: float, level: float, a: float, b: float, name: str) -> tuple[str, Any]:
    """What a source gives, a before and b behind, and the signal that it needs."""
    if way == "sampled":
        rises = f"{a!r} + {(b - a) / at!r}*t"
        first = {"initial": a} if name.startswith("p") else {}
        return name, {name: {"kind": "sample_and_hold", "input": rises, "period": at} | first}
    return {
        "time": f"if(t > {at!r}, {b!r}, {a!r})",
        "choice": f"if(clock.voltage > {level!r}, {b!r}, {a!r})",
        "sign": f"{0.5 * (a + b)!r} + {0.5 * (b - a)!r}*sign(clock.voltage - {level!r})",
        "turned": f"{a!r} + {b - a!r}*atan2(0, {level!r} - clock.voltage)/pi",
        "switched": f"if(load.current > {0.25 * U / 1e3!r}, {b!r}, {a!r})",
    }[way], {}


def machine(kind: str, way: str, seed: int) -> tuple[dict[str, Any], dict[str, float]]:
    """The model, and the energies [J] that parts take up in the jump."""
    draw = np.random.default_rng([seed, *map(ord, kind + way)])
    effort, size, second = (10.0 ** draw.uniform(-4, 4, 3)).tolist()
    effort *= 1e4 if kind == "gas" else 1.0  # Pa: less than that drowns in the air's pressure
    n, level = int(draw.integers(1, 4)), LEVEL * float(draw.uniform(0.5, 1.5))
    clock, at = clockwork(second, level)
    P = draw.uniform(1.0, 30.0, (2, n)) if kind == "gas" else draw.uniform(-3.0, 3.0, (2, n))
    u0, u1 = np.diff(P * effort, prepend=0.0)
    if n > 1:
        keeps = 1 + int(draw.integers(n - 1))
        u1[keeps] = u0[keeps]
    P0, P1 = np.cumsum([u0, u1], axis=1)
    if kind == "gas" and P1.min() <= 0.0:
        return machine(kind, way, seed + 1000)
    make, place = KINDS[kind]
    tables: dict[str, Any] = {"electric": clock, "signals": {}}
    energies: dict[str, float] = {}
    for k in range(n):
        store = make(draw, size, effort, min(P0[k], P1[k]))
        told, signal = given(
            way, at, level, float(u0[k]), float(u1[k]), f"{'p' if kind == 'gas' else 'u'}{k}"
        )
        if way == "sampled" and k and draw.random() < 0.5:
            told, signal = given("time", at, level, float(u0[k]), float(u1[k]), "")
        (q0, E0), (q1, E1) = store[1](float(P0[k])), store[1](float(P1[k]))
        for key, part in place(store, k, told, q0, float(P0[k])).items():
            tables[key] = (
                tables.get(key, type(part)()) | part
                if key != "bonds"
                else [
                    *tables.get(key, []),
                    *part,
                ]
            )
        tables["signals"] |= signal
        energies[f"A{k}"] = E1 - E0
        D = P1[k] - P0[k]
        for i in range(k + 1 if D else 0):
            d = u1[i] - u0[i]
            work = (u0[i] - d * P0[k] / D) * (q1 - q0) + d / D * (E1 - E0)
            energies[f"S{i}"] = energies.get(f"S{i}", 0.0) - float(work)
    span = {"t_end": 1.5 * at, "output_step": 0.25 * at}
    return {"name": "jumps", "outputs": {"energy": True}, **tables, "simulate": span}, energies


@pytest.mark.parametrize("seed", tail(range(8), 2))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_source_supplies_its_part_of_the_limit_of_a_ramp(
    kind: str, way: str, seed: int
) -> None:
    model, energies = machine(kind, way, seed)
    run = vbg.simulate(vbg.Model(**model))
    assert run.status.code == "finished" and not run.audit.failures
    size = max(map(abs, energies.values()))
    for part, energy in energies.items():
        rise = run[f"{part}.energy"][-1] - run[f"{part}.energy"][0]
        assert_allclose(rise, energy, rtol=0, atol=1e-8 * size, err_msg=part)


@pytest.mark.slow
def test_minimal_coordinates_supply_the_same_or_end() -> None:
    """What a source jumps by inside a step is found there, too: it moves no dependent store by
    itself.  Where Newton does not come to what is behind it, the run ends in words."""
    finished = 0
    for kind, way, seed in product(KINDS, ("choice", "sign", "turned"), range(3)):
        model, energies = machine(kind, way, seed)
        run = vbg.simulate(vbg.Model(**model), formulation="minimal")
        if run.status.code != "finished":
            assert "formulation = 'constraint'" in run.status.remedy
            continue
        finished += 1
        assert not run.audit.failures
        size = max(map(abs, energies.values()))
        for part, energy in energies.items():
            rise = run[f"{part}.energy"][-1] - run[f"{part}.energy"][0]
            assert_allclose(rise, energy, rtol=0, atol=1e-8 * size, err_msg=part)
    assert finished
