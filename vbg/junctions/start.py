"""Start values and side effects that several joints share, as sub-tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vbg.fields import quantity


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
    """Friction on the free coordinate: effort = -viscous * speed on the second body."""

    viscous: float = quantity("N*s/m or N*m*s/rad", "viscous coefficient", default=0.0, minimum=0.0)


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
            yield "lower", f"lower = {self.lower:g} is not below upper = {self.upper:g}.", ""
