"""Machines from MuJoCo's files (MJCF, https://mujoco.readthedocs.io/en/stable/XMLreference.html).

MuJoCo itself reads the file (extra `engines`): defaults, includes, orientations and inertias from
geoms are its own.  Taken over are bodies, joints with damping, friction, springs and armature,
points held together, simple geoms as drawings; everything else is told by name.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.io.mjcf import compiling
from vbg.io.mjcf.acting import against_gravity, coordinate_of, gravity_of, in_joints, left_out
from vbg.io.mjcf.equalities import equalities
from vbg.io.mjcf.files import require_own_files
from vbg.io.mjcf.groups import Groups, groups_of
from vbg.model import Model
from vbg.platform.processes import run_within
from vbg.spatial import Array, quaternion_from_matrix

HINGE, SLIDE, BALL, FREE = "hinge", "slide", "ball", "free"
SECONDS, MEMORY = 20.0, 1_000_000_000  # that MuJoCo may take to read a file
SMALL = 1e-9  # cosine of axes that are perpendicular, or part of a length in which points meet


def read(path: str | Path) -> tuple[Model, tuple[str, ...]]:
    """The model, and notes on what was left out.

    Raises UsageError where MuJoCo is not installed or refuses the file, and for bodies whose
    joints have no counterpart."""
    try:
        import mujoco
    except ImportError:
        raise UsageError(f"{path}: MuJoCo reads this file: pip install 'vbg[engines]'.") from None
    require_own_files(str(path), str(path), set())
    compiled, warnings = _compiled(mujoco, str(path))
    _require_finite(str(path), compiled)
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    writer = _Writer(mujoco, compiled, data, groups_of(compiled, data))
    document = writer.document()
    return Model(**document), (*warnings, *writer.notes)


def _compiled(mujoco: Any, path: str) -> tuple[Any, list[str]]:
    """MuJoCo's model of the file, and its warnings."""
    with tempfile.TemporaryDirectory(prefix="vbg-mjcf-") as folder:
        made = os.path.join(folder, "model.mjb")
        words = [sys.executable, "-P", compiling.__file__, path, made]
        told, why = run_within(words, seconds=SECONDS, memory=MEMORY)
        if why:
            raise UsageError(f"{path}: MuJoCo cannot read it: {why}.")
        answer = json.loads(told)
        if answer["refused"]:
            raise UsageError(f"{path}: MuJoCo refuses it: {answer['refused']}")
        warnings = [f"MuJoCo: {text.strip()}" for text in answer["warnings"]]
        return mujoco.MjModel.from_binary_path(made), warnings


NUMBERS = {
    "body": ("pos", "quat", "ipos", "iquat", "mass", "inertia", "gravcomp"),
    "jnt": ("pos", "axis", "stiffness", "range"),
    "dof": ("damping", "frictionloss", "armature"),
    "geom": ("pos", "quat", "size"),
    "eq": ("data",),
}


def _require_finite(path: str, compiled: Any) -> None:
    """MuJoCo reads "inf" and "nan" as numbers."""
    alone = {
        "gravity of <option>": compiled.opt.gravity,
        "posture (`ref` of joints)": compiled.qpos0,
        "rest of springs (`springref`)": compiled.qpos_spring,
    }
    for name, values in alone.items():
        if not np.isfinite(values).all():
            raise UsageError(f"{path}: the {name} is no finite number: {values}.")
    for table, columns in NUMBERS.items():
        for column in columns:
            rows = getattr(compiled, f"{table}_{column}")
            for number, row in enumerate(rows):
                if not np.isfinite(row).all():
                    raise UsageError(
                        f"{path}: the {column} of {table} {number} is no finite number: {row}."
                    )


@dataclass
class _Writer:
    """The document while it is written; W axes are those of MuJoCo's world in the posture qpos0."""

    mj: Any
    m: Any
    d: Any
    groups: Groups
    names: dict[tuple[str, int], str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: {"ground", "energy", "t", "world"})
    notes: list[str] = field(default_factory=list)

    def name(self, kind: str, number: int) -> str:
        """A name of the model file for a body, joint or equality."""
        if (kind, number) not in self.names:
            own = getattr(self.m, kind)(number).name or f"{kind}{number}"
            plain = re.sub(r"[^\w-]", "_", own)
            plain = plain if re.match(r"[^\W\d]", plain) else f"{kind}_{plain}"
            self.names[kind, number] = self.free(plain)
        return self.names[kind, number]

    def free(self, name: str) -> str:
        """`name`, or with a number behind it; it is taken from now on."""
        found, count = name, 2
        while found in self.taken:
            found, count = f"{name}_{count}", count + 1
        self.taken.add(found)
        return found

    def document(self) -> dict[str, Any]:
        bodies = {self.name("body", b): self.body(b) for b in self.groups.solids}
        if self.groups.lumped:
            listed = ", ".join(self.m.body(b).name or f"body {b}" for b in self.groups.lumped)
            self.notes.append(f"without a moment of inertia, part of what carries it: {listed}.")
        joints: dict[str, Any] = {}
        for b in self.groups.solids:
            joints |= dict(self.joints(b))
        named = {j: self.name("joint", j) for j in range(self.m.njnt)}

        def coordinate(j: int) -> str:
            return coordinate_of(named, joints, j)

        held = equalities(self.mj, self.m, self.d, self.end, coordinate, self.notes)
        for number, joint in [*held]:
            joints[self.name("equality", number)] = joint
        document: dict[str, Any] = {
            "name": Path(self.m.names[: self.m.names.index(0)].decode() or "machine").name,
            "gravity": [float(g) for g in gravity_of(self.mj, self.m)],
            "bodies": bodies,
            "joints": joints,
        }
        parts = [
            *in_joints(self.mj, self.m, named, joints, self.notes),
            *against_gravity(self.mj, self.m, self.d, self.end, self.groups),
        ]
        for table, name, part in parts:
            document.setdefault(table, {})[self.free(name)] = part
        self.notes += left_out(self.mj, self.m)
        return document

    def body(self, b: int) -> dict[str, Any]:
        solid, R = self.groups.solids[b], self.R(b)
        J = R.T @ solid.J @ R
        places = {
            "xx": (0, 0),
            "yy": (1, 1),
            "zz": (2, 2),
            "xy": (0, 1),
            "yz": (1, 2),
            "zx": (2, 0),
        }
        found = {
            "mass": solid.mass,
            "inertia": {key: float(J[at]) for key, at in places.items()},
            "position": _plain(solid.centre),
            "rotation": {"quaternion": _plain(quaternion_from_matrix(R))},
            "points": {"origin": _plain(R.T @ (self.d.xpos[b] - solid.centre))},
        }
        shapes = [
            s
            for other, holder in self.groups.holders.items()
            if holder == b and other
            for s in self.shapes(other, b)
        ]
        return found | ({"shape": shapes} if shapes else {})

    def R(self, b: int) -> Array:
        found: Array = self.d.xmat[b].reshape(3, 3)
        return found

    def shapes(self, own: int, b: int) -> Iterator[dict[str, Any]]:
        """The geoms of the body `own` as shapes of b, which it moves with."""
        m, R, centre = self.m, self.R(b), self.groups.solids[b].centre
        undrawn = set()
        for g in range(m.body_geomadr[own], m.body_geomadr[own] + m.body_geomnum[own]):
            a, c, e = (float(s) for s in m.geom_size[g])
            kind = self.mj.mjtGeom(m.geom_type[g]).name.removeprefix("mjGEOM_").lower()
            forms = {
                "box": {"x": 2 * a, "y": 2 * c, "z": 2 * e},
                "sphere": {"radius": a},
                "cylinder": {"radius": a, "length": 2 * c},
                "capsule": {"radius": a, "length": 2 * (a + c)},
            }
            if kind not in forms:
                undrawn.add(kind)
                continue
            turned = R.T @ self.d.geom_xmat[g].reshape(3, 3)
            yield {
                ("cylinder" if kind == "capsule" else kind): forms[kind],
                "position": _plain(R.T @ (self.d.geom_xpos[g] - centre)),
                "rotation": {"quaternion": _plain(quaternion_from_matrix(turned))},
            }
        self.notes += [
            f"{self.name('body', b)}: no drawing of its {kind}." for kind in sorted(undrawn)
        ]

    # -- joints -----------------------------------------------------------------------

    def end(self, b: int, at_W: Array) -> dict[str, Any]:
        """The point at_W as an attachment on what the body b moves with."""
        b = self.groups.holders[b]
        if not b:
            return {"body": "ground", "at": _plain(at_W)}
        at = self.R(b).T @ (at_W - self.groups.solids[b].centre)
        return {"body": self.name("body", b), "at": _plain(at)}

    def kind(self, j: int) -> str:
        return str(self.mj.mjtJoint(self.m.jnt_type[j]).name.removeprefix("mjJNT_").lower())

    def joints(self, b: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """What holds the body b: the joints of its group, or the weld within it."""
        m, d = self.m, self.d
        top = int(m.body_weldid[b])
        if b != self.groups.first[top]:
            parent = self.groups.holders[int(m.body_parentid[b])]
            ends = [self.end(parent, d.xpos[b]), self.end(b, d.xpos[b])]
            yield self.free(f"{self.name('body', b)}_weld"), {"kind": "fixed", "between": ends}
            return
        own = list(range(m.body_jntadr[top], m.body_jntadr[top] + m.body_jntnum[top]))
        kinds = tuple(map(self.kind, own))
        if kinds == (FREE,):
            return
        parent = self.groups.holders[int(m.body_parentid[top])]
        name, anchor, axis = self.name("joint", own[0]), d.xanchor[own[0]], d.xaxis[own[0]]
        starts = [float(m.qpos0[m.jnt_qposadr[j]]) for j in own]
        along = _plain(self.R(parent).T @ axis)
        made: dict[str, Any] = {}
        if kinds == (HINGE,):
            made = {"kind": "revolute", "axis": along, "initial": {"angle": starts[0]}}
        elif kinds == (SLIDE,):
            made = {"kind": "prismatic", "axis": along, "initial": {"slide": starts[0]}}
        elif kinds == (BALL,):
            made = {"kind": "spherical"}
        elif self.is_cardan(own, kinds):
            second = self.R(b).T @ d.xaxis[own[1]]
            made = {"kind": "universal", "axis": along, "axis2": _plain(second)}
        else:
            raise UsageError(
                f"{self.name('body', top)} has the joints {', '.join(kinds)}: known are one hinge, "
                "slide, ball or free joint, and two hinges whose axes meet at a right angle. Put a "
                "body between them."
            )
        # a slide counts from one end to the other, which are apart by the `ref` of this posture
        seat = anchor - starts[0] * axis if kinds == (SLIDE,) else anchor
        yield name, {"between": [self.end(parent, seat), self.end(b, anchor)], **made}

    def is_cardan(self, own: list[int], kinds: tuple[str, ...]) -> bool:
        if kinds != (HINGE, HINGE) or any(self.m.qpos0[self.m.jnt_qposadr[j]] for j in own):
            return False
        first, second = (self.d.xanchor[j] for j in own)
        across = abs(float(self.d.xaxis[own[0]] @ self.d.xaxis[own[1]]))
        return across < SMALL and bool(np.linalg.norm(first - second) < SMALL)


def _plain(values: Any) -> list[float]:
    """Numbers of a file; what is rounding beside the largest of them is zero."""
    least = 1e-15 * max(1.0, float(np.abs(values).max()))
    return [0.0 if abs(x) < least else float(x) for x in values]
