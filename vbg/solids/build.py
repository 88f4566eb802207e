"""Shapes as solids of OpenCASCADE, in millimetres: to cut, to intersect and to write.

In the child process only (`vbg.solids.child`); vbg asks for it by `vbg.solids.made`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError
from vbg.fields import Shape
from vbg.solids.occ import METRE, measured, read_solid, volume_of

Array = NDArray[np.float64]
BOOLEANS = ("union", "cut", "common")
SEWN = 1e-6  # of the largest coordinate of triangles: corners this near are one
ADDS_UP = 1e-4  # of the volumes of two solids: what their boolean may lack


def solid_of(shape: Shape) -> Any:
    """The solid where the shape places it; the path of a step is that of its solid in binary form,
    that of an stl holds the corners of its triangles (n, 3, 3) [m].
    Raises ModelError where OpenCASCADE fails over a boolean."""
    if shape.kind in BOOLEANS:
        solid = _boolean(shape.kind, [solid_of(one) for one in shape.of])
    elif shape.kind == "step":
        solid = read_solid(shape.path)
    else:
        solid = _BUILT[shape.kind](shape)
    return placed(solid, shape.position, shape.rotation)


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
    shared = measured("", _done("common", a, b))
    if not shared.volume > 0.0:
        return 0.0, 0.0
    return shared.volume, float((shared.high - shared.low).min())


def _boolean(kind: str, solids: Sequence[Any]) -> Any:
    found = solids[0]
    for other in solids[1:]:
        one, found = found, _done(kind, found, other)
        _require_sum(kind, one, other, found)
    return found


def _done(kind: str, one: Any, other: Any) -> Any:
    from OCP.BRepAlgoAPI import BRepAlgoAPI_Common, BRepAlgoAPI_Cut, BRepAlgoAPI_Fuse

    acts = {"union": BRepAlgoAPI_Fuse, "cut": BRepAlgoAPI_Cut, "common": BRepAlgoAPI_Common}
    act = acts[kind](one, other)
    if not act.IsDone() or act.Shape() is None:
        raise ModelError(f"cannot be made: OpenCASCADE does not find the {kind} of two solids.")
    return act.Shape()


def _require_sum(kind: str, one: Any, other: Any, found: Any) -> None:
    """OpenCASCADE loses faces of solids that all but touch, without a word; but of volumes holds ::

    V(A + B) + V(A common B) = V(A) + V(B),    V(A - B) + V(A common B) = V(A)
    """
    rest = _done("cut" if kind == "common" else "common", one, other)
    a, b = volume_of(one), volume_of(other)
    lost = a + (b if kind == "union" else 0.0) - volume_of(found) - volume_of(rest)
    if not abs(lost) <= ADDS_UP * (a + b):
        share = abs(lost) / (a + b)
        raise ModelError(
            f"cannot be made: what OpenCASCADE finds as the {kind} of two solids lacks or counts "
            f"twice {share:.2g} of their volumes. Faces that all but coincide do that: let them "
            "coincide, or move one."
        )


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
    return _done("cut", solid, _drum(inner, shape.sizes["length"])) if inner else solid


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


def _faceted(shape: Shape) -> Any:
    """Its triangles as faces, those in one plane as one face."""
    from OCP.BRep import BRep_Builder
    from OCP.BRepBuilderAPI import BRepBuilderAPI_Sewing
    from OCP.BRepLib import BRepLib
    from OCP.ShapeUpgrade import ShapeUpgrade_UnifySameDomain
    from OCP.TopAbs import TopAbs_ShapeEnum
    from OCP.TopExp import TopExp_Explorer
    from OCP.TopoDS import TopoDS_Solid

    triangles = np.load(shape.path)
    sewing = BRepBuilderAPI_Sewing(SEWN * float(np.abs(triangles).max()) / METRE)
    for corners in triangles:
        if np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0])) > 0.0:
            sewing.Add(_face(corners))
    sewing.Perform()
    maker, solid, shells = BRep_Builder(), TopoDS_Solid(), 0
    maker.MakeSolid(solid)
    explorer = TopExp_Explorer(sewing.SewedShape(), TopAbs_ShapeEnum.TopAbs_SHELL)
    while explorer.More():
        maker.Add(solid, explorer.Current())
        shells += 1
        explorer.Next()
    if shells != 1:
        raise ModelError(f"cannot be made: its triangles are {shells} closed surfaces, not one.")
    BRepLib.OrientClosedSolid_s(solid)
    merged = ShapeUpgrade_UnifySameDomain(solid, True, True, False)
    merged.Build()
    return merged.Shape()


_BUILT: Mapping[str, Callable[[Shape], Any]] = {
    "box": _box,
    "sphere": _sphere,
    "cone": _cone,
    "cylinder": _cylinder,
    "tube": _cylinder,
    "extrude": _extrude,
    "revolve": _revolve,
    "stl": _faceted,
}


def write_step(solids: Sequence[tuple[str, Any]], name: str, path: str) -> None:
    """Write an assembly of named solids as a STEP file."""
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
    if writer.Write(path) != IFSelect_ReturnStatus.IFSelect_RetDone:
        raise ModelError("cannot be written by OpenCASCADE.")
