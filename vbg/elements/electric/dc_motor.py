"""DC motor with permanent magnets, turning or linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import difference


@dataclass(frozen=True, slots=True)
class DCMotor:
    """voltage = R current + L current' + K speed;  torque on the shaft = K current,
    J speed' + B speed = torque + what acts on the shaft.

    The shaft is `on` the free coordinate of a joint or a rotational node.  On a prismatic
    joint or a translational node it is a linear motor: K in N/A (that is V*s/m), J the mass of
    its slider, and it gives a force [N] and a speed [m/s].  Rotor inertia J on a joint stands
    beside the body's: a dependent store.  Power of the gyrator: K current speed on both sides.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "dc_motor"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    on: str = declare(
        "coordinate", "free coordinate of a joint, rotational.NODE or translational.NODE"
    )
    R: float = quantity("ohm", "armature resistance", above=0.0)
    L: float = quantity("H", "armature inductance; 0: none", minimum=0.0, default=0.0)
    K: float = quantity("N/A or V*s/rad", "motor constant")
    J: float = quantity(
        "kg or kg*m^2", "inertia of the rotor, mass of a slider; 0: none", minimum=0.0, default=0.0
    )
    B: float = quantity("N*s/m or N*m*s/rad", "viscous friction", minimum=0.0, default=0.0)
    current: float | None = quantity(
        "A", "current at the start; default: that of what it is tied to", default=None
    )

    def expand(self, name: str, builder: Builder) -> None:
        shaft, _ = builder.coordinate(self.on)
        first, second = (builder.terminal(self.table, node) for node in self.nodes)
        armature = builder.one(f"{name}.armature", 1, "scalar", "electric")
        if first is not None:
            builder.bond(first, armature)
        if second is not None:
            builder.bond(armature, second)
        builder.resistor(
            name,
            armature,
            effort=lambda current: self.R * current,
            flow=lambda voltage: (1.0 / self.R) * voltage,
        )
        if self.L > 0.0:
            builder.inertia(
                name,
                armature,
                inverse=const(1.0 / self.L),
                initial=const(self.L * (self.current or 0.0)),
                state="flux",
                written=self.current is not None,
            )
        builder.gyrator(f"{name}.field", armature, shaft, const(self.K))
        if self.J > 0.0:
            builder.inertia(
                f"{name}.rotor",
                shaft,
                inverse=const(1.0 / self.J),
                initial=const(0.0),
                written=False,
            )
        if self.B > 0.0:
            builder.resistor(
                f"{name}.bearing",
                shaft,
                effort=lambda speed: self.B * speed,
                flow=lambda torque: (1.0 / self.B) * torque,
            )
        current, speed = builder.flow(armature), builder.flow(shaft)
        builder.output(f"{name}.current", current, "A")
        builder.output(f"{name}.voltage", difference(builder, self.table, self.nodes), "V")
        exerted, unit = ("torque", "rad/s") if shaft.domain == "rotation" else ("force", "m/s")
        builder.output(f"{name}.{exerted}", self.K * current, shaft.effort_unit)
        builder.output(f"{name}.speed", speed, unit)
        builder.output(f"{name}.power", times(self.K * current, speed), "W")
