"""Operations in groups, and the tape that they are written to."""

from __future__ import annotations

from array import array

from vbg.assemble.program.program import Op


class Group:
    """Operations of one kind and shape at one level: a segment of the tape to be."""

    __slots__ = ("factors", "operands")

    def __init__(self) -> None:
        self.operands = array("q")
        self.factors = array("d")


Key = tuple[int, ...]  # op, accumulate, m, k, n, strides: what decides a segment
Groups = dict[tuple[int, Key], Group]  # by level and key


class TapeWriter:
    """Segments, operands and factors as they are written."""

    def __init__(self, bodies: list[tuple[Groups, Groups, Key, Group]]):
        self.bodies = bodies
        self.segments: list[tuple[int, ...]] = []
        self.operands = array("q")
        self.factors = array("d")

    def write(self, groups: Groups) -> None:
        """All groups by level; behind each NEWTON what measures its terms and the body of its
        iteration."""
        for (_, key), group in sorted(groups.items(), key=lambda item: item[0]):
            self._segment(key, group)
            if key[0] == Op.NEWTON:
                terms, body, step, operands = self.bodies[key[3]]
                measured = len(self.segments)
                self.write(terms)
                self.write(body)
                self._segment((*step[:3], measured, *step[4:]), operands)

    def _segment(self, key: Key, group: Group) -> None:
        op, accumulate, *rest = key
        self.segments.append((op, len(group.factors), len(self.factors), accumulate, *rest))
        self.operands.extend(group.operands)
        self.factors.extend(group.factors)
