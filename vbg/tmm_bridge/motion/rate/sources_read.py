"""Forces and flows that are read where they are impulses.

The source of a driven shaft exerts (m s' / r - efforts) / r, one of a pressure p sends p' C into
the stores on its node.  Where the speed s or the pressure p jumps that is an impulse, which
everything takes that reads it: a source that pushes by it, a filter, an integral.  The steps of
this solver are those of shafts and stores alone, so that what reads it has no twin.
Whether anything does the tape tells, by the rates and efforts that depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vbg.tmm_bridge.formulas.tape import Operation, Slot
from vbg.tmm_bridge.onedim.laws.electric import Rail
from vbg.tmm_bridge.onedim.laws.mechanical import Prescribed
from vbg.tmm_bridge.onedim.laws.working import BALANCE, CHANGES, FEEDS, TIME, Working
from vbg.tmm_bridge.onedim.network import Network


class ImpulseRead(ArithmeticError):
    """An impulse is read."""

    def __init__(self, t: float, what: str, remedy: str):
        self.sentence = (
            f"{what} at t = {t:.6g} s: what reads an impulse has no twin in the transfer-matrix "
            "solver."
        )
        self.remedy = remedy
        super().__init__(self.sentence)


@dataclass(frozen=True)
class Read:
    """A source whose effort or flow is read, and the places of what it prescribes and of its
    rate."""

    name: str
    quantity: str
    told: str
    value: int
    rate: int


def sources_read(network: Network, w: Working) -> Iterator[Read]:
    """Sources whose impulse would be read by what has a rate, or an effort on other shafts."""
    sections = (w.tape.sections.get(name, []) for name in (TIME, BALANCE, FEEDS, CHANGES))
    operations = [operation for section in sections for operation in section]
    works = (network.works, network.works + 1)
    rates = [slot for i, slot in enumerate(w.rates.slots) if i not in works]
    told = {slot.place for slot in (*rates, *w.efforts) if isinstance(slot, Slot)}

    def is_read(*places: int) -> bool:
        return not told.isdisjoint(_reached(places, operations, w.torn))

    for part in network.parts:
        if isinstance(part, Prescribed) and part.mass:
            if is_read(w.through.slots[part.place].place):
                now = (w.tape.slot(w.timed(part.drive, order)).place for order in (0, 1))
                yield Read(part.name, "speed", "effort", *now)
        elif isinstance(part, Rail) and part.stores(w):
            rate = w.slopes.slots[part.node].place
            if is_read(rate, w.through.slots[part.ends.place].place):
                level = w.tape.slot(w.levels[part.node]).place
                yield Read(part.ends.name, "pressure", "flow", level, rate)


def _reached(
    places: Iterable[int], operations: Iterable[Operation], torn: Iterable[tuple[Slot, Slot, float]]
) -> set[int]:
    """Places that depend on some, also by what is read before it is known."""
    found, before, code, pairs = set(places), 0, list(operations), list(torn)
    while len(found) > before:
        before = len(found)
        for _, out, *operands in code:
            if not found.isdisjoint(operands):
                found.add(out)
        found |= {early.place for early, left, _ in pairs if left.place in found}
    return found
