"""Blocks of a system as numbers."""

from __future__ import annotations

from collections.abc import Sequence

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
        program = lower(outputs, self._inputs)
        work = program.workspace.copy()
        values = np.concatenate([self.x, [self.t], self._efforts])
        work[: len(values)] = values
        evaluate(program, work)

        def value(name: str) -> NDArray[np.float64]:
            at, height, width = program.outputs[name]
            return work[at : at + height * width].reshape(height, width)

        return np.block(
            [[value(f"{i} {j}") for j in range(len(row))] for i, row in enumerate(grid)]
        )
