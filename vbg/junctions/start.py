"""Start values and side effects that several joints share, as sub-tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vbg.fields import quantity
from vbg.physics.stiction import friction_faults


@dataclass(frozen=True, slots=True)
class AngleStart:
    """`initial` of a joint that turns: the angle's value at the written
    posture and its speed.  A value that is written is held by the assembly."""

    angle: float | None = quantity("rad", "angle at the written posture", default=None)
    speed: float | None = quantity("rad/s", "rate of the angle at the start", default=None)


@dataclass(frozen=True, slots=True)
class SlideStart:
    """`initial` of a joint that slides."""

    slide: float | None = quantity("m", "slide at the written posture", default=None)
    speed: float | None = quantity("m/s", "rate of the slide at the start", default=None)


@dataclass(frozen=True, slots=True)
class AngleSlideStart:
    """`initial` of a cylindrical joint."""

    angle: float | None = quantity("rad", "angle at the written posture", default=None)
    speed: float | None = quantity("rad/s", "rate of the angle at the start", default=None)
    slide: float | None = quantity("m", "slide at the written posture", default=None)
    slide_speed: float | None = quantity("m/s", "rate of the slide at the start", default=None)


@dataclass(frozen=True, slots=True)
class TwoAngleStart:
    """`initial` of a universal joint: `angle` about the first axis, `angle2`
    about the second."""

    angle: float | None = quantity("rad", "angle about the first axis", default=None)
    speed: float | None = quantity("rad/s", "rate of that angle", default=None)
    angle2: float | None = quantity("rad", "angle about the second axis", default=None)
    speed2: float | None = quantity("rad/s", "rate of that angle", default=None)


@dataclass(frozen=True, slots=True)
class Friction:
    """Friction on the free coordinate.  Moving: effort = coulomb + (static - coulomb)
    exp(-|speed| / stribeck) + viscous |speed| against the motion of the second body.  At rest
    it holds with what the load needs, up to static; sticking and breaking away are events.
    `coulomb_back`, `static_back`, `viscous_back` hold where the speed is negative."""

    viscous: float = quantity("N*s/m or N*m*s/rad", "viscous coefficient", default=0.0, minimum=0.0)
    coulomb: float = quantity("N or N*m", "dry friction while moving", default=0.0, minimum=0.0)
    static: float | None = quantity(
        "N or N*m", "largest dry friction at rest; default: coulomb", default=None, above=0.0
    )
    stribeck: float = quantity(
        "m/s or rad/s", "speed of the decay from static to coulomb", default=0.01, above=0.0
    )
    coulomb_back: float | None = quantity(
        "N or N*m",
        "coulomb where the speed is negative; default: coulomb",
        above=0.0,
        default=None,
    )
    static_back: float | None = quantity(
        "N or N*m",
        "static against what would move it back; default: static; without one coulomb_back",
        above=0.0,
        default=None,
    )
    viscous_back: float | None = quantity(
        "N*s/m or N*m*s/rad",
        "viscous where the speed is negative; default: viscous",
        minimum=0.0,
        default=None,
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A friction at rest below that of moving, or without one."""
        if self.coulomb > 0.0:
            yield from friction_faults(self)
            return
        for key in ("static", "coulomb_back", "static_back", "viscous_back"):
            if getattr(self, key) is not None:
                yield key, f"{key} needs a coulomb friction.", "Write coulomb, too."


@dataclass(frozen=True, slots=True)
class Stop:
    """Unilateral stops on the free coordinate: beyond `lower` or `upper` a
    spring `k` with a damper `c` pushes back; it never pulls."""

    lower: float | None = quantity("m or rad", "lower stop; none if absent", default=None)
    upper: float | None = quantity("m or rad", "upper stop; none if absent", default=None)
    k: float = quantity("N/m or N*m/rad", "contact stiffness", above=0.0)
    c: float = quantity("N*s/m or N*m*s/rad", "contact damping", default=0.0, minimum=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """No stop at all, or a lower one above the upper."""
        if self.lower is None and self.upper is None:
            yield "", "a stop needs lower, upper or both.", ""
        elif self.lower is not None and self.upper is not None and self.lower >= self.upper:
            yield "lower", f"lower = {self.lower:g} must be below upper = {self.upper:g}.", ""
