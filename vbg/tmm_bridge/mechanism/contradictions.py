"""What is told of a mechanism that has no consistent start."""

from __future__ import annotations

from vbg.errors import AssemblyError, Problem


def not_closed(joint: str, left: float, steps: int) -> AssemblyError:
    """The gap that is `left` [m or rad] at a joint after all Newton steps."""
    return AssemblyError.of(
        [
            Problem(
                "error",
                f"joints.{joint}",
                f"the loop does not close here: {left:.3g} m (or rad) are left after"
                f" {steps} steps.",
                "Check lengths and joint points, write a posture nearer to a closed one, or"
                " give fewer coordinates in `initial`.",
            )
        ]
    )


def contradicting(joint: str, left: float) -> AssemblyError:
    """The speed that is `left` [m/s or rad/s] at a joint."""
    return AssemblyError.of(
        [
            Problem(
                "error",
                f"joints.{joint}",
                f"the start speeds contradict each other: {left:.3g} m/s (or rad/s) are left.",
                "Give fewer speeds in `initial`.",
            )
        ]
    )
