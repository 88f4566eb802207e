"""How a structure moves in general: whether every freedom of every pair takes part.

Where the dimensions are drawn at random the rank of the loop equations is, but
for a set of measure zero, the largest that any dimensions give.  With columns
t_i, one screw for every freedom of every pair, and signs +1, -1, 0 for a pair
that a loop runs along, against, or not through,

    sum over the pairs of a loop of  sign * t_i q_i' = 0      (B rows a loop)

The rates q' that are possible are the null space.  This sees what no count of
freedoms does: three sliding pairs do not turn a plane, two balls let a rod spin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vbg.structure.synthesis.chains import Chain
from vbg.structure.topology.pairs import PLANAR

Array = NDArray[np.float64]

RESTING = 1e-9  # a rate that is rounding beside those of length 1
_SEED = 20221


def turn(axis: Array, point: Array) -> Array:
    """(6,) the screw of a rotation about an axis through a point: [w; v at the origin]."""
    return np.concatenate([axis, np.cross(point, axis)])


def slide(axis: Array) -> Array:
    """(6,) the screw of a translation."""
    return np.concatenate([np.zeros(3), axis])


def _spherical(point: Array, R: Array) -> list[Array]:
    return [turn(R[:, k], point) for k in range(3)]


Screws = Callable[[Array, Array], list[Array]]

# point (3,) and R (3, 3) with z along the axis -> screws, as many as the pair's grade
SCREWS: dict[str, Screws] = {
    "R": lambda p, R: [turn(R[:, 2], p)],
    "P": lambda p, R: [slide(R[:, 2])],
    "H": lambda p, R: [turn(R[:, 2], p) + 0.1 * slide(R[:, 2])],
    "C": lambda p, R: [turn(R[:, 2], p), slide(R[:, 2])],
    "U": lambda p, R: [turn(R[:, 2], p), turn(R[:, 0], p)],
    "S": _spherical,
    "PL": lambda p, R: [turn(R[:, 2], p), slide(R[:, 0]), slide(R[:, 1])],
    "SC": lambda p, R: [*_spherical(p, R), slide(R[:, 2])],
    "SP": lambda p, R: [*_spherical(p, R), slide(R[:, 0]), slide(R[:, 1])],
    "SPSP": lambda p, R: [*_spherical(p, R), slide(R[:, 0]), slide(R[:, 1])],
}
IN_PLANE = ("R", "P")


def screws(dimension: int, code: str, point: Array, R: Array) -> Array:
    """(B, k) of a pair; in the plane rows [w_z; v_x; v_y], a slide along x of R."""
    if dimension != PLANAR:
        return np.array(SCREWS[code](point, R)).T
    if code == "R":
        return np.array([[1.0], [point[1]], [-point[0]]])
    return np.array([[0.0], [R[0, 0]], [R[1, 0]]])


def loop_signs(chain: Chain, first: Sequence[int] = ()) -> Array:
    """(nu, P) the pairs of nu independent loops, with the sense in which each is run through.

    The loops are closed by the pairs outside of a spanning tree, which takes
    the pairs numbered in `first` before the others.
    """
    order = sorted(range(len(chain.pairs)), key=lambda n: n not in set(first))
    way = {0: np.zeros(len(chain.pairs))}  # from body 0, along the tree
    tree = _spanning(chain, order)
    waiting = [0]
    while waiting:
        body = waiting.pop()
        for n in tree:
            a, b = chain.pairs[n]
            if body in (a, b) and (a not in way or b not in way):
                step = np.zeros(len(chain.pairs))
                step[n] = 1.0 if body == a else -1.0
                other = b if body == a else a
                way[other] = way[body] + step
                waiting.append(other)
    rows = []
    for n in chords(chain, first):
        a, b = chain.pairs[n]
        row = way[a] - way[b]
        row[n] += 1.0
        rows.append(row)
    return np.array(rows).reshape(-1, len(chain.pairs))


def chords(chain: Chain, first: Sequence[int] = ()) -> tuple[int, ...]:
    """The pairs that close the loops: those outside of the spanning tree."""
    order = sorted(range(len(chain.pairs)), key=lambda n: n not in set(first))
    tree = set(_spanning(chain, order))
    return tuple(n for n in range(len(chain.pairs)) if n not in tree)


def _spanning(chain: Chain, order: Sequence[int]) -> list[int]:
    part = list(range(chain.bodies))
    tree = []
    for n in order:
        a, b = (part[body] for body in chain.pairs[n])
        if a != b:
            part = [a if p == b else p for p in part]
            tree.append(n)
    return tree


def equations(signs: Array, columns: Sequence[Array]) -> Array:
    """(B nu, sum of grades) the loop equations of pairs with screws `columns`."""
    blocks = [np.kron(signs[:, [n]], column) for n, column in enumerate(columns)]
    return np.hstack(blocks)


@cache
def _random(dimension: int, code: str, number: int) -> Array:
    """(B, k) the screws of pair `number` somewhere."""
    rng = np.random.default_rng([_SEED, number])
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    if dimension == PLANAR:
        angle = rng.uniform(0.0, 2.0 * np.pi)
        R = np.array([[np.cos(angle), 0, 0], [np.sin(angle), 0, 0], [0, 0, 1.0]])
    return screws(dimension, code, rng.uniform(-1.0, 1.0, size=3), R)


def motions(dimension: int, signs: Array, codes: Sequence[str]) -> Array | None:
    """(sum of grades, M) the possible rates in general, orthonormal; None where they are
    more than the count says, since loop equations repeat each other."""
    columns = [_random(dimension, code, n) for n, code in enumerate(codes)]
    _, sizes, rows = np.linalg.svd(equations(signs, columns))
    rank = dimension * len(signs)
    if len(rows) < rank or (rank and sizes[-1] < RESTING * sizes[0]):
        return None
    return np.asarray(rows[rank:].T)


def all_move(motion: Array) -> bool:
    """Whether no freedom of any pair rests in all possible motions."""
    return bool((np.abs(motion) > RESTING).any(axis=1).all())
