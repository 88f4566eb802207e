"""What rounding leaves in the entries of a linear form.

An entry that is a sum of large terms, one of them perhaps the basis of the constraints, is known to
the rounding of these terms, however small it is itself.  That rounding shows when the same sums are
taken at states moved by the last digits that a state is known to (stochastic arithmetic: J. Vignes,
Mathematics and Computers in Simulation 35, 1993).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.linear.factors import Factors
from vbg.analysis.probe.opened import Parted
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import CONSTANT, Tangent, named_rows, tangent
from vbg.analysis.rest.growth import natural_sizes
from vbg.errors import UsageError

Array = NDArray[np.float64]
Form = Callable[[Array, Array, Tangent], Array]  # A by x, the derivatives there and a tangent space
Apart = Callable[[Array], Parted | None]  # the same of all states, by x

LAST = 1e-13  # of a state, or of what is natural for it: what constraints are kept to
SAMPLES = 4
ALIKE = 1e-9  # of their terms: the same form with elements apart and without
SPREAD = 4.0  # times the largest sample: rounding is no larger


@dataclass(frozen=True, eq=False)
class Known:
    """Samples (k, r, r) of what each entry of A (r, r) is off by; `apart` gives A with its elements
    apart and, of as many samples, what they would have made of that; nothing if there is none."""

    samples: Array
    apart: Callable[[], tuple[Factors, ...]]

    @cached_property
    def factors(self) -> tuple[Factors, ...]:
        return self.apart()


def rounding_of(
    probe: Probe,
    t: float,
    x: Array,
    sides: Array,
    space: Tangent,
    form: Form,
    apart: Apart | None,
    way: Array | None = None,
) -> Known:
    """Of A = `form`, in the coordinates of `space`, and with its elements `apart`; `way` is what x
    may be off by."""
    size = LAST * np.maximum(np.abs(x), natural_sizes(probe, t, x))
    for s in probe.system.slices:
        if s.state.kind in CONSTANT:
            size[s.first : s.last] = 0.0
    rng, here, found = np.random.default_rng(5), form(x, *_there(probe, t, x, sides, space)), []
    moved: list[tuple[Array, Tangent, Array]] = [(x, space, np.eye(len(here)))]
    places = [x + size * rng.standard_normal(len(x)) for _ in range(SAMPLES)]
    if way is not None and np.any(np.abs(way) > size):
        places.append(x + way)
    for at in places:
        try:
            jacobian, there = _there(probe, t, at, sides, space)
        except UsageError:
            continue  # a law ends there
        _require_as_many(space, there)
        to = named_rows(probe, jacobian, space.names) @ there.basis
        found.append(to @ np.linalg.solve(to.T, form(at, jacobian, there).T).T - here)
        moved.append((at, there, to))

    def factors() -> tuple[Factors, ...]:
        return () if apart is None else _factors(apart, moved, here)

    return Known(np.reshape(found, (-1, *here.shape)), factors)


def _factors(
    apart: Apart, moved: Sequence[tuple[Array, Tangent, Array]], A: Array
) -> tuple[Factors, ...]:
    found = []
    for x, space, to in moved:
        whole = apart(x)
        if whole is None:
            return ()
        left, right = to @ space.reduce, np.linalg.solve(to.T, space.basis.T).T
        rows = whole.plain[space.rows], whole.gives[space.rows]
        found.append(Factors(left @ rows[0] @ right, left @ rows[1], whole.takes @ right))
    terms = np.abs(found[0].plain) + np.abs(found[0].gives) @ np.abs(found[0].takes)
    off = np.abs(found[0].whole - A) > ALIKE * (terms + np.abs(A).max(initial=0.0))
    return () if off.any() else tuple(found)


def _there(probe: Probe, t: float, x: Array, sides: Array, space: Tangent) -> tuple[Array, Tangent]:
    jacobian = probe.jacobian(t, x, sides)
    return jacobian, tangent(probe, jacobian, x, space)


def _require_as_many(space: Tangent, beside: Tangent) -> None:
    here, there = space.basis.shape[1], beside.basis.shape[1]
    if here != there:
        raise UsageError(
            f"no linear form: there are {here} freedoms here, and {there} where states differ by "
            "their last digits. Usual cause: parts that differ by more decades than numbers have "
            "digits, or joints at a posture where they come to allow another motion. Write such "
            "parts in sizes nearer to one another, or linearise beside that posture."
        )


def largest(samples: Array) -> Array:
    """What each entry may be off by."""
    return np.asarray(SPREAD * np.abs(samples).max(axis=0, initial=0.0))
