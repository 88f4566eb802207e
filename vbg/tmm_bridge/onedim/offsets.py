"""Speed sources between two shafts, or a joint and a shaft: one runs ahead by a given speed.

With the speed V of a shaft, r V of the base on it and d = 1 or -1 that of the other is r V + d s,
and rho (r V + d s) of what gears tie to that.  Its inertia m = sum m_q rho_q^2 moves with both, and
(m0 the inertia of the one)

    (m0 + m r^2) V' = efforts on both - m r d s';

the source exerts what its own motion asks for, m (s' + d r V') - d times the efforts on the other.
Where nobody wrote a speed both start from rest, and the source strikes them apart:
(m0 + m r^2) V = -m r d s.  Several sources may run ahead of one shaft, each with shafts of its own.

What moves with the mechanism has its V' only when that is solved, later than what is supplied.
Then m d r V' s = (m d s r V)' - m d s' r V: the first is of the instant, the second its rate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vbg.model import Model
from vbg.tmm_bridge.formulas.tape import Number
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.onedim.draft import Draft, no_twin
from vbg.tmm_bridge.onedim.laws.mechanical import DRIVEN, FREE, JOINT, Shaft
from vbg.tmm_bridge.onedim.laws.working import Energies, Output, Term, Working
from vbg.tmm_bridge.onedim.sources import Sources
from vbg.tmm_bridge.onedim.trains import FRAME, Tied, paths_of

Inertia = tuple[str, float, float | None, float]  # path, inertia, speed and position at the start


@dataclass(frozen=True)
class Offset:
    """A source `name`, the paths `base` and `moved`; `sign` is d, `shaft` the source's own,
    `ratio` the speed of every path that it moves over that of `moved`."""

    name: str
    part: Any
    base: str
    moved: str
    sign: float
    drive: TimeFunction
    shaft: int
    ratio: Mapping[str, float]

    def ahead(self, path: str) -> float:
        """What a moved path's speed has of s."""
        return self.sign * self.ratio[path]

    def term(self, path: str) -> Term:
        """What the speed of a moved path has beyond what it has of its base."""
        return Term(self.shaft, self.ahead(path), relative=True)


@dataclass(frozen=True)
class Between:
    """The source of an offset: `mass` moves with the shaft `base`, at `ratio` of its speed, and
    its own."""

    offset: Offset
    mass: float
    base: int
    ratio: float
    shaft: Shaft

    def act(self, w: Working) -> None:
        load = self.mass * self.offset.sign * w.timed(self.offset.drive, 1)
        w.efforts[self.base] += -self.ratio * load

    def effort(self, w: Working) -> Number:
        """What it exerts on its second shaft."""
        need: Number = -w.efforts[self.offset.shaft]
        if self.mass:
            own = w.timed(
                self.offset.drive, 1
            ) + self.offset.sign * self.ratio * self._acceleration(w)
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
        s, V = w.timed(self.offset.drive, 0), self.ratio * w.speeds[self.base]
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
    found = list(between_shafts(draft.model))
    of = {path: n for n, tied in enumerate(sets) for path in tied.ratio}
    links = [(of[first], of[second]) for _, _, first, second in found]
    outside = {n: _moved_by(tied, driven) for n, tied in enumerate(sets)}
    offsets: dict[str, Offset] = {}
    whole = {n: Tied(dict(tied.ratio)) for n, tied in enumerate(sets)}
    for (name, part, first, second), ends in zip(found, links, strict=True):
        rank = [(bool(outside[n]), sum(n in link for link in links)) for n in ends]
        back = rank[1] > rank[0]
        base, moved = (second, first) if back else (first, second)
        behind = sets[of[moved]]
        if ends[0] == ends[1] or (outside[of[moved]] and outside[of[base]] != "joint"):
            why = "a speed source between shafts that another one or a gear moves"
            raise no_twin(part, name, why)
        if outside[of[moved]]:
            raise no_twin(part, name, "a speed source between a joint and what else is moved")
        if sum(of[moved] in link for link in links) > 1:
            raise no_twin(part, name, "a speed source in a chain of more than two")
        drive, shaft = sources.time_function(part, name, part.speed), len(draft.shafts)
        draft.shafts.append(Shaft(DRIVEN, 0.0, state=draft.state(0.0), drive=drive))
        ratio = {path: c / behind.ratio[moved] for path, c in behind.ratio.items()}
        offset = Offset(name, part, base, moved, -1.0 if back else 1.0, drive, shaft, ratio)
        offsets |= dict.fromkeys(ratio, offset)
        tied = whole[of[base]].ratio
        tied |= {path: c * tied[base] for path, c in ratio.items()}
    return [tied for n, tied in whole.items() if not set(sets[n].ratio) & set(offsets)], offsets


def between_shafts(model: Model) -> Iterator[tuple[str, Any, str, str]]:
    """(name, part, first path, second path) of the speed sources between two shafts."""
    for table in (model.rotational, model.translational):
        for name, part in table.items():
            if part.kind != "speed" or part.nodes is None or FRAME in part.nodes:
                continue
            paths = list(paths_of(model, part))
            if len(paths) == 2:
                yield name, part, *paths


def _moved_by(tied: Tied, driven: Collection[str]) -> str:
    """What rules the motion of a set from outside: a joint, a source, or nothing."""
    if any(path.startswith("joints.") for path in tied.ratio):
        return "joint"
    return "source" if set(tied.ratio) & set(driven) else ""


def starts(
    inertias: Sequence[Inertia], sets: Sequence[Tied], offsets: Mapping[str, Offset]
) -> list[Inertia]:
    """The inertias with the speeds that their bases begin with; what moves with a joint begins
    with the mechanism."""
    found = list(inertias)
    for tied in sets:
        own = [n for n, inertia in enumerate(found) if inertia[0] in tied.ratio]
        begins = {
            path: offsets[path].ahead(path) * float(offsets[path].drive.value(0.0))
            for path in tied.ratio
            if path in offsets
        }
        if not begins:
            continue
        mass = sum(found[n][1] * tied.ratio[found[n][0]] ** 2 for n in own)
        momentum = sum(
            found[n][1] * tied.ratio[found[n][0]] * begins.get(found[n][0], 0.0) for n in own
        )
        jointed = any(path.startswith("joints.") for path in tied.ratio)
        nobody = all(found[n][2] is None for n in own) and not jointed
        for n in own:
            path, m, speed, at = found[n]
            if speed is not None:
                speed = speed - begins.get(path, 0.0)
            struck = -momentum / (mass or 1.0) * tied.ratio[path]
            found[n] = path, m, struck if nobody else speed, at
    return found


def add_sources(
    draft: Draft,
    shafts: Mapping[str, tuple[int, float]],
    inertias: Sequence[Inertia],
    offsets: Mapping[str, Offset],
) -> None:
    """The sources, when all shafts (by path, with its speed over theirs) are there; what they exert
    is known last."""
    for offset in {offset.name: offset for offset in offsets.values()}.values():
        own = [(offset.ratio[path], m, s) for path, m, s, _ in inertias if path in offset.ratio]
        mass = sum(m * c * c for c, m, _ in own)
        base, ratio = shafts[offset.base]
        if draft.shafts[base].kind == JOINT:
            rest = -offset.sign * float(offset.drive.value(0.0)) / ratio  # where the part rests
            guessed = tuple((m * (c * ratio) ** 2, rest) for c, m, s in own if s is None)
            guessed = (*draft.shafts[base].guessed, *guessed)
            draft.shafts[base] = replace(draft.shafts[base], guessed=guessed)
        shaft = draft.shafts[offset.shaft]
        draft.shafts[offset.shaft] = replace(shaft, mass=mass)
        source = Between(offset, mass, base, ratio, draft.shafts[base])
        draft.parts.append(source)
        draft.outputs += source.outputs()
