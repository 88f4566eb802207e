"""Wrong models of circuits, drives and controllers: each is refused with its message."""

from __future__ import annotations

import re

import pytest

import vbg
from tests.domains.random_networks import circuit
from vbg.errors import VbgError


def electric(**parts: dict) -> dict:
    return {"electric": parts}


def part(kind: str, *nodes: str, **values: object) -> dict:
    return {"kind": kind, **({"nodes": list(nodes)} if nodes else {}), **values}


U = part("voltage_source", "a", "gnd", voltage=5)
R = part("resistor", "a", "gnd", R=1)
MASS = part("mass", "x", m=1)

WRONG = {
    "shorted sources": (
        electric(U=U, V=part("voltage_source", "a", "gnd", voltage=4)),
        "both ends .*impose effort.*source of effort",
    ),
    "open current source": (
        electric(R=R, I=part("current_source", "gnd", "b", current=1)),
        "b .*effort",
    ),
    "current sources in series": (
        electric(
            I=part("current_source", "gnd", "b", current=1),
            K=part("current_source", "b", "gnd", current=2),
        ),
        "effort",
    ),
    "floating circuit": (electric(R=part("resistor", "a", "b", R=1)), "floating island"),
    "floating hydraulic line": (
        {"hydraulic": {"O": part("orifice", "p", "q", area=1e-6)}},
        "floating island",
    ),
    "pressure as voltage": (
        electric(U=part("voltage_source", "a", "gnd", voltage="3 bar")),
        "U.voltage.*pressure",
    ),
    "voltage as pressure": (
        {"hydraulic": {"P": part("pressure_source", "p", "tank", pressure="3 V")}},
        "P.pressure.*voltage",
    ),
    "negative resistance": (electric(R=part("resistor", "a", "gnd", R=-1)), "greater than 0"),
    "zero capacitance": (electric(C=part("capacitor", "a", "gnd", C=0)), "greater than 0"),
    "zero inductance": (electric(L=part("inductor", "a", "gnd", L=0)), "greater than 0"),
    "one node twice": (electric(R=part("resistor", "a", "a", R=1)), "connected to itself"),
    "one node missing": (electric(R=part("resistor", "a", R=1)), "expected 2 node names"),
    "op-amp with two nodes": (electric(A=part("op_amp", "a", "b")), "expected 3 node names"),
    "motor without shaft": (
        electric(M=part("dc_motor", "a", "gnd", R=1, K=1)),
        "needs on",
    ),
    "motor on nothing": (
        electric(M=part("dc_motor", "a", "gnd", R=1, K=1, on="joints.hinge")),
        "unknown joint",
    ),
    "motor on a node that is not there": (
        electric(M=part("dc_motor", "a", "gnd", R=1, K=1, on="rotational.s"))
        | {"rotational": {"J": part("inertia", "shaft", J=1)}},
        "unknown rotational node",
    ),
    "unknown law of a diode": (
        electric(D=part("diode", "a", "gnd", law="cubic")),
        "exponential",
    ),
    "unknown signal read": (
        electric(U=part("voltage_source", "a", "gnd", voltage="ramp")),
        "unknown name 'ramp'",
    ),
    "unknown output read": (
        electric(R=R, U=part("voltage_source", "a", "gnd", voltage="2*R.curent")),
        "no signal 'R.curent'.*R.current",
    ),
    "a hydraulic part among electric ones": (
        electric(O=part("orifice", "a", "gnd", area=1)),
        "kind of hydraulic",
    ),
    "spring without an end": (
        {"translational": {"K": part("spring", k=1)}},
        "exactly one of nodes, on, between",
    ),
    "spring of three nodes": (
        {"translational": {"M": MASS, "K": part("spring", "x", "y", "z", k=1)}},
        "one or two nodes",
    ),
    "force on the frame": (
        {"translational": {"F": part("force", "frame", force=1)}},
        "only the frame",
    ),
    "gear of ratio zero": (
        {"rotational": {"G": part("gear", "r", "s", ratio=0)}},
        "ratio 0",
    ),
    "screw without lead": (
        {
            "translational": {
                "M": MASS,
                "S": part("ball_screw", shaft="rotational.s", slide="translational.x", lead=0),
            },
            "rotational": {"J": part("inertia", "s", J=1)},
        },
        "lead 0",
    ),
    "static friction below the other": (
        {"translational": {"F": part("friction", "x", coulomb=3, static=2)}},
        "below coulomb",
    ),
    "two speeds of one node": (
        {"translational": {"A": part("speed", "x", speed=1), "B": part("speed", "x", speed=2)}},
        "both ends .*flow",
    ),
    "pump without drive": (
        {"hydraulic": {"P": part("pump", "tank", "p", displacement=1e-6)}},
        "either on .* or speed",
    ),
    "cylinder on nothing": (
        {"hydraulic": {"C": part("cylinder", "a", "b", area_a=1e-3, stroke=1)}},
        "needs either between or on",
    ),
    "table whose times fall back": (
        {"signals": {"s": part("table", rows=[[0, 1], [2, 2], [1, 3]])}},
        "times must grow",
    ),
    "limiter upside down": (
        {"signals": {"s": part("limiter", input=1, lower=2, upper=1)}},
        "must be below upper",
    ),
    "improper transfer function": (
        {
            "signals": {
                "s": part("transfer_function", input=1, numerator=[1, 0, 0], denominator=[1, 1])
            }
        },
        "higher power",
    ),
    "sum with a weight too few": (
        {"signals": {"s": part("sum", inputs=[1, 2], weights=[1])}},
        "One weight for each",
    ),
    "state space of other sizes": (
        {"signals": {"s": part("state_space", inputs=[1], A=[[1, 2], [3, 4]], B=[[1]], C=[1, 2])}},
        "A of size 2",
    ),
    "store without law": ({"bondgraph": {"C": part("C")}}, "exactly one of value"),
    "vertices of other sizes": (
        {
            "bondgraph": {"j": part("1", size=2), "C": part("C", value=1)},
            "bonds": ["j -> C"],
        },
        "sizes 2 and 1",
    ),
    "winding without a reference": (
        electric(
            U=U,
            T=part("transformer", "a", "gnd", "c", "d", ratio=2),
            R=part("resistor", "c", "d", R=1),
        ),
        "nodes c, d have no path to 'gnd'",
    ),
    "two voltages through a transformer": (
        electric(
            U=U,
            V=part("voltage_source", "b", "gnd", voltage=4),
            T=part("transformer", "a", "gnd", "b", "gnd", ratio=2),
        ),
        r"voltage is fixed twice.*\(1\) Remove one of electric.U and electric.V, or \(2\) put a "
        "resistor in series",
    ),
    "a node that all parts ask for its voltage": (
        electric(
            I=part("current_source", "gnd", "b", current=1),
            K=part("current_source", "gnd", "b", current=2),
        ),
        r"Nothing fixes the voltage.*\(1\) Add a capacitor.*\(2\) remove",
    ),
    "junctions alone": (
        {
            "bondgraph": {
                "S": part("Se", effort=1),
                "a": part("1"),
                "I": part("I", value=1),
                "b": part("1"),
                "c": part("0"),
            },
            "bonds": ["S -> a", "a -> I", "b -> c"],
        },
        r"floating sub-graph: b, c are bonded to one another only.*\(3\) remove",
    ),
    "a voltage set equal to a torque": (
        electric(R=R)
        | {
            "rotational": {"J": part("inertia", "s", J=1)},
            "bondgraph": {"j": part("1")},
            "bonds": ["electric.a -> j", "j -> rotational.s"],
        },
        "joins different domains: electric.a .electric. and rotational.s .rotation.*TF or a gyr",
    ),
    "a pressure bonded to a force": (
        {
            "hydraulic": {"V": part("volume", "p", volume=1e-3)},
            "translational": {"M": MASS},
            "bonds": ["hydraulic.p -> translational.x"],
        },
        "joins different domains, hydraulic and translation",
    ),
    "vertex without a bond": ({"bondgraph": {"I": part("I", value=1)}}, "has 0 bond"),
    "transformer of three bonds": (
        {
            "bondgraph": {
                "a": part("1"),
                "T": part("TF", ratio=2),
                "C": part("C", value=1),
                "D": part("C", value=1),
            },
            "bonds": ["a -> T", "T -> C", "T -> D"],
        },
        "TF has 1 bond.* into it and 2 out",
    ),
    "derivative of a state that follows from forces": (
        {
            "bondgraph": {
                "S": part("Se", effort=1),
                "a": part("1"),
                "R": part("R", flow="e"),
                "I": part("I", value=1),
            },
            "bonds": ["S -> a", "a -> R", "a -> I"],
            "simulate": {"causality": "derivative"},
        },
        'would follow from forces.*causality = "integral"',
    ),
    "causality of another name": (
        electric(U=U, R=R) | {"simulate": {"causality": "differential"}},
        "integral.*derivative",
    ),
    "signals that read one another": (
        {
            "signals": {
                "a": part("expression", expression="b + 1"),
                "b": part("gain", input="a", k=1.0),
            },
            "rotational": {
                "rotor": part("inertia", "n", J=1.0),
                "drive": part("torque", "n", torque="a"),
            },
        },
        "signals.a: signals that read one another have no unique value: a[.].*sample_and_hold",
    ),
    "loop of ideal parts": (
        electric(
            U=U,
            E=part("voltage_source", "b", "gnd", voltage="electric.b.voltage + R.current"),
            R=R,
        ),
        "loop of ideal parts has no unique solution",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused_with_its_message(name):
    document, message = WRONG[name]
    with pytest.raises(VbgError, match=f"(?s){message}"):
        model = vbg.Model(**document)
        errors = [problem for problem in vbg.check(model) if problem.severity == "error"]
        if errors:
            raise VbgError("\n".join(map(str, errors)))
        vbg.start(model)


def test_a_loop_of_a_circuit_without_ground_is_told_as_floating():
    # its sources and stores feed one another: without a node to start from, a singular loop
    with pytest.raises(VbgError, match="have no path to 'gnd': a floating island"):
        vbg.start(vbg.Model(**circuit(73)))


@pytest.mark.parametrize("phases", [3, 4])
def test_a_circuit_that_chokes_alone_lead_to_is_told_as_such(phases):
    """As of a bridge with a choke in each line; with what is advised it has a start."""
    parts = {
        "coil": part("inductor", "p", "x", L=0.02),
        "load": part("resistor", "x", "m", R=5.3),
    }
    for k in range(phases):
        source = part("voltage_source", f"s{k}", "gnd", voltage=f"97*sin(310*t + {1.7 * k})")
        parts |= {f"V{k}": source, f"L{k}": part("inductor", f"s{k}", f"n{k}", L=0.003 + 1e-4 * k)}
        parts |= {f"D{k}": part("diode", f"n{k}", "p", law="ideal")}
        parts |= {f"E{k}": part("diode", "m", f"n{k}", law="ideal")}
    leads = ", ".join(f"L{k}" for k in range(phases))
    with pytest.raises(VbgError, match="nothing fixes the voltage") as told:
        vbg.start(vbg.Model(electric=parts))
    (problem,) = told.value.problems
    assert f"gnd: {leads} alone" in problem.what
    leak = re.search(r'nodes = \["(\w+)", "gnd"\], R = "1 Mohm"', problem.remedy)
    parts["leak"] = part("resistor", leak[1], "gnd", R="1 Mohm")
    vbg.start(vbg.Model(electric=parts))


def test_there_are_enough():
    assert len(WRONG) >= 45
