"""What a run of vbg looks for behind its rows and an exported program does not: said at export."""

from __future__ import annotations

from collections.abc import Iterator

from vbg.assemble.system import System
from vbg.export.jumps import jumping, uncounted_jumps
from vbg.model import Model
from vbg.simulate.events.half_turns import watched


def unlooked(system: System) -> tuple[str, ...]:
    """One sentence for each, of parts that the machine has."""
    return (*uncounted_jumps(system), *_beyond(system.model))


def unlooked_by_equations(system: System) -> tuple[str, ...]:
    """The same of programs of the equations in symbols, which have no events."""
    return (*_half_turned(system), *_unmoved(system), *_beyond(system.model))


def _half_turned(system: System) -> Iterator[str]:
    for part in watched(system):
        yield (
            f"forces.{part.name}: its law has two opposite torques at half a turn and none beyond "
            "(vbg run ends there); the program does not look."
        )


def _unmoved(system: System) -> Iterator[str]:
    for part, why in jumping(system).items():
        yield (
            f"{part}: where what is prescribed there jumps with {why}, an impulse moves the "
            "machine in vbg run; the program has none."
        )


def _beyond(model: Model) -> Iterator[str]:
    """Laws that no real part follows everywhere (`vbg.simulate.record.beyond`)."""
    bodies = ((n, b.flexible) for n, b in model.bodies.items())
    if flexible := [name for name, own in bodies if own is not None and own.modes.count]:
        bent = ", ".join(f"bodies.{name}" for name in flexible)
        yield (
            f"{bent}: the matrices hold for small deflections, turns and loads (vbg run warns "
            "beyond); the program does not look."
        )
    if model.hydraulic:
        yield (
            "hydraulic: pressures below the vapour pressure of oil, -1 bar, are no oil (vbg run "
            "warns); the program does not look."
        )
    laws = ((n, p) for n, p in model.electric.items() if p.kind == "diode")
    if diodes := [name for name, part in laws if part.law == "exponential"]:
        forced = ", ".join(f"electric.{name}" for name in diodes)
        yield (
            f"{forced}: a current that is forced against it makes voltages that no diode stands "
            "(vbg run warns); the program does not look."
        )
