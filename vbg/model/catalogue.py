"""The parts there are: every class with a table and a kind, found by walking the packages.

Adding a part is adding a file to `vbg.elements` or `vbg.junctions`; no list
has to be changed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import vbg.elements
import vbg.junctions

# tables of parts in the order in which they are written and shown
TABLES = (
    "bodies",
    "frames",
    "beams",
    "joints",
    "forces",
    "electric",
    "hydraulic",
    "rotational",
    "translational",
    "signals",
    "fmu",
    "bondgraph",
)


# tables of one kind, which need not be told
ONLY_KIND: Mapping[str, str] = MappingProxyType(
    {"bodies": "body", "frames": "frame", "beams": "beam", "fmu": "fmu"}
)
# the node that stands for the surroundings, of each table whose parts are wired by nodes
REFERENCE_NODES: Mapping[str, str] = MappingProxyType(
    {"electric": "gnd", "hydraulic": "tank", "rotational": "frame", "translational": "frame"}
)
# parts in circuits whose `power` is what they give, to a motion or to the oil; of the others there
# it is what they take, of all other parts what they give the motion
GIVING = ("dc_motor", "solenoid", "cylinder", "pump")
JOINT_NODE = "joint:"  # before the name of a joint whose coordinate is a shaft or slider
JOINT_COORDINATE: Mapping[str, str] = MappingProxyType(
    {"rotational": "angle", "translational": "slide"}
)


def takes_its_power(part: Any) -> bool:
    """Whether `NAME.power` of a part is what it takes (voltage * current, pressure * flow, from
    its first node to its second), not what it gives (torque * speed, force * speed; of a pump
    pressure * flow)."""
    return part.table in ("electric", "hydraulic") and part.kind not in GIVING


@cache
def catalogue() -> Mapping[str, Mapping[str, type]]:
    """table -> kind -> class of the part; tables in the order of TABLES, kinds by name."""
    found: dict[str, dict[str, type]] = {table: {} for table in TABLES}
    for part in _part_classes():
        found[part.table][part.kind] = part  # type: ignore[attr-defined]
    return MappingProxyType(
        {table: MappingProxyType(dict(sorted(kinds.items()))) for table, kinds in found.items()}
    )


def _part_classes() -> Iterator[type]:
    for package in (vbg.elements, vbg.junctions):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            for value in vars(importlib.import_module(module.name)).values():
                if (
                    isinstance(value, type)
                    and value.__module__ == module.name
                    and is_dataclass(value)
                    and hasattr(value, "table")
                    and hasattr(value, "kind")
                    and getattr(value, "written", True)  # none that only others make
                ):
                    yield value
