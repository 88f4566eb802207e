"""Op-amps that drive themselves to a supply at once: which are refused, and by whom."""

import numpy as np
import pytest

import vbg
from vbg.errors import AssemblyError
from vbg.model import check
from vbg.tmm_bridge import simulate as simulate_by_matrices

SUPPLY = {"kind": "voltage_source", "nodes": ["in", "gnd"], "voltage": 1.0}


def resistor(first, second, R):
    return {"kind": "resistor", "nodes": [first, second], "R": float(R)}


def amplifier(plus, minus, out, gain=1e5, **supplies):
    return {"kind": "op_amp", "nodes": [plus, minus, out], "gain": float(gain), **supplies}


def refused(**electric):
    found = [p for p in check(vbg.Model(electric=electric)) if "positive feedback" in p.what]
    assert all(p.severity == "error" and p.where.startswith("electric.A") for p in found)
    return [p.where.split(".")[1] for p in found]


def outputs_of(gain, T, given, supply=5.0):
    """How many v with v = clip(gain (T v + given)), by the slopes of its three pieces."""
    inside = gain * given / (1.0 - gain * T)
    high, low = gain * (T * supply + given) > supply, gain * (-T * supply + given) < -supply
    return int(abs(inside) < supply) + int(high) + int(low)


def test_refused_is_what_has_three_outputs_at_one_input():
    """Both inputs by dividers from the output: v = clip(K ((p - m) v + w)), at many w, and over
    twelve decades of resistance."""
    random = np.random.default_rng(28)
    seen = set()
    for _ in range(60):
        p, m = random.uniform(0.05, 0.95, 2)
        size, gain = 10.0 ** random.uniform(-3, 9), 10.0 ** random.uniform(0, 6)
        parts = {
            "A": amplifier("p", "m", "o", gain, lower=-5, upper=5),
            "p1": resistor("o", "p", size * (1 - p)),
            "p2": resistor("p", "gnd", size * p),
            "m1": resistor("o", "m", (1 - m) / size),
            "m2": resistor("m", "in", m / size),
            "U": SUPPLY,
        }
        inputs = np.concatenate([[0.0], random.uniform(-5, 5, 50)]) / gain
        several = any(outputs_of(gain, p - m, w) > 1 for w in inputs)
        assert bool(refused(**parts)) == several
        seen.add(several)
    assert seen == {True, False}


def test_stores_tell_what_an_instant_feeds_back():
    """A capacitor keeps its voltage, a coil its current; two coils divide."""
    A, back = amplifier("p", "in", "o"), resistor("o", "p", 1e4)
    load = resistor("p", "gnd", 1e4)
    C = {"kind": "capacitor", "nodes": ["p", "gnd"], "C": 1e-12}
    L = {"kind": "inductor", "nodes": ["o", "p"], "L": 1e-3}
    assert refused(A=A, back=back, load=load, U=SUPPLY) == ["A"]
    assert not refused(A=A, back=back, load=load, U=SUPPLY, C=C)
    assert refused(A=A, back=back, load=load, U=SUPPLY, C={**C, "nodes": ["o", "p"]}) == ["A"]
    assert not refused(A=A, L=L, load=load, U=SUPPLY)
    assert refused(A=A, L=L, load={**L, "nodes": ["p", "gnd"]}, U=SUPPLY) == ["A"]


@pytest.mark.parametrize("gain, latches", ((0.9, False), (1.1, True)))
def test_two_inverters_in_a_ring_latch_where_their_gains_multiply_to_more_than_one(gain, latches):
    parts = {"U": SUPPLY, "Ri": resistor("in", "m1", 1e6)}
    for own, other in (("1", "2"), ("2", "1")):
        parts[f"A{own}"] = amplifier("gnd", f"m{own}", f"o{own}")
        parts[f"R{own}"] = resistor(f"o{other}", f"m{own}", 1e3)
        parts[f"F{own}"] = resistor(f"o{own}", f"m{own}", 1e3 * gain)
    assert refused(**parts) == (["A1"] if latches else [])


def test_a_source_that_another_part_controls_is_not_judged_unless_it_reads_a_store():
    A, back = amplifier("p", "m", "o"), resistor("o", "p", 1e4)
    parts = {"A": A, "back": back, "load": resistor("p", "gnd", 1e4)}
    C = {"kind": "capacitor", "nodes": ["c", "gnd"], "C": 1e-6}
    parts |= {"C": C, "r": resistor("o", "c", 1e3)}
    kept = {"kind": "voltage_source", "nodes": ["m", "gnd"], "voltage": "C.voltage - 5*sin(t)"}
    assert refused(**parts, U=kept) == ["A"]
    assert not refused(**parts, U={**kept, "voltage": "0.9*A.voltage"})


def test_both_solvers_refuse_the_trigger_that_check_refuses():
    electric = {
        "U": {**SUPPLY, "voltage": "4*sin(2*pi*t)"},
        "A": amplifier("p", "in", "o", lower=-5, upper=5),
        "back": resistor("o", "p", 1e4),
        "load": resistor("p", "gnd", 1e4),
    }
    model = vbg.Model(electric=electric, simulate={"t_end": 0.1, "output_step": 0.01})
    for solve in (vbg.simulate, simulate_by_matrices):
        with pytest.raises(AssemblyError, match=r"electric\.A\.nodes: positive feedback"):
            solve(model)
