"""Algebraic loops of the causal graph, and the bonds that names stand for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import vbg
from vbg import blocks
from vbg.assemble.derive.variables import solution_of
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.cli.main import main
from vbg.errors import UsageError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def loops_of(bonds: list[str], **vertices: dict) -> tuple:
    return vbg.assign(vbg.expand(vbg.Model(bondgraph=vertices, bonds=bonds))).loops


def vertex(kind: str, **values: object) -> dict:
    return {"kind": kind, **values}


PAIR = {
    "a": vertex("1"),
    "I": vertex("I", value=1),
    "b": vertex("0"),
    "R1": vertex("R", value=1),
    "c": vertex("1"),
    "R2": vertex("R", value=1),
    "d": vertex("0"),
    "C": vertex("C", value=1),
}
PAIR_BONDS = ["a -> I", "a -> b", "b -> R1", "b -> c", "c -> R2", "c -> d", "d -> C"]


def test_damper_pair_is_one_loop_of_order_one():
    (loop,) = loops_of(PAIR_BONDS, **PAIR)
    assert loop.vertices == ("R1", "R2") and (loop.order, loop.linear) == (1, True)


def test_a_nonlinear_law_makes_the_loop_nonlinear():
    (loop,) = loops_of(PAIR_BONDS, **PAIR | {"R2": vertex("R", effort="f + f**3", flow="e")})
    assert loop.order == 1 and loop.linear  # R2 is used by its law flow(effort)
    (loop,) = loops_of(PAIR_BONDS, **PAIR | {"R2": vertex("R", effort="f + f**3")})
    assert loop.order == 1 and not loop.linear


def test_the_order_of_a_vector_loop_is_its_size():
    vectors = {
        name: part
        | ({"size": 2} if part["kind"] in "01" else {"size": 2, "matrix": [[2, 0], [0, 3]]})
        for name, part in PAIR.items()
    }
    for part in vectors.values():
        part.pop("value", None)
    (loop,) = loops_of(PAIR_BONDS, **vectors)
    assert loop.order == 2


def test_without_the_second_damper_there_is_none():
    bonds = [bond for bond in PAIR_BONDS if "R2" not in bond]
    assert loops_of(bonds, **{n: part for n, part in PAIR.items() if n != "R2"}) == ()


def test_ideal_parts_in_a_circle_are_a_loop_of_their_own():
    """The flow of a - b is that of a - T, which is minus that of c - b: f = -f / 2."""
    graph = {
        "a": vertex("1"),
        "I": vertex("I", value=1),
        "C": vertex("C", value=1),
        "b": vertex("0"),
        "T": vertex("TF", ratio=2),
        "c": vertex("0"),
    }
    bonds = ["a -> I", "a -> C", "a -> b", "a -> T", "T -> c", "b -> c"]
    (loop,) = loops_of(bonds, **graph)
    assert loop.order == 1 and loop.vertices == ("T", "a", "b", "c")
    system = vbg.assemble(vbg.Model(bondgraph=graph, bonds=bonds))
    # the efforts there, which only signals ask for, close on themselves alike
    flows, efforts = system.equations.loops
    assert flows.order == efforts.order == 1
    assert flows.torn == ("flow around a -> b",) and efforts.torn == ("effort around a -> b",)


def network(seed: int) -> vbg.Model:
    """A random connected circuit of resistors, diodes, inductors and capacitors."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 8))
    parts: dict = {"U": {"kind": "voltage_source", "nodes": ["n0", "gnd"], "voltage": 1}}
    for i in range(1, n):
        nodes = [f"n{int(random.integers(0, i))}", f"n{i}"]
        parts[f"T{i}"] = {"kind": "resistor", "nodes": nodes, "R": float(random.uniform(1, 2))}
        if random.random() < 0.3:
            parts[f"C{i}"] = {"kind": "capacitor", "nodes": [f"n{i}", "gnd"], "C": 0.1}
    kinds = {"resistor": {"R": 1.5}, "diode": {}, "inductor": {"L": 0.1}}
    for k in range(int(random.integers(1, n + 2))):
        a, b = random.choice(n, 2, replace=False)
        kind = str(random.choice(list(kinds)))
        parts[f"X{k}"] = {"kind": kind, "nodes": [f"n{a}", f"n{b}"], **kinds[kind]}
    return vbg.Model(electric=parts)


@pytest.mark.parametrize("seed", range(16))
def test_random_circuits_have_the_loops_that_assembly_solves(seed):
    """As many unknowns; where something cancels, assembly splits a loop in two."""
    system = vbg.assemble(network(seed))
    causal, solved = system.causal.loops, system.equations.loops
    assert sum(loop.order for loop in causal) == sum(loop.order for loop in solved)
    assert len(causal) <= len(solved)
    assert all(loop.linear for loop in causal) == all(loop.linear for loop in solved)


def test_signals_and_vertices_stand_for_their_bonds():
    causal = vbg.assign(vbg.expand(vbg.read(EXAMPLES / "slider-crank.toml")))
    bond = "A.Sc -> A.constrained"
    assert causal.why("A.force") == causal.why("A.torque") == causal.why(bond) == causal.why("A.Sc")
    assert causal.why("A.force")[0].startswith(f"{bond}: A.Sc determines the effort")
    motor = vbg.assign(vbg.expand(vbg.read(EXAMPLES / "dc-motor-start.toml")))
    assert motor.why("M.voltage") and motor.why("M.current") and motor.why("electric.a.voltage")


def test_other_names_are_refused_with_the_nearest():
    causal = vbg.assign(vbg.expand(vbg.read(EXAMPLES / "slider-crank.toml")))
    with pytest.raises(UsageError, match=r"no bond, vertex or signal 'A\.forc'.*'A\.force'"):
        causal.why("A.forc")
    with pytest.raises(UsageError, match=r"more than one bond; ask for one of .*crank\.v ->"):
        causal.why("crank.v")
    with pytest.raises(UsageError, match="follows from the posture"):
        causal.why("crank.position")


def test_command(capsys):
    assert main(["show", "causal", str(EXAMPLES / "slider-crank.toml"), "--why", "A.force"]) == 0
    assert "A.Sc determines the effort" in capsys.readouterr().out
    assert main(["show", "causal", str(EXAMPLES / "slider-crank.toml"), "--why", "A.forse"]) == 2
    assert "'A.force'" in capsys.readouterr().err


def test_an_amplifier_leaves_its_limit():
    """Follower with gain 1.5 between 12 V and -12 V: Newton's whole steps go to and fro
    between the limits; the root lies in the steep band between them."""
    model = vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "10*sin(300*t)"},
            "O": {
                "kind": "op_amp",
                "nodes": ["a", "g", "h"],
                "gain": 1e4,
                "lower": -12,
                "upper": 12,
            },
            "Rf": {"kind": "resistor", "nodes": ["h", "g"], "R": 1e3},
            "Rg": {"kind": "resistor", "nodes": ["g", "gnd"], "R": 2e3},
        },
        simulate={"t_end": 0.012, "output_step": 1e-4},
    )
    solution = vbg.simulate(model)
    expected = np.clip(10.0 * np.sin(300.0 * solution.time) / (2 / 3 + 1e-4), -12.0, 12.0)
    np.testing.assert_allclose(solution["O.voltage"], expected, atol=1e-9)


@pytest.mark.parametrize("depth", (1, 2, 3, 4))
def test_loops_within_loops_are_solved_each_by_its_own_equation(depth):
    """y_1 + y_1^3 = y_2,  y_k + y_k^3 + y_(k-1) = y_(k+1), the last of which is given."""
    given = blocks.leaf("given", 1)
    unknowns = [blocks.leaf(f"y{k}", 1) for k in range(depth)]
    value = blocks.const(0.0)
    for k, y in enumerate(unknowns):
        above = unknowns[k + 1] if k + 1 < depth else given
        cube = blocks.times(y, blocks.times(y, y))
        (value,), _ = solution_of([y], [y + cube + value - above], "part")

    def left(y, order):
        return y + y**3 + (root(y, order - 1) if order else 0.0)

    def root(target, order):
        return brentq(lambda y: left(y, order) - target, -1e3, 1e3, xtol=1e-14)

    evaluate = Evaluator(lower({"value": value}, {"given": given}))
    for target in (-7.0, 0.3, 20.0):
        evaluate(0.0, np.array([target]))
        assert evaluate.output("value")[0] == pytest.approx(root(target, depth - 1), rel=1e-10)


@pytest.mark.parametrize("opening", (0.3, 1.0))
def test_a_pipe_drives_its_oil_through_a_valve_that_gives_flow_only(opening):
    """No oil is stored between them: the pressure before the valve is that of the pipe's flow, its
    inertance the only store.  Against its equation, with the valve's law turned over."""
    valve = {"kind": "proportional_valve", "nodes": ["n", "tank", "tank", "tank"], "qn": 1e-3}
    pipe = {"kind": "pipe", "nodes": ["s", "n"], "length": 2.0, "diameter": 0.01}
    source = {"kind": "pressure_source", "nodes": ["s", "tank"], "pressure": 8e6}
    oil = {"pipe": pipe, "source": source, "valve": {**valve, "opening": str(opening)}}
    found = vbg.simulate(vbg.Model(name="line", hydraulic=oil), t_end=0.004, output_step=0.001)
    inertance, gain = 860.0 * 2.0 / (np.pi * 0.005**2), opening * 1e-3 / np.sqrt(5e5)
    resistance = 128.0 * 0.03 * 2.0 / (np.pi * 0.01**4)

    def rate(t, q):
        y2 = (q / gain) ** 2
        pressure = np.sign(q) * np.sqrt(y2 * (y2 + np.sqrt(y2**2 + 4e8)) / 2.0)
        return (8e6 - resistance * q - pressure) / inertance

    expected = solve_ivp(rate, (0, 0.004), [0.0], "Radau", found.time, rtol=1e-10, atol=1e-16).y[0]
    np.testing.assert_allclose(found["pipe.flow"], expected, atol=1e-6 * expected.max())
