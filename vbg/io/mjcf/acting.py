"""What acts in a machine of MuJoCo's: springs, damping, friction and rotors of joints, bodies
whose weight is taken off; and what is left out, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from vbg.io.mjcf.groups import Groups
from vbg.spatial import Array

Part = tuple[str, str, dict[str, Any]]  # table, name, fields


def _is_off(mj: Any, m: Any, what: str) -> bool:
    """Whether the file's <flag> disables it."""
    return bool(m.opt.disableflags & getattr(mj.mjtDisableBit, f"mjDSBL_{what}"))


def gravity_of(mj: Any, m: Any) -> Array:
    """(3,) [m/s^2], zero where it is disabled."""
    return np.zeros(3) if _is_off(mj, m, "GRAVITY") else np.array(m.opt.gravity)


def in_joints(
    mj: Any,
    m: Any,
    names: Mapping[int, str],
    joints: Mapping[str, dict[str, Any]],
    notes: list[str],
) -> Iterator[Part]:
    """Springs and rotors as parts; damping and friction of joints of one freedom go into
    `joints` themselves.  What they cannot say is told in `notes`."""
    for j, name in names.items():
        on = coordinate_of(names, joints, j)
        acting = _of_joint(mj, m, j)
        if m.jnt_limited[j]:
            low, high = (f"{x:.4g}" for x in m.jnt_range[j])
            notes.append(f"{name}: its range {low} to {high} was left out; write a stop.")
        if _is_curved(m, j):
            notes.append(f"{name}: what of its spring or damping is not linear was left out.")
        if on:
            yield from _on_one(acting, joints[name], name, on)
        elif any(acting[key] for key in ("k", "c", "dry", "rotor")):
            notes.append(f"{name}: spring, damping, friction or armature was left out.")


def coordinate_of(names: Mapping[int, str], joints: Mapping[str, dict[str, Any]], j: int) -> str:
    """What the model calls the joint's coordinate, "joints.NAME"; "" where that is one of several:
    nothing acts on one of them alone."""
    made = joints.get(names[j])
    return f"joints.{names[j]}" if made and made["kind"] in ("revolute", "prismatic") else ""


def _of_joint(mj: Any, m: Any, j: int) -> dict[str, float]:
    """Stiffness, damping, dry friction, rotor's inertia and the spring's rest of a joint."""
    v, q = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
    springs, dampers = (not _is_off(mj, m, what) for what in ("SPRING", "DAMPER"))
    dry = not (_is_off(mj, m, "FRICTIONLOSS") or _is_off(mj, m, "CONSTRAINT"))
    return {
        "k": float(m.jnt_stiffness[j]) * springs,
        "c": float(m.dof_damping[v]) * dampers,
        "dry": float(m.dof_frictionloss[v]) * dry,
        "rotor": float(m.dof_armature[v]),
        "rest": float(m.qpos_spring[q]),
    }


def _is_curved(m: Any, j: int) -> bool:
    """Whether the spring or the damping has more than its linear part (MuJoCo 3.5 and later)."""
    v = int(m.jnt_dofadr[j])
    curved = [
        getattr(m, "jnt_stiffnesspoly", {j: 0.0})[j],
        getattr(m, "dof_dampingpoly", {v: 0.0})[v],
    ]
    yields = getattr(m, "jnt_springyield", None)
    return any(map(np.any, curved)) or (yields is not None and bool(np.any(yields[j])))


def _on_one(
    acting: Mapping[str, float], made: dict[str, Any], name: str, on: str
) -> Iterator[Part]:
    """On a hinge or a slide."""
    turns = made["kind"] == "revolute"
    k, c, dry, rotor, rest = (acting[key] for key in ("k", "c", "dry", "rotor", "rest"))
    if c or dry:
        made["friction"] = {"viscous": c} | ({"coulomb": dry} if dry else {})
    if k and turns:
        yield "forces", f"{name}_spring", {"kind": "torsion_spring", "rest": rest, "on": on, "k": k}
    elif k:
        yield "forces", f"{name}_spring", {"kind": "spring", "on": on, "k": k, "length": rest}
    if rotor and turns:
        rotor_part = {"kind": "inertia", "nodes": [f"joint:{name}"], "J": rotor}
        yield "rotational", f"{name}_rotor", rotor_part
    elif rotor:
        rotor_part = {"kind": "mass", "nodes": [f"joint:{name}"], "m": rotor}
        yield "translational", f"{name}_rotor", rotor_part


def against_gravity(
    mj: Any, m: Any, d: Any, end: Callable[[int, Array], dict[str, Any]], groups: Groups
) -> Iterator[Part]:
    """-gravcomp m g at a body's mass centre, in the axes of the world.  Where springs and dampers
    are both disabled, MuJoCo leaves all passive forces out, these among them."""
    if _is_off(mj, m, "SPRING") and _is_off(mj, m, "DAMPER"):
        return
    for b in range(1, m.nbody):
        part, on = float(m.body_gravcomp[b]), end(b, d.xipos[b])
        force = -part * float(m.body_mass[b]) * gravity_of(mj, m)
        if force.any() and groups.holders[b]:
            name = f"{on['body']}_gravcomp" if groups.holders[b] == b else f"body{b}_gravcomp"
            given = {"force": [float(f) for f in force], "axes": "world"}
            yield "forces", name, {"kind": "force", "on": on, **given}


def left_out(mj: Any, m: Any) -> Iterator[str]:
    """What else of the file would act or be drawn."""
    touching = 0 if _is_off(mj, m, "CONTACT") else int(np.count_nonzero(m.geom_contype))
    counts = {
        "actuator": m.nu,
        "tendon": m.ntendon,
        "sensor": m.nsensor,
        "flexible body": getattr(m, "nflex", 0),
        "keyframe": m.nkey,
        "mocap body": m.nmocap,
        "plugin": getattr(m, "nplugin", 0),
        "geom that may touch others": touching,
    }
    many = {"flexible body": "flexible bodies", "mocap body": "mocap bodies"}
    many["geom that may touch others"] = "geoms that may touch others"
    left = [
        f"{n} {what if n == 1 else many.get(what, what + 's')}" for what, n in counts.items() if n
    ]
    if m.opt.density > 0.0 or m.opt.viscosity > 0.0:
        left.append("what the air or water around would exert (option density, viscosity)")
    if left:
        yield f"left out: {', '.join(left)}."
