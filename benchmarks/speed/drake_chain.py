"""The chain of rods in Drake, stepped by its own simulator, without forces and without rows."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from benchmarks.machines import ACROSS, ALONG, GRAVITY, LENGTH, MASS

ACCURACY = 1e-6  # of Drake's error control, by its Runge-Kutta method of order 3


def has_drake() -> bool:
    return find_spec("pydrake") is not None


def second(n: int) -> Callable[[], float]:
    """What runs a second of the chain of n rods from horizontal rest; it returns the angle of the
    first."""
    from pydrake.math import RigidTransform
    from pydrake.multibody import plant as multibody
    from pydrake.multibody import tree
    from pydrake.systems.analysis import Simulator

    plant = multibody.MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
    middle = np.array([LENGTH / 2, 0.0, 0.0])
    moments = ALONG, ACROSS + MASS * LENGTH**2 / 4, ACROSS + MASS * LENGTH**2 / 4
    inertia = tree.SpatialInertia(MASS, middle, tree.UnitInertia(*(m / MASS for m in moments)))
    link = plant.world_body()
    for k in range(n):
        body = plant.AddRigidBody(f"rod{k}", inertia)
        seat = RigidTransform([LENGTH if k else 0.0, 0.0, 0.0])
        frame = plant.AddFrame(tree.FixedOffsetFrame(f"end{k}", link.body_frame(), seat))
        axis = np.array([0.0, 1.0, 0.0])
        plant.AddJoint(tree.RevoluteJoint(f"hinge{k}", frame, body.body_frame(), axis))
        link = body
    plant.Finalize()

    def run() -> float:
        simulator = Simulator(plant)
        simulator.get_mutable_integrator().set_target_accuracy(ACCURACY)
        simulator.AdvanceTo(1.0)
        return float(plant.GetPositions(simulator.get_context())[0])

    return run
