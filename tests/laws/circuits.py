"""Random circuits with algebraic loops, instants of them, and where their iteration begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import vbg
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.program import Op


@dataclass(frozen=True)
class Circuit:
    """Exponential diodes, switches and stores between nodes that a resistor ties to the ground;
    resistances, voltages and times of any size."""

    seed: int

    @cached_property
    def sizes(self) -> tuple[float, float, float]:
        """Ohms, volts, seconds."""
        powers = np.random.default_rng(self.seed).uniform((-1, -1, -7), (5, 3, 2))
        R, U, T = (float(10.0**power) for power in powers)
        return R, U, T

    @cached_property
    def parts(self) -> dict[str, dict[str, Any]]:
        random, (R, U, T) = np.random.default_rng([self.seed, 1]), self.sizes

        def draw(low: float, high: float) -> float:
            return float(10.0 ** random.uniform(low, high))

        kinds = {
            "diode": lambda: {"Is": draw(-15, -6), "Vt": float(random.uniform(0.02, 0.06))},
            "switch": lambda: {
                "closed": f"sin({draw(-0.5, 0.5)!r}*t/{T!r})",
                "Ron": R * draw(-4, -1),
                "Goff": draw(-6, -3) / R,
            },
            "resistor": lambda: {"R": R * draw(-1, 1)},
            "inductor": lambda: {"L": R * T * draw(-1, 1)},
        }
        nodes = [f"n{i}" for i in range(random.integers(2, 6))]
        made: dict[str, dict[str, Any]] = {}
        for node in nodes[1:]:
            store = {"kind": "capacitor", "C": T / R * draw(-1, 1)}
            leak = {"kind": "resistor", "R": R * draw(0, 6)}
            made[f"G{node}"] = {
                "nodes": [node, "gnd"],
                **(store if random.random() < 0.35 else leak),
            }
        for j in range(random.integers(3, 9)):
            kind = str(random.choice(list(kinds), p=[0.5, 0.2, 0.15, 0.15]))
            ends = [str(end) for end in random.choice([*nodes, "gnd"], 2, replace=False)]
            made[f"p{j}"] = {"kind": kind, "nodes": ends, **kinds[kind]()}
        line = {"kind": "resistor", "nodes": ["source", "n0"], "R": R * draw(-2, 0)}
        wave = {"kind": "voltage_source", "voltage": f"{U!r}*sin(t/{T!r})"}
        return made | {"line": line, "source": {**wave, "nodes": ["source", "gnd"]}}

    @cached_property
    def system(self) -> vbg.System:
        return vbg.assemble(vbg.Model(electric=self.parts))

    def instant(self, random: np.random.Generator) -> tuple[float, np.ndarray]:
        """A time and a state, its stores filled to volts and amperes of these sizes."""
        R, U, T = self.sizes
        x = np.zeros(self.system.size)
        for s in self.system.slices:
            part = self.parts.get(s.state.name.partition(".")[0], {})
            full = part.get("C", 0.0) * U + part.get("L", 0.0) * U / R
            x[s.first : s.last] = full * random.uniform(-1, 1)
        return float(random.uniform(0, 10) * T), x

    def near(self, random: np.random.Generator, root: np.ndarray) -> np.ndarray:
        R, U, _ = self.sizes
        least = 1e-9 * U * min(1.0, 1.0 / R)
        return root + (1e-3 * root + least) * random.uniform(-1, 1, len(root))

    def far(self, random: np.random.Generator, root: np.ndarray) -> np.ndarray:
        R, U, _ = self.sizes
        size = random.choice([U, U / R]) * 10.0 ** random.uniform(-3, 3, len(root))
        return size * random.choice([-1.0, 1.0], len(root))


def unknowns(evaluator: Evaluator) -> np.ndarray:
    """Places of the unknowns of all loops in the workspace."""
    program = evaluator.program
    loops = program.segments[program.segments[:, 0] == int(Op.NEWTON)]
    return np.concatenate(
        [np.arange(0), *(program.operands[s[2]][0] + np.arange(s[4]) for s in loops)]
    )


def filled(run: Evaluator, circuit: Circuit, random: np.random.Generator) -> np.ndarray:
    """The workspace before a run from a start far away."""
    t, x = circuit.instant(random)
    work = run.program.workspace.copy()
    work[: len(x)], work[len(x)] = x, t
    places = unknowns(run)
    work[places] = circuit.far(random, np.zeros(len(places)))
    return work
