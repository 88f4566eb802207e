"""The beam: rigid sections with elastic fields between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from vbg.fields import Attachment, declare, quantity

Vector = tuple[float, float, float]
SECTIONS = ("rod", "tube", "rectangle", "I")
MOST = 3000  # elements: 5 ms each to assemble; a bent tip is 6e-3 off with 8, 5e-8 with so many
SHORTEST = 1e-9  # element, of the length of the beam: below that, rounding makes its axes


@dataclass(frozen=True, slots=True)
class Rod:
    """A full circle."""

    radius: float = quantity("m", "radius", above=0.0)


@dataclass(frozen=True, slots=True)
class Tube:
    """A ring."""

    radius: float = quantity("m", "outer radius", above=0.0)
    inner_radius: float = quantity("m", "inner radius", above=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A tube without a wall."""
        if self.inner_radius >= self.radius:
            yield "inner_radius", "the inner radius must be smaller than the outer.", ""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle."""

    y: float = quantity("m", "width along y", above=0.0)
    z: float = quantity("m", "height along z", above=0.0)


@dataclass(frozen=True, slots=True)
class Profile:
    """An I of two flanges across z and a web along z."""

    width: float = quantity("m", "of the flanges, along y", above=0.0)
    height: float = quantity("m", "over all, along z", above=0.0)
    flange: float = quantity("m", "thickness of each flange", above=0.0)
    web: float = quantity("m", "thickness of the web", above=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Flanges that meet, a web wider than they are."""
        if 2.0 * self.flange >= self.height:
            yield "flange", "both flanges together must be lower than the height.", ""
        if self.web > self.width:
            yield "web", "the web must not be wider than the flanges.", ""


@dataclass(frozen=True, slots=True)
class Section:
    """The cross-section: one of its kinds."""

    rod: Rod | None = declare("group", "a full circle: radius", of=Rod, default=None)
    tube: Tube | None = declare("group", "a ring: radius, inner_radius", of=Tube, default=None)
    rectangle: Rectangle | None = declare(
        "group", "y along the section's y, z along its z", of=Rectangle, default=None
    )
    I: Profile | None = declare(
        "group", "width (y), height (z), flange, web", of=Profile, default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """None, or several at once."""
        given = [kind for kind in SECTIONS if getattr(self, kind) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            yield "", f"expected one of the sections {', '.join(SECTIONS)}, found {found}.", ""


@dataclass(frozen=True, slots=True)
class Material:
    """Elasticity and density; `nu` tells the shear modulus G = E / (2 (1 + nu))."""

    E: float = quantity("Pa", "modulus of elasticity", above=0.0)
    nu: float = quantity("1", "Poisson's ratio", default=0.3, above=-1.0, maximum=0.5)
    density: float = quantity("kg/m^3", "mass per volume", above=0.0)


@dataclass(frozen=True, slots=True)
class Beam:
    """A Timoshenko beam in large motion: n elements, each an exact elastic field about its
    middle (`beam_element`), between n + 1 rigid sections with the mass around each node.

    Sections are the bodies NAME_0 ... NAME_n, each with its node as point N, elements the
    forces NAME_e1 ... NAME_en; an end on a body is the fixed joint NAME_A or NAME_B, whose force
    and torque are the end's wrench.  Parts hold the beam at NAME.A, NAME.B or a node, NAME.3.
    Gyroscopic, centrifugal and buckling terms follow from the motion of the sections.  Without
    load the beam is as it is written, straight or along `line`; frequencies converge with the
    square of the element's length.
    """

    table: ClassVar[str] = "beams"
    kind: ClassVar[str] = "beam"

    between: tuple[Attachment | None, Attachment | None] = declare(
        "span",
        "what holds its ends A and B: a body's point, the node of an earlier beam, ground, or free",
    )
    length: float | None = quantity("m", "of a straight beam", above=0.0, default=None)
    axis: Vector | None = declare(
        "direction",
        "from A to B, in the axes of the body that holds it (world axes if none does); default: x",
        size=3,
        default=None,
    )
    line: tuple[Vector, ...] | None = declare(
        "table",
        "nodes of a curved beam from A = [0, 0, 0] on, same axes, in the place of length",
        unit="m",
        size=3,
        default=None,
    )
    up: Vector | None = declare(
        "direction",
        "towards z of the section; default: z, or y where the beam is along z",
        size=3,
        default=None,
    )
    elements: int | None = declare(
        "count", "how many; default: 8", minimum=1, maximum=MOST, default=None
    )
    frequency: float | None = quantity(
        "rad/s",
        "highest that matters, in the place of elements: bending waves then right to about 1 %",
        above=0.0,
        default=None,
    )
    section: Section | None = declare(
        "group", "rod, tube, rectangle or I", of=Section, default=None
    )
    material: Material | None = declare("group", "E, nu, density", of=Material, default=None)
    EA: float | None = quantity(
        "N", "axial stiffness, without section", above=0.0, default=None, elastic=True
    )
    GA_y: float | None = quantity(
        "N", "shear stiffness along y; default: rigid", above=0.0, default=None, elastic=True
    )
    GA_z: float | None = quantity(
        "N", "shear stiffness along z; default: rigid", above=0.0, default=None, elastic=True
    )
    GJ: float | None = quantity("N*m^2", "torsional stiffness", above=0.0, default=None)
    EI_y: float | None = quantity("N*m^2", "bending stiffness about y", above=0.0, default=None)
    EI_z: float | None = quantity("N*m^2", "bending stiffness about z", above=0.0, default=None)
    mass_per_length: float | None = quantity("kg/m", "without section", above=0.0, default=None)
    rotary_inertia: Vector | None = declare(
        "vector",
        "per length, about x, y, z of the section; default: mass_per_length/EA times "
        "EI_y + EI_z, EI_y, EI_z",
        unit="kg*m",
        size=3,
        default=None,
    )
    damping: float = quantity(
        "s", "of Kelvin and Voigt: times the stiffness", default=0.0, minimum=0.0
    )
    position: Vector | None = declare(
        "vector",
        "of end A in W at the start, of a beam that nothing holds",
        unit="m",
        size=3,
        default=None,
    )
    rotation: tuple[float, float, float, float] | None = declare(
        "rotation", "of the axes in which it is written, at the start", default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Neither or both of two ways to say a thing."""
        yield from self._faults_of_line()
        if self.elements is not None and self.frequency is not None:
            yield "frequency", "stands in the place of elements.", "Write one of them."
        if self.between != (None, None) and (self.position or self.rotation):
            what = "is that of a beam that nothing holds, but between says what holds this one."
            yield "position" if self.position else "rotation", what, "Leave it out."
        if self.rotary_inertia is not None and min(self.rotary_inertia) < 0.0:
            yield "rotary_inertia", "must not be negative.", ""
        stiff = ("EA", "GJ", "EI_y", "EI_z", "mass_per_length")
        direct = [key for key in stiff if getattr(self, key) is not None]
        if self.section is not None and (direct or self.material is None):
            what = "a section needs its material, and neither stiffness nor mass beside it."
            yield "section", what, "Write material = { E, nu, density }."
        if self.section is None and len(direct) < len(stiff):
            missing = ", ".join(key for key in stiff if key not in direct)
            yield "", f"the beam has no {missing}.", "Write section and material, or all of them."

    def _faults_of_line(self) -> Iterator[tuple[str, str, str]]:
        """Where it is: length and axis, or line."""
        if (self.length is None) == (self.line is None):
            found = "neither" if self.line is None else "both"
            yield "line", f"needs either length or line, found {found}.", ""
        if self.line is not None and (len(self.line) < 2 or any(self.line[0])):
            yield "line", "needs two nodes or more, the first [0, 0, 0].", ""
        steps = [math.dist(a, b) for a, b in pairwise(self.line or ())]
        if steps and min(steps) <= SHORTEST * sum(steps):
            k = steps.index(min(steps))
            what = f"nodes {k} and {k + 1} are at the same place: there is no element between them."
            yield "line", what, "Leave one of them out."
        for key in ("elements", "frequency", "axis"):
            if self.line is not None and getattr(self, key) is not None:
                yield key, "follows from line, the nodes of the beam.", "Leave it out."
        if self.up is not None:
            parts = pairwise(self.line or ((0.0, 0.0, 0.0), self.axis or (1.0, 0.0, 0.0)))
            for a, b in parts:
                x = [q - p for p, q in zip(a, b, strict=True)]
                along = abs(sum(p * q for p, q in zip(x, self.up, strict=True)))
                if along > (1.0 - SHORTEST) * math.hypot(*x):
                    what = "is along the beam: it does not tell where z of the section points."
                    yield "up", what, "Write a direction across the beam."
                    return
