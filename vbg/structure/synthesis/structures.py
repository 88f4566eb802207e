"""All chains, mechanisms and driven mechanisms of a mobility, none twice.

A chain gets its pairs, a mechanism one of its bodies as frame, a driven
mechanism one of its pairs as drive: each a labelling of what was there before,
and of the labellings that symmetries take into each other one is kept.  So no
two structures have to be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from vbg.errors import UsageError
from vbg.structure.routes.synthesis import GroupTemplate
from vbg.structure.synthesis.canonical import Permutation, is_least, stabiliser
from vbg.structure.synthesis.chains import Chain, chains
from vbg.structure.synthesis.generic import (
    IN_PLANE,
    RESTING,
    SCREWS,
    all_move,
    loop_signs,
    motions,
)
from vbg.structure.topology.pairs import BY_CODE, PLANAR
from vbg.structure.topology.topology import Topology, make_pair

Symmetry = tuple[Permutation, Permutation]  # of the bodies and of the pairs


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for: `bodies` N, the frame counted, and the `mobility` M.

    `codes` names the kinds of pairs and the least and the most of each.
    """

    dimension: int
    mobility: int
    bodies: int
    codes: tuple[tuple[str, int, int], ...]

    def __post_init__(self) -> None:
        known = IN_PLANE if self.dimension == PLANAR else tuple(SCREWS)
        wrong = [code for code, _, _ in self.codes if code not in known]
        if wrong:
            where = "the plane" if self.dimension == PLANAR else "space"
            raise UsageError(
                f"pairs {', '.join(wrong)}: synthesis in {where} takes {', '.join(known)}."
            )
        if self.bodies < 2 or self.mobility < 0 or not self.codes:
            raise UsageError("synthesis needs two bodies, a mobility of 0 or more, and pairs.")

    def loops(self) -> tuple[int, ...]:
        """The numbers of loops nu that are possible: sum of grades = B nu + M, and one more
        for every rod between two balls, whose spin is no mobility."""
        grades = [BY_CODE[code].grade for code, _, _ in self.codes]
        rods = self.bodies if self.has_balls else 0
        found = []
        for nu in range(1, (self.bodies - 1) * (self.bodies - 2) // 2 + 1):
            pairs, total = self.bodies - 1 + nu, self.dimension * nu + self.mobility
            if min(grades) * pairs <= total + rods and total <= max(grades) * pairs:
                found.append(nu)
        return tuple(found)

    @property
    def has_balls(self) -> bool:
        """Whether spherical pairs are among the codes."""
        return any(code == "S" for code, _, _ in self.codes)


@dataclass(frozen=True)
class Labelled:
    """A chain, the codes of its pairs, and the symmetries that keep both.

    `held` are the codes with U in place of one S of every rod between two
    balls, so that its spin, which moves nothing else, is not counted.
    `motion` (sum of grades of `held`, M) is what moves in general.
    """

    dimension: int
    chain: Chain
    codes: tuple[str, ...]
    held: tuple[str, ...]
    motion: np.ndarray
    symmetries: tuple[Symmetry, ...]

    def topology(self, frame: int = 0, driven: Sequence[int] = ()) -> Topology:
        """With body `frame` as the frame and one freedom of each pair in `driven` prescribed."""
        order = [frame, *(i for i in range(self.chain.bodies) if i != frame)]
        place = {body: n for n, body in enumerate(order)}
        pairs = []
        rows = [tuple(sorted(place[body] for body in ends)) for ends in self.chain.pairs]
        for n in sorted(range(len(rows)), key=rows.__getitem__):
            (a, b), code = rows[n], self.codes[n]
            pair = make_pair(f"KP({a + 1}-{b + 1})", a, b, code, int(n in driven))
            pairs.append(replace(pair, dropped=-1) if self.held[n] != code else pair)
        names = tuple(str(n + 1) for n in range(self.chain.bodies))
        return Topology(self.dimension, names, tuple(pairs))


def labelled_chains(wanted: Wanted) -> Iterator[Labelled]:
    """All different kinematic chains: no frame, no drive.

    Every freedom of every pair moves, no part of the chain is rigid; with
    mobility 0 these are the chains that hold no smaller rigid one (Baranov's
    trusses, where they are planar).
    """
    grades = {code: BY_CODE[code].grade for code, _, _ in wanted.codes}
    levels = sorted(set(grades.values()))
    # in a loop alone the grades are at least B + 1, or B in a truss of one loop
    shortest = max(3, -(-(wanted.dimension + min(wanted.mobility, 1)) // levels[-1]))
    for nu in wanted.loops():
        for chain in chains(wanted.bodies, nu, shortest=shortest):
            parts = _parts(chain)
            total = wanted.dimension * nu + wanted.mobility
            rods = chain.degrees().count(2) if wanted.has_balls else 0
            symmetries: tuple[Symmetry, ...] = ()
            for pattern in _patterns(len(chain.pairs), levels, total, total + rods):
                if not _has_room(wanted.dimension, parts, pattern):
                    continue
                symmetries = symmetries or chain.symmetries()
                images = [pairs for _, pairs in symmetries]
                if is_least(pattern, images):
                    kept = [symmetries[k] for k in stabiliser(pattern, images)]
                    for codes in _codes(wanted, pattern, [pairs for _, pairs in kept]):
                        yield from _moving(wanted, chain, parts, codes, kept)


def _codes(
    wanted: Wanted, pattern: Sequence[int], images: Sequence[Permutation]
) -> Iterator[tuple[str, ...]]:
    """All different codes of the grades in `pattern`."""
    limits = {code: (least, most) for code, least, most in wanted.codes}
    choices = [[code for code in limits if BY_CODE[code].grade == grade] for grade in pattern]
    return (codes for codes in _within(choices, limits) if is_least(codes, images))


def _moving(
    wanted: Wanted,
    chain: Chain,
    parts: tuple[np.ndarray, np.ndarray],
    codes: tuple[str, ...],
    symmetries: Sequence[Symmetry],
) -> Iterator[Labelled]:
    """The chain with `codes`, if it has the mobility and every freedom takes part."""
    held = rods_held(chain, codes) if wanted.has_balls else codes
    grades = [BY_CODE[code].grade for code in held]
    if sum(grades) != wanted.dimension * chain.loops + wanted.mobility:
        return
    if held != codes and not _has_room(wanted.dimension, parts, grades):
        return
    motion = motions(wanted.dimension, loop_signs(chain), held)
    if motion is not None and (wanted.mobility == 0 or all_move(motion)):
        kept = stabiliser(codes, [pairs for _, pairs in symmetries])
        yield Labelled(
            wanted.dimension, chain, codes, held, motion, tuple(symmetries[k] for k in kept)
        )


def rods_held(chain: Chain, codes: tuple[str, ...]) -> tuple[str, ...]:
    """`codes` with U in place of one S of every body between two balls and nothing else."""
    held = list(codes)
    for body in range(chain.bodies):
        own = [n for n, ends in enumerate(chain.pairs) if body in ends]
        if len(own) == 2 and all(codes[n] == "S" for n in own):
            free = [n for n in own if held[n] == "S"]
            if free:
                held[free[0]] = "U"
    return tuple(held)


def frames(labelled: Labelled) -> Iterator[tuple[int, tuple[Symmetry, ...]]]:
    """Every body that makes a different mechanism as frame, and the symmetries left."""
    for body in range(labelled.chain.bodies):
        if min(bodies[body] for bodies, _ in labelled.symmetries) == body:
            yield body, tuple(s for s in labelled.symmetries if s[0][body] == body)


def mechanisms(wanted: Wanted) -> Iterator[Topology]:
    """All different mechanisms: chains with a frame (inversions).

    With mobility 0 in the plane they are the Assur groups, the frame being
    what they are joined to.
    """
    for labelled in labelled_chains(wanted):
        for frame, _ in frames(labelled):
            yield labelled.topology(frame)


def assur_groups(order: int) -> tuple[GroupTemplate, ...]:
    """All planar Assur groups of class `order` with revolutes: 2k bodies, 3k pairs.

    One of class 1 (the dyad), 2 of class 2, 10 of class 3, 173 of class 4.
    """
    trusses = Wanted(PLANAR, 0, 2 * order + 1, (("R", 0, 3 * order),))
    found = []
    for topology in mechanisms(trusses):
        rows = [(min(pair.ends), max(pair.ends), pair.code, 0) for pair in topology.pairs]
        inner = tuple((a - 1, b - 1, code, n) for a, b, code, n in rows if a)
        outer = tuple((b - 1, code, n) for a, b, code, n in rows if not a)
        found.append(GroupTemplate(PLANAR, 2 * order, inner, outer))
    return tuple(found)


def driven_mechanisms(wanted: Wanted, *, anywhere: bool = False) -> Iterator[Topology]:
    """All different mechanisms with as many drives as freedoms.

    A drive prescribes a pair of one freedom, at the frame unless `anywhere`.
    """
    for labelled in labelled_chains(wanted):
        for frame, symmetries in frames(labelled):
            at_hand = [
                n
                for n, ends in enumerate(labelled.chain.pairs)
                if BY_CODE[labelled.codes[n]].grade == 1 and (anywhere or frame in ends)
            ]
            for driven in combinations(at_hand, wanted.mobility):
                images = [tuple(sorted(pairs[n] for n in driven)) for _, pairs in symmetries]
                if min(images) == driven and _determines(labelled, driven):
                    yield labelled.topology(frame, driven)


def _determines(labelled: Labelled, driven: Sequence[int]) -> bool:
    """Whether every motion moves one of the `driven` pairs."""
    first = np.cumsum([0, *(BY_CODE[code].grade for code in labelled.held)])
    rows = labelled.motion[first[list(driven)]]
    return not len(rows) or bool(np.linalg.svd(rows, compute_uv=False)[-1] > RESTING)


def _parts(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Sizes (s,) of all sets of two and more bodies but the whole; (s, P) their pairs."""
    sets = np.arange(1 << chain.bodies)
    member = (sets[:, None] >> np.arange(chain.bodies)) & 1
    sizes = member.sum(axis=1)
    kept = (sizes > 1) & (sizes < chain.bodies)
    inside = np.array([member[kept, i] & member[kept, j] for i, j in chain.pairs]).T
    return sizes[kept], inside


def _has_room(dimension: int, parts: tuple[np.ndarray, np.ndarray], pattern: Sequence[int]) -> bool:
    """Whether every part keeps a freedom: B (bodies - 1) - sum of (B - k) >= 1."""
    sizes, inside = parts
    lost = inside @ (dimension - np.array(pattern))
    return bool((dimension * (sizes - 1) - lost >= 1).all())


def _patterns(
    pairs: int, levels: Sequence[int], least: int, most: int
) -> Iterator[tuple[int, ...]]:
    """Grades out of `levels` for every pair, with a sum from `least` to `most`."""
    if not pairs:
        yield ()
        return
    for grade in levels:
        lower, upper = least - grade, most - grade
        if (pairs - 1) * levels[0] <= upper and lower <= (pairs - 1) * levels[-1]:
            for others in _patterns(pairs - 1, levels, lower, upper):
                yield (grade, *others)


def _within(
    choices: Sequence[Sequence[str]], limits: dict[str, tuple[int, int]]
) -> Iterator[tuple[str, ...]]:
    """One code for every pair, of each at least and at most as many as `limits` says."""
    if not choices:
        if all(least <= 0 for least, _ in limits.values()):
            yield ()
        return
    if sum(max(least, 0) for least, _ in limits.values()) > len(choices):
        return
    for code in choices[0]:
        least, most = limits[code]
        if most > 0:
            for others in _within(choices[1:], {**limits, code: (least - 1, most - 1)}):
                yield (code, *others)
