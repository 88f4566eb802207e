"""A Model as a linkage: its joints as pairs of Table 3, its written posture as geometry."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbg.model import JointFrame, Model, place
from vbg.structure.topology.linkage import Coupling, Linkage, PairFrame
from vbg.structure.topology.pairs import BY_CODE, COUPLING, SPATIAL
from vbg.structure.topology.topology import Pair, Topology

CODES = {
    "fixed": "W",
    "revolute": "R",
    "prismatic": "P",
    "helical": "H",
    "cylindrical": "C",
    "universal": "U",
    "spherical": "S",
    "planar": "PL",
    "point_on_line": "SC",
    "point_on_plane": "SP",
    "guide": "F",
    "distance": "SPSP",
    "rolling": "RP",
}
ROLLING_GRADE = 3  # of speeds: two slips and the touch are held


def linkage_of(model: Model) -> Linkage:
    """Bodies, joints, couplings and drives of `model` at its written posture.

    A disc that rolls is taken where it touches, with the three rows that hold
    its speeds; a gear, belt or rack is one equation between the bodies of the
    two joints it couples.
    """
    bodies = ("ground", *model.bodies)
    index = {name: i for i, name in enumerate(bodies)}
    placed = place(model)
    poses, frames = placed.poses, placed.frames
    p_WB = np.array([np.zeros(3), *(poses[name].p_WB for name in model.bodies)])
    R_WB = np.array([np.eye(3), *(poses[name].R_WB for name in model.bodies)])
    numbers = {name: i for i, name in enumerate(frames)}
    pairs: list[Pair] = []
    made: list[PairFrame] = []
    drives: list[tuple[str, ...]] = []
    for name, frame in frames.items():
        part = model.joints[name]
        code = CODES[part.kind]
        driven = _drives(part, code)
        grade = ROLLING_GRADE if code == "RP" else BY_CODE[code].grade
        ends = (index[frame.first], index[frame.second])
        pairs.append(Pair(name, ends, code, grade, len(driven)))
        made.append(_frame(part, frame, ends, p_WB, R_WB))
        drives.append(driven)
    for name, part in model.bodies.items():
        if part.kind == "flexible_point":  # held but for what bends, which closes no loop less
            pairs.append(Pair(name, (index[part.on.body], index[name]), "W", BY_CODE["W"].grade, 0))
            made.append(PairFrame(np.asarray(part.place), np.eye(3), np.zeros(3), np.eye(3)))
            drives.append(())
    couplings = []
    for name in [name for name in model.joints if name not in frames]:
        coupling = _coupling(model.joints[name], len(pairs), numbers)
        coupled = (pairs[coupling.first[0]], pairs[coupling.second[0]])
        joined = sorted({body for pair in coupled for body in pair.ends})
        pairs.append(Pair(name, tuple(joined), COUPLING.code, SPATIAL - 1))
        made.append(PairFrame(np.zeros(3), np.eye(3), np.zeros(3), np.eye(3)))
        drives.append(())
        couplings.append(coupling)
    topology = Topology(SPATIAL, bodies, tuple(pairs))
    return Linkage(
        topology, tuple(made), tuple(drives), p_WB, R_WB, tuple(couplings), bilateral=True
    )


def _drives(part: Any, code: str) -> tuple[str, ...]:
    if getattr(part, "drive", None) is None:
        return ()
    return {"P": ("slide",), "F": ("z",)}.get(code, ("angle",))


def _frame(
    part: Any, frame: JointFrame, ends: tuple[int, int], p_WB: np.ndarray, R_WB: np.ndarray
) -> PairFrame:
    lead = float(getattr(part, "lead", 0.0) or 0.0)
    length = float(getattr(part, "length", None) or 0.0)
    if part.kind == "distance" and not length:
        length = _written(frame, ends, p_WB, R_WB)
    if part.kind != "rolling":
        return PairFrame(
            frame.p_AF_A, frame.R_AF, frame.p_BM_B, frame.R_BM, lead=lead, length=length
        )
    A, B = ends
    normal, axis = R_WB[A] @ frame.R_AF[:, 2], R_WB[B] @ frame.R_BM[:, 2]
    in_disc = normal - (normal @ axis) * axis
    touch = p_WB[B] + R_WB[B] @ frame.p_BM_B - part.radius * in_disc / np.linalg.norm(in_disc)
    return PairFrame(
        R_WB[A].T @ (touch - p_WB[A]),
        frame.R_AF,
        R_WB[B].T @ (touch - p_WB[B]),
        frame.R_BM,
        radius=part.radius,
    )


def _written(frame: JointFrame, ends: tuple[int, int], p_WB: np.ndarray, R_WB: np.ndarray) -> float:
    A, B = ends
    across = p_WB[B] + R_WB[B] @ frame.p_BM_B - p_WB[A] - R_WB[A] @ frame.p_AF_A
    return float(np.linalg.norm(across))


def _coupling(part: Any, pair: int, numbers: dict[str, int]) -> Coupling:
    first, second = (numbers[name.removeprefix("joints.")] for name in part.between)
    slides = part.kind == "rack_pinion"
    return Coupling(pair, (first, "angle"), (second, "slide" if slides else "angle"), part.ratio)
