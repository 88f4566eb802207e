"""STEP files by OpenCASCADE: every solid of an assembly with its name, placed as it stands.

Lengths of the file, whatever their unit, are metres here.  Volume, mass centre and inertia are
integrals over the solid's exact surfaces, not over triangles.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError, UsageError

Array = NDArray[np.float64]
METRE = 1e-3  # OpenCASCADE reads every file into mm
FINENESS = 0.02  # of triangles: deflection over the size of the part
ANGLE = 0.35  # [rad] of triangles on round faces


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A face: "cylinder" or "sphere" of `radius`, or "plane".  `point` lies on it, on its axis,
    or is its centre; `axis` its direction, of a plane the normal out of the solid.  `span` are the
    ends of a cylinder along its axis from `point`; `hollow` where the solid is outside."""

    kind: str
    point: Array
    axis: Array
    radius: float = 0.0
    span: tuple[float, float] = (0.0, 0.0)
    hollow: bool = False
    low: Array = field(default_factory=lambda: np.zeros(3))
    high: Array = field(default_factory=lambda: np.zeros(3))
    face: Any = field(default=None, repr=False)

    def apart(self, other: Surface) -> float:
        """Shortest distance of the two faces [m], their holes left out."""
        from OCP.BRepExtrema import BRepExtrema_DistShapeShape

        return float(BRepExtrema_DistShapeShape(self.face, other.face).Value()) * METRE


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One solid: `volume` [m^3], `centre` [m], `inertia` about it per density [m^5], and the
    corners of its box, all in the axes of the file."""

    name: str
    volume: float
    centre: Array
    inertia: Array
    low: Array
    high: Array
    solid: Any = field(repr=False)

    def surfaces(self) -> tuple[Surface, ...]:
        """Its round and plane faces."""
        return tuple(_surfaces(self.solid))

    def triangles(self) -> Array:
        """(n, 3, 3) corners of its surface, counterclockwise from outside, in metres."""
        return _triangles(self.solid, float(np.linalg.norm(self.high - self.low)))


def parts_of(path: str | os.PathLike[str]) -> tuple[Part, ...]:
    """The solids of a STEP file, names made unique by numbers.

    Raises UsageError where OpenCASCADE is not installed, ModelError for what is no STEP file.
    """
    name = os.path.realpath(path)
    try:
        found = os.stat(name)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}.") from None
    return _read(name, str(path), found.st_mtime_ns, found.st_size)


def part_of(path: str, name: str) -> Part:
    """The part of this name, or the only one.  Raises ModelError where there is none."""
    parts = parts_of(path)
    if not name and len(parts) == 1:
        return parts[0]
    for part in parts:
        if part.name == name:
            return part
    listed = ", ".join(part.name for part in parts[:12])
    asked = f"no part {name!r}" if name else f"{len(parts)} parts, and none is chosen (part)"
    raise ModelError(f"{path} has {asked}; there are {listed}.")


def require_occ() -> None:
    """UsageError where OpenCASCADE is not installed; its messages are turned off where it is."""
    try:
        from OCP.Message import Message, Message_PrinterOStream
    except ImportError:
        raise UsageError("OpenCASCADE is not installed: pip install 'vbg[cad]'.") from None
    Message.DefaultMessenger_s().RemovePrinters(Message_PrinterOStream.get_type_descriptor_s())


@lru_cache(maxsize=16)
def _read(name: str, shown: str, _time: int, _size: int) -> tuple[Part, ...]:
    require_occ()
    from OCP.IFSelect import IFSelect_ReturnStatus
    from OCP.STEPCAFControl import STEPCAFControl_Reader
    from OCP.TCollection import TCollection_ExtendedString
    from OCP.TDocStd import TDocStd_Document

    with open(name, "rb") as file:
        if not file.read(64).lstrip().startswith(b"ISO-10303-21"):
            raise ModelError(f"{shown} is no STEP file: it does not begin with ISO-10303-21.")
    reader = STEPCAFControl_Reader()
    reader.SetNameMode(True)
    document = TDocStd_Document(TCollection_ExtendedString("vbg"))
    read = reader.ReadFile(name) == IFSelect_ReturnStatus.IFSelect_RetDone
    if not read or not reader.Transfer(document):
        raise ModelError(f"{shown} is a damaged STEP file: OpenCASCADE cannot read it.")
    found = list(_solids(document))
    if not found:
        raise ModelError(f"{shown} holds no solid (surfaces and lines have no mass).")
    taken: dict[str, int] = {}
    parts = []
    for label, solid in found:
        taken[label] = taken.get(label, 0) + 1
        parts.append(measured(label if taken[label] == 1 else f"{label}_{taken[label]}", solid))
    return tuple(parts)


def _solids(document: Any) -> Iterator[tuple[str, Any]]:
    """(name, solid) of the whole assembly, placed."""
    from OCP.TDF import TDF_ChildIterator
    from OCP.TopLoc import TopLoc_Location
    from OCP.XCAFDoc import XCAFDoc_DocumentTool, XCAFDoc_ShapeTool

    tool = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    children = TDF_ChildIterator(tool.BaseLabel())
    while children.More():
        label = children.Value()
        children.Next()
        if XCAFDoc_ShapeTool.IsFree_s(label):
            yield from _below(label, "", TopLoc_Location())


def _below(label: Any, name: str, at: Any) -> Iterator[tuple[str, Any]]:
    from OCP.TDF import TDF_ChildIterator, TDF_Label
    from OCP.XCAFDoc import XCAFDoc_ShapeTool as Tool

    if Tool.IsReference_s(label):
        referred = TDF_Label()
        Tool.GetReferredShape_s(label, referred)
        yield from _below(referred, _name(label), at.Multiplied(Tool.GetLocation_s(label)))
        return
    name = name if name and not name.startswith(("NAUO", "=>")) else _name(label)
    if Tool.IsAssembly_s(label):
        children = TDF_ChildIterator(label)
        while children.More():
            child = children.Value()
            children.Next()
            if Tool.IsComponent_s(child):
                yield from _below(child, "", at)
        return
    shape = Tool.GetShape_s(label).Moved(at)
    for solid in _explored(shape, "SOLID"):
        yield name or "part", solid


def _name(label: Any) -> str:
    from OCP.TDataStd import TDataStd_Name

    attribute = TDataStd_Name()
    if not label.FindAttribute(TDataStd_Name.GetID_s(), attribute):
        return ""
    return str(attribute.Get().ToExtString()).strip()


def _explored(shape: Any, what: str) -> Iterator[Any]:
    from OCP.TopAbs import TopAbs_ShapeEnum
    from OCP.TopExp import TopExp_Explorer

    explorer = TopExp_Explorer(shape, getattr(TopAbs_ShapeEnum, f"TopAbs_{what}"))
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def measured(name: str, solid: Any) -> Part:
    """A solid of OpenCASCADE [mm] as a Part."""
    from OCP.BRepGProp import BRepGProp
    from OCP.GProp import GProp_GProps

    properties = GProp_GProps()
    BRepGProp.VolumeProperties_s(solid, properties)
    centre, J = properties.CentreOfMass(), properties.MatrixOfInertia()
    inertia = np.array([[J.Value(i, j) for j in (1, 2, 3)] for i in (1, 2, 3)])
    low, high = _box(solid)
    return Part(
        name,
        float(properties.Mass()) * METRE**3,
        np.array([centre.X(), centre.Y(), centre.Z()]) * METRE,
        inertia * METRE**5,
        low,
        high,
        solid,
    )


def _box(shape: Any) -> tuple[Array, Array]:
    from OCP.Bnd import Bnd_Box
    from OCP.BRepBndLib import BRepBndLib

    box = Bnd_Box()
    BRepBndLib.AddOptimal_s(shape, box, False, False)
    if box.IsVoid():
        return np.zeros(3), np.zeros(3)
    low, high = box.CornerMin(), box.CornerMax()
    corners = np.array([[c.X(), c.Y(), c.Z()] for c in (low, high)]) * METRE
    return corners[0], corners[1]


def _surfaces(solid: Any) -> Iterator[Surface]:
    from OCP.BRepAdaptor import BRepAdaptor_Surface
    from OCP.GeomAbs import GeomAbs_SurfaceType as Type
    from OCP.TopAbs import TopAbs_Orientation
    from OCP.TopoDS import TopoDS

    for found in _explored(solid, "FACE"):
        face = TopoDS.Face_s(found) if hasattr(TopoDS, "Face_s") else TopoDS.Face(found)
        adaptor = BRepAdaptor_Surface(face)
        reversed_ = face.Orientation() == TopAbs_Orientation.TopAbs_REVERSED
        low, high = _box(face)
        if adaptor.GetType() == Type.GeomAbs_Plane:
            place = adaptor.Plane().Position()
            sign = -1.0 if reversed_ != (not place.Direct()) else 1.0
            point, axis = _vector(place.Location()) * METRE, _vector(place.Direction())
            yield Surface("plane", point, sign * axis, low=low, high=high, face=face)
        elif adaptor.GetType() == Type.GeomAbs_Cylinder:
            cylinder = adaptor.Cylinder()
            place = cylinder.Position()
            ends = (adaptor.FirstVParameter() * METRE, adaptor.LastVParameter() * METRE)
            yield Surface(
                "cylinder",
                _vector(place.Location()) * METRE,
                _vector(place.Direction()),
                float(cylinder.Radius()) * METRE,
                ends,
                reversed_ != (not place.Direct()),
                low,
                high,
                face,
            )
        elif adaptor.GetType() == Type.GeomAbs_Sphere:
            sphere = adaptor.Sphere()
            place = sphere.Position()
            yield Surface(
                "sphere",
                _vector(place.Location()) * METRE,
                _vector(place.Direction()),
                float(sphere.Radius()) * METRE,
                hollow=reversed_ != (not place.Direct()),
                low=low,
                high=high,
                face=face,
            )


def _vector(found: Any) -> Array:
    return np.array([found.X(), found.Y(), found.Z()])


def _triangles(solid: Any, size: float) -> Array:
    from OCP.BRep import BRep_Tool
    from OCP.BRepMesh import BRepMesh_IncrementalMesh
    from OCP.TopAbs import TopAbs_Orientation
    from OCP.TopLoc import TopLoc_Location
    from OCP.TopoDS import TopoDS

    BRepMesh_IncrementalMesh(solid, FINENESS * size / METRE, False, ANGLE)
    found = []
    for shape in _explored(solid, "FACE"):
        face = TopoDS.Face_s(shape) if hasattr(TopoDS, "Face_s") else TopoDS.Face(shape)
        at = TopLoc_Location()
        mesh = BRep_Tool.Triangulation_s(face, at)
        if mesh is None:
            continue
        turned = at.Transformation()
        nodes = [_vector(mesh.Node(i + 1).Transformed(turned)) for i in range(mesh.NbNodes())]
        for k in range(mesh.NbTriangles()):
            a, b, c = (nodes[i - 1] for i in mesh.Triangle(k + 1).Get())
            turned_over = face.Orientation() == TopAbs_Orientation.TopAbs_REVERSED
            found.append([a, c, b] if turned_over else [a, b, c])
    return np.array(found).reshape(-1, 3, 3) * METRE
