"""Machines from MuJoCo's files (MJCF, https://mujoco.readthedocs.io/en/stable/XMLreference.html).

MuJoCo itself reads the file (extra `engines`): defaults, includes, orientations and inertias from
geoms are its own.  Taken over are bodies, joints with damping, friction, springs and armature,
points held together, simple geoms as drawings; everything else is told by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.io.trust import require_file
from vbg.model import Model
from vbg.model.text.allowed import ALLOWED, refusal
from vbg.spatial import Array, quaternion_from_matrix, rotation_matrix

HINGE, SLIDE, BALL, FREE = "hinge", "slide", "ball", "free"
FOLDERS = ("meshdir", "texturedir", "assetdir")
SMALL = 1e-9  # cosine of axes that are perpendicular, or part of a length in which points meet


def is_mjcf(path: str | Path) -> bool:
    """Whether an XML file begins as one of MuJoCo's."""
    with open(path, "rb") as file:
        return re.search(rb"<mujoco[\s>/]", file.read(4096)) is not None


def read(path: str | Path) -> tuple[Model, tuple[str, ...]]:
    """The model, and notes on what was left out.

    Raises UsageError where MuJoCo is not installed or refuses the file, and for bodies whose
    joints have no counterpart."""
    try:
        import mujoco
    except ImportError:
        raise UsageError(f"{path}: MuJoCo reads this file: pip install 'vbg[engines]'.") from None
    _require_own_files(str(path), str(path), set())
    try:
        compiled = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise UsageError(f"{path}: MuJoCo refuses it: {str(error).strip()}") from None
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    writer = _Writer(mujoco, compiled, data)
    return Model(**writer.document()), tuple(writer.notes)


def _require_own_files(path: str, root: str, seen: set[str]) -> None:
    """MuJoCo reads whatever a file names: that must lie below the folder of the one which is
    opened (`vbg.model.text.allowed`), and there are no document types.

    Raises UsageError for what does not.  (Files that include each other MuJoCo refuses.)
    """
    import defusedxml.ElementTree as safe
    from defusedxml.common import DefusedXmlException

    if os.path.realpath(path) in seen:
        return
    seen.add(os.path.realpath(path))
    require_file(path, growth=20.0)
    try:
        elements = list(safe.parse(path, forbid_dtd=True).iter())
    except DefusedXmlException:
        raise UsageError(f"{path}: document types and entities are not read.") from None
    except (safe.ParseError, OSError) as error:
        raise UsageError(f"{path}: no XML: {error}.") from None
    # MuJoCo looks from the folder of the first file; what lies beside this one is held to it, too
    here = {os.path.dirname(path), os.path.dirname(root)}
    folders = {one.get(key) or "" for one in elements for key in FOLDERS} | {""}
    for one in elements:
        named = one.get("file")
        for folder in () if named is None else folders:
            files = {os.path.join(base, folder, named) for base in here}
            for file in filter(os.path.exists, files):
                if why := refusal(named, file, root):
                    raise UsageError(f"{path}: {why} Put it there, or allow its folder: {ALLOWED}.")
                if one.tag == "include":
                    _require_own_files(file, root, seen)


@dataclass
class _Writer:
    """The document while it is written; W axes are those of MuJoCo's world in the posture qpos0."""

    mj: Any
    m: Any
    d: Any
    names: dict[tuple[str, int], str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: {"ground", "energy", "t", "world"})
    notes: list[str] = field(default_factory=list)

    def name(self, kind: str, number: int) -> str:
        """A name of the model file for a body, joint or equality."""
        if (kind, number) not in self.names:
            own = getattr(self.m, kind)(number).name or f"{kind}{number}"
            plain = re.sub(r"[^\w-]", "_", own)
            plain = plain if re.match(r"[^\W\d]", plain) else f"{kind}_{plain}"
            found, count = plain, 2
            while found in self.taken:
                found, count = f"{plain}_{count}", count + 1
            self.taken.add(found)
            self.names[kind, number] = found
        return self.names[kind, number]

    def document(self) -> dict[str, Any]:
        heavy = [b for b in range(1, self.m.nbody) if self.m.body_mass[b] > 0.0]
        bodies = {self.name("body", b): self.body(b) for b in heavy}
        joints: dict[str, Any] = {}
        for b in range(1, self.m.nbody):
            joints |= dict(self.joints(b))
        joints |= dict(self.equalities())
        parts = [part for j in range(self.m.njnt) for part in self.parts(j, joints)]
        document: dict[str, Any] = {
            "name": Path(self.m.names[: self.m.names.index(0)].decode() or "machine").name,
            "gravity": [float(g) for g in self.m.opt.gravity],
            "bodies": bodies,
            "joints": joints,
        }
        for table, name, part in parts:
            document.setdefault(table, {})[name] = part
        self.tell_rest()
        return document

    def body(self, b: int) -> dict[str, Any]:
        m, R_BI = self.m, rotation_matrix(self.m.body_iquat[b])
        J = R_BI @ np.diag(m.body_inertia[b]) @ R_BI.T
        places = {
            "xx": (0, 0),
            "yy": (1, 1),
            "zz": (2, 2),
            "xy": (0, 1),
            "yz": (1, 2),
            "zx": (2, 0),
        }
        found = {
            "mass": float(m.body_mass[b]),
            "inertia": {key: float(J[at]) for key, at in places.items()},
            "position": _plain(self.d.xipos[b]),
            "rotation": {"quaternion": _plain(quaternion_from_matrix(self.R(b)))},
            "points": {"origin": _plain(-m.body_ipos[b])},
        }
        shapes = list(self.shapes(b))
        return found | ({"shape": shapes} if shapes else {})

    def R(self, b: int) -> Array:
        found: Array = self.d.xmat[b].reshape(3, 3)
        return found

    def shapes(self, b: int) -> Iterator[dict[str, Any]]:
        m = self.m
        for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]):
            a, c, e = (float(s) for s in m.geom_size[g])
            kind = self.mj.mjtGeom(m.geom_type[g]).name.removeprefix("mjGEOM_").lower()
            forms = {
                "box": {"x": 2 * a, "y": 2 * c, "z": 2 * e},
                "sphere": {"radius": a},
                "cylinder": {"radius": a, "length": 2 * c},
                "capsule": {"radius": a, "length": 2 * (a + c)},
            }
            if kind not in forms:
                self.notes.append(f"{self.name('body', b)}: a {kind} is not drawn.")
                continue
            yield {
                ("cylinder" if kind == "capsule" else kind): forms[kind],
                "position": _plain(m.geom_pos[g] - m.body_ipos[b]),
                "rotation": {"quaternion": _plain(m.geom_quat[g])},
            }

    # -- joints -----------------------------------------------------------------------

    def carrier(self, b: int) -> int:
        """The body that b sits on: the nearest one with a mass; 0 is the ground.  A body without
        one moves with it: MuJoCo refuses others."""
        parent = int(self.m.body_parentid[b])
        while parent and not self.m.body_mass[parent] > 0.0:
            parent = int(self.m.body_parentid[parent])
        return parent

    def end(self, b: int, at_W: Array) -> dict[str, Any]:
        """The point at_W as an attachment."""
        if not b:
            return {"body": "ground", "at": _plain(at_W)}
        at = self.R(b).T @ (at_W - self.d.xipos[b])
        return {"body": self.name("body", b), "at": _plain(at)}

    def kind(self, j: int) -> str:
        return str(self.mj.mjtJoint(self.m.jnt_type[j]).name.removeprefix("mjJNT_").lower())

    def joints(self, b: int) -> Iterator[tuple[str, dict[str, Any]]]:
        m, d = self.m, self.d
        if not m.body_mass[b] > 0.0:
            return
        own = list(range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]))
        kinds = tuple(map(self.kind, own))
        parent = self.carrier(b)
        if kinds == (FREE,):
            return
        if not own:
            ends = [self.end(parent, d.xpos[b]), self.end(b, d.xpos[b])]
            yield f"{self.name('body', b)}_weld", {"kind": "fixed", "between": ends}
            return
        name, anchor, axis = self.name("joint", own[0]), d.xanchor[own[0]], d.xaxis[own[0]]
        made: dict[str, Any] = {"between": [self.end(parent, anchor), self.end(b, anchor)]}
        starts = [float(m.qpos0[m.jnt_qposadr[j]]) for j in own]
        along = _plain(self.R(parent).T @ axis)
        if kinds == (HINGE,):
            made |= {"kind": "revolute", "axis": along, "initial": {"angle": starts[0]}}
        elif kinds == (SLIDE,):
            made |= {"kind": "prismatic", "axis": along, "initial": {"slide": starts[0]}}
        elif kinds == (BALL,):
            made |= {"kind": "spherical"}
        elif self.is_cardan(own, kinds):
            second = self.R(b).T @ d.xaxis[own[1]]
            initial = {"angle": starts[0], "angle2": starts[1]}
            made |= {"kind": "universal", "axis": along, "axis2": _plain(second)}
            made |= {"initial": initial}
        else:
            raise UsageError(
                f"{self.name('body', b)} has the joints {', '.join(kinds)}: known are one hinge, "
                "slide, ball or free joint, and two hinges whose axes meet at a right angle. Put a "
                "body between them."
            )
        yield name, made

    def is_cardan(self, own: list[int], kinds: tuple[str, ...]) -> bool:
        if kinds != (HINGE, HINGE) or any(self.m.qpos0[self.m.jnt_qposadr[j]] for j in own):
            return False
        first, second = (self.d.xanchor[j] for j in own)
        across = abs(float(self.d.xaxis[own[0]] @ self.d.xaxis[own[1]]))
        return across < SMALL and bool(np.linalg.norm(first - second) < SMALL)

    def equalities(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Points that are held together; others are told."""
        m, connect = self.m, self.mj.mjtEq.mjEQ_CONNECT
        for e in range(m.neq):
            kind = self.mj.mjtEq(m.eq_type[e]).name.removeprefix("mjEQ_").lower()
            onto_bodies = m.eq_objtype[e] == self.mj.mjtObj.mjOBJ_BODY
            if m.eq_type[e] != connect or not onto_bodies or not m.eq_active0[e]:
                self.notes.append(f"the equality {kind} {m.equality(e).name} was left out.")
                continue
            ends = []
            for b, at in ((int(m.eq_obj1id[e]), 0), (int(m.eq_obj2id[e]), 3)):
                anchor = self.d.xpos[b] + self.R(b) @ m.eq_data[e, at : at + 3]
                if b and not m.body_mass[b] > 0.0:
                    b = self.carrier(b)
                ends.append(self.end(b, anchor))
            yield self.name("equality", e), {"kind": "spherical", "between": ends}

    # -- what acts in joints ----------------------------------------------------------

    def parts(self, j: int, joints: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Springs and rotors as parts; damping and friction into the joint itself."""
        m, v, q = self.m, int(self.m.jnt_dofadr[j]), int(self.m.jnt_qposadr[j])
        kind, name = self.kind(j), self.name("joint", j)
        k, c, dry, rotor = (
            float(x)
            for x in (
                m.jnt_stiffness[j],
                m.dof_damping[v],
                m.dof_frictionloss[v],
                m.dof_armature[v],
            )
        )
        if m.jnt_limited[j]:
            low, high = (f"{x:.4g}" for x in m.jnt_range[j])
            self.notes.append(f"{name}: its range {low} to {high} was left out; write a stop.")
        made = joints.get(name)
        single = made is not None and made["kind"] in ("revolute", "prismatic")
        if not single or made is None:
            if any((k, c, dry, rotor)):
                self.notes.append(f"{name}: spring, damping, friction or armature was left out.")
            return
        if c or dry:
            made["friction"] = {"viscous": c} | ({"coulomb": dry} if dry else {})
        if k and kind == HINGE:
            rest = float(m.qpos_spring[q])
            on = {"on": f"joints.{name}", "k": k}
            yield "forces", f"{name}_spring", {"kind": "torsion_spring", "rest": rest, **on}
        elif k:
            on = {"on": f"joints.{name}", "k": k, "length": float(m.qpos_spring[q])}
            yield "forces", f"{name}_spring", {"kind": "spring", **on}
        if rotor and kind == HINGE:
            rotor_part = {"kind": "inertia", "nodes": [f"joint:{name}"], "J": rotor}
            yield "rotational", f"{name}_rotor", rotor_part
        elif rotor:
            rotor_part = {"kind": "mass", "nodes": [f"joint:{name}"], "m": rotor}
            yield "translational", f"{name}_rotor", rotor_part

    def tell_rest(self) -> None:
        counts = {
            "actuator": self.m.nu,
            "tendon": self.m.ntendon,
            "sensor": self.m.nsensor,
            "flexible body": getattr(self.m, "nflex", 0),
            "keyframe": self.m.nkey,
            "geom that may touch another": int(np.count_nonzero(self.m.geom_contype)),
        }
        left = [f"{n} {what}{'' if n == 1 else 's'}" for what, n in counts.items() if n]
        if left:
            self.notes.append(f"left out: {', '.join(left)}.")


def _plain(values: Any) -> list[float]:
    """Numbers of a file; what is rounding beside the largest of them is zero."""
    least = 1e-15 * max(1.0, float(np.abs(values).max()))
    return [0.0 if abs(x) < least else float(x) for x in values]
