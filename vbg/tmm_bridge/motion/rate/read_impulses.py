"""Forces that are read where they are impulses.

The source of a driven shaft exerts (m s' / r - efforts) / r.  Where its speed s jumps that is an
impulse, which everything takes that reads it: a source that pushes by it, a filter, an integral.
The steps of this solver are those of shafts and stores alone, so that what reads it has no twin.
Whether anything does the tape tells, by the rates and efforts that depend on what it exerts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vbg.tmm_bridge.formulas.tape import Operation, Slot
from vbg.tmm_bridge.motion.rate.instants import Stop
from vbg.tmm_bridge.onedim.laws.mechanical import Prescribed
from vbg.tmm_bridge.onedim.laws.working import BALANCE, CHANGES, FEEDS, TIME, Working
from vbg.tmm_bridge.onedim.network import Network

SEEN = 1e-9  # of a speed: a smaller jump is rounding


class ImpulseRead(ArithmeticError):
    """The speed of a source jumps whose effort is read."""

    def __init__(self, t: float, source: str):
        self.sentence = (
            f"the speed of {source} jumps at t = {t:.6g} s, and its effort is read: what reads an "
            "impulse has no twin in the transfer-matrix solver."
        )
        self.remedy = (
            f"Let the speed of {source} rise over a short time, as by s*min(1, max(0, t/tau)), or "
            "drive through an elastic shaft; or read another effort."
        )
        super().__init__(self.sentence)


def sources_read(network: Network, w: Working) -> Iterator[Prescribed]:
    """Sources whose effort is read by what has a rate, or an effort on other shafts."""
    sections = (w.tape.sections.get(name, []) for name in (TIME, BALANCE, FEEDS, CHANGES))
    operations = [operation for section in sections for operation in section]
    works = (network.works, network.works + 1)
    rates = [slot for i, slot in enumerate(w.rates.slots) if i not in works]
    told = {slot.place for slot in (*rates, *w.efforts) if isinstance(slot, Slot)}
    for part in network.parts:
        if isinstance(part, Prescribed) and part.mass:
            effort = w.through.slots[part.place].place
            if told & _reached(effort, operations, w.torn):
                yield part


def require_none_jumps(sources: Iterable[Prescribed], stop: Stop) -> None:
    """Raises ImpulseRead where the speed of one jumps at a stop; a slope that ends between its two
    instants does not."""
    for part in sources:
        before, after = (part.drive.rates(t) for t in (stop.before, stop.after))
        fast, steep = (max(abs(float(before[k])), abs(float(after[k]))) for k in (0, 1))
        least = SEEN * fast + 4.0 * (stop.after - stop.before) * steep
        if abs(float(after[0] - before[0])) > least:
            raise ImpulseRead(stop.first, part.name)


def _reached(
    place: int, operations: Iterable[Operation], torn: Iterable[tuple[Slot, Slot, float]]
) -> set[int]:
    """Places that depend on one, also by what is read before it is known."""
    found, before, code, pairs = {place}, 0, list(operations), list(torn)
    while len(found) > before:
        before = len(found)
        for _, out, *operands in code:
            if not found.isdisjoint(operands):
                found.add(out)
        found |= {early.place for early, left, _ in pairs if left.place in found}
    return found
