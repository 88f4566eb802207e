"""The start of the bond-graph run as the transfer-matrix solver is handed it.

A run that begins at rest, in balance or from a result begins where no file writes it.  Where
bodies stand goes over as poses; what circuits, oil and shafts hold goes over as the start
values of their parts.  A part that holds something and has no start value to be written cannot
be handed over: its efforts are replayed then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from vbg.fields import WRITTEN
from vbg.model import Model
from vbg.model.model import edit
from vbg.model.text.plain import thaw
from vbg.solution import Solution

# start value of a kind: the signal that it is of
_HELD = {
    ("electric", "capacitor"): {"voltage": "voltage"},
    ("electric", "inductor"): {"current": "current"},
    ("electric", "dc_motor"): {"current": "current"},
    ("rotational", "inertia"): {"speed": "speed"},
    ("translational", "mass"): {"speed": "speed"},
    ("hydraulic", "volume"): {"pressure": "pressure"},
    ("hydraulic", "accumulator"): {"pressure": "pressure"},
    ("hydraulic", "cylinder"): {"pressure_a": "pressure_a", "pressure_b": "pressure_b"},
}
# kinds that hold something that no file writes
_HIDDEN = {
    ("hydraulic", "pipe"),
    ("rotational", "spring"),
    ("translational", "spring"),
    ("signals", "pid"),
    ("signals", "transfer_function"),
    ("signals", "state_space"),
    ("signals", "delay"),
    ("signals", "sample_and_hold"),
    ("bondgraph", "C"),
    ("bondgraph", "I"),
}


def not_handed(model: Model) -> tuple[str, ...]:
    """Parts whose start cannot be handed over."""
    return tuple(
        f"{table}.{name}"
        for table, name, part in _parts(model)
        if _is_hidden(model, table, name, part)
    ) + tuple(
        f"bodies.{name}"
        for name, body in model.bodies.items()
        if body.flexible is not None and name not in model.document.get("bodies", {})
    )


def handed(model: Model, first: Solution) -> Model:
    """The model with start values from the first row of a run."""
    model = with_modes(model, first)
    document = thaw(model.document)
    edit(document, ("simulate", "start"), WRITTEN)
    for table, name, part in _parts(model):
        for field, signal in _HELD.get((table, part.kind), {}).items():
            if f"{name}.{signal}" in first:
                value = float(first[f"{name}.{signal}"][0])
                edit(document, (table, name, field), value)
    return Model.from_document(document, model.path)


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


def turned_too_far(model: Model, first: Solution) -> tuple[str, ...]:
    """Joints that begin more than half a turn from what is written: poses do not count turns."""
    return tuple(
        name
        for name, joint in model.joints.items()
        if f"{name}.angle" in first and hasattr(getattr(joint, "initial", None), "angle")
        if abs(float(first[f"{name}.angle"][0]) - (joint.initial.angle or 0.0)) > 0.99 * np.pi
    )


def _parts(model: Model) -> Iterator[tuple[str, str, Any]]:
    tables = ("electric", "hydraulic", "rotational", "translational", "signals", "bondgraph")
    for table in tables:
        for name, part in getattr(model, table).items():
            yield table, name, part


def _is_hidden(model: Model, table: str, name: str, part: Any) -> bool:
    """Whether the part holds what is not of the posture and has no start value in the file."""
    if (table, part.kind) in _HELD:
        return name not in model.document.get(table, {})  # of an included file
    if part.kind == "spring" and str(getattr(part, "on", "")).startswith("joints."):
        return False
    return (table, part.kind) in _HIDDEN
