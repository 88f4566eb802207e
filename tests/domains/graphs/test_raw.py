"""Raw bond graphs: published facts, and the same machine written with parts."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.domains.linear import eigenvalues
from vbg.errors import CausalityError, ModelError


def vertex(kind: str, **values: object) -> dict:
    return {"kind": kind, **values}


def test_damper_pair_with_an_algebraic_loop():
    """Se-1(I)-0(R1)-1(R2)-0(C, Sf), all parameters 1, q(0) = 10."""
    model = vbg.Model(
        bondgraph={
            "Se": vertex("Se", effort=0),
            "a": vertex("1"),
            "I": vertex("I", value=1),
            "b": vertex("0"),
            "R1": vertex("R", value=1),
            "c": vertex("1"),
            "R2": vertex("R", value=1),
            "d": vertex("0"),
            "C": vertex("C", value=1, initial=[10]),
            "Sf": vertex("Sf", flow=0),
        },
        bonds=[
            "Se -> a",
            "a -> I",
            "a -> b",
            "b -> R1",
            "b -> c",
            "c -> R2",
            "c -> d",
            "d -> C",
            "Sf -> d",
        ],
        simulate={"t_end": 5.0, "output_step": 1.0, "rtol": 1e-10},
    )
    system = vbg.assemble(model)
    (loop,) = system.equations.loops
    assert loop.order == 1 and loop.linear
    assert eigenvalues(system) == pytest.approx([-0.5 - 0.5j, -0.5 + 0.5j], abs=1e-12)
    solution = vbg.simulate(system)
    p, q = solution["I.momentum"], solution["C.displacement"]
    assert (p[1], q[1]) == pytest.approx((-2.90786288, 5.3228073), abs=1e-7)
    assert (p[5], q[5]) == pytest.approx((-0.49125585, -0.65761873), abs=1e-7)


def test_gear_makes_a_compliance_dependent():
    """Se-1(R, I)-GY-0(C)-1(J, b), all 1, p_J(0) = 1: three stores, two states."""
    model = vbg.Model(
        bondgraph={
            "Se": vertex("Se", effort=0),
            "a": vertex("1"),
            "R": vertex("R", value=1),
            "I": vertex("I", value=1),
            "G": vertex("GY", ratio=1),
            "b": vertex("0"),
            "C": vertex("C", value=1),
            "c": vertex("1"),
            "J": vertex("I", value=1, initial=[1]),
            "f": vertex("R", value=1),
        },
        bonds=[
            "Se -> a",
            "a -> R",
            "a -> I",
            "a -> G",
            "G -> b",
            "b -> C",
            "b -> c",
            "c -> J",
            "c -> f",
        ],
        simulate={"t_end": 1.0, "output_step": 1.0, "rtol": 1e-10},
    )
    system = vbg.assemble(model)
    assert system.causal.dependent_stores == ("C",)
    expected = [-0.75 - 0.661437827766148j, -0.75 + 0.661437827766148j]
    assert eigenvalues(system) == pytest.approx(expected, abs=1e-12)
    solution = vbg.simulate(system)
    found = (solution["I.momentum"][-1], solution["J.momentum"][-1])
    assert found == pytest.approx((-0.2193344, 0.2630819), abs=1e-7)


def test_same_machine_with_parts():
    """A DC motor on a shaft as parts and as vertices: the same trajectory."""
    run = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-12, "atol": 1e-14}
    parts = vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "3*sin(2*t)"},
            "M": {
                "kind": "dc_motor",
                "nodes": ["a", "gnd"],
                "on": "rotational.s",
                "R": 0.7,
                "L": 0.3,
                "K": 0.4,
                "B": 0.05,
            },
        },
        rotational={"J": {"kind": "inertia", "nodes": ["s"], "J": 0.2}},
        simulate=run,
    )
    raw = vbg.Model(
        bondgraph={
            "U": vertex("Se", effort="3*sin(2*t)"),
            "i": vertex("1"),
            "R": vertex("R", effort="0.7*f"),
            "L": vertex("I", energy="p**2/0.6"),
            "K": vertex("GY", ratio=0.4),
            "w": vertex("1"),
            "J": vertex("I", matrix=[[0.2]]),
            "B": vertex("R", value=0.05),
        },
        bonds=["U -> i", "i -> R", "i -> L", "i -> K", "K -> w", "w -> J", "w -> B"],
        simulate=run,
    )
    one, other = (vbg.simulate(vbg.assemble(model)) for model in (parts, raw))
    assert one["M.speed"] == pytest.approx(other["J.momentum"] / 0.2, abs=1e-10)
    assert one["M.current"] == pytest.approx(other["L.momentum"] / 0.3, abs=1e-10)


def test_raw_vertices_on_a_joint_and_a_node():
    """A raw spring on the angle of a pendulum equals the part."""
    machine = {
        "bodies": {
            "rod": {
                "mass": 1.0,
                "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.03},
                "position": [0.3, 0, 0],
                "points": {"A": [-0.3, 0, 0]},
            }
        },
        "joints": {
            "hinge": {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}
        },
        "simulate": {"t_end": 0.5, "output_step": 0.1, "rtol": 1e-11, "atol": 1e-13},
    }
    spring = {"forces": {"s": {"kind": "spring", "on": "joints.hinge", "k": 20.0}}}
    raw = {"bondgraph": {"C": vertex("C", value=0.05)}, "bonds": ["hinge.angle -> C"]}
    one, other = (vbg.simulate(vbg.assemble(vbg.Model(**machine, **m))) for m in (spring, raw))
    assert one["hinge.angle"] == pytest.approx(other["hinge.angle"], abs=1e-10)


def test_bonds_of_raw_vertices_are_signals():
    """Effort and flow of one-ports, the flow of 1-junctions, the effort of 0-junctions; they
    may be read, too: a source that follows the flow of another vertex is a damper."""
    graph = {
        "v": vertex("1"),
        "I": vertex("I", value=2, initial=[3]),
        "z": vertex("0"),
        "C": vertex("C", value=0.5),
        "R": vertex("R", value=0.7),
    }
    bonds = ["v -> I", "v -> z", "z -> C", "z -> R"]
    run = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-11, "atol": 1e-13}
    solution = vbg.simulate(vbg.assemble(vbg.Model(bondgraph=graph, bonds=bonds, simulate=run)))
    assert solution["v.flow"] == pytest.approx(solution["I.momentum"] / 2, abs=1e-12)
    assert solution["z.effort"] == pytest.approx(2 * solution["C.displacement"], abs=1e-12)
    assert solution["R.flow"] == pytest.approx(solution["z.effort"] / 0.7, abs=1e-12)
    assert solution["I.effort"] == pytest.approx(-solution["z.effort"], abs=1e-12)
    read = {**graph, "S": vertex("Sf", flow="-z.effort/0.7")}
    del read["R"]
    other = vbg.Model(bondgraph=read, bonds=[*bonds[:3], "S -> z"], simulate=run)
    again = vbg.simulate(vbg.assemble(other))
    assert again["I.momentum"] == pytest.approx(solution["I.momentum"], abs=1e-10)


def test_vector_store():
    """Two coupled oscillators as one vector graph: frequencies of the matrices."""
    M, K = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[30.0, -10.0], [-10.0, 20.0]])
    model = vbg.Model(
        bondgraph={
            "v": vertex("1", size=2),
            "I": vertex("I", size=2, matrix=M.tolist()),
            "C": vertex("C", size=2, matrix=np.linalg.inv(K).tolist()),
        },
        bonds=["v -> I", "v -> C"],
    )
    found = np.sort(np.abs(eigenvalues(vbg.assemble(model)).imag))[::2]
    expected = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    assert found == pytest.approx(np.sort(expected), rel=1e-10)


def test_vector_resistance_of_expressions():
    """A friction that couples two directions, effort = |f| f: the speed falls as
    v' = -v^2, v = v0/(1 + v0 t), along its own direction."""
    speed = "sqrt(f0**2 + f1**2)"
    model = vbg.Model(
        bondgraph={
            "v": vertex("1", size=2),
            "I": vertex("I", size=2, matrix=[[1, 0], [0, 1]], initial=[3, 4]),
            "R": vertex("R", size=2, effort=[f"{speed}*f0", f"{speed}*f1"]),
        },
        bonds=["v -> I", "v -> R"],
        simulate={"t_end": 1.0, "output_step": 0.1, "rtol": 1e-11, "atol": 1e-13},
    )
    solution = vbg.simulate(vbg.assemble(model))
    expected = np.outer(1.0 / (1.0 + 5.0 * solution.time), [3.0, 4.0])
    assert solution["I.momentum"] == pytest.approx(expected, abs=1e-9)
    assert solution.audit.energy_residual < 1e-9
    with pytest.raises(ModelError, match=r"has 1 expression, the size is 2"):
        vbg.Model(bondgraph={"R": vertex("R", size=2, effort="f0")})


def test_wrong_directions_and_conflicts():
    with pytest.raises(ModelError, match=r"C has 0 bond.* into it and 1 out .*other way round"):
        vbg.assemble(
            vbg.Model(bondgraph={"a": vertex("1"), "C": vertex("C", value=1)}, bonds=["C -> a"])
        )
    two = {"a": vertex("0"), "U1": vertex("Se", effort=1), "U2": vertex("Se", effort=2)}
    with pytest.raises(CausalityError, match=r"U1.*source of effort"):
        vbg.assemble(vbg.Model(bondgraph=two, bonds=["U1 -> a", "U2 -> a"]))


@pytest.mark.parametrize(
    ("kind", "law", "letter"),
    [("R", "effort", "f"), ("R", "flow", "e"), ("C", "energy", "q"), ("I", "energy", "p")],
)
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{0}*{0}1", "has {0}1, the size is 1"),
        ("{0}*Se.effort", "reads Se.effort"),
        ("{0}*wave", "reads wave"),
        ("{0}*t", "depends on the time t"),
    ],
)
def test_a_law_is_of_its_own_components_alone(kind, law, letter, text, told):
    with pytest.raises(ModelError, match=told.format(letter)) as error:
        vbg.Model(
            bondgraph={
                "Se": vertex("Se", effort=1),
                "one": vertex("1"),
                "part": vertex(kind, **{law: text.format(letter)}),
            },
            bonds=["Se -> one", "one -> part"],
            signals={"wave": {"kind": "expression", "expression": "sin(t)"}},
        )
    assert all(problem.remedy for problem in error.value.problems)
