"""An assembly as the document of a model file: one body for each solid, where it stands."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.io.step.proposals import Proposal, proposals
from vbg.solids.step import Array, Part, parts_of

STEEL = 7850.0  # [kg/m^3]


@dataclass(frozen=True, slots=True)
class Imported:
    """The document of a model file; the joints proposed for it as (name, table, evidence); and
    what is to be told."""

    document: Mapping[str, Any]
    proposed: tuple[tuple[str, Mapping[str, Any], str], ...]
    notes: tuple[str, ...]


def read(
    path: str,
    output: str,
    *,
    density: float = STEEL,
    ground: str = "",
    accept: bool = False,
) -> Imported:
    """The assembly at `path` for a model file at `output`, in whose folder it must lie.

    density : of all parts [kg/m^3], to be changed in the file.  ground : the part that stands
    still, and becomes no body.  accept : the proposed joints are joints.
    Raises ModelError for what is no STEP file, UsageError for a part that is not there.
    """
    parts = parts_of(path)
    names = _names(parts)
    if ground and ground not in {*names, *names.values()}:
        raise UsageError(f"{path} has no part {ground!r}; there are {', '.join(names)}.")
    standing = {names.get(ground, ground)} if ground else set()
    file = os.path.relpath(os.path.realpath(path), os.path.dirname(os.path.realpath(output)))
    if file.startswith(os.pardir):
        raise UsageError(
            f"{path} is not below the folder of {output}, which is to name it: copy it there."
        )
    bodies = {
        names[part.name]: _body(part, file.replace(os.sep, "/"), density, alone=len(parts) == 1)
        for part in parts
        if names[part.name] not in standing
    }
    centres = {names[part.name]: part.centre for part in parts}
    found = tuple(_joint(p, names, standing, centres) for p in proposals(parts))
    document: dict[str, Any] = {
        "vbg": 1,
        "name": _plain(os.path.splitext(os.path.basename(path))[0]),
        "description": f"imported from {os.path.basename(path)}",
        "bodies": bodies,
    }
    if accept and found:
        document["joints"] = {name: table for name, table, _ in found}
    notes = [f"Every part has {density:g} kg/m^3: write each one's own density."]
    if not ground:
        notes.append("No part stands still; --ground NAME makes one the ground.")
    lonely = set(bodies) - {n for p in proposals(parts) for n in (names[p.first], names[p.second])}
    if lonely:
        notes.append(f"Touched by no other part: {', '.join(sorted(lonely))}.")
    return Imported(document, found, tuple(notes))


def _body(part: Part, file: str, density: float, *, alone: bool) -> dict[str, Any]:
    shape: dict[str, Any] = {"step": file, "density": density}
    if not alone:
        shape["part"] = part.name
    return {"shape": shape, "position": _rounded(part.centre)}


def _joint(
    proposal: Proposal,
    names: Mapping[str, str],
    standing: set[str],
    centres: Mapping[str, Array],
) -> tuple[str, Mapping[str, Any], str]:
    """A joint's name, table and evidence; the part that stands still comes first."""
    ends = [names[proposal.first], names[proposal.second]]
    if ends[1] in standing:
        ends.reverse()
    between = []
    for end in ends:
        if end in standing:
            between.append({"body": "ground", "at": _rounded(proposal.point)})
        else:  # the body's axes and origin are those of the file
            between.append({"body": end, "at": _rounded(proposal.point)})
    table: dict[str, Any] = {"kind": proposal.kind, "between": between}
    if proposal.axis is not None:
        table["axis"] = _rounded(proposal.axis)
    return f"{ends[0]}_{ends[1]}", table, proposal.evidence


def _names(parts: Sequence[Part]) -> dict[str, str]:
    """part -> a name that a model file can have, each its own."""
    taken = {"ground", "energy", "t"}
    found = {}
    for part in parts:
        name, count = _plain(part.name), 2
        while name in taken:
            name, count = f"{_plain(part.name)}_{count}", count + 1
        taken.add(name)
        found[part.name] = name
    return found


def _plain(name: str) -> str:
    plain = re.sub(r"[^\w-]+", "_", name).strip("_") or "part"
    return plain if re.match(r"[^\W\d]", plain) else f"x{plain}"


def _rounded(vector: Array) -> list[float]:
    """Plain numbers; what is rounding beside the largest of them is zero."""
    least = 1e-13 * max(1e-3, float(np.abs(vector).max()))
    return [0.0 if abs(x) < least else float(x) for x in vector]
