"""Stores left in derivative causality: planar rods as published, agreement with constraint
sources, and what cannot be done that way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import vbg
from vbg.assemble import System
from vbg.cli.main import main
from vbg.errors import AssemblyError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FINE = {"rtol": 1e-11, "atol": 1e-13}
L, M, J, G = 0.7, 1.3, 0.06, 9.81


def vertex(kind: str, **values: object) -> dict:
    return {"kind": kind, **values}


def pendulum(causality: str) -> vbg.Model:
    """A rod on a pivot that accelerates upwards with g, which stands for gravity: a unit
    inertia under the force g gives the pivot's velocity (P. Gawthrop, L. Smith, Metamodelling,
    1996, sections 10.3 and 10.9; example Pendulum of MTT)."""
    return vbg.Model(
        parameters={"l": L, "m": M},
        rotational={"J": vertex("inertia", nodes=["q"], J=J, speed=0.4)},
        bondgraph={
            "force": vertex("Se", effort=G),
            "g": vertex("1"),
            "gravity": vertex("I", value=1),
            "pivot": vertex("Sf", flow="gravity.momentum"),
            "tx": vertex("TF", ratio="-l/2*sin(rotational.q.angle)"),
            "ty": vertex("TF", ratio="l/2*cos(rotational.q.angle)"),
            "x": vertex("1"),
            "y0": vertex("0"),
            "y": vertex("1"),
            "mx": vertex("I", value=M),
            "my": vertex("I", value=M, initial=[M * L / 2 * 0.4]),
        },
        bonds=[
            "force -> g",
            "g -> gravity",
            "rotational.q -> tx",
            "tx -> x",
            "x -> mx",
            "rotational.q -> ty",
            "ty -> y0",
            "pivot -> y0",
            "y0 -> y",
            "y -> my",
        ],
        simulate={"t_end": 1.0, "output_step": 0.1, "causality": causality, **FINE},
    )


def two_link(causality: str) -> vbg.Model:
    """Two rods without gravity (Metamodelling, section 10.5; example TwoLink of MTT)."""
    graph: dict = {}
    bonds = []
    for axis, slope in (("x", "-sin"), ("y", "cos")):
        q1, q2 = (f"{slope}(rotational.q{i}.angle)" for i in (1, 2))
        graph |= {
            f"c1{axis}": vertex("TF", ratio=f"l/2*{q1}"),
            f"e1{axis}": vertex("TF", ratio=f"l*{q1}"),
            f"c2{axis}": vertex("TF", ratio=f"l/2*{q2}"),
            f"v1{axis}": vertex("1"),
            f"s{axis}": vertex("0"),
            f"v2{axis}": vertex("1"),
            f"m1{axis}": vertex("I", value=M),
            f"m2{axis}": vertex("I", value=M),
        }
        bonds += [
            f"rotational.q1 -> c1{axis}",
            f"c1{axis} -> v1{axis}",
            f"v1{axis} -> m1{axis}",
            f"rotational.q1 -> e1{axis}",
            f"e1{axis} -> s{axis}",
            f"rotational.q2 -> c2{axis}",
            f"c2{axis} -> s{axis}",
            f"s{axis} -> v2{axis}",
            f"v2{axis} -> m2{axis}",
        ]
    graph["m1y"]["initial"] = [M * L / 2 * 2.0]
    graph["m2y"]["initial"] = [M * (L * 2.0 - L / 2 * 1.0)]
    return vbg.Model(
        parameters={"l": L},
        rotational={
            "J1": vertex("inertia", nodes=["q1"], J=J, speed=2.0),
            "J2": vertex("inertia", nodes=["q2"], J=J, speed=-1.0),
        },
        bondgraph=graph,
        bonds=bonds,
        simulate={"t_end": 1.0, "output_step": 0.1, "causality": causality, **FINE},
    )


def variables(system: System) -> list[str]:
    return [s.state.name for s in system.slices if s.state.kind != "quadrature"]


def test_pendulum_has_three_states_and_two_dependent_stores():
    system = vbg.assemble(pendulum("derivative"))
    assert variables(system) == ["J.momentum", "gravity.momentum", "rotational.q.angle"]
    assert system.causal.dependent_stores == system.causal.differential == ("mx", "my")
    assert system.causal.constraints == ()


def test_two_link_has_four_states_and_four_dependent_stores():
    system = vbg.assemble(two_link("derivative"))
    names = ["J1.momentum", "J2.momentum", "rotational.q1.angle", "rotational.q2.angle"]
    assert variables(system) == names
    assert system.causal.dependent_stores == ("m1x", "m2x", "m1y", "m2y")
    assert system.causal.constraints == ()


def test_pendulum_swings_as_its_equation_says():
    """(J + m l^2/4) q'' = -m g l/2 cos q."""
    solution = vbg.simulate(vbg.assemble(pendulum("derivative")))
    whole = J + M * L**2 / 4

    def rate(t, x):
        return [x[1], -M * G * L / 2 * np.cos(x[0]) / whole]

    exact = solve_ivp(rate, (0, 1), [0, 0.4], "DOP853", solution.time, rtol=1e-12, atol=1e-14)
    assert solution["rotational.q.angle"] == pytest.approx(exact.y[0], abs=1e-9)
    # in the accelerating frame the mass moves with the pivot, too
    v_y = L / 2 * np.cos(exact.y[0]) * exact.y[1] + G * solution.time
    assert solution["my.momentum"] == pytest.approx(M * v_y, abs=1e-8)
    assert solution.audit.energy_residual < 1e-9


@pytest.mark.parametrize("model", [two_link, pendulum])
def test_rods_agree_with_their_constraint_form(model):
    one, other = (vbg.assemble(model(causality)) for causality in ("derivative", "integral"))
    assert other.causal.dependent_stores == one.causal.dependent_stores
    assert len(other.causal.constraints) == len(other.causal.dependent_stores)
    assert_equal_runs(one, other)


def assert_equal_runs(one: System, other: System) -> None:
    """Every signal that does not belong to a constraint source."""
    first, second = vbg.simulate(one), vbg.simulate(other)
    assert first.status.code == second.status.code == "finished"
    for name in first.signals:
        if not name.startswith(("energy.residual", "residual.")):
            scale = max(1.0, np.abs(second[name]).max())
            assert np.abs(first[name] - second[name]).max() < 1e-7 * scale, name


def circuits() -> dict[str, dict]:
    """Machines whose stores depend on one another, each start consistent."""
    electric = {
        "U": vertex("voltage_source", nodes=["a", "gnd"], voltage="2*sin(5*t)"),
        "R": vertex("resistor", nodes=["a", "b"], R=0.3),
    }
    return {
        "capacitors in parallel": {
            "electric": electric
            | {
                "C1": vertex("capacitor", nodes=["b", "gnd"], C=0.2),
                "C2": vertex("capacitor", nodes=["b", "gnd"], C=0.5),
            }
        },
        "inductors in series": {
            "electric": electric
            | {
                "L1": vertex("inductor", nodes=["b", "c"], L=0.2),
                "L2": vertex("inductor", nodes=["c", "gnd"], L=0.1),
            }
        },
        "capacitor on a source": {
            "electric": electric | {"C": vertex("capacitor", nodes=["a", "gnd"], C=0.5)}
        },
        "nonlinear stores": {
            "bondgraph": {
                "U": vertex("Se", effort="sin(3*t)"),
                "i": vertex("1"),
                "R": vertex("R", value=0.5),
                "e": vertex("0"),
                "C1": vertex("C", energy="q**2/2 + q**4/4"),
                "C2": vertex("C", energy="q**2 + q**4/8"),
            },
            "bonds": ["U -> i", "i -> R", "i -> e", "e -> C1", "e -> C2"],
        },
    }


@pytest.mark.parametrize("name", circuits())
def test_circuits_agree_with_their_constraint_form(name):
    def assembled(causality: str) -> System:
        run = {"t_end": 1.0, "output_step": 0.1, "causality": causality, **FINE}
        return vbg.assemble(vbg.Model(**circuits()[name], simulate=run))

    one, other = assembled("derivative"), assembled("integral")
    assert one.causal.differential and not one.causal.constraints
    assert one.size == other.size - len(one.causal.differential)
    assert_equal_runs(one, other)


@pytest.mark.parametrize(("name", "t_end"), [("dc-motor-start", 0.1), ("motor-slider-crank", 0.05)])
def test_joints_keep_their_constraint_sources(name, t_end):
    """A motor's rotor on a shaft or hinge: dependent, beside the constraint sources.

    The brake's cavity closes at 43 ms; steps stand at the edge of stability before."""
    model = vbg.read(EXAMPLES / f"{name}.toml")
    for key, value in ({"t_end": t_end} | FINE).items():
        model = model.edited(("simulate", key), value)
    one = vbg.assemble(model.edited(("simulate", "causality"), "derivative"))
    other = vbg.assemble(model)
    assert one.causal.differential == other.causal.dependent_stores != ()
    assert set(one.constraint_names) < set(other.constraint_names)
    assert_equal_runs(one, other)


def test_a_state_that_follows_from_forces_is_refused():
    """The flow of I2 passes through a resistor that gives flow only: p' would need p''."""
    model = vbg.Model(
        bondgraph={
            "U": vertex("Se", effort=1),
            "a": vertex("1"),
            "D": vertex("R", flow="e + e**3"),
            "I": vertex("I", value=1),
        },
        bonds=["U -> a", "a -> D", "a -> I"],
        simulate={"causality": "derivative"},
    )
    with pytest.raises(AssemblyError, match=r"follow from forces.*integral"):
        vbg.assemble(model)


def test_show_causal_tells_them(tmp_path, capsys):
    path = tmp_path / "pendulum.toml"
    vbg.write(pendulum("derivative"), path)
    assert main(["show", "causal", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differential"] == ["mx", "my"] and found["constraints"] == []
    assert found["variables"] == ["J.momentum", "gravity.momentum", "rotational.q.angle"]
    assert main(["show", "causal", str(path)]) == 0
    text = capsys.readouterr().out
    assert "state variables (3)" in text and "in derivative causality (2)" in text
    assert main(["show", "causal", str(path), "--causality", "integral", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differential"] == [] and len(found["constraints"]) == 2
