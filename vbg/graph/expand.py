"""From the model to its bond graph: every part writes itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vbg.blocks import Block, const, dependencies, leaf
from vbg.builder import JointFrameBlocks, Start
from vbg.errors import ModelError
from vbg.expressions import parse
from vbg.graph.bondgraph import BondGraph, Causality
from vbg.graph.builder import GraphBuilder
from vbg.graph.placeholders import OUTPUT, SIGNAL, reads_bonds
from vbg.graph.raw import raw_signals
from vbg.laws import block_of
from vbg.model.bonds import vertices_without_bonds
from vbg.model.frames import joint_frames, placement
from vbg.spatial import quaternion_from_matrix

if TYPE_CHECKING:
    from vbg.model import Model

TABLES = (
    "bodies",
    "joints",
    "rotational",
    "translational",
    "electric",
    "hydraulic",
    "forces",
    "bondgraph",
    "signals",
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


def expand(model: Model) -> BondGraph:
    """The bond graph of `model`; its parts write themselves in a fixed order.

    Raises ModelError for raw vertices that lack bonds.
    """
    if lacking := tuple(vertices_without_bonds(model)):
        raise ModelError.of(lacking)
    poses = placement(model)
    frames = joint_frames(model)
    ground = Start(np.zeros(3), np.eye(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
    starts = {
        name: Start(pose.p_WB, pose.R_WB, quaternion_from_matrix(pose.R_WB), pose.v_WB, pose.w_WB_B)
        for name, pose in poses.items()
    }
    starts["ground"] = ground

    def frames_of(joint: str) -> JointFrameBlocks:
        f = frames[joint]
        blocks = (const(f.p_AF_A), const(f.R_AF), const(f.p_BM_B), const(f.R_BM))
        return JointFrameBlocks(f.first, f.second, *blocks, f.coordinates)

    def signal(value: float | str, builder: GraphBuilder) -> Block:
        if not isinstance(value, str):
            return const(value)
        if value in model.signals:
            return named(value, builder)
        part = builder.part
        return block_of(
            parse(value), lambda name: _name(name, builder), lambda at: kinks.setdefault(at, part)
        )

    def _name(name: str, builder: GraphBuilder) -> Block:
        if name == "t":
            return builder.time
        if name in model.signals:
            return named(name, builder)
        if name in model.parameters:
            return const(model.parameters[name])
        return leaf(f"{OUTPUT}{name}", 1)

    being_read: list[str] = []
    kinks: dict[Block, str] = {}

    def named(name: str, builder: GraphBuilder) -> Block:
        """A signal: its expression where that is one of time alone, else its leaf."""
        part, read = model.signals[name], leaf(f"{SIGNAL}{name}", 1)
        if not hasattr(part, "value") or name in being_read:
            return read
        being_read.append(name)
        block = part.value(name, builder)
        being_read.pop()
        return read if reads_bonds(block) else block

    builder = GraphBuilder(model.gravity, frames_of, starts.__getitem__, signal)
    for name, part in _ordered(model):
        builder.part = f"{part.table}.{name}"
        part.expand(name, builder)
    for bond in model.bonds:
        tail, _, head = bond.partition(" -> ")
        builder.part = f"bonds: {bond}"
        builder.raw_bond(tail, head)
    instants = _register(kinks, builder)
    graph = builder.freeze(model, cast(Causality, model.simulate.causality))
    signals = raw_signals(graph, model.bondgraph)
    return replace(graph, instants=instants, outputs=(*graph.outputs, *signals))


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
