"""Beams as bodies, fixed joints and elastic elements.

The nodes of a beam are numbered 0 ... n; element k lies between nodes k - 1 and k, its elastic
centre in the middle.  A section is the half elements around its node, rigid: thin rods with
the rotary inertia of the cross-section, mu EI / EA per length.  All sections have the axes in
which the beam is written, so that everything here is plain geometry.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from vbg.elements.beam import MOST, Beam
from vbg.elements.beam_element import BeamElement
from vbg.elements.body import Body
from vbg.fields import Attachment, Shape
from vbg.junctions.fixed import Fixed
from vbg.model.forms.bodies import is_lost, principal_moments
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope
from vbg.spatial import (
    Array,
    perpendicular,
    quaternion_from_matrix,
    rotation_between,
    rotation_matrix,
)

ELEMENTS = 8  # where nothing is written
WAVES = 0.5  # square of wave number times element length up to which a frequency is right to 1 %


@dataclass(frozen=True, slots=True)
class Stiffness:
    """EA, GA_y, GA_z [N] (None: rigid), GJ, EI_y, EI_z [N m^2], mu [kg/m]."""

    EA: float
    GA_y: float | None
    GA_z: float | None
    GJ: float
    EI_y: float
    EI_z: float
    mu: float


def read_beams(
    reading: Reading, scope: Scope, beams: Mapping[str, Beam]
) -> dict[str, dict[str, Any]]:
    """The parts of all beams by table, their names and points added to the scope."""
    made: dict[str, dict[str, Any]] = {"bodies": {}, "joints": {}, "forces": {}}
    for name, beam in beams.items():
        if beam.frequency is not None and elements_wanted(beam) > MOST:
            wanted = f"{elements_wanted(beam):.3g} elements, but {MOST} are the most."
            what = f"bending waves of {beam.frequency:.6g} rad/s need {wanted}"
            reading.fail(("beams", name, "frequency"), what, "Write the highest that matters.")
            continue
        parts = parts_of(name, beam)
        _place_names(reading, scope, name, parts)
        for table, own in parts.items():
            made[table] |= own
        lost = [body for body in parts["bodies"].values() if is_lost(body.inertia)]
        if lost:
            largest = principal_moments(lost[0].inertia)[2]
            what = f"a section's moment of inertia about the beam is lost beside {largest:.4g}"
            remedy = "Check length and section, write more elements, or rotary_inertia."
            reading.fail(("beams", name), f"{what} kg*m^2 across it.", remedy)
    return made


def parts_of(name: str, beam: Beam) -> dict[str, dict[str, Any]]:
    """Bodies, joints and forces of one beam."""
    stiffness, nodes = stiffness_of(beam), nodes_of(beam)
    axes = [_element_axes(beam, b - a) for a, b in pairwise(nodes)]
    sections, origins = {}, []
    for k in range(len(nodes)):
        body, origin = _section(name, beam, stiffness, nodes, axes, k)
        sections[f"{name}_{k}"] = body
        origins.append(origin)

    def on(k: int, point: Array, label: str = "") -> Attachment:
        return Attachment(f"{name}_{k}", _triple(point - origins[k]), label)

    elements = {}
    for k, R in enumerate(axes):
        middle = 0.5 * (nodes[k] + nodes[k + 1])
        elements[f"{name}_e{k + 1}"] = BeamElement(
            between=(on(k, middle), on(k + 1, middle)),
            length=float(np.linalg.norm(nodes[k + 1] - nodes[k])),
            rotation=_quaternion(R),
            EA=stiffness.EA,
            GA_y=stiffness.GA_y,
            GA_z=stiffness.GA_z,
            GJ=stiffness.GJ,
            EI_y=stiffness.EI_y,
            EI_z=stiffness.EI_z,
            damping=beam.damping,
        )
    last = len(nodes) - 1
    ends = (on(0, nodes[0], "N"), on(last, nodes[last], "N"))
    joints = {
        f"{name}_{letter}": Fixed(between=(held, end))
        for letter, held, end in zip("AB", beam.between, ends, strict=True)
        if held is not None
    }
    return {"bodies": sections, "joints": joints, "forces": elements}


def nodes_of(beam: Beam) -> Array:
    """Nodes (n + 1, 3) from A on, in the axes in which the beam is written [m]."""
    if beam.line is not None:
        return np.array(beam.line)
    assert beam.length is not None
    n = ELEMENTS if beam.elements is None else beam.elements
    if beam.frequency is not None:
        n = max(2, math.ceil(elements_wanted(beam)))
    axis = np.array((1.0, 0.0, 0.0) if beam.axis is None else beam.axis)
    return np.linspace(0.0, beam.length, n + 1)[:, None] * axis


def elements_wanted(beam: Beam) -> float:
    """How many elements make bending waves of `frequency` right to about 1 %."""
    assert beam.length is not None and beam.frequency is not None
    s = stiffness_of(beam)
    wave = math.sqrt(beam.frequency) * (s.mu / min(s.EI_y, s.EI_z)) ** 0.25
    return wave * beam.length / math.sqrt(WAVES)


def _element_axes(beam: Beam, along: Array) -> Array:
    """(3, 3): x along the element, z towards `up`."""
    x = along / np.linalg.norm(along)
    up = np.array((0.0, 0.0, 1.0) if beam.up is None else beam.up)
    z = up - (up @ x) * x
    if np.linalg.norm(z) < 1e-6:
        z = np.array([0.0, 1.0, 0.0]) if beam.up is None and abs(x[1]) < 0.9 else perpendicular(x)
        z = z - (z @ x) * x
    z = z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def _section(
    name: str, beam: Beam, s: Stiffness, nodes: Array, axes: list[Array], k: int
) -> tuple[Body, Array]:
    """The rigid section of node k, and its mass centre in the beam's axes."""
    halves = []  # (centre, length, axes) of the half elements around the node
    for e in (k - 1, k):
        if 0 <= e < len(axes):
            along = nodes[e + 1] - nodes[e]
            centre = nodes[k] + (0.25 if e == k else -0.25) * along
            halves.append((centre, 0.5 * float(np.linalg.norm(along)), axes[e]))
    mass = sum(s.mu * length for _, length, _ in halves)
    origin = sum((s.mu * length * centre for centre, length, _ in halves), np.zeros(3)) / mass
    J = np.zeros((3, 3))
    rotary = s.mu / s.EA * np.array([s.EI_y + s.EI_z, s.EI_y, s.EI_z])
    if beam.rotary_inertia is not None:
        rotary = np.array(beam.rotary_inertia)
    for centre, length, R in halves:
        slender = s.mu * length**3 / 12.0 * np.array([0.0, 1.0, 1.0])
        d = centre - origin
        J += R @ np.diag(rotary * length + slender) @ R.T
        J += s.mu * length * ((d @ d) * np.eye(3) - np.outer(d, d))
    placed: dict[str, Any] = {}
    if k == 0 and beam.between == (None, None):
        placed = _placed(beam, origin)
    body = Body(
        mass=float(mass),
        inertia=_six(J),
        shape=tuple(_drawn(beam, s, half, origin) for half in halves),
        points={"N": _triple(nodes[k] - origin)},
        **placed,
    )
    return body, origin


def _six(J: Array) -> tuple[float, float, float, float, float, float]:
    """(xx, yy, zz, xy, yz, zx)."""
    xx, yy, zz, xy, yz, zx = (J[i] for i in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)))
    return float(xx), float(yy), float(zz), float(xy), float(yz), float(zx)


def _placed(beam: Beam, origin: Array) -> dict[str, Any]:
    """Where the first section of a beam that nothing holds begins, if it is written; else joints
    on the beam tell, or its end A stands at the origin."""
    if beam.position is None and beam.rotation is None:
        return {}
    rotation = beam.rotation or (1.0, 0.0, 0.0, 0.0)
    at = np.array(beam.position or (0.0, 0.0, 0.0)) + rotation_matrix(rotation) @ origin
    return {"position": _triple(at), "rotation": rotation}


def _drawn(beam: Beam, s: Stiffness, half: tuple[Array, float, Array], origin: Array) -> Shape:
    """The half element as a solid, a bar of the same slenderness where no section is written."""
    centre, length, R = half
    section = beam.section
    y, z = (math.sqrt(12.0 * value / s.EA) for value in (s.EI_z, s.EI_y))
    if section is not None and section.rectangle is not None:
        y, z = section.rectangle.y, section.rectangle.z
    if section is not None and section.I is not None:
        y, z = section.I.width, section.I.height
    at = _triple(centre - origin)
    round_ = None if section is None else section.rod or section.tube
    if round_ is None:
        sizes = {"x": length, "y": y, "z": z}
        return Shape("box", sizes, position=at, rotation=_quaternion(R))
    turned = _quaternion(rotation_between((0.0, 0.0, 1.0), R[:, 0]))
    sizes = {"radius": round_.radius, "length": length}
    return Shape("cylinder", sizes, position=at, rotation=turned)


def stiffness_of(beam: Beam) -> Stiffness:
    """As written, or from section and material."""
    if beam.section is None or beam.material is None:
        values = (beam.EA, beam.GA_y, beam.GA_z, beam.GJ, beam.EI_y, beam.EI_z)
        return Stiffness(*values, beam.mass_per_length)  # type: ignore[arg-type]
    E, nu = beam.material.E, beam.material.nu
    G = E / (2.0 * (1.0 + nu))
    A, I_y, I_z, J, k_y, k_z = _geometry(beam.section, nu)
    shear = (G * A * k_y, G * A * k_z)
    return Stiffness(E * A, *shear, G * J, E * I_y, E * I_z, beam.material.density * A)


def _geometry(section: Any, nu: float) -> tuple[float, float, float, float, float, float]:
    """A, I_y, I_z, torsion constant, shear factors (G. R. Cowper, J. Appl. Mech. 33 (1966) 335;
    of an I the parts that carry the shear, flat; S. Timoshenko on torsion)."""
    if section.rod is not None:
        r = section.rod.radius
        k = 6.0 * (1.0 + nu) / (7.0 + 6.0 * nu)
        I = math.pi * r**4 / 4.0
        return math.pi * r**2, I, I, 2.0 * I, k, k
    if section.tube is not None:
        r, q = section.tube.radius, section.tube.inner_radius
        m = (q / r) ** 2
        ring = (1.0 + m) ** 2
        k = 6.0 * (1.0 + nu) * ring / ((7.0 + 6.0 * nu) * ring + (20.0 + 12.0 * nu) * m)
        I = math.pi * (r**4 - q**4) / 4.0
        return math.pi * (r**2 - q**2), I, I, 2.0 * I, k, k
    if section.rectangle is not None:
        y, z = section.rectangle.y, section.rectangle.z
        k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
        return y * z, y * z**3 / 12.0, z * y**3 / 12.0, _torsion(y, z), k, k
    p = section.I
    inner = p.height - 2.0 * p.flange
    A = 2.0 * p.width * p.flange + inner * p.web
    I_y = (p.width * p.height**3 - (p.width - p.web) * inner**3) / 12.0
    I_z = (2.0 * p.flange * p.width**3 + inner * p.web**3) / 12.0
    J = (2.0 * p.width * p.flange**3 + (p.height - p.flange) * p.web**3) / 3.0
    return A, I_y, I_z, J, 5.0 / 6.0 * 2.0 * p.width * p.flange / A, p.height * p.web / A


def _torsion(y: float, z: float) -> float:
    """Saint-Venant's constant of a rectangle by his series."""
    a, b = max(y, z), min(y, z)
    odd = np.arange(1, 40, 2)
    series = float(np.sum(np.tanh(0.5 * math.pi * odd * a / b) / odd**5))
    return a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * b / a * series)


def _triple(v: Array) -> tuple[float, float, float]:
    return (float(v[0]), float(v[1]), float(v[2]))


def _quaternion(R: Array) -> tuple[float, float, float, float]:
    q = quaternion_from_matrix(R)
    q = -q if q[0] < 0.0 else q
    return (float(q[0]), float(q[1]), float(q[2]), float(q[3]))


def _place_names(
    reading: Reading, scope: Scope, name: str, made: Mapping[str, Mapping[str, Any]]
) -> None:
    """Make what a beam consists of known to what comes after it."""
    path: Path = ("beams", name)
    for table, parts in made.items():
        for part in parts:
            if part in scope.objects:
                what = f"the beam makes a part called {part!r}, and {scope.objects[part]} has one."
                reading.fail_key(path, what, "Choose another name.")
            scope.objects[part] = table  # type: ignore[index]
    bodies = made["bodies"]
    nodes = [Attachment(body, part.points["N"], "N") for body, part in bodies.items()]
    scope.points |= {body: part.points for body, part in bodies.items()}
    scope.joints |= dict.fromkeys(made["joints"], ())
    scope.beams[name] = {str(k): node for k, node in enumerate(nodes)}
    scope.beams[name] |= {"A": nodes[0], "B": nodes[-1]}
