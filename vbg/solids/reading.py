"""STEP files by OpenCASCADE, in the process that `vbg.solids.child` is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from vbg.errors import ModelError
from vbg.solids.occ import METRE, Part, explored, measured, require_occ
from vbg.solids.stl import enclosed

LARGEST_GAP = 0.01  # of a part's size: between faces that are to meet
UNLIKE = 0.05  # of a volume, beside that of its triangles
_SOLID = re.compile(rb"\b(?:MANIFOLD_SOLID_BREP|BREP_WITH_VOIDS|FACETED_BREP)\s*\(")


@lru_cache(maxsize=1)
def read(path: str, changed: int, size: int) -> tuple[Part, ...]:
    """The solids of a file of that `size`, `changed` then, placed, with their names, assemblies
    and colours.

    Raises ModelError, whose message goes on after the name of the file, where OpenCASCADE
    cannot read it, where it holds no solid, or one whose surface does not enclose it.
    """
    require_occ()
    from OCP.IFSelect import IFSelect_ReturnStatus
    from OCP.STEPCAFControl import STEPCAFControl_Reader
    from OCP.TCollection import TCollection_ExtendedString
    from OCP.TDocStd import TDocStd_Document

    reader = STEPCAFControl_Reader()
    reader.SetNameMode(True)
    reader.SetColorMode(True)
    document = TDocStd_Document(TCollection_ExtendedString("vbg"))
    done = reader.ReadFile(path) == IFSelect_ReturnStatus.IFSelect_RetDone
    if not done or not reader.Transfer(document):
        raise ModelError("is a damaged STEP file: OpenCASCADE cannot read it.")
    _require_all(path, document)
    taken: dict[str, int] = {}
    parts = []
    for name, within, solid, labels in _solids(document):
        taken[name] = taken.get(name, 0) + 1
        own = name if taken[name] == 1 else f"{name}_{taken[name]}"
        parts.append(_part(document, own, within, solid, labels))
    if not parts:
        raise ModelError("holds no solid (surfaces and lines have no mass).")
    return tuple(parts)


def _part(document: Any, name: str, within: tuple[str, ...], solid: Any, labels: Any) -> Part:
    part = measured(name, solid)
    size = float(np.linalg.norm(part.high - part.low))
    closed = all(map(_is_closed, explored(solid, "SHELL")))
    if not closed or not 0.0 < part.volume <= size**3 or _gap(solid) > LARGEST_GAP * size:
        raise ModelError(
            f"holds a part whose faces enclose no volume: {name}. They do not meet, or"
            " some are missing: mend it in the CAD program and export it once more."
        )
    doubtful = not _is_valid(solid)
    if doubtful and abs(enclosed(part.triangles())[0] / part.volume - 1.0) > UNLIKE:
        raise ModelError(
            f"holds a part whose faces contradict each other: {name}. What they enclose is not"
            " what their triangles do: mend it in the CAD program and export it once more."
        )
    colour = _colour(document, solid, labels)
    return replace(part, within=within, colour=colour, doubtful=doubtful)


def _require_all(path: str, document: Any) -> None:
    """OpenCASCADE leaves out solids that it cannot make, and says nothing: as many must be there
    as are written."""
    from OCP.TDF import TDF_ChildIterator
    from OCP.XCAFDoc import XCAFDoc_DocumentTool
    from OCP.XCAFDoc import XCAFDoc_ShapeTool as Tool

    with open(path, "rb") as file:
        written = sum(1 for one in file.read().split(b";") if _SOLID.search(one))
    made, empty = 0, []
    children = TDF_ChildIterator(XCAFDoc_DocumentTool.ShapeTool_s(document.Main()).BaseLabel())
    while children.More():
        label = children.Value()
        children.Next()
        if Tool.IsSimpleShape_s(label):
            shape = Tool.GetShape_s(label)
            solids = len(list(explored(shape, "SOLID")))
            made += solids
            if not solids:
                empty.append(_name(label) or "part")
    if made < written:
        which = f": {', '.join(empty[:8])}" if empty else ""
        raise ModelError(
            f"holds {written} solids, of which OpenCASCADE can make {made}{which}. The others are"
            " damaged: mend them in the CAD program and export it once more."
        )


def _gap(solid: Any) -> float:
    """By how much edges miss their faces, and corners their edges, at the most [m]."""
    from OCP.ShapeAnalysis import ShapeAnalysis_ShapeTolerance

    return float(ShapeAnalysis_ShapeTolerance().Tolerance(solid, 1)) * METRE


def _is_valid(solid: Any) -> bool:
    from OCP.BRepCheck import BRepCheck_Analyzer

    return bool(BRepCheck_Analyzer(solid).IsValid())


Found = tuple[str, tuple[str, ...], Any, tuple[Any, ...]]
"""Name, assemblies that hold it, solid, and the labels that may have its colour."""


def _solids(document: Any) -> Iterator[Found]:
    """Those of all assemblies that stand in no other, placed."""
    from OCP.TDF import TDF_ChildIterator
    from OCP.TopLoc import TopLoc_Location
    from OCP.XCAFDoc import XCAFDoc_DocumentTool, XCAFDoc_ShapeTool

    tool = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    taken: dict[str, int] = {}
    children = TDF_ChildIterator(tool.BaseLabel())
    while children.More():
        label = children.Value()
        children.Next()
        if XCAFDoc_ShapeTool.IsFree_s(label):
            yield from _numbered(_below(label, (), (), TopLoc_Location()), 0, taken)


def _below(label: Any, within: tuple[str, ...], used: tuple[Any, ...], at: Any) -> Iterator[Found]:
    """`used`: the labels by which this one is placed, the nearest first."""
    from OCP.TDF import TDF_ChildIterator, TDF_Label
    from OCP.XCAFDoc import XCAFDoc_ShapeTool as Tool

    if Tool.IsReference_s(label):
        referred = TDF_Label()
        Tool.GetReferredShape_s(label, referred)
        moved = at.Multiplied(Tool.GetLocation_s(label))
        yield from _below(referred, within, (label, *used), moved)
        return
    given = _name(used[0]) if used else ""
    name = given if given and not given.startswith(("NAUO", "=>")) else _name(label)
    if Tool.IsAssembly_s(label):
        taken: dict[str, int] = {}
        children = TDF_ChildIterator(label)
        while children.More():
            child = children.Value()
            children.Next()
            if Tool.IsComponent_s(child):
                inside = _below(child, (*within, name or "part"), (), at)
                yield from _numbered(inside, len(within) + 1, taken)
        return
    for solid in explored(Tool.GetShape_s(label).Moved(at), "SOLID"):
        yield name or "part", within, solid, (*used, label)


def _numbered(below: Iterator[Found], depth: int, taken: dict[str, int]) -> Iterator[Found]:
    """Assemblies of one name beside each other told apart by numbers: this one's at `depth`."""
    number = 0
    for name, within, solid, labels in below:
        if len(within) > depth:
            own = within[depth]
            if not number:
                taken[own] = number = taken.get(own, 0) + 1
            if number > 1:
                within = (*within[:depth], f"{own}_{number}", *within[depth + 1 :])
        yield name, within, solid, labels


def _name(label: Any) -> str:
    from OCP.TDataStd import TDataStd_Name

    attribute = TDataStd_Name()
    if not label.FindAttribute(TDataStd_Name.GetID_s(), attribute):
        return ""
    return str(attribute.Get().ToExtString()).strip()


def _is_closed(shell: Any) -> bool:
    """Whether every edge of its faces is one of two of them."""
    from OCP.BRepCheck import BRepCheck_Shell, BRepCheck_Status
    from OCP.TopoDS import TopoDS

    found = TopoDS.Shell_s(shell) if hasattr(TopoDS, "Shell_s") else TopoDS.Shell(shell)
    return bool(BRepCheck_Shell(found).Closed() == BRepCheck_Status.BRepCheck_NoError)


def _colour(document: Any, solid: Any, labels: tuple[Any, ...]) -> str:
    """#rrggbb of the solid, of what places it, or of its faces where all have the same; else ""."""
    from OCP.Quantity import Quantity_Color
    from OCP.XCAFDoc import XCAFDoc_ColorTool, XCAFDoc_ColorType, XCAFDoc_DocumentTool

    colours = XCAFDoc_DocumentTool.ColorTool_s(document.Main())
    kinds = (XCAFDoc_ColorType.XCAFDoc_ColorSurf, XCAFDoc_ColorType.XCAFDoc_ColorGen)
    found = Quantity_Color()

    def of_shape(shape: Any) -> str:
        own = any(colours.GetColor(shape, kind, found) for kind in kinds)
        return _hexadecimal(found) if own else ""

    for label in labels:
        if any(XCAFDoc_ColorTool.GetColor_s(label, kind, found) for kind in kinds):
            return _hexadecimal(found)
    faces = {of_shape(face) for face in explored(solid, "FACE")}
    return of_shape(solid) or (faces.pop() if len(faces) == 1 else "")


def _hexadecimal(colour: Any) -> str:
    from OCP.Quantity import Quantity_Color

    return str(Quantity_Color.ColorToHex_s(colour, True).ToCString()).lower()
