"""Which bodies are joined by which pairs: the input of structural analysis.

A `Topology` holds no geometry.  Body 0 is the frame.  Everything here is a
value; the checks of the input are in `vbg.structure.topology.checks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vbg.errors import ModelError
from vbg.structure.topology.checks import check_inputs, check_pairs
from vbg.structure.topology.pairs import BY_CODE, NOT_CONNECTED, normal_code


@dataclass(frozen=True, slots=True)
class Pair:
    """A kinematic pair between bodies, by index; two `ends`, more in a coupling.

    `grade` is the number of freedoms left, `driven` how many of them are
    prescribed, `dropped` how many of the B - grade equations repeat others
    for reasons of geometry; -1 where one more holds a redundant spin (both
    found by `vbg.structure.geometry.singularities` and `exceptions`).
    """

    name: str
    ends: tuple[int, ...]
    code: str
    grade: int
    driven: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Topology:
    """Bodies and pairs of a mechanism; `dimension` B is 3 (plane) or 6 (space)."""

    dimension: int
    bodies: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def equations(self, pair: Pair) -> int:
        """e = B - k - dropped + driven, what `pair` asks of its bodies."""
        return self.dimension - pair.grade - pair.dropped + pair.driven

    @property
    def mobility(self) -> int:
        """L = B N_m - sum of (B - k), eq. 2 of the paper (Kutzbach-Gruebler)."""
        lost = sum(self.dimension - pair.grade - pair.dropped for pair in self.pairs)
        return self.dimension * (len(self.bodies) - 1) - lost

    @property
    def driven(self) -> int:
        """n_c, the number of driven freedoms."""
        return sum(pair.driven for pair in self.pairs)


def make_pair(name: str, first: int, second: int, code: str, driven: int = 0) -> Pair:
    """A pair of Table 3 between two bodies, its grade read from the table."""
    return Pair(name, (first, second), code, BY_CODE[code].grade, driven)


def from_pairs(
    dimension: int, bodies: Sequence[str], pairs: Sequence[tuple[str, str, str, int]]
) -> Topology:
    """The topology of rows (first body, second body, code, driven freedoms).

    `bodies` begins with the frame.  Raises `ModelError` with every problem.
    """
    names = [str(body) for body in bodies]
    index = {name: i for i, name in enumerate(names)}
    rows = [(str(a), str(b), normal_code(code), driven) for a, b, code, driven in pairs]
    problems = check_pairs(dimension, names, rows)
    if any(problem.severity == "error" for problem in problems):
        raise ModelError.of(problems)
    made = tuple(
        make_pair(f"KP({a}-{b})", index[a], index[b], code, driven)
        for a, b, code, driven in rows
        if code != NOT_CONNECTED
    )
    return Topology(dimension, tuple(names), made)


def from_adjacency(
    dimension: int,
    matrix: Sequence[Sequence[str]],
    known_inputs: Sequence[Sequence[int]] | None = None,
    *,
    bodies: Sequence[str] = (),
) -> Topology:
    """The topology of an extended adjacency matrix (section 3.1 of the paper).

    Parameters
    ----------
    dimension
        ProblemType B, 3 or 6.
    matrix
        N x N codes of Table 3, symmetric; body 1 is the frame; the diagonal is not read.
    known_inputs
        N x N whole numbers w_p of driven freedoms; None drives nothing.
    bodies
        N names; "1" to "N" by default, as the paper numbers them.

    Raises `ModelError` that lists every problem found.
    """
    count = len(matrix)
    names = [str(body) for body in bodies] or [str(i + 1) for i in range(count)]
    inputs = known_inputs if known_inputs is not None else [[0] * count] * count
    problems = check_inputs(dimension, matrix, inputs, names)
    if any(problem.severity == "error" for problem in problems):
        raise ModelError.of(problems)
    rows = [
        (names[i], names[j], str(matrix[i][j]), int(inputs[i][j]))
        for i in range(count)
        for j in range(i + 1, count)
    ]
    return from_pairs(dimension, names, rows)


def with_drives(topology: Topology, driven: Sequence[int]) -> Topology:
    """The same mechanism with `driven[i]` freedoms of pair i prescribed."""
    pairs = zip(topology.pairs, driven, strict=True)
    return replace(topology, pairs=tuple(replace(pair, driven=n) for pair, n in pairs))
