"""Decays far faster than the rows of a run, in the transfer-matrix solver: stability bounds its
explicit steps, and their polynomials must still tell what is between their ends."""

import numpy as np
import pytest

from vbg.model import Model
from vbg.tmm_bridge import simulate


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_a_capacitor_is_charged_to_the_tolerance_in_every_row(seed, rtol):
    # U - (U - start) exp(-t/(R C)), t/(R C) up to 200 ... 20 000 over 50 rows
    random = np.random.default_rng(seed)
    R, RC, U = 10.0 ** random.uniform((-2, -9, -3), (6, 2, 4))
    end = RC * 10.0 ** random.uniform(2.3, 4.3)
    circuit = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": U},
        "R": {"kind": "resistor", "nodes": ["a", "b"], "R": R},
        "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": RC / R, "voltage": U / 12},
    }
    found = simulate(Model(electric=circuit), t_end=end, output_step=end / 50, rtol=rtol)
    closed = U - (U - U / 12) * np.exp(-found.time / RC)
    np.testing.assert_allclose(np.ravel(found["C.voltage"]), closed, rtol=0, atol=12 * rtol * U)
