"""Harmonic inputs of a vibration: their names, and what a unit of one exerts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.plumbing.components import component, component_names, place_of, split_component
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import LAW_INPUT, LOAD_FORCE
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.modes.network.linearising import coordinate_row
from vbg.tmm_bridge.modes.posture.loads import load_axes
from vbg.tmm_bridge.modes.posture.small import Small
from vbg.tmm_bridge.onedim.excited import sources_of, spelled


def inputs_of(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of all inputs: a torque on a joint, components of loads on bodies."""
    found: list[str] = []
    for name, (table, row) in mechanism.parts.items():
        if table == "load":
            found += component_names(name, 3)
        elif table == "law" and mechanism.tables.laws[row, 0] == LAW_INPUT:
            found.append(name)
    return tuple(found)


def input_of(mechanism: Mechanism, text: str) -> str:
    """The input that is meant: as `inputs_of` calls it, or "push.z", or "push" alone where one
    component only is not a plain zero; a signal, a quantity or a source that the mechanism was
    laid out to excite.  Raises UsageError for none."""
    known, name = inputs_of(mechanism), text.removeprefix("forces.")
    base, which = split_component(name)
    if place_of(which, 3) >= 0:
        name = component(base, place_of(which, 3), 3)
    written = () if name in known else given_by(mechanism.model, name)
    acting = [k for k, value in enumerate(written) if value != 0.0]
    if len(acting) == 1:
        name = component(name, acting[0], 3)
    if name in known or spelled(name) in _taps(mechanism):
        return name
    raise UsageError(f"{text!r} is no input of the vibration; there are: {_listed(mechanism)}.")


def given_by(model: Model, name: str) -> tuple[Any, ...]:
    """The components of a part of [forces] as they are written; none of what is no such part."""
    part = model.forces.get(name)
    return () if part is None else tuple(getattr(part, part.kind, ()))


def _taps(mechanism: Mechanism) -> Mapping[str, int]:
    return {} if mechanism.network is None else mechanism.network.taps


def _listed(mechanism: Mechanism) -> str:
    """All inputs and what may be excited beside them."""
    model = mechanism.model
    known = [*inputs_of(mechanism), *sources_of(model), *model.signals]
    return f"{', '.join(known) or 'none'}, and every quantity that a part reads"


def unit_input(small: Small, part: str, axis: int, s: complex) -> tuple[Array, Array]:
    """Efforts (n_v, 1) and loads (n, 6, 1) of one unit of an input exp(s t)."""
    mechanism = small.mechanism
    t = mechanism.tables
    u, e = np.zeros((small.n_v, 1)), np.zeros((len(small.M), 6, 1))
    table, row = mechanism.parts.get(part, ("", -1))
    if table == "law" and t.laws[row, 0] == LAW_INPUT:
        along = coordinate_row(small.scratch, t, int(t.laws[row, 1]))
        u, e = along.exert(np.ones((1, 1)), u, e)
    elif table == "load":
        node = int(t.loads[row, 1])
        unit = load_axes(t, small.scratch, row)[:, axis]
        R = small.scratch.work[node, :9].reshape(3, 3)
        if t.loads[row, 0] == LOAD_FORCE:
            e[node, :3, 0] = -unit
            e[node, 3:, 0] = -np.cross(R @ t.load[row, :3], unit)
        else:
            e[node, 3:, 0] = -unit
    elif small.acting is not None and spelled(part) in small.acting.inputs:
        entered = small.acting.entry(s, spelled(part))
        u, e = small.acting.acts.exert(entered, u, e)
    else:
        listed = _listed(mechanism)
        raise UsageError(f"{part} is no input of the vibration; there are: {listed}.")
    return u, e
