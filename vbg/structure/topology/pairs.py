"""The kinematic pairs by code: Table 3 of Celdran, Saura and Dopico (2022).

The grade k of a pair is the number of relative freedoms that it leaves.  In a
problem of dimension B (6 in space, 3 in the plane) it imposes B - k equations.

"Computational structural analysis of spatial multibody systems based on
mobility criteria", Mechanism and Machine Theory 175, 104985.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

SPATIAL, PLANAR = 6, 3


@dataclass(frozen=True, slots=True)
class PairType:
    """One row of Table 3.

    `planar` pairs exist in a planar problem.  A `contact` pair is held
    together by geometry or by a force, and may open in the second case.  A
    `rolling` pair is a relation of velocities; the plane integrates it.
    """

    code: str
    meaning: str
    grade: int
    planar: bool = False
    contact: bool = False
    rolling: bool = False


NOT_CONNECTED = "-"

TABLE_3: tuple[PairType, ...] = (
    PairType(NOT_CONNECTED, "not connected", 0, planar=True),
    PairType("R", "revolute", 1, planar=True),
    PairType("P", "prismatic", 1, planar=True),
    PairType("H", "helicoidal", 1),
    PairType("CPEP", "five-point contact", 1, contact=True),
    PairType("C", "cylindrical", 2),
    PairType("ER", "slotted spherical", 2),
    PairType("U", "universal", 2),
    PairType("L", "cam, point-curve or curve-curve", 2, planar=True, contact=True),
    PairType("EO", "ordinary gear", 2, planar=True, rolling=True),
    PairType("EPI", "epicyclic gear", 2, planar=True, rolling=True),
    PairType("CTEP", "four-point contact", 2, contact=True),
    PairType("RP", "pure rolling", 2, planar=True, contact=True, rolling=True),
    PairType("RD", "sliding rolling", 2, planar=True, contact=True),
    PairType("S", "spherical", 3),
    PairType("PL", "planar", 3),
    PairType("CR", "slotted cylindrical", 3),
    PairType("CTRP", "three-point contact", 3, contact=True),
    PairType("FP", "free body in the plane", 3, planar=True),
    PairType("SC", "sphere-cylinder", 4, contact=True),
    PairType("PC", "plane-cylinder", 4, contact=True),
    PairType("CBIP", "two-point contact", 4, contact=True),
    PairType("SP", "sphere-plane", 5, contact=True),
    PairType("SPSP", "sphere-sphere", 5, contact=True),
    PairType("F", "free body in space", 6),
)

# Not in the paper: a model may weld two bodies, or couple two joints by one equation.
WELD = PairType("W", "rigid joint", 0, planar=True)
COUPLING = PairType("K", "coupling of joint coordinates", -1, planar=True)

BY_CODE = {row.code: row for row in (*TABLE_3, WELD)}
ORDER = {row.code: rank for rank, row in enumerate((*TABLE_3, WELD, COUPLING))}


def normal_code(text: str) -> str:
    """`text` as a code of Table 3: spaces, case and the dash's kind forgiven.

    An entry of digits is "not connected": the paper's script ``User_Data.m``
    prints body numbers there.
    """
    code = text.strip().upper()
    return NOT_CONNECTED if code in ("", "–", "—", "−") or code.isdigit() else code


def nearest_code(code: str) -> str:
    """The code most like `code`, or "" when none is."""
    close = get_close_matches(code, [row.code for row in TABLE_3[1:]], n=1, cutoff=0.4)
    return close[0] if close else ""
