"""`Structure`, the result of a structural analysis, and `analyse_topology`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from vbg.errors import Problem
from vbg.structure.count.floating import self_constrained
from vbg.structure.count.flow import (
    Flow,
    Network,
    network,
    over_constrained,
    saturate,
    under_driven,
)
from vbg.structure.count.groups import Group, dependent_parts, structural_groups
from vbg.structure.count.pebbles import drives_that_fix, play, position_of, untouched
from vbg.structure.topology.checks import check_drives
from vbg.structure.topology.findings import Finding
from vbg.structure.topology.topology import Topology

State = Literal["determined", "not determined"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part that is not determined: its bodies and pairs by index.

    `surplus` is equations minus unknowns: positive where over-constrained,
    negative where under-driven.
    """

    bodies: tuple[int, ...]
    pairs: tuple[int, ...]
    surplus: int


@dataclass(frozen=True, slots=True)
class Drive:
    """`count` freedoms of pair number `pair` to drive besides those driven."""

    pair: int
    count: int


@dataclass(frozen=True, slots=True)
class Structure:
    """What structural analysis says of a mechanism.

    `groups` is empty unless `state` is "determined".  `over`, `under` are the
    parts with too many and too few equations, `stiff` the parts off the frame
    that over-constrain themselves, `fixes` the drives that would determine
    `under`.  `problems` says the same in sentences; `findings` are exceptions of
    geometry, where it is known.
    """

    topology: Topology
    mobility: int
    driven: int
    state: State
    groups: tuple[Group, ...] = ()
    over: Part | None = None
    under: Part | None = None
    stiff: tuple[Part, ...] = ()
    fixes: tuple[Drive, ...] = ()
    problems: tuple[Problem, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def determined(self) -> bool:
        """n_c = L in the whole and in every part."""
        return self.state == "determined"

    @property
    def levels(self) -> tuple[tuple[Group, ...], ...]:
        """Groups by level; those of one level can be solved in parallel."""
        depth = max((group.level for group in self.groups), default=0)
        rows: list[list[Group]] = [[] for _ in range(depth)]
        for group in self.groups:
            rows[group.level - 1].append(group)
        return tuple(tuple(row) for row in rows)

    def names(self, group: Group) -> tuple[str, ...]:
        """Names of the bodies of `group`."""
        return tuple(self.topology.bodies[body] for body in group.bodies)


def analyse_topology(topology: Topology, *, as_printed: bool = False) -> Structure:
    """Mobility, structural groups and levels, or the parts that prevent them; groups numbered
    by the paper's Algorithm 3, or `as_printed` in its tables."""
    net = network(topology)
    flow = saturate(net)
    mobility, driven = topology.mobility, topology.driven
    parts = dependent_parts(topology, net, flow, as_printed=as_printed)
    selves = self_constrained(topology, net, flow, parts.bodies)
    stiff = tuple(_stiff(topology, *found) for found in selves)
    if not flow.excess.any() and not flow.deficit.any() and not stiff:
        groups = structural_groups(topology, parts)
        return Structure(topology, mobility, driven, "determined", groups)
    over = _part(topology, over_constrained(net, flow), int(flow.excess.sum()))
    under = _part(topology, under_driven(net, flow), -int(flow.deficit.sum()))
    fixes = _fixes(topology, net, flow, sound=not stiff)
    problems = check_drives(mobility, driven)
    problems += _over_sentences(topology, [*([over] if over else []), *stiff])
    problems += _under_sentences(topology, under, fixes)
    state: State = "not determined"
    return Structure(topology, mobility, driven, state, (), over, under, stiff, fixes, problems)


def _part(topology: Topology, found: tuple[np.ndarray, np.ndarray], surplus: int) -> Part | None:
    pairs, bodies = found
    if surplus == 0:
        return None
    touching = tuple(np.flatnonzero(pairs).tolist())
    return Part(tuple((1 + np.flatnonzero(bodies)).tolist()), touching, surplus)


def _stiff(topology: Topology, bodies: tuple[int, ...], surplus: int) -> Part:
    inside = set(bodies)
    pairs = tuple(i for i, pair in enumerate(topology.pairs) if inside.issuperset(pair.ends))
    return Part(bodies, pairs, surplus)


def _fixes(topology: Topology, net: Network, flow: Flow, *, sound: bool) -> tuple[Drive, ...]:
    if not flow.deficit.any():
        return ()
    if sound:
        pebbles = position_of(topology, net, flow)
    else:
        pebbles = untouched(topology)
        play(pebbles, topology, (topology.equations(pair) for pair in topology.pairs))
    found = drives_that_fix(topology, pebbles)
    return tuple(Drive(i, n) for i, n in enumerate(found) if n)


def _over_sentences(topology: Topology, parts: list[Part]) -> tuple[Problem, ...]:
    found = []
    for part in parts:
        what = f"over-constrained by {part.surplus}: {_list(topology, part)}."
        driven = [topology.pairs[i].name for i in part.pairs if topology.pairs[i].driven]
        remedy = f"Release {part.surplus} of their driven freedoms ({', '.join(driven)})"
        remedy = remedy if driven else "Free a joint"
        remedy += ", or look for a geometric exception."
        found.append(Problem("error", "structure", what, remedy))
    return tuple(found)


def _under_sentences(
    topology: Topology, under: Part | None, fixes: tuple[Drive, ...]
) -> tuple[Problem, ...]:
    if under is None:
        return ()
    what = f"under-driven by {-under.surplus}: {_list(topology, under)}."
    drives = ", ".join(f"{d.count} of {topology.pairs[d.pair].name}" for d in fixes)
    remedy = f"Drive for instance {drives}." if fixes else "No pair of theirs has a free freedom."
    return (Problem("error", "structure", what, remedy),)


def _list(topology: Topology, part: Part, most: int = 12) -> str:
    bodies = [topology.bodies[body] for body in part.bodies]
    pairs = [topology.pairs[index].name for index in part.pairs]
    shown = ", ".join(bodies[:most]) + (", ..." if len(bodies) > most else "")
    joined = ", ".join(pairs[:most]) + (", ..." if len(pairs) > most else "")
    return f"bodies {shown or 'none'} with {'pairs ' + joined if joined else 'no pairs'}"
