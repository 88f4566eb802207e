"""Signals that read one another in a long row, each the next or each the one before."""

from __future__ import annotations

import pytest

import vbg
from vbg.io import toml

LENGTH = 600
LOAD = (
    'vbg = 1\n[rotational.load]\nkind = "inertia"\nnodes = ["shaft"]\nJ = 1\n'
    f'[rotational.motor]\nkind = "torque"\nnodes = ["shaft"]\ntorque = "s{LENGTH - 1}"\n'
)


@pytest.mark.parametrize("first", ["t", "load.speed"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_long_row_of_signals_is_written_out_in_any_order(order, first):
    parts = [
        f'[signals.s{n}]\nkind = "expression"\nexpression = "{before}"\n'
        for n, before in enumerate([first, *(f"0.99*s{n} + 1" for n in range(LENGTH - 1))])
    ]
    model = toml.parse(LOAD + "".join(parts[::order]), "row.toml")
    solution = vbg.simulate(vbg.assemble(model), t_end=0.01, output_step=0.01)
    torque, expected = solution["motor.torque"], solution[first][-1] if first != "t" else 0.01
    for _ in range(LENGTH - 1):
        expected = 0.99 * expected + 1
    assert torque[-1] == pytest.approx(expected, rel=1e-12)
