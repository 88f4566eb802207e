"""What rounding makes of the energies of a run: below it, no audit tells anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import DISSIPATED, SUPPLIED
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.start import Start

Array = NDArray[np.float64]
Values = Callable[[Array, Array], Array]

EPS = float(np.finfo(float).eps)
MOVED = EPS**0.5  # part of itself by which a state is moved: halfway between slope and rounding
DRAWS = 8
HELD = ("store", "displacement", "position", "quaternion")  # kinds of states that energy is held in


def grain_of_energy(
    start: Start, moments: Sequence[tuple[float, Array]], span: float, steps: int
) -> float:
    """What rounding moves the energies of a run by [J], at the larger of `moments`: that of the
    states x, and that of what the stored energy is computed from.

    A cylinder at rest holds p V in its oil, a charged capacitor C U^2, a body at rest m g z of
    the world's origin; a battery gives U (U - U_C) / R to the capacitor that it has filled.  Of
    all these the last digit is noise.  For a function f of the states, which err independently,

        grain(f) = eps sqrt(sum_i (x_i df/dx_i)^2)

    is found by moving them: with signs s_i = +-1 drawn at random, (sum_i s_i x_i df/dx_i)^2 has the
    sum as its mean.  The stored energy H walks at random by grain(H) in each of `steps`; the
    powers P of sources and resistors are wrong, to one side at worst, all through `span` [s].  And
    H is a sum, of energies that may be large and never change: with T(H) the terms of which it is
    computed (`terms_of`), each of its values errs by some eps T(H):

        eps T(H) + the larger of grain(H) sqrt(steps) and grain(P) span

    A stiff spring without load has no slope, but every step leaves k (eps x)^2 / 2 in it, which its
    damper takes away, always to one side: steps times eps^2 |sum_i x_i^2 d^2H/dx_i^2| / 2 is
    added.  Nothing for what has no finite value.
    """
    stored = _values(Evaluator(start.system.programs.output), "energy.stored")
    powers = _values(start.evaluator("rate"), SUPPLIED, DISSIPATED)
    held = np.zeros(start.system.size)
    for s in start.system.slices:
        held[s.first : s.last] = s.state.kind in HELD
    moves = MOVED * held * np.random.default_rng(0).choice((-1.0, 1.0), (DRAWS, len(held)))
    terms = Evaluator(start.system.programs.energy_terms)
    found, bent, summed = 0.0, 0.0, 0.0
    for t, x in moments:
        slope, bend = _grain(stored, moves, t, x)
        found = max(found, slope * max(1, steps) ** 0.5, _grain(powers, moves, t, x)[0] * span)
        bent = max(bent, bend * max(1, steps))
        size = float(terms(t, x)[0])
        summed = max(summed, size if np.isfinite(size) else 0.0)
    return EPS * summed + found + bent


def _values(evaluate: Evaluator, *names: str) -> Values:
    """These scalar outputs at times and states, as rows."""
    first = next(iter(evaluate.program.outputs.values()))[0]
    columns = [evaluate.program.outputs[name][0] - first for name in names]
    return lambda times, states: evaluate.each(times, states)[:, columns]


def _grain(values: Values, moves: Array, t: float, x: Array) -> tuple[float, float]:
    """What rounding of the states makes of the largest one of `values`: by its slope, and by its
    bend; looked at by `moves` of x, in parts of it."""
    with np.errstate(over="ignore", invalid="ignore"):
        states = np.concatenate([x[None, :], x * (1.0 + moves), x * (1.0 - moves)])
        here, *ends = np.split(values(np.full(len(states), t), states), [1, 1 + DRAWS])
        slopes = 0.5 * (ends[0] - ends[1]) / MOVED
        bends = 0.5 * (ends[0] + ends[1] - 2.0 * here) / MOVED**2
        by_slope = EPS * np.sqrt(np.mean(slopes**2, axis=0))
        by_bend = EPS**2 * np.abs(np.mean(bends, axis=0))
    return _largest(by_slope), _largest(by_bend)


def _largest(found: Array) -> float:
    return float(np.max(found[np.isfinite(found)], initial=0.0))
