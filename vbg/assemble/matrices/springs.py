"""Which springs without a state of their own are stores of the paper's matrices.

The displacement of a spring between points, at a joint or in a gear is a function of the posture,
so that its effort e is a source for the equations of motion.  For the paper it is a store (group 1,
Z = F X), which it is where there is a number k with

    e' = k f        along every motion, f the flow that the spring receives

F = k, X = e / k.  Both sides are evaluated at random states: an identity of the expressions, which
do not look alike (an angle and two angular velocities), and not of a machine's start, which is
often at rest.  Stops (k only while they touch), chambers (their pressure depends on their content,
too), bushings and springs with another law are none: they stay sources.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.derivation import Derivation
from vbg.assemble.program.lower import lower
from vbg.assemble.program.reference import evaluate
from vbg.assemble.system import System
from vbg.blocks import Block, Tangent, const, dependencies, linear
from vbg.graph.bondgraph import Vertex

SEED, STATES = 3, 3
CLOSE = 1e-9  # beside e': rounding of lengths far from the origin
QUATERNION = 4  # components


def stiffnesses(system: System, work: Derivation) -> dict[str, Block]:
    """k of the springs that are stores, by the names of their vertices."""
    springs = [v for v in work.causal.graph.vertices.values() if _may_be_one(v)]
    if not springs:
        return {}
    pairs = {}
    along = Tangent(
        {**system.equations.rates, system.equations.time: const(1.0)}, system.equations.spins
    )
    for vertex in springs:
        assert vertex.law is not None
        pairs[f"rate {vertex.name}"] = along(work.in_states(vertex.law))
        pairs[f"flow {vertex.name}"] = work.in_states(_flow(work, vertex))
    values = list(_at_random_states(pairs))
    found = {}
    for vertex in springs:
        rate, flow = (np.array([v[f"{of} {vertex.name}"] for v in values]) for of in PAIR)
        k = _factor(vertex, rate, flow)
        if k:
            found[vertex.name] = const(k)
    return found


PAIR = ("rate", "flow")


def _may_be_one(vertex: Vertex) -> bool:
    return (
        vertex.kind == "C"
        and vertex.state is None
        and vertex.size == 1
        and vertex.law is not None
        and not vertex.law.is_const
    )


def _flow(work: Derivation, vertex: Vertex) -> Block:
    (bond,) = work.causal.graph.incident[vertex.name]
    return linear((1.0 if bond.head == vertex.name else -1.0, work.structure.flow(bond)))


def _factor(vertex: Vertex, rate: NDArray[np.float64], flow: NDArray[np.float64]) -> float:
    """k of e' = k f: a factor of the law with the sign of the power; 0 where there is none."""
    law, size = vertex.law, np.abs(rate).max()
    assert law is not None
    terms = zip(law.data, law.args, strict=True) if law.op == "sum" else [(1.0, law)]
    for factor in (factor for factor, arg in terms if not arg.is_const):
        k = math.copysign(factor, float(rate @ flow))
        if np.abs(rate - k * flow).max() <= CLOSE * size and size > 0.0:
            return k
    return 0.0


def _at_random_states(outputs: Mapping[str, Block]) -> Iterator[dict[str, float]]:
    """Scalars at random values of all leaves, quaternions of length one."""
    leaves = {str(b.data): b for b in dependencies(outputs.values()) if b.op == "leaf"}
    program = lower(outputs, leaves)
    random = np.random.default_rng(SEED)
    for _ in range(STATES):
        drawn = [random.uniform(-1.0, 1.0, b.rows * b.cols) for b in leaves.values()]
        given = [x / np.linalg.norm(x) if len(x) == QUATERNION else x for x in drawn]
        work = program.workspace.copy()
        filled = np.concatenate(given) if given else np.zeros(0)
        work[: len(filled)] = filled
        with np.errstate(all="ignore"):  # what is no number is no spring
            evaluate(program, work)
        yield {name: float(work[at]) for name, (at, _, _) in program.outputs.items()}
