"""Effort and flow of every bond: no junction keeps power, and what parts hand over adds up."""

from __future__ import annotations

import io
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.analysis.bonds import bonds_kept, energy_handed, observed, power
from vbg.analysis.forces import joint_powers
from vbg.errors import UsageError
from vbg.io import toml
from vbg.runner import Job, Teller, run

EXAMPLES = [
    *("motor-slider-crank", "hydraulic-arm"),
    *(
        "spatial-four-bar",
        "gear-pair",
        "stewart-platform",
        "quarter-car",
        "transistor-amplifier",
        "wind-rotor",
    ),
]


def ran(model, **settings):
    causal = vbg.assign(vbg.expand(model))
    return causal.graph, vbg.simulate(vbg.assemble(observed(causal)), **settings)


@pytest.mark.parametrize("name", tail(EXAMPLES, 2))
def test_what_only_passes_power_on_keeps_none(name):
    """Junctions, transformers, gyrators and Eulerian junction structures, at every instant."""
    graph, solution = ran(vbg.read(f"examples/{name}.toml"), t_end=0.02, output_step=1e-3)
    powers = {bond.name: power(solution, bond.name) for bond in graph.bonds.values()}
    assert len(bonds_kept(graph, solution)) == len(powers) > 10
    largest = max(np.abs(p).max() for p in powers.values())
    assert largest > 0.0
    for vertex in graph.vertices.values():
        if vertex.kind in ("0", "1", "TF", "GY", "EJS"):
            signs = {
                b.name: 1.0 if b.head == vertex.name else -1.0 for b in graph.incident[vertex.name]
            }
            kept = sum(sign * powers[bond] for bond, sign in signs.items())
            assert np.abs(kept).max() < 1e-9 * largest, (vertex.name, vertex.kind)


def test_the_bonds_of_joints_carry_what_their_signals_say():
    """Force times velocity and torque times turning, from the signals of joints and bodies."""
    model = vbg.read("examples/triple-pendulum.toml")
    graph, solution = ran(model, t_end=0.02, output_step=1e-3)
    row = 7
    into: dict[tuple[str, str], float] = {}
    for bond in bonds_kept(graph, solution):
        (tail_table, _, giver), (head_table, _, taker) = (
            graph.vertices[name].part.partition(".") for name in (bond.tail, bond.head)
        )
        watt = power(solution, bond.name)[row]
        if (tail_table, head_table) == ("joints", "bodies"):
            into[giver, taker] = into.get((giver, taker), 0.0) + watt
        if (tail_table, head_table) == ("bodies", "joints"):
            into[taker, giver] = into.get((taker, giver), 0.0) - watt
    said = joint_powers(model, solution, float(solution.time[row]))
    largest = max(map(abs, said.values()))
    for key, watt in said.items():
        assert into.get(key, 0.0) == pytest.approx(watt, abs=1e-9 * largest), key


def test_what_is_handed_over_is_what_parts_take_up():
    """int P dt over a part's bonds is the energy that [outputs] energy says; the trapezoids come
    to it with the square of the output step."""
    text = Path("examples/gear-pair.toml").read_text("utf-8")
    model = toml.parse(text + "\n[outputs]\nenergy = true\n", "crank.toml")
    errors = []
    for step in (1e-3, 2.5e-4):
        graph, solution = ran(model, t_end=0.1, output_step=step)
        net: dict[str, float] = {}
        for handed in energy_handed(graph, solution, 0.0, 0.1):
            assert handed.energy >= 0.0
            net[handed.giver] = net.get(handed.giver, 0.0) - handed.energy
            net[handed.taker] = net.get(handed.taker, 0.0) + handed.energy
        taken = {
            part: solution[f"{part.partition('.')[2]}.energy"]
            for part in net
            if f"{part.partition('.')[2]}.energy" in solution.signals
        }
        assert len(taken) == 4
        errors.append(max(abs(net[part] - (e[-1] - e[0])) for part, e in taken.items()))
    assert errors[1] < 0.1 * errors[0]


def test_a_run_keeps_them_where_it_is_asked_to(tmp_path):
    file = tmp_path / "run.h5"
    job = Job("examples/pendulum.toml", settings={"t_end": 0.1}, bonds=True, result=str(file))
    assert run(job, Teller(None, threading.Event())) == 0
    solution = vbg.load(file)
    name = "hinge.dv_W -> rod.v"
    assert solution.unit(f"{name}.effort") == "N" and solution.unit(f"{name}.flow") == "m/s"
    assert np.abs(solution[f"{name}.effort"] - solution["hinge.force"]).max() < 1e-12
    said = io.StringIO()
    assert run(replace(job, solver="mstmm"), Teller(said, threading.Event())) == 1
    assert "bonds belong to the bond graph" in said.getvalue()


def test_a_run_without_them_says_so():
    with pytest.raises(UsageError):
        power(vbg.simulate(vbg.read("examples/pendulum.toml"), t_end=0.01), "hinge.dv_W -> rod.v")
