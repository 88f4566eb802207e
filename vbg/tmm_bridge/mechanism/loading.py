"""Forces of the model as rows of the tables of laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.elements.beam_element import BeamElement
from vbg.elements.bushing import Bushing
from vbg.elements.damper import Damper
from vbg.elements.force import Force
from vbg.elements.spring import Spring
from vbg.elements.stop import ContactStop
from vbg.elements.torque import Torque
from vbg.elements.torsion_spring import TorsionSpring
from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.model.placing.placed import Placed
from vbg.plumbing.words import with_article
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction, constant
from vbg.tmm_bridge.formulas.written import function_of
from vbg.tmm_bridge.kernels.motion.rotation import Array, matrix_of
from vbg.tmm_bridge.kernels.tables import (
    LAW_INPUT,
    LAW_SPRING,
    LAW_STOP,
    LOAD_FORCE,
    LOAD_TORQUE,
    NO_INPUT,
    PAIR_INPUT,
    PAIR_SPRING,
    PAIR_STOP,
)
from vbg.tmm_bridge.mechanism.elastic import six_of_part
from vbg.tmm_bridge.mechanism.mechanism import BodyPlace
from vbg.tmm_bridge.onedim.build import Feed, Grip
from vbg.tmm_bridge.onedim.excited import reads_any
from vbg.tmm_bridge.onedim.rawbonds import outer_bonds
from vbg.tmm_bridge.onedim.trains import has_dry_friction
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key


@dataclass
class Loading:
    """Tables of laws while they grow; `parts` leads from a name to (table, row); `excited`
    names get inputs."""

    laws: list[tuple[int, int, int]] = field(default_factory=list)
    law: list[tuple[float, ...]] = field(default_factory=list)
    pairs: list[tuple[int, int, int, int]] = field(default_factory=list)
    pair: list[Array] = field(default_factory=list)
    loads: list[tuple[int, ...]] = field(default_factory=list)
    load: list[Array] = field(default_factory=list)
    bushes: list[tuple[int, int, int]] = field(default_factory=list)
    bush: list[Array] = field(default_factory=list)
    functions: list[TimeFunction] = field(default_factory=list)
    parts: dict[str, tuple[str, int]] = field(default_factory=dict)
    feeds: list[Feed] = field(default_factory=list)
    excited: frozenset[str] = frozenset()


def lay_forces(
    placed: Placed,
    places: Mapping[str, BodyPlace],
    named: Mapping[tuple[str, str], int],
    replays: Mapping[str, TimeFunction],
    carrying: Mapping[str, int],
    excited: frozenset[str] = frozenset(),
) -> Loading:
    """Rows of all forces, of the joints' friction and stops, and of replayed efforts;
    `carrying` are the elastic hinges of the tree with their rows.

    Raises UsageError for a part that has no twin here and no replay.
    """
    loading, model = Loading(excited=excited), placed.model
    loading.parts |= {name: ("elastic", row) for name, row in carrying.items()}
    for name, part in model.forces.items():
        if name in loading.parts:  # an elastic hinge of the tree
            continue
        if f"forces.{name}" in replays:
            _lay_replay(loading, model, named, str(part.on), name, replays[f"forces.{name}"])
        elif f"forces.{name}[0]" in replays:
            _lay_replayed_load(loading, places, name, part, replays)
        else:
            _lay(loading, placed, places, named, name, part)
    for name, joint in model.joints.items():
        _lay_joint_effects(loading, model, named, name, joint, replayed=name in replays)
    if replays:
        _lay_other_replays(loading, model, places, named, replays)
    return loading


def one_dimensional(model: Model) -> Iterator[tuple[str, Any]]:
    """(name, part) of the four tables of one-dimensional parts."""
    for table in (model.electric, model.hydraulic, model.rotational, model.translational):
        yield from table.items()


def joints_reached(part: Any) -> Iterator[tuple[str, str]]:
    """(key, path) of the joint coordinates that a one-dimensional part acts on: "on", "shaft",
    "slide", or "first" and "second" of its nodes."""
    given = [(key, getattr(part, key, None)) for key in ("on", "shaft", "slide")]
    nodes = getattr(part, "nodes", None) or ()
    for key, node in zip(("first", "second"), nodes, strict=False):
        given.append((key, f"joints.{node.removeprefix('joint:')}" if "joint:" in node else ""))
    for key, path in given:
        if isinstance(path, str) and path.startswith("joints."):
            yield key, path


def acts_on_mechanism(part: Any) -> bool:
    """Whether a one-dimensional part moves a joint or pulls at points."""
    return any(joints_reached(part)) or getattr(part, "between", None) is not None


def _lay_other_replays(
    loading: Loading,
    model: Model,
    places: Mapping[str, BodyPlace],
    named: Mapping[tuple[str, str], int],
    replays: Mapping[str, TimeFunction],
) -> None:
    """Replayed efforts of one-dimensional parts, by joint or (two points) by part.

    Raises UsageError for a part that moves the mechanism and has no replay.
    """
    for name, part in one_dimensional(model):
        if not acts_on_mechanism(part):
            continue
        joints = {coordinate_joint(path) for _, path in joints_reached(part)}
        if f"{part.table}.{name}" in replays:
            (a, pa), (b, pb) = (on_node(places, end) for end in part.between)
            place = _input(loading, replays[f"{part.table}.{name}"])
            loading.pairs.append((PAIR_INPUT, a, b, place))
            loading.pair.append(np.concatenate([pa, pb, np.zeros(3)]))
        elif not joints or not joints <= set(replays):
            raise UsageError(
                f"{part.table}.{name}: the transfer-matrix solver has no recorded effort of this"
                f" {part.kind} to replay. Give the efforts of all parts that move the mechanism."
            )
    for outer in outer_bonds(model):
        if outer.owner in model.joints and outer.owner not in replays:
            raise UsageError(
                f"The bond {outer.bond} has no twin in the transfer-matrix solver, and its"
                " effort is not recorded."
            )
    for name, function in replays.items():
        if name in model.joints:
            _lay_replay(loading, model, named, f"joints.{name}", f"{name}.replay", function)


def _lay_replayed_load(
    loading: Loading,
    places: Mapping[str, BodyPlace],
    name: str,
    part: Any,
    replays: Mapping[str, TimeFunction],
) -> None:
    """A recorded force or torque on a body, components in world axes."""
    node, point = on_node(places, part.on)
    inputs = [_input(loading, replays[f"forces.{name}[{k}]"]) for k in range(3)]
    kind = LOAD_FORCE if isinstance(part, Force) else LOAD_TORQUE
    loading.parts[name] = ("load", len(loading.loads))
    loading.loads.append((kind, node, *inputs))
    loading.load.append(np.concatenate([point, np.eye(3).ravel(), [0.0]]))


def _lay_replay(
    loading: Loading,
    model: Model,
    named: Mapping[tuple[str, str], int],
    reference: str,
    name: str,
    function: TimeFunction,
) -> None:
    """A recorded effort on the coordinate `reference`."""
    loading.parts[name] = ("law", len(loading.laws))
    loading.laws.append(
        (LAW_INPUT, _coordinate(model, named, reference), _input(loading, function))
    )
    loading.law.append((0.0,) * 5)


def _lay(
    loading: Loading,
    placed: Placed,
    places: Mapping[str, BodyPlace],
    named: Mapping[tuple[str, str], int],
    name: str,
    part: Any,
) -> None:
    model = placed.model
    match part:
        case Spring(on=str()) | Damper(on=str()) | TorsionSpring():
            _on_coordinate(loading, model, named, name, part)
        case Torque(on=str()):
            k = _coordinate(model, named, str(part.on))
            loading.parts[name] = ("law", len(loading.laws))
            loading.laws.append((LAW_INPUT, k, _signal(loading, model, name, part.torque[0])))
            loading.law.append((0.0,) * 5)
        case Spring() | Damper() | ContactStop():
            _between(loading, places, name, part)
        case Force() | Torque():
            _applied(loading, model, places, name, part)
        case Bushing() | BeamElement():
            _bushing(loading, placed, places, name, part)
        case _:
            raise UsageError(
                f"forces.{name}: the transfer-matrix solver has no twin of "
                f"{with_article(part.kind)}. Replay its recorded effort, or leave it out of the"
                " comparison."
            )


def _coordinate(model: Model, named: Mapping[tuple[str, str], int], reference: str) -> int:
    """The coordinate of a joint that a part acts on."""
    joint, key = coordinate_joint(reference), coordinate_key(model, reference)
    if (joint, key) not in named:
        raise UsageError(
            f"{reference} has no free coordinate for a part to act on."
            " Use a revolute, prismatic, helical, cylindrical or universal joint."
        )
    return named[joint, key]


def _input(loading: Loading, function: TimeFunction) -> int:
    loading.functions.append(function)
    return len(loading.functions) - 1


def _signal(loading: Loading, model: Model, name: str, given: float | str) -> int:
    """An input that is a function of time, or that the network will feed."""
    try:
        if not reads_any(model, given, loading.excited):
            return _input(loading, function_of(model, given))
    except UsageError:
        pass
    place = _input(loading, constant(0.0))
    loading.feeds.append(Feed(place, name, given))
    return place


def lay_grips(loading: Loading, grips: tuple[Grip, ...]) -> None:
    """An input for the effort of each shaft that the mechanism moves."""
    for grip in grips:
        place = _input(loading, constant(0.0))
        if grip.pair is None:
            loading.laws.append((LAW_INPUT, grip.coordinate, place))
            loading.law.append((0.0,) * 5)
        else:
            loading.pairs.append((PAIR_INPUT, *grip.pair.nodes, place))
            ends = (*grip.pair.first, *grip.pair.second, 0.0, 0.0, 0.0)
            loading.pair.append(np.array(ends))


def _on_coordinate(
    loading: Loading, model: Model, named: Mapping[tuple[str, str], int], name: str, part: Any
) -> None:
    k = getattr(part, "k", 0.0)
    c = getattr(part, "c", 0.0)
    rest = part.rest if isinstance(part, TorsionSpring) else getattr(part, "length", 0.0)
    loading.parts[name] = ("law", len(loading.laws))
    loading.laws.append((LAW_SPRING, _coordinate(model, named, part.on), NO_INPUT))
    loading.law.append((k, rest, c, 0.0, 0.0))


def _lay_joint_effects(
    loading: Loading,
    model: Model,
    named: Mapping[tuple[str, str], int],
    name: str,
    joint: Any,
    *,
    replayed: bool,
) -> None:
    friction = getattr(joint, "friction", None)
    if friction is not None and not has_dry_friction(joint):  # that is the network's, or replayed
        loading.parts[f"{name}.friction"] = ("law", len(loading.laws))
        loading.laws.append((LAW_SPRING, _coordinate(model, named, f"joints.{name}"), NO_INPUT))
        loading.law.append((0.0, 0.0, friction.viscous, 0.0, 0.0))
    stop = getattr(joint, "stop", None)
    if stop is not None:
        lower = -np.inf if stop.lower is None else stop.lower
        upper = np.inf if stop.upper is None else stop.upper
        loading.parts[f"{name}.stop"] = ("law", len(loading.laws))
        loading.laws.append((LAW_STOP, _coordinate(model, named, f"joints.{name}"), NO_INPUT))
        loading.law.append((stop.k, 0.0, stop.c, lower, upper))


def on_node(places: Mapping[str, BodyPlace], end: Attachment) -> tuple[int, Array]:
    """Node of an attachment and its point in the node's frame."""
    place = places[end.body]
    return place.node, place.p_NB + place.R_NB @ np.array(end.at)


def _between(loading: Loading, places: Mapping[str, BodyPlace], name: str, part: Any) -> None:
    (a, pa), (b, pb) = (on_node(places, end) for end in part.between)
    kind, k, c = PAIR_SPRING, getattr(part, "k", 0.0), getattr(part, "c", 0.0)
    rest = getattr(part, "length", 0.0)
    if isinstance(part, ContactStop):
        kind, rest = PAIR_STOP, part.gap
    loading.parts[name] = ("pair", len(loading.pairs))
    loading.pairs.append((kind, a, b, NO_INPUT))
    loading.pair.append(np.concatenate([pa, pb, [k, rest, c]]))


def _applied(
    loading: Loading, model: Model, places: Mapping[str, BodyPlace], name: str, part: Any
) -> None:
    node, point = on_node(places, part.on)
    components = part.force if isinstance(part, Force) else part.torque
    inputs = [_signal(loading, model, name, component) for component in components]
    kind = LOAD_FORCE if isinstance(part, Force) else LOAD_TORQUE
    loading.parts[name] = ("load", len(loading.loads))
    loading.loads.append((kind, node, *inputs))
    R = places[part.on.body].R_NB  # of the axes in which the components count, to the node's
    if part.axes == "frame":
        R = R @ matrix_of(np.array(part.on.rotation))
    turning = 0.0 if part.axes == "world" else 1.0
    loading.load.append(np.concatenate([point, R.ravel(), [turning]]))


def _bushing(
    loading: Loading, placed: Placed, places: Mapping[str, BodyPlace], name: str, part: Any
) -> None:
    """The law between the nodes of its two bodies."""
    (a, pa), (b, pb) = (on_node(places, end) for end in part.between)
    Ra, Rb = (places[end.body].R_NB for end in part.between)
    six = six_of_part(placed, part)
    ends = [(Ra @ six.R_AF).ravel(), pa, (Rb @ six.R_BM).ravel(), pb]
    loading.parts[name] = ("bush", len(loading.bushes))
    loading.bushes.append((a, b, six.law))
    loading.bush.append(np.concatenate([*ends, six.constants]))
