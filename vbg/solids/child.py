"""The process in which OpenCASCADE reads strangers' files: ``python -m vbg.solids.child``.

A job is {"do": "read" | "propose" | "mesh", "file", "changed", "size", "folder"}; the answer
{"refused": text, "found": [...]}.  "read" measures every solid and leaves it as k.bin in the
folder, "mesh" its triangles as k.npy, "propose" finds joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.errors import ModelError
from vbg.platform.limited import serve
from vbg.solids.occ import Part, write_solid
from vbg.solids.proposals import Proposal, proposals
from vbg.solids.reading import read


def answer(job: Mapping[str, Any]) -> dict[str, Any]:
    """What is found in the file, or why it is refused."""
    try:
        parts = read(job["file"], job["changed"], job["size"])
    except ModelError as error:
        return {"refused": str(error), "found": []}
    except Exception as error:  # noqa: BLE001  OpenCASCADE's own, of whatever class
        said = " ".join(str(error).split())[:200]
        return {"refused": f"is a damaged STEP file: OpenCASCADE says {said!r}.", "found": []}
    folder, found = job["folder"], []
    if job["do"] == "propose":
        found = [_proposal(one) for one in proposals(parts)]
    for k, part in enumerate(parts):
        if job["do"] == "mesh":
            np.save(f"{folder}/{k}.npy", part.triangles())
        elif job["do"] == "read":
            write_solid(part.solid, f"{folder}/{k}.bin")
            found.append(_part(part))
    return {"refused": "", "found": found}


def _part(part: Part) -> dict[str, Any]:
    vectors = {key: getattr(part, key).tolist() for key in ("centre", "inertia", "low", "high")}
    return vectors | {
        "name": part.name,
        "volume": part.volume,
        "within": part.within,
        "colour": part.colour,
        "doubtful": part.doubtful,
    }


def _proposal(one: Proposal) -> dict[str, Any]:
    return {
        "first": one.first,
        "second": one.second,
        "kind": one.kind,
        "point": one.point.tolist(),
        "axis": None if one.axis is None else one.axis.tolist(),
        "evidence": one.evidence,
    }


if __name__ == "__main__":
    serve(answer)
