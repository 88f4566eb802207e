"""Solids in OpenCASCADE, in millimetres: what they measure, their faces, their triangles.

Volume, mass centre and inertia are integrals over the solid's exact surfaces, not over triangles.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError

Array = NDArray[np.float64]
METRE = 1e-3  # OpenCASCADE reads every file into mm
FINENESS = 0.02  # of triangles: deflection over the size of the part
EXACT = (
    1e-13  # of the volume under a face, where its quadrature ends; moments are then right to 1e-8
)
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
    corners of its box, all in the axes of the file.  `within`: the assemblies that hold it, from
    the outermost; `colour` as #rrggbb, "" for none; `doubtful` where OpenCASCADE finds fault with
    its faces; `made`: the solid of OpenCASCADE, or its binary form."""

    name: str
    volume: float
    centre: Array
    inertia: Array
    low: Array
    high: Array
    made: Any = field(repr=False)
    within: tuple[str, ...] = ()
    colour: str = ""
    doubtful: bool = False

    @property
    def solid(self) -> Any:
        """The solid of OpenCASCADE [mm]."""
        return solid_from(self.made) if isinstance(self.made, bytes) else self.made

    def surfaces(self) -> tuple[Surface, ...]:
        """Its round and plane faces."""
        return tuple(_surfaces(self.solid))

    def triangles(self) -> Array:
        """(n, 3, 3) corners of its surface, counterclockwise from outside, in metres."""
        return _triangles(self.solid, float(np.linalg.norm(self.high - self.low)))


def require_occ() -> None:
    """UsageError where OpenCASCADE is not installed; its messages are turned off where it is."""
    try:
        from OCP.Message import Message, Message_PrinterOStream
    except ImportError:
        raise UsageError("OpenCASCADE is not installed: pip install 'vbg[cad]'.") from None
    Message.DefaultMessenger_s().RemovePrinters(Message_PrinterOStream.get_type_descriptor_s())


def write_solid(solid: Any, path: str) -> None:
    """Write a solid in OpenCASCADE's binary form, every digit of it."""
    from OCP.BinTools import BinTools

    BinTools.Write_s(solid, path)


@lru_cache(maxsize=256)
def read_solid(path: str) -> Any:
    """The solid of a file in that form."""
    from OCP.BinTools import BinTools
    from OCP.TopoDS import TopoDS_Shape

    found = TopoDS_Shape()
    BinTools.Read_s(found, path)
    return found


@lru_cache(maxsize=256)
def solid_from(content: bytes) -> Any:
    """The solid of a binary form.  Raises UsageError without OpenCASCADE."""
    require_occ()
    with tempfile.TemporaryDirectory(prefix="vbg-solid-") as folder:
        path = os.path.join(folder, "solid.bin")
        with open(path, "wb") as file:
            file.write(content)
        return read_solid.__wrapped__(path)


def explored(shape: Any, what: str) -> Iterator[Any]:
    from OCP.TopAbs import TopAbs_ShapeEnum
    from OCP.TopExp import TopExp_Explorer

    explorer = TopExp_Explorer(shape, getattr(TopAbs_ShapeEnum, f"TopAbs_{what}"))
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def volume_of(solid: Any) -> float:
    """[m^3]."""
    return float(_integrals(solid).Mass()) * METRE**3


def _integrals(solid: Any) -> Any:
    """Over the solid's faces, by a quadrature that refines itself: with OpenCASCADE's fixed number
    of points, faces between curved edges, as where two cones meet, err by up to 1e-3."""
    from OCP.BRepGProp import BRepGProp
    from OCP.GProp import GProp_GProps

    properties = GProp_GProps()
    BRepGProp.VolumeProperties_s(solid, properties, EXACT)
    return properties


def measured(name: str, solid: Any) -> Part:
    """A solid of OpenCASCADE [mm] as a Part."""
    properties = _integrals(solid)
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

    for found in explored(solid, "FACE"):
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
    for shape in explored(solid, "FACE"):
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
