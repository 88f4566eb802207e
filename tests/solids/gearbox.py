"""A gearbox of eight solids, written as an assembly by OpenCASCADE: a housing with bores, four
bearing rings in them, two shafts with shoulders, and a gear on the first shaft [mm]."""

from __future__ import annotations

from typing import Any

SHAFTS = {"input": (0.0, 0.0), "output": (60.0, 0.0)}
WIDTH = 80.0  # of the housing along z, walls of 10 mm


def solids() -> dict[str, Any]:
    """Name -> solid, where it stands."""
    from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut, BRepAlgoAPI_Fuse
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox
    from OCP.gp import gp_Pnt

    box = BRepPrimAPI_MakeBox(gp_Pnt(-50, -50, 0), gp_Pnt(110, 50, WIDTH)).Shape()
    room = BRepPrimAPI_MakeBox(gp_Pnt(-40, -40, 10), gp_Pnt(100, 40, WIDTH - 10)).Shape()
    housing = BRepAlgoAPI_Cut(box, room).Shape()
    made: dict[str, Any] = {}
    for name, (x, y) in SHAFTS.items():
        housing = BRepAlgoAPI_Cut(housing, cylinder(x, y, -1, 15, WIDTH + 2)).Shape()
        for side, z in (("left", 0.0), ("right", WIDTH - 10)):
            ring = cylinder(x, y, z, 15, 10)
            made[f"{name} {side}"] = BRepAlgoAPI_Cut(ring, cylinder(x, y, z - 1, 8, 12)).Shape()
        body = BRepAlgoAPI_Fuse(
            cylinder(x, y, -20, 8, WIDTH + 40), cylinder(x, y, 10, 12, WIDTH - 20)
        )
        made[f"{name} shaft"] = body.Shape()
    x, y = SHAFTS["input"]
    gear = BRepAlgoAPI_Cut(cylinder(x, y, 30, 30, 20), cylinder(x, y, 29, 12, 22)).Shape()
    return {"housing": housing, **made, "gear": gear}


def cylinder(x: float, y: float, z: float, radius: float, height: float) -> Any:
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeCylinder
    from OCP.gp import gp_Ax2, gp_Dir, gp_Pnt

    return BRepPrimAPI_MakeCylinder(
        gp_Ax2(gp_Pnt(x, y, z), gp_Dir(0, 0, 1)), radius, height
    ).Shape()


def write(path: str, *assemblies: dict[str, Any]) -> None:
    """Assemblies of named components, all with one name."""
    from OCP.STEPCAFControl import STEPCAFControl_Writer
    from OCP.TCollection import TCollection_ExtendedString as Text
    from OCP.TDataStd import TDataStd_Name
    from OCP.TDocStd import TDocStd_Document
    from OCP.TopLoc import TopLoc_Location
    from OCP.XCAFDoc import XCAFDoc_DocumentTool

    from vbg.solids.occ import require_occ

    require_occ()
    document = TDocStd_Document(Text("gearbox"))
    tool = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    for shapes in assemblies:
        whole = tool.NewShape()
        TDataStd_Name.Set_s(whole, Text("gearbox"))
        for name, shape in shapes.items():
            label = tool.AddShape(shape, False)
            TDataStd_Name.Set_s(label, Text(name))
            tool.AddComponent(whole, label, TopLoc_Location())
    tool.UpdateAssemblies()
    writer = STEPCAFControl_Writer()
    writer.Transfer(document)
    writer.Write(path)
