"""The start of the bond-graph run as the transfer-matrix solver is handed it.

A run that begins at rest, in balance or from a result begins where no file writes it.  Where
bodies stand goes over as poses; what circuits, oil and shafts hold goes over as the start
values of their parts, angles of nodes and what controllers keep as signals.  A part that holds
what no signal tells (raw stores) cannot be handed over: its efforts are replayed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.fields import WRITTEN
from vbg.junctions.latch import opens
from vbg.model import Model
from vbg.model.catalogue import JOINT_NODE
from vbg.model.model import edit
from vbg.model.text.plain import thaw
from vbg.solution import Solution

# start value of a kind: the signal that it is of
_HELD = {
    ("electric", "capacitor"): {"voltage": "voltage"},
    ("electric", "inductor"): {"current": "current"},
    ("electric", "dc_motor"): {"current": "current"},
    ("electric", "solenoid"): {"current": "current"},
    ("rotational", "inertia"): {"speed": "speed"},
    ("translational", "mass"): {"speed": "speed"},
    ("hydraulic", "volume"): {"pressure": "pressure"},
    ("hydraulic", "accumulator"): {"pressure": "pressure"},
    ("hydraulic", "cylinder"): {"pressure_a": "pressure_a", "pressure_b": "pressure_b"},
}
# signals of what a part keeps that has no start value of its own
_KEPT = {
    "pid": ("filtered", "integral"),
    "transfer_function": ("state",),
    "state_space": ("state",),
    "delay": ("state",),
    "pipe": ("flow", "flows", "pressures"),
}
# kinds that hold something that no signal tells
_HIDDEN = {
    ("bondgraph", "C"),
    ("bondgraph", "I"),
}


def not_handed(model: Model) -> tuple[str, ...]:
    """Parts whose start cannot be handed over."""
    return tuple(
        f"{table}.{name}" for table, name, part in _parts(model) if _is_hidden(table, part)
    ) + tuple(
        f"bodies.{name}"
        for name, body in model.bodies.items()
        if body.flexible is not None and name not in model.document.get("bodies", {})
    )


def held_at_start(model: Model, first: Solution) -> dict[str, float]:
    """Signals of nodes, stores, pipes, controllers and joints that open in the first row of a run,
    by name; NAME[0], NAME[1], ... of a vector."""
    names = [
        f"{name}.{signal}"
        for table, name, part in _parts(model)
        for signal in (*_HELD.get((table, part.kind), {}).values(), *_KEPT.get(part.kind, ()))
    ]
    names += [
        signal
        for signal in first.signals
        if signal.startswith(("rotational.", "translational."))
        and signal.endswith((".angle", ".position"))
    ]
    names += [name for name, part in model.signals.items() if part.kind == "sample_and_hold"]
    names += [f"{name}.open" for name, joint in model.joints.items() if opens(joint)]
    held: dict[str, float] = {}
    for name in names:
        if name in first:
            row = np.ravel(first[name][0]).tolist()
            held |= dict(zip(_places(name, len(row)), row, strict=True))
    return held


def _places(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}[{k}]" for k in range(count)]


def with_starts(model: Model, held: Mapping[str, float]) -> Model:
    """The model, also its included parts, with the start values `held`, beginning as written.

    It lives in this process only: no file and no hash knows of it.
    """
    tables: dict[str, dict[str, Any]] = {}
    for table, name, part in _parts(model):
        keys = _HELD.get((table, part.kind), {})
        known = {key: held[f"{name}.{s}"] for key, s in keys.items() if f"{name}.{s}" in held}
        tables.setdefault(table, {})[name] = replace(part, **known)
    tables["joints"] = {
        name: replace(joint, open=held[f"{name}.open"] > 0.5) if f"{name}.open" in held else joint
        for name, joint in model.joints.items()
    }
    begun = Model.__new__(Model)
    begun.__dict__.update(model.__dict__)
    begun.__dict__.update({table: MappingProxyType(parts) for table, parts in tables.items()})
    begun.__dict__["simulate"] = replace(model.simulate, start=WRITTEN)
    return begun


def with_modes(model: Model, first: Solution, *, rates: bool = True) -> Model:
    """The model with the modal coordinates, and `rates`, of flexible bodies from the first row of
    a run; those of included files stay as they are."""
    signals = {"start": "modal", "start_speed": "modal_speed"} if rates else {"start": "modal"}
    own = model.document.get("bodies", {})
    bent = [name for name, body in model.bodies.items() if body.flexible and name in own]
    if not bent:
        return model
    document = thaw(model.document)
    for name in bent:
        for field, signal in signals.items():
            values = first[f"{name}.{signal}"][0].tolist()
            edit(document, ("bodies", name, "flexible", field), values)
    return Model.from_document(document, model.path)


def angles_at_start(first: Solution, joints: Iterable[str]) -> dict[str, float]:
    """Angles [rad] of joints in the first row of a run, by signal: poses do not count turns."""
    signals = [f"{name}.{key}" for name in joints for key in ("angle", "angle2")]
    return {signal: float(first[signal][0]) for signal in signals if signal in first}


def counted_joints(model: Model) -> frozenset[str]:
    """Joints whose turns a gear or belt may count, so that those of assembly stay; all others
    begin within half a turn of what is written, which each solver finds by itself."""
    ends = [
        end.partition(".")[2]
        for joint in model.joints.values()
        for end in getattr(joint, "between", ())
        if isinstance(end, str) and end.startswith("joints.")
    ]
    ends += [
        node.removeprefix(JOINT_NODE)
        for _, _, part in _parts(model)
        for node in getattr(part, "nodes", None) or ()
        if isinstance(node, str) and node.startswith(JOINT_NODE)
    ]
    return frozenset(end.partition(".")[0] for end in ends)


def _parts(model: Model) -> Iterator[tuple[str, str, Any]]:
    tables = ("electric", "hydraulic", "rotational", "translational", "signals", "bondgraph")
    for table in tables:
        for name, part in getattr(model, table).items():
            yield table, name, part


def _is_hidden(table: str, part: Any) -> bool:
    """Whether the part holds what is not of the posture and what no signal tells."""
    return (table, part.kind) in _HIDDEN
