"""Shapes as solids of OpenCASCADE, in millimetres: to cut, to measure, to draw and to write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError, UsageError
from vbg.fields import Shape
from vbg.solids.occ import METRE, Part, measured, require_occ
from vbg.solids.step import part_of

Array = NDArray[np.float64]
BOOLEANS = ("union", "cut", "common")


def solid_of(shape: Shape) -> Any:
    """The solid where the shape places it.  Raises UsageError without OpenCASCADE."""
    require_occ()
    if shape.kind == "stl":
        raise UsageError(f"{shape.file} holds triangles, and OpenCASCADE needs solids.")
    if shape.kind in BOOLEANS:
        solid = _boolean(shape.kind, [solid_of(one) for one in shape.of])
    elif shape.kind == "step":
        solid = part_of(shape.path, shape.part).solid
    else:
        solid = _BUILT[shape.kind](shape)
    return placed(solid, shape.position, shape.rotation)


def part_from(shape: Shape) -> Part:
    """The same, measured.  Raises ModelError where nothing is left of it."""
    solid = solid_of(shape)
    part = measured("", solid)
    if not part.volume > 0.0:
        raise ModelError(f"nothing is left of this {shape.kind}: its solids do not meet so.")
    return part


def placed(solid: Any, position: Sequence[float], rotation: Sequence[float]) -> Any:
    """Turned by a quaternion, scalar first, and moved [m]."""
    from OCP.BRepBuilderAPI import BRepBuilderAPI_Transform
    from OCP.gp import gp_Quaternion, gp_Trsf, gp_Vec

    w, x, y, z = rotation
    move = gp_Trsf()
    move.SetRotation(gp_Quaternion(x, y, z, w))
    move.SetTranslationPart(gp_Vec(*(p / METRE for p in position)))
    return BRepBuilderAPI_Transform(solid, move, True).Shape()


def common_volume(a: Any, b: Any) -> tuple[float, float]:
    """What two solids share [m^3], and the least extent of it along the axes [m]: how deep."""
    from OCP.BRepAlgoAPI import BRepAlgoAPI_Common

    shared = measured("", BRepAlgoAPI_Common(a, b).Shape())
    if not shared.volume > 0.0:
        return 0.0, 0.0
    return shared.volume, float((shared.high - shared.low).min())


def _boolean(kind: str, solids: Sequence[Any]) -> Any:
    from OCP.BRepAlgoAPI import BRepAlgoAPI_Common, BRepAlgoAPI_Cut, BRepAlgoAPI_Fuse

    act = {"union": BRepAlgoAPI_Fuse, "cut": BRepAlgoAPI_Cut, "common": BRepAlgoAPI_Common}[kind]
    found = solids[0]
    for other in solids[1:]:
        found = act(found, other).Shape()
    return found


def _box(shape: Shape) -> Any:
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox
    from OCP.gp import gp_Pnt

    half = [shape.sizes[k] / METRE / 2 for k in "xyz"]
    return BRepPrimAPI_MakeBox(gp_Pnt(*(-h for h in half)), gp_Pnt(*half)).Shape()


def _sphere(shape: Shape) -> Any:
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeSphere

    return BRepPrimAPI_MakeSphere(shape.sizes["radius"] / METRE).Shape()


def _cone(shape: Shape) -> Any:
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeCone

    sizes = shape.sizes
    return BRepPrimAPI_MakeCone(sizes["radius"] / METRE, 0.0, sizes["height"] / METRE).Shape()


def _cylinder(shape: Shape) -> Any:
    solid = _drum(shape.sizes["radius"], shape.sizes["length"])
    inner = shape.sizes.get("inner_radius", 0.0)
    return _boolean("cut", [solid, _drum(inner, shape.sizes["length"])]) if inner else solid


def _drum(radius: float, length: float) -> Any:
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeCylinder
    from OCP.gp import gp_Ax2, gp_Dir, gp_Pnt

    r, l = radius / METRE, length / METRE
    return BRepPrimAPI_MakeCylinder(gp_Ax2(gp_Pnt(0, 0, -l / 2), gp_Dir(0, 0, 1)), r, l).Shape()


def _extrude(shape: Shape) -> Any:
    from OCP.BRepPrimAPI import BRepPrimAPI_MakePrism
    from OCP.gp import gp_Vec

    h = shape.sizes["height"] / METRE
    face = _face([(x, y, -h / 2 * METRE) for x, y in shape.profile])
    return BRepPrimAPI_MakePrism(face, gp_Vec(0, 0, h)).Shape()


def _revolve(shape: Shape) -> Any:
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeRevol
    from OCP.gp import gp_Ax1, gp_Dir, gp_Pnt

    face = _face([(r, 0.0, z) for r, z in shape.profile])
    return BRepPrimAPI_MakeRevol(face, gp_Ax1(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1))).Shape()


def _face(corners: Sequence[Sequence[float]]) -> Any:
    from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeFace, BRepBuilderAPI_MakePolygon
    from OCP.gp import gp_Pnt

    polygon = BRepBuilderAPI_MakePolygon()
    for corner in corners:
        polygon.Add(gp_Pnt(*(c / METRE for c in corner)))
    polygon.Close()
    return BRepBuilderAPI_MakeFace(polygon.Wire()).Face()


_BUILT: Mapping[str, Callable[[Shape], Any]] = {
    "box": _box,
    "sphere": _sphere,
    "cone": _cone,
    "cylinder": _cylinder,
    "tube": _cylinder,
    "extrude": _extrude,
    "revolve": _revolve,
}


def write_step(solids: Sequence[tuple[str, Any]], name: str) -> bytes:
    """An assembly of named solids as the content of a STEP file."""
    require_occ()
    from OCP.IFSelect import IFSelect_ReturnStatus
    from OCP.STEPCAFControl import STEPCAFControl_Writer
    from OCP.TCollection import TCollection_ExtendedString as Text
    from OCP.TDataStd import TDataStd_Name
    from OCP.TDocStd import TDocStd_Document
    from OCP.TopLoc import TopLoc_Location
    from OCP.XCAFDoc import XCAFDoc_DocumentTool

    document = TDocStd_Document(Text("vbg"))
    tool = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    whole = tool.NewShape()
    TDataStd_Name.Set_s(whole, Text(name))
    for label_name, solid in solids:
        label = tool.AddShape(solid, False)
        TDataStd_Name.Set_s(label, Text(label_name))
        tool.AddComponent(whole, label, TopLoc_Location())
    tool.UpdateAssemblies()
    writer = STEPCAFControl_Writer()
    writer.Transfer(document)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.step"
        if writer.Write(str(path)) != IFSelect_ReturnStatus.IFSelect_RetDone:
            raise ModelError("OpenCASCADE could not write the solids.")
        return path.read_bytes()
