"""Directional derivatives of a machine as programs: forward mode through its equations.

A direction dx of the states goes to those of the rates, signals and switching functions.  The
constraint efforts U2 solve H U2 = b, so that theirs is H^-1 (db - dH U2) (`vbg.blocks.calculus`);
of the rotation of a quaternion the rate is skew(w), w = 2 Im(conj(quat) o dquat).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.blocks import Block, const, leaf, rows, stack
from vbg.blocks.calculus import Substitution, Tangent
from vbg.blocks.calls import quaternion_rate
from vbg.blocks.composed import dot


def directions(start: Start, switches: Mapping[str, Block]) -> dict[str, Program]:
    """Programs in the states, the time and a direction of the states: "tilt", the residuals of
    position and of velocity and the measured coordinates along it; "direction", the rates, the
    signals and the `switches`.

    None of them where rows are dependent: their smallest efforts are no solution of H U2 = b alone.
    """
    system = start.system
    count = len(system.constraint_names)
    if np.any(start.kept[:count] == 0.0):
        return {}
    e, given = system.equations, _directions(system)
    along = Tangent(
        {s.state.leaf: d for s, d in zip(system.slices, given, strict=True)}, _spins(system, given)
    )
    measured = {s.state.name: s.state.measured for s in system.slices if s.state.measured}
    tilt = {"position": e.position, "velocity": e.residual, **measured}
    ends = {c.unknown: (c.first, c.first + c.unknown.rows) for c in e.constraints}
    whole = Substitution({unknown: rows(e.efforts, *span) for unknown, span in ends.items()})
    moving = {f"rate {s.state.name}": e.rates[s.state.leaf] for s in system.slices}
    moving |= {f"signal {n}": whole(block) for n, block in system.programs.signals.items()}
    moving |= {f"switch {name}": whole(block) for name, block in switches.items()}
    inputs = {**system.programs.inputs, **{f"d {d.data}": d for d in given}}
    return {
        "tilt": lower({n: along(b) for n, b in tilt.items()}, inputs),
        "direction": lower({n: along(b) for n, b in moving.items()}, inputs),
    }


def _directions(system: System) -> list[Block]:
    return [leaf(f"direction of {s.state.name}", s.last - s.first) for s in system.slices]


def _spins(system: System, given: list[Block]) -> dict[Block, Block]:
    """w of each rotation: its part along axis k is 4 dquat . (1/2 quat o (0, e_k))."""
    of = {s.state.leaf: d for s, d in zip(system.slices, given, strict=True)}
    found = {}
    for R in system.equations.spins:
        quaternion = R.args[0]
        turns = [
            4.0 * dot(quaternion_rate(quaternion, const(axis)), of[quaternion])
            for axis in np.eye(3)
        ]
        found[R] = stack(*turns)
    return found
