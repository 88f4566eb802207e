"""Equations of random machines in symbols: no number is rounding, none that is small is lost."""

import numpy as np
import pytest

import vbg
from tests.tail import tail

sympy = pytest.importorskip("sympy")

from vbg.analysis.symbolic.loops.deriving import minimal_equations  # noqa: E402
from vbg.analysis.symbolic.symbolic import equations_of  # noqa: E402

LEAST = 1e-10  # of the largest of its kind: no true number of these machines is smaller


def chain(seed, *, offset=0.0):
    """Two rods, cylinders and boxes with parameters, on hinges with axes at special angles and at
    general ones, of any size; `offset`, of the length, across the second rod's hinge."""
    rng = np.random.default_rng(seed)
    rho = 7850.0 * 10.0 ** rng.uniform(-3, 3)
    L, r = 10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(-3, -1)
    angles = rng.choice([0.0, 30.0, 45.0, 60.0, 90.0, 135.0, float(rng.uniform(0, 180))], 2)
    along = rng.permutation([[1, 0, 0], [0, 1, 0], [0, 0, 1]])[:2].tolist()
    solids = [
        {"cylinder": {"radius": "r", "length": "L", "axis": along[0]}, "density": rho},
        {"box": {"x": "L", "y": "2*r", "z": "3*r"}, "density": rho},
    ]
    order = rng.permutation(2)
    bodies = {
        name: {"shape": solids[k], "points": {"a": ["-L/2", 0, 0], "e": ["L/2", 0, 0]}}
        for name, k in zip("uv", order, strict=True)
    }
    if offset:
        bodies["v"]["points"]["a"] = ["-L/2", offset * L, 0]
    axes = [[0.0, float(np.sin(a)), float(np.cos(a))] for a in np.radians(angles)]
    joints = {
        "A": {"kind": "revolute", "between": ["ground", "u.a"], "axis": axes[0]},
        "B": {"kind": "revolute", "between": ["u.e", "v.a"], "axis": axes[1]},
    }
    parameters = {"L": L, "r": r * L}
    settings = {"t_end": 1.0, "output_step": 0.1}
    gravity = [3.0, 2.0, -9.0]
    return vbg.Model(
        parameters=parameters, bodies=bodies, joints=joints, gravity=gravity, simulate=settings
    )


def numbers_by_kind(expressions):
    """Of every sum that is printed, in sums and products too, the numbers before terms of one kind:
    of the same factors but for sines and cosines; what is multiplied by a sum has its numbers."""
    waves = (sympy.sin, sympy.cos)
    for total in set().union(*(one.atoms(sympy.Add) for one in expressions)):
        kinds = {}
        for term in total.args:
            n, rest = term.as_coeff_Mul()
            bases = [(f, f.as_base_exp()[0]) for f in sympy.Mul.make_args(rest)]
            if not any(base.is_Add for _, base in bases):
                kind = sympy.Mul(*(f for f, base in bases if not isinstance(base, waves)))
                kinds.setdefault(kind, []).append(abs(float(n)))
        yield total, kinds


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("seed", tail([2, 0, 1, *range(3, 16)], first=1))
def test_no_number_is_rounding(seed, names):
    """Constraint form and minimal form with joint forces."""
    system = vbg.assemble(chain(seed))
    constraint = equations_of(system, "constraint", names=names)
    minimal = minimal_equations(system, names=names)
    every = [*constraint.rates.values(), *constraint.constraints, *minimal.mass, *minimal.loads]
    every += [c for three in minimal.outputs.values() for c in three]
    for one, kinds in numbers_by_kind(every):
        for numbers in kinds.values():
            assert min(numbers) > LEAST * max(numbers), one


@pytest.mark.parametrize("names", tail([True, False], 1))
@pytest.mark.parametrize("seed", tail(list(range(8)), first=1))
def test_small_numbers_stay(seed, names):
    """A hinge that is 1e-9 of the length beside its rod's axis: what that adds to the weight's
    moments is the millionth part of what a thousandth does."""
    steps = (0.0, 1e-9, 1e-3)
    found = [minimal_equations(vbg.assemble(chain(seed, offset=o)), names=names) for o in steps]
    rng = np.random.default_rng(seed)
    at = {q: float(rng.uniform(-3, 3)) for q in found[0].q} | dict.fromkeys(found[0].u, 0.0)
    plain, small, large = (
        np.array([float(h.xreplace({**at, **e.parameters})) for h in e.loads]) for e in found
    )
    slope = (large - plain) / steps[2]
    size = np.abs(slope).max()
    assert size > 0.01 * np.abs(plain).max()
    assert np.abs((small - plain) / steps[1] - slope).max() < 1e-2 * size
