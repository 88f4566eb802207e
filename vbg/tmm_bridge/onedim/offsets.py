"""Speed sources between two shafts, or a joint and a shaft: one runs ahead by a given speed.

With the speed V of the one and d = 1 or -1 that of the other is V + d s.  Its inertia m moves with
both, and (m0 the inertia of the one)

    (m0 + m) V' = efforts on both - m d s';

the source exerts what its own motion asks for, m (s' + d V') - d times the efforts on the other.
Where nobody wrote a speed both start from rest, and the source strikes them apart:
(m0 + m) V = -m d s.

What moves with the mechanism has its V' only when that is solved, later than what is supplied.
Then m d V' s = (m d s V)' - m d s' V: the first is of the instant, the second its rate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vbg.tmm_bridge.formulas.tape import Number
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.onedim.draft import Draft, no_twin
from vbg.tmm_bridge.onedim.mechanical import DRIVEN, FREE, JOINT, Shaft
from vbg.tmm_bridge.onedim.sources import Sources
from vbg.tmm_bridge.onedim.trains import FRAME, Tied, paths_of, tie_of, tying_parts
from vbg.tmm_bridge.onedim.working import Energies, Output, Term, Working

Inertia = tuple[str, float, float | None, float]  # path, inertia, speed and position at the start


@dataclass(frozen=True)
class Offset:
    """A source `name`, the paths `base` and `moved`; `sign` is d, `shaft` the source's own."""

    name: str
    part: Any
    base: str
    moved: str
    sign: float
    drive: TimeFunction
    shaft: int

    @property
    def term(self) -> Term:
        """What the speed of the moved path has beyond that of its base."""
        return Term(self.shaft, self.sign, relative=True)


@dataclass(frozen=True)
class Between:
    """The source of an offset: `mass` moves with the shaft `base` and its own."""

    offset: Offset
    mass: float
    base: int
    shaft: Shaft

    def act(self, w: Working) -> None:
        load = self.mass * self.offset.sign * w.timed(self.offset.drive, 1)
        w.efforts[self.base] += -load

    def effort(self, w: Working) -> Number:
        """What it exerts on its second shaft."""
        need: Number = -w.efforts[self.offset.shaft]
        if self.mass:
            own = w.timed(self.offset.drive, 1) + self.offset.sign * self._acceleration(w)
            need = need + self.mass * own
        return need

    def _acceleration(self, w: Working) -> Number:
        if self.shaft.kind == FREE:
            return w.rates[self.shaft.state + 1]
        if self.shaft.kind == JOINT:
            return w.accelerations[self.base]
        assert self.shaft.drive is not None  # one without inertia needs none
        return w.timed(self.shaft.drive, 1) / self.shaft.factor

    def energies(self, w: Working) -> Energies:
        """Supplied; and m d s V, which the energies of both speeds leave out."""
        s, V = w.timed(self.offset.drive, 0), w.speeds[self.base]
        both = self.mass * self.offset.sign * s * V
        if self.shaft.kind != JOINT:
            return Energies(kinetic=both, supplied=self.effort(w) * s)
        slope = w.timed(self.offset.drive, 1)
        supplied = (self.mass * slope - w.efforts[self.offset.shaft]) * s
        later = self.mass * self.offset.sign * slope * V
        return Energies(kinetic=both, supplied=supplied - later, brought=both)

    def outputs(self) -> Iterator[Output]:
        name, turns = self.offset.name, self.offset.part.table != "translational"
        exerted, unit = ("torque", "N*m") if turns else ("force", "N")
        yield f"{name}.{exerted}", unit, self.effort
        yield f"{name}.power", "W", lambda w: self.effort(w) * w.timed(self.offset.drive, 0)


def sets_apart(
    draft: Draft, sources: Sources, sets: Sequence[Tied], driven: Collection[str]
) -> tuple[list[Tied], dict[str, Offset]]:
    """The sets, those of a base and what runs ahead of it as one; offsets by moved path."""
    tied = {path for _, part in tying_parts(draft.model) for path in tie_of(draft.model, part)[:2]}
    offsets: dict[str, Offset] = {}
    for table in (draft.model.rotational, draft.model.translational):
        for name, part in table.items():
            if part.kind != "speed" or part.nodes is None or FRAME in part.nodes:
                continue
            paths = list(paths_of(draft.model, part))
            if len(paths) != 2:
                continue
            seen = {path for o in offsets.values() for path in (o.base, o.moved)}
            if set(paths) & (seen | tied) or set(paths) <= set(driven):
                why = "a speed source between shafts that another one or a gear moves"
                raise no_twin(part, name, why)
            first, second = paths
            jointed = [path.startswith("joints.") for path in paths]
            if all(jointed) or (any(jointed) and set(paths) & set(driven)):
                raise no_twin(part, name, "a speed source between a joint and what else is moved")
            back = second in driven or jointed[1]
            base, moved = (second, first) if back else (first, second)
            drive, shaft = sources.time_function(part, name, part.speed), len(draft.shafts)
            draft.shafts.append(Shaft(DRIVEN, 0.0, state=draft.state(0.0), drive=drive))
            sign = -1.0 if back else 1.0
            offsets[moved] = Offset(name, part, base, moved, sign, drive, shaft)
    bases = {offset.base: offset.moved for offset in offsets.values()}
    whole = [set_ for set_ in sets if not set(set_.ratio) & set(offsets)]
    return [_with(set_, bases) for set_ in whole], offsets


def _with(tied: Tied, moved: dict[str, str]) -> Tied:
    beyond = {moved[path]: ratio for path, ratio in tied.ratio.items() if path in moved}
    return Tied({**tied.ratio, **beyond})


def starts(inertias: Sequence[Inertia], offsets: dict[str, Offset]) -> list[Inertia]:
    """The inertias with the speeds that their bases begin with; what moves with a joint begins
    with the mechanism."""
    found = list(inertias)
    for offset in offsets.values():
        begin = offset.sign * float(offset.drive.value(0.0))
        masses = {offset.base: 0.0, offset.moved: 0.0}
        own = [n for n, inertia in enumerate(found) if inertia[0] in masses]
        for n in own:
            masses[found[n][0]] += found[n][1]
        struck = -masses[offset.moved] * begin / (sum(masses.values()) or 1.0)
        nobody = all(found[n][2] is None for n in own) and not offset.base.startswith("joints.")
        for n in own:
            path, mass, speed, at = found[n]
            if speed is not None and path == offset.moved:
                speed = speed - begin
            found[n] = path, mass, struck if nobody else speed, at
    return found


def add_sources(
    draft: Draft, shafts: dict[str, int], inertias: Sequence[Inertia], offsets: dict[str, Offset]
) -> None:
    """The sources, when all shafts (by path) are there; what they exert is known last."""
    for moved, offset in offsets.items():
        mass = sum(m for path, m, _, _ in inertias if path == moved)
        base = shafts[moved]
        if draft.shafts[base].kind == JOINT:
            rest = -offset.sign * float(offset.drive.value(0.0))  # of the joint, where it rests
            guessed = tuple((m, rest) for path, m, s, _ in inertias if path == moved and s is None)
            draft.shafts[base] = replace(draft.shafts[base], guessed=guessed)
        own = draft.shafts[offset.shaft]
        draft.shafts[offset.shaft] = Shaft(DRIVEN, mass, state=own.state, drive=own.drive)
        source = Between(offset, mass, base, draft.shafts[base])
        draft.parts.append(source)
        draft.outputs += source.outputs()
