"""From the model to its bond graph: every part writes itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from difflib import get_close_matches
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vbg.blocks import Block, const, dependencies, leaf
from vbg.builder import JointFrameBlocks, Start
from vbg.errors import ModelError, Problem
from vbg.expressions import parse
from vbg.graph.bondgraph import BondGraph, Causality
from vbg.graph.builder import GraphBuilder
from vbg.graph.placeholders import OUTPUT, SIGNAL, indexed, reading, reads_bonds
from vbg.graph.raw import raw_signals
from vbg.model.bonding import vertices_without_bonds
from vbg.model.forms.parts import coordinates_of
from vbg.model.located import told_in
from vbg.model.placing.frames import JointFrame
from vbg.model.placing.placed import Placed, place
from vbg.physics.laws import block_of
from vbg.spatial import quaternion_from_matrix

if TYPE_CHECKING:
    from vbg.model import Model

DEEPEST = 20  # signals that are written out within one another; a reader of more waits for a value
_COMPONENT = re.compile(r"(\[\d+\]|\.[xyzw])\Z")  # of an output with several
TABLES = (
    "bodies",
    "joints",
    "frames",
    "rotational",
    "translational",
    "electric",
    "hydraulic",
    "forces",
    "bondgraph",
    "signals",
    "fmu",
)


def _ordered(model: Model) -> Iterator[tuple[str, Any]]:
    """Parts so that each comes after those it stands on: bodies, joints, couplings
    of joints, then the rest."""
    yield from model.bodies.items()
    couplings = {}
    for name, joint in model.joints.items():
        if isinstance(joint.between[0], str):
            couplings[name] = joint
        else:
            yield name, joint
    yield from couplings.items()
    for table in TABLES[2:]:
        yield from getattr(model, table).items()


def expand(source: Model | Placed, tapped: Collection[str] = ()) -> BondGraph:
    """The bond graph of a model in its written posture, part after part in a fixed order.

    What parts read of the signals and outputs called `tapped` becomes a signal of its own,
    `reading(name)`, equal to the one that is read: the same machine, whose wires can be cut
    or added to there.  There is none of a name that nothing reads.

    Raises ModelError for raw vertices that lack bonds, and for parts that cannot be.
    """
    placed = source if isinstance(source, Placed) else place(source)
    with told_in(placed.model):
        return _expanded(placed, tapped)


def _expanded(placed: Placed, tapped: Collection[str]) -> BondGraph:
    model, frames, starts = placed.model, placed.frames, _starts(placed)
    if lacking := tuple(vertices_without_bonds(model)):
        raise ModelError.of(lacking)

    def frames_of(joint: str) -> JointFrameBlocks:
        f = frames[joint]
        blocks = (const(f.p_AF_A), const(f.R_AF), const(f.p_BM_B), const(f.R_BM))
        return JointFrameBlocks(f.first, f.second, *blocks, _coordinates(model, joint, f))

    def signal(value: float | str, builder: GraphBuilder) -> Block:
        if not isinstance(value, str):
            return const(value)
        if value in model.signals:
            return named(value, builder)
        return block_of(
            parse(value),
            lambda name: _name(name, builder),
            lambda at: kinks.setdefault(at, builder.part),
            edges.append,
        )

    def _name(name: str, builder: GraphBuilder) -> Block:
        if name == "t":
            return builder.time
        if name in model.signals:
            return named(name, builder)
        if name in model.parameters:
            return const(model.parameters[name])
        readers.setdefault(name, builder.part)
        return taps(name, leaf(f"{OUTPUT}{name}", 1))

    taps = _Taps(tapped)
    readers: dict[str, str] = {}
    being_read: list[str] = []
    found: dict[str, Block] = {}
    kinks: dict[Block, str] = {}
    edges: list[Block] = []

    def named(name: str, builder: GraphBuilder) -> Block:
        """A signal: its expression where that is one of time alone, else its leaf."""
        if name in found:
            return found[name]
        part, read = model.signals[name], taps(name, leaf(f"{SIGNAL}{name}", 1))
        cut = name in being_read or len(being_read) >= DEEPEST
        if cut or not hasattr(part, "value") or name in taps:
            return read
        being_read.append(name)
        block = part.value(name, builder)
        being_read.pop()
        return found.setdefault(name, read if reads_bonds(block) else block)

    builder = GraphBuilder(model, frames_of, starts.__getitem__, signal)
    _write(model, builder)
    instants = (*_register(kinks, builder), *_touching(edges, builder))
    graph = builder.freeze(placed, cast(Causality, model.simulate.causality))
    outputs = (*graph.outputs, *raw_signals(graph, model.bondgraph))
    _require_outputs(readers, {output.name: output.value.rows for output in outputs})
    wires = MappingProxyType({**graph.signals, **taps.readings})
    return replace(graph, instants=instants, outputs=outputs, signals=wires)


def _write(model: Model, builder: GraphBuilder) -> None:
    """Vertices and bonds of every part, then the raw bonds between them.

    Raises ModelError for all parts of a table that cannot be, and for all such bonds: what
    stands on them would only say it again.
    """
    for table, parts in groupby(_ordered(model), lambda entry: entry[1].table):
        with _all_at_once() as tried:
            for name, part in parts:
                builder.part = f"{table}.{name}"
                with tried():
                    part.expand(name, builder)
    with _all_at_once() as tried:
        for bond in model.bonds:
            tail, _, head = bond.partition(" -> ")
            builder.part = f"bonds: {bond}"
            with tried():
                builder.raw_bond(tail, head)


@contextmanager
def _all_at_once() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Each thing in `tried()`; at the end ModelError for all that were wrong."""
    found: list[Problem] = []

    @contextmanager
    def tried() -> Iterator[None]:
        try:
            yield
        except ModelError as error:
            found.extend(error.problems)

    yield tried
    if found:
        raise ModelError.of(found)


def _coordinates(model: Model, joint: str, frame: JointFrame) -> Mapping[str, float]:
    kind: type = type(model.joints[joint])
    return MappingProxyType(dict(zip(coordinates_of(kind), frame.coordinates, strict=True)))


class _Taps:
    """The `tapped` names; `readings` are those that something has read, with what it read."""

    def __init__(self, tapped: Collection[str]):
        self._names = frozenset(map(indexed, tapped))
        self.readings: dict[str, Block] = {}

    def __contains__(self, name: str) -> bool:
        return indexed(name) in self._names

    def __call__(self, name: str, read: Block) -> Block:
        """What is read of `name`: where it is tapped, a signal of its own."""
        if name not in self:
            return read
        own = reading(indexed(name))
        self.readings[own] = read
        return leaf(f"{SIGNAL}{own}", 1)


def _starts(placed: Placed) -> dict[str, Start]:
    """Place and velocities of every body at the written posture."""
    starts = {
        name: Start(pose.p_WB, pose.R_WB, quaternion_from_matrix(pose.R_WB), pose.v_WB, pose.w_WB_B)
        for name, pose in placed.poses.items()
    }
    at_rest = Start(np.zeros(3), np.eye(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
    return starts | {"ground": at_rest}


def _require_outputs(readers: Mapping[str, str], sizes: Mapping[str, int]) -> None:
    """ModelError for every output that is read and not there, or is a vector, at the part that
    reads it."""
    wrong = []
    for name, part in readers.items():
        if sizes.get(name, 1) > 1:
            what = f"{name} has {sizes[name]} components; a number is needed here."
            remedy = f"Write {name}[0], or {name}.x, for its first component."
            wrong.append(Problem("error", part, what, remedy))
        elif name not in sizes and _COMPONENT.sub("", name) not in sizes:
            what = f"there is no signal {name!r} to read."
            wrong.append(Problem("error", part, what, _nearest(name, sizes)))
    if wrong:
        raise ModelError.of(wrong)


def _nearest(name: str, outputs: Collection[str]) -> str:
    close = get_close_matches(name, outputs, n=1)
    return f"Did you mean {close[0]!r}?" if close else "`vbg run` lists the signals of a model."


def _register(kinks: Mapping[Block, str], builder: GraphBuilder) -> tuple[Block, ...]:
    """Zeros of functions of time alone are instants, those of others events without a word in
    the audit.  Returns the former."""
    instants = []
    for number, (value, part) in enumerate(kinks.items()):
        leaves = {block.data for block in dependencies([value]) if block.op == "leaf"}
        if leaves == {builder.time.data}:
            instants.append(value)
        elif leaves:
            builder.event(f"{part}.kink {number}", value, "")
    return tuple(instants)


def _touching(edges: Sequence[Block], builder: GraphBuilder) -> Iterator[Block]:
    """Functions of time alone that change their sign where an edge is touched from inside, as by
    the sine in asin(sin(t)): where its argument turns."""
    time = {builder.time.data}
    for edge in dict.fromkeys(edges):
        if {block.data for block in dependencies([edge]) if block.op == "leaf"} == time:
            slope = builder.time_derivative(edge)
            if not slope.is_const:
                yield slope
