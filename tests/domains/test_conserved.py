"""Half-car with a third damper (Medina and Carpenter, J. Dyn. Syst. Meas. Control 145)."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.domains.linear import eigenvalues
from vbg.assemble.matrices.conserved import find_conserved


def half_car(third: float) -> vbg.Model:
    """One sprung mass in heave on two corners, springs as stores of their own."""
    graph: dict = {"body": {"kind": "1"}, "M": {"kind": "I", "value": 680}}
    bonds = ["body -> M"]
    for side in ("l", "r"):
        graph |= {
            f"s{side}": {"kind": "0"},
            f"p{side}": {"kind": "1"},
            f"K{side}": {"kind": "C", "value": 1 / 31.5e3},
            f"D{side}": {"kind": "R", "value": 1964},
            f"w{side}": {"kind": "1"},
            f"m{side}": {"kind": "I", "value": 40},
            f"T{side}": {"kind": "C", "value": 1 / 220e3},
        }
        bonds += [
            f"w{side} -> m{side}",
            f"w{side} -> T{side}",
            f"w{side} -> s{side}",
            f"s{side} -> body",
            f"s{side} -> p{side}",
            f"p{side} -> K{side}",
            f"p{side} -> D{side}",
        ]
    graph |= {"link": {"kind": "0"}, "lp": {"kind": "1"}, "KL": {"kind": "C", "value": 1 / 220e3}}
    bonds += ["wl -> link", "link -> wr", "link -> lp", "lp -> KL"]
    if third:
        graph["DL"] = {"kind": "R", "value": third}
        bonds.append("lp -> DL")
    return vbg.Model(bondgraph=graph, bonds=bonds)


@pytest.mark.parametrize(
    ("third", "pair"), [(0.0, -24.55 + 129.16965j), (1964.0, -73.65 + 108.91821j)]
)
def test_half_car(third, pair):
    system = vbg.assemble(half_car(third))
    assert len(system.causal.states) == 8 and system.causal.dependent_stores == ()
    found = eigenvalues(system)
    assert np.count_nonzero(np.abs(found) < 1e-6) == 2
    for value in (-2.26968 + 8.87851j, -25.16856 + 73.71712j, pair):
        assert np.abs(found - value).min() < 2e-5
        assert np.abs(found - value.conjugate()).min() < 2e-5
    conserved = find_conserved(system)
    assert len(conserved) == 2
    names = {name for quantity in conserved for _, name in quantity.terms}
    assert names == {f"{c}.displacement" for c in ("Kl", "Kr", "Tl", "Tr", "KL")}
    assert str(conserved[0]).count(".displacement") > 1 and " 1 " not in str(conserved[0])


@pytest.mark.parametrize("seed", range(10))
def test_free_bodies_on_springs_keep_what_has_a_closed_form(seed):
    """The momentum of all together, and of a body with three equal moments of inertia, whose
    springs pull at its mass centre, each component of its angular momentum: J w = a w,
    w x J w = 0.  That rate is rounding, whatever the sizes of masses and of inertias are."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 4))
    size = 10.0 ** random.uniform(-4.0, 4.0, count)
    centred = random.permutation(count) < random.integers(1, count)
    bodies = {}
    for i in range(count):
        moments = random.uniform(1.0, 1.3, 3)
        moments = np.full(3, moments[0]) if centred[i] else moments
        bodies[f"B{i}"] = {
            "mass": float(size[i] * random.uniform(1.0, 2.0)),
            "inertia": dict(zip(("xx", "yy", "zz"), (size[i] * moments).tolist(), strict=True)),
            "position": random.normal(size=3).tolist(),
            "velocity": random.normal(size=3).tolist(),
            "angular_velocity": random.normal(size=3).tolist(),
        }
    ends = [{"body": f"B{i}", "at": [0.0 if centred[i] else 0.3, 0.0, 0.0]} for i in range(count)]
    springs = {
        f"S{i}": {"kind": "spring", "between": [ends[i], ends[i + 1]], "k": 50.0, "length": 0.1}
        for i in range(count - 1)
    }
    model = vbg.Model(bodies=bodies, forces=springs, gravity=(0.0, 0.0, 0.0))
    together = {" + ".join(f"B{i}.momentum.{c}" for i in range(count)) for c in "xyz"}
    alone = {f"B{i}.angular_momentum.{c}" for i in range(count) if centred[i] for c in "xyz"}
    found = {str(quantity) for quantity in find_conserved(vbg.assemble(model))}
    assert found == {f"{one} = constant" for one in together | alone}
