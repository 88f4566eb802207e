"""The process in which OpenCASCADE works: ``python -m vbg.solids.child``.

A job is {"do": ..., "folder": where files are left, ...}; the answer {"refused": text,
"found": ...}.

    read, mesh, propose  the STEP "file", "changed", of "size": every solid is measured and left
                         as k.bin; its triangles as k.npy; joints are found
    build                the "shape" is measured and left as "left".bin; with "mesh" as .npy, too
    common               what two placed solids share: volume and depth
    write                placed "solids" under their names, as the assembly "name" in machine.step

A shape is the fields of `vbg.fields.Shape` that place and size it, with the path of a solid in
binary form where it is a part of a file; a placed solid is such a "solid" and its "place".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.errors import ModelError
from vbg.fields import Shape
from vbg.platform.limited import serve
from vbg.solids.build import common_volume, placed, solid_of, write_step
from vbg.solids.occ import Part, measured, read_solid, require_occ, write_solid
from vbg.solids.proposals import Proposal, proposals
from vbg.solids.reading import read


def answer(job: Mapping[str, Any]) -> dict[str, Any]:
    """What is found, or why the job is refused."""
    act, fault = _ACTS.get(job["do"], (_in_file, "is a damaged STEP file"))
    try:
        require_occ()
        return {"refused": "", "found": act(job)}
    except ModelError as error:
        return {"refused": str(error), "found": None}
    except Exception as error:  # noqa: BLE001  OpenCASCADE's own, of whatever class
        said = " ".join(str(error).split())[:200]
        return {"refused": f"{fault}: OpenCASCADE says {said!r}.", "found": None}


def _in_file(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = read(job["file"], job["changed"], job["size"])
    if job["do"] == "propose":
        return [_proposal(one) for one in proposals(parts)]
    found = []
    for k, part in enumerate(parts):
        if job["do"] == "mesh":
            np.save(f"{job['folder']}/{k}.npy", part.triangles())
        else:
            write_solid(part.solid, f"{job['folder']}/{k}.bin")
            found.append(_part(part))
    return found


def _built(job: Mapping[str, Any]) -> dict[str, Any]:
    part, left = measured("", solid_of(shape_from(job["shape"]))), f"{job['folder']}/{job['left']}"
    if job["mesh"]:
        np.save(f"{left}.npy", part.triangles())
    write_solid(part.solid, f"{left}.bin")
    return _part(part)


def _common(job: Mapping[str, Any]) -> tuple[float, float]:
    return common_volume(*(_placed(one) for one in job["solids"]))


def _written(job: Mapping[str, Any]) -> None:
    solids = [(one["name"], _placed(one)) for one in job["solids"]]
    write_step(solids, job["name"], f"{job['folder']}/machine.step")


_ACTS = {
    "build": (_built, "cannot be made"),
    "common": (_common, "cannot be intersected"),
    "write": (_written, "cannot be written"),
}


def shape_from(told: Mapping[str, Any]) -> Shape:
    """The shape that a job tells of."""
    return Shape(
        told["kind"],
        told["sizes"],
        position=tuple(told["position"]),
        rotation=tuple(told["rotation"]),
        path=told["path"],
        of=tuple(shape_from(one) for one in told["of"]),
        profile=tuple(tuple(corner) for corner in told["profile"]),
    )


def _placed(one: Mapping[str, Any]) -> Any:
    return placed(read_solid(one["solid"]), *one["place"])


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
