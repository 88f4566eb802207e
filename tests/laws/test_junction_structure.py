"""Junction structures give and take no power, whatever stores, resistors and sources do.

All one-port variables (co-energies Z, outputs D of resistors, sources U1, constraint efforts
U2) get random values of their own: no law relates them, so only the structure is tested.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import KINDS, Machine, random_loop, random_tree
from tests.laws.parts import coupled, loaded, rolling_disc
from vbg.assemble.derive.derivation import Derivation, begin
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.blocks import Block, Coefficients, dependencies, dot, linear

SEEDS = st.integers(0, 10_000)
SOME = settings(max_examples=10, deadline=None, derandomize=True)
ONE_PORTS = ("I", "C", "R", "Se", "Sf", "Sc", "EJS")
EPS = 2.0**-52


def structure_of(machine: Machine) -> Derivation:
    return begin(vbg.assign(vbg.expand(machine.model())))


def ports(work: Derivation, kinds: tuple[str, ...] = ONE_PORTS) -> list[tuple[float, Block, Block]]:
    """(sign, effort, flow) of every one-port; sign + where power goes into it."""
    graph = work.causal.graph
    found = []
    for vertex in graph.vertices.values():
        if vertex.kind in kinds:
            (bond,) = graph.incident[vertex.name]
            sign = 1.0 if bond.head == vertex.name else -1.0
            found.append((sign, work.structure.effort(bond), work.structure.flow(bond)))
    return found


def values_of(blocks: dict[str, Block], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The blocks at random values of every leaf; quaternions are unit vectors."""
    leaves = [node for node in dependencies(blocks.values()) if node.op == "leaf"]
    program = lower(blocks, {f"input {i}": node for i, node in enumerate(leaves)})
    work = program.workspace.copy()
    for i, node in enumerate(leaves):
        at = program.inputs[f"input {i}"][0]
        value = rng.uniform(-2.0, 2.0, size=node.rows)
        work[at : at + node.rows] = value / np.linalg.norm(value) if node.rows == 4 else value
    evaluate(program, work)
    return {
        name: work[at : at + rows * cols].reshape(rows, cols)
        for name, (at, rows, cols) in program.outputs.items()
    }


def assert_power_free(machine: Machine, seed: int) -> None:
    work = structure_of(machine)
    found = ports(work)
    terms = {f"{i}": sign * dot(effort, flow) for i, (sign, effort, flow) in enumerate(found)}
    powers = np.array([v[0, 0] for v in values_of(terms, np.random.default_rng(seed)).values()])
    assert abs(powers.sum()) < 50 * EPS * np.abs(powers).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_is_power_free(kind):
    assert_power_free(random_tree(5, kinds=(kind,)), 5)


@SOME
@given(seed=SEEDS)
def test_machines_with_all_parts_are_power_free(seed):
    assert_power_free(loaded(random_tree(seed), seed), seed)
    assert_power_free(loaded(random_loop(seed), seed), seed)


@pytest.mark.parametrize("kind", ["gear", "belt", "rack_pinion"])
def test_couplings_are_power_free(kind):
    assert_power_free(coupled(4, kind), 4)


def test_rolling_is_power_free():
    assert_power_free(rolling_disc(6), 6)


@SOME
@given(seed=SEEDS)
def test_eulerian_junction_structures_are_power_free(seed):
    """w . (w x h) = 0 for any w and h."""
    work = structure_of(random_loop(seed))
    found = ports(work, ("EJS",))
    assert len(found) == 3
    terms = {f"power {i}": dot(effort, flow) for i, (_, effort, flow) in enumerate(found)}
    sizes = {f"size {i}": dot(effort, effort) for i, (_, effort, _) in enumerate(found)}
    values = values_of(terms | sizes, np.random.default_rng(seed))
    for i in range(3):
        assert abs(values[f"power {i}"][0, 0]) < 1e3 * EPS * np.sqrt(values[f"size {i}"][0, 0])
        assert values[f"size {i}"][0, 0] > 0.0


def interconnection(work: Derivation) -> dict[tuple[str, str], Block]:
    """J_ab of x_a = sum over b of J_ab z_b + known: z the variables that stores, resistors and
    constraint sources impose, x those they receive, power positive into the one-port.  The
    Eulerian junction structures are part of J, since R_E is skew-symmetric."""
    graph, structure = work.causal.graph, work.structure
    imposed: dict[str, Block] = {}
    received: dict[str, Block] = {}
    for vertex in graph.vertices.values():
        if vertex.kind not in ("I", "C", "R", "Sc"):
            continue
        (bond,) = graph.incident[vertex.name]
        effort, flow = structure.effort(bond), structure.flow(bond)
        gives_flow = work.causal.imposes_flow(bond).name == vertex.name
        given, got = (flow, effort) if gives_flow else (effort, flow)
        if given.op == "leaf":  # springs on the posture are known sources here
            imposed[vertex.name] = given
            received[vertex.name] = linear((1.0 if bond.head == vertex.name else -1.0, got))
    columns = Coefficients(imposed.values())
    rows_of = {name: columns(got) for name, got in received.items()}
    return {
        (a, b): rows_of[a][imposed[b]]
        for a, b in product(imposed, imposed)
        if imposed[b] in rows_of[a]
    }


@pytest.mark.parametrize("seed", range(6))
def test_the_interconnection_matrix_is_skew_symmetric(seed):
    """J_ba = -J_ab^T; for constraint rows and stores that is J_C1 = J_1u2^T up to the sign
    that power takes."""
    machine = random_loop(seed)
    blocks = interconnection(structure_of(loaded(machine, seed)))
    named = {f"{a} | {b}": block for (a, b), block in blocks.items()}
    values = values_of(named, np.random.default_rng(seed))
    constrained = 0
    for a, b in blocks:
        J_ab = values[f"{a} | {b}"]
        J_ba = values.get(f"{b} | {a}", np.zeros(J_ab.T.shape))
        assert_allclose(J_ba, -J_ab.T, atol=1e-13, err_msg=f"{a} and {b}")
        constrained += a.endswith(".Sc")
    assert constrained >= len(machine.joints)
