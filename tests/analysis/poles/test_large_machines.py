"""Spaces and steps of machines with hundreds of states, by elimination, as those of small ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import operating_point
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import constraint_jacobian, null_space, tangent
from vbg.analysis.rest.manifold import Manifold
from vbg.assemble.start.constraints.posture import Projector
from vbg.model import Model


def chain(n: int) -> Model:
    """n rods of 0.5 m and 1 kg along x, pinned across."""
    bodies, joints = {}, {}
    for i in range(n):
        bodies[f"b{i}"] = {
            "mass": 1.0,
            "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.01},
            "position": [0.5 * i + 0.25, 0, 0],
            "points": {"a": [-0.25, 0, 0], "b": [0.25, 0, 0]},
        }
        ends = [f"b{i - 1}.b" if i else "ground", f"b{i}.a"]
        joints[f"j{i}"] = {"kind": "revolute", "between": ends, "axis": [0, 1, 0]}
    return Model(gravity=[0, 0, -9.81], bodies=bodies, joints=joints)


@pytest.mark.parametrize("dependent", [0, 3])
def test_a_null_space_of_few_entries_is_that_of_the_singular_values(dependent):
    random = np.random.default_rng(dependent)
    m, n = 260, 340
    C = np.where(random.random((m, n)) < 4.0 / n, random.standard_normal((m, n)), 0.0)
    C[np.arange(m), random.permutation(n)[:m]] += 1.0
    C *= 10.0 ** random.uniform(-3, 3, (m, 1)) * 10.0 ** random.uniform(-3, 3, n)
    C[:dependent] = random.standard_normal((dependent, m - dependent)) @ C[dependent:]
    T = null_space(C)
    assert T.shape[1] == n - m + dependent
    terms = np.linalg.norm(C, axis=1)[:, None] * np.linalg.norm(T, axis=0)
    assert np.abs(C @ T / terms).max() < 1e-12
    sizes = np.linalg.norm(C, axis=0)
    scaled = T * np.where(sizes > 1e-11 * sizes.max(), sizes, 1.0)[:, None]
    assert_allclose(scaled.T @ scaled, np.eye(T.shape[1]), atol=1e-12)


def test_a_space_with_the_coordinates_of_one_nearby_is_the_space_there():
    probe = Probe(vbg.assemble(chain(24)))
    x = probe.start.state
    manifold = Manifold(probe, 0.0, x)
    before = tangent(probe, probe.jacobian(0.0, x), x)
    z = np.random.default_rng(4).standard_normal(len(before.names))
    x, _ = manifold.moved(0.0, x, 0.02 * before.basis @ z)
    jacobian = probe.jacobian(0.0, x)
    space = tangent(probe, jacobian, x, before)
    assert space.names == before.names and len(x) > 300
    C = constraint_jacobian(probe, jacobian, x)
    assert np.abs(C @ space.basis).max() < 1e-11
    assert_allclose(space.chosen @ space.basis, np.eye(len(z)), atol=1e-11)
    assert_allclose(space.reduce @ space.basis[space.rows], np.eye(len(z)), atol=1e-11)
    alone = tangent(probe, jacobian, x)  # with whatever coordinates: the same deviations
    there = alone.basis @ (alone.chosen @ space.basis)
    assert_allclose(there, space.basis, atol=1e-9 * np.abs(space.basis).max())


@pytest.mark.parametrize("seed", [1, 3])
def test_a_posture_that_a_step_leads_to_closes(seed):
    """Of a long chain whose links all turn far the joints stayed open by centimetres."""
    system = vbg.assemble(chain(16))
    probe = Probe(system)
    x = probe.start.state
    manifold, space = Manifold(probe, 0.0, x), tangent(probe, probe.jacobian(0.0, x), x)
    z = np.random.default_rng(seed).standard_normal(len(space.names))
    there, part = manifold.moved(0.0, x, 3.0 * space.basis @ z)
    gaps, _ = Projector(system, probe.start.kept).residuals(0.0, there)
    assert np.abs(gaps).max() < 1e-6 and part > 0.0
    assert np.abs(there - x)[manifold.postures].max() > 1e-3


def test_a_long_chain_is_led_to_its_rest_by_few_looks(monkeypatch):
    """With open joints the descent ended where nothing rests, and 80 steps went on from there."""
    system, looks, look = vbg.assemble(chain(28)), [], Probe.jacobian
    monkeypatch.setattr(Probe, "jacobian", lambda *given: looks.append(1) or look(*given))
    point = operating_point(system)
    assert point.kind == "equilibrium" and point.growth is None
    place = system.state_names.index("b27.position.x")
    assert_allclose(point.x[place : place + 3], [0, 0, -13.75], atol=1e-9)
    assert len(looks) < 60
