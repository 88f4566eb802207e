"""`analyse`: from a Model, a linkage with geometry or a bare topology to its structure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vbg.errors import Problem
from vbg.plumbing.one_thread import one_thread
from vbg.structure.count.report import Structure, analyse_topology
from vbg.structure.topology.pairs import PLANAR
from vbg.structure.topology.topology import Topology

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.structure.topology.findings import Finding
    from vbg.structure.topology.linkage import Linkage

_IN_PLANE = frozenset("RPWK")


@dataclass(frozen=True, slots=True)
class _Corrected:
    """What the count has to be corrected by: the topology to count with, and why."""

    topology: Topology
    findings: tuple[Finding, ...]


def analyse(subject: Model | Linkage | Topology) -> Structure:
    """Mobility, structural groups, levels, and the parts that are not determined.

    A bare `Topology` is counted as it is.  With geometry, exceptions to the
    count are looked for first: what repeats is left out, a redundant spin is
    held, and a machine whose bodies all move in one plane is counted with
    three freedoms a body.  `findings` says what was done.
    """
    if isinstance(subject, Topology):
        return analyse_topology(subject)
    corrected = _corrected(_linkage(subject))
    structure = analyse_topology(corrected.topology)
    return replace(
        structure,
        findings=corrected.findings,
        problems=tuple(_of_machine(problem, structure) for problem in structure.problems),
    )


def _linkage(subject: Model | Linkage) -> Linkage:
    from vbg.structure.topology.linkage import Linkage

    if isinstance(subject, Linkage):
        return subject
    from vbg.structure.topology.models import linkage_of

    return linkage_of(subject)


def _of_machine(problem: Problem, structure: Structure) -> Problem:
    """Freedoms that nothing drives are what a dynamic model is about: a note, no error."""
    if structure.over is None and not structure.stiff:
        return replace(problem, severity="note")
    return problem


@one_thread()
def _corrected(linkage: Linkage) -> _Corrected:
    from vbg.structure.geometry.exceptions import hold_spins
    from vbg.structure.geometry.singularities import find_exceptions

    findings = find_exceptions(linkage)
    normal = common_normal(linkage) if _is_planar(linkage, findings) else None
    flat = linkage
    if normal is not None:
        topology = linkage.topology
        pairs = tuple(
            replace(pair, grade=PLANAR - 1) if pair.code == "K" else pair for pair in topology.pairs
        )
        topology = replace(topology, dimension=PLANAR, pairs=pairs)
        flat = replace(linkage, topology=topology, normal=normal)
    return _Corrected(hold_spins(_without_repeats(flat)), findings)


def _is_planar(linkage: Linkage, findings: tuple[Finding, ...]) -> bool:
    codes = {pair.code for pair in linkage.topology.pairs}
    in_space = linkage.topology.dimension != PLANAR
    return in_space and codes <= _IN_PLANE and any(f.name.startswith("planar") for f in findings)


def common_normal(linkage: Linkage) -> np.ndarray | None:
    """(3,) the direction of all revolutes, to which all slides are perpendicular; None if none."""
    from vbg.structure.count.loops import world_axis

    pairs = linkage.topology.pairs
    turning = [world_axis(linkage, i)[1] for i, pair in enumerate(pairs) if pair.code == "R"]
    sliding = [world_axis(linkage, i)[1] for i, pair in enumerate(pairs) if pair.code == "P"]
    if not turning:
        return None
    normal = turning[0]
    parallel = all(np.linalg.norm(np.cross(normal, axis)) < 1e-9 for axis in turning)
    across = all(abs(normal @ axis) < 1e-9 for axis in sliding)
    return normal if parallel and across else None


def _without_repeats(linkage: Linkage) -> Topology:
    """The topology with `dropped` equations where they repeat others, block by block."""
    from vbg.structure.count.loops import blocks_of
    from vbg.structure.geometry.singularities import block_mobility, droppable_rows, examinable

    pairs = list(linkage.topology.pairs)
    for block in filter(examinable, blocks_of(linkage)):
        found = block_mobility(block)
        if found.surplus == 0:
            continue
        place = found.visited[-1] if found.moves else found.visited[0]
        for index, count in zip(block.pairs, droppable_rows(place), strict=True):
            pairs[index] = replace(pairs[index], dropped=count)
    return replace(linkage.topology, pairs=tuple(pairs))
