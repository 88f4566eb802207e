"""The problems of `benchmarks.speed.beams` by Exudyn's plane beams, where that is installed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

STEP = 5e-3  # of the generalised-alpha method [s]


class Beam:
    """n elements along x from the origin, "exact" (Simo and Reissner) or "ANCF" (cable), in a
    system of Exudyn; `first`, `last`: nodes of its ends."""

    def __init__(self, n: int, kind: str, section: Mapping[str, float], length: float):
        import exudyn as exu
        import exudyn.itemInterface as items

        self.exu, self.items, self.kind = exu, items, kind
        self.system = exu.SystemContainer().AddSystem()
        self.ground = self.system.AddNode(items.NodePointGround())
        place = items.NodeRigidBody2D if kind == "exact" else items.NodePoint2DSlope1
        rest = 0.0 if kind == "exact" else 1.0  # angle; slope along x
        nodes = []
        for k in range(n + 1):
            at = [length * k / n, 0.0, 0.0] if kind == "exact" else [length * k / n, 0.0, rest, 0.0]
            nodes.append(self.system.AddNode(place(referenceCoordinates=at)))
        for pair in itertools.pairwise(nodes):
            self.system.AddObject(self._element(list(pair), section, length / n))
        self.first, self.last = nodes[0], nodes[-1]

    def _element(self, nodes: list[Any], section: Mapping[str, float], length: float) -> Any:
        mass, EI, EA = section["mass_per_length"], section["EI_z"], section["EA"]
        common = {
            "nodeNumbers": nodes,
            "physicsLength": length,
            "physicsMassPerLength": mass,
            "physicsBendingStiffness": EI,
            "physicsAxialStiffness": EA,
        }
        if self.kind == "ANCF":
            return self.items.Cable2D(**common)
        shear = {
            "physicsShearStiffness": section["GA_y"],
            "physicsCrossSectionInertia": mass * EI / EA,
        }
        return self.items.Beam2D(**common, **shear)

    def hold(self, coordinate: int, motion: Any = None) -> None:
        """A coordinate of the first node at its reference, or prescribed: (value, rate) of t."""
        marker = self.items.MarkerNodeCoordinate
        markers = [
            self.system.AddMarker(marker(nodeNumber=self.ground, coordinate=0)),
            self.system.AddMarker(marker(nodeNumber=self.first, coordinate=coordinate)),
        ]
        more = {}
        if motion is not None:
            value, rate = motion
            more = {
                "offsetUserFunction": lambda mbs, t, number, offset: value(t),
                "offsetUserFunction_t": lambda mbs, t, number, offset: rate(t),
            }
        self.system.AddObject(self.items.CoordinateConstraint(markerNumbers=markers, **more))

    def tip(self) -> np.ndarray:
        """Position (x, y) of the last node."""
        kind = self.exu.OutputVariableType.Position
        return np.array(self.system.GetNodeOutput(self.last, kind)[:2])


def bent_tip(
    n: int, kind: str, section: Mapping[str, float], length: float, force: float
) -> np.ndarray:
    """Tip of a cantilever under a dead force along y, the load raised in steps."""
    beam = Beam(n, kind, section, length)
    for coordinate in (0, 1, 2) if kind == "exact" else (0, 1, 3):
        beam.hold(coordinate)
    marker = beam.system.AddMarker(beam.items.MarkerNodePosition(nodeNumber=beam.last))
    beam.system.AddLoad(beam.items.Force(markerNumber=marker, loadVector=[0.0, force, 0.0]))
    beam.system.Assemble()
    settings = beam.exu.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps = 10
    settings.staticSolver.verboseMode = 0
    settings.staticSolver.newton.relativeTolerance = 1e-10
    settings.solutionSettings.writeSolutionToFile = False
    settings.displayComputationTime = False
    beam.system.SolveStatic(settings)
    return beam.tip()


def spun_lag(n: int, kind: str, section: Mapping[str, float]) -> float:
    """Largest lag of the tip of the beam of 10 m that is spun up [m]."""
    beam = Beam(n, kind, section, 10.0)

    def angle(t: float) -> float:
        return 0.4 * (t**2 / 2 + (7.5 / math.pi) ** 2 * (math.cos(2 * math.pi * t / 15) - 1))

    def speed(t: float) -> float:
        return 0.4 * (t - 7.5 / math.pi * math.sin(2 * math.pi * t / 15))

    beam.hold(0)
    beam.hold(1)
    if kind == "exact":
        beam.hold(2, (angle, speed))
    else:  # the slope turns and keeps its length: the tension stretches it by 1e-4 at most
        beam.hold(3, (lambda t: math.sin(angle(t)), lambda t: math.cos(angle(t)) * speed(t)))
        beam.hold(2, (lambda t: math.cos(angle(t)) - 1, lambda t: -math.sin(angle(t)) * speed(t)))
    lags: list[float] = []

    def after_step(mbs: Any, t: float) -> bool:
        x, y = beam.tip()
        lags.append(math.sin(angle(t)) * x - math.cos(angle(t)) * y)
        return True

    beam.system.SetPostStepUserFunction(after_step)
    beam.system.Assemble()
    settings = beam.exu.SimulationSettings()
    settings.timeIntegration.endTime = 10.0
    settings.timeIntegration.numberOfSteps = round(10.0 / STEP)
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    beam.system.SolveDynamic(settings)
    return max(lags)
