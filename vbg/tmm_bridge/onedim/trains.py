"""Trains: paths of nodes and joint coordinates that gears, belts and screws tie together.

What passes through one gear of a train follows from its balance of power: cut through there the
train falls in two, and on the side that neither a joint's motion nor a speed source rules all is
known.  Speeds c v with the shaft's speed v, inertias m and efforts e of the paths of this side give
what the gear exerts on its end there, whose speed is c_end v,

    c_end effort = sum m c^2 v' - sum c e,

joints in the side among the loads with what the rows of the mechanism hold there.  A speed source
between two shafts ties them, too, as it does no work where both turn alike; of what runs ahead
by o s the inertia asks for m c o s' besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from vbg.model import Model
from vbg.tmm_bridge.formulas.tape import Number, choose, size
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.onedim.draft import Draft, no_twin
from vbg.tmm_bridge.onedim.laws.friction import DryFriction
from vbg.tmm_bridge.onedim.laws.mechanical import FREE, JOINT, Shaft
from vbg.tmm_bridge.onedim.laws.working import Value, Working
from vbg.tmm_bridge.onedim.rawbonds import outer_bonds, shaft_path
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key

FRAME = "frame"
TIES = ("gear", "belt", "ball_screw")


@dataclass
class Tied:
    """A set of paths; `ratio` is the speed of each over the set's."""

    ratio: dict[str, float]


def path_to(model: Model, path: str) -> str:
    """One spelling for each coordinate: joints.NAME.KEY, or TABLE.NODE."""
    if not path.startswith("joints."):
        return path
    return f"joints.{coordinate_joint(path)}.{coordinate_key(model, path)}"


def node_path(model: Model, table: str, node: str) -> str:
    """Path of a node, which "joint:NAME" or "joint:NAME.KEY" takes from a joint."""
    if node.startswith("joint:"):
        return path_to(model, f"joints.{node.removeprefix('joint:')}")
    return f"{table}.{node}"


def paths_of(model: Model, part: Any) -> Iterator[str]:
    """Nodes and coordinates that a part acts on."""
    if part.table in ("rotational", "translational") and part.kind != "ball_screw":
        for node in part.nodes or ():
            if node != FRAME:
                yield node_path(model, part.table, node)
    for key in ("on", "shaft", "slide"):
        path = getattr(part, key, None)
        if isinstance(path, str):
            yield path_to(model, path)


def tie_of(model: Model, part: Any) -> tuple[str, str, float]:
    """(first, second, speed of the second over the first's) of a gear, belt or screw."""
    if part.kind == "ball_screw":
        return path_to(model, part.shaft), path_to(model, part.slide), part.lead
    first, second = (node_path(model, part.table, node) for node in part.nodes)
    return first, second, part.ratio if part.kind == "gear" else part.radius1 / part.radius2


def mechanical_parts(model: Model) -> Iterator[tuple[str, Any]]:
    """All parts of the four tables."""
    for table in (model.rotational, model.translational, model.electric, model.hydraulic):
        yield from table.items()


def tying_parts(model: Model) -> Iterator[tuple[str, Any]]:
    """Gears, belts and screws."""
    for name, part in mechanical_parts(model):
        if part.kind in TIES and part.table in ("rotational", "translational"):
            yield name, part


def tied_sets(model: Model) -> list[Tied]:
    """Sets of paths that move as one."""
    owner: dict[str, Tied] = {}
    for _, part in mechanical_parts(model):
        for path in paths_of(model, part):
            owner.setdefault(path, Tied({path: 1.0}))
    for outer in outer_bonds(model):
        if path := shaft_path(model, outer.end):
            owner.setdefault(path, Tied({path: 1.0}))
    for name, part in tying_parts(model):
        first, second, ratio = tie_of(model, part)
        a, b = owner[first], owner[second]
        if a is b:
            raise no_twin(part, name, "a closed chain of gears")
        factor = ratio * a.ratio[first] / b.ratio[second]
        for path, c in b.ratio.items():
            a.ratio[path] = factor * c
            owner[path] = a
    return list({id(tied): tied for tied in owner.values()}.values())


def frictions_by_shaft(model: Model, *, least: int = 2) -> dict[str, list[tuple[str, float]]]:
    """Of each tied set with at `least` so many dry frictions, named by its joint or its first
    path: their efforts with the factors by which they add up to what loads that."""
    found: dict[str, list[tuple[str, float]]] = {}
    sets = tied_sets(model)
    known = {path for tied in sets for path in tied.ratio}
    for name, joint in model.joints.items():
        path = path_to(model, f"joints.{name}") if has_dry_friction(joint) else ""
        if path and path not in known:
            sets.append(Tied({path: 1.0}))
    for tied in sets:
        loads = []
        for name, part in mechanical_parts(model):
            if part.kind not in ("friction", "clutch"):
                continue
            told = "torque" if part.table == "rotational" else "force"
            for path, sign in _ends_of(model, part):
                loads.append((f"{name}.{told}", sign * tied.ratio.get(path, 0.0)))
        for path, ratio in tied.ratio.items():
            joint = coordinate_joint(path)
            if has_dry_friction(model.joints.get(joint)):
                loads.append((f"{joint}.friction", ratio))
        joints = [path for path in tied.ratio if path.startswith("joints.")]
        path = next(iter(joints or tied.ratio))
        loads = [(channel, factor / tied.ratio[path]) for channel, factor in loads if factor]
        if len(loads) >= least:
            found[coordinate_joint(path) or path] = loads
    return found


def _ends_of(model: Model, part: Any) -> Iterator[tuple[str, float]]:
    """Paths that a part between two ends acts on; what it tells pushes the second forward."""
    if getattr(part, "on", None) is not None:
        yield path_to(model, part.on), 1.0
    for node in part.nodes or ():
        if node != FRAME:
            second = node == part.nodes[-1]
            yield node_path(model, part.table, node), 1.0 if second else -1.0


def has_dry_friction(joint: Any) -> bool:
    """Whether the friction of a joint can stick."""
    friction = getattr(joint, "friction", None)
    return friction is not None and friction.coulomb > 0.0


@dataclass
class Train:
    """A shaft with the paths on it.

    ratio : speed of each over the shaft's;  inertia : of each that has some;  shares : places of
    the efforts on it;  rows : of the joints that the first one moves;  moved_at : the path whose
    motion comes from outside, the first joint or a speed source's, empty for none;  ahead : what
    each path that runs ahead has of a speed s, and s;  sources : ends of the sources between.
    """

    shaft: int
    ratio: dict[str, float]
    inertia: dict[str, float] = field(default_factory=dict)
    shares: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    moved_at: str = ""
    ahead: dict[str, tuple[float, TimeFunction]] = field(default_factory=dict)
    sources: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Passed:
    """What a gear, belt or screw exerts on one of its ends, by the balance of that end's side.

    shares, held : places of the efforts on the side's paths, and (friction, its speed over the
    shaft's) of those that the mechanism makes stick there;  rows : (row, speed over the shaft's)
    of its joints;  mass : its inertia at the shaft's speed;  ahead : (m c o, s) of what runs
    ahead;  end : speed of the end over it."""

    shaft: Shaft
    index: int
    shares: tuple[int, ...]
    held: tuple[tuple[DryFriction, float], ...]
    rows: tuple[tuple[int, float], ...]
    mass: float
    ahead: tuple[tuple[float, TimeFunction], ...]
    end: float

    def effort(self, w: Working) -> Number:
        """It makes the end's speed grow."""
        need: Number = self.mass * self._acceleration(w) if self.mass else 0.0
        for coupled, drive in self.ahead:
            need = need + coupled * w.timed(drive, 1)
        for place in self.shares:
            need = need - w.shares[place]
        for friction, c in self.held:
            need = need - c * choose(size(w.x[friction.mode]), 0.0, w.held[friction.index])
        for row, c in self.rows:
            need = need + c * w.reactions[row]
        return need / self.end

    def _acceleration(self, w: Working) -> Number:
        if self.shaft.kind == FREE:
            return w.rates[self.shaft.state + 1]
        if self.shaft.kind == JOINT:
            return w.accelerations[self.index]
        assert self.shaft.drive is not None  # one without inertia needs none
        return w.timed(self.shaft.drive, 1) / self.shaft.factor


def add_passed(draft: Draft, trains: Sequence[Train]) -> None:
    """Outputs of all gears, belts and screws: what they take from the first path and give to
    the second.  All shafts and frictions are there."""
    ties = [(name, part, *tie_of(draft.model, part)) for name, part in tying_parts(draft.model)]
    for name, part, first, second, ratio in ties:
        train = next(train for train in trains if first in train.ratio)
        others = [(a, b) for other, _, a, b, _ in ties if other != name] + train.sources
        side, end = side_of(second, others), second
        if train.moved_at in side:
            side, end = side_of(first, others), first
        taken, given = _both_ends(_passed(draft, train, side, end), ratio, at_first=end == first)
        screw = part.kind == "ball_screw"
        words = ("shaft_torque", "thrust") if screw else ("torque1", "torque2")
        draft.outputs.append((f"{name}.{words[0]}", "N*m", taken))
        draft.outputs.append((f"{name}.{words[1]}", "N" if screw else "N*m", given))


def side_of(path: str, ties: Iterable[tuple[str, str]]) -> set[str]:
    """All paths that ties connect with one."""
    side = {path}
    while True:
        near = {end for tie in ties for end in tie if side & set(tie)}
        if near <= side:
            return side
        side |= near


def _passed(draft: Draft, train: Train, side: set[str], end: str) -> Passed:
    """What is exerted on `end`, whose `side` no motion from outside rules."""
    shares = {place: path for path, place in train.shares.items() if path in side}
    held = tuple(
        (friction, term.c)
        for friction in draft.frictions
        for term in friction.port.terms
        if friction.row >= 0 and term.path in shares
    )
    rows = tuple((row, train.ratio[path]) for path, row in train.rows.items() if path in side)
    mass = sum(m * train.ratio[path] ** 2 for path, m in train.inertia.items() if path in side)
    ahead = tuple(
        (train.inertia[path] * train.ratio[path] * o, drive)
        for path, (o, drive) in train.ahead.items()
        if path in side and path in train.inertia
    )
    shaft = draft.shafts[train.shaft]
    return Passed(shaft, train.shaft, tuple(shares), held, rows, mass, ahead, train.ratio[end])


def _both_ends(passed: Passed, ratio: float, *, at_first: bool) -> tuple[Value, Value]:
    """What a tie takes from its first path and gives to its second, without loss."""
    if at_first:
        return lambda w: -passed.effort(w), lambda w: -passed.effort(w) / ratio
    return lambda w: ratio * passed.effort(w), passed.effort
