"""Blocks of a system as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import efforts_as_inputs
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.assemble.start.start import Start
from vbg.blocks import Block

Grid = Sequence[Sequence[Block]]


class Numbers:
    """Values of blocks at one time and state."""

    def __init__(self, start: Start, t: float, x: NDArray[np.float64]):
        self.t, self.x = t, x
        self.rate = start.rate(t, x)
        self._efforts = start.constraint_efforts(t, x)
        system = start.system
        self._inputs = {
            **system.programs.inputs,
            **efforts_as_inputs(system.equations.constraints),
        }

    def __call__(self, grid: Grid, rows: int, columns: int) -> NDArray[np.float64]:
        outputs = {
            f"{i} {j}": block
            for i, row in enumerate(grid)
            for j, block in enumerate(row)
            if block.rows and block.cols
        }
        if not outputs:
            return np.zeros((rows, columns))
        found = self.values(outputs)

        def value(i: int, j: int) -> NDArray[np.float64]:
            block = grid[i][j]
            return found.get(f"{i} {j}", np.zeros((block.rows, block.cols)))

        return np.block([[value(i, j) for j in range(len(row))] for i, row in enumerate(grid)])

    def values(self, blocks: Mapping[str, Block]) -> dict[str, NDArray[np.float64]]:
        """Blocks by name."""
        if not blocks:
            return {}
        program = lower(dict(blocks), self._inputs)
        work = program.workspace.copy()
        values = np.concatenate([self.x, [self.t], self._efforts])
        work[: len(values)] = values
        evaluate(program, work)
        found = {}
        for name, (at, height, width) in program.outputs.items():
            found[name] = work[at : at + height * width].reshape(height, width)
        return found
