"""The paper's matrices of an assembled system as numbers, with names of rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derivation import compliance
from vbg.assemble.lower import lower
from vbg.assemble.reference import evaluate
from vbg.assemble.system import System

STEP = 1e-40


@dataclass(frozen=True, slots=True)
class NamedMatrix:
    """`values[i, j]` belongs to `rows[i]` and `columns[j]`."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]

    def as_plain(self) -> dict[str, Any]:
        return {"rows": self.rows, "columns": self.columns, "values": self.values.tolist()}

    def __str__(self) -> str:
        head = f"({len(self.rows)} x {len(self.columns)})"
        lines = [
            f"  {name}: " + "  ".join(f"{value:.6g}" for value in row)
            for name, row in zip(self.rows, self.values, strict=True)
        ]
        return "\n".join([head, "  columns: " + ", ".join(self.columns), *lines])


def matrices_of(system: System) -> dict[str, NamedMatrix]:
    """F, T, JC and H4 at the assembled start (notation of mathematics.md, section 4)."""
    x = system.initial_state
    stores = [s for s in system.slices if s.state.kind == "store"]
    places = [i for s in stores for i in range(s.first, s.last)]
    names = tuple(system.state_names[i] for i in places)
    F = _co_energies(system, x)
    rate = system.evaluator("rate", complex_valued=True)
    T = _slopes(lambda z: rate(0.0, z)[: system.size], x, places)[places]
    result = {"F": NamedMatrix(names, names, F), "T": NamedMatrix(names, names, T)}
    if system.equations.constraints:
        residual = system.evaluator("residual", complex_valued=True)
        count = len(system.constraint_names)

        def velocity(z: NDArray[Any]) -> NDArray[Any]:
            residual(0.0, z)
            return residual.output("velocity")

        on_states = _slopes(velocity, x, places)[:count]
        JC = np.asarray(np.linalg.lstsq(F.T, on_states.T, rcond=None)[0].T, dtype=float)
        result["JC"] = NamedMatrix(system.constraint_names, names, JC)
        H4 = JC @ F @ JC.T
        result["H4"] = NamedMatrix(system.constraint_names, system.constraint_names, H4)
    return result


def _co_energies(system: System, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """F: block diagonal, one block for each store."""
    vertices = [
        v
        for v in system.causal.graph.vertices.values()
        if v.kind in ("I", "C") and v.state is not None
    ]
    inputs = {s.state.name: s.state.leaf for s in system.slices} | {"t": system.equations.time}
    size = sum(v.size for v in vertices)
    F, at = np.zeros((size, size)), 0
    for vertex in vertices:
        program = lower({"F": compliance(vertex)}, inputs)
        work = program.workspace.copy()
        work[: len(x)] = x
        evaluate(program, work)
        first, rows, cols = program.outputs["F"]
        F[at : at + rows, at : at + cols] = work[first : first + rows * cols].reshape(rows, cols)
        at += rows
    return F


def _slopes(function: Any, x: NDArray[np.float64], places: list[int]) -> NDArray[np.float64]:
    """d function / d x by complex steps, columns of `places`."""
    columns = []
    for i in places:
        z = x.astype(complex)
        z[i] += 1j * STEP
        columns.append(function(z).imag.copy() / STEP)
    return np.array(columns).T
