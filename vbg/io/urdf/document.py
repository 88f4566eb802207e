"""A robot as the document of a model file.

The axes of every body are parallel to those of the base where all coordinates are zero, so
that a joint's `angle` and `slide` are the robot's own coordinates, whatever `initial` says.
The origin of a body is that of its link's frame; its points are the joints that it carries
and the links that are fixed on it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import ModelError
from vbg.io.urdf.lump import Group, groups_of, home_of, without_massless_ends
from vbg.io.urdf.meshes import Named, named_from, nothing
from vbg.io.urdf.robot import Array, Mass, Place, Robot, Solid, UrdfJoint, read_robot
from vbg.io.urdf.shared import (
    FLOOR,
    GRAIN,
    NOTHING,
    SHARE,
    TURNING,
    lacks,
    least_moment,
    with_shared_mass,
)
from vbg.model import Model
from vbg.model.text.files import text_of
from vbg.spatial import quaternion_from_matrix

LIGHT = 1e-8  # of the robot's mass: a link between two joints that has none
YIELD = 0.01  # how far a stop gives way under the drive's largest effort [rad, or m for 100 of it]


@dataclass(frozen=True, slots=True)
class Imported:
    """The document of a model file, what could not be said in it or was changed, and the
    robot's own name of every body and joint."""

    document: Mapping[str, Any]
    notes: tuple[str, ...]
    origins: Mapping[str, str]


def read(
    path: str | Path,
    *,
    free: bool = False,
    keep_fixed: bool = False,
    mimic: bool = True,
    loops: str | Path | None = None,
    output: str | Path | None = None,
) -> tuple[Model, tuple[str, ...]]:
    """The Model of a URDF file, and notes on what was left out or changed.

    The root link is the ground; with `free`, a body that floats.
    `keep_fixed`: links held by fixed joints stay bodies of their own, so that these joints'
    forces are signals.  `mimic`: coordinates that follow others are coupled by gears.
    `loops`: a TOML file of further parts of the machine, in the names of the model file, such as
    the joints that close its loops.  `output`: the model file to be written, below whose folder
    meshes are looked for; without it they are left out.
    Raises ModelError for what cannot be read, with the element's name.
    """
    text = text_of(str(path))
    meshes = nothing if output is None else named_from(Path(path), Path(output))
    made = to_document(
        text, str(path), free=free, keep_fixed=keep_fixed, mimic=mimic, meshes=meshes
    )
    document = made.document if loops is None else with_loops(made.document, loops)
    return Model.from_document(document, str(path if output is None else output)), made.notes


def with_loops(document: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    """The document with the parts of the TOML file `path`, which add to its tables.

    Raises ModelError for what is no TOML, and for a part whose name is taken.
    """
    try:
        further = tomllib.loads(text_of(str(path)))
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{path}: {error}") from None
    whole = dict(document)
    for table, parts in further.items():
        old = whole.get(table, {})
        if not (isinstance(parts, Mapping) and isinstance(old, Mapping)):
            raise ModelError(f"{path}: {table} is no table of parts, such as [joints.closing].")
        if taken := old.keys() & parts.keys():
            raise ModelError(f"{path}: {table}.{min(taken)} is a part of the robot already.")
        whole[table] = {**old, **parts}
    return whole


def to_document(
    text: str,
    where: str,
    *,
    free: bool = False,
    keep_fixed: bool = False,
    mimic: bool = True,
    meshes: Named = nothing,
) -> Imported:
    """The document from the text of a URDF file; see `read`."""
    robot = read_robot(text, where)
    groups, dropped = without_massless_ends(groups_of(robot, keep_fixed=keep_fixed))
    groups, given = with_shared_mass(groups, free=free)
    writer = _Writer(robot, groups, free, _names(robot, groups), list(robot.notes), given)
    writer.meshes = meshes
    if given:
        writer.notes.append(
            f"Without mass, or without a moment of inertia: {', '.join(given)}. Each was given "
            f"{SHARE:g} of a neighbour's mass on the axis of their joint, which leaves motion and "
            "drives as they are, and the bearings' forces to about that part, their moments to "
            f"{TURNING:g} of what the neighbour's own inertia asks for. Of several in a row one "
            "may be left with a negative moment."
        )
    if dropped:
        writer.notes.append(
            f"Without mass at the end of the tree, and left out: {', '.join(dropped)}."
        )
    bodies, joints = writer.bodies(), writer.joints()
    if mimic:
        joints = writer.coupled(joints)
    if not bodies:
        raise ModelError(
            f"{where}: no link but the ground has a mass; nothing could move. --base free lets the "
            "root link float."
            if writer.total
            else f"{where}: no link has a mass; there is nothing that could move."
        )
    document: dict[str, Any] = {
        "vbg": 1,
        "name": robot.name,
        "description": f"imported from {Path(where).name}",
        "bodies": bodies,
        "joints": joints,
    }
    if rotors := writer.rotors():
        document["rotational"] = rotors
    origins = {new: old for (_, old), new in writer.names.items()}
    return Imported(document, tuple(writer.notes), origins)


class _Writer:
    """What the tables of the document are made from; `notes` grow."""

    def __init__(
        self,
        robot: Robot,
        groups: dict[str, Group],
        free: bool,
        names: Mapping[tuple[str, str], str],
        notes: list[str],
        given: tuple[str, ...],
    ):
        self.robot, self.groups, self.free = robot, groups, free
        self.names, self.notes, self.given = names, notes, given
        self.meshes: Named = nothing
        self.home = home_of(groups)
        self.zero = _zero_posture(groups, self.home)
        self.total = sum(g.mass.mass for g in groups.values() if g.mass is not None)
        self.moving = {g.joint.name: g.joint for g in groups.values() if g.joint is not None}

    def is_ground(self, group: Group) -> bool:
        return group.joint is None and (not self.free or group.mass is None)

    # -- bodies ---------------------------------------------------------------------

    def bodies(self) -> dict[str, Any]:
        if not self.free and self.groups[self.robot.root].mass is not None:
            self.notes.append(f"{self.robot.root} is the ground; --base free lets it float.")
        return {
            self.names["link", group.name]: self.body(group)
            for group in self.groups.values()
            if not self.is_ground(group)
        }

    def body(self, group: Group) -> dict[str, Any]:
        R = self.zero[group.name].R
        mass = self.mass_of(group)
        J = R @ mass.J @ R.T
        body: dict[str, Any] = {
            "mass": mass.mass,
            "com": _rounded(R @ mass.centre),
            "inertia": dict(
                zip(
                    ("xx", "yy", "zz", "xy", "yz", "zx"),
                    (float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))),
                    strict=True,
                )
            ),
        }
        smallest, middle, largest = np.linalg.eigvalsh(J)
        if smallest <= 0.0 or largest > (smallest + middle) * (1.0 + 1e-6):
            body["allow_unphysical_inertia"] = True
            if group.name not in self.given:
                self.notes.append(
                    f"{group.name}: the principal moments {smallest:.4g}, {middle:.4g}, "
                    f"{largest:.4g} kg*m^2 are those of no body (triangle inequality); kept."
                )
        if group.joint is None or group.joint.kind in ("floating", "planar"):
            place = self.zero[group.name]
            body["position"] = _rounded(place.p + R @ mass.centre)
        body["points"] = {name: _rounded(R @ p) for name, p in self.points(group)}
        if shapes := [_shape(form, s, R, place) for form, s, place in self.solids(group)]:
            body["shape"] = shapes
        return body

    def points(self, group: Group) -> Iterator[tuple[str, Array]]:
        yield "origin", np.zeros(3)
        taken = {"origin"}
        for other in self.groups.values():
            joint = other.joint
            if joint is not None and joint.parent in group.members:
                name = _free(_plain(joint.name), taken)
                yield name, (group.members[joint.parent] @ joint.X_PJ).p
        for link, place in group.members.items():
            if link != group.name:
                yield _free(_plain(link), taken), place.p

    def solids(self, group: Group) -> Iterator[tuple[dict[str, Any], Solid, Place]]:
        """What a shape says of each visual, the visual, and where its link is."""
        left_out = 0
        for link, place in group.members.items():
            for solid in self.robot.links[link].solids:
                form = self.meshes(solid) if solid.kind == "mesh" else {solid.kind: solid.sizes}
                if form is not None:
                    yield form, solid, place
                left_out += form is None
        if left_out and self.meshes is not nothing:
            self.notes.append(
                f"{group.name}: {left_out} of its meshes were left out: only STL files below the "
                "folder of the model file are drawn, at a scale of 1, 0.01 or 0.001."
            )

    def mass_of(self, group: Group) -> Mass:
        """Its mass properties, made those of a body where neighbours could not help."""
        mass = group.mass
        if mass is None or mass.mass <= 0.0:
            light, radius = LIGHT * self.total, 0.1
            self.notes.append(
                f"{group.name} has no mass between two joints: it was given {light:.3g} kg within "
                f"{radius:g} m. The motion is off by about that part of the robot's mass."
            )
            J = light * radius**2 * np.eye(3)
            return Mass(light, np.zeros(3), J if mass is None else J + mass.J)
        if not lacks(mass, NOTHING):
            return mass
        moments, axes = np.linalg.eigh(mass.J)
        least = max(FLOOR * float(moments[-1]), GRAIN * mass.mass)
        raised = np.maximum(moments, max(least, least_moment(self.groups, group.name)))
        self.notes.append(
            f"{group.name}: principal moments {_listed(moments)} kg*m^2 are less than those of a "
            f"grain of its mass; raised to {_listed(raised)}."
        )
        return Mass(mass.mass, mass.centre, axes @ np.diag(raised) @ axes.T)

    # -- joints ---------------------------------------------------------------------

    def joints(self) -> dict[str, Any]:
        found = {}
        for group in self.groups.values():
            joint = group.joint
            if joint is not None and joint.kind != "floating":
                found[self.names["joint", joint.name]] = self.joint(joint, group)
        return found

    def joint(self, joint: UrdfJoint, group: Group) -> dict[str, Any]:
        parent = self.groups[self.home[joint.parent]]
        kind = "revolute" if joint.kind == "continuous" else joint.kind
        made: dict[str, Any] = {"kind": kind, "between": [self.end(parent, joint), self.own(group)]}
        if kind == "fixed":
            return made
        made["axis"] = _rounded(self.zero[group.name].R @ joint.axis)
        if kind == "planar":
            return made
        coordinate = "slide" if kind == "prismatic" else "angle"
        if start := self.start(joint):
            made["initial"] = {coordinate: start}
        if joint.damping > 0.0 or joint.friction > 0.0:
            friction = {"viscous": joint.damping, "coulomb": joint.friction}
            made["friction"] = {key: value for key, value in friction.items() if value > 0.0}
        if joint.limits is not None and joint.limits[0] < joint.limits[1]:
            k = max(joint.effort, 1.0) / YIELD * (100.0 if kind == "prismatic" else 1.0)
            made["stop"] = {"lower": joint.limits[0], "upper": joint.limits[1], "k": k}
        return made

    def end(self, parent: Group, joint: UrdfJoint) -> Any:
        """Where the joint sits on its parent."""
        if self.is_ground(parent):
            return {"body": "ground", "at": _rounded((parent.members[joint.parent] @ joint.X_PJ).p)}
        taken = {"origin"}
        for other in self.groups.values():
            if other.joint is not None and other.joint.parent in parent.members:
                point = _free(_plain(other.joint.name), taken)
                if other.joint is joint:
                    return f"{self.names['link', parent.name]}.{point}"
        raise AssertionError(joint.name)

    def own(self, group: Group) -> str:
        return f"{self.names['link', group.name]}.origin"

    def start(self, joint: UrdfJoint) -> float:
        """Zero, or the middle of its limits where zero is outside them; of a coordinate that
        follows another, what it follows to."""
        factor, shift = 1.0, 0.0
        while joint.mimic is not None:
            leader, ratio, offset = joint.mimic
            factor, shift = factor * ratio, shift + factor * offset
            if self.is_held(joint):
                return shift
            joint = self.moving[leader]
        return factor * _middle(joint) + shift

    def is_held(self, joint: UrdfJoint) -> bool:
        """Whether it follows what does not move, or no part of what does."""
        return joint.mimic is not None and (
            joint.mimic[0] not in self.moving or joint.mimic[1] == 0.0
        )

    def coupled(self, joints: dict[str, Any]) -> dict[str, Any]:
        """The joints, with gears where one follows another; what follows nothing that moves, or
        no part of it, is driven to stay at its offset."""
        found = dict(joints)
        for joint in self.moving.values():
            if joint.mimic is None:
                continue
            leader, ratio, offset = joint.mimic
            name = self.names["joint", joint.name]
            if self.is_held(joint):
                self.notes.append(
                    f"{joint.name} follows {leader!r} by nothing that moves: held at {offset:g}."
                )
                coordinate = "slide" if joint.kind == "prismatic" else "angle"
                free = {key: joints[name][key] for key in ("kind", "between", "axis")}
                found[name] = free | {"initial": {coordinate: offset}, "drive": offset}
                continue
            ends = [f"joints.{self.names['joint', name]}" for name in (leader, joint.name)]
            found[f"{name}_follows"] = {"kind": "gear", "between": ends, "ratio": ratio}
        return found

    def rotors(self) -> dict[str, Any]:
        """Rotors of motors behind their gears, on the joints that turn."""
        found: dict[str, Any] = {}
        for motor in self.robot.transmissions:
            joint = self.moving.get(motor.joint)
            if joint is None or joint.kind not in ("revolute", "continuous"):
                self.notes.append(f"{motor.joint} does not turn: its rotor was left out.")
                continue
            name = self.names["joint", joint.name]
            node = f"{name}_motor"
            found[f"{name}_rotor"] = {"kind": "inertia", "nodes": [node], "J": motor.rotor}
            found[f"{name}_reduction"] = {
                "kind": "gear",
                "nodes": [node, f"joint:{name}"],
                "ratio": 1.0 / motor.reduction,
            }
        return found


def _middle(joint: UrdfJoint) -> float:
    if joint.limits is None or joint.limits[0] <= 0.0 <= joint.limits[1]:
        return 0.0
    return 0.5 * (joint.limits[0] + joint.limits[1])


def _zero_posture(groups: dict[str, Group], home: Mapping[str, str]) -> dict[str, Place]:
    """Places of the groups' first links in the base's frame, all coordinates zero."""
    found: dict[str, Place] = {}
    for group in groups.values():
        if group.joint is None:
            found[group.name] = Place()
            continue
        parent = groups[home[group.joint.parent]]
        on_parent = parent.members[group.joint.parent] @ group.joint.X_PJ
        found[group.name] = found[parent.name] @ on_parent
    return found


def _names(robot: Robot, groups: dict[str, Group]) -> dict[tuple[str, str], str]:
    """("link" or "joint", its name) -> a name of its own in the model file."""
    taken = {"ground", "world", "energy", "t"}
    named = {("link", group.name): _free(_plain(group.name), taken) for group in groups.values()}
    for group in groups.values():
        if group.joint is not None:
            plain = _plain(group.joint.name)
            plain = f"{plain}_joint" if plain in taken else plain
            named["joint", group.joint.name] = _free(plain, taken)
    return named


def _plain(name: str) -> str:
    """`name` with what a model file's names cannot have replaced."""
    plain = re.sub(r"[^\w-]", "_", name)
    return plain if re.match(r"[^\W\d]", plain) else f"x{plain}"


def _free(name: str, taken: set[str]) -> str:
    """`name`, or with a number behind it; added to `taken`."""
    found, count = name, 2
    while found in taken:
        found, count = f"{name}_{count}", count + 1
    taken.add(found)
    return found


def _shape(form: dict[str, Any], solid: Solid, R: Array, place: Place) -> dict[str, Any]:
    at = place @ solid.place
    turned = R @ at.R
    return {
        **form,
        "position": _rounded(R @ at.p),
        "rotation": {"quaternion": [float(x) for x in quaternion_from_matrix(turned)]},
    }


def _rounded(vector: Array) -> list[float]:
    """Plain numbers; what is rounding beside the largest of them is zero."""
    least = 1e-15 * max(1.0, float(np.abs(vector).max()))
    return [0.0 if abs(x) < least else float(x) for x in vector]


def _listed(values: Array) -> str:
    return ", ".join(f"{x:.3g}" for x in values)
