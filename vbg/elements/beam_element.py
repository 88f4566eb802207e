"""One element of a beam: the elastic field between two rigid sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import Block, const, divide, dot, linear, mul, rows, skew, stack, times, transpose
from vbg.builder import Builder, Node
from vbg.fields import Attachment, declare, quantity
from vbg.physics.relative import Relative, project, relative_motion
from vbg.physics.rotation_vector import RotationVector, rotation_vector
from vbg.spatial import rotation_matrix


@dataclass(frozen=True, slots=True)
class BeamElement:
    """The 6x6 C field of a Timoshenko beam's element about its elastic centre, as
    `[beams.NAME]` makes them; between two points that coincide without load.

    p, theta: displacement and rotation vector of the second point's frame in the first's,
    element axes (x along the beam), H^2 = exp(theta) half the turn, c = tan(|theta|/4) its
    Rodrigues vector.  The strains x = (H^T p, theta) are seen from half way, so both ends are
    alike, and K = diag(EA/l, k_y, k_z, GJ/l, EI_y/l, EI_z/l),
      1/k_y = l^3/(12 EI_z) + l/GA_y,   1/k_z = l^3/(12 EI_y) + l/GA_z,
    is the exact static stiffness of the element between its ends, l/2 away on rigid arms.
    Energy 1/2 x^T K x; with (f, m) = K (x + damping x') the effort on the second is
      -(H f, Jl^-T m - 1/2 (1 + c x)(p x H f)),   power (f, m) . x'.
    A run ends where theta would be half a turn: more elements share a twist.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "beam_element"

    between: tuple[Attachment, Attachment] = declare(
        "ends", "first and second body, with the points of the elastic centre"
    )
    length: float = quantity("m", "of the element", above=0.0)
    rotation: tuple[float, float, float, float] = declare(
        "rotation",
        "element axes in the first body's: x along the beam, y and z of its section",
        default=(1.0, 0.0, 0.0, 0.0),
    )
    EA: float = quantity("N", "axial stiffness", above=0.0, elastic=True)
    GA_y: float | None = quantity(
        "N", "shear stiffness along y; default: rigid", default=None, above=0.0, elastic=True
    )
    GA_z: float | None = quantity(
        "N", "shear stiffness along z; default: rigid", default=None, above=0.0, elastic=True
    )
    GJ: float = quantity("N*m^2", "torsional stiffness", above=0.0)
    EI_y: float = quantity("N*m^2", "bending stiffness about y", above=0.0)
    EI_z: float = quantity("N*m^2", "bending stiffness about z", above=0.0)
    damping: float = quantity(
        "s", "of Kelvin and Voigt: times the stiffness", default=0.0, minimum=0.0
    )

    @property
    def stiffness(self) -> tuple[float, ...]:
        """Diagonal of K: N/m three times, N*m three times."""
        return element_stiffness(self)

    def expand(self, name: str, builder: Builder) -> None:
        first, second = (builder.body(end.body) for end in self.between)
        motion = relative_motion(
            name,
            builder,
            first,
            second,
            const(self.between[0].at),
            const(self.between[1].at),
            points_coincide=False,
        )
        E = rotation_matrix(self.rotation)  # element axes in the first body's
        R_AB_0 = builder.start(first.name).R_WB.T @ builder.start(second.name).R_WB
        R = mul(const(E.T), mul(motion.R_AB, const(R_AB_0.T @ E)))
        turn = rotation_vector(R, np.eye(3))
        p = mul(const(E.T), motion.p_FM)
        strains = stack(_turned(turn.half, -1.0, p), turn.vector)
        K = const(np.diag(self.stiffness))
        load = mul(K, strains)
        node = _six(name, builder, motion, E)
        effort, energy = _to_effort(turn, p, load), 0.5 * dot(strains, load)
        spring = builder.potential(name, node, effort=effort, energy=energy)
        total = builder.effort(spring)
        if self.damping > 0.0:
            damper = builder.resistor(
                name,
                node,
                effort=lambda flow: _to_effort(
                    turn, p, self.damping * mul(K, _strain_rate(turn, p, flow))
                ),
            )
            total = total + builder.effort(damper)
        R_WE = mul(first.R_WB, const(E))
        builder.output(f"{name}.force", -mul(R_WE, rows(total, 0, 3)), "N")
        builder.output(f"{name}.torque", -mul(R_WE, rows(total, 3, 6)), "N*m")
        builder.output(f"{name}.strain", (1.0 / self.length) * rows(strains, 0, 3), "1")
        builder.output(f"{name}.curvature", (1.0 / self.length) * rows(strains, 3, 6), "1/m")


def element_stiffness(element: BeamElement) -> tuple[float, ...]:
    """Diagonal of K in element axes."""
    l = element.length

    def across(bending: float, shear: float | None) -> float:
        return 1.0 / (l**3 / (12.0 * bending) + (0.0 if shear is None else l / shear))

    return (
        element.EA / l,
        across(element.EI_z, element.GA_y),
        across(element.EI_y, element.GA_z),
        element.GJ / l,
        element.EI_y / l,
        element.EI_z / l,
    )


def _turned(c: Block, sign: float, v: Block) -> Block:
    """H v (sign 1) or H^T v (sign -1) for Rodrigues' vector c: v + 2/(1 + c.c) (c x v + ...)."""
    x = mul(skew(c), v)
    factor = divide(const(2.0), const(1.0) + dot(c, c))
    return v + times(factor, linear((sign, x), (1.0, mul(skew(c), x))))


def _to_effort(turn: RotationVector, p: Block, load: Block) -> Block:
    """What the efforts (f, m) on the strains are on the six flows."""
    force = _turned(turn.half, 1.0, rows(load, 0, 3))
    arm = mul(skew(p), force)
    pair = arm + mul(skew(turn.half), arm)
    return stack(force, mul(turn.to_torque, rows(load, 3, 6)) - 0.5 * pair)


def _strain_rate(turn: RotationVector, p: Block, flow: Block) -> Block:
    """x' = (H^T (u - w_h x p), Jl^-1 w), w_h = (w - c x w)/2."""
    u, w = rows(flow, 0, 3), rows(flow, 3, 6)
    half = 0.5 * (w - mul(skew(turn.half), w))
    seen = u + mul(skew(p), half)
    # Jl^-1 is the transpose of Jl^-T
    return stack(_turned(turn.half, -1.0, seen), mul(transpose(turn.to_torque), w))


def _six(name: str, builder: Builder, motion: Relative, E: NDArray[np.float64]) -> Node:
    """1-junction of the six relative velocities in element axes."""
    frame = motion.translation.frame
    six = builder.zero(f"{name}.dsix", 6, frame, "mechanical")
    lift = np.kron(np.eye(2), E.T)
    project(f"{name}.lift", builder, motion, six, const(lift[:, :3]), const(lift[:, 3:]))
    node = builder.one(f"{name}.six", 6, frame, "mechanical")
    builder.bond(node, six)
    return node
