"""Conserved quantities of free machines of any size, mass and pace: the total momenta that gravity
leaves are among them, and what is told holds in a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.assemble.matrices.conserved import find_conserved
from vbg.causality.conserved import Conserved

KINDS = ("revolute", "prismatic", "cylindrical", "spherical")


def machine(seed: int) -> dict[str, Any]:
    """Two to four bodies, masses over six decades, joined as a tree by joints or springs."""
    draw = np.random.default_rng(seed)
    M, L, T = (10.0 ** draw.uniform([-6, -4, -3], [6, 4, 3])).tolist()
    n, like_balls, falls = int(draw.integers(2, 5)), *(draw.random(2) < 0.5).tolist()

    def vector(size: float) -> list[float]:
        return (size * draw.uniform(-1.0, 1.0, 3)).tolist()

    bodies, joints, forces = {}, {}, {}
    for i in range(n):
        mass = M * float(10.0 ** draw.uniform(-3, 3))
        J = (0.1 * mass * L**2 * draw.uniform(0.7, 1.2, 3)).tolist()
        bodies[f"b{i}"] = {
            "mass": mass,
            "inertia": dict(zip(("xx", "yy", "zz"), J[:1] * 3 if like_balls else J, strict=True)),
            "position": vector(2.0 * L),
            "velocity": vector(L / T),
            "angular_velocity": vector(1.0 / T),
            "points": {"P": vector(0.5 * L)},
        }
        ends = [f"b{draw.integers(max(i, 1))}.P", f"b{i}.P"]
        if i and draw.random() < 0.5:
            kind = str(draw.choice(KINDS))
            axis = {} if kind == "spherical" else {"axis": [0, 0, 1]}
            joints[f"J{i}"] = {"kind": kind, "between": ends, **axis}
        elif i:
            k = M / T**2 * float(draw.uniform(1.0, 10.0))
            forces[f"K{i}"] = {"kind": "spring", "between": ends, "k": k, "length": L}
    return {
        "gravity": [0.0, 0.0, -L / T**2 if falls else 0.0],
        "simulate": {"t_end": T, "output_step": T / 20.0},
        "bodies": bodies,
        "joints": joints,
        "forces": forces,
    }


def amount(quantity: Conserved, run: vbg.Solution, bodies: dict[str, Any]) -> tuple[Any, float]:
    """What it is in the rows of a run, and the sum of the largest of its terms."""
    terms = []
    for weight, name in quantity.terms:
        body, what, axis = name.split(".")
        moves = run[f"{body}.{'velocity' if what == 'momentum' else 'angular_velocity'}"]
        of_body = bodies[body]
        held = of_body["mass"] if what == "momentum" else of_body["inertia"][2 * axis]
        terms.append(weight * held * moves[:, "xyz".index(axis)])
    return sum(terms), sum(float(np.abs(term).max()) for term in terms)


@pytest.mark.parametrize("seed", tail(range(30), 12))
def test_what_is_told_holds_and_total_momenta_are_told(seed: int) -> None:
    written = machine(seed)
    system = vbg.assemble(vbg.Model(**written))
    found, run = find_conserved(system), vbg.simulate(system)
    assert run.status.code == "finished"
    for quantity in found:
        held, size = amount(quantity, run, written["bodies"])
        assert np.abs(held - held[0]).max() <= 1e-6 * size, quantity
    names = [*system.state_names]
    weights = np.array([[dict(map(reversed, q.terms)).get(x, 0.0) for x in names] for q in found])
    for axis in "xy" if written["gravity"][2] else "xyz":
        total = np.array([float(name.endswith(f".momentum.{axis}")) for name in names])
        left = total - weights.T @ np.linalg.lstsq(weights.T, total, rcond=None)[0]
        assert np.abs(left).max() <= 1e-6
