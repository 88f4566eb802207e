"""From the model's one-dimensional parts to a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vbg.errors import AssemblyError, UsageError
from vbg.junctions.latch import begins_open, opens
from vbg.model import Model
from vbg.model.amplifiers import fed_back
from vbg.tmm_bridge.onedim.bonded import add_bonded
from vbg.tmm_bridge.onedim.circuits import add_electric, add_levels, choked, lay_nodes, paced
from vbg.tmm_bridge.onedim.draft import Draft
from vbg.tmm_bridge.onedim.hydraulics import add_hydraulic
from vbg.tmm_bridge.onedim.laws.latch import ARMED, Latch
from vbg.tmm_bridge.onedim.laws.mechanical import JOINT, PAIR
from vbg.tmm_bridge.onedim.laws.working import Value
from vbg.tmm_bridge.onedim.network import Network, Pair
from vbg.tmm_bridge.onedim.shafts import add_joint_frictions, add_mechanical, add_shafts
from vbg.tmm_bridge.onedim.sources import Sources
from vbg.tmm_bridge.onedim.trains import add_passed, has_dry_friction
from vbg.tmm_bridge.tree.places import BodyPlace


@dataclass(frozen=True)
class Feed:
    """An input of the mechanism that a signal gives."""

    input: int
    part: str
    given: float | str


@dataclass(frozen=True)
class Grip:
    """A shaft that the mechanism moves: coordinate `coordinate` (-1: the distance `pair`)."""

    shaft: int
    coordinate: int
    pair: Pair | None
    mass: float


def needed(model: Model, feeds: tuple[Feed, ...]) -> bool:
    """Whether there is anything for a network to do."""
    tables = (model.electric, model.hydraulic, model.rotational, model.translational)
    return (
        bool(feeds)
        or bool(model.bonds)
        or any(tables)
        or any(has_dry_friction(joint) or opens(joint) for joint in model.joints.values())
    )


def build(
    model: Model,
    bodies: Mapping[str, BodyPlace],
    coordinates: Mapping[tuple[str, str], int],
    feeds: tuple[Feed, ...],
    first_input: int,
    first_coordinate: int,
    first_row: int,
    held: Mapping[str, float],
    excited: frozenset[str] = frozenset(),
) -> tuple[Network, tuple[Grip, ...]]:
    """The network of the model, and the shafts that the mechanism moves.

    The effort of the n-th of these is the mechanism's input `first_input` + n, hinges and rows
    for it count from `first_coordinate` and `first_row`; `excited` names get inputs.
    Raises UsageError for a part without a twin here, AssemblyError where positive feedback leaves
    an instant several solutions.
    """
    if problems := tuple(fed_back(model)):
        raise AssemblyError.of(list(problems))
    draft = Draft(
        model,
        bodies,
        coordinates,
        held,
        first_coordinate=first_coordinate,
        first_row=first_row,
        excited=excited,
    )
    sources = Sources(draft)
    add_levels(draft)
    trains = add_shafts(draft, sources)
    add_mechanical(draft, sources)
    add_joint_frictions(draft)
    add_passed(draft, trains)
    add_electric(draft, sources)
    add_hydraulic(draft, sources)
    add_bonded(draft, sources)
    _add_latches(draft, sources)
    values = tuple((f.input, sources.value(model.forces[f.part], f.part, f.given)) for f in feeds)
    for name in model.signals:
        draft.tell((name, "1", sources.value(model.signals[name], name, name)))
    unknown = sorted(draft.reads - set(draft.readers))
    if unknown:
        raise UsageError(
            f"A signal reads {unknown[0]}, which the transfer-matrix solver does not know"
            " while it solves an instant."
        )
    return _network(draft, values, first_input)


def _add_latches(draft: Draft, sources: Sources) -> None:
    """Joints that open and close."""
    for name, joint in draft.model.joints.items():
        if not opens(joint):
            continue
        given = [g for g in (joint.release, joint.engage) if g is not None]
        release, engage = (
            None if g is None else sources.value(joint, name, g)
            for g in (joint.release, joint.engage)
        )
        timed = all(sources.slope(g) is not None for g in given)
        mode = draft.state(float(begins_open(joint)), *[0.0] * (ARMED - 1), 1.0)
        latch = Latch(name, release, engage, mode, timed)
        draft.latches.append(latch)
        draft.changes.append((f"joints.{name}", 1, latch.changes))
        for output in latch.outputs():
            draft.tell(output)


def _network(
    draft: Draft, feeds: tuple[tuple[int, Value], ...], first_input: int
) -> tuple[Network, tuple[Grip, ...]]:
    nodes = lay_nodes(draft)
    grips: list[Grip] = []
    efforts: list[tuple[int, int, float]] = []
    for i, shaft in enumerate(draft.shafts):
        if shaft.kind not in (JOINT, PAIR):
            continue
        efforts.append((first_input + len(grips), i, 1.0 if shaft.kind == JOINT else -1.0))
        pair = draft.pairs[shaft.place] if shaft.kind == PAIR else None
        grips.append(Grip(i, -1 if pair else shaft.place, pair, shaft.mass))
    works = draft.state(0.0, 0.0)
    network = Network(
        (*draft.parts, *draft.frictions, *draft.late),
        tuple(draft.shafts),
        nodes,
        tuple(draft.pairs),
        tuple(draft.start),
        tuple(draft.scales),
        tuple(draft.places),
        tuple(efforts),
        feeds,
        tuple(draft.changes),
        tuple(draft.outputs),
        (
            *(b for function in draft.functions for b in function.breaks),
            *(held.clock for held in draft.held),
        ),
        {grip.coordinate: grip.mass for grip in grips if grip.mass > 0.0},
        tuple(draft.frictions),
        hinges=tuple(draft.hinges),
        rows=tuple(draft.rows),
        first_row=draft.first_row,
        guessed=frozenset(draft.guessed),
        filters=frozenset(draft.filters),
        samplers=tuple(draft.held),
        latches=tuple(draft.latches),
        works=works,
        switches=(*(s for f in draft.functions for s in f.switches), *draft.switches),
        shares=draft.shares,
        sensors=tuple(draft.sensors),
        attitudes=tuple(draft.attitudes),
        taps=draft.taps,
        choked=choked(draft),
        paced=paced(draft),
    )
    return network, tuple(grips)
