"""Conserved quantities of a system: which combinations of its stores never change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.matrices.noether import large_momenta, length_of, states_on_constraints
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.start import Start, assemble_start
from vbg.assemble.system import System
from vbg.causality.conserved import Conserved, conserved_quantities

Array = NDArray[np.float64]

STEP = 1e-40
ROUNDING = 1e-13  # of a state, by which it is moved to tell slopes from rounding
STATES = 4  # on the constraints, in which a quantity is looked at
NOTHING = 1e-6  # of what bodies alone may have: less is zero
LARGEST = 300  # states of stores up to which the search is made


def is_searched(system: System) -> bool:
    """Whether the system is small enough."""
    return len(_stores(system)) <= LARGEST


def _stores(system: System) -> list[int]:
    return [i for s in system.slices if s.state.kind == "store" for i in range(s.first, s.last)]


def find_conserved(system: System) -> tuple[Conserved, ...]:
    """Combinations of momenta and displacements whose rate is zero at the start and at two
    states near it, so that a rest position is not taken for a law, less those that joints alone
    keep at zero; empty for systems with more than LARGEST states of stores.  Slopes count by what
    a large change of the state makes of them: a spring's force beside 1 N for 1 kg m/s is none."""
    stores = _stores(system)
    if not stores or not is_searched(system):
        return ()
    start = assemble_start(system)
    x, large, moves = start.state, _large(start), ~system.discrete
    random = np.random.default_rng(1)
    evaluate = start.evaluator("rate", complex_valued=True)
    blocks, again = [], []
    for size in (0.0, 1e-3, 1e-2):
        at = x + size * random.standard_normal(len(x)) * large * moves
        moved = at * (1.0 + ROUNDING * random.standard_normal(len(x)) * moves)
        blocks.append(_slopes(evaluate, at, stores) * [1.0, *large])
        again.append(_slopes(evaluate, moved, stores) * [1.0, *large])
    names = tuple(system.state_names[i] for i in stores)
    found = conserved_quantities(np.hstack(blocks), np.hstack(again), names)
    return _free(start, found) if found and system.model.bodies else found


def _large(start: Start) -> Array:
    """How large each state is at least: a length of the machine, half a turn, what a store holds at
    a unit of its flow or effort, a body as fast as it moves by its length in a second."""
    system, x = start.system, start.state
    slopes, of_bodies, found = Evaluator(system.programs.slope), large_momenta(start), np.abs(x)
    slopes(0.0, x)
    for s in system.slices:
        own = slice(s.first, s.last)
        least: Array | float = length_of(start) if s.state.kind == "position" else 1.0
        if s.state.name in of_bodies:
            least = of_bodies[s.state.name]
        elif s.state.name in slopes.program.outputs:
            F = np.abs(np.diag(np.reshape(slopes.output(s.state.name), (s.last - s.first,) * 2)))
            least = np.divide(1.0, F, out=np.ones_like(F), where=F > 0.0)
        found[own] = np.maximum(found[own], least)
    return found


def _free(start: Start, found: Sequence[Conserved]) -> tuple[Conserved, ...]:
    """Those that are not zero by the joints alone, as the momentum of a shaft whose mass centre
    lies on its axis, in all of several states that move in every way the joints allow."""
    names, sizes = start.system.state_names, large_momenta(start)
    large = {
        names[i]: size
        for s in start.system.slices
        if (size := sizes.get(s.state.name)) is not None
        for i in range(s.first, s.last)
    }
    at = {name: i for i, name in enumerate(names)}
    states = [x for _, x in states_on_constraints(start.system, start, STATES)]

    def is_nothing(quantity: Conserved) -> bool:
        if not states or not all(name in large for _, name in quantity.terms):
            return False
        amounts = [sum(w * x[at[name]] for w, name in quantity.terms) for x in states]
        whole = sum(abs(w) * large[name] for w, name in quantity.terms)
        return max(map(abs, amounts)) <= NOTHING * whole

    return tuple(quantity for quantity in found if not is_nothing(quantity))


def _slopes(evaluate: Evaluator, x: Array, stores: list[int]) -> Array:
    """The rates of the `stores` and their derivatives by every state, (n, 1 + size)."""
    z = x.astype(complex)
    columns = [evaluate(0.1, z)[stores].real.copy()]
    for i in range(len(x)):
        z[i] += 1j * STEP
        columns.append(evaluate(0.1, z)[stores].imag / STEP)
        z[i] = z[i].real
    return np.stack(columns, axis=1)
