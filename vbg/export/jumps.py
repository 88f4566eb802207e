"""Speeds, voltages and flows that a machine prescribes and that may jump while a program runs.

An impulse moves the machine then: along G^T, in the mass metric, exported programs have it by their
projection onto the constraints.  What else impulses do a run of vbg alone has
(`vbg.simulate.events.impulses`): they step filters and integrals that read a force, act through
laws of forces that are not linear, and are work of what jumps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vbg.assemble.derive.jumping import DISCONTINUOUS
from vbg.assemble.system import System
from vbg.blocks import Block, dependencies, rows
from vbg.errors import Problem
from vbg.export.continuity import is_continuous

CHOICE = "what it chooses"
CONTINUOUS = "Where it does not jump, write it with max, min or abs in place of if or sign. "


def jumping(system: System) -> dict[str, str]:
    """By part whose rows hold always what makes them jump, in words.  Functions of time alone,
    whose kinks are known before, are left out, and those of states that are surely continuous."""
    events, states = _stepped(system), {s.state.leaf for s in system.slices}
    found: dict[str, str] = {}
    for c in system.equations.constraints:
        row = rows(system.equations.residual, c.first, c.first + c.unknown.rows)
        if c.active is None and (why := _why(row, events, states)):
            found.setdefault(c.part, why)
    return found


def _stepped(system: System) -> Mapping[Block, str]:
    """What stands still but for events, and steps there.  The modes of diodes are left out: they
    turn over where what they end or begin is zero."""
    graph = system.causal.graph
    inputs = {n for n, part in system.model.signals.items() if part.kind == "input"}
    parts = {mode.name: mode.name.partition(".")[0] for mode in graph.modes}
    diodes = {name for name, part in system.model.electric.items() if part.kind == "diode"}
    return (
        {m.state: f"the mode {m.name}" for m in graph.modes if parts[m.name] not in diodes}
        | {s.state: f"the sampled {s.name}" for s in graph.sampled}
        | {
            s.state.leaf: f"{n}, an input that stands still between instants of communication and "
            "steps at them"
            for s in system.slices
            for n in inputs
            if s.state.name == f"{n}.input"
        }
    )


def _why(residual: Block, events: Mapping[Block, str], states: set[Block]) -> str:
    nodes = dependencies([residual])
    for node in nodes:
        if node in events:
            return events[node]
    for node in nodes:
        if (
            node.op == "call"
            and node.data in DISCONTINUOUS
            and not states.isdisjoint(dependencies([node]))
            and not is_continuous(residual, node)
        ):
            return CHOICE
    return ""


def chooses_by_states(system: System) -> bool:
    """Whether what is prescribed jumps as a function of states, in no mode and at no sample."""
    return CHOICE in jumping(system).values()


def refused_jumps(system: System) -> Iterator[Problem]:
    """Machines in which impulses act on what the program has no steps for."""
    pushed = [s.state for s in system.slices if s.state.leaf in system.equations.pushed]
    if not pushed:
        return
    linear = all(state.kind != "store" for state in pushed)
    names = ", ".join(state.name for state in pushed)
    parts = f"{names}, which read forces" if linear else "laws of forces that are not linear"
    for part, why in jumping(system).items():
        yield Problem(
            "error",
            part,
            f"what is prescribed there may jump with {why}: an impulse, which also acts through "
            f"{parts}. The C code has it along the joints alone.",
            f"{CONTINUOUS if why == CHOICE else ''}Let a transfer_function of first order or a "
            "ramp stand before what is prescribed, or take out what reads the force.",
        )


def uncounted_jumps(system: System) -> Iterator[str]:
    """What of other jumps the program has not."""
    for part, why in jumping(system).items():
        yield (
            f"{part}: where what is prescribed there jumps with {why}, the impulse moves the "
            "machine, but its work is not in energy.supplied (vbg run counts it)."
        )
