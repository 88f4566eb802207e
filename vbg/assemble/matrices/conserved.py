"""Conserved quantities of a system: which combinations of its stores never change."""

from __future__ import annotations

import numpy as np

from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System
from vbg.causality.conserved import Conserved, conserved_quantities

STEP = 1e-40
LARGEST = 300  # states of stores up to which the search is made


def is_searched(system: System) -> bool:
    """Whether the system is small enough."""
    return len(_stores(system)) <= LARGEST


def _stores(system: System) -> list[int]:
    return [i for s in system.slices if s.state.kind == "store" for i in range(s.first, s.last)]


def find_conserved(system: System) -> tuple[Conserved, ...]:
    """Combinations of momenta and displacements whose rate is zero at the start and at two
    states near it, so that a rest position is not taken for a law; empty for systems
    with more than LARGEST states of stores."""
    stores = _stores(system)
    if not stores or not is_searched(system):
        return ()
    start = assemble_start(system)
    x = start.state
    random = np.random.default_rng(1)
    evaluate = start.evaluator("rate", complex_valued=True)
    blocks = []
    for size in (0.0, 1e-3, 1e-2):
        z = (x + size * random.standard_normal(len(x)) * (1e-3 + np.abs(x))).astype(complex)
        blocks.append(evaluate(0.1, z)[stores].real[:, None].copy())
        for i in range(system.size):
            z[i] += 1j * STEP
            blocks.append(evaluate(0.1, z)[stores].imag[:, None] / STEP)
            z[i] = z[i].real
    names = tuple(system.state_names[i] for i in stores)
    return conserved_quantities(np.hstack(blocks), names)
