"""Shafts and slides, each with what turns or moves as one with it and the parts that act on it.

What acts on one of them says nothing about another: 1000 N*m at a joint would give a shaft of
1e-6 kg m^2 beside it 1e10 rad/s in ten seconds, beside which its true speed is zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vbg.model import Model
from vbg.model.catalogue import JOINT_NODE, REFERENCE_NODES

_TIES = ("gear", "belt", "ball_screw", "speed")  # kinds that leave their ends one motion
_AROUND = ("electric", "hydraulic", "forces")  # tables of parts that may act on a shaft or slide


@dataclass(frozen=True)
class Drive:
    """Parts by name, of all tables, and whether a joint of the mechanism is among what moves."""

    parts: Mapping[str, Any]
    on_joint: bool


def drives_of(model: Model, table: str) -> tuple[Drive, ...]:
    """Those with nodes or parts of `table`, "rotational" or "translational"."""
    named: dict[str, Any] = {**model.rotational, **model.translational}
    ends = {name: _moved(part, part.table) for name, part in named.items()}
    for other in _AROUND:
        named |= getattr(model, other)
        ends |= {name: _moved(part, "") for name, part in getattr(model, other).items()}
    groups: list[set[str]] = []
    for name, coordinates in ends.items():
        for tied in (coordinates,) if named[name].kind in _TIES else ({one} for one in coordinates):
            joined = [group for group in groups if group & tied]
            groups = [group for group in groups if not group & tied]
            groups.append(tied.union(*joined))
    here = set(getattr(model, table))
    found = []
    for group in groups:
        parts = {name: named[name] for name, moved in ends.items() if moved & group}
        if here & parts.keys() or any(one.startswith(f"{table}.") for one in group):
            found.append(Drive(parts, any(one.startswith("joints.") for one in group)))
    return tuple(found)


def _moved(part: Any, table: str) -> set[str]:
    """Coordinates that a part joins or acts on, "TABLE.NODE" or "joints.NAME"; `table` is that of
    its nodes, empty where they are none that move."""
    given = [getattr(part, field, None) for field in ("on", "shaft", "slide")]
    found = {".".join(one.split(".")[:2]) for one in given if isinstance(one, str)}
    for node in (getattr(part, "nodes", None) or ()) if table else ():
        joint = node.removeprefix(JOINT_NODE)
        if node != REFERENCE_NODES[table]:
            found.add(f"{table}.{node}" if joint == node else f"joints.{joint}")
    return found
