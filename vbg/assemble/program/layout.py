"""Storage of a block matrix with its fill, in elimination order."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.elimination import eliminate
from vbg.assemble.program.program import Coupling, Pivot, Slot

LEAST_PIVOT = 1e-14  # of its diagonal: a pivot below is rounding
LEAST_PIVOT_COMING = 1e-10  # the same where rows come and go, which may depend on others


class Layout:
    """Storage of a block matrix with its fill, in elimination order."""

    def __init__(self, sizes: tuple[int, ...], places: tuple[tuple[int, int, int, int], ...]):
        self.sizes = sizes
        plan = eliminate(len(sizes), [(i, j) for i, j, _, _ in places])
        self.order, self.later = plan.order, plan.later
        self.position = {unknown: step for step, unknown in enumerate(self.order)}
        self.offsets: dict[tuple[int, int], int] = {}
        self.words = 0
        for step, i in enumerate(self.order):
            self._place(i, i)
            for j in self.later[step]:
                self._place(j, i)
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        # original diagonal, and one block of work space
        self.scratch_words = int(sum(sizes)) + 36

    def _place(self, later: int, earlier: int) -> None:
        self.offsets[later, earlier] = self.words
        self.words += self.sizes[later] * self.sizes[earlier]

    def slot(self, i: int, j: int, storage: int) -> Slot:
        """Slot of block (i, j); stored with the later eliminated one as rows."""
        if self.position[i] >= self.position[j]:
            return Slot(storage + self.offsets[i, j], self.sizes[j], 1)
        return self.slot(j, i, storage).transposed

    def pivots(self, storage: int) -> tuple[Pivot, ...]:
        """The elimination of the matrix stored at `storage`."""

        def coupling(i: int, later: tuple[int, ...], a: int) -> Coupling:
            j = later[a]
            targets = tuple(storage + self.offsets[j, k] for k in later[: a + 1])
            at = storage + self.offsets[j, i]
            return Coupling(self.sizes[j], at, int(self.first[j]), targets)

        return tuple(
            Pivot(
                self.sizes[i],
                storage + self.offsets[i, i],
                int(self.first[i]),
                tuple(coupling(i, later, a) for a in range(len(later))),
            )
            for i, later in zip(self.order, self.later, strict=True)
        )
