"""From the Model to the flat tables of the transfer-matrix solver."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.junctions.latch import begins_open, opens
from vbg.model import Model
from vbg.model.placing.placed import Placed, place
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.formulas.written import function_of
from vbg.tmm_bridge.kernels.motion.rotation import Array, six_of, symmetric_matrix
from vbg.tmm_bridge.kernels.rows import (
    COORDINATES,
    FREEDOMS,
    LINK_ARMATURE,
    LINK_BENDS,
    LINK_COM,
    LINK_DRIVEN,
    LINK_FLOATS,
    LINK_J,
    LINK_KIND,
    LINK_LEAD,
    LINK_MASS,
    LINK_POSITION,
    LINK_SHAPE,
    LINK_V,
    PRISMATIC,
    REVOLUTE,
    RIGID,
)
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_TREE,
    IDLE,
    ROW_COUPLE,
    ROW_SLIDE,
    ROW_TURN,
)
from vbg.tmm_bridge.mechanism.draft import Draft, tables_of
from vbg.tmm_bridge.mechanism.elastic import ends_in_tree, six_of_part
from vbg.tmm_bridge.mechanism.frames import read_frames
from vbg.tmm_bridge.mechanism.loading import (
    Loading,
    acts_on_mechanism,
    lay_forces,
    lay_grips,
    one_dimensional,
)
from vbg.tmm_bridge.mechanism.mechanism import CutJoint, JointFrames, Mechanism, TreeJoint
from vbg.tmm_bridge.onedim.build import Grip, build, needed
from vbg.tmm_bridge.onedim.excited import reads_any, spelled
from vbg.tmm_bridge.onedim.network import Network
from vbg.tmm_bridge.onedim.rawbonds import outer_bonds
from vbg.tmm_bridge.onedim.trains import has_dry_friction
from vbg.tmm_bridge.tree.forest import (
    GROUND,
    Carrier,
    coordinate_joint,
    coordinate_key,
    is_coupling,
    plant,
)
from vbg.tmm_bridge.tree.pairs import (
    FREE,
    SIX,
    Hinge,
    Series,
    measured_coordinates,
    rows_of,
    series_of,
)
from vbg.tmm_bridge.tree.places import GROUND_PLACE, BodyPlace


def lay_out(
    source: Model | Placed,
    replays: Mapping[str, TimeFunction] | None = None,
    held: Mapping[str, float] | None = None,
    excited: Collection[str] = (),
) -> Mechanism:
    """Tables of the model in its written posture, and the network of its one-dimensional parts.

    `replays` are recorded efforts that take the place of all these parts: by the name of
    the joint on whose coordinate they act, "TABLE.NAME" of a part between two points (the
    effort that draws them together), "forces.NAME" or "forces.NAME[0]" of a torque or load.
    `held` are signals of nodes and controllers at the start, `excited` the names of signals, of
    quantities that parts read and of sources to which inputs are added (`onedim.excited`).
    Raises UsageError for a part that moves the mechanism and has neither twin nor replay, or for
    a drive that would have to follow an input.
    """
    placed = source if isinstance(source, Placed) else place(source)
    model, frames = placed.model, read_frames(placed)
    forest, raised = plant(model), frozenset(map(spelled, excited))
    _require_free_drives(model, raised)
    draft = Draft()
    places: dict[str, BodyPlace] = {GROUND: GROUND_PLACE}
    tree: dict[str, TreeJoint] = {}
    floating: dict[str, tuple[int, ...]] = {}
    elastic: dict[str, TreeJoint] = {}
    named: dict[tuple[str, str], int] = {}
    driven: dict[str, int] = {}
    for carrier in forest.carriers:
        if carrier.joint in model.forces:
            elastic[carrier.joint] = _carry_elastic(placed, carrier, draft, places)
        elif carrier.joint:
            tree[carrier.joint] = _carry(model, frames, carrier, draft, places, named)
            _drive_tree(model, carrier.joint, draft, named, driven)
        elif carrier.parent != GROUND:
            _carry_point(model, carrier, draft, places)
        else:
            floating[carrier.body] = _float(model, carrier.body, draft, places)
    cut = {name: _cut(placed, frames, name, draft, places, named, driven) for name in forest.cut}
    couplings = _couple(placed, draft, named)
    carrying = {name: row for row, name in enumerate(elastic)}
    loading = lay_forces(placed, places, named, replays or {}, carrying, raised)
    network, apart = None, ""
    if not replays:
        network, apart = _network(placed, draft, places, named, loading, held or {})
    tables = tables_of(model, draft, loading)
    return Mechanism(
        placed,
        tables,
        places,
        frames,
        tree,
        cut,
        floating,
        elastic,
        named,
        couplings,
        tuple(draft.functions),
        driven,
        tuple(loading.functions),
        dict(loading.parts),
        network,
        apart,
        dict(draft.bending.rows),
    )


def _require_free_drives(model: Model, excited: frozenset[str]) -> None:
    """Prescribed motions follow no input: accelerations would need its rates."""
    for name, joint in model.joints.items():
        if reads_any(model, getattr(joint, "drive", None), excited):
            raise UsageError(
                f"joints.{name}: its drive reads what is to be excited; a prescribed motion"
                " is no input. Excite an effort, or drive the joint by a force or a motor."
            )


def _network(
    placed: Placed,
    draft: Draft,
    places: Mapping[str, BodyPlace],
    named: Mapping[tuple[str, str], int],
    loading: Loading,
    held: Mapping[str, float],
) -> tuple[Network | None, str]:
    """One-dimensional parts, their efforts among the inputs, their inertia on the hinges.

    None if there are none, or, with the reason, if they have no twin and leave the
    mechanism alone.
    """
    model, feeds = placed.model, tuple(loading.feeds)
    if not needed(model, feeds):
        return None, ""
    try:
        network, grips = build(
            model,
            places,
            named,
            feeds,
            len(loading.functions),
            len(draft.coordinates),
            len(draft.rows),
            held,
            loading.excited,
        )
    except UsageError as error:
        on_joints = any(has_dry_friction(joint) or opens(joint) for joint in model.joints.values())
        on_joints |= any(acts_on_mechanism(part) for _, part in one_dimensional(model))
        on_joints |= any(outer.owner in model.joints for outer in outer_bonds(model))
        if feeds or on_joints:
            raise
        return None, str(error)
    _add_hinges_and_rows(placed, draft, named, network)
    for grip in grips:
        if grip.mass > 0.0:
            _add_armature(draft, grip)
    lay_grips(loading, grips)
    return network, ""


def _add_hinges_and_rows(
    placed: Placed, draft: Draft, named: Mapping[tuple[str, str], int], network: Network
) -> None:
    """Shafts that move with the mechanism as hinges on the ground, rows between coordinates.

    second - start2 = ratio (first - start1)."""
    for hinge in network.hinges:
        kind = REVOLUTE if hinge.turns else PRISMATIC
        node = Series((Hinge(np.eye(3), kind, "shaft"),), np.eye(3))
        _, coordinates = _append_nodes(draft, node, None, -1, np.eye(3), np.zeros(3))
        draft.coordinates.append([COORDINATE_TREE, -1, *coordinates["shaft"]])
    starts = {}
    for (joint, key), k in named.items():
        keys = [one for one, _ in measured_coordinates(placed.model.joints[joint])]
        starts[k] = float(placed.frames[joint].coordinates[keys.index(key)])
    for row in network.rows:
        draft.rows.append((ROW_COUPLE, -1, row.first, row.second, IDLE if row.idle else -1))
        offset = starts.get(row.second, 0.0) - row.ratio * starts.get(row.first, 0.0)
        draft.row.append((row.ratio, offset))


def _add_armature(draft: Draft, grip: Grip) -> None:
    """Inertia that moves with a coordinate of the tree, on its hinge."""
    kind, _, _, v = draft.coordinates[grip.coordinate]
    if kind != COORDINATE_TREE:
        raise UsageError(
            "An inertia on the coordinate of a joint that closes a loop has no twin in the"
            " transfer-matrix solver."
        )
    for links, link in zip(draft.links, draft.link, strict=True):
        if links[LINK_V] == v and links[LINK_KIND] != RIGID:
            link[LINK_ARMATURE] += grip.mass


def _append_nodes(
    draft: Draft, series: Any, joint: Any, parent: int, R: Array, p: Array
) -> tuple[tuple[int, ...], dict[str, tuple[int, int]]]:
    """Nodes of a series that starts at frame (R, p) of the parent's node."""
    nodes, coordinates = [], {}
    for hinge in series.hinges:
        constants = np.zeros(LINK_FLOATS)
        constants[:9] = (R @ hinge.before).ravel()
        constants[LINK_POSITION : LINK_POSITION + 3] = p
        constants[LINK_LEAD] = getattr(joint, "lead", 0.0)
        draft.links.append([parent, hinge.kind, draft.n_q, draft.n_v, 0, -1, -1])
        draft.link.append(constants)
        if hinge.coordinate:
            coordinates[hinge.coordinate] = (draft.n_q, draft.n_v)
        draft.n_q += COORDINATES[hinge.kind]
        draft.n_v += FREEDOMS[hinge.kind]
        parent = len(draft.links) - 1
        nodes.append(parent)
        R, p = np.eye(3), np.zeros(3)
    return tuple(nodes), coordinates


def _seat(draft: Draft, body: Any, node: int, R_NB: Array, p_NB: Array) -> BodyPlace:
    """Put mass and inertia of a body on its node."""
    constants = draft.link[node]
    constants[LINK_MASS] = body.mass
    constants[LINK_COM : LINK_COM + 3] = p_NB
    constants[LINK_J : LINK_J + 6] = six_of(R_NB @ symmetric_matrix(body.inertia) @ R_NB.T)
    return BodyPlace(node, R_NB, p_NB)


def _carry(
    model: Model,
    frames: Mapping[str, JointFrames],
    carrier: Carrier,
    draft: Draft,
    places: dict[str, BodyPlace],
    named: dict[tuple[str, str], int],
) -> TreeJoint:
    """Nodes of a joint of the tree, and its body on the last of them."""
    joint, f = model.joints[carrier.joint], frames[carrier.joint]
    parent = places[carrier.parent]
    R_in, p_in, R_out, p_out = f.R_AF, f.p_AF, f.R_BM, f.p_BM
    if carrier.backward:
        R_in, p_in, R_out, p_out = R_out, p_out, R_in, p_in
    series = series_of(joint, backward=carrier.backward)
    p = parent.p_NB + parent.R_NB @ p_in
    R = parent.R_NB @ R_in
    nodes, coordinates = _append_nodes(draft, series, joint, parent.node, R, p)
    for key, (q, v) in coordinates.items():
        named[carrier.joint, key] = len(draft.coordinates)
        draft.coordinates.append([COORDINATE_TREE, -1, q, v])
    R_NB = series.after @ R_out.T
    places[carrier.body] = _seat(draft, model.bodies[carrier.body], nodes[-1], R_NB, -R_NB @ p_out)
    return TreeJoint(carrier.joint, nodes, carrier.backward, parent.node, p)


def _carry_elastic(
    placed: Placed, carrier: Carrier, draft: Draft, places: dict[str, BodyPlace]
) -> TreeJoint:
    """The node of an elastic hinge of the tree, and its body."""
    model = placed.model
    part = model.forces[carrier.joint]
    six = six_of_part(placed, part)
    ends = ends_in_tree(part, six, places, backward=carrier.backward)
    parent = places[carrier.parent].node
    nodes, _ = _append_nodes(draft, SIX, None, parent, ends.R_in, ends.p_in)
    draft.elastics.append((nodes[0], six.law, int(carrier.backward)))
    draft.elastic.append(six.constants)
    R_NB = ends.R_out.T
    body = model.bodies[carrier.body]
    places[carrier.body] = _seat(draft, body, nodes[0], R_NB, -R_NB @ ends.p_out)
    return TreeJoint(carrier.joint, nodes, carrier.backward, parent, ends.p_in)


def _float(model: Model, body: str, draft: Draft, places: dict[str, BodyPlace]) -> tuple[int, ...]:
    """Six coordinates of a body that floats: its mass centre in W, its quaternion."""
    nodes, _ = _append_nodes(draft, FREE, None, -1, np.eye(3), np.zeros(3))
    part = model.bodies[body]
    places[body] = _seat(draft, part, nodes[-1], np.eye(3), np.zeros(3))
    if part.flexible is not None:
        first = (draft.n_q, draft.n_v)
        draft.links[nodes[-1]][LINK_BENDS] = len(draft.bending.flexes)
        n = draft.bending.add_body(body, part, nodes[-1], first)
        draft.n_q, draft.n_v = draft.n_q + n, draft.n_v + n
    return nodes


def _carry_point(
    model: Model, carrier: Carrier, draft: Draft, places: dict[str, BodyPlace]
) -> None:
    """The node of a point that a flexible body carries."""
    point = model.bodies[carrier.body]
    held = Series((Hinge(np.eye(3), RIGID),), np.eye(3))
    parent = places[carrier.parent].node
    nodes, _ = _append_nodes(draft, held, None, parent, np.eye(3), np.asarray(point.place))
    draft.links[nodes[0]][LINK_SHAPE] = draft.bending.add_point(carrier.parent, point.shapes)
    places[carrier.body] = _seat(draft, point, nodes[0], np.eye(3), np.zeros(3))


def _drive_tree(
    model: Model,
    name: str,
    draft: Draft,
    named: Mapping[tuple[str, str], int],
    driven: dict[str, int],
) -> None:
    drive = getattr(model.joints[name], "drive", None)
    if drive is None:
        return
    key = coordinate_key(model, f"joints.{name}")
    _, _, q, v = draft.coordinates[named[name, key]]
    for link in draft.links:
        if link[LINK_V] == v and link[1] != RIGID:
            link[LINK_DRIVEN] = 1
    driven[name] = len(draft.drives)
    draft.drives.append((v, q))
    draft.functions.append(function_of(model, drive))


def _cut(
    placed: Placed,
    frames: Mapping[str, JointFrames],
    name: str,
    draft: Draft,
    places: Mapping[str, BodyPlace],
    named: dict[tuple[str, str], int],
    driven: dict[str, int],
) -> CutJoint:
    """Rows of a joint that closes a loop, with a row for its drive."""
    model = placed.model
    joint, f = model.joints[name], frames[name]
    a, b = places[f.first], places[f.second]
    index = len(draft.cuts)
    draft.cuts.append((a.node, b.node))
    draft.cut.append(
        np.concatenate(
            [
                (a.R_NB @ f.R_AF).ravel(),
                a.p_NB + a.R_NB @ f.p_AF,
                (b.R_NB @ f.R_BM).ravel(),
                b.p_NB + b.R_NB @ f.p_BM,
            ]
        )
    )
    for key, kind in measured_coordinates(joint):
        named[name, key] = len(draft.coordinates)
        draft.coordinates.append([kind, index, -1, -1])
    rows = []
    for row in rows_of(joint, written_distance=_written_distance(placed, f)):
        rows.append(len(draft.rows))
        holds = IDLE if begins_open(joint) else -1
        draft.rows.append((row.primitive, index, row.i, row.j, holds))
        draft.row.append((row.parameter, 0.0))
    drive = getattr(joint, "drive", None)
    if drive is not None:
        primitive = ROW_SLIDE if (name, "slide") in named else ROW_TURN
        rows.append(len(draft.rows))
        driven[name] = len(draft.drives)
        draft.rows.append((primitive, index, 2, 0, len(draft.drives)))
        draft.row.append((0.0, 0.0))
        draft.drives.append((-1, -1))
        draft.functions.append(function_of(model, drive))
    return CutJoint(name, index, tuple(rows))


def _written_distance(placed: Placed, f: JointFrames) -> float:
    """|p_FM| at the written posture."""

    def point(body: str, p: Array) -> Array:
        if body == GROUND:
            return p
        pose = placed.poses[body]
        return np.asarray(pose.p_WB) + np.asarray(pose.R_WB) @ p

    return float(np.linalg.norm(point(f.second, f.p_BM) - point(f.first, f.p_AF)))


def _couple(placed: Placed, draft: Draft, named: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """Rows of gears, racks and belts: x2 - start2 = ratio (x1 - start1)."""
    model, frames = placed.model, placed.frames
    rows = {}
    for name, joint in model.joints.items():
        if not is_coupling(joint):
            continue
        places, starts = [], []
        for reference in joint.between:
            target, key = coordinate_joint(reference), coordinate_key(model, reference)
            places.append(named[target, key])
            keys = [k for k, _ in measured_coordinates(model.joints[target])]
            starts.append(float(frames[target].coordinates[keys.index(key)]))
        rows[name] = len(draft.rows)
        draft.rows.append((ROW_COUPLE, -1, places[0], places[1], -1))
        draft.row.append((joint.ratio, starts[1] - joint.ratio * starts[0]))
    return rows
