"""An assembly as the document of a model file: one body for each solid, or for each of its
sub-assemblies, where it stands."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.solids.occ import Array, Part
from vbg.solids.proposals import Proposal
from vbg.solids.step import parts_of, proposals_of

STEEL = 7850.0  # [kg/m^3]


@dataclass(frozen=True, slots=True)
class Imported:
    """The document of a model file; the joints proposed for it as (name, table, evidence); and
    what is to be told."""

    document: Mapping[str, Any]
    proposed: tuple[tuple[str, Mapping[str, Any], str], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Body:
    """Parts that move as one, under a name that a model file can have."""

    name: str
    parts: tuple[Part, ...]

    @property
    def centre(self) -> Array:
        """Mass centre where all parts have one density [m]."""
        volumes = np.array([part.volume for part in self.parts])
        return np.asarray(volumes @ np.array([part.centre for part in self.parts]) / volumes.sum())


def read(
    path: str,
    output: str,
    *,
    density: float = STEEL,
    ground: str = "",
    accept: bool = False,
    level: int | None = None,
    keep_fixed: bool = False,
) -> Imported:
    """The assembly at `path` for a model file at `output`, in whose folder it must lie.

    density : of all parts [kg/m^3], to be changed in the file.  ground : the part, or at a `level`
    the sub-assembly, that stands still, and becomes no body, or with `keep_fixed` one that a fixed
    joint holds.  accept : the proposed joints are joints.  level : a body is what stands so deep
    in the assembly, 1 for what the file itself puts together; without it every solid is one.
    Raises ModelError for what is no STEP file, UsageError for a part that is not there.
    """
    parts = parts_of(path)
    made = _bodies(parts, level)
    of_part = {part.name: body for body in made for part in body.parts}
    still = _standing(path, made, ground)
    standing = "" if keep_fixed else still
    file = _below(path, output)
    bodies = {
        body.name: _body(body, file, density, alone=len(parts) == 1)
        for body in made
        if body.name != standing
    }
    between = [
        (of_part[p.first].name, of_part[p.second].name, p)
        for p in proposals_of(path)
        if of_part[p.first] is not of_part[p.second]
    ]
    found = tuple(_joints(between, standing))
    document: dict[str, Any] = {
        "vbg": 1,
        "name": _plain(os.path.splitext(os.path.basename(path))[0]),
        "description": f"imported from {os.path.basename(path)}",
        "bodies": bodies,
    }
    joints: dict[str, Mapping[str, Any]] = {}
    if keep_fixed and still:
        joints[f"ground_{still}"] = _held(still)
    if accept:
        joints |= {name: table for name, table, _ in found}
    if joints:
        document["joints"] = joints
    notes = [f"Every part has {density:g} kg/m^3: write each one's own density."]
    if not ground:
        notes.append("No part stands still; --ground NAME makes one the ground.")
    if standing:
        notes.append(
            f"{standing} is the ground: neither drawn nor looked at for overlaps; --keep-fixed"
            " makes it a body on a fixed joint."
        )
    lonely = set(bodies) - {name for first, second, _ in between for name in (first, second)}
    if lonely:
        notes.append(f"Touched by no other part: {', '.join(sorted(lonely))}.")
    doubtful = [part.name for part in parts if part.doubtful]
    if doubtful:
        notes.append(
            f"OpenCASCADE finds fault with the faces of {', '.join(doubtful[:8])}: compare the mass"
            " with that of your CAD program."
        )
    return Imported(document, found, tuple(notes))


def _below(path: str, output: str) -> str:
    """The path of a file as the model file at `output` names it."""
    file = os.path.relpath(os.path.realpath(path), os.path.dirname(os.path.realpath(output)))
    if file.startswith(os.pardir):
        raise UsageError(
            f"{path} is not below the folder of {output}, which is to name it: copy it there."
        )
    return file.replace(os.sep, "/")


def _bodies(parts: Sequence[Part], level: int | None) -> list[_Body]:
    """The parts, or what they make up at the level, in the order of the file."""
    together: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        held = level is not None and len(part.within) > level
        key = part.within[: (level or 0) + 1] if held else (*part.within, "", part.name)
        together.setdefault(key, []).append(part)
    taken = {"ground", "energy", "t"}
    found = []
    for key, own in together.items():
        wanted = _plain(key[-1])
        name, count = wanted, 2
        while name in taken:
            name, count = f"{wanted}_{count}", count + 1
        taken.add(name)
        found.append(_Body(name, tuple(own)))
    return found


def _standing(path: str, made: Sequence[_Body], ground: str) -> str:
    """The body that stands still, by its name or that of its only part; "" for none."""
    if not ground:
        return ""
    for body in made:
        if ground == body.name or [ground] == [part.name for part in body.parts]:
            return body.name
    for body in made:
        if _plain(ground) == body.name:
            return body.name
    names = ", ".join(body.name for body in made)
    raise UsageError(f"{path} has no part {ground!r}; there are {names}.")


def _body(body: _Body, file: str, density: float, *, alone: bool) -> dict[str, Any]:
    shapes = [{"step": file, "density": density, "part": part.name} for part in body.parts]
    if alone:
        del shapes[0]["part"]
    shape = shapes[0] if len(shapes) == 1 else shapes
    return {"shape": shape, "position": _rounded(body.centre)}


def _joints(
    between: Sequence[tuple[str, str, Proposal]], standing: str
) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Names, tables and evidence; the body that stands still comes first."""
    taken: set[str] = set()
    for first, second, proposal in between:
        ends = [first, second]
        if ends[1] == standing:
            ends.reverse()
        # the body's axes and origin are those of the file
        at = _rounded(proposal.point)
        held = [{"body": "ground" if end == standing else end, "at": at} for end in ends]
        table: dict[str, Any] = {"kind": proposal.kind, "between": held}
        if proposal.axis is not None:
            table["axis"] = _rounded(proposal.axis)
        wanted = f"{ends[0]}_{ends[1]}"
        name, count = wanted, 2
        while name in taken:
            name, count = f"{wanted}_{count}", count + 1
        taken.add(name)
        yield name, table, proposal.evidence


def _held(body: str) -> dict[str, Any]:
    """The joint of a body that stands where the file has it."""
    ends = [{"body": end, "at": [0.0, 0.0, 0.0]} for end in ("ground", body)]
    return {"kind": "fixed", "between": ends}


def _plain(name: str) -> str:
    plain = re.sub(r"[^\w-]+", "_", name).strip("_") or "part"
    return plain if re.match(r"[^\W\d]", plain) else f"x{plain}"


def _rounded(vector: Array) -> list[float]:
    """Plain numbers, without what is rounding beside the largest of them, or beside 1 mm."""
    largest = max(1e-3, float(np.abs(vector).max()))
    digits = 13 - math.floor(math.log10(largest))
    return [round(float(x), digits) + 0.0 for x in vector]
